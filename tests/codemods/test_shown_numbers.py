"""Numbers that are printed or logged and used beside that: what would show another text is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.codemods.execution import after, rewritten

HEAD = "import torch\n\n\ndef scaled(x: torch.FloatTensor, mask: torch.Tensor, rows: torch.LongTensor):\n"


def _result(body: str, allowed: frozenset[str] | None = None) -> str:
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    return after(rewritten(Path("/nowhere/program.py"), text, allowed), text)


def test_an_integer_of_an_unknown_dtype_would_show_as_a_float() -> None:
    assert "n = mask.sum().item()" in _result("n = mask.sum().item()\nprint(n)\nreturn x.sum() / max(n, 1)")
    assert "n = rows.sum()\n" in _result("n = rows.sum().item()\nprint(n)\nreturn x.sum() / max(n, 1)")


def test_the_line_rests_on_being_carried_to_the_boundary() -> None:
    body = "n = x.norm().item()\nprint(n)\nreturn x.clamp(max=n)"
    assert "n = x.norm().detach()\n" in _result(body)
    assert "n = x.norm().item()\n" in _result(body, frozenset({"number-to-tensor", "finite-derivative"}))


@pytest.mark.parametrize(
    "line",
    [
        "print([n for n in (1, 2)])",  # another name of that spelling
        "print((lambda n: n)(2), n)",
        "emit(lambda *n: print(n), n)",
        "emit(lambda n: print([n for n in (n,)]), n)",
    ],
)
def test_other_names_of_that_spelling_are_left_alone(line: str) -> None:
    changed = _result(f"n = x.norm().item()\n{line}\nreturn x.clamp(max=n)")
    assert "n = x.norm().item()\n" in changed
    assert "n.item()" not in changed


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("if (x < 0).any():\n    raise ValueError(f'least {x.min().item()}')\nreturn x", set()),
        ("try:\n    raise ValueError(x.min().item())\nexcept ValueError:\n    return x", {6}),
        ("n = x.min().item()\nraise ValueError(n)", {5}),
    ],
)
def test_the_text_of_an_exception_is_made_when_all_is_over(body: str, lines: set[int]) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    found = rewritten(Path("/nowhere/program.py"), text, frozenset()).findings
    assert {f.span.line for f in found if f.code == "CF201"} == lines
