"""What a log line and a guard in each block of a model cost: as written, and carried to the compile boundary.

    python benchmarks/log_guard_blocks.py --json log_guard_blocks.json
    python benchmarks/log_guard_blocks.py --device cpu --mode default --blocks 2 --width 16 --rounds 3

Three arms alternate in one process: the blocks without log line and guard, as written, and as written but rewritten by
compilefix while it is imported (nothing is written beside it). Afterwards 50 calls of the rewritten arm with new values
must run one graph each and compile nothing, with the same results and log records as eager. Each mode and guard has
processes of its own, so that a failed CUDA graph ends none of the others. Prints a table, and writes JSON with
`--json`; the exit code is 1 where text, results or graphs are not as they should be. The times are for people.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODEL = HERE / "log_guard_model.py"
ASSUMPTIONS = frozenset({"log-late", "exception-late"})
CHECKED_CALLS = 50
ARMS = ("without", "as written", "rewritten")
RATIOS = {
    "rewritten over without": ("rewritten", "without"),
    "as written over rewritten": ("as written", "rewritten"),
}


def main() -> int:
    """Measure each mode and guard in processes of its own."""
    options = _options()
    if options.child:
        print(json.dumps(_child(options)))
        return 0
    reports = []
    for mode in options.mode or ["reduce-overhead", "default"]:
        for guard in options.guard or ["raise", "clamp"]:
            runs = [_in_a_process(options, mode, guard, number) for number in range(options.processes)]
            reports.append(_report(mode, guard, [run for run in runs if run is not None]))
    _print(reports)
    if options.json is not None:
        options.json.write_text(json.dumps({"version": 1, "reports": reports}, indent=2) + "\n", encoding="utf-8")
    return 0 if all(report["runs"] and not report["wrong"] for report in reports) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default=None, help="cuda where there is one, else cpu")
    parser.add_argument("--mode", action="append", default=[], help="of torch.compile; reduce-overhead and default")
    parser.add_argument("--guard", action="append", default=[], choices=("raise", "clamp"))
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--dtype", default=None, help="bfloat16 on a GPU, float32 on a CPU")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--calls", type=int, default=20, help="calls of each arm in a round")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_a_process(options: argparse.Namespace, mode: str, guard: str, number: int) -> dict[str, Any] | None:
    sizes = ("blocks", "width", "batch", "rounds", "calls", "backend")
    command = [sys.executable, str(Path(__file__).resolve()), "--child", "--mode", mode, "--guard", guard]
    command += [part for name in sizes for part in (f"--{name}", str(getattr(options, name)))]
    command += [
        part for name in ("device", "dtype") if getattr(options, name) for part in (f"--{name}", getattr(options, name))
    ]
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(
        f"{mode}, {guard}, process {number + 1}: exit {done.returncode}, {time.perf_counter() - start:.0f} s",
        file=sys.stderr,
        flush=True,
    )
    if done.returncode != 0:
        print(done.stderr[-3000:], file=sys.stderr)
        return None
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


class _Lines(logging.Handler):
    """Keeps the text of the records."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.funcName} {record.getMessage()}")


def _child(options: argparse.Namespace) -> dict[str, Any]:
    import torch

    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = getattr(torch, options.dtype or ("bfloat16" if device == "cuda" else "float32"))
    (mode,), (guard,) = options.mode, options.guard
    written = _imported(MODEL.read_text(encoding="utf-8"), "log_guard_model")
    changed, helper = _rewritten()
    lines = _Lines()
    for module in (written, changed):
        module.logger.handlers[:] = [lines]
        module.logger.propagate = False
        module.logger.setLevel(logging.INFO)
    eager = {
        "without": written.model("plain", options.blocks, options.width),
        "as written": written.model(guard, options.blocks, options.width),
        "rewritten": changed.model(guard, options.blocks, options.width),
    }
    arms: dict[str, Callable[[Any], Any]] = {}
    for name, model in eager.items():
        model.to(device=device, dtype=dtype).eval()
        settings = {"mode": mode} if options.backend == "inductor" else {}
        arms[name] = torch.compile(model, backend=options.backend, **settings)
    arms["rewritten"] = helper.boundary(arms["rewritten"])
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    x = torch.randn(options.batch, options.width, device=device, dtype=dtype)
    with torch.no_grad():
        wrong, compiled = _check(eager["as written"], arms["rewritten"], x, lines, guard)
        for _ in range(10):
            for arm in arms.values():
                arm(x)
        times = _alternate(arms, x, options.rounds, options.calls, wait)
    return {
        "times_ms": times,
        "wrong": wrong,
        "compiled_in_50_calls": compiled,
        "device": torch.cuda.get_device_name() if device == "cuda" else platform.processor() or "cpu",
        "torch": torch.__version__,
        "dtype": str(dtype),
    }


def _rewritten() -> tuple[Any, Any]:
    """The model's module as compilefix rewrites it, and the helper module, both from memory."""
    from compilefix.codemods import registry
    from compilefix.fixing.engine import run
    from compilefix.source.config import Config
    from compilefix.source.files import SourceFile

    source = SourceFile(MODEL, "log_guard_model", MODEL.read_text(encoding="utf-8"))
    rules = list(registry.load().values())
    outcome = run([source], Config(root=HERE), rules=rules, allowed=ASSUMPTIONS)
    # The number that is read for a log line goes where the line goes.
    left = [f for f in outcome.findings if f.fix is None and f.code != "CF201"]
    if left or outcome.patchset.boundary is None:
        raise SystemExit(f"not rewritten: {[f.declined for f in left]}")
    texts = {change.module: change.after for change in outcome.patchset}
    helper = _imported(texts[outcome.patchset.boundary], outcome.patchset.boundary)
    return _imported(texts["log_guard_model"], "log_guard_model", f"{MODEL} (rewritten)"), helper


def _imported(text: str, name: str, path: str | None = None) -> Any:
    """A module made of a text; tracebacks and Dynamo see its lines."""
    import linecache
    import types

    path = path or str(HERE / f"{name}.py")
    module = types.ModuleType(name)
    module.__file__ = path
    # No modification time: linecache then keeps the text that runs, whatever is on disk.
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    sys.modules[name] = module
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def _check(eager: Any, compiled: Any, x: Any, lines: _Lines, guard: str) -> tuple[list[str], int]:
    """What is wrong in 50 calls with new values and one that the guard stops, and how many graphs these compiled."""
    import torch

    wrong: list[str] = []
    with _recorded(compiled, x) as counted:
        for number in range(CHECKED_CALLS):
            value = x * (0.5 + number / CHECKED_CALLS)
            results, records = [], []
            for called in (eager, compiled):
                lines.lines.clear()
                results.append(called(value).clone())
                records.append(list(lines.lines))
            if not torch.allclose(results[0].float(), results[1].float(), rtol=3e-2, atol=3e-2):
                wrong.append(f"call {number}: other results")
            if not _alike(*records):
                wrong.append(f"call {number}: {records[0][:2]} became {records[1][:2]}")
    if counted["compiled"]:
        wrong.append(f"{counted['compiled']} graphs were compiled in {CHECKED_CALLS} calls")
    if counted["graphs per call"] != 1:
        wrong.append(f"{counted['graphs per call']} graphs ran in the first call")
    if guard == "raise":
        bad = x.clone()
        bad[0, 0] = float("nan")
        raised = []
        for called in (eager, compiled):
            try:
                called(bad)
                raised.append("nothing")
            except ValueError as error:
                raised.append(f"ValueError: {error}")
        if raised[0] != raised[1]:
            wrong.append(f"{raised[0]} became {raised[1]}")
    return wrong, counted["compiled"]


@contextlib.contextmanager
def _recorded(compiled: Any, x: Any) -> Iterator[dict[str, int]]:
    """Counts the graphs of the first call, and those that are compiled later."""
    from torch._dynamo.utils import counters

    counters.clear()
    compiled(x)
    counted = {"graphs per call": counters["stats"]["unique_graphs"], "compiled": 0}
    # A second call may compile again where the first one has changed something.
    compiled(x)
    before = counters["stats"]["unique_graphs"]
    yield counted
    counted["graphs per call"] = max(counted["graphs per call"], before)
    counted["compiled"] = counters["stats"]["unique_graphs"] - before


def _alike(one: list[str], other: list[str]) -> bool:
    """Whether the records are the same up to the rounding of the numbers that eager and compiled code compute."""
    if len(one) != len(other) or not one:
        return False
    for left, right in zip(one, other, strict=True):
        (a, number), (b, same) = left.rsplit(" ", 1), right.rsplit(" ", 1)
        if a != b or abs(float(number) - float(same)) > 0.02 * max(1.0, abs(float(number))):
            return False
    return True


def _alternate(
    arms: dict[str, Callable[[Any], Any]], x: Any, rounds: int, calls: int, wait: Callable[[], None]
) -> dict[str, list[list[float]]]:
    """Milliseconds of single calls by arm and round; the order of the arms turns from round to round."""
    taken: dict[str, list[list[float]]] = {name: [] for name in arms}
    names = list(arms)
    for turn in range(rounds):
        order = names[turn % len(names) :] + names[: turn % len(names)]
        for name in order if turn % 2 == 0 else reversed(order):
            block = []
            for _ in range(calls):
                wait()
                start = time.perf_counter()
                arms[name](x)
                wait()
                block.append((time.perf_counter() - start) * 1e3)
            taken[name].append(block)
    return taken


def _report(mode: str, guard: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    from compilefix.measuring.interval import latency, speedup

    report: dict[str, Any] = {"mode": mode, "guard": guard, "runs": len(runs), "wrong": []}
    if not runs:
        return report
    report |= {key: runs[0][key] for key in ("device", "torch", "dtype", "compiled_in_50_calls")}
    report["wrong"] = [text for run in runs for text in run["wrong"]]
    for arm in ARMS:
        samples = [sample for run in runs for block in run["times_ms"][arm] for sample in block]
        seen = latency(samples)
        report[arm] = {"median_ms": seen.median, "p05_ms": seen.p05, "p95_ms": seen.p95, "n": seen.n}
    for name, (slow, fast) in RATIOS.items():
        ratio = speedup([run["times_ms"][slow] for run in runs], [run["times_ms"][fast] for run in runs], seed=0)
        report[name] = {"ratio": ratio.ratio, "low": ratio.low, "high": ratio.high}
    return report


def _print(reports: list[dict[str, Any]]) -> None:
    head = ["mode", "guard", *(f"{arm}, ms" for arm in ARMS), *RATIOS, "checks"]
    print("|", " | ".join(head), "|")
    print("|" + "---|" * len(head))
    for report in reports:
        if not report["runs"]:
            print(f"| {report['mode']} | {report['guard']} | failed | | | | | |")
            continue
        medians = [f"{report[arm]['median_ms']:.3f}" for arm in ARMS]
        ratios = [f"{r['ratio']:.2f} ({r['low']:.2f} to {r['high']:.2f})" for r in (report[name] for name in RATIOS)]
        checks = "; ".join(report["wrong"]) or "held"
        print("|", " | ".join([report["mode"], report["guard"], *medians, *ratios, checks]), "|")


if __name__ == "__main__":
    sys.exit(main())
