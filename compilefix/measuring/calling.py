"""Calls an arm and records all that a call does: what it returns, changes, says, raises and draws."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import linecache
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from compilefix.measuring.aliasing import shared
from compilefix.measuring.arm import Arm, changed_inputs, seed_everything, without_graph
from compilefix.measuring.beginning import parameters_of
from compilefix.measuring.breaks import BreakCollector
from compilefix.measuring.request import ArmResult, FrameEvent, WorkerRequest
from compilefix.measuring.slots import join
from compilefix.measuring.snapshot import Node, freeze, without_addresses
from compilefix.measuring.state import StateWatch, hooks_of, state_keys
from compilefix.measuring.transcript import recorded
from compilefix.measuring.workload import InputSet, checkpointed

Stage = Callable[[str], None]

STEADY_CALLS = 2
"""After so many calls with an input set nothing new should be compiled for it."""
_TORCH = str(Path(torch.__file__).parent) + os.sep


def run_calls(arm: Arm, request: WorkerRequest, stage: Stage, collector: BreakCollector | None) -> ArmResult:
    """Runs every input set of the workload several times in a row, state and all, and saves what was seen."""
    caller = Caller(arm, request)
    records: list[dict[str, Any]] = []
    graphs: dict[int, int] = {}
    first_call_s: float | None = None
    earlier: tuple[FrameEvent, ...] = ()
    for call in range(request.options.calls):
        if call == request.options.calls - 1 and collector is not None:
            earlier = collector.recompiles
        for index, inputs in enumerate(arm.workload.input_sets):
            stage(f"running call {call + 1} of input set {index + 1}")
            runs, compilations = _counted(collector)
            record, seconds = caller.call(inputs, call)
            first_call_s = seconds if first_call_s is None else first_call_s
            now_runs, now_compilations = _counted(collector)
            graphs[index] = now_runs - runs
            records.append({"call": call, "set": index, "compiled": now_compilations > compilations, **record})
    late = collector is not None and request.options.calls > STEADY_CALLS
    records[0]["start"] = caller.start
    file = request.folder / "observations.pt"
    torch.save(records, file)
    return ArmResult(
        graphs_per_call=max(graphs.values()),
        first_call_s=first_call_s,
        trains=arm.trains,
        mutates_inputs=any(record["inputs"] for record in records),
        raised=any(record["exception"] is not None for record in records),
        observations=file,
        late_recompiles=_later(earlier, collector.recompiles) if late and collector is not None else (),
    )


class Caller:
    """Calls an arm and records all that a call does: what it returns, changes, says, raises and draws."""

    def __init__(self, arm: Arm, request: WorkerRequest) -> None:
        self._arm = arm
        self._request = request
        self._watch = StateWatch(arm.state)
        self._untraced = _untraced(request)
        self.start: dict[str, Any] = {
            "names": list(self._watch.names),
            "files": [f"{name}." for name in arm.state.files()],
            "parameters": parameters_of(arm.workload.target),
            "keys": state_keys(checkpointed(arm.workload.target)),
            "hooks": hooks_of(arm.modules),
            "buffers": [slot.name for slot in arm.state.slots() if slot.is_buffer],
            "defaults": {name: freeze(value) for name, value in arm.state.defaults()},
            "inputs": [[freeze(tensor) for _, tensor in inputs.tensors()] for inputs in arm.workload.input_sets],
        }

    def call(self, inputs: InputSet, call: int) -> tuple[dict[str, Any], float]:
        """The record of one call, and how long it took, in seconds."""
        seed_everything(self._request.options.seed + call)
        return _one_call(self._arm, inputs, self._watch, self._request, self._untraced)


def _later(before: Sequence[FrameEvent], after: Sequence[FrameEvent]) -> tuple[FrameEvent, ...]:
    known = {replace(event, count=0): event.count for event in before}
    found = [replace(event, count=event.count - known.get(replace(event, count=0), 0)) for event in after]
    return tuple(event for event in found if event.count)


def _one_call(
    arm: Arm, inputs: InputSet, watch: StateWatch, request: WorkerRequest, untraced: Callable[[Any], Any]
) -> tuple[dict[str, Any], float]:
    fresh = inputs.copy()
    arm.clear_gradients()
    outputs: Any = None
    backwards: list[str] = []
    exception: dict[str, str] | None = None
    explicit = False
    with recorded(request.folder, untraced) as transcript:
        started = time.perf_counter()
        try:
            with contextlib.nullcontext(backwards) if request.compiled else watching_backward() as backwards:
                outputs = arm.run(fresh)
            arm.synchronize()
        except (Exception, SystemExit) as error:
            exception, explicit = _described(error, "call"), _is_own_raise(error)
        seconds = time.perf_counter() - started
        drawn, settings = _random_states(), _settings(arm)
        frozen = freeze(outputs)
        given = {"args": fresh.args, "kwargs": dict(fresh.kwargs)}
        sharing = shared(outputs, given, {} if request.compiled else arm.state.values())
        own_gradients = bool(backwards) or any(node["kind"] == "tensor" for node in arm.gradients(fresh).values())
        if exception is None and arm.with_grad:
            started = time.perf_counter()
            try:
                trained = arm.backward(outputs)
                arm.synchronize()
            except (Exception, SystemExit) as error:
                trained = False
                if not without_graph(error):
                    exception, explicit = _described(error, "backward"), False
            seconds += time.perf_counter() - started
            if own_gradients and arm.trains != "backward":
                arm.trains = "own"
            elif trained:
                arm.trains = "backward"
    gradients: dict[str, Node] = arm.gradients(fresh) if arm.with_grad else {}
    record = {
        "outputs": frozen,
        "shared": sharing,
        "gradients": gradients,
        "state": watch.changes(),
        "inputs": changed_inputs(inputs, fresh),
        "exception": exception,
        "explicit": explicit,
        "text": transcript.to_dict(),
        "random": drawn,
        "settings": settings,
    }
    return record, seconds


@contextlib.contextmanager
def watching_backward() -> Iterator[list[str]]:
    """Notes what the body has autograd do: a training step may leave no gradient behind that would tell of it."""
    seen: list[str] = []

    def noting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def noted(*args: Any, **kwargs: Any) -> Any:
            seen.append(name)
            return function(*args, **kwargs)

        return noted

    originals = {name: getattr(torch.autograd, name) for name in ("backward", "grad")}
    for name, original in originals.items():
        setattr(torch.autograd, name, noting(name, original))
    try:
        yield seen
    finally:
        for name, original in originals.items():
            setattr(torch.autograd, name, original)


def _settings(arm: Arm) -> dict[str, str]:
    """What a call may leave behind for all code that runs after it."""
    training = [
        join(owner, name) for owner, part in arm.modules.items() for name, item in part.named_modules() if item.training
    ]
    return {
        "gradients on": str(torch.is_grad_enabled()),
        "default dtype": str(torch.get_default_dtype()),
        "modules in training mode": ", ".join(training),
        "deterministic algorithms": str(torch.are_deterministic_algorithms_enabled()),
    }


def _random_states() -> dict[str, str]:
    found = {"torch": torch.get_rng_state().numpy().tobytes(), "random": repr(random.getstate()).encode()}
    if "numpy" in sys.modules:
        name, keys, *rest = sys.modules["numpy"].random.get_state()
        found["numpy"] = repr((name, rest)).encode() + keys.tobytes()
    return {name: hashlib.sha256(state).hexdigest() for name, state in found.items()}


def _is_own_raise(error: BaseException) -> bool:
    """Whether the program itself raised, with `raise` or `assert`: then its type and text are meant for somebody."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_code.co_filename.startswith(_TORCH):
        return False
    line = linecache.getline(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return "raise" in line or "assert" in line


def _counted(collector: BreakCollector | None) -> tuple[int, int]:
    return (0, 0) if collector is None else (collector.graph_runs, collector.compilations)


def _described(error: BaseException, phase: str) -> dict[str, str]:
    kind = type(error)
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return {"type": name, "text": without_addresses(str(error)), "phase": phase}


def _untraced(request: WorkerRequest) -> Callable[[Any], Any]:
    if not request.compiled:
        return lambda function: function
    disable: Callable[[Any], Any] = torch.compiler.disable
    return disable
