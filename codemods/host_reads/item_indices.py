"""Items that a loop takes of a tensor, as indices: with `capture_scalar_outputs` inductor fails on some of them.

`[x[:, i] for i in order]` breaks the graph where `order` has one dimension. With the flag inductor of torch 2.13 fails
where two items are read by their names (GuardOnDataDependentSymNode), and compiles other such loops, as a generator.
Where `order` has more dimensions the items are no numbers, and all is well with the flag and without.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope


def item_indices(scope: Scope) -> Iterator[ast.Subscript]:
    """The reads of a tensor by an item of another one, that may be a number, in this function."""
    loops: list[ast.comprehension | ast.For] = [*scope.of(ast.comprehension), *scope.of(ast.For)]
    for loop in loops:
        through = scope.value(loop.iter)
        if not isinstance(loop.target, ast.Name) or not through.is_tensor:
            continue
        if through.dtype in ("float", "bool") or through.rank not in (None, 1):
            continue
        around = scope.parents.get(loop) if isinstance(loop, ast.comprehension) else loop
        parts = ast.walk(around) if around is not None else ()
        yield from (part for part in parts if isinstance(part, ast.Subscript) and _is_picked(part, loop.target, scope))


def _is_picked(read: ast.Subscript, item: ast.Name, scope: Scope) -> bool:
    """Whether a tensor is read by the item itself."""
    indices = read.slice.elts if isinstance(read.slice, ast.Tuple) else [read.slice]
    named = any(isinstance(index, ast.Name) and index.id == item.id for index in indices)
    return named and isinstance(read.ctx, ast.Load) and scope.value(read.value).is_tensor
