"""A comment keeps the code of its line as it is, also where the finding that would rewrite it stands elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.cli.wanted import Wanted
from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile
from compilefix.source.selection import RuleSelection

CODE = """import torch


def run(x: torch.FloatTensor):
    done = (x > 0).all().item(){read}
    y = x * 2
    if done:{test}
        y = y + 1
    return y
"""


@pytest.mark.parametrize(
    ("read", "test", "kept"),
    [
        ("", "", False),
        ("", "  # compilefix: ignore[CF101]", True),
        ("  # compilefix: ignore[CF101]", "", True),
        ("", "  # compilefix: ignore[CF201]", False),
    ],
)
def test_a_comment_at_the_test_keeps_it(read: str, test: str, kept: bool) -> None:
    file = SourceFile(Path("/nowhere/run.py"), "run", CODE.format(read=read, test=test))
    config = Config(Path("/"))
    rules = registry.load()
    wanted = Wanted({file.path.as_posix(): file}, RuleSelection(frozenset(rules)))
    found = run([file], config, rules=list(rules.values()), allowed=None, wanted=wanted)
    assert (not found.patchset.changes) == kept
    assert [f.code for f in found.findings] == ([] if kept else ["CF101"])
    idle = [codes for _, _, codes in wanted.unused(sorted(rules))]
    assert idle == ([("CF201",)] if "CF201" in test else [])
