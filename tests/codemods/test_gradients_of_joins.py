"""A parameter that a value may hang on already, and then surely does: its gradient turns from None to zeros."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, rewritten  # noqa: E402

HEAD = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.ones(()))

    def forward(self, x: torch.FloatTensor, flag: bool):
        out = x * 1.0
"""
BRANCH = """        if flag:
            out = out + self.p
        if (x > 0).any():
            out = out + self.p
        return out
"""
LOOP = """        for i in range(2):
            if (x > i).any():
                out = out + self.p
        return out
"""
SURE = """        out = out + self.p
        if (x > 0).any():
            out = out * 2
        return out
"""


def _gradient(text: str) -> object:
    program: dict[str, object] = {"__name__": "program"}
    exec(text, program)
    net = program["Net"]()  # type: ignore[operator]
    net(-torch.ones(3, requires_grad=True), False).sum().backward()
    return net.p.grad


@pytest.mark.parametrize("body", [BRANCH, LOOP])
def test_zeros_in_the_place_of_none_are_named(body: str) -> None:
    text = HEAD + body
    found = [f for f in rewritten(Path("/nowhere/program.py"), text, None).findings if f.code == "CF101"]
    assert [f.fix is not None and "gradient-zeros" in f.fix.assumptions for f in found] == [True]
    safe = after(rewritten(Path("/nowhere/program.py"), text, frozenset()), text)
    assert _gradient(safe) is _gradient(text) is None


def test_what_both_sides_hang_on_stays_safe() -> None:
    text = HEAD + SURE
    safe = after(rewritten(Path("/nowhere/program.py"), text, frozenset()), text)
    assert safe != text
    assert torch.equal(_gradient(safe), _gradient(text))  # type: ignore[arg-type]
