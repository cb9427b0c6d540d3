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
from compilefix.measuring.judging import (
    count_text,
    doubts_of,
    failures_of,
    gains_of,
    judged,
    sites_text,
    weight,
)
from compilefix.measuring.overlays import overlays, probed_overlays, shown_path
from compilefix.measuring.process import run_arm
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
) -> Verdict:
    """Measures the workload with the files before and after the patch set, whatever of the two is on disk.

    Each arm runs in a process of its own, so that a crash or a hang is a result. `single_fix_patchsets` gives, for
    each fix to be judged alone, the patch set that has only this fix. `compare_with` is another workload to be timed in
    the same run. Raises WorkloadError when the original cannot be
    run at all: then there is nothing to compare with.
    """
    for spec in (workload, *([compare_with] if compare_with else [])):
        split_spec(spec)
    with tempfile.TemporaryDirectory(prefix="compilefix-", ignore_cleanup_errors=True) as folder:
        return _Measurement(patchset, workload, options, progress, Path(folder), compare_with).verdict(
            single_fix_patchsets
        )


@dataclass(frozen=True)
class _Measurement:
    patchset: PatchSet
    workload: str
    options: Options
    progress: Progress
    folder: Path
    compare_with: str | None = None

    def verdict(self, single_fix_patchsets: Sequence[tuple[Finding, PatchSet]]) -> Verdict:
        """Runs everything that can be run."""
        before, after = overlays(self.patchset)
        if not self.patchset:
            eager = self._checked(self._run("eager", "original, eager", before, compiled=False))
            return self._nothing_to_change(eager, self._run("before", "original, compiled", before, compiled=True))
        probed = probed_overlays(self.patchset)
        original = self._request("eager", "original, eager", "observe", probed.before, False, None)
        original = replace(original, vary_s=ORIGINAL_S, probes=tuple(probe.key for probe in probed.in_before))
        patched = self._request("eager-after", "patched, eager", "observe", probed.after, False, None)
        first, compiled_before = self._both(
            lambda: self._run_varied(original, "eager"),
            lambda: self._run("before", "original, compiled", before, compiled=True),
        )
        eager = self._checked(first[0])
        patched = replace(patched, vary_s=PATCHED_S, variants=tuple(run.variant for run in first[1].runs))
        compiling = self._request("after", "patched, compiled", "observe", after, True, self.patchset.boundary)
        compiling = replace(compiling, vary_s=COMPILED_S, variants=for_compiled(first[1]), sizes=sizes(first[1]))
        second, third = self._both(
            lambda: self._run_varied(patched, "eager-after"), lambda: self._run_varied(compiling, "after")
        )
        same = compared_eager(first, second, probed, self.options, self._assumptions())
        compiled_after = third[0]
        varied_compiled = compared_compiled(first[1], third[1], self.options, self._assumptions())
        parity = same.whole.joined(self._parity(same, compiled_after, compiled_before)).joined(varied_compiled)
        arms = {"eager": (eager, before), "before": (compiled_before, before), "after": (compiled_after, after)}
        timings = self._timings(arms, eager)
        phases = Phases(eager.trains)
        speedups = phases.speedups(timings, "before", "after", self.options.seed)
        fixes = self._fixes(single_fix_patchsets, same, compiled_before)
        shown = {name: _shown(name, result, timings, eager) for name, (result, _) in arms.items()}
        failures = failures_of(shown["before"], shown["after"], same.patched, parity, speedups)
        failures += self._again(before, third[1])
        gains = gains_of(shown["before"], shown["after"], speedups)
        doubts = doubts_of(same.coverage, same.note, parity, timings)
        promised = bool(self.patchset.fixes)
        judgement, reasons = judged(shown["before"], shown["after"], failures, gains, doubts, promised)
        return Verdict(
            verdict=judgement,
            reasons=(*reasons, *parity.notes, *time_notes(timings, speedups)),
            eager=shown["eager"],
            before=shown["before"],
            after=shown["after"],
            speedup=speedups,
            parity=parity,
            coverage=same.coverage,
            coverage_note=same.note,
            variation=Variation(same.tried, len(third[1].runs), tuple(v.label for v, _ in same.varied)),
            fixes=fixes,
            environment=self._environment(eager),
            compared=phases.with_times(Arm(), COMPARED, timings) if self.compare_with else None,
            compared_speedup=self._compared_speedup(phases, timings),
        )

    def _checked(self, eager: ArmResult) -> ArmResult:
        if eager.error is not None:
            raise WorkloadError(
                eager.error if eager.error_kind == "workload" else f"the original does not run: {eager.error}"
            )
        return eager

    def _both(self, one: Callable[[], _One], two: Callable[[], _Two]) -> tuple[_One, _Two]:
        """Runs an eager and a compiling worker, at the same time where there is a core for each."""
        if len(os.sched_getaffinity(0)) < _CORES if hasattr(os, "sched_getaffinity") else True:
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
        return frozenset(name for fix in self.patchset.fixes if fix.fix is not None for name in fix.fix.assumptions)

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

    def _fixes(
        self, single: Sequence[tuple[Finding, PatchSet]], same: Equivalence, before: ArmResult
    ) -> tuple[FixVerdict, ...]:
        measured = {
            (fix.code, fix.path, fix.span): self._one_fix(index, fix, patchset, same, before)
            for index, (fix, patchset) in enumerate(single)
        }
        return tuple(
            measured.get((fix.code, fix.path, fix.span)) or _fix_verdict(fix, "not-measured", "")
            for fix in self.patchset.fixes
        )

    def _one_fix(
        self, index: int, fix: Finding, patchset: PatchSet, same: Equivalence, before: ArmResult
    ) -> FixVerdict:
        _, overlay = overlays(patchset)
        name = f"only {fix.code} at {fix.path}:{fix.span.line}"
        alone = self._run(f"fix-{index}", name, overlay, compiled=True, boundary=patchset.boundary)
        if alone.error is not None:
            return _fix_verdict(fix, "error", alone.error)
        parity = self._parity(same, alone, before)
        if not parity.holds:
            return _fix_verdict(fix, "different", str(parity.first_difference or ""))
        if alone.graphs_per_call == 0:
            return _fix_verdict(fix, "no-gain", "no graph was compiled")
        if weight(alone) < weight(before):
            return _fix_verdict(fix, "proved", f"{sites_text(before)} before, {sites_text(alone)} with this fix alone")
        return _fix_verdict(fix, "no-gain", f"{sites_text(before)} before, {sites_text(alone)} with this fix alone")

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


def _fix_verdict(fix: Finding, judgement: str, reason: str) -> FixVerdict:
    assumptions = fix.fix.assumptions if fix.fix is not None else ()
    return FixVerdict(fix.code, fix.path, fix.span.line, assumptions, judgement, reason)  # type: ignore[arg-type]
