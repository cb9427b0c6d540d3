"""Fixes that do not prove themselves are left out, one by one and together, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from compilefix.codemods.finding import Finding, Fix, Span
from compilefix.fixing.patchset import FileChange, PatchSet
from compilefix.measuring import keeping
from compilefix.measuring.fix_verdicts import fix_verdict, smallest_failing
from compilefix.measuring.request import Options
from compilefix.measuring.verdict_model import Arm, Parity, Speedups, Verdict


def fix(line: int) -> Finding:
    return Finding(
        "CF101",
        "tensor-if",
        "model.py",
        Span(line, 0, line, 9),
        "",
        "f",
        (),
        (),
        "break",
        Fix(()),
        None,
        f"line {line}",
    )


def built(fixes: Sequence[Finding]) -> PatchSet:
    return PatchSet((FileChange(Path("model.py"), "model", "a", "b", tuple(fixes)),)) if fixes else PatchSet(())


def kept(
    monkeypatch: pytest.MonkeyPatch, good: Callable[[tuple[int, ...]], bool], alone: dict[int, str]
) -> tuple[list[int], dict[int, str]]:
    def verify(patchset: PatchSet, workload: str, options: Options, progress: Any, singles: Any, **_: Any) -> Verdict:
        lines = tuple(item.span.line for item in patchset.fixes)
        fixes = [
            fix_verdict(item, alone.get(item.span.line, "proved") if singles else "not-measured", "because")  # type: ignore[arg-type]
            for item in patchset.fixes
        ]
        judgement = "proved" if good(lines) else "not-proved"
        arm = Arm()
        return Verdict(judgement, ("a reason",), arm, arm, arm, Speedups(), Parity.all("equal"), fixes=tuple(fixes))  # type: ignore[arg-type]

    monkeypatch.setattr(keeping, "verify", verify)
    fixes = [fix(1), fix(2), fix(3)]
    singles = [(item, built([item])) for item in fixes]
    found = keeping.proved_part(built(fixes), singles, built, "m:w", Options(), lambda text: None)
    return [item.span.line for item in found.patchset.fixes], {item.span.line: why for item, why in found.left_out}


def test_what_is_proved_together_and_alone_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert kept(monkeypatch, lambda lines: True, {}) == ([1, 2, 3], {})


def test_a_fix_that_differs_or_gains_nothing_is_left_out_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    found = kept(monkeypatch, lambda lines: 2 not in lines, {2: "different", 3: "no-gain"})
    assert found == ([1], {2: "different: because", 3: "no-gain: because"})


def test_nothing_is_kept_that_does_not_hold_together(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, reasons = kept(monkeypatch, lambda lines: len(lines) == 1, {})
    assert lines == []
    assert reasons[1] == "together with the others not-proved: a reason"


def test_the_smallest_set_that_differs_is_found() -> None:
    class Asked:
        def difference(self, patchset: PatchSet, name: str) -> str:
            lines = {item.span.line for item in patchset.fixes}
            return "they differ" if {2, 5} <= lines else ""

    fixes = [fix(line) for line in range(1, 8)]
    found = smallest_failing(Asked(), fixes, built)  # type: ignore[arg-type]
    assert [item.span.line for item in found] == [2, 5]
    assert smallest_failing(Asked(), fixes[:3], built) == ()  # type: ignore[arg-type]
