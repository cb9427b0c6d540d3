"""The worker's part of the timing: keeps one arm warm and times calls when the parent asks for them."""

from __future__ import annotations

import contextlib
import gc
import itertools
import math
import os
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from compilefix.measuring.arm import Arm, compiler, output_tensors, prepare, resolve_device, seed_everything
from compilefix.measuring.launches import launches
from compilefix.measuring.memory import PeakMemory
from compilefix.measuring.observing import get_ready, overlaid
from compilefix.measuring.ranks import world_size
from compilefix.measuring.request import WorkerRequest
from compilefix.measuring.workload import InputSet, load

if TYPE_CHECKING:
    from compilefix.measuring.worker import Parent

WARM_UP_S = 5.0
WARM_UP_PASSES = 20_000
_WINDOW_S = 0.05
_FEWEST, _MOST = 5, 200
_STEADY = 0.03
_CALLS_OF_RANKS = 20
_LEAD_S = 0.02


def serve(request: WorkerRequest, parent: Parent) -> None:
    """Answers once when the workload is loaded, and then each command.

    `{"first_calls": true}` compiles, `{"warm_up": true}` is answered with how long a call takes, `{"phase", "calls"}`
    with samples in milliseconds, and `{"finish": true}` with the peak of the memory in bytes and the launches of one
    call by phase.
    """
    device = resolve_device(request.options.device)
    get_ready(device, request)
    with overlaid(request):
        parent.stage("loading the workload")
        seed_everything(request.options.seed)
        workload = load(request.workload, device, compiler(request))
        memory = PeakMemory(device)
        arm = prepare(request, workload, device)
        passes = {phase: _Pass(arm, phase, request.time_shares_inputs) for phase in request.time_phases}
        parent.result({})
        while True:
            command = parent.command()
            if command.get("first_calls"):
                for phase, one in passes.items():
                    parent.stage(f"making the first calls ({phase})")
                    one.first_calls()
                parent.result({})
            elif command.get("warm_up"):
                if device.type == "cuda" and request.time_core is not None:
                    stay_on(request.time_core)
                estimates: dict[str, float] = {}
                warm_ups: dict[str, dict[str, Any]] = {}
                for phase, one in passes.items():
                    parent.stage(f"warming up ({phase})")
                    estimates[phase], warm_ups[phase] = one.warm_up()
                memory.restart()
                parent.stage("timing")
                parent.result({"estimate_ms": estimates, "warm_up": warm_ups})
            elif command.get("finish"):
                peak = memory.bytes()
                parent.stage("counting launches")
                parent.result(
                    {"peak_memory_bytes": peak, "launches": {phase: one.launches() for phase, one in passes.items()}}
                )
                return
            else:
                parent.result({"samples_ms": passes[command["phase"]].timed(int(command["calls"]))})


def stay_on(core: int) -> None:
    """Keeps this thread, and those in which autograd runs, on one core, where the system can do that.

    The arms of a comparison take turns on the same core. On the host of an H200 (2026-11-22), whose cores differ from
    moment to moment, the same two programs gave ratios from 3.0 to 7.3 in eight runs, and 5.0 to 5.3
    in four on one core.
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})
        for thread in Path("/proc/self/task").iterdir():
            if (thread / "comm").read_text(encoding="utf-8", errors="replace").startswith("pt_autograd"):
                os.sched_setaffinity(int(thread.name), {core})


class _Pass:
    """One sample's worth of work: a call of every input set.

    The phase is "inference" (forward without gradients), "training" (forward, then backward) or "step" (the callable
    does its own backward pass).
    """

    def __init__(self, arm: Arm, phase: str, shares_inputs: bool) -> None:
        self._arm = arm
        self._phase = phase
        self._shares = shares_inputs
        self._sets = arm.workload.input_sets
        self._shared = tuple(inputs.copy() for inputs in self._sets)
        self._weights: list[list[torch.Tensor] | None] = [None] * len(self._sets)
        self._cuda = arm.device.type == "cuda"
        self._first = _FEWEST if world_size() == 1 else _CALLS_OF_RANKS

    def first_calls(self) -> None:
        """Has everything compiled that the calls need, so that this is not taken for warming up."""
        self.timed(self._first)
        # What compiling has left alive is not looked through again: that took longer than the calls between two times.
        gc.collect()
        gc.freeze()

    def warm_up(self) -> tuple[float, dict[str, Any]]:
        """Runs until the time per call is steady, with a limit; the last median in ms, and what it took.

        Steady are three windows in a row whose medians lie within 3 %. A window lasts long enough for clocks to move.
        """
        started = time.perf_counter()
        done, size = self._first, self._first
        medians: list[float] = []
        while True:
            medians.append(statistics.median(self.timed(size)))
            done += size
            spent = time.perf_counter() - started
            last = medians[-3:]
            steady = len(last) == 3 and max(last) <= (1 + _STEADY) * min(last)
            # All ranks of a job must make the same calls, whatever each of them measures.
            enough = len(medians) == 3 if world_size() > 1 else spent > WARM_UP_S or done >= WARM_UP_PASSES
            if enough or (steady and world_size() == 1):
                return medians[-1], {"calls": done * len(self._sets), "seconds": spent, "steady": steady}
            if world_size() == 1:
                pass_s = medians[-1] * len(self._sets) / 1000.0
                size = max(_FEWEST, min(_MOST, math.ceil(_WINDOW_S / max(pass_s, 1e-6))))

    def launches(self) -> int | None:
        """What one call launches on the device, over all input sets the mean, rounded up; None where not counted."""
        sets = self._shared if self._shares else tuple(item.copy() for item in self._sets)
        total = launches(lambda: self._once(sets), self._arm.device)
        return None if total is None else math.ceil(total / len(self._sets))

    def timed(self, count: int) -> list[float]:
        """Times `count` passes; milliseconds per call."""
        inputs = [self._shared if self._shares else tuple(item.copy() for item in self._sets) for _ in range(count)]
        gc.collect()
        gc.disable()
        try:
            samples = self._on_cuda(inputs) if self._cuda else self._on_cpu(inputs)
        finally:
            gc.enable()
        return [sample / len(self._sets) for sample in samples]

    def _on_cpu(self, inputs: list[tuple[InputSet, ...]]) -> list[float]:
        samples = []
        for sets in inputs:
            started = time.perf_counter()
            self._once(sets)
            samples.append((time.perf_counter() - started) * 1000.0)
        return samples

    def _on_cuda(self, inputs: list[tuple[InputSet, ...]]) -> list[float]:
        if world_size() == 1:  # all ranks of a job must make the same calls
            self._lead_in(inputs[0])
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(len(inputs) + 1)]
        torch.cuda.synchronize(self._arm.device)
        marks[0].record()
        for sets, mark in zip(inputs, marks[1:], strict=True):
            self._once(sets)
            mark.record()
        torch.cuda.synchronize(self._arm.device)
        return [before.elapsed_time(after) for before, after in itertools.pairwise(marks)]

    def _lead_in(self, sets: tuple[InputSet, ...]) -> None:
        """Calls until the caches of the core are this arm's again."""
        started = time.perf_counter()
        while time.perf_counter() - started < _LEAD_S:
            self._once(sets if self._shares else tuple(item.copy() for item in sets))

    def _once(self, sets: tuple[InputSet, ...]) -> None:
        for index, inputs in enumerate(sets):
            if self._phase == "inference":
                with torch.no_grad():
                    self._arm.run(inputs)
            else:
                self._train(index, inputs)

    def _train(self, index: int, inputs: InputSet) -> None:
        self._arm.clear_gradients()
        for _, tensor in inputs.tensors():
            if tensor.is_leaf:
                tensor.grad = None
        outputs = self._arm.run(inputs)
        if self._phase == "step":
            return
        leaves = [t for _, t in output_tensors(outputs) if t.requires_grad and t.is_floating_point()]
        weights = self._weights[index]
        if weights is None or [w.shape for w in weights] != [t.shape for t in leaves]:
            # Made once: they are no part of the program's work.
            weights = self._weights[index] = [torch.ones_like(tensor) for tensor in leaves]
        if leaves:
            torch.autograd.backward(leaves, weights)
