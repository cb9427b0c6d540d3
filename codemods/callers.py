"""Who calls a function of the project."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilefix.source.definitions import Function

if TYPE_CHECKING:
    from compilefix.codemods.rule import Scope

_DRIVES = frozenset({"backward", "zero_grad", "compile", "_dynamo"})


def is_read_of(node: ast.Attribute, function: Function) -> bool:
    """Whether code reads an attribute with the name of this property."""
    return node.attr == function.node.name and isinstance(node.ctx, ast.Load)


def callers(scope: Scope) -> Iterator[Function]:
    """Functions of this file that call this one and do not drive it from outside, as a training loop does.

    Reading a property by its name counts as a call, otherwise than in the text of an exception.
    """
    inference = scope.legality.inference
    for function in scope.function.module.all_functions:
        reads = scope.function.is_property and _reads(function, scope.function)
        if function is scope.function or not (
            reads or not scope.stands_for.isdisjoint(inference.facts(function).calls.values())
        ):
            continue
        if not drives(function):
            yield function


def callers_elsewhere(scope: Scope) -> Iterator[Function]:
    """Functions of other files of the project that call this one, which they name, and do not drive it from outside."""
    name = scope.function.node.name
    if name == "forward" or name.startswith("__"):
        return  # nobody calls it by this name, or modules do, which are asked as callers on the way
    found = dict.fromkeys(function for function, _ in scope.named_calls(lambda function: function.of(ast.Call)))
    yield from (f for f in found if f.module is not scope.function.module and not drives(f))


def is_called(scope: Scope) -> bool:
    """Whether any function of the project calls this one, or reads it where it is a property."""
    inference, own = scope.legality.inference, scope.function
    for function in own.module.all_functions:
        reads = own.is_property and any(is_read_of(node, own) for node in function.of(ast.Attribute))
        if function is not own and (reads or own in inference.facts(function).calls.values()):
            return True
    return next(scope.named_calls(lambda function: function.of(ast.Call)), None) is not None


def _reads(function: Function, asked: Function) -> bool:
    shown = {node for raised in function.of(ast.Raise) for node in ast.walk(raised)}
    return any(is_read_of(node, asked) and node not in shown for node in function.of(ast.Attribute))


def drives(function: Function) -> bool:
    """Whether a function drives others from outside of compiled code: it runs a backward pass, or compiles."""
    decorated = {n for decorator in function.node.decorator_list for n in ast.walk(decorator)}
    return any(n.attr in _DRIVES for n in function.of(ast.Attribute) if n not in decorated)
