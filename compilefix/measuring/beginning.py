"""Compares two programs as they stand before their first call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compilefix.measuring.leaves import Leaf
from compilefix.measuring.slots import as_written
from compilefix.measuring.snapshot import same_node, scalar_text


def beginning(
    left: Mapping[str, Any] | None, right: Mapping[str, Any] | None, base: Mapping[str, Any] | None
) -> Iterator[Leaf]:
    """What a program is before its first call: the keys of its checkpoints, its hooks, the defaults of its functions.

    `base` is the original in the form of the right one, where that is compiled.
    """
    if left is None or right is None:
        return
    keys, own = left["keys"], right["keys"]
    if base is not None:
        keys = base["keys"]  # the same form: what compiling does to the names counts, where the rewrite brings it
    else:
        keys, own = (list(map(as_written, items)) for items in (keys, own))
    yield from _lists("state_dict", keys, own)
    yield from _lists("hooks", left["hooks"], right["hooks"])
    for name, value in left["defaults"].items():
        if name in right["defaults"] and not same_node(value, right["defaults"][name]):
            one, two = scalar_text(value), scalar_text(right["defaults"][name])
            yield Leaf(f"default of {name}", "different", text=f"{one} in the original, {two} in the patched code")


def _lists(what: str, left: Sequence[str], right: Sequence[str]) -> Iterator[Leaf]:
    lost = [item for item in left if item not in right]
    come = [item for item in right if item not in left]
    if lost or come:
        one, two = lost[0] if lost else "nothing", come[0] if come else "nothing"
        yield Leaf(what, "different", text=f"{one} in the original, {two} in the patched code")


def given(left: Mapping[str, Any] | None, right: Mapping[str, Any] | None) -> Iterator[Leaf]:
    """The inputs that both versions of the workload give."""
    if left is not None and right is not None:
        same = len(left["inputs"]) == len(right["inputs"]) and all(
            len(one) == len(two) and all(map(same_node, one, two))
            for one, two in zip(left["inputs"], right["inputs"], strict=True)
        )
        if not same:
            yield Leaf("what the workload gives", "different", text="the patched workload returns other inputs")
