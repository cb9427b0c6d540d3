"""Compares two arms on varied inputs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from compilefix.measuring.exactness import Exactness
from compilefix.measuring.parity import Pair, Rules, compare_calls
from compilefix.measuring.request import ROUNDING, Options, Variant, VariedResult
from compilefix.measuring.verdict_model import Difference, Parity


def compare_varied(
    original: VariedResult,
    patched: VariedResult,
    options: Options,
    eager: bool = True,
    assumptions: frozenset[str] = frozenset(),
) -> Iterator[tuple[Variant, Parity]]:
    """How the patched code compares on each variant that the original ran.

    A variant that only the original finished counts as a difference; one that the patched code was not asked for, or
    had no time for, does not.
    """
    exactness = Exactness()
    for run in original.runs:
        if run.variant.name.startswith(ROUNDING):
            data = _load(run.file)
            exactness.learn(data["records"], data["reference"] or ())
    files = {run.variant: run.file for run in patched.runs}
    for run in original.runs:
        if run.variant in files:
            one, two = _load(run.file), _load(files[run.variant])
            wide = one["reference"]
            pairs = [
                Pair(left, right, None, None if wide is None else wide[index])
                for index, (left, right) in enumerate(zip(one["records"], two["records"], strict=False))
            ]
            yield run.variant, compare_calls(pairs, Rules(options, eager, run.variant, assumptions), exactness)
        elif run.variant in patched.unfinished:
            text = "the original returned, the patched code was stopped because it took many times as long"
            parity = Parity.all("not-run")
            yield run.variant, _failed(parity, run.variant, text)


def _failed(parity: Parity, variant: Variant, text: str) -> Parity:
    return Parity(
        **{**parity.aspects(), "exceptions": "error"}, first_difference=Difference("exceptions", variant.label, text)
    )


def _load(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    return data
