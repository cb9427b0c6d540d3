"""The old constructors: `torch.Tensor([1.0])`, `torch.LongTensor(2, 3)`."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from compilefix.analysis.operators import opaque
from compilefix.analysis.values import Kind, Value, replace, tensor

LEGACY_CONSTRUCTORS: Mapping[str, tuple[str, str]] = {
    "torch.Tensor": ("float", "default"),
    "torch.FloatTensor": ("float", "float32"),
    "torch.DoubleTensor": ("float", "float64"),
    "torch.HalfTensor": ("float", "float16"),
    "torch.BFloat16Tensor": ("float", "bfloat16"),
    "torch.LongTensor": ("int", "int64"),
    "torch.IntTensor": ("int", "int32"),
    "torch.ShortTensor": ("int", "int16"),
    "torch.CharTensor": ("int", "int8"),
    "torch.ByteTensor": ("int", "uint8"),
    "torch.BoolTensor": ("bool", "bool"),
}
"""The dtype of what they make: its class, and its id."""


def legacy_tensor(name: str, node: ast.Call, args: Sequence[Value], operands: Sequence[Value], place: str) -> Value:
    """`torch.Tensor([1.0])`, `torch.LongTensor(2, 3)`: numbers are values in a list, and else sizes."""
    dtype, dtype_id = LEGACY_CONSTRUCTORS[name]
    # Whatever it is given, it makes a tensor; given a tensor, one that shares its memory and has its dtype.
    some = replace(opaque(place, operands), kinds=frozenset({Kind.TENSOR}))
    if args and all(v.is_(Kind.CONTAINER) for v in args):
        some = replace(some, dtype=dtype, dtype_id=dtype_id)
    if len(operands) != len(args) or any(isinstance(a, ast.Starred) for a in node.args):
        return some
    rank: int | None = None
    items = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.List | ast.Tuple) else None
    if items is None and not all(v.is_(Kind.STATIC, Kind.SIZE) and v.dtype == "int" for v in args):
        return some
    if items is None:
        rank = len(args) or 1
    elif not all(isinstance(n, ast.List | ast.Tuple | ast.Constant | ast.UnaryOp) for n in items):
        return some
    elif not any(isinstance(n, ast.List | ast.Tuple) for n in items):
        rank = 1
    return tensor(dtype=dtype, dtype_id=dtype_id, rank=rank, storage=frozenset({place}))
