"""A selection that an `if` skips where the mask takes everything: there it changes nothing, and may be made as well.

if not keep.all():                          boxes = boxes[keep]
    boxes = boxes[keep]

if keep.sum().item() != len(boxes):         boxes, scores = boxes[keep], scores[keep]
    boxes, scores = boxes[keep], scores[keep]

That is worth it where a result of unknown size stays in the graph: with `capture_dynamic_output_shape_ops`, which CF506
switches on.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.control_flow.masks import empty_masks
from compilefix.codemods.dynamic_shapes.masks import boolean
from compilefix.codemods.finding import Edit
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class Selected:
    """The mask, as it selects, the tensors that it selects of, and the selections."""

    mask: ast.expr
    tensors: tuple[ast.Name, ...]
    items: tuple[ast.Subscript, ...]


def selected_where_needed(node: ast.If, scope: Scope) -> Selected | None:
    """What a block selects of tensors whose names take the selection, where its mask is asked whether it takes all."""
    if node.orelse:
        return None
    pairs = [pair for statement in node.body for pair in _pairs(statement)]
    found = [item for name, item in pairs if name is not None and item is not None]
    if not pairs or len(found) != len(pairs) or len({ast.dump(item.slice) for item in found}) > 1:
        return None
    mask = found[0].slice
    names = [item.value for item in found if isinstance(item.value, ast.Name)]
    inverted = isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert)
    inner = mask.operand if inverted and isinstance(mask, ast.UnaryOp) else mask
    if not isinstance(inner, ast.Name) or inner.id in {name.id for name in names}:
        return None
    selected = Selected(mask, tuple(names), tuple(found))
    dumped = ast.dump(inner)
    if any(known.dump == dumped and known.empty is inverted for known in empty_masks(node.test, scope)):
        return selected
    return selected if not inverted and _counts_less(node.test, inner, selected, scope) else None


def selects_anyway(node: ast.If, found: Selected, scope: Scope, template: Template) -> tuple[Edit, ...]:
    """The edits without the question; what stands against them is noted in the template."""
    template.refuse(boolean(found.mask, scope))
    if scope.value(found.mask).rank != 1:
        reason = f"`{snippet(found.mask)}` is not proved to have one dimension: of more, the selection has one"
        template.refuse([Obstacle(reason, "one-dimension" if scope.value(found.mask).rank is None else None)])
    for name in found.tensors:
        reason = f"where all is selected of `{name.id}`, a copy of it takes its place"
        template.refuse([Obstacle(reason, "no-aliasing")])
        reason = f"`{snippet(found.mask)}` may not fit `{name.id}` where it takes everything"
        template.refuse([Obstacle(reason, "branches-total")])
    parts = {f"part_{index}": statement for index, statement in enumerate(node.body)}
    return (scope.edit(node, "\n".join(f"{{{part}}}" for part in parts), **parts),)


def _pairs(statement: ast.stmt) -> list[tuple[ast.Name | None, ast.Subscript | None]]:
    """The names that a statement gives what is selected of their tensors; None in the place of anything else."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return [(None, None)]
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [_pair(*both) for both in zip(target.elts, value.elts, strict=True)]
    return [_pair(target, value)]


def _pair(target: ast.expr, value: ast.expr) -> tuple[ast.Name | None, ast.Subscript | None]:
    same = isinstance(target, ast.Name) and isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name)
    if same and value.value.id == target.id:  # type: ignore[attr-defined]
        return target, value  # type: ignore[return-value]
    return None, None


def _counts_less(test: ast.expr, mask: ast.expr, selected: Selected, scope: Scope) -> bool:
    """Whether a test asks if a mask of one dimension selects less than all rows: `mask.sum() != len(x)`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], ast.NotEq | ast.Lt):
        return False
    count = read_of(test.left, scope) or test.left
    if not isinstance(count, ast.Call) or scope.callee(count) not in ("Tensor.sum", "torch.sum") or count.keywords:
        return False
    given = [count.func.value] if isinstance(count.func, ast.Attribute) and not count.args else count.args
    value = scope.value(mask)
    if [ast.dump(part) for part in given] != [ast.dump(mask)] or value.rank != 1 or value.dtype != "bool":
        return False
    rows = _length_of(test.comparators[0], scope)
    return rows is not None and rows in {name.id for name in selected.tensors} and scope.value(mask).is_(Kind.TENSOR)


def _length_of(node: ast.expr, scope: Scope) -> str | None:
    """The name of the tensor whose rows are counted: `len(x)`, `x.shape[0]`, `x.size(0)`."""
    if isinstance(node, ast.Call) and scope.callee(node) == "len" and len(node.args) == 1:
        counted: ast.expr = node.args[0]
    elif isinstance(node, ast.Call) and scope.callee(node) == "Tensor.size" and [*map(ast.unparse, node.args)] == ["0"]:
        assert isinstance(node.func, ast.Attribute)
        counted = node.func.value
    elif isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "0" and isinstance(node.value, ast.Attribute):
        if node.value.attr != "shape":
            return None
        counted = node.value.value
    else:
        return None
    return counted.id if isinstance(counted, ast.Name) and scope.value(counted).is_tensor else None
