"""Functions that return a number read from a tensor, called from another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.codemods.host_reads.number_arithmetic import NumberArithmetic
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

BASE = """\
import torch

class Base:
    @staticmethod
    def rms(grad: torch.Tensor):
        return grad.float().pow(2).mean().sqrt().item()
"""
STEP = """\
import torch
from base import Base

class Step(Base):
    def update(self, params: list[torch.Tensor], grads: list[torch.Tensor]) -> None:
        sizes = [{number} for grad in grads]
        torch._foreach_mul_(params, sizes)
"""


@pytest.mark.parametrize(("number", "fixed"), [("-1.0 / self.rms(grad)", False), ("-1.0", True)])
def test_a_caller_in_another_file_may_need_a_python_number(number: str, fixed: bool, tmp_path: Path) -> None:
    # A list of tensors is no list of numbers for `_foreach_mul_`, which raises TypeError: seen in pytorch_optimizer.
    texts = {"base": BASE, "step": STEP.format(number=number)}
    files = [SourceFile(tmp_path / f"{name}.py", name, text) for name, text in texts.items()]
    outcome = run(files, Config(root=tmp_path), rules=[NumberArithmetic], rewrite=False)
    (found,) = [finding for finding in outcome.findings if finding.function == "Base.rms"]
    assert (found.fix is not None) is fixed
    assert fixed or "Step.update" in (found.declined or "")
