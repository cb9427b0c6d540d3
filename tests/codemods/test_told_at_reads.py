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
OF_TWO = """    all_of = bool((x > 0).all())
    some = bool((x > 1).any())
    if all_of and some:
        open("seen", "w").close()
    return x
"""
OF_ELIF = """    all_of = bool((x > 0).all())
    some = bool((x > 1).any())
    if all_of:
        open("seen", "w").close()
    elif some:
        open("some", "w").close()
    return x
"""
BEHIND = """    done = bool((x > 0).all())
    if done:
        open("seen", "w").close()
    elif (x > 1).any():
        open("some", "w").close()
    return x
"""
CHECKED = """    done = (x > 0).all().item()
    y = x * 2
    assert done
    return y
"""
FLAG = "torch._dynamo.config.capture_scalar_outputs = True\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (HEAD + ONE, [5]),
        (HEAD + SEVERAL, [5, 9]),  # the second has a fix, without which the read stays
        (HEAD + LOGGED, [5]),  # the second has none, and breaks nothing
        (HEAD + OF_TWO, [5, 6]),  # each of them breaks the graph
        (HEAD + OF_ELIF, [5, 6]),
        (HEAD + BEHIND, [5, 6]),  # and so does what is asked behind it
        (HEAD + THERE, [6]),
        (HEAD + CHECKED, [5]),
        (HEAD + BOTH, [7]),
        (HEAD.replace("\n\n\n", "\n\n" + FLAG + "\n\n") + ONE, [9]),
    ],
)
def test_where_it_is_told(text: str, lines: list[int], tmp_path: Path) -> None:
    found = rewritten(tmp_path / "told.py", text, None).findings
    assert [f.span.line for f in found if f.code in ("CF101", "CF102", "CF103", "CF105")] == lines
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
