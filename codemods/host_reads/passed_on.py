"""Parameters that are taken for tensors only because a `forward` gets them and hands them on: lengths, mostly."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.summaries import filled
from compilefix.codemods.callers import callers
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function


def is_only_passed_on(node: ast.expr, scope: Scope) -> bool:
    """Whether a parameter without annotation is used as a size or bound alone, and nobody is seen to compute it.

    What users give a `forward` are tensors as a rule, but `self.table[:, :length]` is asked with a number.
    """
    function = scope.function
    if not isinstance(node, ast.Name) or not _is_bare(node.id, function):
        return False
    if scope.names(node.id, stores=True) or not all(_is_size_or_argument(n, scope) for n in scope.names(node.id)):
        return False
    seen = dict.fromkeys((*callers(scope), *scope.compiled.callers[-1:]))
    given = [(caller, argument) for caller in seen for argument in _arguments(node.id, caller, scope)]
    return all(isinstance(argument, ast.Name) and _is_bare(argument.id, caller) for caller, argument in given)


def _is_size_or_argument(node: ast.Name, scope: Scope) -> bool:
    call = scope.parents.get(node)
    handed_on = isinstance(call, ast.Call) and call in scope.facts.calls and node in call.args
    return handed_on or integer_place(node, scope) is not None


def _is_bare(name: str, function: Function) -> bool:
    """Whether a name is that of a parameter of which nothing is said."""
    return any(p.arg == name and p.annotation is None for p in function.parameters)


def _arguments(name: str, caller: Function, scope: Scope) -> Iterator[ast.expr]:
    """What the calls in a function give a parameter."""
    callee = scope.function
    own = (*callee.node.args.posonlyargs, *callee.node.args.args)
    for call, called in scope.legality.inference.facts(caller).calls.items():
        if called is not callee or not isinstance(call, ast.Call):
            continue
        positions = [p.arg for p in filled(call, callee) if p in own]
        yield from (keyword.value for keyword in call.keywords if keyword.arg == name)
        if name in positions[: len(call.args)]:
            yield call.args[positions.index(name)]
