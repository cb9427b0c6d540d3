"""Random programs that read numbers from tensors: what a safe fix makes of them gives the same.

Each program follows one or two numbers through Python arithmetic into what takes them: tensor arithmetic,
comparisons, bounds, fill values, indices, sizes, another function. It runs as it is and as rewritten, twice on each of
its inputs, and values, dtypes, gradients, aliases, mutations, exceptions and printed text must agree. With
`math-errors` allowed the calls that did not raise must agree.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))
import execution  # noqa: E402

settings.register_profile("reads-ci", max_examples=150)
settings.register_profile("reads-nightly", max_examples=2000)
PROFILE = settings.get_profile("reads-nightly" if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else "reads-ci")

HEAD = """import math

import torch
from torch import nn


def scaled(values, factor):
    return values * factor


def padded(values: torch.Tensor, value: float = 0.0):
    return values.new_full((2,), value)


def doubled(values: torch.Tensor, factor: float):
    values.mul_(2)
    return values + factor


class Program(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.tensor(2.0))
        self.p = nn.Parameter(torch.tensor(0.75))

    def forward(self, x: torch.Tensor, y: torch.Tensor, n: torch.Tensor):
        x = x.CAST()
        y = y.CAST()
        SHAPE
        z = x * 1
"""

TAIL = """
        return z, w


def workload():
    nan, inf = float("nan"), float("inf")
    return Program(), [INPUTS]
"""

SOURCES = (
    "x.min()",
    "x.max()",
    "y.sum()",
    "y.abs().mean()",
    "self.b",
    "self.p",
    "z[0]",
    "z.max()",
    "n.sum()",
    "n.max()",
    "(x > 0).sum()",
    "(y > 1).any()",
    "x.argmax()",
    "y.norm()",
)
READS = ("{0}.item()", "{0}.item()", "float({0})", "int({0})", "bool({0})")
STEPS = (
    "{0} + 1",
    "{0} - 1",
    "{0} * 0.5",
    "{0} + 0.1",
    "-{0}",
    "abs({0})",
    "max({0}, 1.0)",
    "min({0}, 3)",
    "max(1, {0})",
    "{0} / 7",
    "1 / ({0} + 3)",
    "float({0})",
    "int({0})",
    "round({0})",
    "0.9 ** {0}",
    "{0} ** 2",
    "math.sqrt({0})",
    "math.exp({0})",
)
USES = (
    "z = z * {0}",
    "z = z - {0}",
    "z = z / {0}",
    "z = {0} * z",
    "z = {0} - z",
    "z += {0}",
    "w = z > {0}",
    "w = z == {0}",
    "w = z.clamp(min={0})",
    "w = z.clamp(max={0})",
    "w = z.new_full((2, 2), {0})",
    "w = torch.full_like(z, {0})",
    "w = z.masked_fill(z > 0, {0})",
    "w = torch.where(z > 0, z, {0})",
    "z[0] = {0}",
    "z[z > 1] = {0}",
    "z.fill_({0})",
    "z = z.mul({0})",
    "w = torch.add(z, {0})",
    "w = torch.full((2,), {0}, dtype=torch.float64)",
    "w = z[{0}]",
    "w = [z, z * 2][{0}]",
    "w = scaled(z, {0})",
    "w = padded(z, {0})",
    "w = doubled(z, {0})",
    "w = z[: {0}]",
    "w = torch.zeros({0})",
    "self.b.add_(1)",
    "z.mul_(2)",
)
STATIC = (
    "w = z.reshape(torch.tensor(z.shape).prod())",
    "w = z.new_zeros(torch.prod(torch.tensor(x.shape)).item() + 1)",
    "w = z[: torch.tensor(z.shape[0]) // 2]",
    "w = z.new_zeros(int(torch.tensor([2, z.shape[0]]).sum()))",
    "w = z.new_zeros(torch.tensor([1, z.shape[0]]).cumsum(0)[-1])",
    "w = z * torch.tensor(z.shape).max().item()",
)
VALUES = (
    (
        "[1.0, 2.0]",
        "[-1.0, 0.25]",
        "[nan, 1.0]",
        "[inf, -inf]",
        "[0.0, 0.0]",
        "[0.1, 3.3]",
        "[300.0, -65504.0]",
        "[2.5]",
    ),
    ("[[1.0, -1.0]]", "[[0.3, 0.7], [5.0, -4.0]]", "[[-0.3, nan], [0.0, 0.0]]"),
)
NUMBERS = (
    "torch.tensor([1, 2])",
    "torch.tensor(1)",
    "torch.tensor([44, 250], dtype=torch.uint8)",
    "torch.tensor([2**53 + 1])",
    "torch.tensor([-128], dtype=torch.int8)",
    "torch.tensor([True, False])",
)


def program(random: Random) -> str:
    """One program as text."""
    rank = random.choice((1, 1, 2))
    lines = ["w = y"]
    known: list[str] = []
    for index in range(random.randint(1, 2)):
        code = random.choice(READS).format(random.choice(SOURCES))
        for _ in range(random.choice((0, 0, 1, 1, 2))):
            code = random.choice(STEPS).format(f"({code})" if " " in code else code)
        if random.random() < 0.7:
            lines.append(f"k{index} = {code}")
            known.append(f"k{index}")
            code = f"k{index}"
        for _ in range(random.randint(1, 3)):
            number = code if random.random() < 0.8 or not known else random.choice(known)
            lines.append(random.choice(USES).format(number))
        if random.random() < 0.25:
            lines.append(random.choice(STATIC))
    inputs = []
    for _ in range(2):
        gradient = ".requires_grad_()" if random.random() < 0.4 else ""
        x, y = random.choice(VALUES[rank - 1]), random.choice(VALUES[rank - 1])
        inputs.append(f"(torch.tensor({x}){gradient}, torch.tensor({y}), {random.choice(NUMBERS)})")
    head = HEAD.replace("CAST", random.choice(("float", "float", "half", "bfloat16", "double")))
    shape = random.choice(
        ("(size,) = x.shape", "(size,) = x.shape", "pass") if rank == 1 else ("r, c = x.shape", "pass")
    )
    body = "\n".join(f"        {line}" for line in lines)
    return head.replace("SHAPE", shape) + body + TAIL.replace("INPUTS", ", ".join(inputs))


def differences(text: str, allowed: frozenset[str], seen: dict[str, int]) -> list[str]:
    """Where the rewritten program differs. With an assumption allowed, calls that raised are not compared."""
    seen["programs"] += 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        outcome = execution.rewritten(Path("program.py"), text, allowed)
        result = execution.after(outcome, text)
        if result == text:
            return []
        seen["rewritten"] += 1
        note(outcome.patchset.diff(Path.cwd()))
        before = execution.observe(execution.execute(text, "before")["workload"])
        after = execution.observe(execution.execute(result, "after")["workload"])
    if allowed:
        # A call that raised leaves state behind that the next call starts from.
        raised = next((i for i, one in enumerate(before) if one.exceptions is not None), len(before))
        before, after = before[:raised], after[:raised]
    found = execution.differences(before, after)
    # Under the assumption a rounded number stays a float, and zero may come out as minus zero.
    return [] if allowed and _unsigned(before) == _unsigned(after) else found


def _unsigned(seen: list[execution.Observation]) -> str:
    return repr(seen).replace("'-0.0'", "'0.0'")


@pytest.mark.parametrize("allowed", [frozenset[str](), frozenset({"math-errors"})], ids=["safe", "math-errors"])
def test_numbers_that_stay_tensors_give_the_same(allowed: frozenset[str]) -> None:
    seen = {"programs": 0, "rewritten": 0}

    @settings(PROFILE, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.integers(0, 2**32).map(Random).map(program))
    def check(text: str) -> None:
        found = differences(text, allowed, seen)
        assert not found, "\n".join(found[:3])

    check()
    assert seen["rewritten"] > seen["programs"] // 10, seen
