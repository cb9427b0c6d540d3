"""A function that changes a list is free of effects for its caller only where it has made that list itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.codemods import registry
from compilefix.fixing import engine
from compilefix.source.config import Config
from compilefix.source.files import SourceFile, read

_PROGRAM = """
import torch

SEEN = []


class Holder:
    names = []


def noted(n{parameters}):
    {line}
    out.append(n)
    return len(out)


def scaled(x: torch.Tensor):
    if x.sum() > 0:
        y = x * noted(2)
    else:
        y = x * 2
    return y
"""


def _assumptions(line: str, parameters: str, folder: Path) -> tuple[str, ...] | None:
    path = folder / "program.py"
    path.write_text(_PROGRAM.format(line=line, parameters=parameters), encoding="utf-8")
    source = read(path)
    assert isinstance(source, SourceFile)
    rules = [rule for rule in registry.load().values() if rule.code == "CF101"]
    (finding,) = engine.run([source], Config(root=folder), rules=rules, allowed=frozenset()).findings
    return None if finding.fix is None else finding.fix.assumptions


@pytest.mark.parametrize(
    "line",
    [
        "out = []",
        "out = 2 * [0]",
        "out = [1, 2]",
        "out = [slice(None)] * 3",
        "out = [SEEN]",
        "out = [each for each in SEEN]",
        "out = list(SEEN)",
        "out: list = [SEEN]",
    ],
)
def test_a_list_of_its_own_is_no_effect(line: str, tmp_path: Path) -> None:
    assert _assumptions(line, "", tmp_path) == ("same-shape-dtype",)


@pytest.mark.parametrize(
    ("line", "parameters"),
    [
        ("pass", ", out=[]"),
        ("out = SEEN", ""),
        ("out = Holder.names", ""),
        ("out = getattr(Holder, 'names')", ""),
        ("out = [SEEN][0]", ""),
        ("out = {'a': SEEN}['a']", ""),
        ("out, _ = SEEN, []", ""),
        ("out = [] if n > 5 else SEEN", ""),
        ("out = (n > 5 and []) or SEEN", ""),
        ("out = given or []", ", given=SEEN"),
        ("out = [SEEN]; out = SEEN", ""),
        ("out = [SEEN]; SEEN.append(out)", ""),
        ("out = [SEEN]; out[0].append(n)", ""),
        ("out = sorted(SEEN); out = out and SEEN", ""),
        ("out = [SEEN]\n    for out in out: pass", ""),
        ("global out; out = [SEEN]", ""),
    ],
)
def test_a_list_that_others_may_hold_is_an_effect(line: str, parameters: str, tmp_path: Path) -> None:
    assert _assumptions(line, parameters, tmp_path) is None
