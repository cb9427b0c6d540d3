"""What samples say: the latency of an arm, and how much faster one arm is than another, with an interval.

The interval has to hold for the next run too, not only for the processes that happened to be timed. Two things are
therefore taken into account besides the scatter of the samples. Rounds that follow each other are alike, so that blocks
of rounds are drawn, not rounds. And a process as a whole is a little faster or slower than the next one with the same
code (memory layout, clocks, kernels chosen while compiling), so that the arms are timed in several processes, and what
differs between these widens the interval.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

Process = Sequence[Sequence[float]]
"""The samples of one process in ms, by round."""

RESAMPLES = 300

PROCESS_NOISE = 0.01
"""How much processes with the same code are expected to differ, as a share of the time, before anything is seen."""

_PRIOR_WEIGHT = 2
"""How many observed differences between processes that expectation counts for."""

# Student's t, two-sided 95 %, for 2 to 20 degrees of freedom.
_T95 = (
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
    2.228,
    2.201,
    2.179,
    2.160,
    2.145,
    2.131,
    2.120,
    2.110,
    2.101,
    2.093,
)
_T95_MANY = 2.086


@dataclass(frozen=True)
class Latency:
    """Milliseconds per call over all samples."""

    median: float
    p05: float
    p95: float
    n: int


@dataclass(frozen=True)
class Distribution:
    """How the times of one arm lie: the percentiles 0 to 100 of all samples, and the median of each round, in ms."""

    percentiles_ms: tuple[float, ...]
    rounds_ms: tuple[float, ...]


@dataclass(frozen=True)
class Speedup:
    """Before over after, with a 95 % interval, and the processes and rounds that it rests on."""

    ratio: float
    low: float
    high: float
    processes: int = 0
    rounds: int = 0

    @property
    def measured(self) -> bool:
        """Whether the interval excludes "no change"."""
        return not self.low <= 1.0 <= self.high


def latency(samples: Sequence[float]) -> Latency:
    """Median and 5th and 95th percentile (nearest rank) of samples in ms."""
    ordered = sorted(samples)
    return Latency(statistics.median(ordered), _rank(ordered, 0.05), _rank(ordered, 0.95), len(ordered))


def distribution(processes: Sequence[Process]) -> Distribution:
    """The distribution of all samples. Raises ValueError when there is none."""
    ordered = sorted(sample for process in processes for block in process for sample in block)
    if not ordered:
        raise ValueError("there are no samples")
    rounds = tuple(statistics.median(block) for process in processes for block in process)
    return Distribution(tuple(_rank(ordered, share / 100) for share in range(101)), rounds)


def speedup(before: Sequence[Process], after: Sequence[Process], seed: int) -> Speedup:
    """How much faster `after` is than `before`. The two lists hold the processes that ran at the same time.

    A round gives the ratio of both arms' medians, so that what drifts for both drops out. Raises ValueError when no
    round has both arms.
    """
    ratios = [rounds for pair in zip(before, after, strict=False) if (rounds := _log_ratios(*pair))]
    if not ratios:
        raise ValueError("there is no round in which both arms were timed")
    draw = random.Random(seed)
    centres = [statistics.median(rounds) for rounds in ratios]
    centre = statistics.fmean(centres)
    within = statistics.fmean(_variance_of_median(rounds, draw) for rounds in ratios)
    between = sum((one - centre) ** 2 for one in centres)
    freedom = _PRIOR_WEIGHT + len(centres) - 1
    variance = (_PRIOR_WEIGHT * (PROCESS_NOISE**2 + within) + between) / freedom
    half = _t95(freedom) * math.sqrt(variance / len(centres))
    return Speedup(
        ratio=math.exp(centre),
        low=math.exp(centre - half),
        high=math.exp(centre + half),
        processes=len(centres),
        rounds=sum(map(len, ratios)),
    )


def _log_ratios(before: Process, after: Process) -> list[float]:
    pairs = zip(before, after, strict=False)
    return [math.log(statistics.median(old) / statistics.median(new)) for old, new in pairs]


def _variance_of_median(values: Sequence[float], draw: random.Random) -> float:
    """Of the median of values that follow each other in time, from resamples made of runs of neighbours."""
    size = len(values)
    length = max(1, round(size ** (1 / 3)))
    medians = []
    for _ in range(RESAMPLES):
        drawn: list[float] = []
        while len(drawn) < size:
            start = draw.randrange(size)
            drawn += [values[(start + step) % size] for step in range(length)]
        medians.append(statistics.median(drawn[:size]))
    return statistics.pvariance(medians)


def _t95(freedom: int) -> float:
    index = freedom - _PRIOR_WEIGHT
    return _T95[index] if index < len(_T95) else _T95_MANY


def _rank(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, max(0, round(share * (len(ordered) - 1))))]
