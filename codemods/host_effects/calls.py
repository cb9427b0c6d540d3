"""Which calls act on the host, and where they stand in a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope

LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "fatal", "log"})


def kind_of(node: ast.Call, scope: Scope) -> str | None:
    """What a call does on the host: `print`, `log` or `warn`; None for every other call."""
    name = scope.callee(node) or ""
    if name == "print":
        return "print"
    if name == "warnings.warn":
        return "warn"
    owner, _, method = name.rpartition(".")
    if owner in ("logging.Logger", "logging") and (
        method in LEVELS or method == "exception" or method.endswith("_once")
    ):
        return "log"
    return None


def effects(scope: Scope, kind: str) -> Iterator[ast.Call]:
    """The calls of one kind that the function itself makes; those in a lambda run when the lambda does."""
    for node in scope.of(ast.Call):
        if kind_of(node, scope) != kind:
            continue
        if not any(isinstance(parent, ast.Lambda) for parent in scope.ancestors(node)):
            yield node


def effect_around(node: ast.AST, scope: Scope) -> ast.Call | None:
    """The print, log line or warning whose arguments hold a node; None where the node is used otherwise."""
    found: ast.Call | None = None
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.Lambda):
            return None
        if isinstance(parent, ast.Call) and kind_of(parent, scope) is not None:
            found = parent
        if isinstance(parent, ast.stmt):
            return found if isinstance(parent, ast.Expr) and parent.value is found else None
    return None


def calls_with(name: str, scope: Scope) -> list[ast.Call]:
    """The prints, log lines and warnings that show a local name."""
    return list(dict.fromkeys(call for load in scope.names(name) if (call := effect_around(load, scope)) is not None))
