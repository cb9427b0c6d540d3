"""A method that Python asks for a truth keeps its number."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.codemods.registry import load
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

POWER = """\
import torch


class Power:
    def __init__(self, exponent: torch.Tensor):
        self.exponent = exponent

    def {name}(self, other):
        return (self.exponent * other.exponent).eq(1.0).all().item()
"""


@pytest.mark.parametrize(
    ("name", "made"), [("__eq__", False), ("__lt__", False), ("__contains__", False), ("is_same", True)]
)
def test_a_comparison_gives_no_tensor(name: str, made: bool, tmp_path: Path) -> None:
    """`in`, `list.index` and the keys of a dict ask for it, and a caller writes `(a == b) is True`."""
    file = SourceFile(tmp_path / "m.py", "m", POWER.format(name=name))
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    (found,) = [finding for finding in outcome.findings if finding.code == "CF201"]
    after = next((change.after for change in outcome.patchset), file.text)
    assert (found.fix is not None) is made
    assert (".all().item()" in after) is not made
    assert made or (found.declined or "").startswith(f"Python asks `{name}` for a number or a truth")
