"""Compares two arms on varied inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from compilefix.measuring.equivalence import Equivalence
from compilefix.measuring.exactness import Exactness
from compilefix.measuring.parity import Pair, Rules, compare_calls
from compilefix.measuring.reproducer import Reproducers, thawed
from compilefix.measuring.request import ROUNDING, Options, Variant, VariedResult, VariedRun
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
    return replace(parity, exceptions="error", first_difference=Difference("exceptions", variant.label, text))


def kept(same: Equivalence, parity: Parity, reproducers: Reproducers) -> tuple[Path, ...]:
    """Writes a program for the first differences, those on the workload's own inputs in front."""
    training = same.original.trains != "no"
    if not same.parity.holds or (not parity.holds and not same.varied):
        found = same.parity if not same.parity.holds else parity
        reproducers.keep(None, str(found.first_difference), None, training)
    files = {run.variant: run for run in same.varied_original.runs}
    for variant, item in same.varied:
        run = files[variant]
        reproducers.keep(variant, str(item.first_difference), given(run), training)
    return tuple(reproducers.written)


def given(run: VariedRun) -> list[tuple[Any, Any]] | None:
    """The arguments of each call of a variant; None where they are more than plain data and tensors."""
    try:
        return [(thawed(args), thawed(kwargs)) for args, kwargs in _load(run.file)["given"]]
    except ValueError:
        return None


def _load(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    return data
