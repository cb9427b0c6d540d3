"""Tensors of sizes that a loop goes through row by row, `for t, h, w in grid:`, which are read as a list instead.

Each of its numbers is a tensor that is read where a size is needed, and breaks the graph there. A list is read once,
and its numbers can stay in the graph with `capture_scalar_outputs`.
"""

from __future__ import annotations

import ast

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.capture_flags import SCALARS, switched_on
from compilefix.codemods.finding import Fix
from compilefix.codemods.host_reads.captured import rows_not_captured
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.host_reads.looped import needs_no_number
from compilefix.codemods.host_reads.number_lists import given_in_turn
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in


def listed_fix(size: ast.expr, scope: Scope) -> tuple[ast.Name, Fix] | None:
    """The fix for what a loop reads from a tensor as sizes, and the first place that does; None where there is none."""
    names = [n for n in ast.walk(size) if isinstance(n, ast.Name) and scope.value(n).is_tensor]
    rows = _rows_of(names[0], scope) if len(names) == 1 else None
    if rows is None or rows_not_captured(rows, scope) is not None:
        return None
    target = given_in_turn(rows, scope)
    given = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
    template = Template()
    uses: list[ast.Name] = []
    for name in given:
        if not isinstance(name, ast.Name) or len(scope.names(name.id, stores=True)) != 1:
            return None
        uses += scope.names(name.id)
    if not uses or not all(_is_size(use, scope, template) for use in uses) or _changes(rows, scope):
        return None
    if needs_no_number(uses, scope):
        return None
    value, wanted = scope.value(rows), 1 if isinstance(target, ast.Name) else 2
    if not value.certain:
        template.refuse([Obstacle(f"`{snippet(rows)}` is not proved to be a tensor", "is-tensor")])
    if value.rank != wanted:
        words = "one dimension" if wanted == 1 else "two dimensions"
        reason = f"`{snippet(rows)}` is not proved to have {words}: with more, an item is a list"
        template.refuse([Obstacle(reason, "enough-dimensions")])
    if not switched_on(SCALARS, scope):
        template.refuse([Obstacle(f"the numbers stay in the graph only where `{SCALARS}` is on", "capture-scalars")])
    code = f"{template.use(rows, operand=True)}.tolist()"
    if template.broken is not None:
        return None
    edit = scope.edit(rows, code, **template.parts)
    first = min(uses, key=lambda use: (use.lineno, use.col_offset))
    return first, Fix((edit,), (), template.assumptions, template.reasons, last=True)


def _rows_of(name: ast.Name, scope: Scope) -> ast.expr | None:
    """The tensor whose rows, or numbers, a loop gives to a name."""
    stores = scope.names(name.id, stores=True)
    loop = next((a for a in scope.ancestors(stores[0]) if isinstance(a, ast.For)), None) if len(stores) == 1 else None
    if loop is None or not any(part is stores[0] for part in ast.walk(loop.target)):
        return None
    around = loop.iter.args if isinstance(loop.iter, ast.Call) and scope.callee(loop.iter) is not None else [loop.iter]
    for rows in around:
        target = given_in_turn(rows, scope)
        if target is not None and any(part is stores[0] for part in ast.walk(target)) and scope.value(rows).is_tensor:
            return rows if scope.value(rows).dtype in ("int", None) else None
    return None


def _is_size(node: ast.expr, scope: Scope, template: Template) -> bool:
    """Whether a number is a size, by itself or in a sum or quotient of integers, and what stands against a quotient."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add | ast.Sub | ast.Mult | ast.FloorDiv):
        other = parent.right if parent.left is node else parent.left
        value = scope.value(other)
        if isinstance(parent.op, ast.FloorDiv):
            if parent.left is not node:
                return False
            if value.const is None or value.const.value == 0:
                reason = f"`{snippet(parent)}` may divide by zero, which raises another error for tensors"
                template.refuse([Obstacle(reason, "math-errors")])
        elif scope.value(node).dtype_id != "int64":
            reason = (
                f"`{snippet(parent)}` is not proved to be of 64 bits: of fewer it may wrap round, and Python's grows"
            )
            template.refuse([Obstacle(reason, "number-to-tensor")])
        if not (value.is_(Kind.STATIC, Kind.SIZE) or _names_row(other, scope)) or value.dtype in ("float", "complex"):
            return False
        return _is_size(parent, scope, template)
    return integer_place(node, scope) is not None


def _names_row(node: ast.expr, scope: Scope) -> bool:
    """Whether the other side of a product is a number of the same loop: `h * w`."""
    return isinstance(node, ast.Name) and scope.value(node).is_tensor and _rows_of(node, scope) is not None


def _changes(rows: ast.expr, scope: Scope) -> bool:
    """Whether the loop may write into the tensor, of which a list shows nothing."""
    loop = next(a for a in scope.ancestors(rows) if isinstance(a, ast.For))
    within = set(ast.walk(loop))
    names = names_in(rows)
    return any(node in within for node in scope.legality.memory.writers(scope.value(rows).storage, names, scope.facts))
