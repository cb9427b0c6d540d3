"""Assignments with an annotation that changes nothing: `mask: Tensor = x > 0` does what `mask = x > 0` does.

Python does not evaluate the annotation of a local name. Rules look for assignments, and a name that is said to be a
tensor stays one in all that they write, so that these are both: an assignment, and one with an annotation.
"""

from __future__ import annotations

import ast

from compilefix.source.syntax import last_name

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_WITHOUT_BLOCKS = frozenset({ast.Assign, ast.AugAssign, ast.Expr, ast.Return, ast.Import, ast.ImportFrom, ast.Pass})
"""The most frequent statements without others in them."""


class AnnAssign(ast.AnnAssign, ast.Assign):
    """`name: Tensor = value` in a function. It has the name of its class, by which visitors of trees find it."""

    value: ast.expr

    @property
    def targets(self) -> list[ast.expr]:  # type: ignore[override]
        """What an assignment without the annotation has."""
        return [self.target]


def as_assignments(tree: ast.Module) -> ast.Module:
    """The tree with such statements in its functions made assignments."""
    pending: list[tuple[ast.AST, bool]] = [(tree, False)]
    while pending:
        block, inside = pending.pop()
        for name in _BLOCKS:
            for node in getattr(block, name, ()):
                kind = node.__class__
                if kind is ast.AnnAssign:
                    if inside and _is_plain(node):
                        node.__class__ = AnnAssign
                elif kind not in _WITHOUT_BLOCKS:
                    function = kind is ast.FunctionDef or kind is ast.AsyncFunctionDef
                    pending.append((node, function or (inside and kind is not ast.ClassDef)))
    return tree


def _is_plain(statement: ast.AnnAssign) -> bool:
    named = isinstance(statement.target, ast.Name) and statement.value is not None
    return named and last_name(statement.annotation) == "Tensor"
