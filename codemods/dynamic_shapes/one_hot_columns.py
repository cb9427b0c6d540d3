"""The column of the one true place in each row: `torch.where(attributes == 1)[1]` of one-hot rows is their `argmax`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.legality import Obstacle
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Template
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class OneHotColumns:
    """node: the list of the columns. call: `where` or `nonzero` in it. rows: the comparison with one."""

    node: ast.Subscript
    call: ast.Call
    rows: ast.Compare


def one_hot_columns(node: ast.Call, scope: Scope) -> OneHotColumns | None:
    """The columns where a matrix is equal to one; None where the call lists something else.

    What is only larger than a number, or said to be a mask, is seldom one-hot.
    """
    name, parent = scope.callee(node) or "", scope.parents.get(node)
    if name in ("torch.where", "torch.nonzero", "torch.argwhere") and len(node.args) == 1:
        rows = node.args[0]
    elif name in ("Tensor.nonzero", "Tensor.argwhere") and not node.args and isinstance(node.func, ast.Attribute):
        rows = node.func.value
    else:
        return None
    options = {k.arg: ast.unparse(k.value) for k in node.keywords}
    if not set(options) <= {"as_tuple"} or not isinstance(parent, ast.Subscript) or parent.value is not node:
        return None
    tuples = name == "torch.where" or options.get("as_tuple") == "True"
    index = ast.unparse(parent.slice).strip("()")
    if index not in (("1", "-1") if tuples else (":, 1", ":, -1")) or not isinstance(parent.ctx, ast.Load):
        return None
    if not isinstance(rows, ast.Compare) or len(rows.ops) != 1 or not isinstance(rows.ops[0], ast.Eq):
        return None
    one, compared = scope.value(rows.comparators[0]).const, scope.value(rows)
    if one is None or isinstance(one.value, str) or one.value != 1 or compared.rank not in (None, 2):
        return None
    return OneHotColumns(parent, node, rows)


def columns_code(found: OneHotColumns, template: Template) -> str:
    """The code for the columns; what is not proved is noted."""
    reason = f"`{snippet(found.rows.left)}` is not proved to hold one 1 in each row, and to be a matrix"
    template.refuse([Obstacle(reason, "one-hot-rows")])
    return f"{template.use(found.rows, operand=True)}.int().argmax(dim=1)"
