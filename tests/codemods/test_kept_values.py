"""Values that a first call computes and keeps: where computing them at another time is seen, no fix is offered."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods import registry  # noqa: E402
from compilefix.fixing.engine import run  # noqa: E402
from compilefix.source.config import Config  # noqa: E402
from compilefix.source.files import SourceFile  # noqa: E402
from tests.codemods.execution import after, differences, execute, observe, rewritten  # noqa: E402

PATH = Path("/nowhere/program.py")
HEAD = """
import functools
import torch
from torch import nn

"""
LAZY = """
class Net(nn.Module):
    {above}
    def __init__(self, n=3{given}):
        super().__init__()
        {before}
        self.{name} = None
        {behind}

    def forward(self, x):
        if self.{name} is None:
            self.{name} = {value}
        return x * self.{name}
{below}
"""
PLAIN = {
    "above": "",
    "given": "",
    "before": "self.n = n",
    "name": "cache",
    "behind": "",
    "value": "torch.ones(self.n)",
    "below": "",
}
LATE = {
    "a name of the class's own": {"name": "__cache"},
    "a name that the class has": {"above": "cache = None"},
    "an argument that hides torch": {"given": ", torch=None"},
    "set again behind": {"before": "self.n = 1", "behind": "self.n = n"},
    "not yet a number": {"before": "self.n = None", "behind": "self.n = n"},
    "set on one way": {"before": "self.k = n\n        if n > 3:\n            self.n = n", "behind": "self.n = n"},
    "made of a parameter": {"before": "self.n = nn.Parameter(torch.ones(n))", "value": "torch.exp(self.n)"},
    "set by a subclass": {
        "below": "class Other(Net):\n    def __init__(self):\n        super().__init__()\n        self.cache = 2.0"
    },
    "made of what a subclass sets": {
        "below": "class Other(Net):\n    def __init__(self):\n        super().__init__()\n        self.n = 1"
    },
}
CACHED = """
{above}
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.turns = iter(range(9))

    @functools.cached_property
    def value(self):
        return {value}

    def forward(self, x):
        return x * self.value, x + self.value
"""
AGAIN = {
    "the next item": {"above": "", "value": "next(self.turns)"},
    "a layer": {"above": "", "value": "nn.Linear(3, 1).weight"},
    "another property": {"above": "def property(method):\n    return method\n", "value": "torch.ones(3)"},
}
INPUTS = [(torch.tensor([1.0, -2.0, 3.0]),), (torch.zeros(2, 3),)]


def _fix(text: str, code: str) -> list[object]:
    outcome = rewritten(PATH, text, None)
    seen = []
    for of in (text, after(outcome, text)):
        space = execute(of, "program")
        net = space.get("Other", space["Net"])
        seen.append(observe(lambda net=net: (net(), INPUTS)))
    # The buffer is there before the first call: `cache-in-init` says so.
    assert differences(*seen, frozenset({"mutation"})) == []
    return [f.fix for f in outcome.findings if f.code == code and f.fix is not None]


@pytest.mark.parametrize("name", LATE)
def test_a_cache_that_cannot_be_made_in_init(name: str) -> None:
    assert not _fix(HEAD + LAZY.format(**PLAIN | LATE[name]), "CF707")


@pytest.mark.parametrize("value", ["torch.ones(self.n)", "torch.full((self.n,), self.scale)"])
def test_a_cache_that_is_made_in_init(value: str) -> None:
    before = "if n > 2:\n            self.n = n\n        else:\n            self.n = 3\n        self.scale = 2.0"
    assert _fix(HEAD + LAZY.format(**PLAIN | {"before": before, "value": value}), "CF707")


@pytest.mark.parametrize("name", AGAIN)
def test_a_property_that_gives_something_else_again(name: str) -> None:
    assert not _fix(HEAD + CACHED.format(**AGAIN[name]), "CF704")


def test_a_graph_of_cuda_that_is_kept_is_not_reported() -> None:
    body = LAZY.format(**PLAIN | {"value": "torch.cuda.CUDAGraph()"})
    assert found(body) == set()
    assert found(LAZY.format(**PLAIN)) == {"CF707"}


def found(body: str) -> set[str]:
    """The rules of the findings in a program."""
    rules = list(registry.load().values())
    file = SourceFile(PATH, "program", HEAD + body)
    return {f.code for f in run([file], Config(Path("/")), rules=rules, rewrite=False).findings}
