"""How fast the code that compilefix fixed is beside code that was fixed by hand: many processes, only times.

    python benchmarks/by_hand.py --mode reduce-overhead --processes 6 --repeats 15 --json by_hand.json
    python benchmarks/by_hand.py --device cpu --processes 2 --repeats 5 training_step

`verify --compare-with` measures the same, after it has compared the results. It shares its rounds with the code as
written, whose calls take many times as long, so that the two fast arms get few calls, and its processes come one after
the other. Here only those two arms are timed. All processes load and compile first, side by side; then one pair of them
after the other takes its rounds, while nothing else runs on the machine.

Prints a Markdown table of the time by hand over the time of the fixed code: 0.95 means that the code fixed by hand
takes 5 % less. What is known of a ratio is its 95 % interval. The numbers are for people, and nothing is asserted.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from compilefix.cli.inputs import Request
from compilefix.cli.workloads import changes
from compilefix.measuring.interval import Process, latency, speedup
from compilefix.measuring.overlays import overlays
from compilefix.measuring.process import Worker, WorkerFailed
from compilefix.measuring.request import Options, WorkerRequest
from compilefix.measuring.timed_arms import compared_request

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent / "fixtures" / "models"
SHIPPED = ("transformer", "cnn_aux", "moe", "detection_head", "training_step")
ARMS = ("fixed", "hand")
PHASES = ("inference", "training")
WITHOUT_TRAINING = ("transformer",)
"""It is a model for inference: its calls give nothing that has a gradient."""


@dataclass
class Pair:
    """The process of that number of each arm, and what their rounds took in ms, by phase and arm."""

    workload: str
    number: int
    workers: dict[str, Worker]
    samples: dict[str, dict[str, list[list[float]]]] = field(default_factory=dict)


def main() -> int:
    """Start all processes, time one pair after the other, and print the table."""
    asked = _asked()
    started = time.monotonic()
    options = Options(device=asked.device, mode=asked.mode, repeats=max(5, asked.repeats), timeout_s=asked.timeout)
    failed: list[str] = []
    with (
        tempfile.TemporaryDirectory(prefix="by-hand-", ignore_cleanup_errors=True) as name,
        contextlib.ExitStack() as stack,
    ):
        pairs = _started(asked, options, Path(name), stack, failed)
        print(f"{len(pairs)} pairs are ready after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        # Round by round over the workloads: what disturbs the machine for a minute does not fall on one of them alone.
        for pair in sorted(pairs, key=lambda one: one.number):
            if time.monotonic() - started > asked.budget:
                failed.append(f"{pair.workload}: no time was left for a pair of processes")
                continue
            try:
                _timed(pair, asked.repeats, asked.calls)
            except WorkerFailed as failure:
                failed.append(f"{pair.workload}: {failure}")
            took = time.monotonic() - started
            print(f"{pair.workload}: a pair timed, {took:.0f} s", file=sys.stderr, flush=True)
    rows = [row for workload in asked.workloads for row in _rows(workload, pairs)]
    print(f"| workload, `{asked.mode}` | phase | fixed, ms | by hand, ms | by hand over fixed | pairs of processes |")
    print("|---|---|---|---|---|---|")
    for row in rows:
        ratio = row["by hand over fixed"]
        interval = f"{ratio['ratio']:.3f} ({ratio['low']:.3f} to {ratio['high']:.3f})"
        words = [row["workload"], row["phase"], f"{row['fixed_ms']:.3f}", f"{row['by_hand_ms']:.3f}", interval]
        print("|", " | ".join([*words, str(ratio["processes"])]), "|")
    print(*failed, sep="\n", file=sys.stderr)
    if asked.json is not None:
        asked.json.write_text(json.dumps({"version": 1, "mode": asked.mode, "rows": rows}, indent=2) + "\n")
    return 1 if failed else 0


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=list(SHIPPED), help="names of shipped workloads")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--processes", type=int, default=4, help="of each arm")
    parser.add_argument("--repeats", type=int, default=15, help="rounds in each process")
    parser.add_argument("--calls", type=int, default=100, help="calls of each arm in a round")
    parser.add_argument("--at-once", type=int, default=max(1, (os.cpu_count() or 1) // 2), help="that compile together")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for each answer of a process")
    parser.add_argument("--budget", type=float, default=3600.0, help="start no timing after this many seconds")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    return parser.parse_args()


def _started(
    asked: argparse.Namespace, options: Options, folder: Path, stack: contextlib.ExitStack, failed: list[str]
) -> list[Pair]:
    """The pairs whose processes have made their first calls. The first pair of each workload fills the caches."""
    requests = {workload: _requests(workload, options, folder) for workload in asked.workloads}
    ready: list[Pair] = []

    def pair(workload: str, number: int) -> None:
        workers = {}
        try:
            for arm, request in requests[workload].items():
                place = folder / f"{workload}-{arm}"
                numbered = replace(request, folder=place.with_name(f"{place.name}-{number}"))
                workers[arm] = stack.enter_context(Worker(numbered, place, lambda _: None))
            for worker in workers.values():
                _answer(worker.answer())
            for worker in workers.values():
                _answer(worker.ask({"first_calls": True}))
        except WorkerFailed as failure:
            failed.append(f"{workload}: {failure}")
        else:
            ready.append(Pair(workload, number, workers))

    # A worker ends with the thread that started it, so that the threads stay until the end.
    pool = stack.enter_context(ThreadPoolExecutor(max_workers=asked.at_once))
    for numbers in ([0], range(1, asked.processes)):
        list(pool.map(lambda one: pair(*one), [(name, number) for number in numbers for name in asked.workloads]))
    return ready


def _requests(workload: str, options: Options, folder: Path) -> dict[str, WorkerRequest]:
    """What both arms are asked: the shipped model with its fixes, in memory, and the file of the expert."""
    spec = f"{MODELS / workload}.py:workload"
    patchset = changes(spec, Request(paths=[]), None, False).patchset
    fixed = WorkerRequest(
        name=f"{workload}, fixed",
        role="time",
        compiled=True,
        workload=spec,
        options=options,
        folder=folder / workload,
        overlay=overlays(patchset)[1],
        boundary=patchset.boundary,
        time_phases=PHASES[:1] if workload in WITHOUT_TRAINING else PHASES,
    )
    return {
        "fixed": fixed,
        "hand": compared_request(fixed, f"{HERE / 'hand_fixed' / workload}.py:workload", options),
    }


def _timed(pair: Pair, repeats: int, calls: int) -> None:
    """Warms both processes up and takes their rounds. Raises WorkerFailed when one gives no answer."""
    for worker in pair.workers.values():
        _answer(worker.ask({"warm_up": True}))
    for phase in PHASES[:1] if pair.workload in WITHOUT_TRAINING else PHASES:
        found = pair.samples[phase] = {arm: [] for arm in ARMS}
        for turn in range(repeats):
            for arm in ARMS if turn % 2 == 0 else reversed(ARMS):
                found[arm].append(_answer(pair.workers[arm].ask({"phase": phase, "calls": calls}))["samples_ms"])


def _answer(answer: dict[str, Any]) -> dict[str, Any]:
    if answer.get("error"):
        raise WorkerFailed(str(answer["error"]))
    return answer


def _rows(workload: str, pairs: list[Pair]) -> list[dict[str, Any]]:
    """What the table says of a workload: medians in ms, and the ratio over all its processes."""
    rows = []
    for phase in PHASES:
        of_workload = [pair.samples.get(phase) for pair in pairs if pair.workload == workload]
        taken = [one for one in of_workload if one and all(one.values())]
        if not taken:
            continue
        arms: dict[str, list[Process]] = {arm: [one[arm] for one in taken] for arm in ARMS}
        medians = {arm: latency([s for p in arms[arm] for block in p for s in block]).median for arm in ARMS}
        rows.append(
            {
                "workload": workload,
                "phase": phase,
                "fixed_ms": medians["fixed"],
                "by_hand_ms": medians["hand"],
                "by hand over fixed": asdict(speedup(arms["hand"], arms["fixed"], seed=0)),
                "processes": [
                    asdict(speedup([hand], [fixed], seed=0))
                    for hand, fixed in zip(arms["hand"], arms["fixed"], strict=True)
                ],
            }
        )
    return rows


if __name__ == "__main__":
    sys.exit(main())
