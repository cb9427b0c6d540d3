"""Judges rounding against a run of the original in float64: may be as inexact as the original, and not much more."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch

from compilefix.measuring.leaves import Leaf
from compilefix.measuring.request import ROUNDING, Variant
from compilefix.measuring.snapshot import Node, dense

FACTOR = 8.0
"""How many times the error of the original the error of the patched code may be."""
FAR = 1e-2
"""Where the original is farther than this from float64, relative to the largest value, the two took other ways."""


Record = Mapping[str, Any]


class Exactness:
    """Knows how far the original is from float64. Errors are relative to the largest value of a tensor."""

    def __init__(self) -> None:
        self._original: dict[str, float] = {}

    def learn(self, records: Sequence[Record], wide: Sequence[Record]) -> None:
        """Takes in the original's own error for a variant that loses digits."""
        for record, exact in zip(records, wide, strict=False):
            for aspect in ("outputs", "gradients", "state"):
                wanted = dict(_tensors(exact[aspect], aspect))
                for place, one in _tensors(record[aspect], aspect):
                    two = wanted.get(place)
                    error = None if two is None else _error(one, two)
                    if error is not None:
                        self._original[place] = max(error, self._original.get(place, 0.0))

    def judged(self, leaf: Leaf, aspect: str, inside: str, wide: Node, variant: Variant | None) -> Leaf:
        """The leaf as close where rounding explains the difference; `inside` is its place in the value `wide`."""
        exact = dict(_tensors(wide, "")).get(inside)
        if exact is None or leaf.pair is None:
            return leaf
        there, here = (_error(one, exact) for one in leaf.pair)
        if here is None or there is None or max(here, there) > FAR:
            return leaf
        if variant is not None and variant.name.startswith(ROUNDING):
            there = max(there, self._original.get(f"{aspect}{inside}", 0.0))
        return dataclasses.replace(leaf, status="close") if here <= FACTOR * there else leaf


def _error(one: torch.Tensor, exact: torch.Tensor) -> float | None:
    """The largest error; None where it means nothing: other shapes, other infinities, nothing but zeros."""
    if exact.shape != one.shape or not exact.is_floating_point() or not one.is_floating_point():
        return None
    finite = torch.isfinite(exact)
    if not bool(finite.any()) or not bool((torch.isfinite(one) == finite).all()):
        return None
    scale = float(exact[finite].abs().max())
    return float((one.double() - exact.double())[finite].abs().max()) / scale if scale else None


def _tensors(node: Any, place: str) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors and floats in a frozen value, or in a dict of such."""
    if "kind" not in node:
        for key, item in node.items():
            yield from _tensors(item, f"{place}[{key!r}]")
    elif node["kind"] in ("tensor", "array"):
        yield place, dense(node["tensor"])
    elif node["kind"] == "scalar" and isinstance(node["value"], float):
        yield place, torch.tensor(node["value"], dtype=torch.float64)
    elif node["kind"] == "list":
        for index, item in enumerate(node["items"]):
            yield from _tensors(item, f"{place}[{index}]")
    elif node["kind"] == "dict":
        for key, item in node["items"].items():
            yield from _tensors(item, f"{place}[{key!r}]")
