"""The column of the one true place in each row: `torch.where(attributes == 1)[1]` of one-hot rows is their `argmax`.

So is `kinds` in `_, kinds = torch.where(attributes == 1)`, where nobody reads the first name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.dynamic_shapes.true_places import listing_call
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

_GROUPS = frozenset({"reshape", "view", "unflatten", "unfold", "chunk", "split"})
"""What takes columns as pairs or runs (the beginnings and ends of segments): there are several of a row."""


@dataclass(frozen=True)
class OneHotColumns:
    """node: the list of the columns, or the assignment that gives it a `name`. call: `where` or `nonzero` in it. rows:
    the comparison with one.
    """

    node: ast.Subscript | ast.Assign
    call: ast.Call
    rows: ast.Compare
    name: str | None = None


def one_hot_columns(node: ast.Call, scope: Scope) -> OneHotColumns | None:
    """The columns where a matrix is equal to one; None where the call lists something else.

    What is only larger than a number, or said to be a mask, is seldom one-hot.
    """
    call, parent = listing_call(node, scope), scope.parents.get(node)
    if call is None:
        return None
    rows, tuples = call
    if not _is_one(rows, scope) or not isinstance(rows, ast.Compare) or _has_more_dimensions(rows, scope):
        return None
    if isinstance(parent, ast.Assign) and tuples:
        columns = _unpacked(parent, scope)
        if columns is None or _go_on_in_groups(scope.names(columns), scope):
            return None
        return OneHotColumns(parent, node, rows, columns)
    if not isinstance(parent, ast.Subscript) or parent.value is not node or not isinstance(parent.ctx, ast.Load):
        return None
    index = ast.unparse(parent.slice).strip("()")
    if index not in (("1", "-1") if tuples else (":, 1", ":, -1", "..., 1", "..., -1")):
        return None
    given = scope.parents.get(parent)
    targets = given.targets if isinstance(given, ast.Assign) else []
    uses = [use for target in targets if isinstance(target, ast.Name) for use in scope.names(target.id)]
    if _go_on_in_groups([parent, *uses], scope):
        return None
    return OneHotColumns(parent, node, rows)


def _is_one(rows: ast.expr, scope: Scope) -> bool:
    """Whether an expression compares a matrix with one."""
    if not isinstance(rows, ast.Compare) or len(rows.ops) != 1 or not isinstance(rows.ops[0], ast.Eq):
        return False
    consts = [scope.value(side).const for side in (rows.left, rows.comparators[0])]
    ones = [const.value for const in consts if const is not None and not isinstance(const.value, str)]
    return ones == [1] and scope.value(rows).rank in (None, 2)


def _go_on_in_groups(uses: Iterable[ast.expr], scope: Scope) -> bool:
    around = (scope.parents.get(use) for use in uses)
    return any(isinstance(part, ast.Attribute) and part.attr in _GROUPS for part in around)


def _has_more_dimensions(rows: ast.Compare, scope: Scope) -> bool:
    """Whether the function reads or writes what is compared with three places at once: it is no matrix."""
    sides = {ast.unparse(rows.left), ast.unparse(rows.comparators[0])}
    return any(
        isinstance(one.slice, ast.Tuple)
        and sum(not (isinstance(n, ast.Constant) and n.value in (None, ...)) for n in one.slice.elts) > 2
        and ast.unparse(one.value) in sides
        for one in scope.of(ast.Subscript)
    )


def _unpacked(statement: ast.Assign, scope: Scope) -> str | None:
    """The second of two names that a statement gives values, where nobody reads the first."""
    target = statement.targets[0] if len(statement.targets) == 1 else None
    names = [n.id for n in target.elts if isinstance(n, ast.Name)] if isinstance(target, ast.Tuple) else []
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or len(set(names)) != 2:
        return None
    return names[1] if not live_after(names[0], statement, scope) else None


def columns_code(found: OneHotColumns, template: Template) -> str:
    """The code for the columns; what is not proved is noted."""
    reason = f"`{snippet(found.rows)}` is not proved to hold in one place of each row, and to be of a matrix"
    template.refuse([Obstacle(reason, "one-hot-rows")])
    code = f"{template.use(found.rows, operand=True)}.int().argmax(dim=1)"
    return code if found.name is None else f"{found.name} = {code}"
