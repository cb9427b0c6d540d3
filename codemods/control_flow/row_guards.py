"""Tests of a row's length in a loop over rows: `if lengths[i] < x.shape[1]:`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.control_flow.rows import Part, Rows, end_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.operators import COMPARISONS
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in, stored_in


@dataclass(frozen=True)
class Guard:
    """`if lengths[i] + offset < limit:` round what is written into a row."""

    lengths: ast.expr
    offset: int
    operator: str
    limit: ast.expr

    def code(self, lengths: str, template: Template) -> str:
        """The test of all lengths at once, of one dimension."""
        if self.offset:
            lengths = f"{lengths} {'-' if self.offset < 0 else '+'} {abs(self.offset)}"
        return f"{lengths} {self.operator} {template.use(self.limit, operand=True)}"


def guard_of(node: ast.If, rows: Rows, scope: Scope) -> Guard | None:
    """The test of a row's length that an `if` without `else` asks; None where it asks something else."""
    test = node.test
    if node.orelse or not isinstance(test, ast.Compare) or len(test.ops) != 1 or type(test.ops[0]) not in COMPARISONS:
        return None
    end, limit = end_of(test.left, rows, scope), test.comparators[0]
    if end is None or not scope.value(end[0]).is_tensor:
        return None
    return Guard(end[0], end[1], COMPARISONS[type(test.ops[0])], limit)


def guard_stays(guard: Guard, part: Part, loop: ast.For, scope: Scope) -> Iterator[Obstacle]:
    """Whether the limit is one integer for all turns, and the lengths are those of the row."""
    limit = scope.value(guard.limit)
    stored = stored_in(loop)
    named = names_in(guard.limit)
    does = scope.legality.effects.of(guard.limit, scope.facts)
    if not limit.is_(Kind.STATIC, Kind.SIZE) or limit.dtype != "int":
        yield Obstacle(f"`{snippet(guard.limit)}` is not proved to be an integer")
    elif stored & named or not does.repeatable or does.raises:
        yield Obstacle(f"`{snippet(guard.limit)}` may be another one in each turn, or fail where there are no rows")
    if not isinstance(guard.lengths, ast.Name | ast.Attribute):
        yield Obstacle(f"`{snippet(guard.lengths)}` is asked for again behind what is written: give it a name")
    if ast.dump(guard.lengths) != ast.dump(part.lengths):
        yield Obstacle(f"`{snippet(guard.lengths)}` are other lengths than those of the rows")
