"""The worker's part of the parity and break check: runs one arm and records it all."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterator
from dataclasses import replace

import torch

from compilefix.measuring.arm import compiler, prepare, resolve_device, seed_everything
from compilefix.measuring.breaks import BreakCollector
from compilefix.measuring.calling import Stage, run_calls
from compilefix.measuring.environment import describe
from compilefix.measuring.exploring import explore, recompiled_by_size
from compilefix.measuring.probes import ProbeCounts
from compilefix.measuring.request import ArmResult, VariedResult, WorkerRequest
from compilefix.measuring.state import Checkpoint
from compilefix.measuring.workload import load


def observe(request: WorkerRequest, stage: Stage) -> Iterator[ArmResult | VariedResult]:
    """Runs the arm: first with the inputs of the workload, then, where the request asks for it, with varied ones.

    Raises WorkloadError when the workload cannot be loaded; what a call raises is recorded.
    """
    counts = ProbeCounts()
    counts.install()
    device = resolve_device(request.options.device)
    get_ready(device, request)
    with overlaid(request):
        stage("loading the workload")
        seed_everything(request.options.seed)
        workload = load(request.workload, device, compiler(request))
        if not request.compiled:
            arm = prepare(request, workload, device)
            checkpoint = Checkpoint(arm.state)
            result = run_calls(arm, request, stage, None)
            yield replace(result, branches=counts.counts, environment=describe(request.options, device))
            if request.vary_s:
                yield explore(arm, request, checkpoint, counts, stage)
            return
        from torch._inductor import config

        # Compiled code then draws the same random numbers as eager code, so that dropout can be compared.
        config.fallback_random = True
        with BreakCollector() as collector:
            arm = prepare(request, workload, device)
            checkpoint = Checkpoint(arm.state)
            result = run_calls(arm, request, stage, collector)
            yield replace(
                result,
                break_sites=collector.break_sites,
                recompiles=collector.recompiles,
                skipped_frames=collector.skipped_frames,
                compile_s=collector.compile_s,
                notes=tuple(collector.notes),
                environment=describe(request.options, device),
            )
            if request.vary_s:
                varied = explore(arm, request, checkpoint, None, stage)
        if request.vary_s:
            resized = recompiled_by_size(workload, request, checkpoint, device, stage)
            yield replace(varied, resized=resized, sizes=request.sizes)


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


def get_ready(device: torch.device, request: WorkerRequest) -> None:
    """Starts the device and imports the compiler, so that the first call's time is that of compiling alone."""
    torch.ones(2, device=device).sum().item()
    if not request.compiled:
        return
    importlib.import_module("torch._dynamo")
    # FX prints where a graph raised, unless something broke it before: torch's words, which are not the program's.
    vars(importlib.import_module("torch.fx.graph_module"))["print"] = lambda *_, **__: None
    if request.options.backend == "eager":
        # It needs nothing of Inductor, whose import takes as long as all the rest; naming backends imports theirs.
        torch._dynamo.list_backends()
    else:
        importlib.import_module("torch._inductor.compile_fx")
