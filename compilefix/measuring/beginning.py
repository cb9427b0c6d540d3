"""Compares two programs as they stand before their first call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from compilefix.measuring.leaves import Leaf
from compilefix.measuring.slots import as_written
from compilefix.measuring.snapshot import same_node, scalar_text
from compilefix.measuring.workload import uncompiled


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
    yield from _interface(left["parameters"], right["parameters"])


def parameters_of(target: Callable[..., Any]) -> list[tuple[str, str, bool]]:
    """The parameters of a callable: name, kind, and whether a call has to give it. Empty where nobody can tell."""
    if isinstance(target, torch.nn.Module):
        target = uncompiled(target).forward
    try:
        found = inspect.signature(target).parameters.values()
    except (TypeError, ValueError):
        return []
    required = inspect.Parameter.empty
    return [(one.name, one.kind.description, one.default is required) for one in found]


def _interface(left: Sequence[tuple[str, str, bool]], right: Sequence[tuple[str, str, bool]]) -> Iterator[Leaf]:
    """Whether whoever calls the one can call the other: the same names at the same places, and nothing new to give."""
    if not left or not right or any(kind.startswith("variadic") for _, kind, _ in right):
        return
    places = {name: (kind, place) for place, (name, kind, _) in enumerate(right)}
    plain = [(name, kind) for name, kind, _ in left if not kind.startswith("variadic")]
    for place, (name, kind) in enumerate(plain):
        if places.get(name) != (kind, place) and (name not in places or kind != "keyword-only"):
            text = f"{name!r} cannot be given to the patched code as to the original"
            yield Leaf("parameters", "different", text=text)
            return
    for name, _, required in right:
        if required and name not in dict(plain):
            yield Leaf("parameters", "different", text=f"the patched code wants {name!r}, which the original does not")
            return


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
