"""Where Python needs the value of a NumPy number: conditions and `range`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.numpy_calls.array_values import from_tensor
from compilefix.codemods.rule import Scope

_ARRAY_OR_NUMBER = frozenset({Kind.NDARRAY, Kind.STATIC, Kind.SIZE, Kind.NUMBER})


def needed_numbers(scope: Scope) -> Iterator[tuple[ast.expr, str]]:
    """The NumPy numbers that Python reads while it traces, with the graph-break id.

    Those that are computed from a tensor in the same function belong to the rule for NumPy on tensors.
    """
    tests = [
        *(node.test for node in scope.of(ast.If)),
        *(node.test for node in scope.of(ast.While)),
        *(node.test for node in scope.of(ast.IfExp)),
        *(node.test for node in scope.of(ast.Assert)),
    ]
    for test in tests:
        yield from _truths(test, scope)
    for operation in scope.of(ast.BoolOp):
        if not isinstance(scope.parents.get(operation), ast.If | ast.While | ast.IfExp | ast.Assert | ast.BoolOp):
            for part in operation.values[:-1]:
                yield from _truths(part, scope)
    for call in scope.of(ast.Call):
        if scope.callee(call) == "range":
            for argument in call.args:
                if is_array(scope.value(argument)):
                    yield argument, "GB0059"


def _truths(test: ast.expr, scope: Scope) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _truths(value, scope)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _truths(test.operand, scope)
    elif is_array(scope.value(test)) and not from_tensor(test, scope):
        yield test, "GB0170"


def is_array(value: Value) -> bool:
    """Whether the value is an array, or a NumPy number, wherever anything is known of it."""
    return Kind.NDARRAY in value.kinds and value.kinds <= _ARRAY_OR_NUMBER
