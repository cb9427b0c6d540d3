"""Asserts on objects: which of them stop Dynamo, and what happens where they fail."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, rewritten  # noqa: E402

HEAD = """
from enum import Enum
from typing import Iterable, NamedTuple

import torch
from torch import nn


class Mode(Enum):
    FAST = 1


class Config:
    def __init__(self):
        self.width = 2


class Empty(nn.Module):
    def __len__(self):
        return 0

    def forward(self, x):
        return x


class Pair(NamedTuple):
    left: int
    right: int


"""


def _rewritten(parameters: str, asked: str, message: str = ', "no"') -> tuple[str, str]:
    text = f"{HEAD}def checked(x: torch.Tensor, {parameters}):\n    assert {asked}{message}\n    return x * 2\n"
    return text, after(rewritten(Path("/nowhere/program.py"), text, frozenset()), text)


def _called(text: str, value: object, optimize: int = 0) -> str:
    program: dict[str, object] = {"__name__": "program"}
    exec(compile(text, "program.py", "exec", optimize=optimize), program)
    made = eval(value, program) if isinstance(value, str) else value
    try:
        program["checked"](torch.ones(2), made)  # type: ignore[operator]
    except Exception as error:
        return repr(error)
    return "returned"


@pytest.mark.parametrize("message", ["", ', "no"'])
@pytest.mark.parametrize(
    ("parameters", "asked", "given"),
    [
        ("v: list[torch.Tensor]", "v", ["[]", "[torch.ones(1)]"]),
        ("v: dict[str, torch.Tensor]", "v", ["{}", "{'a': torch.ones(1)}"]),
        ("v: nn.ModuleList", "v", ["nn.ModuleList()", "nn.ModuleList([Empty()])"]),
        ("v: nn.ModuleList | None", "v", ["nn.ModuleList()", "nn.ModuleList([Empty()])", "None"]),
        ("v: list[torch.Tensor] | None", "v", ["[]", "[torch.ones(1)]", "None"]),
        ("v: Config", "v", ["Config()"]),
        ("v: Empty", "v", ["Empty()"]),
        ("v: list[torch.Tensor]", "x.dim() == 1 and v", ["[]", "[torch.ones(1)]"]),
        ("v: list[torch.Tensor]", "x.dim() == 2 or v", ["[]", "[torch.ones(1)]"]),
        ("v: Empty | None", "x.dim() == 2 or v", ["Empty()", "None"]),
        ("v: Iterable[torch.Tensor]", "v", ["[]", "iter([])", "(x for x in ())"]),
        ("v: list[torch.Tensor]", "reversed(v)", ["[]", "[torch.ones(1)]"]),
        ("v: list[torch.Tensor]", "x.dim() == 1 and (t for t in v)", ["[]", "[torch.ones(1)]"]),
    ],
)
def test_an_assert_that_fails_says_the_same(parameters: str, asked: str, given: list[str], message: str) -> None:
    text, new = _rewritten(parameters, asked, message)
    assert new != text
    for value in given:
        assert _called(new, value) == _called(text, value)


@pytest.mark.parametrize(
    ("parameters", "asked"),
    [
        ("v: list[int]", "v"),
        ("v: str", "v"),
        ("v: torch.Size", "v"),
        ("v: Mode", "v"),
        ("v: list[Mode]", "v"),
        ("v: Pair", "v"),
        ("v: torch.Tensor", "v.any()"),
        ("v: torch.Tensor | list[torch.Tensor]", "v"),
        ("v", "v"),
        ("*v", "v"),
        ("v: list[torch.Tensor]", "not v"),
        ("v: list[torch.Tensor]", "len(v)"),
        ("v: list[torch.Tensor]", "v and x.dim() == 1"),
        ("v: nn.Module | None", "v is not None"),
    ],
)
def test_an_assert_that_dynamo_traces_stays(parameters: str, asked: str) -> None:
    text, new = _rewritten(parameters, asked)
    assert new == text


def test_a_message_with_values_is_no_constant() -> None:
    text, new = _rewritten("v: list[torch.Tensor]", "v", ', f"no {x.shape}"')
    assert new == text


@pytest.mark.parametrize("parameters", ["v: list[torch.Tensor]", "v: list[torch.Tensor] | None", "v: Empty"])
def test_nothing_is_asserted_where_python_leaves_asserts_out(parameters: str) -> None:
    text, new = _rewritten(parameters, "v")
    assert new != text
    value = "Empty()" if "Empty" in parameters else "[]"
    assert _called(text, value) != "returned"
    assert _called(new, value, optimize=1) == _called(text, value, optimize=1) == "returned"
