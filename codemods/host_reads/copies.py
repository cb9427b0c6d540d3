"""Indexing by a number gives a view, and indexing by a tensor a copy: where the difference shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet


def becomes_copy(item: ast.Subscript, scope: Scope) -> Iterator[Obstacle]:
    """What stands against a copy of what `item` picks; without an assumption where the function itself writes."""
    if isinstance(scope.parents.get(item), ast.BinOp | ast.UnaryOp | ast.Compare):
        return
    writer = next(_writes(item, scope), None)
    if writer is None:
        reason = f"`{snippet(item)}` becomes a copy of what was a view: a write into it does not change the whole"
        yield Obstacle(reason, "no-aliasing")
    else:
        reason = f"`{snippet(item)}` becomes a copy, and `{snippet(writer)}` writes into it or the whole"
        yield Obstacle(f"{reason}: the one does not change the other any more")


def _writes(item: ast.Subscript, scope: Scope) -> Iterator[ast.AST]:
    """The writes of the function after which the copy and the whole say something else than the view did."""
    statement = scope.statement(item)
    around = [node for node in scope.ancestors(item) if isinstance(node, ast.Call)]
    storage = scope.value(item.value).storage
    writers = [*scope.legality.memory.writers(storage, (), scope.facts)] if storage else []
    yield from (node for node in writers if node in around)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    parts = [n for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)]
    names = {n.id for n in parts if isinstance(n.ctx, ast.Store)}
    yield from scope.legality.memory.writers(frozenset(), names, scope.facts)
    loads = [load for name in names for load in scope.names(name)]
    again = any(isinstance(node, ast.For | ast.While) for node in scope.ancestors(statement))
    for node in writers:
        line = getattr(node, "lineno", 0)
        if (line > statement.lineno or again) and any(load.lineno > line or again for load in loads):
            yield node
