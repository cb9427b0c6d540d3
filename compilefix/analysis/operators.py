"""Operators, unpacking and attributes on values, without regard to the code around them.

`place` names the expression: what it makes anew gets its ids and its memory from that.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from compilefix.analysis import torch_api, values
from compilefix.analysis.dtypes import fold, pointwise_dtype, promote
from compilefix.analysis.leaves import decided_again, perhaps, place_of_item
from compilefix.analysis.values import (
    ANY_MEMORY,
    ANY_OWN,
    LEAKED,
    NOTHING,
    OWN,
    Kind,
    Value,
    join_all,
    number,
    replace,
    tensor,
)


def binary(op: ast.operator, left: Value, right: Value, place: str) -> Value:
    """The result of a binary operator."""
    if isinstance(op, ast.Mod) and left.const is not None and isinstance(left.const.value, str | bytes):
        return values.STATIC  # a text, whatever it shows
    if isinstance(op, ast.MatMult) and (left.is_tensor or right.is_tensor):
        dtype = left.dtype if left.dtype == right.dtype else None
        return tensor(
            dtype=dtype,
            dtype_id=f"dtype {place}",
            shape_id=place,
            certain=left.certain or right.certain,
            storage=frozenset({place}),
            leaves=left.leaves | right.leaves,
        )
    if (left.may_be(Kind.TENSOR) and not left.is_unknown) or (right.may_be(Kind.TENSOR) and not right.is_unknown):
        divides = isinstance(op, ast.Div)
        return elementwise([left, right], place, "float" if divides else "promote")
    pair = (left, right)
    if left.is_unknown or right.is_unknown:
        return replace(
            values.UNKNOWN,
            kinds=unsure(pair),
            storage=left.storage | right.storage,
            leaves=left.leaves | right.leaves,
        )
    if any(v.is_(Kind.NDARRAY) for v in pair):
        return replace(values.NDARRAY, certain=any(v.is_(Kind.NDARRAY) and v.certain for v in pair))
    if any(Kind.NDARRAY in v.kinds for v in pair) and all(v.kinds <= _ARRAY_OR_NUMBER for v in pair):
        return replace(values.NDARRAY, kinds=_NUMPY_ON_SOME_WAY, certain=False)
    if any(v.is_(Kind.CONTAINER) for v in pair):
        element = join_all(v.element for v in pair if v.element is not None) if any(v.element for v in pair) else None
        elements = None
        if isinstance(op, ast.Add) and left.elements is not None and right.elements is not None:
            elements = left.elements + right.elements
        made = values.container(element, elements, ref=left.ref if left.ref == right.ref else None)
        return replace(made, storage=left.storage | right.storage, leaves=left.leaves | right.leaves)
    if all(v.is_(Kind.NUMBER, Kind.STATIC, Kind.SIZE) for v in pair):
        dtype = "float" if isinstance(op, ast.Div) else promote(left.dtype, right.dtype)
        if isinstance(op, ast.Pow) and dtype == "int" and not _not_negative(right):
            dtype = None  # `2 ** -1` is a float
        if isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor) and left.dtype == right.dtype == "bool":
            dtype = "bool"
        if any(v.is_(Kind.NUMBER) for v in pair):
            return number(dtype, left.certain and right.certain)
        if any(v.may_be(Kind.NUMBER) for v in pair):
            return perhaps_read(dtype)
        if any(v.is_(Kind.SIZE) for v in pair) and not any(v.dtype is None for v in pair):
            return replace(values.SIZE, dtype=dtype)
        return replace(values.STATIC, dtype=dtype, const=fold(op, left.const, right.const))
    return values.UNKNOWN


def _not_negative(number: Value) -> bool:
    """Whether an exponent is known to be none below zero."""
    if number.const is not None:
        return isinstance(number.const.value, int) and number.const.value >= 0
    return number.is_(Kind.SIZE)


_TENSOR = frozenset({Kind.TENSOR})
_NUMBERS = frozenset({Kind.TENSOR, Kind.NUMBER, Kind.STATIC, Kind.SIZE, Kind.NDARRAY})
_COMPUTED = frozenset({Kind.TENSOR, Kind.NDARRAY})
_ARRAY_OR_NUMBER = frozenset({Kind.NDARRAY, Kind.STATIC, Kind.SIZE, Kind.NUMBER})
_NUMPY_ON_SOME_WAY = frozenset({Kind.NDARRAY, Kind.STATIC})


def perhaps_read(dtype: str | None) -> Value:
    """A Python number that was read from a tensor on some way and not on another."""
    return replace(values.STATIC, kinds=frozenset({Kind.NUMBER, Kind.STATIC}), dtype=dtype)


def unsure(operands: Sequence[Value]) -> frozenset[Kind]:
    """The kinds of what is computed with something unknown: what is a tensor on some way makes it one there."""
    return values.UNKNOWN.kinds.union(*(v.kinds & _COMPUTED for v in operands))


def elementwise(operands: Sequence[Value], place: str, rule: str) -> Value:
    """The result of a pointwise operation with broadcasting; `rule` is the dtype rule of the API table."""
    unknown = [v for v in operands if Kind.UNKNOWN in v.kinds or v.is_(Kind.NDARRAY)]
    tensors = [v for v in operands if Kind.TENSOR in v.kinds and Kind.UNKNOWN not in v.kinds]
    only = [v for v in tensors if v.is_tensor]
    ranked = [v.rank for v in tensors]
    arrays = all(v.is_tensor or (v.kinds == values.ARRAYS and v.rank == 0) for v in tensors)  # sums of all elements
    rank = None if unknown or None in ranked or not arrays else max((r for r in ranked if r is not None), default=None)
    certain = any(v.certain for v in only)
    big = [v for v in tensors if v.rank != 0]
    shape_id: str | None = None
    ids = {v.shape_id for v in big}
    if not unknown and len(only) == len(tensors):
        if len(ids) == 1:
            shape_id = next(iter(ids))
        if shape_id is None:
            shape_id = place
    dtype, dtype_id = pointwise_dtype(operands, tensors, big, rule, bool(unknown))
    dtype_id = dtype_id or f"dtype {place}"
    leaves = values.NOTHING.union(*[v.leaves for v in operands])
    kinds = _TENSOR if only or not tensors else tensors[0].kinds - values.NONE.kinds
    has_dims = any(v.dimensioned for v in only)
    result = tensor(
        dtype=dtype,
        dtype_id=dtype_id,
        rank=rank,
        shape_id=shape_id,
        has_dims=has_dims,
        certain=certain,
        storage=frozenset({place}),
        leaves=leaves,
    )
    declared = bool(tensors) and all(v.declared for v in tensors)
    if kinds is _TENSOR and not declared:
        return result
    return replace(result, kinds=kinds if kinds <= _NUMBERS else result.kinds, declared=declared)


def tensor_attribute(attr: str, base: Value, place: str) -> Value:
    """An attribute of a tensor; a method is a callable named `Tensor.NAME`."""
    if attr == "shape":
        elements = (values.SIZE,) * base.rank if base.rank is not None else None
        return replace(values.SHAPE, elements=elements, shape_id=base.shape_id if base.is_tensor else None)
    if attr in ("ndim", "itemsize", "nbytes"):
        return values.SIZE
    if attr == "grad":
        kinds = base.kinds if base.ref == values.HAS_GRADIENT else base.kinds | values.NONE.kinds
        return replace(base, kinds=kinds, ref=None, leaves=NOTHING, storage=values.UNKNOWN.storage)
    api = torch_api.method(attr)
    if api is not None and api.attribute:
        if api.returns == "Tensor":
            same = attr in ("data", "real", "imag")
            if attr in ("real", "imag") and base.dtype in (None, "float", "complex"):
                base = replace(base, dtype=base.dtype and "float", dtype_id=None)
            transposed = place if base.rank != 0 else "()"
            return replace(
                base,
                ref=None,
                shape_id=base.shape_id if same else transposed,
                leaves=frozenset() if attr == "data" else base.leaves,
            )
        return values.STATIC
    return replace(values.FUNCTION, ref=f"Tensor.{attr}", storage=base.storage)


def array_attribute(attr: str) -> Value | None:
    """An attribute of an ndarray that is no method; None where it is one, or not known."""
    if attr in ("T", "real", "imag", "flat"):
        return values.NDARRAY
    if attr == "shape":
        return values.SHAPE
    return values.SIZE if attr in ("size", "ndim", "itemsize", "nbytes") else None


_LIST_OR_TENSOR = frozenset({Kind.CONTAINER, Kind.TENSOR})


def element_of(value: Value) -> Value:
    """One item of an iterable."""
    if value.is_(Kind.CONTAINER):
        return (
            value.element
            if value.element is not None and value.ref != "dict"
            else replace(values.UNKNOWN, storage=value.storage, leaves=value.leaves)
        )
    if value.is_tensor:
        rank = None if value.rank is None else value.rank - 1
        return tensor(
            dtype=value.dtype,
            dtype_id=value.dtype_id,
            rank=rank,
            certain=value.certain,
            storage=value.storage,
            leaves=value.leaves,
        )
    if value.kinds == _LIST_OR_TENSOR and value.element is not None and value.ref != "dict":
        # `for height, width in sizes` of a list of pairs in some calls, and of their tensor in others.
        row = tensor(certain=value.certain, storage=value.storage, leaves=value.leaves)
        return replace(values.join(value.element, row), declared=value.declared)
    if value.is_(Kind.OBJECT) and value.element is not None and value.ref != "torch.nn.ModuleDict":
        return value.element
    if value.is_(Kind.NDARRAY):
        return value
    return replace(values.UNKNOWN, storage=value.storage, leaves=value.leaves)


def unpack(value: Value, count: int, place: str) -> Sequence[Value]:
    """The values of the targets in `a, b = value`."""
    if value.elements is not None and len(value.elements) == count and not value.may_be(Kind.OBJECT):
        return value.elements
    if value.kinds <= _LIST_OR_TENSOR and Kind.CONTAINER in value.kinds and value.element is not None:
        return _items(element_of(value), count)
    if value.is_tensor:
        element = tensor(
            dtype=value.dtype,
            dtype_id=value.dtype_id,
            rank=None if value.rank is None else value.rank - 1,
            certain=value.certain,
            shape_id=place,
            storage=value.storage,
            leaves=value.leaves,
        )
        return [element] * count
    if value.is_(Kind.NDARRAY):  # of a tuple of arrays, as `linear_sum_assignment` gives it, each part is one as well
        return [value] * count
    return _items(replace(values.UNKNOWN, storage=value.storage, leaves=value.leaves), count)


def _items(item: Value, count: int) -> Sequence[Value]:
    return [picked(item, place_of_item(i)) for i in range(count)]


def picked(item: Value, which: str, decide: Callable[[frozenset[str], str], frozenset[str]] = perhaps) -> Value:
    """An item of a container of such items: which one it is decides what it hangs on, and what its own items do."""
    if item.element is not None or item.elements:
        inner = item.elements and tuple(picked(part, which, decide) for part in item.elements)
        item = replace(item, element=item.element and picked(item.element, which, decide), elements=inner)
    return replace(item, leaves=decide(item.leaves, f"?{which}")) if item.leaves else item


def of_another_turn(value: Value, which: str) -> Value:
    """What a name holds from a turn that is over: not of the item of this turn, nor of that of another name."""
    return picked(value, which, decided_again)


def item_of_turn(iterable: Value, place: str) -> Value:
    """What a loop gives its target, of which `place` is the place: another loop over the same may be at another item.

    The rows of a tensor are none of its own.
    """
    item = element_of(iterable)
    return item if iterable.is_tensor else picked(item, place)


def opaque(place: str, operands: Sequence[Value]) -> Value:
    """The result of a call of which nothing is known: it may share the memory of all operands, and any handed on."""
    storage = frozenset({place, LEAKED}).union(*[v.storage for v in operands])
    return replace(
        values.UNKNOWN,
        storage=storage,
        leaves=perhaps(NOTHING.union(*[v.leaves for v in operands]), f"?{place}") | {f"?{place}"},
    )


def stored_callable(callee: Value, receiver: Value) -> bool:
    """Whether `self.act(x)` calls something that was stored in an attribute, and no method that is not known."""
    own = receiver.is_(Kind.OBJECT) and receiver.storage == OWN
    return own and len(callee.storage) > 0 and not callee.storage & {ANY_OWN, ANY_MEMORY}


def by_identity(left: Value, right: Value) -> bool:
    """Whether `==` of a tensor and a list, a shape, a string or None: torch takes none of them, Python says False."""
    for value, other in ((left, right), (right, left)):
        plain = other.is_(Kind.CONTAINER, Kind.NONE) or (
            other.const is not None and isinstance(other.const.value, str | bytes)
        )
        if plain and value.may_be(Kind.TENSOR) and not value.is_unknown:
            return True
    return False


def are_texts(node: ast.expr) -> bool:
    """Whether an expression lists texts alone: what is looked for among them is one."""
    listed = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
    return bool(listed) and all(isinstance(item, ast.Constant) and isinstance(item.value, str) for item in listed)
