"""The ways out of a function whose `if` on a tensor returns: what each returns, and what runs on the way."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from compilefix.codemods.control_flow.arms import Link, links_of
from compilefix.codemods.control_flow.branch_acts import Acts, split_acts
from compilefix.codemods.control_flow.way_on import statements_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test

Step = ast.Assign | ast.If


@dataclass(frozen=True)
class Exit:
    """The ways out of a function: the tests with what each returns, what is returned else, and what runs between.

    ifs: the `if` statements that stand one behind the other. links: the same with their `elif`s. steps: what the
    branches compute before they return. lasts: the returns on the way on, one for each way through fixed `if`s.
    A fixed `if` that gives one name another value is a step too.
    behind: whether the way on stands in the `else`. returned: what the tests return. guards: the fixed conditions that
    the `if` stands under, with what they must be. outer: the statements that those guards are not around.
    opened: those of the guards that are a part of its own test. kept: the name that they get, where the way on may
    change what they ask for.
    """

    ifs: tuple[ast.If, ...]
    links: tuple[ast.If, ...]
    tests: tuple[ast.expr, ...]
    returned: tuple[ast.expr, ...]
    steps: tuple[Step, ...]
    acts: Acts | None
    lasts: tuple[ast.Return, ...]
    between: tuple[ast.stmt, ...]
    behind: bool
    guards: tuple[tuple[ast.expr, bool], ...] = ()
    outer: tuple[ast.stmt, ...] = ()
    opened: tuple[ast.expr, ...] = ()
    kept: str | None = None

    @property
    def ends(self) -> list[tuple[ast.expr, ...]]:
        """What is returned on each way: by the tests, and at its end."""
        return [(*self.returned, last.value) for last in self.lasts if last.value is not None]


def exit_of(node: ast.If, scope: Scope) -> Exit | str:
    """The ways out where an `if` returns; the reason where they cannot become one.

    Raises:
        Refused: a branch prints what cannot be printed later.
    """
    links, ifs = links_of(node), [node]
    orelse = links.pop().body if links[-1].node is None else None
    block = scope.block(node)
    following = list(orelse) if orelse is not None else block[block.index(node) + 1 :]
    plain = all(len(link.body) == 1 for link in links)
    while plain and orelse is None and _is_guard(following[0] if following else None, scope):
        guard = following.pop(0)
        assert isinstance(guard, ast.If)
        ifs.append(guard)
        links.append(Link(guard, guard.body))
    returned: list[ast.expr] = []
    steps: list[Step] = []
    bodies: list[Link] = []
    for link in links:
        last = link.body[-1] if link.body else None
        if not isinstance(last, ast.Return) or last.value is None:
            return "a branch returns, and does more than return a value"
        returned.append(last.value)
        bodies.append(Link(link.node, link.body[:-1]))
    acts = split_acts(bodies, node, scope) if scope.logging == "boundary" else None
    for left in acts.links if acts else bodies:
        for step in left.body:
            if not isinstance(step, ast.Assign) and assigned_in(step, scope) is None:
                return "a branch returns, and does more than return a value"
            assert isinstance(step, Step)
            steps.append(step)
    guards: list[tuple[ast.expr, bool]] = []
    outer: list[ast.stmt] = []
    if orelse is None and not _ends(following):
        found = _behind_guards(node, scope)
        if isinstance(found, str):
            return found
        guards, outer = found
        following += outer
    lasts = tuple(n for statement in following for n in statements_of(statement) if isinstance(n, ast.Return))
    if not _ends(following) or any(last.value is None for last in lasts):
        return "a branch returns, and the way on does not end in a `return` of a value"
    between = following[:-1] if isinstance(following[-1], ast.Return) else following
    if orelse is not None and not isinstance(following[-1], ast.Return):
        return "a branch returns, and another one does more than return a value"
    if orelse is not None and any(isinstance(n, ast.Return) for s in between for n in ast.walk(s)):
        return "a branch returns, and another one does more than return a value"
    nodes = tuple(link.node for link in links if link.node is not None)
    tests = tuple(n.test for n in nodes)
    return Exit(
        tuple(ifs),
        nodes,
        tests,
        tuple(returned),
        tuple(steps),
        acts or None,
        lasts,
        tuple(between),
        orelse is not None,
        tuple(guards),
        tuple(outer),
    )


def assigned_in(step: ast.stmt, scope: Scope) -> ast.Assign | None:
    """The assignment that a fixed `if` guards: `if weight.dim() == 1: weight = weight.unsqueeze(1)`."""
    if not isinstance(step, ast.If) or step.orelse or len(step.body) != 1 or is_tensor_test(step.test, scope):
        return None
    assigned = step.body[0]
    single = isinstance(assigned, ast.Assign) and len(assigned.targets) == 1
    return (
        assigned if isinstance(assigned, ast.Assign) and single and isinstance(assigned.targets[0], ast.Name) else None
    )


def _behind_guards(node: ast.If, scope: Scope) -> tuple[list[tuple[ast.expr, bool]], list[ast.stmt]] | str:
    """The fixed conditions around an `if`, and the statements behind them up to the last return."""
    guards: list[tuple[ast.expr, bool]] = []
    outer: list[ast.stmt] = []
    child: ast.stmt = node
    while not _ends(outer):
        parent = scope.parents.get(child)
        if not isinstance(parent, ast.If):
            return "a branch returns, and the way on does not end in a `return` of a value"
        if is_tensor_test(parent.test, scope):
            return "a branch returns within another branch on a tensor"
        guards.insert(0, (parent.test, child in parent.body))
        block = scope.block(parent)
        outer += block[block.index(parent) + 1 :]
        child = parent
    return guards, outer


def _is_guard(statement: ast.stmt | None, scope: Scope) -> bool:
    """Whether a statement is another `if` on a tensor that only returns a value."""
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and len(statement.body) == 1
        and isinstance(statement.body[0], ast.Return)
        and is_tensor_test(statement.test, scope)
    )


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends in a return, on each way through its `if`s."""
    last = body[-1] if body else None
    return isinstance(last, ast.Return) or (isinstance(last, ast.If) and _ends(last.body) and _ends(last.orelse))
