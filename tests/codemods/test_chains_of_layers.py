"""The effects of an `nn.Sequential` in a branch are those of its layers, whatever makes or switches them."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

NET = """
    from collections import OrderedDict
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = {block}

        def forward(self, x: torch.FloatTensor):
            h = x * 2.0
            if h.sum() > 0:
                h = self.block(h)
            return h
"""
SWITCHES = """
    from net import Net

    def save_memory(net: Net, spare: bool):
        for layer in net.modules():
            {line}
"""


def branch(block: str, other: str = "") -> Finding:
    texts = {"net": dedent(NET).format(block=block), "other": dedent(other)}
    files = [SourceFile(Path(f"{name}.py"), name, text) for name, text in texts.items()]
    rules = [registry.load()["CF101"]]
    (found,) = run(files, Config(root=Path()), rules=rules, rewrite=False).findings
    return found


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))", "running statistics"),
        ("nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))", "running statistics"),
        ("nn.Sequential(OrderedDict([('norm', nn.BatchNorm1d(2))]))", "running statistics"),
        ("nn.Sequential(nn.ReLU(inplace=True), nn.Linear(2, 2))", "writes in place"),
        ("nn.Sequential(nn.Identity(), nn.ReLU(True))", "writes in place"),
    ],
)
def test_a_chain_that_changes_something_is_not_run_for_all_inputs(block: str, reason: str) -> None:
    assert reason in (branch(block).declined or "")


@pytest.mark.parametrize(
    ("block", "named"),
    [
        ("nn.Sequential(nn.Linear(2, 2), nn.Dropout())", "rng-stream"),
        ("nn.Sequential(*layers())", "branches-total"),
    ],
)
def test_a_chain_that_draws_or_is_not_known_names_it(block: str, named: str) -> None:
    fix = branch(block).fix
    assert fix is not None
    assert named in fix.assumptions


@pytest.mark.parametrize(
    ("line", "declines"),
    [
        ("layer.inplace = spare", True),
        ("setattr(layer, 'inplace', spare)", True),
        ("layer.inplace = False", False),
        ("self.inplace = spare", False),
        ("layer.spare = spare", False),
    ],
)
def test_layers_that_another_file_switches(line: str, declines: bool) -> None:
    other = SWITCHES.format(line=line)
    for block in ("nn.ReLU()", "nn.Sequential(nn.ReLU(), nn.Linear(2, 2))"):
        assert ("writes in place" in (branch(block, other).declined or "")) is declines
    assert branch("nn.Sequential(nn.Linear(2, 2), nn.ReLU())", other).fix is not None
