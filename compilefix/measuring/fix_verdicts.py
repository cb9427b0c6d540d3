"""Judges fixes one by one: alone, all together, and the smallest set of them that shows a difference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compilefix.codemods.finding import Finding
from compilefix.fixing.patchset import PatchSet
from compilefix.measuring.equivalence import PATCHED_S, compared_eager, run_varied
from compilefix.measuring.judging import sites_text, weight
from compilefix.measuring.overlays import overlays, probed_overlays
from compilefix.measuring.process import run_arm
from compilefix.measuring.request import ArmResult, Options, VariedResult, WorkerRequest
from compilefix.measuring.verdict_model import FixJudgement, FixVerdict

Build = Callable[[Sequence[Finding]], PatchSet]
"""Gives the patch set that holds only these fixes."""


@dataclass(frozen=True)
class Judge:
    """Judges patch sets against one run of the original.

    `request` is that of an eager original; `original` and `varied` are what it saw, `before` the original compiled.
    """

    request: WorkerRequest
    original: ArmResult
    varied: VariedResult
    before: ArmResult
    options: Options
    folder: Path
    progress: Callable[[str], None]

    def difference(self, patchset: PatchSet, name: str) -> str:
        """The first difference that the patch set makes, run eager; empty where it makes none."""
        probed = probed_overlays(patchset)
        folder = self.folder / _safe(name)
        request = replace(
            self.request,
            name=name,
            folder=folder,
            overlay=probed.after,
            vary_s=PATCHED_S,
            variants=tuple(run.variant for run in self.varied.runs),
            probes=(),
        )
        self.progress(f"{name}: starting")
        patched = run_varied(request, folder / "cache", self.progress)
        if patched[0].error is not None:
            return patched[0].error
        assumptions = assumed(patchset)
        same = compared_eager((self.original, self.varied), patched, probed, self.options, assumptions)
        return "" if same.whole.holds else str(same.whole.first_difference or "they differ")

    def gain(self, patchset: PatchSet, name: str) -> tuple[FixJudgement, str]:
        """Whether the patch set leaves less outside the graph. Breaks are Dynamo's alone, so nothing is generated."""
        _, after = overlays(patchset)
        folder = self.folder / f"{_safe(name)}-compiled"
        options = replace(self.options, backend="eager", mode="default")
        request = replace(
            self.request,
            name=f"{name}, compiled",
            compiled=True,
            folder=folder,
            overlay=after,
            boundary=patchset.boundary,
            options=options,
            vary_s=0.0,
            variants=None,
        )
        alone = run_arm(request, folder / "cache", self.progress)
        if alone.error is not None:
            return "error", alone.error
        if alone.graphs_per_call == 0:
            return "no-gain", "no graph was compiled"
        told = f"{sites_text(self.before)} before, {sites_text(alone)} with this fix alone"
        return ("proved" if weight(alone) < weight(self.before) else "no-gain"), told


def judged_alone(judge: Judge, singles: Sequence[tuple[Finding, PatchSet]]) -> tuple[FixVerdict, ...]:
    """The verdict of each fix, measured alone."""
    found = []
    for number, (fix, patchset) in enumerate(singles):
        name = f"fix {number + 1}, only {fix.code} at {fix.path}:{fix.span.line}"
        difference = judge.difference(patchset, name)
        if difference:
            found.append(fix_verdict(fix, "different", difference))
            continue
        judgement, reason = judge.gain(patchset, name)
        doubts = unseen(patchset, judge.varied, judge.original)
        if judgement == "proved" and doubts:
            judgement, reason = "unverified", f"{reason}; {doubts[0]}"
        found.append(fix_verdict(fix, judgement, reason))
    return tuple(found)


def smallest_failing(judge: Judge, fixes: Sequence[Finding], build: Build) -> tuple[Finding, ...]:
    """The smallest set of fixes that still shows a difference, found by leaving out halves, then single ones.

    Empty where not even all of them differ. Each question is one eager run.
    """
    asked: dict[tuple[Finding, ...], bool] = {}

    def fails(some: tuple[Finding, ...]) -> bool:
        if some not in asked:
            asked[some] = bool(judge.difference(build(some), f"{len(some)} of {len(fixes)} fixes, {len(asked) + 1}"))
        return asked[some]

    left = tuple(fixes)
    if not left or not fails(left):
        return ()
    parts = 2
    while len(left) > 1:
        size = max(1, len(left) // parts)
        chunks = [left[start : start + size] for start in range(0, len(left), size)]
        candidates = [*chunks, *(tuple(fix for fix in left if fix not in chunk) for chunk in chunks)]
        smaller = next((some for some in candidates if some and len(some) < len(left) and fails(some)), None)
        if smaller is not None:
            left, parts = smaller, 2
        elif size == 1:
            return left
        else:
            parts = min(len(left), 2 * parts)
    return left


def unseen(patchset: PatchSet, varied: VariedResult, original: ArmResult) -> tuple[str, ...]:
    """Which sides of what the patch set changes were not reached in the original."""
    from compilefix.measuring.equivalence import covered

    return tuple(item.doubt for item in covered(probed_overlays(patchset).in_before, original, varied) if item.doubt)


def assumed(patchset: PatchSet) -> frozenset[str]:
    """The assumptions that the fixes of a patch set rest on."""
    return frozenset(name for fix in patchset.fixes if fix.fix is not None for name in fix.fix.assumptions)


def fix_verdict(fix: Finding, judgement: FixJudgement, reason: str) -> FixVerdict:
    """What is said of one fix."""
    assumptions = fix.fix.assumptions if fix.fix is not None else ()
    return FixVerdict(fix.code, fix.path, fix.span.line, assumptions, judgement, reason)


def _safe(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name)[:80]
