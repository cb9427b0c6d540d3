"""Rows that are cut at lengths, reduced and stacked: the rewritten code gives what the original gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, execute, rewritten  # noqa: E402

HEAD = """import torch


def f(x: torch.FloatTensor, lengths: torch.Tensor):
    {shape}
"""
ROWS = {
    "x[i, :{n}]": "i in range(len(x))",
    "x[i][:{n}]": "i, n in enumerate(lengths)",
    "x[i, {n}:]": "i, n in enumerate(lengths.tolist())",
    "row[:{n}]": "row, n in zip(x, lengths)",
    "row[{n}:, ...]": "row, n in zip(x, lengths.tolist())",
}
REDUCED = [
    "{row}.sum(0)",
    "torch.mean({row}, dim=0)",
    "{row}.mean(0)",
    "{row}.max(dim=0).values",
    "torch.min({row}, 0)[0]",
    "{row}.amax(0)",
    "{row}.sum()",
]


def program(row: str, reduced: str, *, listed: bool, shape: str) -> str:
    loop = ROWS[row]
    text = HEAD.format(shape=shape)
    if listed:
        head = "    found = []\n    for {}:\n{}        found.append({})\n    return torch.stack(found, dim=0)\n"
        read = "        n = lengths[i].item()\n" if "range" in loop else ""
        return text + head.format(loop, read, reduced.format(row=row.format(n="n")))
    item = reduced.format(row=row.format(n="lengths[i]" if "range" in loop else "n"))
    return text + f"    return torch.stack([{item} for {loop}])\n"


def observed(function: Any, x: Any, lengths: list[int]) -> tuple[Any, Any]:
    """The result and the gradient."""
    given = x.clone().requires_grad_()
    result = function(given, torch.tensor(lengths))
    result.nan_to_num().sum().backward()
    return result, given.grad


@pytest.mark.parametrize("shape", ["rows, columns, features = x.shape", "pass"])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("reduced", REDUCED)
@pytest.mark.parametrize("row", ROWS)
def test_gives_what_the_rows_give(row: str, reduced: str, listed: bool, shape: str) -> None:
    text = program(row, reduced, listed=listed, shape=shape)
    outcome = rewritten(Path("/nowhere/program.py"), text, None)
    new = after(outcome, text)
    if reduced == "{row}.sum()" and shape == "pass":
        assert "where" not in new  # over how many dimensions is not known
        return
    assert [f.code for f in outcome.findings if f.fix is not None] == ["CF107"]
    assert "for " not in new
    x = torch.tensor([[1.5, -2.0, 0.25], [4.0, 3.0, float("nan")]])[:, :, None] * torch.tensor([1.0, -1.0])
    before, rewrote = execute(text, "before")["f"], execute(new, "after")["f"]
    for lengths in ([1, 2], [3, 3], [2, 0], [9, 1]):
        try:
            expected = observed(before, x, lengths)
        except (IndexError, RuntimeError):
            continue  # of no elements there is no maximum: `mask-not-empty`
        torch.testing.assert_close(observed(rewrote, x, lengths), expected, equal_nan=True)


@pytest.mark.parametrize(
    "text",
    [
        "    return torch.stack([x[i, : lengths[i]].sum(0) for i in range(len(x))], dim=1)",
        "    return torch.stack([x[i, : lengths[i]].sum(0) for i in range(len(x)) if i])",
        "    return torch.stack([row.sum() for row, n in zip(x, lengths)])",
        "    return torch.stack([torch.sum(input=row[:n]) for row, n in zip(x, lengths)])",
        "    return torch.stack([x[0, : lengths[i]].sum(0) for i in range(len(x))])",
        "    return torch.stack([x[i, : lengths[0]].sum(0) for i in range(len(x))])",
        "    return torch.stack([x[i, n:].max(0).indices for i, n in enumerate(lengths)])",
        "    return torch.stack([x[i, :n].sum(1) for i, n in enumerate(lengths)])",
        "    out = [x[0].sum(0)]\n    for i, n in enumerate(lengths):\n        out.append(x[i, :n].sum(0))\n"
        "    return torch.stack(out)",
        "    out = []\n    for i, n in enumerate(lengths):\n        out.append(x[i, :n].sum(0))\n    x = x + 1\n"
        "    return torch.stack(out), x",
        "    out = []\n    for i, n in enumerate(lengths):\n        out.append(x[i, :n].sum(0))\n"
        "    return torch.stack(out), n",
        "    out = []\n    for i, n in enumerate(lengths):\n        out.append(x[i, :n].sum(0))\n"
        "    return x.mul_(0), torch.stack(out)",
        "    out = []\n    for i, n in enumerate(lengths):\n        out.append(x[i, :n].sum(0))\n"
        "    return [torch.stack(out) for x in (x, x)]",
        "    return torch.stack([torch.sum() for i in range(len(x))])",
        "    rest = None\n    out = rest = []\n    for i, n in enumerate(lengths):\n"
        "        out.append(x[i, :n].sum(0))\n    return torch.stack(out), rest",
    ],
)
def test_other_loops_stay(text: str) -> None:
    text = HEAD.format(shape="pass") + text + "\n"
    outcome = rewritten(Path("/nowhere/program.py"), text, None)
    assert not [f for f in outcome.findings if f.code == "CF107"]


def test_lengths_are_cut_off_as_int_does_it() -> None:
    text = HEAD.format(shape="lengths = lengths.float() * 0.7")
    text += "    return torch.stack([x[i, : int(lengths[i])].sum(0) for i in range(len(x))])\n"
    new = after(rewritten(Path("/nowhere/program.py"), text, None), text)
    assert "for " not in new
    x = torch.arange(6.0).reshape(2, 3)
    before, rewrote = execute(text, "before")["f"], execute(new, "after")["f"]
    torch.testing.assert_close(rewrote(x, torch.tensor([1, 4])), before(x, torch.tensor([1, 4])))


@pytest.mark.parametrize(("rows", "assumed"), [("len(x)", True), ("x.shape[0]", True), ("2", False)])
def test_no_rows_are_named(rows: str, assumed: bool) -> None:
    text = HEAD.format(shape="pass") + f"    return torch.stack([x[i, : lengths[i]].sum(0) for i in range({rows})])\n"
    found = rewritten(Path("/nowhere/program.py"), text, None).findings
    fixes = [finding.fix for finding in found if finding.code == "CF107"]
    assert [fix is not None and "dimension-not-empty" in fix.assumptions for fix in fixes] == [assumed]


def test_a_comprehension_has_names_of_its_own() -> None:
    text = HEAD.format(shape="pass") + (
        "    kept = torch.zeros_like(x)\n    for i, n in enumerate(lengths):\n        kept[i, :n] = x[i, :n]\n"
        "    return kept, [n for i, n in enumerate((3, 4))]\n"
    )
    outcome = rewritten(Path("/nowhere/program.py"), text, None)
    assert [f.code for f in outcome.findings if f.fix is not None] == ["CF106"]
    read = text.replace("enumerate((3, 4))", "enumerate((n, 4))")
    outcome = rewritten(Path("/nowhere/program.py"), read, None)
    assert [f.declined for f in outcome.findings if f.code == "CF106"] == [
        "`n` is read after the loop; compare `torch.arange` with the bounds, and fill with `torch.where`"
    ]


@pytest.mark.parametrize("written", ["nowhere", "before", "after"])
def test_lengths_that_are_written_are_named(written: str) -> None:
    """The backward pass may compute the positions again, from what was written."""
    text = HEAD.format(shape="lengths.add_(1)" if written == "before" else "pass")
    text += "    y = torch.stack([x[i, : lengths[i]].sum(0) for i in range(len(x))])\n"
    text += "    lengths.add_(1)\n    return y\n" if written == "after" else "    return y\n"
    fixes = [f.fix for f in rewritten(Path("/nowhere/program.py"), text, None).findings if f.code == "CF107"]
    assert [fix is not None and "no-recompute" in fix.assumptions for fix in fixes] == [written != "nowhere"]


def test_dimensions_that_are_not_proved_are_named() -> None:
    for shape, assumed in (("pass", True), ("rows, columns, features = x.shape", False)):
        text = HEAD.format(shape=shape) + "    return x[:, : lengths.max()].sum(1)\n"
        fixes = [f.fix for f in rewritten(Path("/nowhere/program.py"), text, None).findings if f.code == "CF202"]
        assert [fix is not None and "enough-dimensions" in fix.assumptions for fix in fixes] == [assumed]
