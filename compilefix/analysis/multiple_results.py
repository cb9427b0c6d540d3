"""Functions of torch that give one tensor or several, as their arguments say: `where`, `nonzero`, `unique`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from compilefix.analysis import values
from compilefix.analysis.values import Value, replace, static, tensor

_WITH_PLACES = {
    **dict.fromkeys(("max_pool1d", "max_pool2d", "max_pool3d"), 6),
    **dict.fromkeys(("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d"), 2),
    **dict.fromkeys(("fractional_max_pool2d", "fractional_max_pool3d"), 4),
}
"""Where `return_indices` stands among the arguments of a pooling function."""
_SMALL = ("bucketize", "searchsorted")
FORMS = frozenset({"where", "nonzero", "unique", "unique_consecutive", *_WITH_PLACES, *_SMALL})
"""The functions, by their bare names."""

_WITH_INDICES = frozenset(
    {"sort", "topk", "kthvalue", "mode", "max", "min", "median", "nanmedian", "cummax", "cummin", "msort"}
)
# Those of the result are the dimensions that the table says; the others take their dimension by default.
_RANKED = frozenset({"sort", "topk", "cummax", "cummin", "max", "min", "median", "nanmedian"})
_UNIQUE = {
    "unique": ("input", "sorted", "return_inverse", "return_counts", "dim"),
    "unique_consecutive": ("input", "return_inverse", "return_counts", "dim"),
}


def by_arguments(bare: str, args: Sequence[Value], keywords: Mapping[str | None, Value], place: str) -> Value | None:
    """What a call of one of `FORMS` gives; None where it is one tensor, as the API table says.

    args: the positional arguments, a method's tensor first; place: names the call.
    """
    if bare == "where":
        return _indices(place) if len(args) == 1 and not {"input", "other"} & set(keywords) else None
    if bare in _WITH_PLACES:
        given = keywords.get("return_indices", (*args, *[static(False)] * 7)[_WITH_PLACES[bare]])
        return None if given.const is not None and given.const.value is False else values.UNKNOWN
    if bare in _SMALL:  # `out_int32` makes smaller integers
        given = keywords.get("out_int32", static(False))
        sure = None not in keywords and given.const is not None and given.const.value is False
        return None if sure else values.UNKNOWN
    if bare == "nonzero":
        given = keywords.get("as_tuple", static(False))
        if given.const is None:
            return values.UNKNOWN
        return _indices(place) if given.const.value is True else None
    named = dict(zip(_UNIQUE[bare], args, strict=False)) | {str(k): v for k, v in keywords.items()}
    flags = [named.get(name, static(False)).const for name in ("return_inverse", "return_counts")]
    first = named.get("input", values.UNKNOWN)
    whole = named.get("dim", values.NONE).kinds == values.NONE.kinds
    if None in keywords or any(flag is None for flag in flags):
        return values.UNKNOWN
    found = tensor(
        dtype=first.dtype,
        dtype_id=first.dtype_id,
        rank=1 if whole else first.rank,
        shape_id=place,
        certain=first.certain or not first.is_tensor,
        storage=frozenset({place}),
        leaves=first.leaves,
    )
    inverse, counts = (flag is not None and flag.value is True for flag in flags)
    parts = [found]
    if inverse:
        parts.append(_integers(f"{place}.1", (first.rank if first.is_tensor else None) if whole else 1))
    if counts:
        parts.append(_integers(f"{place}.{len(parts)}", 1))
    if len(parts) == 1:
        return found
    return replace(values.container(elements=tuple(parts)), storage=found.storage, leaves=found.leaves)


def with_indices(
    bare: str, parts: Sequence[Value], rank: int | None, shape_id: str | None, place: str
) -> tuple[Value, ...]:
    """The parts of a result that holds values and their indices, such as that of `sort`: they have one shape.

    Those that the call itself makes lie in memory of their own.
    """
    if bare not in _WITH_INDICES or len(parts) != 2 or not all(part.is_tensor for part in parts):
        return tuple(parts)
    kept = rank if bare in _RANKED else None
    shape = "()" if kept == 0 else shape_id
    made = frozenset({place})
    memory = frozenset({f"{place}.1"}) if parts[1].storage == made else parts[1].storage
    return (
        replace(parts[0], rank=kept, shape_id=shape),
        replace(parts[1], rank=kept, shape_id=shape, dtype="int", dtype_id="int64", leaves=frozenset(), storage=memory),
    )


def _integers(place: str, rank: int | None) -> Value:
    return tensor(dtype="int", dtype_id="int64", rank=rank, shape_id=place, storage=frozenset({place}))


def _indices(place: str) -> Value:
    """One tensor of indices for each dimension."""
    item = replace(_integers(place, 1), shape_id=None)
    return replace(values.container(item), storage=frozenset({place}))
