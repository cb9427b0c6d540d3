"""Numbers that are read from one place of a tensor twice, in one turn of a loop or in the next one.

Inductor of torch 2.13 makes one number of the two. Where both bound slices it does not find the other one in training
(`expected [u2] to have been codegen-ed`; run on a CPU: `x[o[0].item() : o[1].item()]`, `x[o[1].item() : o[2].item()]`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope

_LOOPS = ast.For | ast.While | ast.comprehension


def read_twice(node: ast.expr, others: Iterable[ast.expr], scope: Scope) -> Iterator[ast.expr]:
    """The other reads of what a number is read from, `o[i]`, or of its neighbour, `o[i + 1]`, in a loop."""
    place = _place(node, scope)
    for other in others if place is not None else ():
        found = _place(other, scope)
        if place is None or found is None or other is node or ast.dump(found.value) != ast.dump(place.value):
            continue
        if ast.dump(found.slice) == ast.dump(place.slice) or _meets_in_turns(place, found, scope):
            yield other


def _place(node: ast.expr, scope: Scope) -> ast.Subscript | None:
    read = read_of(node, scope) or node
    return read if isinstance(read, ast.Subscript) else None


def _meets_in_turns(place: ast.Subscript, other: ast.Subscript, scope: Scope) -> bool:
    """Whether a later turn of a loop reads what this one has read: the places `i` and `i + 1`."""
    for first, second in ((place.slice, other.slice), (other.slice, place.slice)):
        if not isinstance(first, ast.Name) or not isinstance(second, ast.BinOp):
            continue
        moved = isinstance(second.op, ast.Add | ast.Sub) and isinstance(second.right, ast.Constant)
        if moved and ast.dump(second.left) == ast.dump(first):
            return any(isinstance(around, _LOOPS) for around in scope.ancestors(place))
    return False
