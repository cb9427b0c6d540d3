"""Assignments with an annotation that changes nothing: `mask: Tensor = x > 0` does what `mask = x > 0` does.

Python does not evaluate the annotation of a local name. Rules look for assignments, and a name that is said to be a
tensor stays one in all that they write, so that these are both: an assignment, and one with an annotation.
"""

from __future__ import annotations

import ast

from compilefix.source.syntax import last_name


class AnnAssign(ast.AnnAssign, ast.Assign):
    """`name: Tensor = value` in a function. It has the name of its class, by which visitors of trees find it."""

    value: ast.expr

    @property
    def targets(self) -> list[ast.expr]:  # type: ignore[override]
        """What an assignment without the annotation has."""
        return [self.target]


def as_assignments(tree: ast.Module) -> ast.Module:
    """The tree with such statements in its functions made assignments."""
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    pending: list[ast.stmt] = [statement for function in functions for statement in function.body]
    while pending:
        statement = pending.pop()
        if isinstance(statement, ast.AnnAssign) and _is_plain(statement):
            statement.__class__ = AnnAssign
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for child in ast.iter_child_nodes(statement):
                inner = [child] if isinstance(child, ast.stmt) else getattr(child, "body", None)
                pending += [s for s in inner if isinstance(s, ast.stmt)] if isinstance(inner, list) else []
    return tree


def _is_plain(statement: ast.AnnAssign) -> bool:
    named = isinstance(statement.target, ast.Name) and statement.value is not None
    return named and last_name(statement.annotation) == "Tensor"
