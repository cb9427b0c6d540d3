"""What torch's functions on lists of tensors give, which are not in the table of the API: `torch._foreach_sqrt(xs)`."""

from __future__ import annotations

from collections.abc import Sequence

from compilefix.analysis import values
from compilefix.analysis.leaves import perhaps
from compilefix.analysis.values import NOTHING, Kind, Value, replace, tensor

_PREFIX = "torch._foreach_"


def is_foreach(name: str) -> bool:
    """Whether a function makes new tensors of those of a list, and writes into none."""
    return name.startswith(_PREFIX) and not name.endswith("_")


def foreach_result(name: str, args: Sequence[Value], operands: Sequence[Value], place: str) -> Value:
    """New tensors, one for each of the list."""
    first = args[0] if args else values.UNKNOWN
    items = [*(first.elements or ()), *([first.element] if first.element is not None else [])]
    known = first.is_(Kind.CONTAINER) and bool(items) and all(item.dtype == "float" for item in items)
    made = frozenset({place})
    leaves = perhaps(NOTHING.union(*[v.leaves for v in operands]), f"?{place}") | {f"?{place}"}
    norm = name == f"{_PREFIX}norm"
    item = tensor(dtype="float" if known or norm else None, rank=0 if norm else None, storage=made, leaves=leaves)
    return replace(values.container(item), storage=made, leaves=leaves)
