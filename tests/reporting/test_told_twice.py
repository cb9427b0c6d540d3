"""Statements of which a break would be told twice."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.reporting.told_twice import told_once
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

TEXT = """
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.last, self.seen = 0.0, {}

        def forward(self, x: torch.Tensor):
            self.last = x.mean().item()
            self.seen["sum"] = x.sum().item()
            n = x.max()
            return x * self.last + torch.ones(n, n).sum()
"""


def test_a_stored_number_without_a_fix_is_told_where_it_is_read() -> None:
    file = SourceFile(Path("/model.py"), "model", dedent(TEXT).lstrip())
    found = told_once(run([file], Config(Path("/")), rules=list(registry.load().values()), rewrite=False).findings)
    told = sorted((f.span.line, f.code, f.fix is None) for f in found if f.code in ("CF201", "CF202", "CF304"))
    assert told == [(11, "CF201", False), (11, "CF304", False), (13, "CF202", True)]
    assert [f.code for f in found if f.span.line == 10] == ["CF205"]  # the fix for the read there
