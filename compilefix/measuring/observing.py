"""The worker's part of the parity and break check: runs every input set several times in a row and records it all."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch

from compilefix.measuring.arm import (
    Arm,
    StateWatch,
    changed_inputs,
    compiler,
    prepare,
    resolve_device,
    seed_everything,
    without_graph,
)
from compilefix.measuring.branches import BranchCounts
from compilefix.measuring.breaks import BreakCollector
from compilefix.measuring.environment import describe
from compilefix.measuring.request import ArmResult, WorkerRequest
from compilefix.measuring.snapshot import Node, freeze, without_addresses
from compilefix.measuring.transcript import recorded
from compilefix.measuring.workload import InputSet, load

Stage = Callable[[str], None]


def observe(request: WorkerRequest, stage: Stage) -> ArmResult:
    """Runs the arm. Raises WorkloadError when the workload cannot be loaded; what a call raises is recorded."""
    counts = BranchCounts()
    if request.role == "cover":
        counts.install()
    device = resolve_device(request.options.device)
    get_ready(device, request.compiled)
    with overlaid(request):
        stage("loading the workload")
        seed_everything(request.options.seed)
        workload = load(request.workload, device, compiler(request))
        if request.compiled:
            from torch._inductor import config

            # Compiled code then draws the same random numbers as eager code, so that dropout can be compared.
            config.fallback_random = True
            with BreakCollector() as collector:
                result = _run(prepare(request, workload, device), request, stage, collector)
            result = replace(
                result,
                break_sites=collector.break_sites,
                recompiles=collector.recompiles,
                skipped_frames=collector.skipped_frames,
                compile_s=collector.compile_s,
                notes=tuple(collector.notes),
            )
        else:
            result = _run(prepare(request, workload, device), request, stage, None)
    return replace(result, branches=counts.counts, environment=describe(request.options, device))


@contextlib.contextmanager
def overlaid(request: WorkerRequest) -> Iterator[None]:
    """Serves the request's overlay to imports while the body runs."""
    if not request.overlay:
        yield
        return
    from compilefix.fixing.overlay import install

    with install(
        dict(request.overlay.sources),
        {module.name: (module.path, module.text) for module in request.overlay.new_modules},
    ):
        yield


def get_ready(device: torch.device, compiling: bool) -> None:
    """Starts the device and imports the compiler, so that the first call's time is that of compiling alone."""
    torch.ones(2, device=device).sum().item()
    if compiling:
        importlib.import_module("torch._dynamo")
        importlib.import_module("torch._inductor.compile_fx")


def _run(arm: Arm, request: WorkerRequest, stage: Stage, collector: BreakCollector | None) -> ArmResult:
    watch = StateWatch(arm)
    records: list[dict[str, Any]] = []
    graphs: dict[int, int] = {}
    first_call_s: float | None = None
    untraced = _untraced(request)
    for call in range(request.options.calls):
        for index, inputs in enumerate(arm.workload.input_sets):
            stage(f"running call {call + 1} of input set {index + 1}")
            runs, compilations = _counted(collector)
            seed_everything(request.options.seed + call)
            record, seconds = _one_call(arm, inputs, watch, request, untraced)
            first_call_s = seconds if first_call_s is None else first_call_s
            now_runs, now_compilations = _counted(collector)
            graphs[index] = now_runs - runs
            records.append({"call": call, "set": index, "compiled": now_compilations > compilations, **record})
    file = request.folder / "observations.pt"
    torch.save(records, file)
    return ArmResult(
        graphs_per_call=max(graphs.values()),
        first_call_s=first_call_s,
        trains=arm.trains,
        mutates_inputs=any(record["inputs"] for record in records),
        raised=any(record["exception"] is not None for record in records),
        observations=file,
    )


def _one_call(
    arm: Arm, inputs: InputSet, watch: StateWatch, request: WorkerRequest, untraced: Callable[[Any], Any]
) -> tuple[dict[str, Any], float]:
    fresh = inputs.copy()
    arm.clear_gradients()
    outputs: Any = None
    exception: dict[str, str] | None = None
    with recorded(request.folder, untraced) as transcript:
        started = time.perf_counter()
        try:
            outputs = arm.run(fresh)
            arm.synchronize()
        except (Exception, SystemExit) as error:
            exception = _described(error, "call")
        seconds = time.perf_counter() - started
        frozen = freeze(outputs)
        own_gradients = any(node["kind"] == "tensor" for node in arm.gradients(fresh).values())
        if exception is None and arm.with_grad:
            started = time.perf_counter()
            try:
                trained = arm.backward(outputs)
                arm.synchronize()
            except (Exception, SystemExit) as error:
                trained = False
                if not without_graph(error):
                    exception = _described(error, "backward")
            seconds += time.perf_counter() - started
            if own_gradients and arm.trains != "backward":
                arm.trains = "own"
            elif trained:
                arm.trains = "backward"
    gradients: dict[str, Node] = arm.gradients(fresh) if arm.with_grad else {}
    record = {
        "outputs": frozen,
        "gradients": gradients,
        "state": watch.changes(),
        "inputs": changed_inputs(inputs, fresh),
        "exception": exception,
        "text": transcript.to_dict(),
        "random": hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest(),
    }
    return record, seconds


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
