"""Verifies a patch set: runs all arms of a workload and judges what was seen."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from compilefix.codemods.finding import Finding
from compilefix.fixing.patchset import PatchSet
from compilefix.measuring.equivalence import (
    COMPILED_S,
    ORIGINAL_S,
    PATCHED_S,
    Equivalence,
    compared_compiled,
    compared_eager,
    for_compiled,
    run_varied,
    sizes,
)
from compilefix.measuring.fix_verdicts import Build, Judge, assumed, fix_verdict, judged_alone, smallest_failing
from compilefix.measuring.judging import (
    NOT_THE_SAME,
    count_text,
    doubts_of,
    failures_of,
    gains_of,
    judged,
    parity_beyond,
)
from compilefix.measuring.overlays import overlays, probed_overlays, shown_path
from compilefix.measuring.process import run_arm
from compilefix.measuring.ranks import world_size
from compilefix.measuring.reproducer import Reproducers
from compilefix.measuring.request import (
    ArmResult,
    FrameEvent,
    Options,
    Overlay,
    Role,
    VariedResult,
    WorkerRequest,
    WorkloadError,
    split_spec,
)
from compilefix.measuring.timed_arms import COMPARED, Phases, compared_request, time_notes
from compilefix.measuring.timing import Timings, measure
from compilefix.measuring.verdict_model import (
    Arm,
    FixVerdict,
    Parity,
    Speedups,
    Variation,
    Verdict,
)

__all__ = ["Options", "Verdict", "WorkloadError", "verify"]

Progress = Callable[[str], None]

_One = TypeVar("_One")
_Two = TypeVar("_Two")
_CORES = 2


def verify(
    patchset: PatchSet,
    workload: str,
    options: Options,
    progress: Progress,
    single_fix_patchsets: Sequence[tuple[Finding, PatchSet]] = (),
    compare_with: str | None = None,
    keep: Path | None = None,
    build: Build | None = None,
) -> Verdict:
    """Measures the workload with the files before and after the patch set, whatever of the two is on disk.

    Each arm runs in a process of its own, so that a crash or a hang is a result. `single_fix_patchsets` gives, for
    each fix to be judged alone, the patch set that has only this fix. `compare_with` is another workload to be timed in
    the same run. `keep` is the folder for reproducers of differences. `build` gives the patch set of some of the fixes,
    to find the smallest set that differs. Raises WorkloadError when the original cannot be run at all: then there is
    nothing to compare with.
    """
    for spec in (workload, *([compare_with] if compare_with else [])):
        split_spec(spec)
    with tempfile.TemporaryDirectory(prefix="compilefix-", ignore_cleanup_errors=True) as folder:
        return _Measurement(patchset, workload, options, progress, Path(folder), compare_with, keep, build).verdict(
            single_fix_patchsets
        )


@dataclass(frozen=True)
class _Seen:
    """What all arms saw. `varied_after` is the patched code, compiled, on varied inputs.

    `own` compares on the inputs of the workload, `parity` on all.
    """

    same: Equivalence
    before: ArmResult
    after: ArmResult
    varied_after: VariedResult
    own: Parity
    parity: Parity


@dataclass(frozen=True)
class _Measurement:
    patchset: PatchSet
    workload: str
    options: Options
    progress: Progress
    folder: Path
    compare_with: str | None = None
    keep: Path | None = None
    build: Build | None = None

    def verdict(self, single_fix_patchsets: Sequence[tuple[Finding, PatchSet]]) -> Verdict:
        """Runs everything that can be run."""
        before, after = overlays(self.patchset)
        if not self.patchset:
            eager = self._checked(self._run("eager", "original, eager", before, compiled=False))
            return self._nothing_to_change(eager, self._run("before", "original, compiled", before, compiled=True))
        seen = self._seen(before, after)
        eager, parity = seen.same.original, seen.parity
        arms = {"eager": (eager, before), "before": (seen.before, before), "after": (seen.after, after)}
        timings = self._timings(arms, eager) if parity.holds else Timings({}, {}, {})
        phases = Phases(eager.trains)
        speedups = phases.speedups(timings, "before", "after", self.options.seed)
        shown = {name: _shown(name, result, timings, eager) for name, (result, _) in arms.items()}
        failures = failures_of(shown["before"], shown["after"], seen.same.patched, parity, speedups)
        failures += self._again(before, seen.varied_after)
        doubts = doubts_of(seen.same.coverage, seen.same.note, parity, timings)
        if seen.varied_after.error is not None and shown["after"].error is None:
            doubts = (*doubts, f"the patched code, compiled, stopped on varied inputs: {seen.varied_after.error}")
        excused = parity_beyond(seen.own, parity, self._assumptions())
        if excused:
            failures, doubts = [item for item in failures if not item.startswith(NOT_THE_SAME)], (excused, *doubts)
        gains = gains_of(shown["before"], shown["after"], speedups)
        fixes, culprits = self._fixes(single_fix_patchsets, seen)
        if culprits:
            failures = [*failures, culprits]
        judgement, reasons = judged(shown["before"], shown["after"], failures, gains, doubts, bool(self.patchset.fixes))
        return Verdict(
            verdict=judgement,
            reasons=(*reasons, *parity.notes, *time_notes(timings, speedups)),
            eager=shown["eager"],
            before=shown["before"],
            after=shown["after"],
            speedup=speedups,
            parity=parity,
            coverage=seen.same.coverage,
            coverage_note=seen.same.note,
            variation=self._variation(seen),
            fixes=fixes,
            environment=self._environment(eager),
            compared=phases.with_times(Arm(), COMPARED, timings) if self.compare_with else None,
            compared_speedup=self._compared_speedup(phases, timings),
        )

    def _seen(self, before: Overlay, after: Overlay) -> _Seen:
        """Runs the original and the patched code, each eager and compiled, on what the original chose."""
        probed = probed_overlays(self.patchset)
        original = self._request("eager", "original, eager", "observe", probed.before, False, None)
        # The ranks of a job must make the same calls, and which variants there is time for differs between them.
        alone = float(world_size() == 1)
        original = replace(original, vary_s=alone * ORIGINAL_S, probes=tuple(probe.key for probe in probed.in_before))
        (eager, varied), compiled_before = self._both(
            lambda: self._run_varied(original, "eager"),
            lambda: self._run("before", "original, compiled", before, compiled=True),
        )
        self._checked(eager)
        patched = self._request("eager-after", "patched, eager", "observe", probed.after, False, None)
        patched = replace(patched, vary_s=alone * PATCHED_S, variants=tuple(run.variant for run in varied.runs))
        compiling = self._request("after", "patched, compiled", "observe", after, True, self.patchset.boundary)
        compiling = replace(compiling, vary_s=alone * COMPILED_S, variants=for_compiled(varied), sizes=sizes(varied))
        second, (compiled_after, varied_after) = self._both(
            lambda: self._run_varied(patched, "eager-after"), lambda: self._run_varied(compiling, "after")
        )
        same = compared_eager((eager, varied), second, probed, self.options, self._assumptions())
        compiled_parity = self._parity(same, compiled_after, compiled_before)
        first = compiled_parity.first_difference
        if first is not None:
            compiled_parity = replace(
                compiled_parity, first_difference=replace(first, place=f"compiled, {first.place}")
            )
        parity = same.whole.joined(compiled_parity)
        if parity.holds:
            parity = parity.joined(self._compiled_parity(before, varied, varied_after))
        own = same.parity.joined(compiled_parity)
        return _Seen(same, compiled_before, compiled_after, varied_after, own, parity)

    def _compiled_parity(self, before: Overlay, varied: VariedResult, after: VariedResult) -> Parity:
        """How the patched code, compiled, compares on varied inputs; what compiling alone changes is not its fault."""
        differ = compared_compiled(varied, after, self.options, self._assumptions())
        if not differ:
            return Parity.all("equal")
        request = self._request("before-again", "original, compiled, varied", "observe", before, True, None)
        asked = tuple(variant for variant, _ in differ)
        _, original = self._run_varied(replace(request, vary_s=COMPILED_S, variants=asked), "before")
        own = {variant for variant, _ in compared_compiled(varied, original, self.options, self._assumptions())}
        parity = Parity.all("equal")
        for variant, item in differ:
            if variant not in own:
                parity = parity.joined(item)
        told = tuple(f"the original differs too when compiled: {variant.label}" for variant in asked if variant in own)
        return replace(parity, notes=(*parity.notes, *told))

    def _variation(self, seen: _Seen) -> Variation:
        reproducers: tuple[Path, ...] = ()
        if self.keep is not None:
            from compilefix.measuring.varied_parity import kept

            reproducers = kept(
                seen.same, seen.parity, Reproducers(self.keep, self.patchset, self.workload, self.options.seed)
            )
        return Variation(
            tried=seen.same.tried,
            compiled=len(seen.varied_after.runs),
            differ=tuple(variant.label for variant, _ in seen.same.varied),
            reproducers=tuple(shown_path(path) for path in reproducers),
        )

    def _checked(self, eager: ArmResult) -> ArmResult:
        if eager.error is not None:
            raise WorkloadError(
                eager.error if eager.error_kind == "workload" else f"the original does not run: {eager.error}"
            )
        return eager

    def _both(self, one: Callable[[], _One], two: Callable[[], _Two]) -> tuple[_One, _Two]:
        """Runs an eager and a compiling worker, at the same time where there is a core for each."""
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        if cores < _CORES or world_size() > 1:
            return one(), two()
        with ThreadPoolExecutor(max_workers=2) as pool:
            left, right = pool.submit(one), pool.submit(two)
            return left.result(), right.result()

    def _run_varied(self, request: WorkerRequest, key: str) -> tuple[ArmResult, VariedResult]:
        self.progress(f"{request.name}: starting")
        return run_varied(request, self._cache(key), self.progress)

    def _again(self, before: Overlay, after: VariedResult) -> list[str]:
        """What is compiled again for each new size, where the original is not."""
        if not after.resized:
            return []
        request = self._request("sizes", "original, other sizes", "observe", before, True, None)
        options = replace(self.options, backend="eager", mode="default", calls=1)
        _, varied = self._run_varied(
            replace(request, options=options, vary_s=COMPILED_S, variants=(), sizes=after.sizes), "sizes"
        )
        if varied.error is not None or varied.resized:
            return []
        return [
            f"{event.function} ({event.path}:{event.line}) is compiled again for each new size: {event.reason}"
            for event in _shown_events(after.resized)
        ]

    def _assumptions(self) -> frozenset[str]:
        return assumed(self.patchset)

    def _compared_speedup(self, phases: Phases, timings: Timings) -> Speedups | None:
        return phases.speedups(timings, COMPARED, "after", self.options.seed) if self.compare_with else None

    def _nothing_to_change(self, eager: ArmResult, before: ArmResult) -> Verdict:
        nothing = Overlay()
        timings = self._timings({"eager": (eager, nothing), "before": (before, nothing)}, eager)
        sites = count_text(len(before.break_sites), "break site")
        return Verdict(
            verdict="not-proved",
            reasons=(f"nothing to change: there is no fix to measure, and the code has {sites}",),
            eager=_shown("eager", eager, timings, eager),
            before=_shown("before", before, timings, eager),
            after=Arm(error="not run: there is nothing to change"),
            speedup=Speedups(),
            parity=Parity.all("not-run"),
            environment=self._environment(eager),
        )

    def _run(
        self, key: str, name: str, overlay: Overlay, compiled: bool, boundary: str | None = None, role: Role = "observe"
    ) -> ArmResult:
        request = self._request(key, name, role, overlay, compiled, boundary)
        self.progress(f"{name}: starting")
        return run_arm(request, self._cache(key), self.progress)

    def _request(
        self, key: str, name: str, role: Role, overlay: Overlay, compiled: bool, boundary: str | None
    ) -> WorkerRequest:
        return WorkerRequest(
            name=name,
            role=role,
            compiled=compiled,
            workload=self.workload,
            options=self.options,
            folder=self.folder / f"{key}-{role}",
            overlay=overlay,
            boundary=boundary,
        )

    def _cache(self, key: str) -> Path:
        return self.folder / f"{key}-cache"

    def _parity(self, same: Equivalence, arm: ArmResult, baseline: ArmResult | None) -> Parity:
        # Imported late, so that everything else here can be loaded without torch.
        from compilefix.measuring.parity import compare

        wide = same.varied_original.reference
        return compare(same.original, arm, baseline, self.options, wide=wide, assumptions=self._assumptions())

    def _timings(self, arms: Mapping[str, tuple[ArmResult, Overlay]], eager: ArmResult) -> Timings:
        if self.options.repeats == 0 or eager.raised:
            return Timings({}, {}, {})
        phases = Phases(eager.trains).names
        shares = not any(result.mutates_inputs for result, _ in arms.values())
        requests = {}
        for key, (result, overlay) in arms.items():
            if result.error is None and not result.raised:
                boundary = self.patchset.boundary if key == "after" else None
                request = self._request(key, f"timing, {key}", "time", overlay, key != "eager", boundary)
                requests[key] = replace(request, time_phases=phases, time_shares_inputs=shares)
        if self.compare_with is not None and "after" in requests:
            requests[COMPARED] = compared_request(requests["after"], self.compare_with, self.options)
        return measure(requests, {key: self._cache(key) for key in requests}, self.progress)

    def _fixes(self, single: Sequence[tuple[Finding, PatchSet]], seen: _Seen) -> tuple[tuple[FixVerdict, ...], str]:
        """What is said of each fix, and of the smallest set that differs where no fix alone does."""
        request = self._request("eager", "original, eager", "observe", Overlay(), False, None)
        judge = Judge(
            request,
            seen.same.original,
            seen.same.varied_original,
            seen.before,
            self.options,
            self.folder / "fixes",
            self.progress,
        )
        alone = {(item.code, item.path, item.line): item for item in judged_alone(judge, single)}
        found = tuple(
            alone.get((fix.code, fix.path, fix.span.line)) or fix_verdict(fix, "not-measured", "")
            for fix in self.patchset.fixes
        )
        explained = seen.same.whole.holds or any(item.verdict == "different" for item in found)
        if self.build is None or explained:
            return found, ""
        culprits = smallest_failing(judge, self.patchset.fixes, self.build)
        named = ", ".join(f"{fix.code} at {fix.path}:{fix.span.line}" for fix in culprits)
        return found, f"the smallest set of fixes that differs: {named}" if named else ""

    def _environment(self, eager: ArmResult) -> Mapping[str, str]:
        measured = {
            "workload": self.workload,
            "calls": str(self.options.calls),
            "repeats": str(self.options.repeats),
            "trains": eager.trains,
            **({"compared": self.compare_with} if self.compare_with else {}),
        }
        return {**eager.environment, **measured}


def _shown(name: str, result: ArmResult, timings: Timings, eager: ArmResult) -> Arm:
    shown = Arm(
        break_sites=tuple(replace(site, path=shown_path(site.path)) for site in result.break_sites),
        graphs_per_call=result.graphs_per_call,
        recompiles=_shown_events(result.recompiles),
        skipped_frames=_shown_events(result.skipped_frames),
        compile_s=result.compile_s,
        first_call_s=result.first_call_s,
        error=result.error,
        notes=result.notes,
        late_recompiles=_shown_events(result.late_recompiles),
    )
    return Phases(eager.trains).with_times(shown, name, timings)


def _shown_events(events: Sequence[FrameEvent]) -> tuple[FrameEvent, ...]:
    return tuple(replace(event, path=shown_path(event.path)) for event in events)
