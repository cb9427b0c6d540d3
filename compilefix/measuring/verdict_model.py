"""The shape of a verdict, as reports and the JSON document show it. No torch here: reports start without it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from compilefix.measuring.interval import Distribution, Latency, Speedup
from compilefix.measuring.probes import Seen
from compilefix.measuring.request import BreakSite, FrameEvent

Aspect = Literal["equal", "close", "different", "error", "not-run"]
Judgement = Literal["proved", "unverified", "not-proved"]
Side = Literal["original", "patched"]
FixJudgement = Literal["proved", "unverified", "no-gain", "different", "error", "not-measured"]

_SEVERITY: tuple[Aspect, ...] = ("equal", "close", "not-run", "different", "error")


def worst(aspects: Iterable[Aspect]) -> Aspect:
    """The worst of several comparisons; "equal" when there is none."""
    return max(aspects, key=_SEVERITY.index, default="equal")


@dataclass(frozen=True)
class Difference:
    """The first place where two arms differ: which aspect, where, and both values."""

    aspect: str
    place: str
    text: str

    def __str__(self) -> str:
        return f"{self.aspect}: {self.place}: {self.text}"


@dataclass(frozen=True)
class Parity:
    """How the patched code compares with the eager original. `max_abs_error` is over finite values."""

    outputs: Aspect
    gradients: Aspect
    state: Aspect
    inputs: Aspect
    exceptions: Aspect
    text: Aspect
    max_abs_error: float = 0.0
    first_difference: Difference | None = None
    notes: tuple[str, ...] = ()

    @staticmethod
    def all(status: Aspect) -> Parity:
        """The same status for every aspect."""
        return Parity(status, status, status, status, status, status)

    def aspects(self) -> Mapping[str, Aspect]:
        """The six comparisons by name."""
        return {
            "outputs": self.outputs,
            "gradients": self.gradients,
            "state": self.state,
            "inputs": self.inputs,
            "exceptions": self.exceptions,
            "text": self.text,
        }

    @property
    def holds(self) -> bool:
        """Whether nothing differs."""
        return worst(self.aspects().values()) in ("equal", "close", "not-run")

    def joined(self, other: Parity) -> Parity:
        """The worse of two comparisons, aspect by aspect; the first difference is this one's where it has one."""
        pairs = {name: worst((status, other.aspects()[name])) for name, status in self.aspects().items()}
        return Parity(
            **pairs,
            max_abs_error=max(self.max_abs_error, other.max_abs_error),
            first_difference=self.first_difference or other.first_difference,
            notes=(*self.notes, *other.notes),
        )


@dataclass(frozen=True)
class Arm:
    """What one arm did. Times of `latency_ms` are per call; None stands for what was not measured.

    `launches_per_call` counts the kernels and CUDA graphs that one call starts on the device. `late_recompiles` are
    those in calls with inputs that had been seen before.
    """

    break_sites: tuple[BreakSite, ...] = ()
    graphs_per_call: int = 0
    recompiles: tuple[FrameEvent, ...] = ()
    skipped_frames: tuple[FrameEvent, ...] = ()
    compile_s: float | None = None
    first_call_s: float | None = None
    latency_ms: Latency | None = None
    training_latency_ms: Latency | None = None
    distribution: Distribution | None = None
    training_distribution: Distribution | None = None
    launches_per_call: int | None = None
    training_launches_per_call: int | None = None
    peak_memory_bytes: int | None = None
    error: str | None = None
    notes: tuple[str, ...] = ()
    late_recompiles: tuple[FrameEvent, ...] = ()


@dataclass(frozen=True)
class Speedups:
    """Compiled-before over compiled-after, for inference and for a training step; None where not measured."""

    inference: Speedup | None = None
    training: Speedup | None = None

    def all(self) -> tuple[Speedup, ...]:
        """Those that were measured."""
        return tuple(item for item in (self.inference, self.training) if item is not None)


@dataclass(frozen=True)
class BranchCoverage:
    """How often a condition that was rewritten was true and false, or how often a changed statement was run.

    The counts are over all inputs, those made by variation too; of a scripted function there are none. `side` says
    whether it stands in the original or in the patched code. Columns from 1; 0 where not known.
    """

    path: str
    line: int
    true: int
    false: int
    column: int = 0
    text: str = ""
    kind: Seen = "condition"
    side: Side = "original"

    @property
    def doubt(self) -> str:
        """What the counts leave open; empty where nothing is."""
        where = f"{self.path}:{self.line}" + (" of the patched code" if self.side == "patched" else "")
        what = f" `{self.text}`" if self.text else ""
        if self.kind == "scripted":
            return f"{where}:{what} is compiled from its source, and what of it ran is not seen, so it is not verified"
        if not self.true and not self.false:
            word = "evaluated" if self.kind == "condition" else "run"
            return f"{where}: this {self.kind}{what} was never {word}, so it is not verified"
        if self.kind == "statement" or (self.true and self.false):
            return ""
        side = "false" if self.true else "true"
        return f"{where}: this condition{what} was never {side}, so that side of the branch is not verified"


@dataclass(frozen=True)
class Variation:
    """Which inputs were tried beyond those of the workload, how many differ, and where a failing case was written."""

    tried: int = 0
    compiled: int = 0
    differ: tuple[str, ...] = ()
    reproducers: tuple[str, ...] = ()


@dataclass(frozen=True)
class FixVerdict:
    """What the measurement said of one fix alone."""

    code: str
    path: str
    line: int
    assumptions: tuple[str, ...]
    verdict: FixJudgement
    reason: str = ""


@dataclass(frozen=True)
class Verdict:
    """What the measurement said of a patch set. `reasons` tells why, in sentences.

    `compared` is another workload that was timed in the same run, for example one that was fixed by hand, and
    `compared_speedup` its time over that of the patched code.
    """

    verdict: Judgement
    reasons: tuple[str, ...]
    eager: Arm
    before: Arm
    after: Arm
    speedup: Speedups
    parity: Parity
    coverage: tuple[BranchCoverage, ...] = ()
    coverage_note: str = ""
    fixes: tuple[FixVerdict, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    compared: Arm | None = None
    compared_speedup: Speedups | None = None
    variation: Variation = Variation()
