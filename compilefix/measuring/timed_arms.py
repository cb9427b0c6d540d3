"""From the arms of a verdict to what is timed of them, and back to what the verdict says of their times."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compilefix.measuring.interval import Speedup
from compilefix.measuring.request import Options, Overlay, WorkerRequest
from compilefix.measuring.timing import Timings
from compilefix.measuring.verdict_model import Arm, Speedups

COMPARED = "compared"
"""The name of the arm that is only timed: another workload, for comparison."""

_PHASES = {"no": ("inference",), "backward": ("inference", "training"), "own": ("step",)}
_WIDE = 0.1


@dataclass(frozen=True)
class Phases:
    """Which kinds of calls are timed. `trains` is what the eager original was seen to do (`ArmResult.trains`)."""

    trains: str

    @property
    def names(self) -> tuple[str, ...]:
        """The phases that a worker is asked for."""
        return _PHASES[self.trains]

    @property
    def training(self) -> str:
        """The phase that is shown as training: a callable with a backward pass of its own is a whole step."""
        return "step" if self.trains == "own" else "training"

    def speedups(self, timings: Timings, before: str, after: str, seed: int) -> Speedups:
        """The time of one arm over that of another."""
        return Speedups(
            inference=timings.speedup("inference", before, after, seed),
            training=timings.speedup(self.training, before, after, seed),
        )

    def with_times(self, arm: Arm, name: str, timings: Timings) -> Arm:
        """The arm with what its timing gave."""
        return replace(
            arm,
            latency_ms=timings.latency("inference", name),
            training_latency_ms=timings.latency(self.training, name),
            distribution=timings.distribution("inference", name),
            training_distribution=timings.distribution(self.training, name),
            launches_per_call=timings.launches.get("inference", {}).get(name),
            training_launches_per_call=timings.launches.get(self.training, {}).get(name),
            peak_memory_bytes=timings.peak_memory_bytes.get(name),
            error=arm.error or timings.errors.get(name),
        )


def compared_request(like: WorkerRequest, workload: str, options: Options) -> WorkerRequest:
    """The request that times another workload, as it is on disk, beside the arms of this one."""
    return replace(
        like,
        name=f"timing, {workload}",
        workload=workload,
        options=options,
        folder=like.folder.with_name(f"{COMPARED}-time"),
        overlay=Overlay(),
        boundary=None,
        compiled=True,
    )


def time_notes(timings: Timings, speedups: Speedups) -> tuple[str, ...]:
    """What a reader must know of the times: that nothing changed, that they drift, that their intervals are wide."""
    found: list[str] = []
    for phase, item in (("inference", speedups.inference), ("training", speedups.training)):
        if item is not None and not item.measured:
            found.append(f"{phase}: no measurable change in time (95% interval {item.low:.2f} to {item.high:.2f})")
    found += timings.unsteady()
    for phase, item in (("inference", speedups.inference), ("training", speedups.training)):
        if item is not None and _width(item) > _WIDE:
            found.append(
                f"the times of {phase} scatter: the ratio's interval is {item.low:.2f} to {item.high:.2f}; "
                "an idle machine or more --repeats makes it narrower"
            )
    return tuple(found)


def _width(item: Speedup) -> float:
    return (item.high - item.low) / (2 * item.ratio)
