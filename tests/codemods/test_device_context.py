"""`with torch.device(...)` where the block makes a tensor of other tensors, which the context moves all the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))
import execution

TEXT = """\
import torch


def spread(x: torch.Tensor, places: torch.Tensor):
    with torch.device("meta"):
        made = torch.sparse_coo_tensor(places, x, (3,))
    return made.device.type


def workload():
    return spread, [(torch.ones(1), torch.zeros(1, 1).long())]
"""


def test_a_sparse_tensor_is_made_on_the_device(tmp_path: Path) -> None:
    outcome = execution.rewritten(tmp_path / "program.py", TEXT)
    text = execution.after(outcome, TEXT)
    assert "with torch.device" not in text
    runs = [execution.observe(execution.execute(each, "program")["workload"]) for each in (TEXT, text)]
    assert not execution.differences(*runs)
