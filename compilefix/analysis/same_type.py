"""Whether one of two values may be selected by `torch.where`: the same shape and dtype, and tensors both."""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value

_EXACT = frozenset({0, 0.5, 1, 2, -1})
_OTHERS = frozenset({Kind.CONTAINER, Kind.CALLABLE, Kind.OBJECT, Kind.NDARRAY})
"""With one of these among the kinds of a value, and no tensor, it is none in some runs."""


def same_type(then: Value, orelse: Value) -> Iterator[Obstacle]:
    """Whether two tensors have the same shape and dtype on every run."""
    for side, other in ((then, orelse), (orelse, then)):
        if not side.may_be(Kind.TENSOR):
            yield from _number_beside(side, other)
            return
    for side in (then, orelse):
        if Kind.TENSOR not in side.kinds and side.kinds & _OTHERS:
            yield Obstacle(f"one side is no tensor: {_kinds(side)}")
            return
        if Kind.NONE in side.kinds:
            yield Obstacle("one side may be None, which cannot be selected")
            return
        if Kind.OBJECT in side.kinds and not side.declared:
            yield Obstacle("one side may be an object of another class, which functions of torch do not take")
            return
    ranks = [side.rank for side in (then, orelse) if not side.is_unknown]
    if len(ranks) == 2 and None not in ranks and ranks[0] != ranks[1]:
        yield Obstacle(f"the sides differ in shape: {ranks[0]} and {ranks[1]} dimensions")
        return
    if any(side.rank == 0 and other.dimensioned for side, other in ((then, orelse), (orelse, then))):
        yield Obstacle("the sides differ in shape: only one has dimensions")
        return
    if not (then.is_tensor and orelse.is_tensor):
        yield Obstacle("one side is not proved to be a tensor", "same-shape-dtype")
        return
    if then.dtype is not None and orelse.dtype is not None and then.dtype != orelse.dtype:
        yield Obstacle(f"the sides differ in dtype: {then.dtype} and {orelse.dtype}")
        return
    if then.rank is not None and orelse.rank is not None and then.rank != orelse.rank:
        yield Obstacle(f"the sides differ in shape: {then.rank} and {orelse.rank} dimensions")
        return
    if then.shape_id is None or then.shape_id != orelse.shape_id:
        yield Obstacle("the two sides are not proved to have the same shape", "same-shape-dtype")
    if then.dtype_id is None or then.dtype_id != orelse.dtype_id:
        yield Obstacle("the two sides are not proved to have the same dtype", "same-shape-dtype")


def _number_beside(number: Value, tensor: Value) -> Iterator[Obstacle]:
    """Whether a Python number may be selected instead of a tensor: it takes the tensor's shape and dtype then."""
    known = number.is_(Kind.STATIC, Kind.SIZE) and number.dtype in ("int", "float") and number.certain
    # `min(0.99, t)` gives one of the two: a number then.
    alone = tensor.is_(Kind.TENSOR, Kind.STATIC) and tensor.certain and tensor.rank == 0
    # A number that is not known may be given as a whole: then each dtype but bool keeps what it has beside one.
    plain = tensor.is_tensor
    fits = tensor.dtype in ("float", None) or (tensor.dtype == "int" and number.dtype == "int")
    if not known or not fits or not (plain or (alone and tensor.dtype is not None)):
        yield Obstacle(f"one side is no tensor: {_kinds(number)}")
        return
    yield Obstacle("one side is a Python number, and becomes a tensor", "number-to-tensor")
    if plain and not tensor.certain:
        yield Obstacle("one side is not proved to be a tensor", "same-shape-dtype")
    if not alone or tensor.dtype is None:
        yield Obstacle("one side is a Python number, and takes the shape and dtype of the other", "same-shape-dtype")
    value = number.const.value if number.const is not None else None
    if tensor.dtype != "int" and not (isinstance(value, int | float) and value in _EXACT):
        yield Obstacle("the number of one side is rounded to the precision of the other", "float32-rounding")


def _kinds(value: Value) -> str:
    if value.const is not None and isinstance(value.const.value, bool | int | float):
        return f"the number {value.const.value}"
    return " or ".join(sorted(k.value for k in value.kinds))
