"""The flag for selections by one mask, where compiled code enters inference mode itself (see docs/measured.md)."""

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.codemods.execution import rewritten

CODE = """
import torch

{head}
def pair(x: torch.Tensor, y: torch.Tensor):
    hit = y != 0
    return x[hit] + 1, y[{mask}] * 2

{call}
"""
INSIDE = "@torch.inference_mode()"
ROUND = "@torch.inference_mode()\n@torch.compile"
COMPILED = "run = torch.compile(pair)"


@pytest.mark.parametrize(
    ("head", "mask", "call", "offered"),
    [
        (INSIDE, "hit", COMPILED, False),
        ("@torch.compile\n" + INSIDE, "hit", "", False),
        (INSIDE, "x > 1", COMPILED, True),
        ("@torch.no_grad()", "hit", COMPILED, True),
        (ROUND, "hit", "", True),
        ("", "hit", COMPILED + "\nwith torch.inference_mode():\n    run(torch.ones(2), torch.ones(2))", True),
    ],
)
def test_the_flag_is_offered_where_the_mode_is_round_the_call(
    head: str, mask: str, call: str, offered: bool, tmp_path: Path
) -> None:
    text = CODE.format(head=head, mask=mask, call=call)
    found = [f for f in rewritten(tmp_path / "pairs.py", text, None).findings if f.code == "CF506"]
    assert [f.fix is not None for f in found] == [offered]
    assert offered or "do not compile" in (found[0].declined or "")


@pytest.mark.parametrize("called", ["hit", "mask", "rows"])
def test_a_selection_in_another_function_counts_whatever_its_mask_is_called(called: str, tmp_path: Path) -> None:
    text = f"""
import torch


def chosen(x: torch.Tensor, {called}: torch.Tensor):
    return x[{called}]


def pair(x: torch.Tensor, y: torch.Tensor):
    with torch.inference_mode():
        ok = y != 0
        return chosen(x, ok) + 1, y[ok] * 2


run = torch.compile(pair)
"""
    found = [f for f in rewritten(tmp_path / "pairs.py", text, None).findings if f.code == "CF506"]
    assert [f.fix for f in found] == [None]
