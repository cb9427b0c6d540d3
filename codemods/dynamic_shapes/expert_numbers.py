"""The number of an expert within a loop over those that got tokens, which the fix of the loop makes a Python number."""

from __future__ import annotations

import ast

from compilefix.codemods.dynamic_shapes.expert_loop import ExpertLoop
from compilefix.codemods.rule import Scope
from compilefix.source.tree import names_in


def goes_with_loop(at: ast.AST, number: ast.expr, scope: Scope) -> str | None:
    """In words, the fix of the loop round `at` by which an expression of nothing but its number is one of Python."""
    loop = next((a for a in scope.ancestors(at) if isinstance(a, ast.For)), None)
    if loop is None:
        return None
    numbers = names_in(loop.target)
    names = [n.id for n in ast.walk(number) if isinstance(n, ast.Name) and n.id != "self"]
    if not names or any(name not in numbers for name in names):
        return None
    lines = range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
    fixes = (f for f in scope.found(ExpertLoop()) if f.fix is not None and f.span.line in lines)
    return next((f"goes with the fix of {f.code} on line {f.span.line}" for f in fixes), None)
