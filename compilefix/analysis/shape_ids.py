"""Ids for shapes that follow from another: `x[..., 0]`, `x.sum(-1)` and an item of `x.unbind(-1)` have one shape."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from compilefix.analysis.torch_call import TorchCall
from compilefix.analysis.values import Kind, Value, static

_LONGEST = 100
"""A shape that follows from one with a longer id gets no such id: in a loop they would grow."""
_DIM_SECOND = frozenset(
    {"sum", "mean", "amax", "amin", "prod", "any", "all", "max", "min", "argmax", "argmin", "logsumexp", "nansum"}
)


def without(whole: Value, dim: int) -> str | None:
    """The id of the shape of a tensor without one of its dimensions; None where its own has none."""
    return _less(whole.shape_id, whole.rank, dim) if whole.is_tensor else None


def _less(shape_id: str | None, rank: int | None, dim: int) -> str | None:
    if shape_id is None or len(shape_id) > _LONGEST:
        return None
    return f"{shape_id}-{dim % max(rank, 1) if rank is not None else dim}"


def of_subscript(base: Value, parts: Sequence[ast.expr], value: Callable[[ast.expr], Value]) -> str | None:
    """The id of the shape of `base[parts]`, where full slices, constant ones, None and integers alone say it.

    An integer may have any value: it takes its dimension away.
    """
    if not base.is_tensor or base.shape_id is None or len(base.shape_id) > _LONGEST:
        return None
    steps = [_step(part, value) for part in parts]
    if None in steps:
        return None
    if set(steps) <= {":", "..."}:
        return base.shape_id
    # Behind an ellipsis a full slice says which dimension the others stand for: `x[..., 0, :]`.
    while steps[-1] == "..." or (steps[-1] == ":" and "..." not in steps):
        steps.pop()
    if steps.count("i") == 1 and set(steps) <= {"i", ":", "..."}:
        place = steps.index("i")
        if "..." not in steps[:place]:
            return without(base, place)
        return without(base, place - len(steps)) if steps[0] == "..." and steps.count("...") == 1 else None
    return f"{base.shape_id}[{','.join(step for step in steps if step is not None)}]"


def of_items(call: TorchCall) -> str | None:
    """The id of the shape that all items have of what `unbind`, `meshgrid` and `broadcast_tensors` give."""
    if call.bare in ("meshgrid", "broadcast_tensors"):
        return f"{call.place} items"
    if call.bare != "unbind" or not call.first.is_tensor:
        return None
    dim = _constant(call.keywords.get("dim", call.second or static(0)))
    return (without(call.first, dim) if dim is not None else None) or f"{call.place} items"


def of_slice(shape: Value, part: ast.Slice, value: Callable[[ast.expr], Value]) -> str | None:
    """The id of the shape that `x.shape[:-1]` and `x.shape[1:]` list; None for other slices."""
    if shape.ref != "torch.Size" or shape.shape_id is None or part.step is not None:
        return None
    rank = None if shape.elements is None else len(shape.elements)
    ends = [_constant(value(end)) if end is not None else None for end in (part.lower, part.upper)]
    if ends == [None, -1] and part.lower is None:
        return _less(shape.shape_id, rank, -1)
    return _less(shape.shape_id, rank, 0) if ends == [1, None] and part.upper is None else None


def of_sizes(call: TorchCall) -> str | None:
    """The id of the shape of a tensor that is made as large as another: `torch.zeros(x.shape)`, `y.view(x.size())`."""
    if call.bare not in _BY_SIZES or call.has_star or None in call.keywords:
        return None
    of_tensor = not call.name.startswith("torch.") or call.bare in ("reshape", "broadcast_to")
    given = call.args[1:2] if of_tensor else call.args[:1]
    size = given[0] if given else call.keywords.get("size", call.keywords.get("shape"))
    return size.shape_id if size is not None and size.is_(Kind.CONTAINER) and size.ref == "torch.Size" else None


def is_made_by_sizes(call: TorchCall) -> bool:
    """Whether a function of torch makes the tensor of sizes alone: on the default device, or one that it is told."""
    return call.name.startswith("torch.") and call.bare in _MADE


_MADE = frozenset({"zeros", "ones", "empty", "full", "rand", "randn"})
_BY_SIZES = frozenset(
    {"zeros", "ones", "empty", "full", "rand", "randn", "new_zeros", "new_ones", "new_empty", "new_full"}
    | {"view", "reshape", "expand", "broadcast_to"}
)


def of_reduction(call: TorchCall) -> str | None:
    """The id of the shape of a tensor that is reduced along one dimension: `x.sum(-1)`, `x.any(dim=0)`."""
    if call.has_star or None in call.keywords or call.bare not in _DIM_SECOND or not call.first.is_tensor:
        return None
    places = call.args[0 if "input" in call.keywords else 1 :]
    dim = call.keywords.get("dim", call.keywords.get("axis", places[0] if places else None))
    kept = call.keywords.get("keepdim", places[1] if len(places) > 1 else static(False))
    along = _constant(dim) if dim is not None else None
    if along is None or kept.const is None or kept.const.value not in (False, True):
        return None
    shape = without(call.first, along)
    return shape if shape is None or not kept.const.value else f"{shape}=1"


def _constant(value: Value) -> int | None:
    number = value.const.value if value.const is not None else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _step(part: ast.expr, value: Callable[[ast.expr], Value]) -> str | None:
    if isinstance(part, ast.Slice):
        ends = [part.lower, part.upper, part.step]
        known = [_constant(value(end)) if end is not None else None for end in ends]
        if any(end is not None and number is None for end, number in zip(ends, known, strict=True)):
            return None
        return ":" if known == [None, None, None] else ":".join(str(n) for n in known)
    if isinstance(part, ast.Constant) and part.value in (None, Ellipsis):
        return "..." if part.value is Ellipsis else "None"
    found = value(part)
    return "i" if found.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) and found.dtype == "int" else None
