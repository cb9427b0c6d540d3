"""What is done with a name tells of the argument only until the name gets another value."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.analysis.evidence import Evidence
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

CASES = {
    "x.unsqueeze(0)": "proved",
    "x = x.unsqueeze(0)": "proved",
    "if x is None:\n    x = torch.ones(2)\nx.unsqueeze(0)": "proved",
    "x = torch.ones(2) if x is None else x\nx.unsqueeze(0)": "proved",
    "y = torch.abs(x)\nx = 3": "proved",
    "x = work(x)\nx.unsqueeze(0)": "likely",
    "x = 2 * x\ny = torch.abs(x)": "likely",
    "x = torch.tensor(x)\nx.unsqueeze(0)": None,
    "x = torch.from_numpy(x)\ny = torch.abs(x)": None,
    "rate, x = x\nx.unsqueeze(0)": None,
    "y = x\nx = y\nx.unsqueeze(0)": None,
    "x = torch.ones(2)\nx.unsqueeze(0)": None,
    "x: torch.Tensor = torch.as_tensor(x)\nx.unsqueeze(0)": None,
    "x: torch.Tensor\nx.unsqueeze(0)": "proved",
    "(x := torch.from_numpy(x))\nx.unsqueeze(0)": None,
    "for x in x:\n    x.unsqueeze(0)": None,
}


@pytest.mark.parametrize("body", CASES)
def test_what_is_made_of_an_argument_does_not_prove_that_it_is_a_tensor(body: str) -> None:
    text = "import torch\n\n\ndef f(x, work):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    project = Project([SourceFile(Path("m.py"), "m", text)])
    found = Evidence(project.modules["m"].functions["f"]).of("x")
    said = None if found is None else "proved" if found.certain else "likely"
    assert said == CASES[body]
