"""What does not run in a function for the constants that a call gives it: the body of `if mode == "warn":`.

A parameter that a call does not give has its default. Only literals count, and only before the name gets another value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from compilefix.source.definitions import Function
from compilefix.source.syntax import unpacks

_REPEATED = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
_SINGLE = (None, True, False)


def constants_of(call: ast.Call, function: Function) -> Mapping[str, object]:
    """The parameters of a function that a call gives a literal, or leaves at a default that is one.

    Of methods and of what is decorated it is not known here which argument is which.
    """
    if function.cls is not None or function.node.decorator_list or unpacks(call):
        return {}
    own = function.node.args
    names = [parameter.arg for parameter in (*own.posonlyargs, *own.args)]
    given: dict[str, ast.expr | None] = {**defaults(function), **dict(zip(names, call.args, strict=False))}
    named = {parameter.arg for parameter in (*own.args, *own.kwonlyargs)}  # another keyword is one of `**options`
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg in named}
    return {name: value.value for name, value in given.items() if isinstance(value, ast.Constant)}


def defaults(function: Function) -> dict[str, ast.expr | None]:
    """By parameter what it is where a call says nothing of it."""
    own = function.node.args
    names = [parameter.arg for parameter in (*own.posonlyargs, *own.args)]
    found: dict[str, ast.expr | None] = dict(zip(reversed(names), reversed(own.defaults), strict=False))
    found.update((p.arg, default) for p, default in zip(own.kwonlyargs, own.kw_defaults, strict=True))
    return found


def left_out(function: Function, constants: Mapping[str, object]) -> frozenset[ast.AST]:
    """The nodes of a function that do not run where its parameters have these values, and the tests that say so."""
    if not constants:
        return frozenset()
    known = _Known(constants, _first_stores(function))
    found: set[ast.AST] = set()
    for node in function.nodes:
        if isinstance(node, ast.If | ast.IfExp) and (truth := known.truth(node.test)) is not None:
            side = node.orelse if truth else node.body
            parts = side if isinstance(side, list) else [side]
            found |= {node, *(n for part in parts for n in ast.walk(part))}
        if isinstance(node, ast.BoolOp):
            ends = next((i for i, v in enumerate(node.values) if known.truth(v) is isinstance(node.op, ast.Or)), None)
            if ends is not None:
                found |= {node, *(n for part in node.values[ends + 1 :] for n in ast.walk(part))}
    return frozenset(found)


class _Known:
    """What tests give that ask for nothing but parameters of known values."""

    def __init__(self, constants: Mapping[str, object], stores: Mapping[str, int]) -> None:
        self._constants, self._stores = constants, stores

    def truth(self, test: ast.expr) -> bool | None:
        """What a test gives; None where that is not known."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            truth = self.truth(test.operand)
            return None if truth is None else not truth
        if isinstance(test, ast.BoolOp):
            ends = isinstance(test.op, ast.Or)
            for part in test.values:
                truth = self.truth(part)
                if truth is not (not ends):
                    return truth  # the parts behind it need not run, or it is not known
            return not ends
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            left, right, op = self._value(test.left), self._value(test.comparators[0]), test.ops[0]
            return _compared(op, left[0], right[0]) if left and right else None
        value = self._value(test)
        return bool(value[0]) if value else None

    def _value(self, node: ast.expr) -> tuple[object, ...]:
        """The value of a literal or a parameter, by itself in a tuple; none where it is not known."""
        if isinstance(node, ast.Constant):
            return (node.value,)
        if not isinstance(node, ast.Name) or node.id not in self._constants:
            return ()
        stored = self._stores.get(node.id)
        return (self._constants[node.id],) if stored is None or (node.end_lineno or 0) < stored else ()


def _compared(op: ast.cmpop, left: object, right: object) -> bool | None:
    if isinstance(op, ast.Eq | ast.NotEq):
        return (left == right) is isinstance(op, ast.Eq)
    if isinstance(op, ast.Is | ast.IsNot) and any(right is one for one in _SINGLE):
        return (left is right) is isinstance(op, ast.Is)
    return None


def _first_stores(function: Function) -> dict[str, int]:
    """The line on which each name first gets a value, or may have got one in a turn before."""
    found: dict[str, int] = {}
    for node in function.nodes:
        if node is function.node:
            continue
        for name, line in _stores(node):
            found[name] = min(line, found.get(name, line))
    return found


def _stores(node: ast.AST) -> Iterator[tuple[str, int]]:
    if isinstance(node, _REPEATED):
        targets = (n for n in ast.walk(node) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))
        yield from ((target.id, 0) for target in targets)
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id, node.lineno
    elif isinstance(node, ast.Global | ast.Nonlocal):
        yield from ((name, 0) for name in node.names)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler):
        yield node.name or "", 0
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0], 0
    elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.MatchMapping):
        yield (node.rest if isinstance(node, ast.MatchMapping) else node.name) or "", 0
    if isinstance(node, ast.Lambda | ast.FunctionDef | ast.AsyncFunctionDef):
        yield from ((inner.arg, 0) for inner in ast.walk(node.args) if isinstance(inner, ast.arg))
