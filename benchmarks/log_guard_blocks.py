"""What a log line and a guard in each block of a model cost: as written, and carried to the compile boundary.

    python benchmarks/log_guard_blocks.py --json log_guard_blocks.json
    python benchmarks/log_guard_blocks.py --mode reduce-overhead --processes 1 --at-once 6
    python benchmarks/log_guard_blocks.py --device cpu --mode default --blocks 2 --width 16 --rounds 3

Three arms are timed in turns: the blocks without log line and guard, as written, and as written but rewritten by
compilefix while it is imported (nothing is written beside it). Before that, 50 calls of the rewritten arm with new
values must run one graph each and compile nothing, with the same results and log records as eager. Each arm has a
process of its own, not only because a failed CUDA graph ends a process: under PyTorch 2.11 the model without log lines
took 0.31 ms in `reduce-overhead`, and 0.50 ms in a process in which the one with graph breaks had run once. Starting
and compiling take nearly all the time, so that several comparisons (`--at-once`) do that together; their rounds come
one comparison after the other, while the others wait. Prints a
table, and writes JSON with `--json`; the exit code is 1 where text, results or graphs are not as they should be. The
times are for people.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import functools
import json
import logging
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODEL = HERE / "log_guard_model.py"
ASSUMPTIONS = frozenset({"log-late", "exception-late"})
CHECKED_CALLS = 50
KINDS = ("log", "print", "check", "raise", "print-raise", "clamp")
"""A log line alone, a printed one, a check that raises alone, each line with such a check, and one with a guard that
clamps."""
ARMS = ("without", "as written", "rewritten")
RATIOS = {
    "rewritten over without": ("rewritten", "without"),
    "as written over rewritten": ("as written", "rewritten"),
}


def main() -> int:
    """Measure each mode and guard in processes of its own."""
    options = _options()
    if options.child is not None:
        _child(options)
        return 0
    reports = []
    for mode in options.mode or ["reduce-overhead", "default"]:
        guards = options.guard or KINDS
        wanted = [(guard, number) for number in range(options.processes) for guard in guards]
        found: dict[str, list[dict[str, Any]]] = {guard: [] for guard in guards}
        for first in range(0, len(wanted), options.at_once):
            for guard, run in _in_processes(options, mode, wanted[first : first + options.at_once]):
                found[guard].append(run)
        reports += [_report(mode, guard, runs) for guard, runs in found.items()]
        if options.json is not None:
            options.json.write_text(json.dumps({"version": 1, "reports": reports}, indent=2) + "\n", encoding="utf-8")
    _print(reports)
    return 0 if all(report["runs"] and not report["wrong"] for report in reports) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default=None, help="cuda where there is one, else cpu")
    parser.add_argument("--mode", action="append", default=[], help="of torch.compile; reduce-overhead and default")
    parser.add_argument("--guard", action="append", default=[], choices=KINDS)
    parser.add_argument("--blocks", type=int, default=12)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--dtype", default=None, help="bfloat16 on a GPU, float32 on a CPU")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--calls", type=int, default=20, help="calls of each arm in a round")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument(
        "--at-once",
        type=int,
        default=max(1, (os.cpu_count() or 1) // 4),
        help="how many comparisons, of three processes each, compile together; one for four cores",
    )
    parser.add_argument("--backend", default="inductor")
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--child", choices=ARMS, default=None, help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_processes(
    options: argparse.Namespace, mode: str, wanted: list[tuple[str, int]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the arms of some comparisons say: all start together, then one comparison after the other is timed.

    A comparison is the name of a guard and the number of its run. One with an arm that fails is left out.
    """
    start = time.perf_counter()
    with contextlib.ExitStack() as stack:
        started = {
            one: {arm: stack.enter_context(_Child([*_command(options, mode, one[0]), "--child", arm])) for arm in ARMS}
            for one in wanted
        }
        said = {one: {arm: child.answer() for arm, child in arms.items()} for one, arms in started.items()}
        for (guard, number), arms in started.items():
            answers = said[guard, number]
            taken = _rounds(arms, options.rounds)
            failed = [arm for arm in ARMS if answers[arm] is None or len(taken[arm]) < options.rounds]
            words = f"{mode}, {guard}, {number + 1}: {', '.join(failed) or 'none'} failed"
            print(f"{words}, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
            if not failed:
                yield guard, {**answers["without"], **answers["rewritten"], "times_ms": taken}


def _command(options: argparse.Namespace, mode: str, guard: str) -> list[str]:
    sizes = ("blocks", "width", "batch", "calls", "backend")
    command = [sys.executable, str(Path(__file__).resolve()), "--mode", mode, "--guard", guard]
    command += [part for name in sizes for part in (f"--{name}", str(getattr(options, name)))]
    given = [name for name in ("device", "dtype") if getattr(options, name)]
    return command + [part for name in given for part in (f"--{name}", getattr(options, name))]


def _rounds(arms: dict[str, _Child], rounds: int) -> dict[str, list[list[float]]]:
    """The times of the arms, which take turns; fewer rounds of an arm that has ended."""
    taken: dict[str, list[list[float]]] = {arm: [] for arm in ARMS}
    for turn in range(rounds):
        order = ARMS[turn % len(ARMS) :] + ARMS[: turn % len(ARMS)]
        for arm in order if turn % 2 == 0 else reversed(order):
            block = arms[arm].ask()
            if block is not None:
                taken[arm].append(block)
    return taken


class _Child:
    """A process that has compiled one arm and times rounds when asked."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self._process.communicate()

    def answer(self) -> Any:
        """What it says next; None when it has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def ask(self) -> list[float] | None:
        """Milliseconds of the calls of one round."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.write("round\n")
            self._process.stdin.flush()
        answer: list[float] | None = self.answer()
        return answer


class _Lines(logging.Handler):
    """Keeps the text of the records, and of what is printed to it."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname} {record.funcName} {record.getMessage()}")

    def write(self, text: str) -> None:
        """Takes a printed text without the end of its line, which `print` writes apart."""
        if text != "\n":
            self.lines.append(text)


def _child(options: argparse.Namespace) -> None:
    """Compile one arm, say what was seen on the way, then time a round for each line of the standard input."""
    import torch

    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = getattr(torch, options.dtype or ("bfloat16" if device == "cuda" else "float32"))
    (mode,), (guard,), arm = options.mode, options.guard, options.child
    module, boundary = _imported(MODEL.read_text(encoding="utf-8"), "log_guard_model"), None
    reference = module.model(guard, options.blocks, options.width)
    if arm == "rewritten":
        module, helper = _rewritten()
        boundary = helper.boundary
    lines = _Lines()
    logger = logging.getLogger(module.logger.name)
    logger.handlers[:] = [lines]
    logger.propagate = False
    logger.setLevel(logging.INFO)
    model = module.model("plain" if arm == "without" else guard, options.blocks, options.width)
    for item in (model, reference):
        item.to(device=device, dtype=dtype).eval()
    settings = {"mode": mode} if options.backend == "inductor" else {}
    called = torch.compile(model, backend=options.backend, **settings)
    called = called if boundary is None else boundary(called)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    x = torch.randn(options.batch, options.width, device=device, dtype=dtype)
    said: dict[str, Any] = {
        "device": torch.cuda.get_device_name() if device == "cuda" else platform.processor() or "cpu",
        "torch": torch.__version__,
        "dtype": str(dtype),
    }
    answer = functools.partial(print, file=sys.stdout, flush=True)
    with torch.no_grad(), contextlib.redirect_stdout(lines):  # type: ignore[type-var]
        if arm == "rewritten":
            said["wrong"], said["compiled_in_50_calls"] = _check(reference, called, x, lines, guard)
        for _ in range(10):
            called(x)
        said["log_ms"] = statistics.median(_lines_alone(logger, guard, options.blocks) for _ in range(100))
        answer(json.dumps(said))
        for _ in sys.stdin:
            lines.lines.clear()
            block = []
            for _ in range(options.calls):
                wait()
                start = time.perf_counter()
                called(x)
                wait()
                block.append((time.perf_counter() - start) * 1e3)
            answer(json.dumps(block))


def _lines_alone(logger: logging.Logger, guard: str, count: int) -> float:
    """Milliseconds of that many lines with a number that is there already."""
    start = time.perf_counter()
    for _ in range(count):
        if guard.startswith("print"):
            print(f"mean square {1.0:.4f}")
        else:
            logger.info("mean square %.4f", 1.0)
    return (time.perf_counter() - start) * 1e3


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

    wrong: list[str] = []
    reference = copy.deepcopy(eager).float()
    with _recorded(compiled, x) as counted:
        for number in range(CHECKED_CALLS):
            value = x * (0.5 + number / CHECKED_CALLS)
            results, records = [], []
            for called in (eager, compiled):
                lines.lines.clear()
                results.append(called(value).clone())
                records.append(list(lines.lines))
            exact = reference(value.float())
            far, near = ((result.float() - exact).abs().max().item() for result in reversed(results))
            if far > 2 * near + 1e-4:
                wrong.append(f"call {number}: {far:.3g} from float32, where eager is {near:.3g}")
            if not _alike(*records) or bool(records[0]) != (guard != "check"):
                wrong.append(f"call {number}: {records[0][:2]} became {records[1][:2]}")
    if counted["compiled"]:
        wrong.append(f"{counted['compiled']} graphs were compiled in {CHECKED_CALLS} calls")
    if counted["graphs per call"] != 1:
        wrong.append(f"{counted['graphs per call']} graphs ran in the first call")
    if guard in ("check", "raise", "print-raise"):
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
    if len(one) != len(other):
        return False
    for left, right in zip(one, other, strict=True):
        (a, number), (b, same) = left.rsplit(" ", 1), right.rsplit(" ", 1)
        if a != b or abs(float(number) - float(same)) > 0.02 * max(1.0, abs(float(number))):
            return False
    return True


def _report(mode: str, guard: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    from compilefix.measuring.interval import latency, speedup

    report: dict[str, Any] = {"mode": mode, "guard": guard, "runs": len(runs), "wrong": []}
    if not runs:
        return report
    report |= {key: runs[0][key] for key in ("device", "torch", "dtype", "compiled_in_50_calls", "log_ms")}
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
    head = ["mode", "guard", *(f"{arm}, ms" for arm in ARMS), "the lines alone, ms", *RATIOS, "checks"]
    print("|", " | ".join(head), "|")
    print("|" + "---|" * len(head))
    for report in reports:
        if not report["runs"]:
            print(f"| {report['mode']} | {report['guard']} | failed | | | | | | |")
            continue
        medians = [f"{report[arm]['median_ms']:.3f}" for arm in ARMS]
        ratios = [f"{r['ratio']:.2f} ({r['low']:.2f} to {r['high']:.2f})" for r in (report[name] for name in RATIOS)]
        alone = f"{report['log_ms']:.3f}" if report["guard"] != "check" else "-"
        checks = "; ".join(report["wrong"]) or "held"
        print("|", " | ".join([report["mode"], report["guard"], *medians, alone, *ratios, checks]), "|")


if __name__ == "__main__":
    sys.exit(main())
