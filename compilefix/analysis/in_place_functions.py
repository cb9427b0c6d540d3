"""Which memory the functions of a project write into in place, as far as they are given or find it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from compilefix.analysis import torch_api
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.known_calls import only_reads
from compilefix.analysis.summaries import given_to, memory_of
from compilefix.analysis.torch_call import RESHAPES_IN_PLACE
from compilefix.analysis.values import NOTHING, Kind, Value
from compilefix.source.definitions import Function

ALL = frozenset({"*"})
"""What a function writes into of which nothing is known."""
_OUTSIDE = ("param:", "self.", "global.", "leaked")


def written_in_place(function: Function, facts: FunctionFacts) -> frozenset[str]:
    """The memory, by the function's own names, that its code writes into, without what it calls in the project."""
    found: set[str] = set()
    for value in _written(function, facts):
        plain = value.is_(Kind.CONTAINER) or not value.may_be(Kind.TENSOR) or value.dtype in ("bool", "int")
        if not plain:
            found.update(token for token in memory_of(value) if token.startswith(_OUTSIDE))
    return frozenset(found)


def _written(function: Function, facts: FunctionFacts) -> Iterator[Value]:
    for augmented in function.of(ast.AugAssign):
        yield facts.value(augmented.target)
    for item in function.of(ast.Subscript):
        if isinstance(item.ctx, ast.Store):
            yield facts.value(item.value)
    for call in function.of(ast.Call):
        name = facts.callee(call) or ""
        bare = name.rpartition(".")[2] or (call.func.attr if isinstance(call.func, ast.Attribute) else "")
        api = torch_api.method(bare) or torch_api.function(name)
        if api is not None and api.mutates:
            parts = [call.func.value] if isinstance(call.func, ast.Attribute) else []
            yield from map(facts.value, [*parts, *call.args[:1]])
        elif bare.startswith("_foreach_") and bare.endswith("_") and not only_reads(name):
            yield from (facts.value(argument) for argument in call.args)


def reshaped_in_place(function: Function, facts: FunctionFacts) -> frozenset[str]:
    """The memory, by the function's own names, of the tensors that its code itself gives another shape or dtype."""
    found: set[str] = set()
    for node in function.of(ast.Attribute):
        if node.attr in RESHAPES_IN_PLACE or (node.attr == "data" and isinstance(node.ctx, ast.Store)):
            value = facts.value(node.value)
            if value.may_be(Kind.TENSOR):
                found.update(token for token in memory_of(value) if token.startswith(_OUTSIDE))
    return frozenset(found)


def translated(
    written: frozenset[str], node: ast.Call, callee: Function, operands: Sequence[Value], facts: FunctionFacts
) -> frozenset[str]:
    """The memory that a call writes into, by the names of the caller."""
    if not written:
        return NOTHING
    found = given_to(node, callee, operands, facts)
    everything = NOTHING.union(*map(memory_of, operands))
    if written == ALL or found is None:
        return everything
    given: Mapping[str, Sequence[Value]] = found
    captured = memory_of(facts.value(node.func)) if callee.parent is not None else NOTHING
    into: set[str] = set()
    for token in written:
        if token.startswith("param:"):
            into.update(*(memory_of(value) for value in given.get(token.removeprefix("param:"), ())))
        else:
            into |= captured
    return frozenset(into)
