"""Parameters that are None where a call leaves them out, and get a tensor then: `if n is None: n = lengths.max()`."""

from __future__ import annotations

import ast

from compilefix.analysis.given_constants import defaults
from compilefix.codemods.rule import Scope
from compilefix.source.syntax import asks_for_none, asks_for_something, is_literal


def is_filled_in(test: ast.expr, scope: Scope) -> bool:
    """Whether a comparison is one of a tensor in each call that leaves an argument out.

    What other calls give is not known: a parameter that says what it takes is seen to be that.
    """
    if not isinstance(test, ast.Compare):
        return False
    sides = [test.left, *test.comparators]
    return any(isinstance(side, ast.Name) and _gets_a_tensor(side.id, scope) for side in sides)


def _gets_a_tensor(name: str, scope: Scope) -> bool:
    default = defaults(scope.function).get(name)
    annotated = any(p.arg == name and p.annotation is not None for p in scope.function.parameters)
    if default is None or annotated or not is_literal(default, None):
        return False
    stores = scope.names(name, stores=True)
    return bool(stores) and all(_is_where_none(store, scope) for store in stores)


def _is_where_none(store: ast.Name, scope: Scope) -> bool:
    """Whether a name gets a tensor where it is None, and keeps what it is elsewhere."""
    statement = scope.parents.get(store)
    if not isinstance(statement, ast.Assign) or statement.targets != [store]:
        return False
    value: ast.expr = statement.value
    around = scope.parents.get(statement)
    if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or) and _is(value.values[0], store.id):
        value = value.values[-1]
    elif isinstance(value, ast.IfExp) and _asks(value.test, store.id):
        kept, value = (value.body, value.orelse) if asks_for_something(value.test) else (value.orelse, value.body)
        if not _is(kept, store.id):
            return False
    elif not (
        isinstance(around, ast.If)
        and statement in around.body
        and _asks(around.test, store.id)
        and not asks_for_something(around.test)
    ):
        return False
    return scope.value(value).is_tensor


def _asks(test: ast.expr, name: str) -> bool:
    return asks_for_none(test) and isinstance(test, ast.Compare) and _is(test.left, name)


def _is(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
