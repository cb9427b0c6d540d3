"""Whether a number that is computed from an integer can be NaN."""

from __future__ import annotations

import ast
import math

from compilefix.codemods.rule import Scope

_LARGEST_INTEGER = 2.0**63


def never_nan(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is never NaN, where all that it reads from tensors are integers.

    Python raises where a power overflows or divides by zero; as a tensor that is infinity, which is no NaN either.
    """
    return _largest(node, scope) is not None


def _largest(node: ast.expr, scope: Scope) -> float | None:
    """A bound of the magnitude, which may be infinity; None where the value may be NaN."""
    const = scope.value(node).const
    if const is not None and isinstance(const.value, int | float) and abs(const.value) < math.inf:
        return abs(float(const.value))
    if scope.value(node).dtype in ("int", "bool") and isinstance(node, ast.Call | ast.Name | ast.Attribute):
        return _LARGEST_INTEGER
    if not isinstance(node, ast.BinOp):
        return None
    left, right = _largest(node.left, scope), _largest(node.right, scope)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Pow):
        return math.inf if _positive(node.left, scope) and right < math.inf else None
    if isinstance(node.op, ast.Add | ast.Sub):
        infinite = left == math.inf and right == math.inf
        return None if infinite else left + right
    if isinstance(node.op, ast.Mult):
        finite = left < math.inf and right < math.inf
        scaled = _positive(node.left, scope) or _positive(node.right, scope)
        return left * right if finite or scaled else None
    if isinstance(node.op, ast.Div):
        return left / right if _positive(node.right, scope) else None
    return None


def _positive(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a constant above zero."""
    const = scope.value(node).const
    return const is not None and isinstance(const.value, int | float) and 0 < const.value < math.inf
