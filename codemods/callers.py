"""Who calls a function of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope
from compilefix.source.index import Function

_DRIVES = frozenset({"backward", "zero_grad", "compile", "_dynamo"})


def callers(scope: Scope) -> Iterator[Function]:
    """Functions of this file that call this one and do not drive it from outside, as a training loop does."""
    inference = scope.legality.inference
    for function in scope.function.module.all_functions:
        if function is scope.function or scope.function not in inference.facts(function).calls.values():
            continue
        if not _drives(function):
            yield function


def callers_elsewhere(scope: Scope) -> Iterator[Function]:
    """Functions of other files of the project that call this one, which they name, and do not drive it from outside."""
    name = scope.function.node.name
    if name == "forward" or name.startswith("__"):
        return  # nobody calls it by this name, or modules do, which are asked as callers on the way
    found = dict.fromkeys(function for function, _ in scope.named_calls(lambda function: function.of(ast.Call)))
    yield from (f for f in found if f.module is not scope.function.module and not _drives(f))


def _drives(function: Function) -> bool:
    decorated = {n for decorator in function.node.decorator_list for n in ast.walk(decorator)}
    return any(n.attr in _DRIVES for n in function.of(ast.Attribute) if n not in decorated)
