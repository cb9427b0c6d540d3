"""A parameter that a value hangs on in some runs only: beside it a fix may not turn its gradient from None to zeros."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, rewritten  # noqa: E402

HEAD = """
import torch
from torch import nn


def scaled(x: torch.Tensor, by: torch.Tensor, flag: bool) -> torch.Tensor:
    if flag:
        return x * by
    return x * 2.0


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.ones(()))

    def forward(self, x: torch.FloatTensor, flag: bool, other: bool):
        out = x * 1.0
"""
PERHAPS = {
    "an earlier branch": """
        if flag:
            out = out + self.p
        if (x > 0).any():
            out = out + self.p
        return out
""",
    "an earlier turn": """
        for i in range(2):
            if (x > i).any():
                out = out + self.p
        return out
""",
    "two branches, two flags": """
        if flag:
            out = out + self.p
        kept = out
        out = x * 2.0
        if other:
            out = out + self.p
        if (x > 0).any():
            out = kept
        return out
""",
    "two sides of one branch": """
        if other:
            first = x * 1.0
            second = x + self.p
        else:
            first = x + self.p
            second = x * 1.0
        if (x > 0).any():
            out = second
        else:
            out = first
        return out
""",
    "a branch in a function": """
        out = scaled(x, self.p, flag)
        if (x > 0).any():
            out = out + self.p
        return out
""",
    "without gradients": """
        with torch.set_grad_enabled(flag):
            part = x * self.p
        out = part + x
        if (x > 0).any():
            out = out + self.p
        return out
""",
    "the larger of two": """
        out = max(self.p * 0.5, x.sum() * 0.0 + 1.0)
        if (x > 0).any():
            out = out + self.p
        return out
""",
    "a conditional expression": """
        out = x * self.p if flag else x * 1.0
        if (x > 0).any():
            out = out + self.p
        return out
""",
}
SURELY = {
    "before": """
        out = out + self.p
        if (x > 0).any():
            out = out * 2
        return out
""",
    "on both sides of an earlier branch": """
        out = out.view(-1)
        if flag:
            out = out + self.p
        else:
            out = out * self.p
        if (x > 0).any():
            out = out + self.p
        return out
""",
}


def _gradients(text: str) -> list[float | None]:
    """The gradient of the parameter with all flags, where no element is positive."""
    program: dict[str, object] = {"__name__": "program"}
    exec(text, program)
    found: list[float | None] = []
    for flag, other in itertools.product((False, True), repeat=2):
        net = program["Net"]()  # type: ignore[operator]
        net(-torch.ones(3, requires_grad=True), flag, other).sum().backward()
        found.append(None if net.p.grad is None else net.p.grad.item())
    return found


@pytest.mark.parametrize("body", PERHAPS.values(), ids=PERHAPS)
def test_zeros_in_the_place_of_none_are_named(body: str) -> None:
    text = HEAD + body
    found = [f for f in rewritten(Path("/nowhere/program.py"), text, None).findings if f.code == "CF101"]
    assert [f.fix is not None and "gradient-zeros" in f.fix.assumptions for f in found] in ([True], [False])
    safe = after(rewritten(Path("/nowhere/program.py"), text, frozenset()), text)
    assert _gradients(safe) == _gradients(text)
    assert None in _gradients(text)


@pytest.mark.parametrize("body", SURELY.values(), ids=SURELY)
def test_what_both_sides_hang_on_stays_safe(body: str) -> None:
    text = HEAD + body
    safe = after(rewritten(Path("/nowhere/program.py"), text, frozenset()), text)
    assert safe != text
    assert _gradients(safe) == _gradients(text)
    assert None not in _gradients(text)
