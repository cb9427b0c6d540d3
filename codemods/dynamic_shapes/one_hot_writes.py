"""`x[places, labels[places]] = 1`, one element in each row that a mask selects, as a fill of the whole matrix.

places = torch.nonzero(valid)              places = valid
x[places, labels[places]] = 1              x.masked_fill_(places[:, None] & (labels[:, None] == columns), 1)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target

_PAIR = 2


@dataclass(frozen=True)
class OneHotWrite:
    """The statement, the matrix that it writes to, and the tensor with the column for each row."""

    statement: ast.Assign
    matrix: ast.Name
    columns: ast.Name


def one_hot_write(use: ast.Name, scope: Scope) -> OneHotWrite | None:
    """The write that a list of places is used for, as the row or to look up the column."""
    statement = scope.statement(use)
    target = single_target(statement)
    if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Subscript):
        return None
    pair = target.slice.elts if isinstance(target.slice, ast.Tuple) else []
    if len(pair) != _PAIR or not isinstance(target.value, ast.Name):
        return None
    row, column = pair
    looked_up = isinstance(column, ast.Subscript) and isinstance(column.slice, ast.Name)
    if not looked_up or not isinstance(column, ast.Subscript) or not isinstance(column.value, ast.Name):
        return None
    both = isinstance(row, ast.Name) and row.id == use.id and ast.unparse(column.slice) == use.id
    matrix, columns, given = scope.value(target.value), scope.value(column.value), scope.value(statement.value)
    whole = given.is_(Kind.STATIC) and given.const is not None and type(given.const.value) in (int, bool)
    known = matrix.is_tensor and matrix.rank == _PAIR and columns.is_tensor and columns.dtype in ("int", None)
    if not both or not whole or not known or use.id in (target.value.id, column.value.id):
        return None
    return OneHotWrite(statement, target.value, column.value)


def fill_code(found: OneHotWrite, mask: str, scope: Scope) -> str:
    """The statement that fills the same elements, where the mask has a name."""
    matrix, torch = found.matrix.id, torch_name(scope)
    places = f"{found.columns.id}[:, None] == {torch}.arange({matrix}.size(1), device={matrix}.device)"
    return f"{matrix}.masked_fill_({mask}[:, None] & ({places}), {ast.unparse(found.statement.value)})"


def in_the_way(found: OneHotWrite, mask: ast.expr) -> Iterator[Obstacle]:
    """What is not proved: a column that counts from the end, or one that there is not."""
    columns, matrix = snippet(found.columns), snippet(found.matrix)
    yield Obstacle(f"`{columns}` names one of the columns of `{matrix}`, counted from the front", "index-in-range")
    yield Obstacle(f"`{matrix}` and `{columns}` have a row for each element of `{snippet(mask)}`", "rows-match")
