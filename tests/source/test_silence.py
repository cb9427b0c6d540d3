from __future__ import annotations

import pytest

from compilefix.source.silence import silenced
from compilefix.source.suppressions import parse


@pytest.mark.parametrize(
    ("text", "lines", "wanted"),
    [
        ("x = f(y)\n", [1], "x = f(y)  # compilefix: ignore[CF101]\n"),
        ("x = f(y)", [1], "x = f(y)  # compilefix: ignore[CF101]"),
        ("a\r\nx = f(y)\r\n", [2], "a\r\nx = f(y)  # compilefix: ignore[CF101]\r\n"),
        ("a\rx = f(y)\r", [2], "a\rx = f(y)  # compilefix: ignore[CF101]\r"),
        ("x = f(y)  # why\n", [1], "x = f(y)  # why  # compilefix: ignore[CF101]\n"),
        (
            "x = f(y)  # compilefix: ignore[CF201] so\n",
            [1],
            "x = f(y)  # compilefix: ignore[CF201, CF101] so\n",
        ),
        ("x = f(y)  # compilefix: ignore[CF101]\n", [1], "x = f(y)  # compilefix: ignore[CF101]\n"),
        ("x = f(y)  # compilefix: ignore\n", [1], "x = f(y)  # compilefix: ignore\n"),
        ("x = f(\n    y,\n)\n", [1, 3], "x = f(  # compilefix: ignore[CF101]\n    y,\n)\n"),
        ("x = f('''\n''')\n", [1, 2], "x = f('''\n''')  # compilefix: ignore[CF101]\n"),
        ("x = f(y) + \\\n    1\n", [1, 2], "x = f(y) + \\\n    1  # compilefix: ignore[CF101]\n"),
        ("s = '# compilefix: ignore'; f(y)\n", [1], "s = '# compilefix: ignore'; f(y)  # compilefix: ignore[CF101]\n"),
        ("\x0c\nx = f(y)\n", [2], "\x0c\nx = f(y)  # compilefix: ignore[CF101]\n"),
    ],
)
def test_the_comment_comes_where_it_can_stand(text: str, lines: list[int], wanted: str) -> None:
    result = silenced(text, lines, "CF101")
    assert result == wanted
    assert result is not None
    assert any(parse(result).covers("CF101", line) for line in lines)
    assert silenced(result, lines, "CF101") == result or len(lines) > 1


def test_where_it_cannot_stand_nothing_is_written() -> None:
    assert silenced("x = '''\ny\n'''\n", [1, 2], "CF101") is None
    assert silenced("def f(:\n'''", [1], "CF101") is None
