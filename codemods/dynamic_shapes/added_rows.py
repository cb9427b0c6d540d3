"""Adding to what a mask selects, or putting there, something that has a row for each true value: `x[mask] += rows`.

There is nothing to compute for the other rows: `masked_scatter` puts the given ones in their places first. Twelve
layers that do so are one graph then, and took 0.52 and 0.48 ms on an H200 (torch 2.11, default mode and
reduce-overhead) where they took 2.90 and 3.54 as written; `index_put_` with `accumulate` is one graph too, and took
3.60 and 2.57, since it counts the true values on the host. One row for all places is added to all as it is.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.definitions import definition_of, mask_kept, unused_then
from compilefix.codemods.dynamic_shapes.masks import Mask
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.names import free_name
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

ALONE = ""
"""The operation of rows that are not added, but take the place of the elements."""


@dataclass(frozen=True)
class AddedRows:
    """`x[mask] = x[mask] + rows`, or with a minus, perhaps with a name for the sum.

    operation: `+` or `-`; ALONE where the rows take the place of the elements. selection: where the elements are read;
    None in `x[mask] += rows`.
    """

    memory: ast.expr
    mask: Mask
    rows: ast.expr
    operation: str
    selection: ast.expr | None = None
    definition: ast.Assign | None = None


def added_rows(node: ast.Assign | ast.AugAssign, target: ast.Subscript, mask: Mask, scope: Scope) -> AddedRows | None:
    """The rows that a statement adds to the elements that a mask selects; None for any other statement."""
    if mask.broadcast or mask.leading or mask.last or not isinstance(target.value, ast.Name | ast.Attribute):
        return None
    if isinstance(node, ast.AugAssign):
        if not isinstance(node.op, ast.Add | ast.Sub) or not scope.value(node.value).is_tensor:
            return None
        return AddedRows(target.value, mask, node.value, _symbol(node.op))
    definition = definition_of(node.value, node, scope)
    total = node.value if definition is None else definition.value
    if not isinstance(total, ast.BinOp) or not isinstance(total.op, ast.Add | ast.Sub):
        return None
    sides = [(total.left, total.right)] + ([(total.right, total.left)] if isinstance(total.op, ast.Add) else [])
    for read, rows in sides:
        if ast.unparse(read) == ast.unparse(target) and scope.value(rows).is_tensor:
            return AddedRows(target.value, mask, rows, _symbol(total.op), read, definition)
    return None


def _symbol(operator: ast.operator) -> str:
    return "-" if isinstance(operator, ast.Sub) else "+"


def accumulated(found: AddedRows, node: ast.stmt, elements: Elements, template: Template) -> str:
    """The statements that add the rows, or put them there; what stands against it is noted in the template."""
    scope = elements.scope
    memory, rows = scope.value(found.memory), scope.value(found.rows)
    shown, name = snippet(found.rows), template.use(found.memory)
    if not memory.certain or not rows.certain:
        unproved = shown if memory.certain else ast.unparse(found.memory)
        template.refuse([Obstacle(f"`{unproved}` is not proved to be a tensor", "is-tensor")])
    if "bool" in (memory.dtype, rows.dtype):
        template.refuse([Obstacle(f"`{shown}` or what it is added to is boolean")])
    if memory.dtype_id is None or memory.dtype_id != rows.dtype_id:
        reason = f"`{shown}` is not proved to have the dtype of `{snippet(found.memory)}`"
        template.refuse([Obstacle(reason, "same-shape-dtype")])
    reason = f"`{shown}` is not proved to have a row for each true value of `{snippet(found.mask.node)}`"
    template.refuse([Obstacle(reason, "rows-match")])
    if overlaps(found.memory, scope):
        template.refuse([Obstacle(f"elements of `{snippet(found.memory)}` may share memory: `copy_` refuses that")])
    if found.definition is not None:
        moved = names_in(found.definition.value)
        template.refuse(unused_then([found.definition], node, moved, scope))
        template.refuse(mask_kept([found.definition], found.mask.node, node))
    over = elements.over(found.memory, template)
    torch = torch_name(scope)
    rows_code, lines = template.use(found.rows), []
    if not isinstance(found.rows, ast.Name | ast.Attribute):
        named_rows = free_name("rows", scope)
        lines, rows_code = [f"{named_rows} = {rows_code}"], named_rows
    ranks = [scope.value(part).rank for part in (found.memory, found.mask.node, found.rows)]
    if None in ranks or sum(rank or 0 for rank in ranks[1:]) > (ranks[0] or 0):
        mask = elements.mask_name()
        several = [f"{rows_code}.dim() <= {name}.dim() - {mask}.dim()"] if None in ranks else []
        one = " or ".join([*several, f"len({rows_code}) == 1"])
        added = free_name("added", scope)
        spread = f"{torch}.zeros_like({name}).masked_scatter({over}, {rows_code}"
        lines += [f"{added} = (", f"    {rows_code}", f"    if {one}", f"    else {spread})"]
        if None in ranks or ranks[0] != ranks[1]:
            # Not for what has the dimensions: of no rows inductor (torch 2.11, H200) reads the first behind `expand`.
            behind = f"{name}.shape[{mask}.dim() :]"
            lines += [f"    if {rows_code}.shape[1:] == {behind}", f"    else {spread}.expand(-1, *{behind}))"]
        lines.append(")")
        rows_code = added
    result = rows_code if found.operation == ALONE else f"{name} {found.operation} {rows_code}"
    select = f"{torch}.where({over}, {result}, {name})"
    more, select = elements.hoisted(elements.with_names("\n".join([*lines, select]), template))
    named = [f"{free} = {template.use(part)}" for free, part in elements.hoists.items()]
    template.refuse(elements.obstacles)
    return "\n".join([*named, *more, f"{name}.copy_({select})"])
