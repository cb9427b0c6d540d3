"""Ways in which code writes into memory that a tensor shares: none may be missed, and what only reads is no write.

`ways_to_write.txt` holds them: what a method does with a tensor `z`, and what else the program defines. Each is run,
and what the analysis says of the tensor is compared with what happened to it. A fix that would change a result is not
made.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from compilefix.analysis.infer import Inference
from compilefix.analysis.legality import Legality
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parents[1] / "codemods"))
import execution  # noqa: E402

HEAD = """
import torch, functools, operator, copy, contextlib, itertools, collections, threading
import torch.nn as nn
import numpy as np
import torch.nn.functional as F
import torch.utils.checkpoint
from collections import namedtuple
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple
from torch import Tensor
"""
FORWARD = """
    def forward(self, x: Tensor, o: Tensor):
        y = torch.ones(2, 2) - 2.0
        z = y
{before}
{write}
        return y * 1.0


def workload():
    x = torch.tensor([[1.0, -2.0], [0.5, 4.0]])
    return M(), [(x, x.clone()), (x, -x)]
"""
SELECTED = """
        if o.sum() > 0:
            z = torch.clamp(y, max=-2.0)
"""


def parts_of(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each way by its name: the statements that write, and the definitions that they need."""
    for chunk in text.split("### ")[1:]:
        name, _, rest = chunk.partition("\n")
        pieces = re.split(r"^--- (\w+)\n", rest, flags=re.MULTILINE)
        yield name, {"write": pieces[0]} | dict(zip(pieces[1::2], pieces[2::2], strict=True))


WAYS = dict(parts_of(Path(__file__).with_name("ways_to_write.txt").read_text(encoding="utf-8")))


def program(parts: dict[str, str], before: str = "") -> str:
    made = textwrap.indent(parts.get("init", ""), " " * 8)
    forward = FORWARD.format(before=before, write=textwrap.indent(parts["write"], " " * 8))
    return (
        f"{HEAD}{parts.get('defs', '')}\n\nclass M(nn.Module):\n    def __init__(self):\n"
        f"        super().__init__()\n{made}{textwrap.indent(parts.get('methods', ''), '    ')}{forward}"
    )


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that exists: a dataclass looks it up."""
    monkeypatch.setitem(sys.modules, "written", ModuleType("written"))
    return "written"


def writers(text: str) -> list[ast.AST]:
    """Where the analysis sees writes into the tensor `y` of `M.forward`."""
    project = Project([SourceFile(Path("written.py"), "written", text)])
    legality = Legality(Inference(project))
    facts = legality.inference.facts(project.modules["written"].classes["M"].methods["forward"])
    made = next(n for n in ast.walk(facts.function.node) if isinstance(n, ast.Assign))
    return list(legality.memory.writers(facts.value(made.value).storage, (), facts))


@pytest.mark.parametrize("name", WAYS)
def test_no_write_is_missed(name: str, module: str) -> None:
    text = program(WAYS[name])
    model, inputs = execution.execute(text, module)["workload"]()
    torch.manual_seed(0)
    assert not torch.equal(model(*inputs[0]), torch.full((2, 2), -1.0)), "nothing is written"
    assert writers(text)


@pytest.mark.parametrize("name", WAYS)
def test_no_fix_loses_a_write(name: str, module: str) -> None:
    text = program(WAYS[name], SELECTED)
    outcome = execution.rewritten(Path("written.py"), text)
    new = execution.after(outcome, text)
    if new == text:
        return
    expected = execution.observe(execution.execute(text, module)["workload"], calls=1)
    assert not execution.differences(expected, execution.observe(execution.execute(new, module)["workload"], calls=1))


READ = {
    "torch": {"write": "_ = z.sum() + F.relu(z).mean()"},
    "another argument": {"write": "fill(z, torch.zeros(2))", "defs": "def fill(t, u): u.add_(1)"},
    "another keyword": {"write": "fill(t=z, u=[x])", "defs": "def fill(t, **more): more['u'][0].add_(1)"},
    "more than is known": {
        "write": "fill(z, *[1], **{'b': 2})",
        "defs": "def fill(t: Tensor, *rest, **more):\n    own = t * 2\n    own.add_(1)\n    return own",
    },
    "a module": {"write": "self.inner(z)", "init": "self.inner = nn.Sequential(nn.Linear(2, 2), nn.ReLU(True))"},
    "a module of the project": {
        "write": "self.inner(z, cache=[x])",
        "defs": (
            "class Inner(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
            "        self.linear = nn.Linear(2, 2)\n        self.register_buffer('seen', torch.zeros(()))\n"
            "    def forward(self, t, cache):\n        self.seen.add_(1)\n        cache.append(self.linear(t))\n"
            "        return self.linear(t)\n"
        ),
        "init": "self.inner = Inner()",
    },
    "an object": {"write": "h = Holder(x)\nh.fill()", "defs": "class Holder:\n    def __init__(self, t): self.t = t\n"},
    "a function that gets something else": {
        "write": "torch.utils.checkpoint.checkpoint(torch.sin, x, use_reentrant=False)",
    },
    "printed": {"write": "print(f'{z}')"},
}


@pytest.mark.parametrize("name", READ)
def test_what_only_reads_is_no_write(name: str) -> None:
    assert not [ast.unparse(n) for n in writers(program(READ[name]))]
