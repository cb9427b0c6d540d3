"""Measures the same two pieces of code again and again, and counts how often two runs agree on the speedup.

    python benchmarks/agreement.py                                   # on the CPU
    python benchmarks/agreement.py --device cuda --budget 600        # on the GPU, for at most ten minutes
    python benchmarks/agreement.py --device cuda --mode reduce-overhead

A run is what `compilefix verify` does for its times: new processes, an empty cache for compiled code (unless it is
kept), rounds that alternate. Two runs agree when their 95 % intervals overlap. Each run is compared with the one before
it, so that 21 runs give 20 comparisons; the share of all pairs is printed too. `--same` measures the same code on both
sides: then the intervals should hold 1. The exit code is 1 when fewer than 19 in 20 comparisons agree.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from compilefix.measuring.request import Options, WorkerRequest
from compilefix.measuring.timing import Speedup, measure

REQUIRED = 19 / 20

MODEL = """
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        h = self.linear(self.norm(x)).relu()
        SCALE
        return x + h * scale


def workload(device):
    torch.manual_seed(0)
    model = nn.Sequential(*[Block(64) for _ in range(4)]).to(device).eval()
    return model, [(torch.randn(32, 64, device=device),)]
"""
BEFORE = MODEL.replace("SCALE", "scale = 0.5 if h.detach().max() > 1.0 else 1.0")
AFTER = MODEL.replace("SCALE", "scale = torch.where(h.detach().max() > 1.0, 0.5, 1.0)")


def main() -> int:
    """Run the comparison and print what each run said."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--mode", default="default")
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--repeats", type=int, default=Options().repeats)
    parser.add_argument("--processes", type=int, default=Options().processes)
    parser.add_argument("--same", action="store_true", help="the same code on both sides")
    parser.add_argument("--budget", type=float, default=3600.0, metavar="SECONDS", help="start no run after this time")
    parser.add_argument(
        "--keep-cache", action="store_true", help="compile in the first run only: quicker, but all runs get its kernels"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the runs here")
    chosen = parser.parse_args()
    options = Options(
        device=chosen.device, mode=chosen.mode, repeats=chosen.repeats, processes=chosen.processes, timeout_s=300.0
    )
    started = time.monotonic()
    slowest = 0.0
    found: list[Speedup] = []
    with tempfile.TemporaryDirectory(prefix="agreement-", ignore_cleanup_errors=True) as name:
        for number in range(chosen.runs):
            begun = time.monotonic()
            if begun - started + slowest > chosen.budget and number > 1:
                print(f"the time is over after {number} runs", flush=True)
                break
            folder = Path(name) / f"run-{number}"
            cache = Path(name) if chosen.keep_cache else folder
            one = compared(BEFORE, BEFORE if chosen.same else AFTER, options, folder, cache)
            # With a kept cache the first run, which compiles, says nothing of how long the others take.
            slowest = max(slowest if number > 1 else 0.0, time.monotonic() - begun)
            found.append(one)
            agrees = "" if len(found) == 1 else "overlaps" if overlap(found[-2], one) else "DOES NOT overlap"
            print(f"run {number + 1}: {one.ratio:.4f} ({one.low:.4f} to {one.high:.4f}) {agrees}", flush=True)
            if chosen.json is not None:
                chosen.json.write_text(json.dumps([asdict(item) for item in found], indent=2) + "\n", encoding="utf-8")
    return report(found)


def compared(before: str, after: str, options: Options, folder: Path, cache: Path) -> Speedup:
    """One run, in a new folder. Raises SystemExit when a side could not be timed."""
    requests = {}
    for side, text in (("before", before), ("after", after)):
        (folder / side).mkdir(parents=True)
        file = folder / side / "model.py"
        file.write_text(text, encoding="utf-8")
        requests[side] = WorkerRequest(
            name=side,
            role="time",
            compiled=True,
            workload=f"{file}:workload",
            options=options,
            folder=folder / f"{side}-work",
            time_phases=("inference",),
        )
    timings = measure(requests, {side: cache / f"{side}-cache" for side in requests}, lambda _: None)
    found = timings.speedup("inference", "before", "after", options.seed)
    if timings.errors or found is None:
        raise SystemExit(f"could not be timed: {timings.errors}")
    return found


def overlap(one: Speedup, other: Speedup) -> bool:
    """Whether two intervals have a point in common."""
    return one.low <= other.high and other.low <= one.high


def report(found: list[Speedup]) -> int:
    """Print the counts; the exit code."""
    neighbours = [overlap(*pair) for pair in itertools.pairwise(found)]
    pairs = [overlap(*pair) for pair in itertools.combinations(found, 2)]
    if not neighbours:
        print("fewer than two runs: nothing to compare")
        return 2
    widths = [(one.high - one.low) / (2 * one.ratio) for one in found]
    print(f"overlap with the run before: {sum(neighbours)} of {len(neighbours)}")
    print(f"overlap of all pairs: {sum(pairs)} of {len(pairs)}")
    print(f"ratios: {min(o.ratio for o in found):.4f} to {max(o.ratio for o in found):.4f}", end=", ")
    print(f"median half-width of the intervals {100 * statistics.median(widths):.1f} %")
    print(f"intervals that hold 1: {sum(not one.measured for one in found)} of {len(found)}")
    return 0 if sum(neighbours) >= REQUIRED * len(neighbours) else 1


if __name__ == "__main__":
    sys.exit(main())
