from __future__ import annotations

import itertools
import os
import random
import threading

import pytest

from compilefix.measuring.clock import stay_on
from compilefix.measuring.interval import PROCESS_NOISE, Speedup, distribution, latency, speedup
from compilefix.measuring.request import Options
from compilefix.measuring.timed_arms import time_notes
from compilefix.measuring.timing import Timings, WarmUp, calls_per_block, rounds_by_process
from compilefix.measuring.verdict_model import Speedups
from compilefix.reporting.verdict_text import speedup_text


def process(*medians: float) -> list[list[float]]:
    return [[median * 0.99, median, median * 1.01] for median in medians]


def test_a_clear_speedup_has_an_interval_that_excludes_one() -> None:
    found = speedup([process(2.0, 2.02, 1.98, 2.01, 2.0, 1.99)], [process(1.0, 1.01, 0.99, 1.0, 1.02, 1.0)], seed=0)
    assert found.ratio == pytest.approx(2.0, rel=0.02)
    assert 1.9 < found.low <= found.ratio <= found.high < 2.1
    assert found.measured
    assert (found.processes, found.rounds) == (1, 6)
    assert speedup_text(found).startswith("2.0")


def test_noise_is_no_measurable_change() -> None:
    found = speedup([process(1.0, 1.2, 0.8, 1.1, 0.9, 1.0)], [process(0.95, 1.1, 0.9, 1.15, 0.85, 1.0)], seed=0)
    assert not found.measured
    assert "no measurable change" in speedup_text(found)


def test_a_change_below_the_noise_of_processes_is_none_however_steady_the_rounds_are() -> None:
    one = speedup([process(*[1.01] * 20)], [process(*[1.0] * 20)], seed=0)
    assert one.high - one.low > 2 * PROCESS_NOISE
    assert not one.measured
    assert speedup([process(*[1.10] * 20)], [process(*[1.0] * 20)], seed=0).measured


def test_drift_that_both_arms_share_does_not_widen_the_interval() -> None:
    drift = [1.0, 1.2, 1.4, 1.6, 1.8, 2.0]
    found = speedup([process(*(2 * d for d in drift))], [process(*drift)], seed=0)
    assert found.high - found.low < 0.2


def test_processes_that_differ_widen_the_interval_and_more_that_agree_narrow_it() -> None:
    def ratio(*levels: float) -> float:
        found = speedup([process(*[level] * 6) for level in levels], [process(*[1.0] * 6) for _ in levels], seed=0)
        assert found.processes == len(levels)
        return (found.high - found.low) / found.ratio

    assert ratio(2.0, 2.2, 1.8) > 2 * ratio(2.0, 2.0, 2.0)
    assert ratio(2.0, 2.0, 2.0) < ratio(2.0)


def test_rounds_that_follow_each_other_alike_count_for_less_than_independent_ones() -> None:
    high, low = 1.1, 0.9
    slow_waves = [high] * 9 + [low] * 9
    independent = [high, low] * 9
    ones = [1.0] * 18
    correlated = speedup([process(*slow_waves)], [process(*ones)], seed=0)
    spread = speedup([process(*independent)], [process(*ones)], seed=0)
    assert correlated.high - correlated.low > spread.high - spread.low


def test_intervals_of_two_runs_overlap_in_at_least_19_of_20_repetitions() -> None:
    draw = random.Random(7)

    def run() -> Speedup:
        sides: list[list[list[list[float]]]] = [[], []]
        for _ in range(3):
            levels = [1.5 * draw.gauss(1.0, 0.01), draw.gauss(1.0, 0.01)]
            pace = 1.0
            rounds: list[list[list[float]]] = [[], []]
            for _ in range(7):
                # The machine's pace wanders for both sides alike, and each round has some scatter of its own.
                pace *= draw.gauss(1.0, 0.03)
                for side, level in enumerate(levels):
                    centre = level * pace * draw.gauss(1.0, 0.01)
                    rounds[side].append([centre * draw.gauss(1.0, 0.05) for _ in range(15)])
            for side in (0, 1):
                sides[side].append(rounds[side])
        return speedup(sides[0], sides[1], seed=0)

    runs = [run() for _ in range(60)]
    agree = sum(one.low <= other.high and other.low <= one.high for one, other in itertools.pairwise(runs))
    right = sum(one.low <= 1.5 <= one.high for one in runs)
    assert agree >= 0.95 * (len(runs) - 1)
    assert right >= 0.90 * len(runs)


def test_the_interval_is_the_same_for_the_same_seed() -> None:
    one, two = [process(1.0, 1.3, 0.7, 1.1, 0.9)], [process(0.9, 1.0, 1.1, 0.8, 1.2)]
    assert speedup(one, two, seed=3) == speedup(one, two, seed=3)


def test_percentiles_are_samples() -> None:
    found = latency([float(value) for value in range(1, 101)])
    assert (found.median, found.n) == (50.5, 100)
    assert (found.p05, found.p95) == (6.0, 95.0)


def test_a_distribution_keeps_the_rounds_in_order() -> None:
    found = distribution([[[3.0, 1.0, 2.0], [5.0]], [[4.0]]])
    assert found.rounds_ms == (2.0, 5.0, 4.0)
    assert (found.percentiles_ms[0], found.percentiles_ms[50], found.percentiles_ms[100]) == (1.0, 3.0, 5.0)
    with pytest.raises(ValueError, match="no samples"):
        distribution([[]])


@pytest.mark.parametrize(
    ("repeats", "processes", "rounds"),
    [(20, 3, (7, 7, 6)), (5, 3, (5,)), (10, 3, (5, 5)), (20, 1, (20,)), (100, 4, (25, 25, 25, 25))],
)
def test_rounds_are_shared_among_processes(repeats: int, processes: int, rounds: tuple[int, ...]) -> None:
    assert rounds_by_process(repeats, processes) == rounds


def test_launches_are_kernels_and_whole_graphs() -> None:
    pytest.importorskip("torch", reason="the counting module imports it")
    from compilefix.measuring.launches import counted

    names = [
        "aten::add",
        "cudaLaunchKernel",
        "cuLaunchKernelEx",
        "cudaGraphLaunch",
        "cudaMemcpyAsync",
        "void kernel<>()",
    ]
    assert counted(names) == 3
    assert counted(["aten::add", "void kernel<>()"]) is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"device": "tpu"},
        {"mode": "fast"},
        {"calls": 0},
        {"repeats": 2},
        {"processes": 0},
        {"timeout_s": 0},
        {"rtol": 0.1},
    ],
)
def test_options_that_cannot_be_measured_with_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)  # type: ignore[arg-type]


def test_that_nothing_changed_is_said_and_so_is_drift() -> None:
    steady, drifting = WarmUp(30, 1.0, True), WarmUp(60, 5.0, False)
    timings = Timings({}, {}, {}, warm_ups={"inference": {"before": steady, "after": drifting}})
    notes = time_notes(timings, Speedups(inference=Speedup(1.0, 0.97, 1.03), training=Speedup(2.0, 1.5, 2.6)))
    assert notes == (
        "inference: no measurable change in time (95% interval 0.97 to 1.03)",
        "after was not steady after 60 calls in 5 s of warm-up (inference): its times drift",
        "the times of training scatter: the ratio's interval is 1.50 to 2.60; an idle machine or more --repeats makes "
        "it narrower",
    )
    assert time_notes(Timings({}, {}, {}), Speedups(inference=Speedup(2.0, 1.9, 2.1))) == ()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not choose cores for threads")
def test_calls_of_a_gpu_come_from_one_core_and_other_threads_stay_free() -> None:
    cores = os.sched_getaffinity(0)
    seen = []

    def timed() -> None:
        stay_on(max(cores))
        seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=timed)
    thread.start()
    thread.join()
    assert seen == [{max(cores)}]
    assert os.sched_getaffinity(0) == cores


def test_a_fast_arm_makes_more_calls_in_a_round_than_a_slow_one() -> None:
    assert calls_per_block({"before": 10.0, "after": 2.0}, shared=True) == {"before": 10, "after": 50}
    assert calls_per_block({"before": 500.0, "after": 0.01}, shared=True) == {"before": 1, "after": 100}
    assert calls_per_block({"before": 500.0, "after": 0.01}, shared=False) == {"before": 1, "after": 16}
