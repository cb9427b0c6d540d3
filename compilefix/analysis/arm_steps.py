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

    sources: the expressions that a name was given on the way. came_in: of which names and attributes, as they were
    before, its value is computed for sure; nothing is known of a name that an `if` or a loop on the way stores.
    """

    sources: dict[str, list[ast.expr]] = field(default_factory=dict)
    came_in: dict[str, frozenset[str]] = field(default_factory=dict)

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
        steps.sources.setdefault(name, []).append(value)


def _forget(statement: ast.stmt, steps: ArmSteps) -> None:
    """What a statement stores in a way that is not followed."""
    for n in ast.walk(statement):
        if isinstance(n, ast.Name | ast.Attribute) and isinstance(n.ctx, ast.Store):
            steps.came_in[ast.unparse(n)] = frozenset()
            steps.sources.pop(ast.unparse(n), None)


def _blocks(node: ast.AST, *, deep: bool = True) -> Iterator[list[ast.stmt]]:
    for inner in ast.walk(node) if deep else (node,):
        for part in ("body", "orelse", "finalbody"):
            block = getattr(inner, part, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield block
