"""Tests of a logger's level around log lines of that level."""

from __future__ import annotations

import ast

from compilefix.codemods.host_effects.calls import kind_of
from compilefix.codemods.host_effects.once import LEVELS
from compilefix.codemods.host_effects.reads import read_of
from compilefix.codemods.rule import Scope


def level_guard(node: ast.AST, scope: Scope) -> ast.If | None:
    """The `if logger.isEnabledFor(logging.DEBUG):` around log lines that ask for nothing else themselves.

    The test is not needed where all that it guards are lines of the same logger and level, without side effects.
    """
    guard = next((parent for parent in scope.ancestors(node) if isinstance(parent, ast.If)), None)
    if (
        guard is None
        or guard.orelse
        or not isinstance(guard.test, ast.Call)
        or not isinstance(guard.test.func, ast.Attribute)
    ):
        return None
    test = guard.test
    if (
        scope.callee(test) != "logging.Logger.isEnabledFor"
        or len(test.args) != 1
        or isinstance(scope.parents.get(guard), ast.If)
    ):
        return None
    level = (scope.function.module.qualified(test.args[0]) or "").removeprefix("logging.").lower()
    calls = calls_under(guard, scope)
    if level not in LEVELS or len(calls) != len(guard.body):
        return None
    for call in calls:
        if (
            not isinstance(call.func, ast.Attribute)
            or call.func.attr != level
            or ast.dump(call.func.value) != ast.dump(guard.test.func.value)
        ):
            return None
        for argument in (*call.args, *(k.value for k in call.keywords)):
            does = scope.legality.effects.of(read_of(argument, scope) or argument, scope.facts)
            if does.mutates or does.random or does.raises or does.unknown:
                return None
    return guard


def calls_under(guard: ast.If, scope: Scope) -> list[ast.Call]:
    """The log lines directly under an `if`."""
    return [
        s.value
        for s in guard.body
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) and kind_of(s.value, scope) == "log"
    ]
