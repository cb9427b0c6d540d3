"""The results of Python's built-in functions, of `math` and of `numpy`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compilefix.analysis import values
from compilefix.analysis.dtypes import promote
from compilefix.analysis.operators import element_of, elementwise
from compilefix.analysis.values import Kind, Value, join_all, number

_CASTS = {"float": "float", "int": "int", "bool": "bool", "complex": "complex"}

_NUMERIC_BUILTINS = frozenset({"abs", "round", "min", "max", "sum", "pow", "divmod"})
BUILTINS = frozenset(
    {
        *_CASTS,
        *_NUMERIC_BUILTINS,
        "len",
        "isinstance",
        "hasattr",
        "callable",
        "issubclass",
        "any",
        "all",
        "range",
        "enumerate",
        "zip",
        "list",
        "tuple",
        "reversed",
        "sorted",
        "set",
        "iter",
        "getattr",
        "print",
        "setattr",
        "dict",
        "str",
        "repr",
        "type",
        "id",
        "format",
        "hash",
    }
)


def builtin_result(name: str, args: Sequence[Value], place: str) -> Value:
    """The result of a call of one of `BUILTINS`."""
    first = args[0] if args else values.UNKNOWN
    tensors = [v for v in args if v.may_be(Kind.TENSOR) and not v.is_unknown]
    certain = all(v.certain for v in tensors)
    if name in _CASTS:
        if first.is_tensor or first.is_(Kind.NUMBER) or (tensors and first is tensors[0]):
            return number(_CASTS[name], certain)
        if first.is_(Kind.SIZE):
            return replace(values.SIZE, dtype=_CASTS[name])
        return (
            Value(frozenset({Kind.STATIC}), dtype=_CASTS[name])
            if not first.is_unknown
            else replace(values.UNKNOWN, dtype=_CASTS[name])
        )
    if name == "len":
        return values.SIZE
    if name in ("isinstance", "hasattr", "callable", "issubclass"):
        return Value(frozenset({Kind.STATIC}), dtype="bool")
    if name in _NUMERIC_BUILTINS:
        if len(args) == 1 and first.is_(Kind.CONTAINER) and first.element is not None:
            return replace(
                first.element,
                shape_id=None if name != "sum" else first.element.shape_id,
                storage=first.element.storage | {place},
            )
        if tensors:
            if name == "abs":
                return elementwise(args, place, "same")
            return elementwise(args, place, "promote")
        if any(v.is_unknown for v in args):
            return values.UNKNOWN
        if any(v.is_(Kind.NUMBER) for v in args):
            return number("int" if name == "round" and len(args) == 1 else promote(*(v.dtype for v in args)))
        if any(v.is_(Kind.SIZE) for v in args):
            return replace(values.SIZE, dtype=promote(*(v.dtype for v in args)))
        dtype = "int" if name == "round" and len(args) == 1 else promote(*(v.dtype for v in args))
        return Value(frozenset({Kind.STATIC}), dtype=dtype)
    if name in ("any", "all"):
        element = first.element if first.is_(Kind.CONTAINER) else None
        if (element is not None and (element.is_tensor or element.is_(Kind.NUMBER))) or first.is_tensor:
            return number("bool", certain)
        return (
            Value(frozenset({Kind.STATIC}), dtype="bool")
            if element is not None and element.is_static
            else values.UNKNOWN
        )
    if name == "range":
        source = join_all(args) if args else values.UNKNOWN
        return values.container(
            replace(values.SIZE, const=None)
            if source.is_static
            else number("int")
            if source.is_(Kind.NUMBER, Kind.TENSOR, Kind.STATIC, Kind.SIZE)
            else replace(values.UNKNOWN, dtype="int")
        )
    if name == "enumerate":
        return values.container(values.container(elements=(values.SIZE, element_of(first))))
    if name == "zip":
        return values.container(values.container(elements=tuple(element_of(v) for v in args)))
    if name in ("list", "tuple", "reversed", "sorted", "set", "iter"):
        if first.is_(Kind.CONTAINER):
            return replace(first, elements=None if name in ("reversed", "sorted", "set") else first.elements)
        return values.container(element_of(first)) if args else values.container()
    if name == "getattr":
        return replace(values.UNKNOWN, storage=first.storage, leaves=first.leaves)
    if name in ("print", "setattr"):
        return values.NONE
    if name == "dict":
        return values.container(ref="dict")
    return values.STATIC if name in ("str", "repr", "type", "id", "format", "hash") else values.UNKNOWN


def math_result(name: str, args: Sequence[Value]) -> Value:
    """The result of a function of `math`."""
    dtype = (
        "int"
        if name in ("math.ceil", "math.floor", "math.trunc", "math.comb", "math.factorial", "math.gcd")
        else "bool"
        if name.startswith("math.is")
        else "float"
    )
    if any(v.is_tensor or v.is_(Kind.NUMBER) for v in args):
        return number(dtype, all(v.certain for v in args))
    if any(v.is_unknown for v in args):
        return replace(values.UNKNOWN, dtype=dtype)
    sized = name in ("math.prod", "math.ceil", "math.floor") and any(v.is_(Kind.SIZE, Kind.CONTAINER) for v in args)
    return replace(values.SIZE, dtype="int") if sized else Value(frozenset({Kind.STATIC}), dtype=dtype)


def numpy_result(name: str, args: Sequence[Value]) -> Value:
    """The result of a function of `numpy`."""
    if args and all(v.is_(Kind.STATIC, Kind.SIZE) for v in args) and not name.startswith("numpy.random."):
        return replace(values.STATIC, dtype="float", ref="numpy")
    return values.NDARRAY
