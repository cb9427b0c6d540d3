"""Verifies a patch set: runs all arms of a workload and judges what was seen."""

from __future__ import annotations

import io
import tempfile
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compilefix.codemods.finding import Finding
from compilefix.fixing.patchset import FileChange, PatchSet
from compilefix.measuring.branches import branch_lines, instrumented
from compilefix.measuring.process import run_arm
from compilefix.measuring.request import (
    ArmResult,
    BreakSite,
    FrameEvent,
    NewModule,
    Options,
    Overlay,
    Role,
    WorkerRequest,
    WorkloadError,
    split_spec,
)
from compilefix.measuring.timed_arms import COMPARED, Phases, compared_request, time_notes
from compilefix.measuring.timing import Speedup, Timings, measure
from compilefix.measuring.verdict_model import (
    Arm,
    BranchCoverage,
    FixVerdict,
    Judgement,
    Parity,
    Speedups,
    Verdict,
)

__all__ = ["Options", "Verdict", "WorkloadError", "verify"]

Progress = Callable[[str], None]


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
        eager = self._run("eager", "original, eager", before, compiled=False)
        if eager.error is not None:
            raise WorkloadError(
                eager.error if eager.error_kind == "workload" else f"the original does not run: {eager.error}"
            )
        compiled_before = self._run("before", "original, compiled", before, compiled=True)
        if not self.patchset:
            return self._nothing_to_change(eager, compiled_before)
        compiled_after = self._run("after", "patched, compiled", after, compiled=True, boundary=self.patchset.boundary)
        eager_after = self._run("eager-after", "patched, eager", after, compiled=False)
        parity = self._parity(eager, compiled_after, compiled_before).joined(self._parity(eager, eager_after, None))
        coverage, coverage_note = self._coverage(before)
        arms = {"eager": (eager, before), "before": (compiled_before, before), "after": (compiled_after, after)}
        timings = self._timings(arms, eager)
        phases = Phases(eager.trains)
        speedups = phases.speedups(timings, "before", "after", self.options.seed)
        fixes = self._fixes(single_fix_patchsets, eager, compiled_before)
        shown = {name: _shown(name, result, timings, eager) for name, (result, _) in arms.items()}
        failures = _failures(shown["before"], shown["after"], eager_after, parity, speedups)
        gains = _gains(shown["before"], shown["after"], speedups)
        doubts = _doubts(coverage, coverage_note, parity, timings)
        judgement, reasons = _judged(shown["before"], shown["after"], failures, gains, doubts)
        return Verdict(
            verdict=judgement,
            reasons=(*reasons, *parity.notes, *time_notes(timings, speedups)),
            eager=shown["eager"],
            before=shown["before"],
            after=shown["after"],
            speedup=speedups,
            parity=parity,
            coverage=coverage,
            coverage_note=coverage_note,
            fixes=fixes,
            environment=self._environment(eager),
            compared=phases.with_times(Arm(), COMPARED, timings) if self.compare_with else None,
            compared_speedup=self._compared_speedup(phases, timings),
        )

    def _compared_speedup(self, phases: Phases, timings: Timings) -> Speedups | None:
        return phases.speedups(timings, COMPARED, "after", self.options.seed) if self.compare_with else None

    def _nothing_to_change(self, eager: ArmResult, before: ArmResult) -> Verdict:
        nothing = Overlay()
        timings = self._timings({"eager": (eager, nothing), "before": (before, nothing)}, eager)
        sites = len(before.break_sites)
        return Verdict(
            verdict="not-proved",
            reasons=(f"nothing to change: there is no fix to measure, and the code has {_count(sites, 'break site')}",),
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

    def _parity(self, reference: ArmResult, arm: ArmResult, baseline: ArmResult | None) -> Parity:
        # Imported late, so that everything else here can be loaded without torch.
        from compilefix.measuring.parity import compare

        return compare(reference, arm, baseline, self.options)

    def _coverage(self, before: Overlay) -> tuple[tuple[BranchCoverage, ...], str]:
        sources = dict(before.sources)
        branches: list[tuple[Path, int]] = []
        for change in self.patchset:
            spans = [fix.span for fix in change.fixes]
            if change.before is None:
                continue
            for line in branch_lines(change.before, change.after, spans):
                branches.append((change.path, line))
                sources[change.path.resolve()] = instrumented(change.before, change.after, spans, str(change.path))
        if not branches:
            return (), "no branch was rewritten"
        overlay = Overlay(tuple(sources.items()), before.new_modules)
        found = self._run("cover", "branches of the original", overlay, compiled=False, role="cover")
        if found.error is not None:
            return (), f"not measured: {found.error}"
        counts = {branch: found.branches.get(f"{branch[0]}:{branch[1]}", (0, 0)) for branch in branches}
        return tuple(BranchCoverage(shown_path(p), line, *hits) for (p, line), hits in sorted(counts.items())), ""

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
        self, single: Sequence[tuple[Finding, PatchSet]], eager: ArmResult, before: ArmResult
    ) -> tuple[FixVerdict, ...]:
        measured = {
            (fix.code, fix.path, fix.span): self._one_fix(index, fix, patchset, eager, before)
            for index, (fix, patchset) in enumerate(single)
        }
        return tuple(
            measured.get((fix.code, fix.path, fix.span)) or _fix_verdict(fix, "not-measured", "")
            for fix in self.patchset.fixes
        )

    def _one_fix(self, index: int, fix: Finding, patchset: PatchSet, eager: ArmResult, before: ArmResult) -> FixVerdict:
        _, overlay = overlays(patchset)
        name = f"only {fix.code} at {fix.path}:{fix.span.line}"
        alone = self._run(f"fix-{index}", name, overlay, compiled=True, boundary=patchset.boundary)
        if alone.error is not None:
            return _fix_verdict(fix, "error", alone.error)
        parity = self._parity(eager, alone, before)
        if not parity.holds:
            return _fix_verdict(fix, "different", str(parity.first_difference or ""))
        if alone.graphs_per_call == 0:
            return _fix_verdict(fix, "no-gain", "no graph was compiled")
        if _weight(alone) < _weight(before):
            return _fix_verdict(fix, "proved", f"{_sites(before)} before, {_sites(alone)} with this fix alone")
        return _fix_verdict(fix, "no-gain", f"{_sites(before)} before, {_sites(alone)} with this fix alone")

    def _environment(self, eager: ArmResult) -> Mapping[str, str]:
        measured = {
            "workload": self.workload,
            "calls": str(self.options.calls),
            "repeats": str(self.options.repeats),
            "trains": eager.trains,
            **({"compared": self.compare_with} if self.compare_with else {}),
        }
        return {**eager.environment, **measured}


def overlays(patchset: PatchSet) -> tuple[Overlay, Overlay]:
    """What each arm must be served: of each file, the text that is not the one on disk.

    A patch set that was not written needs an overlay for the arm after, one that compares a revision with the working
    tree for the arm before. An empty `after` of a file that is not on disk stands for a deleted file.
    """
    before = _Sides([], [])
    after = _Sides([], [])
    for change in patchset:
        on_disk = _text_on_disk(change.path)
        if change.before is not None and change.before != on_disk:
            before.add(change, change.before, on_disk)
        if change.after != on_disk and not (on_disk is None and change.after == ""):
            after.add(change, change.after, on_disk)
    return before.overlay(), after.overlay()


def shown_path(path: Path | str) -> str:
    """The path relative to the working directory where it is below it."""
    try:
        return Path(path).resolve().relative_to(Path.cwd().resolve()).as_posix()
    except ValueError:
        return str(path)


@dataclass(frozen=True)
class _Sides:
    sources: list[tuple[Path, str]]
    new_modules: list[NewModule]

    def add(self, change: FileChange, text: str, on_disk: str | None) -> None:
        if on_disk is None:
            self.new_modules.append(NewModule(change.module, change.path.resolve(), text))
        else:
            self.sources.append((change.path.resolve(), text))

    def overlay(self) -> Overlay:
        return Overlay(tuple(self.sources), tuple(self.new_modules))


def _text_on_disk(path: Path) -> str | None:
    try:
        data = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError):
        return None


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
    )
    return Phases(eager.trains).with_times(shown, name, timings)


def _shown_events(events: Sequence[FrameEvent]) -> tuple[FrameEvent, ...]:
    return tuple(replace(event, path=shown_path(event.path)) for event in events)


def _judged(
    before: Arm, after: Arm, failures: Sequence[str], gains: Sequence[str], doubts: Sequence[str]
) -> tuple[Judgement, tuple[str, ...]]:
    if failures:
        return "not-proved", tuple(failures)
    clean = not after.break_sites and not after.skipped_frames and not after.recompiles
    if not gains and not clean:
        sites = f"{_sites(before)} before and {_sites(after)} after"
        return "not-proved", (f"nothing was gained: {sites}, and no speedup was measured",)
    return ("unverified" if doubts else "proved"), (*doubts, *(gains or ("no break site before and after",)))


def _doubts(
    coverage: Sequence[BranchCoverage], coverage_note: str, parity: Parity, timings: Timings
) -> tuple[str, ...]:
    found = [
        f"{branch.path}:{branch.line}: this condition was never {side}, so that side of the branch is not verified"
        for branch in coverage
        for side, hits in (("true", branch.true), ("false", branch.false))
        if hits == 0
    ]
    if not coverage and coverage_note.startswith("not measured"):
        found.append(f"which sides of the branches the inputs reach is unknown: {coverage_note}")
    found += [f"{name} were not compared" for name, status in parity.aspects().items() if status == "not-run"]
    untimed = {name: error for name, error in timings.errors.items() if name != COMPARED}
    found += [f"the arm {name!r} could not be timed: {error}" for name, error in untimed.items()]
    return tuple(found)


def _failures(before: Arm, after: Arm, eager_after: ArmResult, parity: Parity, speedups: Speedups) -> list[str]:
    found = []
    if after.first_call_s is None:
        found.append(f"the patched code does not run compiled: {after.error}")
    elif after.graphs_per_call == 0:
        found.append("the patched code ran no compiled graph at all, so nothing was compiled")
    if eager_after.error is not None:
        found.append(f"the patched code does not run eager: {eager_after.error}")
    if not parity.holds:
        names = [name for name, status in parity.aspects().items() if status in ("different", "error")]
        first = f"; first difference: {parity.first_difference}" if parity.first_difference else ""
        found.append(f"not the same as the original: {', '.join(names)}{first}")
    for phase, item in (("inference", speedups.inference), ("training", speedups.training)):
        if item is not None and item.high < 1.0:
            found.append(f"{phase} is slower: {_ratio(item)}")
    new = len(after.break_sites) - len(before.break_sites)
    if new > 0 and before.first_call_s is not None:
        found.append(f"{_sites(before)} before, {_sites(after)} after")
    return found


def _gains(before: Arm, after: Arm, speedups: Speedups) -> list[str]:
    found = []
    if before.first_call_s is None and after.first_call_s is not None:
        found.append(f"the original does not run compiled: {before.error}")
    for word, old, new in (
        ("break site", len(before.break_sites), len(after.break_sites)),
        ("skipped function", len(before.skipped_frames), len(after.skipped_frames)),
        ("recompile", _total(before.recompiles), _total(after.recompiles)),
    ):
        if new < old:
            found.append(f"{_count(old, word)} before, {_count(new, word)} after")
    for phase, item in (("inference", speedups.inference), ("training", speedups.training)):
        if item is not None and item.low > 1.0:
            found.append(f"{phase} is faster: {_ratio(item)}")
    return found


def _weight(result: ArmResult) -> tuple[int, int, int]:
    return len(result.break_sites), len(result.skipped_frames), _total(result.recompiles)


def _total(events: Sequence[FrameEvent]) -> int:
    return sum(event.count for event in events)


def _sites(arm: Arm | ArmResult) -> str:
    sites: Sequence[BreakSite] = arm.break_sites
    return _count(len(sites), "break site")


def _count(number: int, word: str) -> str:
    return f"no {word}" if number == 0 else f"{number} {word}{'' if number == 1 else 's'}"


def _ratio(item: Speedup) -> str:
    return f"{item.ratio:.3g}x (95% interval {item.low:.3g} to {item.high:.3g})"


def _fix_verdict(fix: Finding, judgement: str, reason: str) -> FixVerdict:
    assumptions = fix.fix.assumptions if fix.fix is not None else ()
    return FixVerdict(fix.code, fix.path, fix.span.line, assumptions, judgement, reason)  # type: ignore[arg-type]
