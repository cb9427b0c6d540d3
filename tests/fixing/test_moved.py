"""A number that stays a tensor, or places that stay a mask, are none that move the break."""

from __future__ import annotations

from pathlib import Path

import pytest

from compilefix.codemods.registry import load
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

SCALED = """\
import torch


def scaled(x: torch.FloatTensor, ratio: torch.FloatTensor, wanted: float):
    low = ratio.min().item()
    if wanted < low:
        {then}
    return x * low
"""


@pytest.mark.parametrize(("then", "made"), [("seen[0] = x", False), ("x = x * 2", True)])
def test_the_read_stays_where_its_branch_does(then: str, made: bool, tmp_path: Path) -> None:
    text = SCALED.format(then=then).replace("import torch", "import torch\nfrom elsewhere import seen")
    file = SourceFile(tmp_path / "m.py", "m", text)
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    (found,) = [f for f in outcome.findings if f.code == "CF201"]
    after = next((change.after for change in outcome.patchset), file.text)
    assert ("low = ratio.min().item()" in after) is not made
    assert (found.fix is not None) is made
    assert made or found.declined == "the break would only move to `if wanted < low:`, which stays a branch"


LISTED = """\
import torch


def scaled(x: torch.Tensor, factors: torch.Tensor):
    found = []
    for factor in factors:
        if abs(float(factor)) < 0.5:
            continue
        {then}
    return x, found
"""


@pytest.mark.parametrize(("then", "made"), [("found.append(x * factor)", False), ("x = x * factor", True)])
def test_the_read_stays_in_the_line_of_its_branch(then: str, made: bool, tmp_path: Path) -> None:
    file = SourceFile(tmp_path / "m.py", "m", LISTED.format(then=then))
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    assert ("float(factor)" in next((change.after for change in outcome.patchset), file.text)) is not made
    said = "the break would only move to `if abs(float(factor)) < 0.5:`, which stays a branch"
    assert made or said in {finding.declined for finding in outcome.findings}


SIZED = """\
import torch


def sized(x: torch.Tensor, number: torch.Tensor):
    found = []
    for i in range(3):
        mask = number == i
        {test}
            continue
        {then}
    return x, found
"""


@pytest.mark.parametrize("test", ["if len(x[mask]) == 0:", "n = x[mask].shape[0]\n        if n == 0:"])
@pytest.mark.parametrize(("then", "made"), [("found.append(i)", False), ("x = x * 2", True)])
def test_the_size_of_a_selection_stays_where_its_branch_does(test: str, then: str, made: bool, tmp_path: Path) -> None:
    file = SourceFile(tmp_path / "m.py", "m", SIZED.format(test=test, then=then))
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    after = next((change.after for change in outcome.patchset), file.text)
    assert ("mask.sum()" in after) is made
    said = any("the break would only move to `if" in (finding.declined or "") for finding in outcome.findings)
    assert said is not made


TAKEN = """\
import torch


def inverted(cell: torch.FloatTensor):
    good = torch.linalg.det(cell).abs() > 1e-3
    out = torch.zeros_like(cell)
    rows = good.nonzero(as_tuple=True)[0]
    out[rows] = {value}
    return out
"""


@pytest.mark.parametrize(("value", "made"), [("torch.linalg.inv(cell[rows].mT)", False), ("2.0", True)])
def test_places_stay_a_list_where_the_mask_would_break_the_graph(value: str, made: bool, tmp_path: Path) -> None:
    file = SourceFile(tmp_path / "m.py", "m", TAKEN.format(value=value))
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    (found,) = [f for f in outcome.findings if f.code == "CF505"]
    assert bool(list(outcome.patchset)) is made
    assert (found.fix is not None) is made
    assert made or "which selects as many elements as values say" in (found.declined or "")


SPLIT = """\
import torch
import torch.nn.functional as F


def unit(points: torch.FloatTensor):
    off = points.norm(dim=1) > 1e-9
    centred = not off.all()
    if centred:
        {then}
    return points
"""


@pytest.mark.parametrize(("then", "made"), [("seen.append(points)", False), ("points = points * 2", True)])
def test_a_truth_stays_where_its_branch_does(then: str, made: bool, tmp_path: Path) -> None:
    text = SPLIT.format(then=then).replace("import torch\n", "import torch\nfrom elsewhere import seen\n", 1)
    file = SourceFile(tmp_path / "m.py", "m", text)
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    (found,) = [f for f in outcome.findings if f.code == "CF105"]
    after = next((change.after for change in outcome.patchset), file.text)
    assert ("centred = not off.all()" in after) is not made
    assert (found.fix is not None) is made
    assert made or found.declined == "the break would only move to `if centred:`, which stays a branch"


GROUPED = """\
import torch


def spread(x: torch.FloatTensor, labels: torch.LongTensor):
    found = len(torch.unique(labels))
    if found < 2:
        {then}
    return x * found
"""


@pytest.mark.parametrize(("then", "made"), [("seen.append(x)", False), ("x = x * 2", True)])
def test_a_number_of_values_stays_where_its_branch_does(then: str, made: bool, tmp_path: Path) -> None:
    text = GROUPED.format(then=then).replace("import torch\n", "import torch\nfrom elsewhere import seen\n", 1)
    file = SourceFile(tmp_path / "m.py", "m", text)
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    (found,) = [f for f in outcome.findings if f.code == "CF505"]
    after = next((change.after for change in outcome.patchset), file.text)
    assert ("found = len(torch.unique(labels))" in after) is not made
    assert made or found.declined == "the break would only move to `if found < 2:`, which stays a branch"


CUT = """\
import torch


def cut(ids: torch.LongTensor, x: torch.FloatTensor, end: int):
    ends = (ids == end).nonzero(as_tuple=False)
    if ends.numel() == 0:
        {then}
    return x * ends[0]
"""


@pytest.mark.parametrize(("then", "made"), [("seen.append(x)", False), ("return x", True)])
def test_a_list_of_places_stays_where_their_number_would_decide_a_branch(then: str, made: bool, tmp_path: Path) -> None:
    text = CUT.format(then=then).replace("import torch\n", "import torch\nfrom elsewhere import seen\n", 1)
    file = SourceFile(tmp_path / "m.py", "m", text)
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    (found,) = [f for f in outcome.findings if f.code == "CF508"]
    after = next((change.after for change in outcome.patchset), file.text)
    assert ("nonzero" in after) is not made
    assert (found.fix is not None) is made
    assert made or found.declined == "the break would only move to `if ends.numel() == 0:`, which stays a branch"


DRAWN = """\
import numpy as np
import torch


def drawn(x: torch.FloatTensor):
    if np.random.rand() < 0.5:
        y = x.sin()
    else:
        y = x * {number}
    return y
"""


@pytest.mark.parametrize(("number", "made"), [("np.random.randint(3, 5)", False), ("2", True)])
def test_a_draw_stays_where_its_branch_does(number: str, made: bool, tmp_path: Path) -> None:
    file = SourceFile(tmp_path / "m.py", "m", DRAWN.format(number=number))
    outcome = run([file], Config(root=tmp_path), rules=[*load().values()], allowed=None)
    found = next(f for f in outcome.findings if f.code == "CF403")
    after = next((change.after for change in outcome.patchset), file.text)
    assert ("np.random.rand()" in after) is not made
    assert (found.fix is not None) is made
    assert made or found.declined == "the break would only move to `if np.random.rand() < 0.5:`, which stays a branch"
