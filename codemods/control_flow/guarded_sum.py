"""`torch.where(mask, x, 0).sum() if mask.any() else torch.zeros(())`: the sum is zero where the mask selects nothing.

The question goes, and with it a selection. CF503 makes such sums of `x[mask].sum()`.
"""

from __future__ import annotations

import ast

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.finding import Edit
from compilefix.codemods.gradient_mode import records_none
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_whole
from compilefix.source.tree import elements_of

_ZEROS = frozenset({"torch.zeros", "Tensor.new_zeros"})
_PLACES = frozenset({"device", "dtype"})


def guarded_sum(node: ast.IfExp, scope: Scope, template: Template) -> Edit | None:
    """The edit that leaves the sum; None where a conditional expression is no such sum."""
    mask, masked = _asked(node.test, scope), _summed(node.body, scope)
    if mask is None or masked is None or ast.dump(mask) != ast.dump(masked) or not _is_zero(node.orelse, scope):
        return None
    given, other = scope.value(node.body), scope.value(node.orelse)
    if None not in (given.dtype, other.dtype) and given.dtype != other.dtype:
        return None
    if not scope.value(mask).is_tensor or not scope.value(mask).certain:
        template.refuse([Obstacle(f"`{snippet(mask)}` is not proved to be a tensor", "is-tensor")])
    template.refuse(scope.legality.both_evaluated([node.body], scope.facts))
    same = given.dtype_id is not None and given.dtype_id == other.dtype_id
    what = "stand on one device" if same else "have the same dtype and device"
    template.refuse([Obstacle(f"the two sides are not proved to {what}", "same-shape-dtype")])
    if given.leaves and not records_none(scope, node):
        reason = f"`{snippet(node.body)}` would get a gradient of zeros where nothing is selected"
        template.refuse([Obstacle(reason, "gradient-zeros")])
    return scope.edit(node, template.use(node.body), **template.parts)


def _asked(test: ast.expr, scope: Scope) -> ast.Name | None:
    """The mask of which `mask.any()` asks whether it selects anything."""
    if not isinstance(test, ast.Call) or test.keywords:
        return None
    name = scope.callee(test)
    if name == "Tensor.any" and isinstance(test.func, ast.Attribute) and not test.args:
        return test.func.value if isinstance(test.func.value, ast.Name) else None
    asked = test.args[0] if name == "torch.any" and len(test.args) == 1 else None
    return asked if isinstance(asked, ast.Name) else None


def _summed(body: ast.expr, scope: Scope) -> ast.Name | None:
    """The mask of a sum over all elements where it is true, and zeros elsewhere."""
    if not isinstance(body, ast.Call) or body.args or body.keywords or scope.callee(body) != "Tensor.sum":
        return None
    chosen = body.func.value if isinstance(body.func, ast.Attribute) else None
    if not isinstance(chosen, ast.Call) or scope.callee(chosen) != "torch.where" or len(chosen.args) != 3:
        return None
    mask, _, zero = chosen.args
    if not isinstance(zero, ast.Constant) or type(zero.value) not in (int, float) or zero.value != 0:
        return None
    if isinstance(mask, ast.Subscript) and _adds_dimensions(mask.slice):
        mask = mask.value
    return mask if isinstance(mask, ast.Name) else None


def _adds_dimensions(index: ast.expr) -> bool:
    """Whether an index takes all elements, under more dimensions: `[..., None]`, `[(...,) + (None,) * n]`."""
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add):
        return _adds_dimensions(index.left) and _adds_dimensions(index.right)
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Mult):
        return _adds_dimensions(index.left)
    parts = elements_of(index)
    return all((isinstance(part, ast.Constant) and part.value in (None, Ellipsis)) or is_whole(part) for part in parts)


def _is_zero(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a zero without dimensions: `torch.zeros(())`, `torch.tensor(0.0)`."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or any(k.arg not in _PLACES for k in node.keywords):
        return False
    given = node.args[0]
    if scope.callee(node) in _ZEROS:
        return isinstance(given, ast.Tuple | ast.List) and not given.elts
    number = isinstance(given, ast.Constant) and type(given.value) in (int, float) and given.value == 0
    return scope.callee(node) == "torch.tensor" and number
