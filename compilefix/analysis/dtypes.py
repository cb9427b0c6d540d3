"""Dtype classes (`bool`, `int`, `float`, `complex`), how operands promote, and arithmetic on constants."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis.values import Const, Kind, Value


def dtype_class(exact: str | None) -> str | None:
    """The class of an exact dtype such as `bfloat16`; None for a name that is none."""
    if exact is None:
        return None
    if exact in ("bool",):
        return "bool"
    if exact.startswith(("float", "bfloat", "half", "double")):
        return "float"
    if exact.startswith(("complex", "cfloat", "cdouble")):
        return "complex"
    if exact.startswith(("int", "uint", "long", "short")):
        return "int"
    return None


def is_real(value: Value) -> bool:
    """Whether a tensor is known not to be complex: modules and functions that ask for floats take complex ones too."""
    return value.dtype in ("int", "bool") or value.dtype_id in ("float16", "bfloat16", "float32", "float64", "default")


def promote(*dtypes: str | None) -> str | None:
    """The class that Python gives to arithmetic on numbers of these classes; None where one is not known."""
    order = ("bool", "int", "float", "complex")
    if not dtypes or any(d is None for d in dtypes):
        return None
    highest = max(order.index(d) for d in dtypes if d is not None)
    return "int" if len(dtypes) > 1 and highest == 0 else order[highest]


def pointwise_dtype(
    operands: Sequence[Value], tensors: Sequence[Value], big: Sequence[Value], rule: str, unknown: bool
) -> tuple[str | None, str | None]:
    """Class and id of the result of a pointwise operation.

    tensors: the operands that are tensors; big: those that may have dimensions; rule: the API table's dtype rule;
    unknown: whether nothing is known of some operand.
    """
    if rule == "bool":
        return "bool", "bool"
    if unknown or not tensors:
        return (
            "float"
            if rule == "float" and not unknown and all(t.dtype in ("float", "int", "bool") for t in tensors)
            else None
        ), None
    group = list(big) or list(tensors)
    scalars = [v for v in operands if v.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)]
    small = [v for v in tensors if v.rank == 0 and big]
    dtypes = {v.dtype for v in group}
    dtype = next(iter(dtypes)) if len(dtypes) == 1 else promote(*(v.dtype for v in group))
    # A bool mask beside a tensor of numbers, and integers beside floats, do not decide the dtype.
    lower = {"float": ("int", "bool"), "int": ("bool",)}.get(dtype or "", ())
    ids = {v.dtype_id for v in group if rule == "same" or v.dtype not in lower}
    same_id = next(iter(ids)) if len(ids) == 1 else None
    others = [v.dtype for v in (*scalars, *small)]
    # A tensor without dimensions widens another one that has none either.
    widens = any(v.dtype not in lower and v.dtype_id != same_id for v in small)
    if widens and not any(v.dimensioned for v in big):
        same_id = None
    if rule == "same":
        return dtype, same_id if dtype is not None else None  # `abs` of a complex tensor is real
    if dtype == "float":
        # Python numbers and tensors without dimension do not widen a floating tensor that has dimensions.
        return ("float", same_id) if all(o in ("bool", "int", "float") for o in others) else (None, None)
    if rule == "float":
        return ("float", None) if dtype in ("int", "bool") else ("float" if dtype == "float" else None, None)
    if dtype == "int" and all(o in ("bool", "int") for o in others):
        return "int", same_id
    if dtype in ("int", "bool") and "float" in others:
        return "float", None
    if dtype == "bool":
        return ("bool", "bool") if not others else (None, None)
    if dtype is None and same_id is not None and not others:
        return None, same_id
    return None, None


def fold(op: ast.operator, left: Const | None, right: Const | None) -> Const | None:
    """The result of arithmetic on two constants; None where it is not known or fails."""
    if (
        left is None
        or right is None
        or not isinstance(left.value, int | float)
        or not isinstance(right.value, int | float)
    ):
        return None
    a, b = left.value, right.value
    try:
        if isinstance(op, ast.Add):
            return Const(a + b)
        if isinstance(op, ast.Sub):
            return Const(a - b)
        if isinstance(op, ast.Mult):
            return Const(a * b)
        if isinstance(op, ast.Div):
            return Const(a / b)
    except (ArithmeticError, ValueError):
        return None
    return None
