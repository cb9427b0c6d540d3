# ruff: noqa: E501
"""What is said not to run for the constants of a call does not run; it is executed line by line."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from compilefix.analysis.given_constants import constants_of, left_out
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

LEFT_OUT = {
    "a default": ("def f(x, on=False):\n    if on:\n        x = 1\n    return x\n", "f(0)", {3}),
    "a text": ("def f(x, how='sum'):\n    if how == 'mean':\n        x = 1\n    return x\n", "f(0)", {3}),
    "the other side": ("def f(x, on=True):\n    if on:\n        return 2\n    else:\n        return 3\n", "f(0)", {5}),
    "given": ("def f(x, on=False):\n    if not on:\n        x = 1\n    return x\n", "f(0, on=True)", {3}),
    "given by place": ("def f(x, on=False):\n    if not on:\n        x = 1\n    return x\n", "f(0, True)", {3}),
    "by keyword only": ("def f(x, *, on=None):\n    if on is not None:\n        x = 1\n    return x\n", "f(0)", {3}),
    "with another": ("def f(x, on=0):\n    if on and x > 1:\n        x = 1\n    return x\n", "f(5)", {3}),
    "stored behind": ("def f(x, on=False):\n    if on:\n        x = 1\n    on = x\n    return on\n", "f(5)", {3}),
}

KEPT = {
    "stored before": ("def f(x, on=False):\n    on = x > 0\n    if on:\n        x = 1\n    return x\n", "f(5)"),
    "stored in a turn": (
        "def f(x, on=0):\n    for i in (0, 1):\n        if on:\n            x = 1\n        on = i + 1\n",
        "f(5)",
    ),
    "named in a list": (
        "def f(x, on=0):\n    return [\n        1 if on\n        else 2\n        for on in (0, 1)]\n",
        "f(5)",
    ),
    "not a literal": ("def f(x, on=False):\n    if on:\n        x = 1\n    return x\n", "f(5, on=bool(1))"),
    "decorated": (
        "def g(h):\n    return lambda x: h(x, True)\n@g\ndef f(x, on=False):\n    if on:\n        x = 1\n    return x\n",
        "f(5)",
    ),
    "starred": ("def f(x, on=False):\n    if on:\n        x = 1\n    return x\n", "f(*(5, True))"),
    "by name": ("def f(x, on=False):\n    if on:\n        x = 1\n    return x\n", "f(5, **{'on': True})"),
    "caught": (
        "def f(x, on=0):\n    try:\n        raise KeyError\n    except KeyError as on:\n        if on is not None:\n            x = 1\n",
        "f(5)",
    ),
    "imported": (
        "def f(x, math=None):\n    import math\n    if math is not None:\n        x = 1\n    return x\n",
        "f(5)",
    ),
    "a lambda's own": (
        "def f(x, on=0):\n    g = (lambda on:\n        x + 1\n        if on\n        else x)\n    return g(True)\n",
        "f(5)",
    ),
    "one of the options": (
        "on = 1\ndef f(x, **options):\n    if on:\n        x = 1\n    return x\n",
        "f(5, on=0)",
    ),
    "the rest of a match": (
        "def f(x, on=None):\n    match {'a': 1}:\n        case {**on}:\n            pass\n    if on is not None:\n        x = 1\n",
        "f(5)",
    ),
    "one is not True": (
        "def f(x, on=1):\n    if on is True:\n        x = 1\n    else:\n        x = 2\n    return x\n",
        "f(5)",
    ),
}


@pytest.mark.parametrize(("source", "call", "lines"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_left_out(source: str, call: str, lines: set[int]) -> None:
    assert _left_out(source, call, ast.stmt) == lines
    assert not lines & _run(source, call)


@pytest.mark.parametrize(("source", "call"), KEPT.values(), ids=KEPT)
def test_what_runs_is_kept(source: str, call: str) -> None:
    assert not _left_out(source, call, ast.stmt, ast.Constant) & _run(source, call)


def _left_out(source: str, call: str, *kinds: type[ast.AST]) -> set[int]:
    """The lines on which nodes of some kinds do not run, as the analysis says; a test that is decided runs."""
    function = Project([SourceFile(Path("m.py"), "m", source)]).modules["m"].functions["f"]
    node = ast.parse(call, mode="eval").body
    assert isinstance(node, ast.Call)
    out = left_out(function, constants_of(node, function))
    return {n.lineno for n in function.nodes if n in out and isinstance(n, kinds) and not isinstance(n, ast.If)}  # type: ignore[attr-defined]


def _run(source: str, call: str) -> set[int]:
    """The lines that run."""
    seen: set[int] = set()

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename == "<traced>":
            if event == "line":
                seen.add(frame.f_lineno)
            return trace
        return None

    names: dict[str, Any] = {}
    exec(compile(source, "<traced>", "exec"), names)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        eval(call, names)
    finally:
        sys.settrace(before)
    return seen
