"""What the functions of einops give: a tensor of a tensor, with as many dimensions as the pattern names.

The rules are those of einops 0.8: `rearrange` and `repeat` move elements, and may hand out the memory that they are
given; `reduce` keeps the dtype of floating tensors; `einsum` makes a new tensor. All take arrays too, and give arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compilefix.analysis import values
from compilefix.analysis.values import Kind, Value, join_all, replace, tensor

LAYERS = frozenset({"einops.layers.torch.Rearrange", "einops.layers.torch.Reduce"})
"""Layers that do what the functions do, with the pattern that they were made with."""
_FUNCTIONS = frozenset({"rearrange", "repeat", "reduce", "einsum", "pack", "unpack"})


def einops_result(name: str, args: Sequence[Value], keywords: Mapping[str | None, Value], place: str) -> Value | None:
    """The result of a function of einops; None for other functions, and for what is given no tensor."""
    package, _, function = name.rpartition(".")
    if package not in ("einops", "einops.einops", "einops.packing") or function not in _FUNCTIONS or not args:
        return None
    if function == "einsum":
        *given, pattern = args
        operands = given
    else:
        given = [args[0].element if args[0].is_(Kind.CONTAINER) and args[0].element is not None else args[0]]
        operands = [args[0]]
        pattern = args[1] if len(args) > 1 else keywords.get("pattern", values.UNKNOWN)
    if not given or not all(v.is_tensor or v.is_unknown for v in given):
        return None
    made = _made(function, given, operands, place)
    if function == "unpack":
        return replace(values.container(made), storage=made.storage, leaves=made.leaves)
    if function == "pack":
        shapes = values.container(values.SHAPE)
        return replace(values.container(elements=(made, shapes)), storage=made.storage, leaves=made.leaves)
    rank, has_dims = _dimensions(pattern)
    if function == "reduce" and made.dtype != "float":
        made = replace(made, dtype=None, dtype_id=f"dtype {place}")
    return replace(made, rank=rank, has_dims=has_dims, shape_id="()" if rank == 0 else place)


def layer_result(args: Sequence[Value], place: str) -> Value:
    """What one of `LAYERS` gives."""
    return replace(_made("reduce", args[:1], args[:1], place), dtype=None, dtype_id=f"dtype {place}")


def _made(function: str, given: Sequence[Value], operands: Sequence[Value], place: str) -> Value:
    joined = join_all(given)
    shared = frozenset[str]() if function == "einsum" else frozenset().union(*(v.storage for v in operands))
    return tensor(
        dtype=joined.dtype,
        dtype_id=joined.dtype_id or f"dtype {place}",
        certain=all(v.is_tensor and v.certain for v in given),
        storage=shared | {place},
        leaves=frozenset().union(*(v.leaves for v in operands), *(v.leaves for v in given)),
        shape_id=place,
    )


def _dimensions(pattern: Value) -> tuple[int | None, bool]:
    """How many dimensions a pattern such as `"b (h d) -> b h d"` gives, and whether it is sure to be at least one."""
    text = pattern.const.value if pattern.const is not None else None
    if not isinstance(text, str) or text.count("->") != 1:
        return None, False
    depth, names = 0, []
    for token in text.partition("->")[2].replace("(", " ( ").replace(")", " ) ").split():
        if token == ")":
            depth -= 1
        elif depth == 0:
            names.append(token)
        if token == "(":
            depth += 1
    open_ended = "..." in names
    return None if open_ended else len(names), len(names) > 1 or (bool(names) and not open_ended)
