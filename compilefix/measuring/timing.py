"""Times arms against each other: their workers stay warm at the same time and take turns, block by block.

Machines drift: clocks fall as a chip warms up. Arms that alternate (a b b a) drift together, and the ratio stays true.
All of it is done in several processes per arm, one set after the other: see `interval`.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compilefix.measuring.interval import Distribution, Latency, Process, Speedup, distribution, latency, speedup
from compilefix.measuring.process import Worker, WorkerFailed
from compilefix.measuring.ranks import world_size
from compilefix.measuring.request import MIN_REPEATS, WorkerRequest

__all__ = ["Distribution", "Latency", "Speedup", "Timings", "WarmUp", "latency", "measure", "speedup"]

BLOCK_MS = 100.0
MAX_CALLS_PER_BLOCK = 100
MAX_CALLS_WITH_OWN_INPUTS = 16
CALLS_PER_BLOCK_OF_RANKS = 10
"""All ranks of a job must make the same calls, so that the number cannot follow from what one of them measured."""


@dataclass(frozen=True)
class WarmUp:
    """The calls before an arm was timed, and whether they had become steady by then."""

    calls: int
    seconds: float
    steady: bool


@dataclass(frozen=True)
class Timings:
    """What the timed arms took.

    `samples` are ms per call by phase and arm: of each process, of each round. `launches` counts what one call launches
    on the device, by phase and arm; None where that cannot be counted. `warm_ups` are by phase and arm, of the first
    process. `errors` names arms that failed.
    """

    samples: Mapping[str, Mapping[str, Sequence[Process]]]
    peak_memory_bytes: Mapping[str, int | None]
    errors: Mapping[str, str]
    launches: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)
    warm_ups: Mapping[str, Mapping[str, WarmUp]] = field(default_factory=dict)

    def latency(self, phase: str, arm: str) -> Latency | None:
        """The latency of an arm, or None where it was not timed."""
        taken = [one for process in self._of(phase, arm) for block in process for one in block]
        return latency(taken) if taken else None

    def distribution(self, phase: str, arm: str) -> Distribution | None:
        """How the times of an arm lie, or None where it was not timed."""
        processes = self._of(phase, arm)
        return distribution(processes) if any(map(any, processes)) else None

    def speedup(self, phase: str, before: str, after: str, seed: int) -> Speedup | None:
        """How much faster `after` is than `before`, or None where one of them was not timed."""
        old, new = self._of(phase, before), self._of(phase, after)
        if not any(one and other for one, other in zip(old, new, strict=False)):
            return None
        return speedup(old, new, seed)

    def unsteady(self) -> tuple[str, ...]:
        """A sentence for each arm that was still changing its pace when the timing began."""
        return tuple(
            f"{arm} was not steady after {one.calls} calls in {one.seconds:.0f} s of warm-up ({phase}): its times drift"
            for phase, arms in self.warm_ups.items()
            for arm, one in arms.items()
            if not one.steady
        )

    def _of(self, phase: str, arm: str) -> Sequence[Process]:
        return self.samples.get(phase, {}).get(arm, ())


def measure(
    requests: Mapping[str, WorkerRequest],
    caches: Mapping[str, Path],
    progress: Callable[[str], None],
) -> Timings:
    """Times the arms of the requests (role "time"). An arm that fails is left out and named in `errors`.

    Eager arms are timed in one process only: no ratio is claimed for them.
    """
    taken = _Taken()
    if requests:
        options = next(iter(requests.values())).options
        for number, rounds in enumerate(rounds_by_process(options.repeats, options.processes)):
            core = _core(number)
            left = {
                name: replace(
                    request, folder=request.folder.with_name(f"{request.folder.name}-{number}"), time_core=core
                )
                for name, request in requests.items()
                if name not in taken.errors and (number == 0 or request.compiled)
            }
            if left:
                _in_one_process(left, caches, progress, rounds, taken)
    return Timings(taken.samples, taken.peaks, taken.errors, taken.launches, taken.warm_ups)


def rounds_by_process(repeats: int, processes: int) -> tuple[int, ...]:
    """How many rounds each process gets: no process is worth starting for fewer than the fewest that give an interval.

    >>> rounds_by_process(20, 3)
    (7, 7, 6)
    >>> rounds_by_process(8, 3)
    (8,)
    """
    count = max(1, min(processes, repeats // MIN_REPEATS))
    return tuple(repeats // count + (1 if index < repeats % count else 0) for index in range(count))


@dataclass(frozen=True)
class _Taken:
    """What has been measured so far."""

    samples: dict[str, dict[str, list[list[list[float]]]]] = field(default_factory=dict)
    peaks: dict[str, int | None] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    launches: dict[str, dict[str, int | None]] = field(default_factory=dict)
    warm_ups: dict[str, dict[str, WarmUp]] = field(default_factory=dict)


def _in_one_process(
    requests: Mapping[str, WorkerRequest],
    caches: Mapping[str, Path],
    progress: Callable[[str], None],
    rounds: int,
    taken: _Taken,
) -> None:
    with contextlib.ExitStack() as stack:
        workers: dict[str, Worker] = {}
        estimates: dict[str, dict[str, float]] = {}
        for name, request in requests.items():
            workers[name] = stack.enter_context(Worker(request, caches[name], progress))
        _compiled(workers, taken.errors)
        for name in list(workers):
            answer = _answered(functools.partial(workers[name].ask, {"warm_up": True}), name, taken.errors)
            if answer is None:
                del workers[name]
            else:
                estimates[name] = answer["estimate_ms"]
                for phase, took in answer["warm_up"].items():
                    taken.warm_ups.setdefault(phase, {}).setdefault(name, WarmUp(**took))
        shared = all(request.time_shares_inputs for request in requests.values())
        for phase in next(iter(requests.values())).time_phases:
            calls = calls_per_block({name: estimates[name][phase] for name in workers}, shared)
            found: dict[str, list[list[float]]] = {name: [] for name in workers}
            for turn in range(rounds):
                progress(f"timing {phase}: round {turn + 1} of {rounds}")
                for name in _order(list(workers), turn):
                    ask = functools.partial(workers[name].ask, {"phase": phase, "calls": calls[name]})
                    answer = _answered(ask, name, taken.errors)
                    if answer is None:
                        del workers[name]
                        del found[name]
                    else:
                        found[name].append(answer["samples_ms"])
            for name, process in found.items():
                taken.samples.setdefault(phase, {}).setdefault(name, []).append(process)
        for name, worker in workers.items():
            if (answer := _answered(functools.partial(worker.ask, {"finish": True}), name, taken.errors)) is not None:
                taken.peaks.setdefault(name, answer["peak_memory_bytes"])
                for phase, count in answer["launches"].items():
                    taken.launches.setdefault(phase, {}).setdefault(name, count)


def _compiled(workers: dict[str, Worker], errors: dict[str, str]) -> None:
    """Waits until all have loaded and have made their first calls; leaves out those that fail.

    Nothing is timed yet, so that they do it at the same time where there are cores for it. The ranks of a job must
    call in the same order.
    """

    def one(name: str) -> bool:
        loaded = _answered(workers[name].answer, name, errors)
        return (
            loaded is not None
            and _answered(functools.partial(workers[name].ask, {"first_calls": True}), name, errors) is not None
        )

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    together = world_size() == 1 and cores > len(workers)
    with ThreadPoolExecutor(max_workers=len(workers) if together else 1) as pool:
        for name, works in zip(list(workers), pool.map(one, list(workers)), strict=True):
            if not works:
                del workers[name]


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


def calls_per_block(estimates: Mapping[str, float], shared: bool) -> dict[str, int]:
    """How many calls of each arm make a round: about as long for all, so that a fast one has many."""
    most = MAX_CALLS_PER_BLOCK if shared else MAX_CALLS_WITH_OWN_INPUTS
    if world_size() > 1:
        return dict.fromkeys(estimates, CALLS_PER_BLOCK_OF_RANKS)
    return {name: max(1, min(most, int(BLOCK_MS / max(ms, 1e-3)))) for name, ms in estimates.items()}


def _core(number: int) -> int | None:
    """The core for the processes of that number: the same one for all arms. None where it cannot be chosen."""
    if world_size() > 1 or not hasattr(os, "sched_getaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    # From the last: the first ones do more of the system's work.
    return cores[-1 - number % len(cores)]
