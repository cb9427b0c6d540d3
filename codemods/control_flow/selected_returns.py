"""The code of a `return` that selects between what the ways out of a function return."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import may_share
from compilefix.analysis.written_memory import PLAIN
from compilefix.codemods.control_flow.exits import Exit
from compilefix.codemods.control_flow.returned_values import Returned
from compilefix.codemods.control_flow.selected_values import without_gradient
from compilefix.codemods.double_where import double_where, finite_sides, taken
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import judge_selection
from compilefix.codemods.template import Given, Template
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet

LOOSE = ast.BoolOp | ast.IfExp | ast.Lambda
"""Conditions that need parentheses where they are parts of others."""


@dataclass(frozen=True)
class SelectedReturns:
    """The last returns of a function, each with what the ways out give.

    tests: the code of the conditions, in their order; none where nothing is selected.
    early: the names of values that are computed before the way on. template: takes what stands in the way.
    """

    found: Exit
    tests: Sequence[str]
    early: Mapping[ast.expr, str]
    scope: Scope
    template: Template

    def edit(self, last: ast.Return, returned: Returned) -> Edit:
        """The edit of one of the returns."""
        body = Template()
        guarded = any(last in ast.walk(statement) for statement in self.found.outer)
        line = self._guarded(returned, last, body) if guarded else self.line(returned, last, body)
        return self.scope.edit(last, line, **body.parts)

    def line(self, returned: Returned, last: ast.Return, body: Template) -> str:
        """The `return` of the selected values."""
        return f"return {returned.code(self._selections(returned.elements, last, body))}"

    def _guarded(self, returned: Returned, last: ast.Return, body: Template) -> str:
        """The lines that return the selected values where the guards hold, and else what was returned before."""
        found = self.found
        names: list[str] = []
        lines: list[str] = []
        for sides in returned.elements:
            value = sides[-1]
            if are_one(sides) and isinstance(value, ast.Constant):
                names.append(body.use(value))
            elif isinstance(value, ast.Name) and value.id not in names and self.scope.names(value.id, stores=True):
                names.append(value.id)
            else:
                names.append(free_name("result", self.scope, names))
                lines.append(f"{names[-1]} = {body.use(value)}")
        parts = [
            body.use(test, operand=isinstance(test, LOOSE)) if holds else f"not {body.use(test, operand=True)}"
            for test, holds in (found.guards if found.kept is None else ())
        ]
        parts += [found.kept] if found.kept is not None else []
        selected = self._selections(returned.elements, last, body, names)
        given = [f"    {name} = {code}" for name, code in zip(names, selected, strict=True) if name != code]
        lines += [f"if {' and '.join(parts)}:", *given] if given else []
        return "\n".join([*lines, f"return {returned.code(names)}"])

    def _selections(
        self,
        elements: Sequence[tuple[ast.expr, ...]],
        last: ast.Return,
        body: Template,
        names: Sequence[str] = (),
    ) -> list[str]:
        """The code of each value. names: what holds the values of the way on, where they have names."""
        selections = [
            self._selection(sides, last, body, names[index] if names else None) for index, sides in enumerate(elements)
        ]
        scope = self.scope
        self.template.refuse(scope.legality.memory.saved(self.early, self.found.ifs[0], scope.facts))
        self.template.refuse(body.obstacles)
        for index in range(len(self.tests) + 1):
            side = [sides[index].id for sides in elements if isinstance(sides[index], ast.Name)]  # type: ignore[attr-defined]
            twice = next((name for name in side if side.count(name) > 1), None)
            if twice is not None:
                reason = f"`{twice}` is returned twice: the selected tensors are two"
                self.template.refuse([Obstacle(reason, "no-aliasing")])
            several = [sides[index] for sides in elements if not are_one(sides) or any(s in self.early for s in sides)]
            for one, other in combinations(several, 2):
                if _share(one, other, scope):
                    reason = f"`{snippet(one)}` and `{snippet(other)}` may share memory: the selected tensors are two"
                    self.template.refuse([Obstacle(reason, "no-aliasing")])
        return selections

    def _selection(self, sides: Sequence[ast.expr], last: ast.Return, body: Template, result: str | None) -> str:
        """The code of one value, `result` being what holds that of the way on."""
        scope, early = self.scope, self.early
        if are_one(sides) and not any(side in early for side in sides):
            return result or body.use(sides[-1])
        givens = [Given(side) for side in sides]
        values = [scope.value(side) for side in sides]
        computed_here = [side for side in sides[:-1] if side not in early] + ([] if result else [sides[-1]])
        finite = finite_sides(computed_here, scope)
        suffix = judge_selection([], givens, values, [], scope, self.found.ifs[0], body, last, finite)

        def code_of(index: int) -> str:
            side = sides[index]
            if side in finite:
                return double_where(Given(side), taken(self.tests, index), scope, body)
            return early.get(side) or body.code(without_gradient(Given(side), scope, body))

        code = result or code_of(len(sides) - 1)
        for index, test in reversed(list(enumerate(self.tests))):
            code = f"{where(scope)}({test}, {code_of(index)}, {code})"
        return code + suffix


def are_one(sides: Sequence[ast.expr]) -> bool:
    """Whether the same name, or constant, is returned on every way."""
    return all(isinstance(side, ast.Name | ast.Constant) and ast.dump(side) == ast.dump(sides[0]) for side in sides)


def _share(one: ast.expr, other: ast.expr, scope: Scope) -> bool:
    values = (scope.value(one), scope.value(other))
    return not any(v.is_(*PLAIN) for v in values) and may_share(values[0].storage, values[1].storage)
