"""Where a name of a parameter gets another value, of which a later use speaks instead."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from compilefix.source.definitions import Function
from compilefix.source.tree import unpacked, walk

_CONVERSIONS = frozenset(
    {"tensor", "as_tensor", "asarray", "from_numpy", "FloatTensor", "LongTensor", "array", "stack"}
)


class Rebound:
    """Where names of parameters get other values: what is done with these says less of the parameters, or nothing."""

    def __init__(self, function: Function, taken: Mapping[str, ast.Name]) -> None:
        self._function = function
        self._taken = taken
        self._ends: dict[str, tuple[tuple[int, int], bool] | None] = {}

    def says(self, use: ast.Name) -> bool | None:
        """Whether a use is one of the parameter itself; None where it says nothing of it.

        False is for what was made of the parameter, as in `x = self.conv(x)`.
        """
        if use.id not in self._ends:
            self._ends[use.id] = self._rebound(use.id)
        end = self._ends[use.id]
        if end is None or (use.lineno, use.col_offset) <= end[0]:
            return True
        return False if end[1] else None

    def _rebound(self, name: str) -> tuple[tuple[int, int], bool] | None:
        """The end of the first statement that gives the name another value, and whether that is made of the old one."""
        if name not in self._function.stores:
            return None
        for loop in self._function.of(ast.For):
            if any(isinstance(target, ast.Name) and target.id == name for target in unpacked(loop.target)):
                return (loop.iter.end_lineno or loop.lineno, loop.iter.end_col_offset or 0), False
        for binding in self._function.of(ast.NamedExpr):
            if binding.target.id == name:
                return (binding.end_lineno or binding.lineno, binding.end_col_offset or 0), _made_of(
                    name, binding.value
                )
        for annotated in self._function.of(ast.AnnAssign):
            if isinstance(annotated.target, ast.Name) and annotated.target.id == name and annotated.value is not None:
                end = annotated.end_lineno or annotated.lineno, annotated.end_col_offset or 0
                return end, _made_of(name, annotated.value)
        for node in self._function.of(ast.Assign):
            bound = [t for target in node.targets for t in unpacked(target) if isinstance(t, ast.Name) and t.id == name]
            if bound and self._taken.get(name) not in bound and not self._is_default(node, name):
                end = node.end_lineno or node.lineno, node.end_col_offset or 0
                return end, bound == node.targets and _made_of(name, node.value)
        return None

    def _is_default(self, node: ast.Assign, name: str) -> bool:
        """Whether a value takes the place of None alone: `if x is None: x = ...`, `x = ... if x is None else x`."""
        tests = [around.test for around in self._function.of(ast.If) if node in around.body]
        if isinstance(node.value, ast.IfExp):
            tests.append(node.value.test)
        return any(
            isinstance(test, ast.Compare)
            and isinstance(test.left, ast.Name)
            and test.left.id == name
            and isinstance(test.ops[0], ast.Is | ast.IsNot)
            for test in tests
        )


def _made_of(name: str, value: ast.expr) -> bool:
    """Whether a value is computed with what the name holds, and is not what makes a tensor of something else."""
    if isinstance(value, ast.Name):
        return False
    converts = isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in _CONVERSIONS
    return not converts and any(isinstance(n, ast.Name) and n.id == name for n in walk(value))
