"""The rules for shapes that depend on values, against the breaks that Dynamo really has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch._dynamo.testing import CompileCounter

from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.measuring.breaks import BreakCollector
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

FIXTURES = Path(__file__).parent.parent.parent / "fixtures" / "rules"
_LINES = [
    "return x[x > 0] * 2",
    "return x[:, (x > 0).all(0)]",
    "return x[(x > 0).any(1), 0]",
    "return x[x > 0].sum()",
    "y = x.clone()\n    y[x > 0] = 0\n    return y",
    "y = x.clone()\n    y[x > 0] = x[x > 0] * 2\n    return y",
    "y = x.clone()\n    y[x > 0] *= 2\n    return y",
    "return x[x.argmax(0)]",
    "return x.nonzero()",
    "return torch.nonzero(x, as_tuple=True)[0]",
    "return torch.nonzero_static(x, size=2)",
    "return torch.where(x > 0)[0]",
    "rows, columns = torch.where(x > 0)\n    return x[rows, columns]",
    "return torch.where(x > 0, x, 0)",
    "return torch.argwhere(x)",
    "return torch.unique(x)",
    "return x.unique(return_inverse=True)[1]",
    "return torch.unique_consecutive(x)",
    "return torch.masked_select(x, x > 0)",
    "return x.masked_fill(x > 0, 0)",
    "return torch.bincount(x.argmax(1))",
    "return torch.bincount(x.argmax(1), minlength=9)",
    "return F.one_hot(x.argmax(1))",
    "return F.one_hot(x.argmax(1), -1)",
    "return F.one_hot(x.argmax(1), 6)",
    "return F.one_hot(x.argmax(1), num_classes=6)",
    "return x.repeat_interleave(2, dim=0)",
    "return x.repeat_interleave(x.argmax(1), dim=0)",
    "return torch.repeat_interleave(x, x.argmax(1), dim=0)",
    "return torch.repeat_interleave(x.argmax(1))",
    "return torch.repeat_interleave(x, x.argmax(1), dim=0, output_size=2)",
    "return torch.count_nonzero(x)",
    "return x[x.sum() > 0]",
    "y = x * 2\n    y[y.sum() > 0] = 0\n    return y",
]
_RULES = [rule for code, rule in registry.load().items() if code.startswith("CF5")]
_X = torch.tensor([[1.0, -2.0, 0.5], [3.0, -1.0, 0.25], [-1.0, 4.0, 0.125], [0.5, 1.0, 0.0625]])


@pytest.mark.parametrize("line", _LINES)
def test_reported_are_the_lines_that_break(line: str, tmp_path: Path) -> None:
    text = f"import torch\nimport torch.nn.functional as F\ndef f(x: torch.Tensor):\n    {line}\n"
    path = tmp_path / "program.py"
    path.write_text(text)
    space: dict[str, object] = {}
    exec(compile(text, str(path), "exec"), space)
    torch._dynamo.reset()
    with BreakCollector() as collector:
        torch.compile(space["f"], backend="eager")(_X)  # type: ignore[call-overload]
    torch._dynamo.reset()
    broken = {site.line for site in collector.break_sites}
    found = run([SourceFile(path, "program", text)], Config(root=tmp_path), rules=_RULES)
    assert {f.span.line for f in found.findings} == broken


@pytest.mark.parametrize(("line", "told"), [("if ~self.kept & 1:", False), ("if x[~self.kept].sum() is None:", True)])
def test_bits_of_a_setting_are_no_mask(line: str, told: bool, tmp_path: Path) -> None:
    body = f"{line}\n            x = x + 1\n        return x[self.kept].sum()"
    text = f"""
import torch

class Model(torch.nn.Module):
    def __init__(self, kept):
        super().__init__()
        self.kept = kept

    def forward(self, x: torch.Tensor):
        {body}
"""
    found = run([SourceFile(tmp_path / "program.py", "program", text)], Config(root=tmp_path), rules=_RULES)
    assert any("x[self.kept]" in f.message for f in found.findings) is told


_TRUTHS = [
    "ok = np.allclose(x, 1.0)\n    if ok:\n        x = x + 1",
    "if bool(np.allclose(x, 1.0)):\n        x = x + 1",
    "if np.allclose(x, 1.0) == False:\n        x = x + 1",
    "if not np.allclose(x, 1.0):\n        x = x + 1",
    "x = x + 1 if np.allclose(x, 1.0) else x",
]


@pytest.mark.parametrize("lines", _TRUTHS)
def test_one_truth_for_all_elements_is_told_once(lines: str, tmp_path: Path) -> None:
    """Dynamo breaks the graph at the call: what it gives is a bool of Python then."""
    text = f"import numpy as np\nimport torch\ndef f(x: torch.Tensor):\n    {lines}\n    return x\n"
    file = SourceFile(tmp_path / "program.py", "program", text)
    found = run([file], Config(root=tmp_path), rules=[registry.load()["CF402"]])
    assert len(found.findings) == 1


def test_names_that_are_given_each_other_end() -> None:
    text = (
        "import torch\n\n\n@torch.compile\ndef resize(data: torch.Tensor, rows, columns):\n"
        "    if rows is None:\n        rows = columns\n    elif columns is None:\n        columns = rows\n"
        "    if rows != columns:\n        raise ValueError(rows)\n    return data[:rows]\n"
    )
    path = Path("/nowhere/program.py")
    outcome = run([SourceFile(path, "program", text)], Config(root=path.parent), rules=list(registry.load().values()))
    assert outcome.errors == ()


def test_of_two_selections_in_one_statement_the_first_is_told() -> None:
    """The order in memory decided it, which differs from run to run."""
    path = FIXTURES / "CF503" / "on_one_side.before.py"
    for _ in range(5):
        text = path.read_text(encoding="utf-8")
        found = run([SourceFile(path, "program", text)], Config(root=path.parent), rules=_RULES).findings
        told = {
            text.splitlines()[f.span.line - 1][f.span.column : f.span.end_column] for f in found if f.span.line == 16
        }
        assert told == {"pred[kept]"}


def test_rows_of_a_one_hot_mask_are_taken_in_one_graph_for_all_sizes() -> None:
    """Dynamo compiles `take_along_dim` again for each size."""
    scope: dict[str, Any] = {}
    exec((FIXTURES / "CF505/one_hot_rows.after.py").read_text(encoding="utf-8"), scope)
    counter = CompileCounter()
    compiled = torch.compile(scope["best"], backend=counter)
    for size in range(3, 8):
        rows, choice = torch.randn(size, 5, 4, 3), torch.randint(0, 4, (size, 5))
        assert all(map(torch.equal, compiled(rows, choice), scope["best"](rows, choice)))
    assert counter.frame_count == 2


_SAID_TO_LIST = '''
import torch
from torch import nn


class Weighted(nn.Module):
    """A loss in which some keypoints weigh less.

    Args:
        mask ({said}): Index of masked keypoints.
        weight (float): Weight of masked keypoints. Default: 0.5.
    """

    def __init__(self, mask=None, weight=0.5):
        super().__init__()
        self.mask = mask
        self.weight = weight

    def forward(self, loss: torch.Tensor):
        loss = loss * 1
        loss[:, self.mask] = loss[:, self.mask] * self.weight
        return loss.sum()


def rest(x: torch.Tensor, keep_mask):
    """Selects.

    :param keep_mask: {said} of what is kept
    """
    return x[keep_mask]
'''


@pytest.mark.parametrize(("said", "found"), [("list[int]", 0), ("Sequence of int", 0), ("Tensor", 3)])
def test_what_a_docstring_calls_a_list_is_no_mask(said: str, found: int, tmp_path: Path) -> None:
    file = SourceFile(tmp_path / "m.py", "m", _SAID_TO_LIST.format(said=said))
    outcome = run([file], Config(root=tmp_path), rules=_RULES, allowed=None)
    assert len(outcome.findings) == found
