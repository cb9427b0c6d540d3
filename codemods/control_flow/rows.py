"""Loops over the rows of a tensor, each with a length from another tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of, names_in


@dataclass(frozen=True)
class Rows:
    """What a loop over rows gives names: the number of a row or the row itself, and its length.

    turns: what says how often it runs. tensor: the one whose rows `zip` gives. lengths: the tensor that the head of the
    loop, or a read at the start of its body, takes `length` from. offset: what that adds to it.
    """

    counter: str
    turns: ast.expr
    tensor: ast.expr | None = None
    length: str | None = None
    lengths: ast.expr | None = None
    offset: int = 0


@dataclass(frozen=True)
class Part:
    """A part of a row, up to its length or from there on: `x[i, :lengths[i]]`, `x[i][n:]`, `row[: n + 1]`.

    offset: what is added to the length.
    """

    tensor: ast.expr
    lengths: ast.expr
    bounds: ast.Slice
    offset: int = 0

    @property
    def below(self) -> bool:
        """Whether it ends at the length."""
        return self.bounds.upper is not None


def rows_of(target: ast.expr, head: ast.expr, scope: Scope) -> Rows | None:
    """The rows that `for target in head` runs over: with `range`, `enumerate` or `zip`."""
    if not isinstance(head, ast.Call) or head.keywords:
        return None
    over = scope.callee(head)
    if over == "range" and len(head.args) == 1 and isinstance(target, ast.Name):
        return Rows(target.id, head.args[0])
    pair = target.elts if isinstance(target, ast.Tuple) else []
    if len(pair) != 2 or not isinstance(pair[0], ast.Name) or not isinstance(pair[1], ast.Name):
        return None
    if (over, len(head.args)) not in (("enumerate", 1), ("zip", 2)):
        return None
    given = head.args[-1]
    lengths = _listed(given, scope) or given
    return Rows(pair[0].id, lengths, head.args[0] if over == "zip" else None, pair[1].id, lengths)


def _listed(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor in `lengths.tolist()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        return node.func.value if scope.callee(node) == "Tensor.tolist" else None
    return None


def with_read(rows: Rows, first: ast.stmt, scope: Scope) -> Rows | None:
    """The rows where a statement reads the row's length: `n = lengths[i].item()`; None where it does not."""
    if not isinstance(first, ast.Assign) or len(first.targets) != 1 or not isinstance(first.targets[0], ast.Name):
        return None
    end, name = end_of(first.value, rows, scope), first.targets[0].id
    if end is None or name == rows.counter or name in names_in(end[0]):
        return None  # the next read would be of another thing
    return replace(rows, length=name, lengths=end[0], offset=end[1])


def end_of(node: ast.expr, rows: Rows, scope: Scope) -> tuple[ast.expr, int] | None:
    """The lengths in `lengths[i]`, `lengths[i].item() + 1` or a name for the row's length, and what is added."""
    inner = read_of(node, scope) or node
    if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add | ast.Sub):
        added = scope.value(inner.right).const
        end = end_of(inner.left, rows, scope)
        if end is None or added is None or type(added.value) is not int:
            return None
        # What an integer of few bits adds up to goes round.
        if scope.value(end[0]).dtype not in ("int", None) or scope.value(end[0]).dtype_id in ("uint8", "int8", "int16"):
            return None
        return end[0], end[1] + (added.value if isinstance(inner.op, ast.Add) else -added.value)
    if rows.length is not None and isinstance(inner, ast.Name) and inner.id == rows.length:
        return None if rows.lengths is None else (rows.lengths, rows.offset)
    lengths = _item(inner, rows)
    return None if lengths is None else (lengths, 0)


def _item(node: ast.expr, rows: Rows) -> ast.expr | None:
    """The tensor in `lengths[i]`."""
    counts = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == rows.counter
    return node.value if counts and rows.tensor is None and isinstance(node, ast.Subscript) else None


def part_of_row(node: ast.expr, rows: Rows, scope: Scope) -> Part | None:
    """The part of a row that an expression names: `m[i, :n]`, `m[i, 0:n, :]`, `m[i][n:]`, `row[:n]`."""
    if not isinstance(node, ast.Subscript):
        return None
    parts = elements_of(node.slice)
    owner, row = node.value, None
    if rows.tensor is not None:
        row, owner = owner, rows.tensor
    elif isinstance(owner, ast.Subscript):
        row, owner = owner.slice, owner.value
    elif len(parts) > 1:
        row, parts = parts[0], parts[1:]
    whole = all(ast.unparse(part) in (":", "...") for part in parts[1:])
    bounds = parts[0]
    if not isinstance(row, ast.Name) or row.id != rows.counter or not whole or not isinstance(bounds, ast.Slice):
        return None
    if bounds.upper is not None and isinstance(bounds.lower, ast.Constant) and bounds.lower.value == 0:
        bounds = ast.copy_location(ast.Slice(None, bounds.upper, bounds.step), bounds)
    end = bounds.upper or bounds.lower
    if end is None or bounds.step is not None or (bounds.lower is not None and bounds.upper is not None):
        return None
    found = end_of(end, rows, scope)
    return None if found is None or not scope.value(found[0]).is_tensor else Part(owner, found[0], bounds, found[1])


def rows_match(rows: Rows, part: Part, scope: Scope) -> Iterator[Obstacle]:
    """Whether a tensor and the lengths have one row for each turn, and the lengths are integers."""
    anew = [part.tensor, *([] if part.lengths is rows.turns else [part.lengths])]
    if not all(isinstance(n, ast.Name | ast.Attribute) for n in anew):
        yield Obstacle("the rows or lengths are computed anew in each turn: give them a name")
    lengths = scope.value(part.lengths)
    for node in (part.tensor, part.lengths):
        if scope.value(node).is_tensor and not scope.value(node).certain:
            yield Obstacle(f"`{snippet(node)}` is not proved to be a tensor", "is-tensor")
    if scope.value(part.tensor).rank is None:
        reason = f"`{snippet(part.tensor)}` is not proved to have two dimensions, and else raises with another text"
        yield Obstacle(reason, "enough-dimensions")
    yield from scope.recomputed(part.lengths)
    if lengths.dtype != "int" or (part.offset and lengths.dtype_id not in ("int32", "int64")):
        yield Obstacle(f"`{snippet(part.lengths)}` is not proved to hold integers", "rows-match")
    sizes = Sizes(scope)
    turns = sizes.rows(rows.turns) if scope.value(rows.turns).is_tensor else sizes.size(rows.turns)
    counted = {turns, sizes.rows(part.tensor), sizes.rows(part.lengths)}
    if None in counted or len(counted) != 1 or lengths.rank != 1:
        yield Obstacle(
            f"`{snippet(part.lengths)}` and `{snippet(part.tensor)}` are not proved to have one row for each turn",
            "rows-match",
        )
