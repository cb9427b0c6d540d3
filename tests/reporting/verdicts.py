"""Verdicts to report on, made up in every number: reports neither need torch nor a measurement."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from compilefix.codemods.finding import Finding, Fix, Span
from compilefix.fixing.patchset import FileChange, PatchSet
from compilefix.measuring.interval import Distribution, Latency, Speedup
from compilefix.measuring.request import BreakSite, FrameEvent
from compilefix.measuring.verdict_model import (
    Arm,
    BranchCoverage,
    Difference,
    FixVerdict,
    Parity,
    Speedups,
    Verdict,
)
from compilefix.reporting.verified import Verified

BEFORE = """import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    # <script>alert("& | `code`")</script>
    if x.sum() > 0:
        x = x * 2
    return x
"""
AFTER = BEFORE.replace("    if x.sum() > 0:\n        x = x * 2\n", "    x = torch.where(x.sum() > 0, x * 2, x)\n")
SITE = BreakSite("model.py", 6, 8, "GB0170", "Data-dependent branching\n  more", 3, "forward", "if x.sum() > 0:")
ENVIRONMENT = {
    "torch": "2.13.0",
    "device": "cpu",
    "device_name": "A <fast> CPU | 2 cores",
    "mode": "default",
    "backend": "inductor",
    "threads": "2",
    "workload": "model.py:workload",
}


def timed(median: float) -> tuple[Latency, Distribution]:
    spread = tuple(median * (0.9 + 0.2 * share / 100) for share in range(101))
    rounds = tuple(median * factor for factor in (0.98, 1.0, 1.01, 0.99, 1.0, 1.02))
    return Latency(median, spread[5], spread[95], 600), Distribution(spread, rounds)


def arm(median: float, *sites: BreakSite, graphs: int = 1) -> Arm:
    latency, distribution = timed(median)
    return Arm(
        break_sites=sites,
        graphs_per_call=graphs,
        compile_s=1.5,
        first_call_s=2.0,
        latency_ms=latency,
        distribution=distribution,
        peak_memory_bytes=5 * 2**20,
    )


def verdict(**changes: object) -> Verdict:
    eager = replace(arm(1.0), compile_s=None)
    found = Verdict(
        verdict="proved",
        reasons=("1 break site before, no break site after",),
        eager=eager,
        before=replace(arm(2.0, SITE, graphs=2), recompiles=(FrameEvent("model.py", 4, "forward", "x.size", 1),)),
        after=arm(0.5),
        speedup=Speedups(inference=Speedup(4.0, 3.9, 4.1, 3, 20)),
        parity=replace(Parity.all("equal"), outputs="close", max_abs_error=1e-6),
        coverage=(BranchCoverage("model.py", 6, 3, 0),),
        fixes=(FixVerdict("CF101", "model.py", 6, ("log-late",), "proved", "1 break site before"),),
        environment=ENVIRONMENT,
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def wrong() -> Verdict:
    difference = Difference("outputs", "call 1, output", "1.0 in the original, 2.0 in the patched code")
    parity = replace(Parity.all("equal"), outputs="different", first_difference=difference)
    return verdict(verdict="not-proved", reasons=("not the same as the original: outputs",), parity=parity)


def verified(found: Verdict, name: str = "model.py:workload") -> Verified:
    span = Span(6, 4, 7, 17)
    fix = Finding("CF101", "tensor-if", "model.py", span, "", "forward", (), ("GB0170",), "break", Fix(()), None)
    change = FileChange(Path("model.py"), "model", BEFORE, AFTER, (fix,))
    helper = FileChange(Path("_boundary.py"), "_boundary", None, "A = 1\n")
    return Verified(name, found, PatchSet((change, helper)))
