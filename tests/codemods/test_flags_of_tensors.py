"""`t.requires_grad = False` as a method: it is said again where something else may have said otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.codemods.execution import after, differences, execute, observe, rewritten

PROGRAMS = {
    "told after other code had it": """
import torch


class Marks(list):
    def mark(self):
        for tensor in self:
            tensor.requires_grad_()


def collected(x: torch.Tensor, marks):
    out = torch.zeros_like(x)
    marks.append(out)
    marks.mark()
    out.requires_grad = False
    return torch.tensor([out.requires_grad]), x * out


def marking(function):
    return lambda x: function(x, Marks())


def workload():
    return marking(collected), [(torch.tensor([1.0, -2.0], requires_grad=True),)]
""",
    "made with options": """
import torch


def shifted(x: torch.Tensor, **options):
    shift = torch.zeros(2, **options)
    shift.requires_grad = False
    return x * shift, shift


def asking(function):
    def call(x):
        product, shift = function(x, requires_grad=True)
        return product, torch.tensor([shift.requires_grad])

    return call


def workload():
    return asking(shifted), [(torch.ones(2, requires_grad=True),)]
""",
}


@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_the_flag_is_what_it_was(text: str) -> None:
    changed = after(rewritten(Path("/nowhere/program.py"), text), text)
    assert ".requires_grad_(False)" in changed
    expected = observe(execute(text, "before")["workload"])
    assert differences(expected, observe(execute(changed, "after")["workload"])) == []


def test_what_is_no_leaf_keeps_its_flag() -> None:
    text = """
import torch


def filled(x: torch.Tensor):
    out = torch.zeros_like(x)
    out.copy_(x)
    try:
        out.requires_grad = False
    except RuntimeError:  # it is no leaf where `x` requires a gradient
        return out * 2.0
    return out


def workload():
    return filled, [(torch.tensor([1.0, -2.0], requires_grad=True),), (torch.tensor([1.0, -2.0]),)]
"""
    assert after(rewritten(Path("/nowhere/program.py"), text), text) == text
    assumed = rewritten(Path("/nowhere/program.py"), text, frozenset({"no-gradient"}))
    assert ".requires_grad_(False)" in after(assumed, text)


def test_a_parameter_keeps_its_flag() -> None:
    text = """
import torch
from torch import nn


class Frozen(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor, other: nn.Parameter, module):
        self.weight.requires_grad = False
        other.requires_grad = False
        module.requires_grad = False
        return x * self.weight * other
"""
    outcome = rewritten(Path("/nowhere/program.py"), text, None)
    assert after(outcome, text) == text
    assert sum(f.code == "CF702" for f in outcome.findings) == 3


def test_what_was_asked_for_a_gradient_is_reported_when_it_is_told_to_need_none() -> None:
    text = """
import torch


def forces(pos: torch.Tensor, other: torch.Tensor):
    pos.requires_grad_(True)
    other.requires_grad_(False)
    energy = (pos * other).sum()
    (gradient,) = torch.autograd.grad(energy, pos)
    pos.requires_grad_(False)
    return gradient
"""
    findings = rewritten(Path("/nowhere/program.py"), text, None).findings
    assert {f.span.line for f in findings if f.code == "CF702"} == {6, 10}
