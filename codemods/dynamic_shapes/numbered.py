"""Masked elements that are numbered: `place[mask] = torch.arange(mask.sum())`, as a running count of the mask."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.masks import boolean, whole_mask
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name, where
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target

_COUNTS = frozenset({"sum", "count_nonzero"})


@dataclass(frozen=True)
class Numbered:
    """The statement, the tensor that is written, the mask, and the call that makes the numbers."""

    statement: ast.Assign
    tensor: ast.expr
    mask: ast.expr
    call: ast.Call


def numbered(node: ast.Assign | ast.AugAssign, scope: Scope) -> Numbered | None:
    """A statement that gives the elements which a mask selects the numbers from zero."""
    target = single_target(node)
    call = node.value
    if not isinstance(node, ast.Assign) or not isinstance(target, ast.Subscript) or not isinstance(call, ast.Call):
        return None
    mask = whole_mask(target, scope)
    if mask is None or mask.leading or mask.last or not _is_name(mask.node):
        return None
    if scope.callee(call) != "torch.arange" or len(call.args) != 1 or not _plain(call, scope):
        return None
    return Numbered(node, target.value, mask.node, call) if _is_count(call.args[0], mask.node, scope) else None


def numbered_code(found: Numbered, template: Template, scope: Scope) -> str:
    """The statement with a running count in the place of the numbers."""
    tensor, mask = scope.value(found.tensor), scope.value(found.mask)
    name = snippet(found.tensor)
    if not isinstance(found.tensor, ast.Name | ast.Attribute):
        template.refuse([Obstacle(f"`{name}` is not a name")])
    if overlaps(found.tensor, scope):
        template.refuse([Obstacle(f"elements of `{name}` may share memory: `copy_` refuses to write them")])
    template.refuse(boolean(found.mask, scope))
    if tensor.dtype_id != "int64":
        template.refuse([Obstacle(f"`{name}` is not proved to hold integers of 64 bits", "same-shape-dtype")])
    if tensor.shape_id is None or tensor.shape_id != mask.shape_id:
        reason = f"`{snippet(found.mask)}` is not proved to have the shape of `{name}`"
        template.refuse([Obstacle(reason, "same-shape-dtype")])
    device = next((k.value for k in found.call.keywords if k.arg == "device"), None)
    if not isinstance(device, ast.Attribute) or device.attr != "device":
        reason = f"`{snippet(found.call)}` is not proved to be made where `{name}` is"
        template.refuse([Obstacle(reason, "same-shape-dtype")])
    code = template.use(found.mask, operand=True)
    count = f"{code}.cumsum(0)" if mask.rank == 1 else f"{code}.flatten().cumsum(0).view({code}.shape)"
    written = template.use(found.tensor)
    return f"{written}.copy_({where(scope)}({code}, {count} - 1, {written}))"


def _is_name(node: ast.expr) -> bool:
    """Whether a mask is a name, or all that a name does not select: it is written several times."""
    inverted = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert)
    return isinstance(node.operand if inverted else node, ast.Name)  # type: ignore[attr-defined]


def _plain(call: ast.Call, scope: Scope) -> bool:
    """Whether the numbers are integers of 64 bits."""
    whole = {f"{torch_name(scope)}.{kind}" for kind in ("long", "int64")}
    return all(k.arg == "device" or (k.arg == "dtype" and ast.unparse(k.value) in whole) for k in call.keywords)


def _is_count(node: ast.expr, mask: ast.expr, scope: Scope) -> bool:
    """Whether an expression is the number of true values of the mask."""
    if isinstance(node, ast.Call) and scope.callee(node) == "int" and len(node.args) == 1 and not node.keywords:
        return _is_count(node.args[0], mask, scope)
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        return _is_count(node.func.value, mask, scope)
    place, _, short = (scope.callee(node) or "").rpartition(".")
    given = list(node.args)
    if place == "Tensor" and isinstance(node.func, ast.Attribute):
        given.insert(0, node.func.value)
    return place in ("torch", "Tensor") and short in _COUNTS and [ast.dump(g) for g in given] == [ast.dump(mask)]
