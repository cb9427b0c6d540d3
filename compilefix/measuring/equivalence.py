"""Runs the original and the patched code side by side, eager, on the workload's inputs and on varied ones."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compilefix.measuring.overlays import Probed
from compilefix.measuring.probes import Probe
from compilefix.measuring.process import Worker, WorkerFailed
from compilefix.measuring.request import (
    ROUNDING,
    STRIDED,
    ArmResult,
    Options,
    Variant,
    VariedResult,
    VariedRun,
    WorkerRequest,
)
from compilefix.measuring.verdict_model import BranchCoverage, Difference, Parity, Side

ORIGINAL_S = 15.0
"""For how long the original may be run with varied inputs; a search for unreached sides may take as long again."""
PATCHED_S = 120.0
COMPILED_S = 20.0
_VALUES = 8
_SIZES = 4


@dataclass(frozen=True)
class Equivalence:
    """What the eager comparison saw.

    `varied` holds the comparisons on varied inputs that differ, with the variant; `tried` is how many there were.
    """

    original: ArmResult
    patched: ArmResult
    parity: Parity
    varied_original: VariedResult = field(default_factory=VariedResult)
    varied: tuple[tuple[Variant, Parity], ...] = ()
    tried: int = 0
    coverage: tuple[BranchCoverage, ...] = ()
    note: str = ""

    @property
    def whole(self) -> Parity:
        """Both comparisons in one; a difference on the workload's own inputs is told first."""
        found = self.parity
        for _, parity in self.varied:
            found = found.joined(parity)
        return found


def run_varied(request: WorkerRequest, cache: Path, progress: Callable[[str], None]) -> tuple[ArmResult, VariedResult]:
    """Runs an arm on the workload's inputs and then on varied ones. A worker that dies keeps what it had finished."""
    with Worker(request, cache, progress) as worker:
        try:
            base = ArmResult.from_dict(worker.answer())
        except WorkerFailed as failure:
            return ArmResult(error=str(failure), error_kind="run"), VariedResult(error=str(failure))
        if base.error is not None or not request.vary_s:
            return base, VariedResult(error=base.error)
        try:
            answer = worker.answer()
        except WorkerFailed as failure:
            return base, replace(_finished(request.folder), error=str(failure))
        if "runs" not in answer:  # the worker's own last words instead
            return base, replace(_finished(request.folder), error=ArmResult.from_dict(answer).error)
        return base, VariedResult.from_dict(answer)


def compared_eager(
    one: tuple[ArmResult, VariedResult],
    two: tuple[ArmResult, VariedResult],
    probed: Probed,
    options: Options,
    assumptions: frozenset[str],
) -> Equivalence:
    """Compares the original with the patched code, both run eager."""
    (first, tried), (second, repeated) = one, two
    variants = tuple(item.variant for item in tried.runs)
    # Imported late, so that everything else here can be loaded without torch.
    from compilefix.measuring.parity import compare, one_thread
    from compilefix.measuring.varied_parity import compare_varied

    parity = compare(first, second, None, options, eager=True, wide=tried.reference, assumptions=assumptions)
    with one_thread():
        varied = list(compare_varied(tried, repeated, options, True, assumptions)) if second.error is None else []
    differ = [(variant, item) for variant, item in varied if not item.holds]
    if second.error is None and repeated.error is not None and len(repeated.runs) < len(variants):
        differ.append(_died(tried.runs[len(repeated.runs)], repeated.error))
    coverage = (
        *covered(probed.in_before, first, tried),
        *covered(probed.in_after, second, repeated, "patched"),
    )
    note = "" if tried.error is None else f"varying the inputs ended early: {tried.error}"
    return Equivalence(first, second, parity, tried, tuple(differ), len(varied), coverage, note)


def compared_compiled(
    original: VariedResult, compiled: VariedResult, options: Options, assumptions: frozenset[str]
) -> list[tuple[Variant, Parity]]:
    """The variants on which compiled code differs from the eager original, of those that it has run."""
    from compilefix.measuring.parity import one_thread
    from compilefix.measuring.varied_parity import compare_varied

    wanted = {run.variant for run in compiled.runs}
    once = [replace(run, variant=replace(run.variant, calls=1)) for run in original.runs]
    asked = replace(original, runs=tuple(run for run in once if run.variant in wanted))
    with one_thread():
        found = list(compare_varied(asked, compiled, options, False, assumptions))
    return [(variant, parity) for variant, parity in found if not parity.holds]


def for_compiled(original: VariedResult) -> tuple[Variant, ...]:
    """The variants that are worth running compiled: those that reach new sides first, other values, one other size.

    Values can be changed without compiling again. Numbers that are no tensors, and modes, cannot.
    """
    runs = [run for run in original.runs if run.variant.mode in ("as given", "large parameters")]
    values = [run for run in runs if not run.variant.resized and not run.variant.scalars]
    values = [run for run in values if not run.variant.name.startswith((ROUNDING, STRIDED))]
    values.sort(key=lambda run: -len(run.reached))
    sized = [run.variant for run in runs if run.variant.resized and run.variant.name.split()[-1] not in "01"]
    return (*(replace(run.variant, calls=1) for run in values[:_VALUES]), *(replace(v, calls=1) for v in sized[:1]))


def sizes(original: VariedResult) -> tuple[Variant, ...]:
    """The variants of one dimension's size that the original takes without an error."""
    runs = [run.variant for run in original.runs if run.variant.resized and not run.raised]
    kept = [variant for variant in runs if variant.name.split()[-1] not in "01"]
    return tuple(variant for variant in kept if variant.name.split()[1] == kept[0].name.split()[1])[:_SIZES]


def covered(
    probes: Sequence[Probe], base: ArmResult, varied: VariedResult, side: Side = "original"
) -> Iterator[BranchCoverage]:
    """What each probe saw, over all inputs."""
    hits = _hits(base, varied)
    for probe in probes:
        true, false = hits.get(probe.key, (0, 0))
        yield BranchCoverage(probe.path, probe.line, true, false, probe.column + 1, probe.text, probe.kind, side)


def _died(run: VariedRun, error: str) -> tuple[Variant, Parity]:
    parity = replace(Parity.all("not-run"), exceptions="error")
    text = f"the original {'raised' if run.raised else 'returned'}, the process of the patched code died: {error}"
    return run.variant, replace(parity, first_difference=Difference("exceptions", run.variant.label, text))


def _finished(folder: Path) -> VariedResult:
    runs: list[VariedRun] = []
    with contextlib.suppress(OSError, ValueError):
        for line in (folder / "runs.jsonl").read_text(encoding="utf-8").splitlines():
            runs += VariedResult.from_dict(json.loads(line)).runs
    return VariedResult(tuple(runs))


def _hits(base: ArmResult, varied: VariedResult) -> Mapping[str, tuple[int, int]]:
    if varied.branches or not varied.runs:
        return varied.branches or base.branches
    # The worker died before it could say its counts: what each run was the first to reach is known.
    found = dict(base.branches)
    for run in varied.runs:
        for key in run.reached:
            true, false = found.get(key[1:], (0, 0))
            found[key[1:]] = (true + 1, false) if key[0] == "+" else (true, false + 1)
    return found
