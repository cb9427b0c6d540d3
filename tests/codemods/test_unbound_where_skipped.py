"""A branch that reads what only another branch on a tensor has given a value is not run where neither was taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from compilefix.codemods.registry import load
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

MODULE = """\
import torch
from torch import nn


class Doubled(nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, x: torch.FloatTensor):
        mask = x > 0
        if mask.any():
            y = x.sum()
            {then}
        out = x.clone()
        {again}
        return out
"""
LATER = {
    "a value": "if mask.any():\n            out = y + out",
    "a write": "if mask.any():\n            out[mask] = y",
    "a way out": "if mask.any():\n            return y + out",
    "a turn": "for i in range(3):\n            if not mask.any():\n                continue\n            out = out + y",
    "an expression": "out = out + y if mask.any() else out",
}


@pytest.mark.parametrize("later", LATER)
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_runs_where_the_branch_was_skipped(later: str, sign: float, tmp_path: Path) -> None:
    text = MODULE.format(then="self.seen.append(1)", again=LATER[later])
    file = SourceFile(tmp_path / "m.py", "m", text)
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    after = next((change.after for change in outcome.patchset), file.text)
    x = torch.full((3,), sign)
    assert torch.equal(_module(text)(x), _module(after)(x))


def _module(text: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(text, "m", "exec"), names)
    return names["Doubled"]()


@pytest.mark.parametrize("flag", ["self.training", "self.training and mask.any()"])
def test_what_a_flag_gives_is_read_under_it(flag: str, tmp_path: Path) -> None:
    """Who reads it under the same flag knows of it."""
    again = f"if {flag}:\n            out = y + out" if "and" in flag else "if mask.any():\n            out = y + out"
    text = MODULE.format(then="pass", again=again).replace("if mask.any():", "if self.training:", 1)
    file = SourceFile(tmp_path / "m.py", "m", text)
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    (found,) = [finding for finding in outcome.findings if finding.code == "CF101"]
    assert found.fix is not None
