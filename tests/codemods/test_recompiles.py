"""What the rules for recompiles report, measured as graphs compiled over a number of calls."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from compilefix.codemods.recompiles.counter_attribute import CounterAttribute
from compilefix.codemods.recompiles.growing_list import GrowingList
from compilefix.codemods.recompiles.shape_branch import ShapeBranch
from compilefix.codemods.rule import Rule
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

_CALLS = 5
_MODULE = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {start}

    def forward(self, x):
{body}
        return x * 2
"""


def _module(start: str, body: str) -> str:
    return _MODULE.format(start=start, body=textwrap.indent(body, " " * 8))


def _reported(rule: type[Rule], text: str) -> int:
    path = Path("/nowhere/program.py")
    file = SourceFile(path, "program", text)
    return len(run([file], Config(root=path.parent), rules=[rule], rewrite=False).findings)


def _graphs(function: Callable[..., Any], inputs: list[torch.Tensor]) -> int:
    count = 0

    def backend(module: torch.fx.GraphModule, _: Any) -> Any:
        nonlocal count
        count += 1
        return module.forward

    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend)
    for x in inputs:
        compiled(x)
    torch._dynamo.reset()
    return count


@pytest.mark.parametrize(
    ("start", "body", "rule", "grows"),
    [
        ("0", "self.kept += 1", CounterAttribute, True),
        ("0", "self.kept = self.kept + 1", CounterAttribute, True),
        ("0", "if self.training:\n    self.kept += 1", CounterAttribute, True),
        ("0.0", "self.kept += 1", CounterAttribute, False),
        ("torch.zeros(())", "self.kept += 1", CounterAttribute, False),
        ("0", "self.kept = 0\nself.kept += 1", CounterAttribute, False),
        ("[]", "self.kept.append(1)", GrowingList, True),
        ("[]", "self.kept.extend([x.sum()])", GrowingList, True),
        ("[]", "self.kept += [x.sum()]", GrowingList, True),
        ("set()", "self.kept.add(len(self.kept))", GrowingList, True),
        ("[]", "self.kept = []\nself.kept.append(x.sum())", GrowingList, False),
        ("[]", "self.kept.append(x.sum())\nself.kept.clear()", GrowingList, False),
        ("None", "self.kept = x.sum()", GrowingList, False),
    ],
)
def test_state_is_reported_exactly_where_every_call_compiles(
    start: str, body: str, rule: type[Rule], grows: bool
) -> None:
    text = _module(start, body)
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    graphs = _graphs(space["Model"](), [torch.ones(2)] * _CALLS)
    assert (graphs == _CALLS) is grows
    assert graphs <= 2 or grows
    assert _reported(rule, text) == int(grows)


def _branch(test: str) -> str:
    return f"import torch\ndef f(x: torch.Tensor):\n    if {test}:\n        x = x * 2\n    return x + 1\n"


@pytest.mark.parametrize(
    ("test", "reported"),
    [
        ("x.shape[0] > 5", 1),
        ("x.shape[0] % 2", 1),
        ("x.size(0) % 2 == 0", 1),
        ("x.shape[0] > 0", 0),
        ("x.shape[0] < 2", 0),
        ("x.dim() > 2", 0),
        ("x.shape[0] == 1", 0),
        ("len(x.shape) > 1", 0),
        ("x.ndim % 2", 0),
    ],
)
def test_a_branch_on_a_size_is_reported_where_it_costs_a_compilation(test: str, reported: int) -> None:
    text = _branch(test)
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    graphs = _graphs(space["f"], [torch.ones(n) for n in (3, 4, 6, 7, 8)])
    # One for the first size, one for all sizes, and one for the other side.
    assert graphs == 2 + reported
    assert _reported(ShapeBranch, text) == reported


def test_a_validation_is_not_reported() -> None:
    text = _branch("x.shape[0] % 8").replace("x = x * 2", 'raise ValueError("size")')
    assert _reported(ShapeBranch, text) == 0
