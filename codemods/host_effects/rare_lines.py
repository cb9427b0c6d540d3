"""Lines that cost little where they are shown: for what is deprecated, and next to another line."""

from __future__ import annotations

import ast
import re

from compilefix.codemods.host_effects.calls import kind_of
from compilefix.codemods.rule import Scope
from compilefix.source.tree import walk

_WARNS = re.compile(r"deprecat", re.I)
_FELL_OUT_OF_USE = frozenset({"DeprecationWarning", "FutureWarning", "PendingDeprecationWarning"})


def costs_little(call: ast.Call, scope: Scope) -> bool:
    """Whether a line is shown next to one that ended the graph, or for what is deprecated."""
    statement = scope.statement(call)
    block = scope.block(statement)
    place = block.index(statement) if statement in block else 0
    before = block[max(place - 1, 0) : place]
    if any(_shows(s, scope) for s in before):
        return True
    return any(isinstance(a, ast.If) for a in scope.ancestors(statement)) and _tells_of_deprecation(call)


def _shows(statement: ast.stmt, scope: Scope) -> bool:
    called = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(called, ast.Call) and kind_of(called, scope) is not None


def _tells_of_deprecation(call: ast.Call) -> bool:
    for part in walk(call):
        if isinstance(part, ast.Name) and part.id in _FELL_OUT_OF_USE:
            return True
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and _WARNS.search(part.value):
            return True
    return False
