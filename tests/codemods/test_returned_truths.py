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


UNTIL_VALID = """\
import torch
from checks import is_valid

def until_valid(x: torch.Tensor) -> torch.Tensor:
    while not is_valid(x):
        x = x + 1
    return x
"""
ADDED = """\
import torch
from checks import is_valid

def added(x: torch.Tensor) -> torch.Tensor:
    return x * (1 + is_valid(x))
"""


@pytest.mark.parametrize(
    ("library", "reason"),
    [(UNTIL_VALID, "only move to line 5 of `until_valid`"), (ADDED, "`added` does more on line 5")],
)
def test_who_calls_it_by_its_name_is_asked_in_a_library_too(library: str, reason: str, tmp_path: Path) -> None:
    texts = {"checks": CHECKS, "library": library}
    files = [SourceFile(tmp_path / f"{name}.py", name, text) for name, text in texts.items()]
    outcome = run(files, Config(root=tmp_path), rules=[TensorIf], rewrite=False)
    (found,) = [finding for finding in outcome.findings if finding.function == "is_valid"]
    assert reason in (found.declined or "")
