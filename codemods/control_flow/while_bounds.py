"""The condition of a `while` loop on a tensor: the bound that Python knows, and where the tensor can be asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.control_flow.loop_ends import reads_in, stores_in
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import split_static
from compilefix.source.operators import OPPOSITE
from compilefix.source.snippets import snippet

_UNBOUNDED = "the number of turns is not known: give the loop a bound and mask finished elements"


def unbounded(loop: ast.While, scope: Scope) -> str | None:
    """Why a `while` loop that a tensor ends has no bound that Python knows: a counter that each turn moves on."""
    fixed, _ = split_static(loop.test, scope)
    if loop.orelse:
        return "the loop has an `else`"
    counters = [name for part in fixed for name in _counters(part, loop, scope)]
    if not counters and not any(_bounds(statement, loop, scope) for statement in loop.body):
        return _UNBOUNDED
    counter = next((name for name in counters if live_after(name, loop, scope)), None)
    if counter is not None:
        return f"`{counter}` is read after the loop, where it says at which turn it ended"
    stored = {n.id for n in stores_in(loop)}
    changed = next((part for part in fixed if not reads_in(part) & stored <= set(counters)), None)
    return f"the loop changes what `{snippet(changed)}` compares" if changed is not None else None


def _counters(part: ast.expr, loop: ast.While, scope: Scope) -> Iterator[str]:
    """The name that a comparison holds below a bound, where each turn adds a positive number to it."""
    if not isinstance(part, ast.Compare) or len(part.ops) != 1:
        return
    small, large = part.left, part.comparators[0]
    if isinstance(part.ops[0], ast.Gt | ast.GtE):
        small, large = large, small
    elif not isinstance(part.ops[0], ast.Lt | ast.LtE):
        return
    if not isinstance(small, ast.Name) or not isinstance(large, ast.Name | ast.Attribute | ast.Constant):
        return
    stores = [n for n in stores_in(loop) if n.id == small.id]
    step = scope.parents.get(stores[0]) if len(stores) == 1 else None
    if step in loop.body and _adds(step, small.id) and scope.value(small).is_static:
        yield small.id


def _bounds(statement: ast.stmt, loop: ast.While, scope: Scope) -> bool:
    """Whether a statement of the loop is `if turn >= turns: break`, of a counter and a bound that stays."""
    test = statement.test if isinstance(statement, ast.If) and not statement.orelse else None
    if not isinstance(test, ast.Compare) or not isinstance(statement, ast.If) or len(test.ops) != 1:
        return False
    opposite = OPPOSITE.get(type(test.ops[0]))
    if opposite is None or not isinstance(statement.body[0], ast.Break):
        return False
    goes_on = ast.copy_location(ast.Compare(test.left, [opposite()], test.comparators), test)
    moved = reads_in(test) & {n.id for n in stores_in(loop)}
    return any(moved == {name} and not live_after(name, loop, scope) for name in _counters(goes_on, loop, scope))


def _adds(step: ast.AST | None, name: str) -> bool:
    """Whether a statement adds a positive number to a name."""
    if isinstance(step, ast.AugAssign):
        added: ast.expr | None = step.value if isinstance(step.op, ast.Add) else None
    else:
        value = step.value if isinstance(step, ast.Assign) and isinstance(step.value, ast.BinOp) else None
        left = value.left if value is not None and isinstance(value.op, ast.Add) else None
        added = value.right if value is not None and isinstance(left, ast.Name) and left.id == name else None
    return isinstance(added, ast.Constant) and isinstance(added.value, int) and added.value > 0


@dataclass(frozen=True)
class LateTest:
    """A part of a `while` condition about a name that is a Python value before the loop, and a tensor from its first
    turn on: `while error > tolerance` where `error` is infinite at first.

    given: the statement that makes it one in each turn. value: what the name has then. opposite: `not name`. holds:
    whether it is known to be true before the loop, as `not settled` is behind `settled = False`.
    """

    node: ast.expr
    name: str
    given: ast.Assign
    value: Value
    opposite: bool
    holds: bool


def late_tests(loop: ast.While, scope: Scope) -> list[LateTest] | None:
    """The parts of the condition that are tensors, where all of them are so only from the first turn on."""
    found = [_late(test, loop, scope) for test in split_static(loop.test, scope)[1]]
    return [late for late in found if late is not None] if found and None not in found else None


def _late(test: ast.expr, loop: ast.While, scope: Scope) -> LateTest | None:
    opposite = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    subject = test.operand if isinstance(test, ast.UnaryOp) and opposite else test
    plain = isinstance(subject, ast.Name) or (isinstance(subject, ast.Compare) and len(subject.ops) == 1)
    names = reads_in(subject) & {n.id for n in stores_in(loop)}
    if not plain or len(names) != 1 or any(isinstance(n, ast.Call | ast.Await) for n in ast.walk(subject)):
        return None
    (name,) = names
    stores = [n for n in stores_in(loop) if n.id == name]
    given = scope.parents.get(stores[0]) if len(stores) == 1 else None
    before = scope.facts.env_before.get(loop, {}).get(name)
    if not isinstance(given, ast.Assign) or given not in loop.body or len(given.targets) > 1:
        return None
    if given.targets[0] is not stores[0] or before is None or not before.is_(Kind.STATIC):
        return None
    value = scope.value(given.value)
    if not value.is_tensor or (value.dtype != "bool" and not isinstance(subject, ast.Compare)):
        return None
    const = before.const.value if before.const is not None else None
    holds = isinstance(subject, ast.Name) and const is (not opposite)
    return LateTest(test, name, given, value, opposite, holds)
