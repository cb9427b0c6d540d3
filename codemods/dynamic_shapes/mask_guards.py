"""An `if` round nothing but what is done with the elements of a mask, which asks whether there are any.

Where a mask selects nothing, nothing is written: the question saves work, and ends the graph.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test


def guard_of(statements: Sequence[ast.stmt], mask: ast.expr, scope: Scope) -> ast.If | None:
    """The `if` that runs these statements, and nothing else, where the mask selects something."""
    guard = scope.parents.get(statements[0])
    if not isinstance(guard, ast.If) or guard.orelse or sorted(guard.body, key=lambda s: s.lineno) != [*statements]:
        return None
    test = guard.test
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Gt | ast.NotEq):
        zero = scope.value(test.comparators[0]).const
        if zero is None or zero.value != 0 or not _reduces(test.left, mask, scope, ("sum", "count_nonzero")):
            return None
        return guard
    return guard if _reduces(test, mask, scope, ("any", "sum", "count_nonzero")) else None


def _reduces(node: ast.expr, mask: ast.expr, scope: Scope, names: tuple[str, ...]) -> bool:
    """Whether a call makes one number of the mask with one of these functions."""
    if not isinstance(node, ast.Call) or node.keywords:
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        return _reduces(node.func.value, mask, scope, names)
    place, _, short = (scope.callee(node) or "").rpartition(".")
    if short not in names or place not in ("torch", "Tensor"):
        return False
    given = list(node.args)
    if place == "Tensor" and isinstance(node.func, ast.Attribute):
        given.insert(0, node.func.value)
    return len(given) == 1 and ast.dump(given[0]) == ast.dump(mask)


def fixed_parts(statement: ast.stmt, mask: ast.expr, scope: Scope) -> tuple[ast.If, Sequence[ast.expr]] | None:
    """The `if` round a statement that asks for the elements of the mask last, and what it asks before.

    In `if mask is not None and mask.any():` that is the first part, which no tensor decides.
    """
    guard = scope.parents.get(statement)
    if not isinstance(guard, ast.If) or guard.orelse or guard.body != [statement]:
        return None
    parts = guard.test.values if isinstance(guard.test, ast.BoolOp) and isinstance(guard.test.op, ast.And) else []
    if not parts or not _reduces(parts[-1], mask, scope, ("any", "sum", "count_nonzero")):
        return None
    before = parts[:-1]
    return None if any(is_tensor_test(part, scope) for part in before) else (guard, before)
