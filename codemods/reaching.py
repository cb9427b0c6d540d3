"""Which assignment of a name a place reads, where that is certain: the last one before it, on every way."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope

_AGAIN = (ast.For, ast.AsyncFor, ast.While)


def only_reads(name: str, stored: ast.stmt, scope: Scope) -> list[ast.Name] | None:
    """The places that read what a statement gives a name, where no other place may; None where that is not certain."""
    if not all(_is_plain(store, scope) for store in scope.names(name, stores=True)):
        return None
    owners = [(load, _given_by(load, scope)) for load in scope.names(name)]
    if any(owner is None for _, owner in owners):
        return None
    return [load for load, owner in owners if owner is stored]


def _is_plain(store: ast.Name, scope: Scope) -> bool:
    """Whether a name gets a new value there: `n += 1` reads the old one, and a comprehension has a name of its own."""
    statement = scope.statement(store)
    if isinstance(statement, ast.Assign):
        targets: list[ast.expr] = statement.targets
    else:
        targets = [statement.target] if isinstance(statement, ast.AnnAssign | ast.For) else []
    return any(store in ast.walk(target) for target in targets)


def _given_by(load: ast.Name, scope: Scope) -> ast.stmt | None:
    """The assignment that a place reads on every way."""
    stores = scope.names(load.id, stores=True)
    inner: ast.AST = load
    for around in scope.ancestors(load):
        if isinstance(inner, ast.stmt):
            block = next((b for part in _PARTS if inner in (b := getattr(around, part, ()))), None)
            if block is None:  # a handler, or a case
                return None
            for statement in reversed(block[: block.index(inner)]):
                inside = set(ast.walk(statement))
                if any(store in inside for store in stores):
                    plain = isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None
                    return statement if plain else None
        if isinstance(around, ast.Try | ast.Match) or around is scope.function.node:
            return None
        if isinstance(around, ast.For) and inner in around.body and set(stores) & set(ast.walk(around.target)):
            return around  # each turn begins with what the loop gives
        if isinstance(around, _AGAIN) and any(store in set(ast.walk(around)) for store in stores):
            return None  # what an earlier turn stored may be read
        inner = around
    return None


_PARTS = ("body", "orelse", "finalbody")
