"""Tensors of which several elements may share one place in memory, as those that `expand` gives."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope

_OVERLAPPING = frozenset({"expand", "expand_as", "broadcast_to", "broadcast_tensors", "as_strided", "unfold"})


def overlaps(tensor: ast.expr, scope: Scope) -> bool:
    """Whether a tensor was made by `expand` or the like: what writes many elements at once refuses it."""
    if isinstance(tensor, ast.Call) and (scope.callee(tensor) or "").rpartition(".")[2] in _OVERLAPPING:
        return True
    if not isinstance(tensor, ast.Name):
        return False
    for store in scope.names(tensor.id, stores=True):
        statement = scope.parents.get(store)
        if isinstance(statement, ast.Assign) and any(
            isinstance(n, ast.Call) and (scope.callee(n) or "").rpartition(".")[2] in _OVERLAPPING
            for n in ast.walk(statement.value)
        ):
            return True
    return False
