"""Branches that no rule takes out: where a tensor decides one of them, the graph breaks there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.syntax import is_literal

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_GROWS = frozenset({"append", "appendleft", "extend", "insert", "update", "add", "setdefault"})


def kept_in(branch: ast.AST, scope: Scope) -> ast.stmt | None:
    """The statement that keeps an `if` what it is; None where a rule may select what its branches give.

    A way out of a `while` loop, a list or dict of Python's that grows, a function of the project that is called to
    change something, or one that is not known, and a text or None that is returned.
    """
    bodies = (*branch.body, *branch.orelse) if isinstance(branch, ast.If) else ()
    for part in (part for statement in bodies for part in ast.walk(statement)):
        if isinstance(part, ast.Break | ast.Continue):
            if isinstance(next((a for a in scope.ancestors(part) if isinstance(a, _LOOPS)), None), ast.While):
                return part
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            method = part.value.func
            if isinstance(method, ast.Attribute) and method.attr in _GROWS and not scope.value(method.value).is_tensor:
                return part
            if _is_unknown(part.value, scope):
                return part
            callee = scope.facts.calls.get(part.value)
            changes = scope.legality.effects.of(part, scope.facts).mutates is not None
            if callee is not None and (changes or _is_left_out(callee)):
                return part
        elif isinstance(part, ast.Return) and _returns_no_tensor(part, scope):
            return part
    return None


def _is_unknown(call: ast.Call, scope: Scope) -> bool:
    """Whether a method of the object is called for what it does, and nothing is known of it: `self.hook(x)`."""
    func, instance = call.func, next((p.arg for p in scope.function.parameters if scope.function.cls is not None), None)
    own = isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == instance
    return own and scope.facts.calls.get(call) is None and not scope.callee(call) and not scope.value(func).is_tensor


def _is_left_out(function: Function) -> bool:
    """Whether a method is one that subclasses write, which is called for what it does."""
    return any("NotImplementedError" in ast.unparse(raised) for raised in function.of(ast.Raise))


def _returns_no_tensor(statement: ast.Return, scope: Scope) -> bool:
    if any(_is_text(value) for value in _items(statement)):
        return True
    others = (other for other in scope.of(ast.Return) if other is not statement)
    return _is_none(statement.value) and any(not _is_none(other.value) for other in others)


def _items(statement: ast.Return) -> Iterator[ast.expr]:
    value = statement.value
    yield from value.elts if isinstance(value, ast.Tuple | ast.List) else () if value is None else (value,)


def _is_text(value: ast.expr) -> bool:
    if isinstance(value, ast.Call):  # "{} is too large".format(x)
        value = value.func.value if isinstance(value.func, ast.Attribute) else value.func
    if isinstance(value, ast.BinOp):
        value = value.left
    return isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))


def _is_none(value: ast.expr | None) -> bool:
    return value is None or is_literal(value, None)
