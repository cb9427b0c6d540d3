"""Functions that answer with True or False, called from another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.codemods.control_flow.tensor_if import TensorIf
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

CHECKS = """\
import torch

def is_valid(x: torch.Tensor) -> bool:
    if torch.any(x < 0):
        return False
    return True
"""
MODEL = """\
import torch
from torch import nn
from checks import is_valid

class Model(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return {use}

model = torch.compile(Model())
"""


@pytest.mark.parametrize(("use", "fixed"), [("x * 2 if is_valid(x) else x", True), ("x * (1 + is_valid(x))", False)])
def test_the_way_there_may_ask_for_no_more_than_the_truth(use: str, fixed: bool, tmp_path: Path) -> None:
    texts = {"checks": CHECKS, "model": MODEL.format(use=use)}
    files = [SourceFile(tmp_path / f"{name}.py", name, text) for name, text in texts.items()]
    outcome = run(files, Config(root=tmp_path), rules=[TensorIf], rewrite=False)
    (found,) = [finding for finding in outcome.findings if finding.function == "is_valid"]
    assert (found.fix is not None) is fixed
    assert fixed or "Model.forward" in (found.declined or "")
