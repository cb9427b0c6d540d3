"""Tests of constants that stand in a function: `assert low != high` behind `low = 1.0` and `high = 4 * low`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

from compilefix.codemods.rule import Scope

_DEPTH = 20
_ARITHMETIC: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_ORDER: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def always_holds(test: ast.expr, scope: Scope) -> bool:
    """Whether a test computes with numbers that stand in the function, and is true in each call."""
    try:
        return bool(_number(test, scope, _DEPTH))
    except (_Unknown, ArithmeticError):
        return False


class _Unknown(Exception):
    """What an expression gives is not known."""


def _number(node: ast.expr, scope: Scope, depth: int) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if not depth:
        raise _Unknown
    if isinstance(node, ast.Name):
        return _number(_given(node, scope), scope, depth - 1)
    if isinstance(node, ast.UnaryOp):
        value = _number(node.operand, scope, depth - 1)
        if isinstance(node.op, ast.Not):
            return not value
        if isinstance(node.op, ast.USub):
            return -value
    elif isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        sides = (_number(side, scope, depth - 1) for side in (node.left, node.right))
        return _ARITHMETIC[type(node.op)](*sides)
    elif isinstance(node, ast.BoolOp):
        values = [_number(value, scope, depth - 1) for value in node.values]
        return all(values) if isinstance(node.op, ast.And) else any(values)
    elif isinstance(node, ast.Compare) and all(type(op) in _ORDER for op in node.ops):
        left, *others = (_number(side, scope, depth - 1) for side in (node.left, *node.comparators))
        pairs = zip(node.ops, (left, *others), others, strict=False)
        return all(_ORDER[type(op)](one, other) for op, one, other in pairs)
    raise _Unknown


def _given(name: ast.Name, scope: Scope) -> ast.expr:
    """What a name of the function is given: once, in a statement of its own before the place."""
    given = scope.only_assignment(name.id)
    if given is None or given not in scope.function.node.body:
        raise _Unknown
    if given.lineno >= name.lineno:
        raise _Unknown
    return given.value
