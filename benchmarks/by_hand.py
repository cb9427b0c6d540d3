"""How fast the code that compilefix fixed is beside code that was fixed by hand, call by call in one process.

    python benchmarks/by_hand.py --mode reduce-overhead --json by_hand.json
    python benchmarks/by_hand.py --device cpu --processes 2 --seconds 2 training_step

`verify --compare-with` measures the same after it has compared the results, with a process for each arm: on a busy
host, two processes with the same code can differ by more than the code does. Here both are compiled in one process and
take turns of a few calls each, so that what slows the machine slows both. The order in which they were made can matter
a little: every other process makes them in the other order, and what differs between processes widens the interval. All
processes load and compile side by side; then one after the other is timed, while nothing else runs.

The code fixed by hand compiles a method of its model, which is the faster way to call what is compiled; the workloads
compile the model itself, and compilefix leaves that as it is. So a third arm has the code fixed by hand, its method
compiled as the `forward` of a module: what is left between it and the fixed code is the work of the fixes.

Prints a Markdown table of the time by hand over the time of the fixed code: 0.95 means that the code fixed by hand
takes 5 % less. A call is timed with a synchronization before and after it. The numbers are for people.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import io
import json
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent / "fixtures" / "models"
SHIPPED = ("transformer", "cnn_aux", "moe", "detection_head", "training_step")
ARMS = ("fixed", "hand", "hand, module")
CALLS = 5
"""Calls of an arm in its turn, after one that is not timed."""
WARM_UP = 30
FEWEST_ROUNDS = 5


def main() -> int:
    """Start all processes, time one after the other, and print the table."""
    asked = _asked()
    if asked.child is not None:
        _child(asked, int(asked.child))
        return 0
    started = time.monotonic()
    failed: list[str] = []
    taken: dict[str, list[dict[str, Any]]] = {name: [] for name in asked.workloads}
    with tempfile.TemporaryDirectory(prefix="by-hand-", ignore_cleanup_errors=True) as folder:
        for name in asked.workloads:
            _write_fixed(name, Path(folder) / name)
        wanted = [(name, number) for number in range(asked.processes) for name in asked.workloads]
        with ThreadPoolExecutor(max_workers=asked.at_once) as pool:
            children = list(pool.map(lambda one: _started(asked, *one, Path(folder)), wanted))
        print(f"all have compiled after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        for (name, number), child in zip(wanted, children, strict=True):
            said, _ = child.communicate("go\n" if time.monotonic() - started < asked.budget else "")
            if said:
                taken[name].append(json.loads(said))
            else:
                failed.append(f"{name}, process {number + 1}: not timed")
    rows = [row for name, processes in taken.items() for row in _rows(name, processes)]
    heads = ["phase", "fixed, ms", "by hand, ms", "by hand over fixed", "by hand, as a module, over fixed", "processes"]
    print(f"| workload, `{asked.mode}` |", " | ".join(heads), "|")
    print("|---" * (len(heads) + 1) + "|")
    for row in rows:
        ratios = [row["by hand over fixed"], row["by hand, as a module, over fixed"]]
        words = [row["workload"], row["phase"], f"{row['fixed_ms']:.3f}", f"{row['by_hand_ms']:.3f}"]
        words += [f"{ratio['ratio']:.3f} ({ratio['low']:.3f} to {ratio['high']:.3f})" for ratio in ratios]
        print("|", " | ".join([*words, str(ratios[0]["processes"])]), "|")
    print(*failed, sep="\n", file=sys.stderr)
    if asked.json is not None:
        asked.json.write_text(json.dumps({"version": 1, "mode": asked.mode, "rows": rows}, indent=2) + "\n")
    return 1 if failed else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=list(SHIPPED), help="names of shipped workloads")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--processes", type=int, default=4, help="for each workload")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each phase in each process")
    parser.add_argument("--at-once", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="that compile together")
    parser.add_argument("--budget", type=float, default=3600.0, help="time no process after this many seconds")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    parser.add_argument("--folder", type=Path, default=None, help=argparse.SUPPRESS)
    parser.add_argument("--child", default=None, help=argparse.SUPPRESS)
    return parser.parse_args()


def _write_fixed(name: str, folder: Path) -> None:
    """Writes the shipped model as compilefix fixes it, and its helper module."""
    from compilefix.cli.inputs import Request
    from compilefix.cli.workloads import changes

    folder.mkdir()
    for change in changes(f"{MODELS / name}.py:workload", Request(paths=[]), None, False).patchset:
        (folder / change.path.name).write_text(change.after, encoding="utf-8")


def _started(asked: argparse.Namespace, name: str, number: int, folder: Path) -> subprocess.Popen[str]:
    """A process that has compiled both arms."""
    command = [sys.executable, str(Path(__file__).resolve()), name, "--child", str(number), "--mode", asked.mode]
    command += ["--device", asked.device, "--seconds", str(asked.seconds), "--folder", str(folder / name)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    return child


def _child(asked: argparse.Namespace, number: int) -> None:
    """Compile both arms, say so, and time them when asked: prints the samples in ms by phase, arm and round."""
    import torch

    (name,) = asked.workloads
    answer = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    sys.stdout = io.StringIO()  # what the models print
    logging.basicConfig(level=logging.INFO, stream=sys.stdout)
    arms = {arm: _loaded(arm, name, asked) for arm in (ARMS if number % 2 == 0 else ARMS[::-1])}
    trained = all(model.training for _, model, _ in arms.values())
    passes = {"inference": _inference, "training": _training} if trained else {"inference": _inference}
    called = {phase: {arm: one(*parts) for arm, parts in arms.items()} for phase, one in passes.items()}
    for by_arm in called.values():
        for call in by_arm.values():
            for _ in range(WARM_UP):
                call()
    gc.collect()
    gc.freeze()
    print("compiled", file=answer, flush=True)
    if not sys.stdin.readline():
        return
    gc.disable()
    wait: Callable[[], object] = torch.cuda.synchronize if asked.device.startswith("cuda") else int
    samples = {phase: _timed(by_arm, wait, asked.seconds) for phase, by_arm in called.items()}
    print(json.dumps(samples), file=answer, flush=True)


def _loaded(arm: str, name: str, asked: argparse.Namespace) -> tuple[Callable[..., Any], Any, list[Any]]:
    """The callable of an arm, its module, and one set of inputs."""
    import torch

    def compiled(function: Callable[..., Any]) -> Any:
        return torch.compile(function, mode=asked.mode)

    if arm != "fixed":
        way = compiled if arm == "hand" else lambda method: _plain(compiled(_as_module(method)))
        model, sets = _imported("by_hand", HERE / "hand_fixed" / f"{name}.py").workload(asked.device, way)
        return model, model, list(sets[0])
    sys.path.insert(0, str(asked.folder))
    model, sets = _imported("fixed", asked.folder / f"{name}.py").workload(asked.device)
    helper = asked.folder / "_compile_boundary.py"
    called = compiled(model)
    return (_imported(helper.stem, helper).boundary(called) if helper.exists() else called), model, list(sets[0])


def _as_module(method: Any) -> Any:
    """A module whose `forward` is a method of another."""
    from torch import nn

    function = method.__func__

    class Whole(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = method.__self__

        def forward(self, *inputs: Any) -> Any:
            return function(self.model, *inputs)

    return Whole()


def _plain(module: Callable[..., Any]) -> Callable[..., Any]:
    """A function that calls a module: as an attribute of the model the module would become a part of it."""
    return lambda *inputs: module(*inputs)


def _imported(name: str, path: Path) -> Any:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _inference(called: Callable[..., Any], _: Any, inputs: list[Any]) -> Callable[[], None]:
    import torch

    def call() -> None:
        with torch.no_grad():
            called(*inputs)

    return call


def _training(called: Callable[..., Any], model: Any, inputs: list[Any]) -> Callable[[], None]:
    """A call with its backward pass."""
    import torch
    from torch.utils._pytree import tree_leaves

    weights: list[torch.Tensor] = []

    def call() -> None:
        for parameter in model.parameters():
            parameter.grad = None
        outputs = [tensor for tensor in tree_leaves(called(*inputs)) if tensor.requires_grad]
        if not weights:  # made once: they are no part of the program's work
            weights.extend(torch.ones_like(tensor) for tensor in outputs)
        torch.autograd.backward(outputs, weights)

    return call


def _timed(
    arms: dict[str, Callable[[], None]], wait: Callable[[], object], seconds: float
) -> dict[str, list[list[float]]]:
    """Milliseconds of the calls of each arm, by round."""
    samples: dict[str, list[list[float]]] = {arm: [] for arm in ARMS}
    started = time.monotonic()
    while time.monotonic() - started < seconds or len(samples["hand"]) < FEWEST_ROUNDS:
        turn = len(samples["hand"])
        first = turn % len(ARMS)
        order = (*ARMS[first:], *ARMS[:first])
        for arm in order if turn // len(ARMS) % 2 == 0 else order[::-1]:
            arms[arm]()
            block = []
            for _ in range(CALLS):
                wait()
                start = time.perf_counter()
                arms[arm]()
                wait()
                block.append((time.perf_counter() - start) * 1e3)
            samples[arm].append(block)
    return samples


def _rows(name: str, processes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the table says of a workload: medians in ms, and the ratio over all its processes."""
    from compilefix.measuring.interval import latency, speedup

    rows = []
    for phase in sorted({phase for one in processes for phase in one}):
        arms = {arm: [one[phase][arm] for one in processes] for arm in ARMS}
        medians = {arm: latency([s for one in arms[arm] for block in one for s in block]).median for arm in ARMS}
        row = {"workload": name, "phase": phase, "fixed_ms": medians["fixed"], "by_hand_ms": medians["hand"]}
        by_process = [
            speedup([hand], [fixed], seed=0).ratio for hand, fixed in zip(arms["hand"], arms["fixed"], strict=True)
        ]
        ratio = asdict(speedup(arms["hand"], arms["fixed"], seed=0))
        alike = asdict(speedup(arms["hand, module"], arms["fixed"], seed=0))
        rows.append(
            {**row, "by hand over fixed": ratio, "by process": by_process, "by hand, as a module, over fixed": alike}
        )
    return rows


if __name__ == "__main__":
    sys.exit(main())
