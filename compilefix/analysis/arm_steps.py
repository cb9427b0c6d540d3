"""What the names on one side of a branch stand for: what came in, or what the side computed first."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.source.syntax import single_target

_Reads = Callable[[ast.expr], Iterator[ast.expr]]


@dataclass
class ArmSteps:
    """The assignments that lead from where a side is chosen to its last expression.

    given: in their order the names and what each was given, None where that is not followed. came_in: of which names
    and attributes, as they were before, the value of a name is computed for sure; nothing is known of a name that an
    `if` or a loop on the way stores.
    """

    given: list[tuple[str, ast.expr | None]] = field(default_factory=list)
    came_in: dict[str, frozenset[str]] = field(default_factory=dict)

    def last(self, name: str, before: int) -> int | None:
        """The last of the first `before` assignments that gave a name its value; None where it came in."""
        return next((index for index in reversed(range(before)) if self.given[index][0] == name), None)

    def roots(self, node: ast.expr, reads: _Reads) -> frozenset[str]:
        """The names and attributes, as they came in, that an expression at the end is computed of for sure."""
        names = [ast.unparse(read) for read in reads(node)]
        return frozenset[str]().union(*(self.came_in.get(name, frozenset({name})) for name in names))


def steps_to(node: ast.expr, decided: ast.stmt, facts: FunctionFacts, reads: _Reads) -> ArmSteps:
    """The steps from a statement that chooses to an expression in or behind it."""
    steps = ArmSteps()
    lines = [n.lineno for n in ast.walk(node) if isinstance(n, ast.expr) and hasattr(n, "lineno")]
    if lines:
        _go(_around(decided, lines[0], facts), lines[0], steps, reads)
    return steps


def statements_before(decided: ast.stmt, facts: FunctionFacts) -> Iterator[ast.stmt]:
    """What each call that comes to a statement has run before; nothing where a loop holds it."""
    blocks = [b for b in _blocks(facts.function.node) if any(decided in ast.walk(statement) for statement in b)]
    around = [next(s for s in block if decided in ast.walk(s)) for block in blocks]
    if any(isinstance(one, ast.For | ast.While) for one in around):
        return
    for block, one in zip(blocks, around, strict=True):
        yield from block[: block.index(one)]


def _around(decided: ast.stmt, line: int, facts: FunctionFacts) -> Sequence[ast.stmt]:
    """The statements in which a line is looked for: those of the one that chooses, or those behind it."""
    if line <= (decided.end_lineno or decided.lineno):
        return [decided]
    for block in _blocks(facts.function.node):
        if decided in block:
            return block[block.index(decided) + 1 :]
    return []


def _go(block: Sequence[ast.stmt], line: int, steps: ArmSteps, reads: _Reads) -> None:
    for statement in block:
        inner = list(_blocks(statement, deep=False))
        if statement.lineno <= line <= (statement.end_lineno or statement.lineno):
            for nested in inner:
                if nested[0].lineno <= line <= (nested[-1].end_lineno or nested[-1].lineno):
                    _go(nested, line, steps, reads)
            return
        target = single_target(statement)
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        if inner or value is None or not isinstance(target, ast.Name | ast.Attribute):
            _forget(statement, steps)
            continue
        name = ast.unparse(target)
        steps.came_in[name] = steps.roots(value, reads)
        steps.given.append((name, value))


def _forget(statement: ast.stmt, steps: ArmSteps) -> None:
    """What a statement stores in a way that is not followed."""
    for n in ast.walk(statement):
        if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Store):
            steps.came_in[ast.unparse(n)] = frozenset()
            steps.given.append((ast.unparse(n), None))


def _blocks(node: ast.AST, *, deep: bool = True) -> Iterator[list[ast.stmt]]:
    for inner in ast.walk(node) if deep else (node,):
        for part in ("body", "orelse", "finalbody"):
            block = getattr(inner, part, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block
