"""The compiled code that calls a function, along the way by which it was reached."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope
from compilefix.source.index import Function


def calls_of(scope: Scope) -> Iterator[tuple[Function, ast.AST]]:
    """The calls in these functions, or in modules of the same file, that lead here, and where each stands."""
    legality = scope.legality
    project = legality.inference.project
    same = scope.function.module.all_functions
    modules = (f for f in same if f.cls is not None and project.is_module_class(f.cls) and f is not scope.function)
    for caller in dict.fromkeys((*scope.compiled.callers, *modules)):
        for node, callee in legality.inference.facts(caller).calls.items():
            if callee is scope.function or scope.function in legality.reached(callee):
                yield caller, node


def around(node: ast.AST, function: Function, kind: type[ast.With | ast.Try]) -> Iterator[ast.With | ast.Try]:
    """The statements of a kind in whose body a node of a function stands."""
    for outer in function.of(kind):
        if any(part is node for statement in outer.body for part in ast.walk(statement)):
            yield outer
