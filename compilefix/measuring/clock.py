"""The worker's part of the timing: keeps one arm warm and times calls when the parent asks for them."""

from __future__ import annotations

import gc
import itertools
import statistics
import time
from typing import TYPE_CHECKING

import torch

from compilefix.measuring.arm import Arm, output_tensors, prepare, resolve_device, seed_everything
from compilefix.measuring.observing import get_ready, overlaid
from compilefix.measuring.request import WorkerRequest
from compilefix.measuring.workload import InputSet, load

if TYPE_CHECKING:
    from compilefix.measuring.worker import Parent

WARM_UP_S = 2.0
WARM_UP_CALLS = 300
_WINDOW = 5
_STABLE = 0.05


def serve(request: WorkerRequest, parent: Parent) -> None:
    """Warms up, says how long a call takes, and then answers `{"phase", "calls"}` with samples in milliseconds.

    `{"finish": true}` is answered with the peak of the device memory over the whole life of the arm, in bytes.
    """
    device = resolve_device(request.options.device)
    get_ready(device, request.compiled)
    with overlaid(request):
        parent.stage("loading the workload")
        seed_everything(request.options.seed)
        workload = load(request.workload, device)
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        arm = prepare(request, workload, device)
        passes = {phase: _Pass(arm, phase, request.time_shares_inputs) for phase in request.time_phases}
        estimates = {}
        for phase, one in passes.items():
            parent.stage(f"warming up ({phase})")
            estimates[phase] = one.warm_up()
        parent.stage("timing")
        parent.result({"estimate_ms": estimates})
        while True:
            command = parent.command()
            if command.get("finish"):
                peak = torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None
                parent.result({"peak_memory_bytes": peak})
                return
            parent.result({"samples_ms": passes[command["phase"]].timed(int(command["calls"]))})


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

    def warm_up(self) -> float:
        """Runs until the time per pass is steady, at most for a fixed time or count; the last median, in ms."""
        durations: list[float] = []
        started = time.perf_counter()
        while True:
            durations += self.timed(_WINDOW)
            recent, before = durations[-_WINDOW:], durations[-2 * _WINDOW : -_WINDOW]
            now = statistics.median(recent)
            steady = bool(before) and abs(now - statistics.median(before)) <= _STABLE * now
            spent = time.perf_counter() - started
            if len(durations) >= 3 * _WINDOW and (steady or spent > WARM_UP_S or len(durations) >= WARM_UP_CALLS):
                return now
            if spent > 20 * WARM_UP_S and len(durations) >= 2 * _WINDOW:
                return now

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
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(len(inputs) + 1)]
        torch.cuda.synchronize(self._arm.device)
        marks[0].record()
        for sets, mark in zip(inputs, marks[1:], strict=True):
            self._once(sets)
            mark.record()
        torch.cuda.synchronize(self._arm.device)
        return [before.elapsed_time(after) for before, after in itertools.pairwise(marks)]

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
