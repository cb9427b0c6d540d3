"""Attributes that are parameters and buffers, however they are made, are tensors: as in a module made of the code."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from compilefix.analysis.infer import Inference  # noqa: E402
from compilefix.source.files import SourceFile  # noqa: E402
from compilefix.source.project import Project  # noqa: E402

MADE = {
    "self.b = nn.Buffer(torch.ones(2, 3))": (2, "float"),
    "self.b = torch.nn.parameter.Buffer(torch.ones((), dtype=torch.int64), persistent=False)": (0, "int"),
    "self.b = nn.Buffer(given)": (None, None),
    "self.b: nn.Buffer = made()": (1, "int"),
    'self.register_buffer("b", torch.ones(3, dtype=torch.bool))': (1, "bool"),
    "self.b = nn.Parameter(torch.ones(2))": (1, "float"),
}
CODE = """
import torch
from torch import nn


def made():
    return nn.Buffer(torch.arange(3))


class Net(nn.Module):
    def __init__(self, given):
        super().__init__()
        {statement}

    def forward(self, x: torch.Tensor):
        return self.b
"""


@pytest.mark.parametrize("statement", MADE)
def test_the_attribute_is_a_tensor(statement: str) -> None:
    text = CODE.format(statement=statement)
    project = Project([SourceFile(Path("f.py"), "f", text, ast.parse(text))])
    forward = next(f for f in next(iter(project.modules.values())).all_functions if f.node.name == "forward")
    returned = forward.of(ast.Return)[0].value
    assert returned is not None
    found = Inference(project).facts(forward).value(returned)
    assert found.is_tensor
    assert (found.rank, found.dtype) == MADE[statement]
    program: dict[str, object] = {}
    exec(text, program)
    value = program["Net"](torch.zeros(2, 2))(None)  # type: ignore[operator]
    assert isinstance(value, torch.Tensor)
    assert found.rank in (None, value.dim())
    assert found.dtype in (None, {torch.int64: "int", torch.bool: "bool"}.get(value.dtype, "float"))
