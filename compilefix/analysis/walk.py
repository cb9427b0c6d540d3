"""The state of one walk through one function, which the classes for expressions and statements share."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping

from compilefix.analysis.function_facts import Env, FunctionFacts, ProjectFacts
from compilefix.analysis.values import Value
from compilefix.source.index import Function


class Walk(ABC):
    """One walk through one function: what it found so far."""

    def __init__(
        self,
        inference: ProjectFacts,
        function: Function,
        outer: Mapping[str, Value],
        floats: frozenset[str] = frozenset(),
    ) -> None:
        self.floats = floats
        self.inference = inference
        self.project = inference.project
        self.function = function
        self.module = function.module
        self.facts = FunctionFacts(function)
        self.outer = outer
        self.self_assigned: dict[str, Value] = {}
        self.self_name = self._self_name()
        self.returned: list[Value] = []
        self.loop_exits: list[list[Env]] = []
        self.grad_modes = 0
        self.reshaped: set[str] = set()
        self.unstable = _rebound_elsewhere(function)

    def _self_name(self) -> str | None:
        owner: Function | None = self.function
        while owner is not None and owner.parent is not None:
            owner = owner.parent
        if owner is None or owner.cls is None or owner.is_static or not owner.parameters:
            return None
        return owner.parameters[0].arg

    @abstractmethod
    def eval(self, node: ast.expr, env: Env) -> Value:
        """The value of an expression, which is also kept for the rules."""

    def key(self, node: ast.expr) -> str | None:
        """The name in an environment of a name or of an attribute of `self`; None for other expressions."""
        if isinstance(node, ast.NamedExpr):
            return node.target.id
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self.self_name:
            return f"{self.self_name}.{node.attr}"
        return None

    def place(self, node: ast.AST) -> str:
        """Names an expression of this function, for the ids and the memory of what it makes."""
        line, start = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        return f"{self.function.qualname}@{line}:{start}:{getattr(node, 'end_col_offset', 0)}"

    def parameter_names(self) -> set[str]:
        """The names of the function's parameters, without starred ones."""
        return {a.arg for a in self.function.parameters}


def _rebound_elsewhere(function: Function) -> frozenset[str]:
    """Names that a nested function or a global statement may give another value at any call."""
    names: set[str] = set()
    for node in function.nodes:
        if isinstance(node, ast.Nonlocal | ast.Global):
            names.update(node.names)
    return frozenset(names)
