"""A branch that breaks the graph by itself does not become code that always runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.codemods import registry
from compilefix.codemods.finding import Span
from compilefix.fixing.engine import Outcome, run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

PROGRAM = """import math

import torch


def f(x: torch.Tensor, mask: torch.BoolTensor):
    if mask.all():
        out = x * 2
    else:
        out = x + {other}
    return out
"""


def outcome(other: str, *allowed: str, cache: Path | None = None) -> Outcome:
    path = Path("module.py")
    rules = list(registry.load().values())
    names = frozenset({"branches-total", "same-shape-dtype", "finite-derivative", "no-aliasing", *allowed})
    text = PROGRAM.format(other=other)
    return run([SourceFile(path, "module", text)], Config(root=Path()), rules=rules, allowed=names, cache=cache)


@pytest.mark.parametrize(
    ("other", "allowed", "fixed"),
    [
        ("x.mean()", (), {"CF101"}),
        ("x.sort().values[mask].prod()", (), set()),
        ("math.exp(x.mean().item())", (), set()),
        ("math.exp(x.mean().item())", ("math-errors", "float32-rounding", "number-to-tensor"), {"CF101", "CF201"}),
    ],
)
def test_what_breaks_in_a_branch_keeps_the_branch(other: str, allowed: tuple[str, ...], fixed: set[str]) -> None:
    found = outcome(other, *allowed)
    assert {fix.code for fix in found.patchset.fixes} == fixed


def test_the_reason_names_the_line(tmp_path: Path) -> None:
    for _ in range(2):  # made, and taken from the cache
        declined = {f.code: f.declined for f in outcome("x.sort().values[mask].prod()", cache=tmp_path).findings}
        assert declined["CF101"] == "line 10 breaks the graph too (CF501), and would always run"
        fixed = next(f for f in outcome("x.mean()", cache=tmp_path).findings)
        assert fixed.fix is not None
        assert fixed.fix.always == (Span(8, 8, 8, 19), Span(10, 8, 10, 26))
