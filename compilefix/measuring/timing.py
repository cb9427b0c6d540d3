"""Times arms against each other: their workers stay warm at the same time and take turns, block by block.

Machines drift: clocks fall as a chip warms up. Arms that alternate (a b b a) drift together, and the ratio stays true.
"""

from __future__ import annotations

import contextlib
import functools
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compilefix.measuring.process import Worker, WorkerFailed
from compilefix.measuring.request import WorkerRequest

BLOCK_MS = 100.0
MAX_CALLS_PER_BLOCK = 100
MAX_CALLS_WITH_OWN_INPUTS = 16
RESAMPLES = 2000


@dataclass(frozen=True)
class Latency:
    """Milliseconds per call over all samples."""

    median: float
    p05: float
    p95: float
    n: int


@dataclass(frozen=True)
class Speedup:
    """Before over after, with a 95 % interval."""

    ratio: float
    low: float
    high: float

    @property
    def measured(self) -> bool:
        """Whether the interval excludes "no change"."""
        return not self.low <= 1.0 <= self.high


@dataclass(frozen=True)
class Timings:
    """What the timed arms took. `blocks` are the samples in ms by phase and arm; `errors` name arms without samples."""

    blocks: Mapping[str, Mapping[str, Sequence[Sequence[float]]]]
    peak_memory_bytes: Mapping[str, int | None]
    errors: Mapping[str, str]

    def latency(self, phase: str, arm: str) -> Latency | None:
        """The latency of an arm, or None where it was not timed."""
        samples = sorted(sample for block in self.blocks.get(phase, {}).get(arm, ()) for sample in block)
        return latency(samples) if samples else None

    def speedup(self, phase: str, before: str, after: str, seed: int) -> Speedup | None:
        """How much faster `after` is than `before`, or None where one of them was not timed."""
        arms = self.blocks.get(phase, {})
        if not arms.get(before) or not arms.get(after):
            return None
        return speedup(arms[before], arms[after], seed)


def measure(
    requests: Mapping[str, WorkerRequest],
    caches: Mapping[str, Path],
    progress: Callable[[str], None],
) -> Timings:
    """Times the arms of the requests (role "time"). An arm that fails is left out and named in `errors`."""
    errors: dict[str, str] = {}
    peaks: dict[str, int | None] = {}
    blocks: dict[str, dict[str, list[list[float]]]] = {}
    with contextlib.ExitStack() as stack:
        workers: dict[str, Worker] = {}
        estimates: dict[str, dict[str, float]] = {}
        for name, request in requests.items():
            # One after the other: two compilations at once would disturb each other's warm-up.
            worker = stack.enter_context(Worker(request, caches[name], progress))
            if (answer := _answered(worker.answer, name, errors)) is not None:
                workers[name], estimates[name] = worker, answer["estimate_ms"]
        options = next(iter(requests.values())).options
        phases = next(iter(requests.values())).time_phases
        for phase in phases:
            blocks[phase] = {name: [] for name in workers}
            sets_share = all(request.time_shares_inputs for request in requests.values())
            calls = _calls_per_block([estimates[name][phase] for name in workers], sets_share)
            for turn in range(options.repeats):
                progress(f"timing {phase}: round {turn + 1} of {options.repeats}")
                for name in _order(list(workers), turn):
                    command = {"phase": phase, "calls": calls}
                    answer = _answered(functools.partial(workers[name].ask, command), name, errors)
                    if answer is None:
                        del workers[name]
                        del blocks[phase][name]
                    else:
                        blocks[phase][name].append(answer["samples_ms"])
        for name, worker in workers.items():
            if (answer := _answered(functools.partial(worker.ask, {"finish": True}), name, errors)) is not None:
                peaks[name] = answer["peak_memory_bytes"]
    return Timings(blocks, peaks, errors)


def latency(samples: Sequence[float]) -> Latency:
    """Median and 5th and 95th percentile (nearest rank) of samples in ms."""
    ordered = sorted(samples)
    return Latency(statistics.median(ordered), _rank(ordered, 0.05), _rank(ordered, 0.95), len(ordered))


def speedup(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]], seed: int) -> Speedup:
    """The ratio of the medians of the blocks' medians, with a bootstrap interval.

    Samples of one block are not independent, so rounds are drawn, not samples; a round gives both arms' blocks, which
    keeps what drifted together.
    """
    rounds = min(len(before), len(after))
    old = [statistics.median(block) for block in before[:rounds]]
    new = [statistics.median(block) for block in after[:rounds]]
    ratio = statistics.median(old) / statistics.median(new)
    draw = random.Random(seed)
    ratios = []
    for _ in range(RESAMPLES):
        chosen = draw.choices(range(rounds), k=rounds)
        ratios.append(statistics.median(old[i] for i in chosen) / statistics.median(new[i] for i in chosen))
    ratios.sort()
    return Speedup(ratio, min(ratio, _rank(ratios, 0.025)), max(ratio, _rank(ratios, 0.975)))


def _answered(ask: Callable[[], dict[str, Any]], name: str, errors: dict[str, str]) -> dict[str, Any] | None:
    try:
        answer = ask()
    except WorkerFailed as failure:
        errors[name] = str(failure)
        return None
    if answer.get("error"):
        errors[name] = str(answer["error"])
        return None
    return answer


def _order(names: list[str], turn: int) -> list[str]:
    return names if turn % 2 == 0 else names[::-1]


def _calls_per_block(estimates: Sequence[float], shared: bool) -> int:
    slowest = max(estimates, default=BLOCK_MS)
    most = MAX_CALLS_PER_BLOCK if shared else MAX_CALLS_WITH_OWN_INPUTS
    return max(1, min(most, int(BLOCK_MS / max(slowest, 1e-3))))


def _rank(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, max(0, round(share * (len(ordered) - 1))))]
