"""`with` blocks that keep an error to themselves: the code behind one runs also where the block did not end."""

from __future__ import annotations

import ast

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.values import Kind
from compilefix.source.definitions import Class
from compilefix.source.project import Project

_CATCHING = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})


def catches_errors(entered: ast.expr, facts: FunctionFacts, project: Project) -> bool:
    """Whether what a `with` enters is seen to keep an exception to itself, as `contextlib.suppress` does."""
    if not isinstance(entered, ast.Call):
        held = facts.value(entered)
        return held.is_(Kind.OBJECT) and held.ref is not None and _swallows(held.ref, project)
    name = facts.callee(entered) or ast.unparse(entered.func)
    if name.rpartition(".")[2] in _CATCHING or _swallows(name, project):
        return True
    callee = facts.calls.get(entered)
    tries = callee.of(ast.Try) if callee is not None else ()
    return any(outer.handlers and any(isinstance(n, ast.Yield) for n in ast.walk(outer)) for outer in tries)


def _swallows(name: str, project: Project) -> bool:
    """Whether the `__exit__` of a class may answer that the exception is dealt with."""
    made = project.resolve(name)
    left = project.method(made, "__exit__") if isinstance(made, Class) else None
    kept = left.of(ast.Return) if left is not None else ()
    return any(r.value is not None and ast.unparse(r.value) not in ("None", "False") for r in kept)
