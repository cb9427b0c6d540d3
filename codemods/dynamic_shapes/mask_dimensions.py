"""How many dimensions a mask has, beside the tensor that it selects of."""

from __future__ import annotations

import ast

from compilefix.analysis import torch_api
from compilefix.analysis.shape_ids import without
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.rule import Scope


def spans(mask: ast.expr, shape_id: str | None, scope: Scope, depth: int = 0) -> bool:
    """Whether a mask is computed of a tensor with this shape, element by element: it has at least as many dimensions.

    An index may not have more than what it selects of, so that it has just as many.
    """
    if shape_id is None or depth > 8:
        return False
    value = scope.value(mask)
    if not value.is_tensor:
        return False
    if value.shape_id == shape_id:
        return True
    operands: list[ast.expr] = []
    match mask:
        case ast.Name(id=name) if (given := scope.only_value(name)) is not None:
            operands = [given]
        case ast.UnaryOp(operand=operand):
            operands = [operand]
        case ast.Compare(left=left, comparators=[right]):
            operands = [left, right]
        case ast.BinOp(left=left, right=right, op=operation) if not isinstance(operation, ast.MatMult):
            operands = [left, right]
        case ast.Call() if _is_by_element(scope.callee(mask) or "", mask, scope):
            operands = [mask.func.value] if isinstance(mask.func, ast.Attribute) else []
            operands += [argument for argument in mask.args if not isinstance(argument, ast.Starred)]
    return any(spans(operand, shape_id, scope, depth + 1) for operand in operands)


def _is_by_element(name: str, call: ast.Call, scope: Scope) -> bool:
    """Whether a function or method of torch has the common shape of its tensors: `x.maximum(y)`, `torch.gt(x, y)`."""
    owner, _, bare = name.rpartition(".")
    api = torch_api.method(bare) if owner == "Tensor" else torch_api.function(name)
    if api is None or api.mutates or call.keywords:
        return False
    if api.rank == "reduce_or_broadcast":  # `max(x, y)`, and not `max(x, 1)`
        return scope.value(call.args[-1]).is_tensor and len(call.args) > (owner != "Tensor") if call.args else False
    return api.pointwise and api.dtype in ("promote", "promote_float", "bool")


def same_dimensions(node: ast.expr, scope: Scope) -> str | None:
    """A name that holds a tensor of as many dimensions as the mask: `x` for `x > 0` and `~x`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.UnaryOp):
        return same_dimensions(node.operand, scope)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        other = scope.value(node.comparators[0])
        if other.is_(Kind.STATIC, Kind.SIZE) or other.is_scalar_tensor:
            return same_dimensions(node.left, scope)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        left, right = same_dimensions(node.left, scope), same_dimensions(node.right, scope)
        return left if left == right else None
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and scope.value(node).is_tensor:
        return ast.unparse(node)
    if not isinstance(node, ast.Call) or node.keywords:
        return None
    name = scope.callee(node) or ""
    if len(node.args) == 1 and name in _TESTS:
        return same_dimensions(node.args[0], scope)
    if name.startswith("Tensor.") and isinstance(node.func, ast.Attribute):
        numbers = all(scope.value(a).is_(Kind.STATIC, Kind.SIZE) for a in node.args)
        if node.func.attr in _CONVERSIONS or (node.func.attr in _COMPARISONS and numbers):
            return same_dimensions(node.func.value, scope)
    return None


_CONVERSIONS = frozenset({"bool", "to", "type", "type_as", "contiguous", "clone", "detach", "logical_not"})
_COMPARISONS = frozenset({"eq", "ne", "gt", "ge", "lt", "le", "isnan", "isinf", "isfinite"})
_TESTS = frozenset({"torch.isnan", "torch.isinf", "torch.isfinite", "torch.logical_not"})


def of_rows(mask: Value, tensor: Value) -> bool:
    """Whether each element of a mask describes one row of the last dimension: `x.sum(-1) > 0`, `x[..., 0] > 0`."""
    rows = without(tensor, -1)
    return rows is not None and rows == mask.shape_id
