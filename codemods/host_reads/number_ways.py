"""Names that hold a number read from a tensor on one way, and on another one a number of Python's, or a tensor."""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind
from compilefix.codemods.control_flow.liveness import reads_first
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test

_PLAIN = (Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def other_numbers(name: str, stored: ast.stmt, scope: Scope) -> bool:
    """Whether whatever else a name may hold behind a statement is a plain number, None, a tensor, or an argument.

    In a loop each turn gives it a value before it reads one.
    """
    for around in scope.ancestors(stored):
        if isinstance(around, ast.Try) or (isinstance(around, _LOOPS) and reads_first(name, [around])):
            return False
    if stored not in scope.facts.env_before:
        return False
    before = scope.facts.env_before[stored].get(name)
    apart = _stored_apart(name, stored, scope)
    if before is not None and not before.is_(*_PLAIN) and not apart and not _argument_apart(name, stored, scope):
        return False
    for store in scope.names(name, stores=True):
        statement = scope.statement(store)
        if statement is stored:
            continue
        if not isinstance(statement, ast.Assign | ast.AnnAssign):
            return False
        if apart:
            continue
        other = scope.value(store)
        # Each use does for the tensor of another way already, and stays as it is for what is not known.
        seen = other.is_unknown or (other.is_tensor and other.certain)
        if not other.is_(*_PLAIN) and not (seen and _exclusive(stored, statement, scope)):
            return False
        if statement.lineno > stored.lineno and not (
            _exclusive(stored, statement, scope) or _corrects(stored, statement, scope)
        ):
            return False
    return True


def _argument_apart(name: str, stored: ast.stmt, scope: Scope) -> bool:
    """Whether a statement gives an argument a number on a way that is fixed: `if isinstance(lr, Tensor): lr = ...`.

    On the other way nothing changes, whatever the argument is there.
    """
    tests = [around.test for around in scope.ancestors(stored) if isinstance(around, ast.If)]
    given = scope.function.takes(name)
    return given and bool(tests) and not any(is_tensor_test(test, scope) for test in tests)


def _stored_apart(name: str, stored: ast.stmt, scope: Scope) -> bool:
    """Whether a statement gives a name a number where that has a tensor: `if isinstance(n, Tensor): n = n.item()`.

    On the other way nothing changes, whatever it was given before.
    """
    around = scope.parents.get(stored)
    if not isinstance(around, ast.If) or stored not in around.body or is_tensor_test(around.test, scope):
        return False
    if any(isinstance(outer, _LOOPS) for outer in scope.ancestors(around)):
        return False
    test = around.test
    asks = isinstance(test, ast.Call) and scope.callee(test) == "isinstance" and len(test.args) == 2
    if not isinstance(test, ast.Call) or not asks or ast.unparse(test.args[0]) != name:
        return False
    others = [scope.statement(store) for store in scope.names(name, stores=True)]
    return all(other is stored or other.lineno < around.lineno for other in others)


def _corrects(first: ast.stmt, second: ast.stmt, scope: Scope) -> bool:
    """Whether the second statement stands in an `if` behind the first: `if n == 0: n = 1`."""
    around: ast.AST | None = scope.parents.get(second)
    block = scope.block(first)
    while isinstance(around, ast.If):
        if around in block:
            return block.index(around) > block.index(first)
        around = scope.parents.get(around)
    return False


def _exclusive(first: ast.stmt, second: ast.stmt, scope: Scope) -> bool:
    """Whether two statements stand on different sides of an `if`."""
    for around in scope.ancestors(first):
        if isinstance(around, ast.If) and second in ast.walk(around):
            sides = [
                any(statement in ast.walk(part) for part in body)
                for statement in (first, second)
                for body in (around.body, around.orelse)
            ]
            return sides in ([True, False, False, True], [False, True, True, False])
    return False
