"""Adding to what a mask selects something that has a row for each true value: `x[mask] += rows`.

There is nothing to compute for the other rows. `index_put_` adds as the two steps do, checks the number of rows like
them and reads nothing, so that its result has a fixed shape (measured with torch 2.13: values, gradients, broadcast
rows and the type of the exception for rows that do not fit are the same).
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import may_share
from compilefix.codemods.dynamic_shapes.definitions import definition_of, mask_kept, unused_then
from compilefix.codemods.dynamic_shapes.masks import Mask, boolean
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import ATOMS, Template
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class AddedRows:
    """`x[mask] = x[mask] + rows`, or with a minus, perhaps with a name for the sum.

    selection: where the elements are read; None in `x[mask] += rows`.
    """

    memory: ast.expr
    mask: Mask
    rows: ast.expr
    negative: bool
    selection: ast.expr | None = None
    definition: ast.Assign | None = None


def added_rows(node: ast.Assign | ast.AugAssign, target: ast.Subscript, mask: Mask, scope: Scope) -> AddedRows | None:
    """The rows that a statement adds to the elements that a mask selects; None for any other statement."""
    if mask.broadcast or mask.leading or mask.last or not isinstance(target.value, ast.Name | ast.Attribute):
        return None
    if isinstance(node, ast.AugAssign):
        if not isinstance(node.op, ast.Add | ast.Sub) or not scope.value(node.value).is_tensor:
            return None
        return AddedRows(target.value, mask, node.value, isinstance(node.op, ast.Sub))
    definition = definition_of(node.value, node, scope)
    total = node.value if definition is None else definition.value
    if not isinstance(total, ast.BinOp) or not isinstance(total.op, ast.Add | ast.Sub):
        return None
    sides = [(total.left, total.right)] + ([(total.right, total.left)] if isinstance(total.op, ast.Add) else [])
    for read, rows in sides:
        if ast.unparse(read) == ast.unparse(target) and scope.value(rows).is_tensor:
            return AddedRows(target.value, mask, rows, isinstance(total.op, ast.Sub), read, definition)
    return None


def accumulated(found: AddedRows, node: ast.stmt, scope: Scope, template: Template) -> str:
    """The statement that adds the rows; what stands against it is noted in the template."""
    memory, rows = scope.value(found.memory), scope.value(found.rows)
    shown, name = snippet(found.rows), ast.unparse(found.memory)
    template.refuse(boolean(found.mask.node, scope))
    if not memory.certain or not rows.certain:
        unproved = shown if memory.certain else name
        template.refuse([Obstacle(f"`{unproved}` is not proved to be a tensor", "branches-total")])
    if "bool" in (memory.dtype, rows.dtype):
        template.refuse([Obstacle(f"`{name}` or `{shown}` is boolean, and nothing is added to that")])
    # Rows that do not fit raise the same exception with another text; another dtype may have been converted before.
    template.refuse([Obstacle(f"`{shown}` is not proved to fit what is selected of `{name}`", "same-shape-dtype")])
    if overlaps(found.memory, scope):
        template.refuse([Obstacle(f"elements of `{name}` may share memory: `index_put_` refuses to write them")])
    if may_share(memory.storage, rows.storage):
        template.refuse([Obstacle(f"`{shown}` may share memory with `{name}`, which is written", "no-aliasing")])
    if found.definition is not None:
        moved = {n.id for n in ast.walk(found.definition.value) if isinstance(n, ast.Name)}
        template.refuse(unused_then([found.definition], node, moved, scope))
        template.refuse(mask_kept([found.definition], found.mask.node, node))
    added = template.use(found.rows)
    if found.negative:
        added = f"-{added}" if isinstance(found.rows, ATOMS) else f"-({added})"
    return f"{template.use(found.memory)}.index_put_(({template.use(found.mask.node)},), {added}, accumulate=True)"
