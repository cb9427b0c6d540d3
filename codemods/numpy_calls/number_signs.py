"""What is proved of a number's sign, and of its being finite."""

from __future__ import annotations

import ast
import math
from typing import Literal

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope


def sign_of(node: ast.expr, scope: Scope, depth: int = 0) -> Literal["positive", "nonnegative"] | None:
    """What is proved of a number's sign."""
    const = scope.value(node).const
    if const is not None and isinstance(const.value, int | float):
        return "positive" if const.value > 0 else "nonnegative" if const.value == 0 else None
    if depth > 8:
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult | ast.Div | ast.FloorDiv):
        left, right = sign_of(node.left, scope, depth + 1), sign_of(node.right, scope, depth + 1)
        if left is None or right is None:
            return None
        any_positive, both_positive = "positive" in (left, right), left == right == "positive"
        positive = (
            any_positive if isinstance(node.op, ast.Add) else both_positive and not isinstance(node.op, ast.FloorDiv)
        )
        return "positive" if positive else "nonnegative"
    if isinstance(node, ast.Name):
        stores = scope.names(node.id, stores=True)
        if len(stores) != 1 or not scope.value(node).is_(Kind.SIZE):
            return None
        parent = scope.parents.get(stores[0])
        if isinstance(parent, ast.Assign) and parent.targets == [stores[0]]:
            return sign_of(parent.value, scope, depth + 1)
        assign = scope.parents.get(parent) if isinstance(parent, ast.Tuple | ast.List) else None
        return "nonnegative" if isinstance(assign, ast.Assign) and _is_shape(assign.value, scope) else None
    if isinstance(node, ast.Subscript):
        return "nonnegative" if _is_shape(node.value, scope) and not isinstance(node.slice, ast.Slice) else None
    if isinstance(node, ast.Call):
        name = scope.callee(node) or ""
        measures = name.rpartition(".")[2] in ("size", "numel", "dim") and name.startswith("Tensor.")
        return "nonnegative" if (name == "len" or measures) and scope.value(node).is_(Kind.SIZE) else None
    return None


def is_finite(node: ast.expr, scope: Scope) -> bool:
    """Whether a number is proved to be neither NaN nor infinite: integers, and what arithmetic makes of them."""
    value = scope.value(node)
    if value.const is not None:
        return isinstance(value.const.value, int | float) and math.isfinite(value.const.value)
    if value.is_(Kind.SIZE, Kind.STATIC) and value.dtype in ("int", "bool"):
        return True
    if isinstance(node, ast.UnaryOp):
        return is_finite(node.operand, scope)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.Pow):
        return is_finite(node.left, scope) and is_finite(node.right, scope)  # a division by zero raises
    if isinstance(node, ast.Call) and (scope.callee(node) or "").startswith("numpy."):
        return all(is_finite(argument, scope) for argument in node.args)
    return False


def _is_shape(node: ast.expr, scope: Scope) -> bool:
    return scope.value(node).ref == "torch.Size"
