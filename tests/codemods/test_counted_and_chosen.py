"""Rows that are chosen by other numbers than it looks like: written after they were counted, or of all elements."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.codemods import execution

ROOT = Path(__file__).parents[2]


def test_experts_written_after_they_were_counted_keep_the_skip() -> None:
    text = (ROOT / "fixtures/rules/CF504/skips_by_count.before.py").read_text(encoding="utf-8")
    loop = "        for i in range(self.number):\n            if counts"
    assert loop in text
    text = text.replace(loop, "        chosen.fill_(1)\n" + loop)
    new = execution.after(execution.rewritten(Path("program.py"), text, None), text)
    assert "if counts[i] == 0" in new


def test_the_largest_of_all_elements_is_one_row() -> None:
    text = """
import torch
import torch.nn.functional as F

def best(rows: torch.FloatTensor, score: torch.FloatTensor):
    return rows[F.one_hot(score.argmax(dim=None), num_classes=4) > 0.5], rows[F.one_hot(score.argmax(None), 4) > 0.5]

def workload():
    return best, [(torch.randn(4, 3), torch.tensor([[1.0, 2.0], [4.0, 3.0]]))]
"""
    new = execution.after(execution.rewritten(Path("program.py"), text, None), text)
    old_seen, new_seen = (execution.observe(execution.execute(t, "program")["workload"]) for t in (text, new))
    assert execution.differences(old_seen, new_seen) == []


def test_a_check_that_went_to_the_boundary_stays_on_its_side_of_a_branch() -> None:
    text = (ROOT / "fixtures/rules/CF102/callee_raises.declined.py").read_text(encoding="utf-8")
    new = execution.after(execution.rewritten(Path("program.py"), text, None), text)
    assert "raise_if=count == 0" in new
    assert "variance(x, mask) if mask.any() else x.var()" in new
