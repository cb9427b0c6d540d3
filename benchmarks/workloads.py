"""Runs `compilefix verify` on workloads, one after another, and prints a Markdown table of what it measured.

    python benchmarks/workloads.py --mode default --mode reduce-overhead --out results/
    python benchmarks/workloads.py --hand-fixed --mode reduce-overhead transformer moe
    python benchmarks/workloads.py benchmarks/public_models.py:bart --fix transformers.models.bart

A shipped workload can be given by its name. With `--hand-fixed`, the version of it in `benchmarks/hand_fixed` is timed
in the same run, and the table tells its time over that of the fixed code: 0.95 and more means within 5 %.

Each verdict is also written as JSON. Nothing is asserted here: the numbers are for people.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SHIPPED = ("transformer", "cnn_aux", "moe", "detection_head", "training_step")
MODELS = Path(__file__).parent.parent / "fixtures" / "models"
HAND_FIXED = Path(__file__).parent / "hand_fixed"


def main() -> None:
    """Verify each workload in each mode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=list(SHIPPED))
    parser.add_argument(
        "--fix", action="append", default=[], metavar="MODULE", help="fix the files of this module or package"
    )
    parser.add_argument("--hand-fixed", action="store_true", help="time the version fixed by hand in the same run")
    parser.add_argument("--mode", action="append", default=[])
    parser.add_argument("--out", type=Path, default=Path("results"))
    parser.add_argument("--verify", nargs=argparse.REMAINDER, default=[], help="options for compilefix verify")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    paths = [str(_files(name)) for name in options.fix]
    rows = []
    for mode in options.mode or ["default"]:
        for given in options.workloads:
            workload = f"{MODELS / given}.py:workload" if given in SHIPPED else given
            name = f"{Path(workload.rpartition(':')[0]).stem}-{workload.rpartition(':')[2]}-{mode}"
            report = options.out / f"{name}.json"
            report.unlink(missing_ok=True)
            start = time.perf_counter()
            command = [
                sys.executable,
                "-m",
                "compilefix",
                "verify",
                workload,
                *paths,
                "--mode",
                mode,
                "--json",
                str(report),
                *(_compare_with(workload) if options.hand_fixed else []),
                *options.verify,
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            (options.out / f"{name}.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
            seconds = time.perf_counter() - start
            print(f"{name}: exit {done.returncode}, {seconds:.0f} s", file=sys.stderr, flush=True)
            if report.exists():
                verdict = json.loads(report.read_text(encoding="utf-8"))
                rows.append(_row(workload, mode, verdict))
                if verdict["verdict"] != "proved":
                    print(*(f"    {reason}" for reason in verdict["reasons"]), sep="\n", file=sys.stderr, flush=True)
            else:
                print(done.stdout[-2000:] + done.stderr[-2000:], file=sys.stderr)
    _table(rows)


def _compare_with(workload: str) -> list[str]:
    file = HAND_FIXED / Path(workload.rpartition(":")[0]).name
    return ["--compare-with", f"{file}:workload"] if file.is_file() else []


def _files(module: str) -> Path:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise SystemExit(f"no module {module}")
    origin = Path(spec.origin)
    return origin.parent if origin.name == "__init__.py" else origin


def _row(workload: str, mode: str, verdict: dict[str, Any]) -> list[str]:
    before, after = verdict["before"], verdict["after"]
    return [
        Path(workload.rpartition(":")[0]).stem
        + ("" if workload.endswith(":workload") else ":" + workload.rpartition(":")[2]),
        mode,
        f"{len(before['break_sites'])} -> {len(after['break_sites'])}",
        f"{before['graphs_per_call']} -> {after['graphs_per_call']}",
        _arrow(before["latency_ms"], after["latency_ms"]),
        _ratio(verdict["speedup"]["inference"]),
        _arrow(before["training_latency_ms"], after["training_latency_ms"]),
        _ratio(verdict["speedup"]["training"]),
        *(_ratio((verdict["compared_speedup"] or {}).get(phase)) for phase in ("inference", "training")),
        verdict["parity"]["outputs"] + ", " + verdict["parity"]["gradients"],
        verdict["verdict"],
    ]


def _arrow(before: dict[str, float] | None, after: dict[str, float] | None) -> str:
    return f"{before['median']:.3f} -> {after['median']:.3f}" if before and after else "-"


def _ratio(item: dict[str, float] | None) -> str:
    return f"{item['ratio']:.2f} ({item['low']:.2f} to {item['high']:.2f})" if item else "-"


def _table(rows: list[list[str]]) -> None:
    heads = [
        "workload",
        "mode",
        "break sites",
        "graphs per call",
        "inference, ms",
        "speedup",
        "training step, ms",
        "speedup",
        "hand-fixed over fixed, inference",
        "training step",
        "outputs, gradients",
        "verdict",
    ]
    for row in [heads, ["---"] * len(heads), *rows]:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
