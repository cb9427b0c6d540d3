"""An argument is a tensor where torch takes what is computed from it with numbers, or another name of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.analysis.evidence import Evidence
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

CASES = {
    "torch.sum(x**2, dim=1)": "proved",
    "torch.exp(-x)": "proved",
    "torch.log(1 - x * 2)": "proved",
    "y = x\ntorch.norm(y)": "proved",
    "y = x\ntorch.sqrt(torch.sum(y**2))": "proved",
    "y = x\ny = work(y)\ntorch.norm(y)": None,
    "x = work(x)\ntorch.exp(-x)": "likely",
    "x = work(x)\ny = x\ntorch.exp(y)": "likely",
    "torch.mul(x * other, 2)": None,
    "torch.zeros(x + 1)": None,
    "torch.arange(x * 2)": None,
    "torch.exp(work(x))": None,
    "for y in x:\n    torch.exp(y)": None,
}


@pytest.mark.parametrize("body", CASES)
def test_what_torch_takes_for_a_tensor(body: str) -> None:
    text = "import torch\n\n\ndef f(x, other, work):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    project = Project([SourceFile(Path("m.py"), "m", text)])
    found = Evidence(project.modules["m"].functions["f"]).of("x")
    said = None if found is None else "proved" if found.certain else "likely"
    assert said == CASES[body]
