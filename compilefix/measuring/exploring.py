"""The worker's part of input variation: calls the target with inputs made from the workload's own."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from compilefix.measuring.arm import Arm, seed_everything
from compilefix.measuring.breaks import BreakCollector
from compilefix.measuring.calling import Caller, Stage, run_calls
from compilefix.measuring.probes import RUN, ProbeCounts
from compilefix.measuring.request import FLOATING, FrameEvent, Variant, VariedResult, VariedRun, WorkerRequest
from compilefix.measuring.snapshot import freeze
from compilefix.measuring.state import Checkpoint
from compilefix.measuring.vary import following, search, variants, varied
from compilefix.measuring.workload import InputSet, Workload

_CALLS = 2
_LIMIT_S = 5.0
_SLOWER = 4.0
"""How much longer than the original the patched code may take for a variant before it counts as not ending."""
_CHEAP_S = 0.05
_STATE_CALLS = 12
_LARGER = 100.0


class TooLong(BaseException):
    """A call did not come back in time. No `Exception`, so that the program does not catch it."""


def explore(
    arm: Arm, request: WorkerRequest, checkpoint: Checkpoint, counts: ProbeCounts | None, stage: Stage
) -> VariedResult:
    """Runs the variants of the request, or those that it chooses itself, each from the state of the beginning.

    `counts` are the probes of an original that chooses; it goes on for unreached sides until the time is spent.
    """
    explorer = _Explorer(arm, request, checkpoint, counts, stage)
    reference = None
    if request.variants is None:
        reference = explorer.reference()
        tensors = [slot.value for slot in arm.state.slots() if isinstance(slot.value, torch.Tensor)]
        sizes = frozenset(size for tensor in tensors for size in _sizes(tensor))
        explorer.run(variants(arm.workload.input_sets, bool(arm.modules), sizes), request.vary_s)
        if explorer.open_sides():
            chosen = search(arm.workload.input_sets, sizes, arm.device.type)
            explorer.run(chosen, request.vary_s / 2, only_new=True)
        if explorer.open_sides():
            explorer.run([Variant("unchanged", calls=_STATE_CALLS)], request.vary_s / 4, only_new=True)
    else:
        explorer.run(request.variants, request.vary_s)
    found = {} if counts is None else dict(counts.counts)
    return VariedResult(tuple(explorer.runs), found, reference, (), tuple(explorer.unfinished))


def recompiled_by_size(
    workload: Workload, request: WorkerRequest, checkpoint: Checkpoint, device: torch.device, stage: Stage
) -> tuple[FrameEvent, ...]:
    """What is compiled again for each new size, after Dynamo has had its chance to make the size dynamic.

    Only Dynamo's part is run (backend "eager"), which is where guards are made and where they fail.
    """
    from compilefix.measuring.arm import prepare

    if len(request.sizes) <= _CALLS:
        return ()
    torch._dynamo.reset()
    arm = prepare(replace(request, options=replace(request.options, backend="eager", mode="default")), workload, device)
    with BreakCollector() as collector:
        warm: tuple[FrameEvent, ...] = ()
        for index, variant in enumerate([Variant("unchanged"), *request.sizes]):
            stage(f"compiling for {variant.label}")
            checkpoint.restore()
            warm = collector.recompiles if index <= _CALLS else warm
            seed_everything(request.options.seed)
            with contextlib.suppress(Exception):
                arm.run(varied(arm.workload.input_sets, variant))
        known = {(event.path, event.line, event.function, event.reason) for event in warm}
        return tuple(e for e in collector.recompiles if (e.path, e.line, e.function, e.reason) not in known)


class Narrow(TorchDispatchMode):  # type: ignore[misc]
    """Sees whether a program makes tensors of less than float64: then its results are no more exact than those."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Only an eager arm looks: there Dynamo is off already, and to skip it, torch would import all of it.
        return False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Runs an operation and looks at what it makes."""
        made = func(*args, **(kwargs or {}))
        for item in made if isinstance(made, (tuple, list)) else (made,):
            if isinstance(item, torch.Tensor) and item.dtype in (torch.float32, torch.float16, torch.bfloat16):
                self.seen = True
        return made


class _Explorer:
    def __init__(
        self, arm: Arm, request: WorkerRequest, checkpoint: Checkpoint, counts: ProbeCounts | None, stage: Stage
    ) -> None:
        self._arm = arm
        self._request = request
        self._checkpoint = checkpoint
        self._counts = counts
        self._stage = stage
        self._with_grad = arm.with_grad
        self._chooses = request.variants is None
        self.runs: list[VariedRun] = []
        self.unfinished: list[Variant] = []

    def reference(self) -> Path | None:
        """The workload's own calls in float64, as a yardstick for rounding; None where they do not run so."""
        self._stage("running the calls of the workload in float64")
        workload = self._arm.workload
        folder = self._request.folder / "float64"
        folder.mkdir(exist_ok=True)
        wide = Variant("unchanged", mode="float64")
        try:
            sets = tuple(
                varied(workload.input_sets, replace(wide, input_set=i)) for i in range(len(workload.input_sets))
            )
            self._arm.workload = replace(workload, input_sets=sets)
            with self._mode(wide), _at_most(4 * _LIMIT_S):
                result = run_calls(self._arm, replace(self._request, folder=folder), _say_nothing, None)
        except (Exception, TooLong):
            return None
        finally:
            self._arm.workload = workload
        return None if result.raised else result.observations

    def run(self, chosen: Iterable[Variant], seconds: float, only_new: bool = False) -> None:
        """Runs variants until the time is spent; with `only_new` keeps those alone that reach a new side."""
        deadline = time.monotonic() + seconds
        for variant in chosen:
            if time.monotonic() > deadline or (only_new and not self.open_sides()):
                return
            self._one(variant, only_new)

    def open_sides(self) -> set[str]:
        """The probes of which a side was not reached."""
        if self._counts is None:
            return set()
        hits = {key: self._counts.counts.get(key, (0, 0)) for key in self._request.probes}
        return {key for key, (true, false) in hits.items() if not true or (not false and not key.startswith(RUN))}

    def _one(self, variant: Variant, only_new: bool) -> None:
        self._stage(f"running {variant.label}")
        before = self._sides()
        try:
            inputs = self._inputs(variant)
        except Exception:  # this change does not fit these inputs
            return
        narrow = Narrow() if self._chooses and variant.mode == "float64" else contextlib.nullcontext()
        try:
            with self._mode(variant), _at_most(_LIMIT_S if self._chooses else _LIMIT_S * _SLOWER), narrow:
                records = self._calls(inputs, variant)
        except TooLong:
            self.unfinished.append(variant)
            return
        for record in records:
            record["narrow"] = isinstance(narrow, Narrow) and narrow.seen
        reached = self._sides() - before
        if only_new and not reached:
            return
        first = records[0]
        if self._chooses and variant.mode != "as given" and first["exception"] and not first["explicit"]:
            return  # the program is not made for this mode
        reference = None
        if self._chooses and variant.finite and variant.mode not in FLOATING:
            reference = self._in_float64(variant, len(records))
        file = self._request.folder / f"variant-{len(self.runs):03d}.pt"
        given = [[freeze(item.args), freeze(dict(item.kwargs))] for item in inputs[: len(records)]]
        torch.save({"records": records, "reference": reference, "given": given}, file)
        raised = any(record["exception"] is not None for record in records)
        self.runs.append(VariedRun(replace(variant, calls=len(records)), file, tuple(sorted(reached)), raised))
        with (self._request.folder / "runs.jsonl").open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(VariedResult(tuple(self.runs[-1:])).to_dict()) + "\n")

    def _inputs(self, variant: Variant) -> list[InputSet]:
        """The inputs of a variant, and others for the next calls."""
        sets = self._arm.workload.input_sets
        return [varied(sets, variant), following(sets, variant)]

    def _calls(self, inputs: list[InputSet], variant: Variant) -> list[dict[str, Any]]:
        caller = Caller(self._arm, self._request)
        records: list[dict[str, Any]] = []
        wanted = variant.calls or 1
        for call in itertools.count():
            record, seconds = caller.call(inputs[call % len(inputs)], call)
            records.append({"call": call, "set": variant.input_set, "compiled": self._request.compiled, **record})
            if call == 0 and not variant.calls and seconds < _CHEAP_S:
                wanted = _CALLS
            if call + 1 >= wanted or (not variant.calls and record["exception"] is not None):
                break
        records[0]["start"] = caller.start
        return records

    def _in_float64(self, variant: Variant, calls: int) -> list[dict[str, Any]] | None:
        wide = replace(variant, mode="float64", calls=calls)
        try:
            with self._mode(variant, wide=True), _at_most(_LIMIT_S):
                records = self._calls(self._inputs(wide), wide)
        except (Exception, TooLong):
            return None
        return None if any(record["exception"] for record in records) else records

    def _sides(self) -> set[str]:
        if self._counts is None:
            return set()
        return {
            f"{side}{key}"
            for key, hits in self._counts.counts.items()
            for side, hit in zip("+-", hits, strict=True)
            if hit
        }

    @contextlib.contextmanager
    def _mode(self, variant: Variant, wide: bool = False) -> Iterator[None]:
        """The program at its beginning, set to the variant's mode and, if asked, to float64; put back at the end."""
        arm, default, grad = self._arm, torch.get_default_dtype(), torch.is_grad_enabled()
        self._checkpoint.restore()
        try:
            if variant.mode == "other mode":
                for module in arm.modules.values():
                    module.train(not module.training)
                arm.with_grad = any(module.training for module in arm.modules.values())
            elif variant.mode == "without gradients":
                arm.with_grad = False
            elif variant.mode == "input gradients":
                arm.with_grad = True
            elif variant.mode == "large parameters":
                _enlarge(arm)
            if wide or variant.mode in FLOATING:
                dtype = getattr(torch, FLOATING["float64" if wide else variant.mode])
                torch.set_default_dtype(dtype)
                _cast(arm, dtype)
            yield
        finally:
            torch.set_default_dtype(default)
            torch.set_grad_enabled(grad)
            self._checkpoint.restore()
            arm.with_grad = self._with_grad


def _sizes(tensor: torch.Tensor) -> Iterator[int]:
    """The sizes that a parameter has, and those of dimensions that may be seen as several of them: heads by width."""
    for first in range(tensor.dim()):
        for last in range(first, tensor.dim()):
            yield math.prod(tensor.shape[first : last + 1])


def _say_nothing(_: str) -> None:
    """Takes the stage of calls whose progress nobody needs."""


def _enlarge(arm: Arm) -> None:
    parameters = {id(item): item for module in arm.modules.values() for item in module.parameters()}
    for parameter in parameters.values():
        if parameter.is_floating_point():
            parameter.data.mul_(_LARGER)


def _cast(arm: Arm, dtype: torch.dtype) -> None:
    for slot in arm.state.slots():
        if isinstance(slot.value, torch.Tensor) and slot.value.is_floating_point():
            with torch.no_grad():
                slot.value.data = slot.value.data.to(dtype)


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises TooLong in the body after so many seconds, where the system has such a clock."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
