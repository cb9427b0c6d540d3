"""What stands in another file: a handler that a check at the boundary would be past, a name that a fix would take."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.codemods.control_flow.tensor_validation import TensorValidation
from compilefix.codemods.host_effects.print_in_graph import PrintInGraph
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

LAYERS = """\
import torch
from torch import nn

class Checked(nn.Module):
    def forward(self, x: torch.FloatTensor):
        if x.isnan().any():
            raise ValueError("nan")
        return x * 2
"""
MODEL = """\
import contextlib
import torch
from torch import nn
from layers import Checked

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.checked = Checked()

    def forward(self, x: torch.FloatTensor):
        return self.checked(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = {inner}()

    def forward(self, x: torch.FloatTensor):
        {around}:
            x = self.inner(x)
        {rest}
        return x
"""


@pytest.mark.parametrize("inner", ["Checked", "Inner"])
@pytest.mark.parametrize(
    ("around", "rest", "fixed"),
    [
        ("try", "except ValueError: pass", False),
        ("with contextlib.suppress(ValueError)", "x = x + 1", False),
        ("with torch.no_grad()", "x = x + 1", True),
        ("try", "except KeyError: pass", True),
    ],
)
def test_a_handler_in_another_file(inner: str, around: str, rest: str, fixed: bool, tmp_path: Path) -> None:
    texts = {"layers": LAYERS, "model": MODEL.format(inner=inner, around=around, rest=rest)}
    files = [SourceFile(tmp_path / f"{name}.py", name, text) for name, text in texts.items()]
    outcome = run(files, Config(root=tmp_path), rules=[TensorValidation], rewrite=False)
    (found,) = [finding for finding in outcome.findings if finding.function == "Checked.forward"]
    assert (found.fix is not None) is fixed, found.declined
    assert fixed or "`Model.forward` may catch" in (found.declined or "")


@pytest.mark.parametrize(
    ("own", "exported", "fixed"),
    [
        ("def emit(*values):\n    return values\n", "", False),
        ("def emit(*values):\n    return values\n", '__all__ = ["twice"]\n', True),
        ("def other(*values):\n    return values\n", "", True),
    ],
)
def test_import_star_takes_no_emit(own: str, exported: str, fixed: bool, tmp_path: Path) -> None:
    shown = f'import torch\n{exported}\ndef twice(x: torch.FloatTensor):\n    print("sum", x.sum())\n    return x * 2\n'
    taking = f"{own}\nfrom shown import *\n\ndef used(x):\n    return twice(x)\n"
    files = [SourceFile(tmp_path / f"{name}.py", name, text) for name, text in (("shown", shown), ("taking", taking))]
    outcome = run(files, Config(root=tmp_path), rules=[PrintInGraph], rewrite=False)
    (found,) = [finding for finding in outcome.findings if finding.function == "twice"]
    assert (found.fix is not None) is fixed, found.declined
    assert fixed or "`import *` in `taking`" in (found.declined or "")
