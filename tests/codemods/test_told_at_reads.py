"""A test on a name that holds what was read before: Dynamo breaks at the read, and the finding is told there."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

import torch
from torch._dynamo.utils import counters

from tests.codemods.execution import execute, rewritten

HEAD = """import torch


def run(x: torch.FloatTensor):
"""
ONE = """    done = (x > 0).all().item()
    y = x * 2
    if done:
        y = y + 1
    return y
"""
SEVERAL = """    done = bool((x > 0).all())
    y = x * 2
    if done:
        y = y + 1
    z = y if done else y * 3
    return z
"""
LOGGED = """    done = bool((x > 0).all())
    y = x * 2
    if done:
        open("seen", "w").close()
    if not done:
        open("missed", "w").close()
    return y
"""
THERE = """    y = x * 2
    if bool((x > 0).all()):
        y = y + 1
    return y
"""
BOTH = """    done = bool((x > 0).all())
    y = x * 2
    if done and y.sum() > 1:
        y = y + 1
    return y
"""
FLAG = "torch._dynamo.config.capture_scalar_outputs = True\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (HEAD + ONE, [5]),
        (HEAD + SEVERAL, [5, 9]),  # the second has a fix, without which the read stays
        (HEAD + LOGGED, [5]),  # the second has none, and breaks nothing
        (HEAD + THERE, [6]),
        (HEAD + BOTH, [7]),
        (HEAD.replace("\n\n\n", "\n\n" + FLAG + "\n\n") + ONE, [9]),
    ],
)
def test_where_it_is_told(text: str, lines: list[int], tmp_path: Path) -> None:
    found = rewritten(tmp_path / "told.py", text, None).findings
    assert [f.span.line for f in found if f.code in ("CF101", "CF102", "CF103")] == lines
    for finding in found:
        assert finding.source_line == text.splitlines()[finding.span.line - 1]


def test_dynamo_breaks_there() -> None:
    run = execute(HEAD + ONE, "told")["run"]
    torch._dynamo.reset()
    counters.clear()
    torch.compile(run, backend="eager")(torch.ones(3))
    assert [reason.partition("\n")[0] for reason in counters["graph_break"]] == [
        "Unsupported Tensor.item() call with capture_scalar_outputs=False"
    ]
