"""Runs a workload compiled, for its logs: `python -m compilefix.measuring.traced_workload SPEC` under TORCH_TRACE."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from compilefix.measuring.arm import compiler, prepare, resolve_device, seed_everything
from compilefix.measuring.request import Options, WorkerRequest, WorkloadError
from compilefix.measuring.workload import load


def main(words: Sequence[str]) -> int:
    """Call the workload, and its backward pass where it has one, several times with each input set."""
    parser = argparse.ArgumentParser(prog="traced_workload", description=__doc__)
    parser.add_argument("spec")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--training", action=argparse.BooleanOptionalAction, default=None)
    parser.add_argument("--inference", dest="training", action="store_false")
    asked = parser.parse_args(words)
    try:
        options = Options(asked.device, asked.mode, asked.backend, asked.training, asked.calls)
        device = resolve_device(options.device)
        seed_everything(options.seed)
        request = WorkerRequest("trace", "observe", True, asked.spec, options, Path())
        workload = load(asked.spec, device, compiler(request))
    except (WorkloadError, ValueError) as error:
        print(f"compilefix: {error}", file=sys.stderr)
        return 2
    arm = prepare(request, workload, device)
    for _ in range(options.calls):
        for inputs in workload.input_sets:
            arm.clear_gradients()
            outputs = arm.run(inputs.copy())
            if arm.with_grad:
                arm.backward(outputs)
    arm.synchronize()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
