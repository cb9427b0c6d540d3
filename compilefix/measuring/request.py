"""What a worker process is asked to do and what it says: plain frozen data that travels as JSON.

Tensors do not travel here: a worker saves them with `torch.save` in the request's folder and names the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Role = Literal["observe", "time", "cover"]
Trains = Literal["no", "backward", "own"]

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
MIN_REPEATS = 5
DEVICES = ("auto", "cpu", "cuda")


class WorkloadError(Exception):
    """The workload cannot be used; the message says what is wrong with it."""


def split_spec(spec: str) -> tuple[str, str]:
    """The file or module of a workload, and its function. Raises WorkloadError for another form."""
    place, colon, function = spec.rpartition(":")
    if not colon or not place or not function.isidentifier():
        raise WorkloadError(f"{spec!r} is no workload: write path/to/file.py:function or package.module:function")
    if not place.endswith(".py") and not all(part.isidentifier() for part in place.split(".")):
        raise WorkloadError(f"{spec!r} is no workload: {place!r} is neither a .py file nor a module name")
    return place, function


@dataclass(frozen=True)
class Options:
    """How to measure.

    `training` None decides from the workload. `calls` is how often each input set is run in a row for the parity
    check. `repeats` is the number of timing rounds; 0 measures no time. They are shared among at most `processes`
    processes per arm, one after the other. `timeout_s` bounds each worker's answer, in seconds. `rtol` and `atol`
    replace the tolerances per dtype when both are given.
    """

    device: str = "auto"
    mode: str = "default"
    backend: str = "inductor"
    training: bool | None = None
    calls: int = 3
    repeats: int = 20
    processes: int = 2
    timeout_s: float = 600.0
    seed: int = 0
    rtol: float | None = None
    atol: float | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for a value that cannot be measured with."""
        if self.device not in DEVICES and not self.device.startswith("cuda:"):
            raise ValueError(f"device must be one of {', '.join(DEVICES)}, not {self.device!r}")
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}, not {self.mode!r}")
        if self.calls < 1:
            raise ValueError("calls must be at least 1")
        if self.repeats != 0 and self.repeats < MIN_REPEATS:
            raise ValueError(f"repeats must be 0 or at least {MIN_REPEATS}: fewer rounds give no interval")
        if self.processes < 1:
            raise ValueError("processes must be at least 1")
        if self.timeout_s <= 0:
            raise ValueError("timeout_s must be positive")
        if (self.rtol is None) != (self.atol is None):
            raise ValueError("rtol and atol must be given together")


def workload_command(spec: str, options: Options) -> list[str]:
    """The command line that runs a workload compiled in a process of its own, for what torch logs of it."""
    words = [sys.executable, "-m", "compilefix.measuring.traced_workload", spec]
    words += ["--device", options.device, "--mode", options.mode, "--backend", options.backend]
    words += ["--calls", str(options.calls)]
    return words if options.training is None else [*words, "--training" if options.training else "--inference"]


@dataclass(frozen=True)
class NewModule:
    """A module that exists only in the overlay."""

    name: str
    path: Path
    text: str


@dataclass(frozen=True)
class Overlay:
    """Sources that one arm sees in place of what is on disk."""

    sources: tuple[tuple[Path, str], ...] = ()
    new_modules: tuple[NewModule, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.sources or self.new_modules)


Mode = Literal[
    "as given", "other mode", "without gradients", "input gradients", "float64", "bfloat16", "large parameters"
]
MODE_TEXT: Mapping[Mode, str] = {
    "as given": "",
    "other mode": "in the other of training and evaluation mode",
    "without gradients": "without gradients",
    "input gradients": "with gradients of the inputs",
    "float64": "in float64",
    "bfloat16": "in bfloat16",
    "large parameters": "with parameters 100 times as large",
}
FLOATING: Mapping[str, str] = {"float64": "float64", "bfloat16": "bfloat16"}
"""The modes in which parameters and inputs have another dtype."""


BEYOND = "integers beyond their range: "
"""How the variants begin whose integers may be no index any more: what nobody wrote a check for may fail anyhow."""


ROUNDING = "of both signs and large"
"""How the variants begin whose sums lose digits. There one error alone is luck, so they are judged together."""


STRIDED = "laid out otherwise in memory"
"""The variant whose inputs have the same values with other strides."""


@dataclass(frozen=True)
class Variant:
    """One way to call the target otherwise than the workload does.

    `name` says what is changed, `only` at which input (all when None), `input_set` in which set (from 0). `finite` says
    that no infinity and no NaN is put in, `resized` that shapes change, `scalars` that Python numbers do. `calls` is
    the number of calls in a row; 0 leaves it to the arm that runs it first.
    """

    name: str
    input_set: int = 0
    mode: Mode = "as given"
    only: str | None = None
    finite: bool = True
    resized: bool = False
    scalars: bool = False
    calls: int = 0

    @property
    def label(self) -> str:
        """For people: the set, the change and the mode."""
        change = "" if self.name == "unchanged" else f" {self.name}"
        place = "" if self.only is None else f" in {self.only}"
        mode = "" if self.mode == "as given" else f", {MODE_TEXT[self.mode]}"
        return f"input set {self.input_set + 1}{change}{place}{mode}"


@dataclass(frozen=True)
class VariedRun:
    """A variant that an arm ran: the file with what it saw, the probes whose sides it was the first to reach, and
    whether a call raised."""

    variant: Variant
    file: Path
    reached: tuple[str, ...] = ()
    raised: bool = False


@dataclass(frozen=True)
class VariedResult:
    """What an arm did with varied inputs.

    `reference` is the file with the workload's own calls in float64. `resized` holds the compilations again when sizes
    changed, beyond those that a change from fixed to dynamic sizes costs. `unfinished` names a variant that ran too
    long. `error` says why there is not more.
    """

    runs: tuple[VariedRun, ...] = ()
    branches: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    reference: Path | None = None
    resized: tuple[FrameEvent, ...] = ()
    unfinished: tuple[Variant, ...] = ()
    error: str | None = None
    sizes: tuple[Variant, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return json.loads(json.dumps(asdict(self), default=str))  # type: ignore[no-any-return]

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> VariedResult:
        """The result that `to_dict` wrote."""
        return VariedResult(
            tuple(
                VariedRun(Variant(**r["variant"]), Path(r["file"]), tuple(r["reached"]), r["raised"])
                for r in data["runs"]
            ),
            {key: (int(hits[0]), int(hits[1])) for key, hits in data["branches"].items()},
            None if data["reference"] is None else Path(data["reference"]),
            _events(data["resized"]),
            tuple(Variant(**item) for item in data["unfinished"]),
            data["error"],
            tuple(Variant(**item) for item in data["sizes"]),
        )


@dataclass(frozen=True)
class WorkerRequest:
    """One arm for one worker process.

    `name` is the arm's name in messages. `folder` takes the files that the worker writes. `boundary` names the helper
    module whose `boundary` function wraps the compiled callable. `time_*` matter for the role "time" only: which of
    "inference" and "training" to time, whether calls may share their inputs (they may not when a call changes them),
    and the core that makes the calls of a GPU. `vary_s` is how long varied inputs may be run, in seconds; 0 means not
    at all. `variants` are those to run; None leaves the choice to the worker, which goes on until both sides of the
    `probes` are reached. `sizes` are those for which a compiled arm says what it compiles again.
    """

    name: str
    role: Role
    compiled: bool
    workload: str
    options: Options
    folder: Path
    overlay: Overlay = Overlay()
    boundary: str | None = None
    time_phases: tuple[str, ...] = ()
    time_shares_inputs: bool = True
    time_core: int | None = None
    vary_s: float = 0.0
    variants: tuple[Variant, ...] | None = None
    sizes: tuple[Variant, ...] = ()
    probes: tuple[str, ...] = ()

    def to_json(self) -> str:
        """The request as JSON text."""
        return json.dumps(asdict(self), default=str)

    @staticmethod
    def from_json(text: str) -> WorkerRequest:
        """The request that `to_json` wrote. Raises ValueError or KeyError for anything else."""
        data = json.loads(text)
        overlay = data.pop("overlay")
        return WorkerRequest(
            **{
                **data,
                "options": Options(**data["options"]),
                "folder": Path(data["folder"]),
                "overlay": Overlay(
                    tuple((Path(path), source) for path, source in overlay["sources"]),
                    tuple(NewModule(n["name"], Path(n["path"]), n["text"]) for n in overlay["new_modules"]),
                ),
                "time_phases": tuple(data["time_phases"]),
                "variants": None if data["variants"] is None else tuple(Variant(**v) for v in data["variants"]),
                "sizes": tuple(Variant(**v) for v in data["sizes"]),
                "probes": tuple(data["probes"]),
            }
        )


@dataclass(frozen=True)
class BreakSite:
    """A place in user code where Dynamo broke a graph. Lines and columns from 1; column 0 where it is not known.

    `source` is the line as the arm saw it.
    """

    path: str
    line: int
    column: int
    gb: str
    reason: str
    count: int
    function: str = ""
    source: str = ""


@dataclass(frozen=True)
class FrameEvent:
    """A function that Dynamo compiled again, or skipped, and why. `line` is where the function starts."""

    path: str
    line: int
    function: str
    reason: str
    count: int


@dataclass(frozen=True)
class ArmResult:
    """What one arm did in its worker.

    `graphs_per_call` counts the compiled graphs that ran in the last call of an input set (the largest over the
    sets). `late_recompiles` are those of the last round of calls, when all inputs had been seen before. `raised` says
    that a call ended with an exception. `observations` is the file with outputs, gradients and states. `branches`
    holds the counts of the probes. `error` says why the arm has no result; `error_kind` is "workload" when the workload
    itself could not be loaded.
    """

    error: str | None = None
    error_kind: Literal["", "workload", "run"] = ""
    break_sites: tuple[BreakSite, ...] = ()
    recompiles: tuple[FrameEvent, ...] = ()
    skipped_frames: tuple[FrameEvent, ...] = ()
    graphs_per_call: int = 0
    compile_s: float | None = None
    first_call_s: float | None = None
    trains: Trains = "no"
    mutates_inputs: bool = False
    raised: bool = False
    observations: Path | None = None
    branches: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    late_recompiles: tuple[FrameEvent, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        data = asdict(self)
        data["observations"] = None if self.observations is None else str(self.observations)
        return data

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> ArmResult:
        """The result that `to_dict` wrote."""
        return ArmResult(
            **{
                **data,
                "break_sites": tuple(BreakSite(**site) for site in data["break_sites"]),
                "recompiles": _events(data["recompiles"]),
                "skipped_frames": _events(data["skipped_frames"]),
                "observations": None if data["observations"] is None else Path(data["observations"]),
                "branches": {key: (int(hits[0]), int(hits[1])) for key, hits in data["branches"].items()},
                "notes": tuple(data["notes"]),
                "late_recompiles": _events(data["late_recompiles"]),
            }
        )


def _events(items: Sequence[Mapping[str, Any]]) -> tuple[FrameEvent, ...]:
    return tuple(FrameEvent(**item) for item in items)
