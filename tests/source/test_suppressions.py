from __future__ import annotations

import pytest

from compilefix.source.suppressions import Suppressions, parse


def test_a_file_without_comments_silences_nothing() -> None:
    assert parse("x = 1\n") == Suppressions()


@pytest.mark.parametrize(
    ("comment", "silenced", "kept"),
    [
        ("# compilefix: ignore", ["CF101", "CF201"], []),
        ("# compilefix:ignore", ["CF101"], []),
        ("# compilefix: ignore[CF101]", ["CF101"], ["CF102", "CF201"]),
        ("# compilefix: ignore[CF101, cf2]", ["CF101", "CF201", "CF202"], ["CF102"]),
        ("# noqa: E501  # compilefix: ignore[CF101]", ["CF101"], ["CF102"]),
        ("# compilefix: ignore[CF101] because it is slow only once", ["CF101"], ["CF102"]),
        ("# compilefix: ignored", [], ["CF101"]),
        ("# see compilefix: ignore", [], ["CF101"]),
    ],
)
def test_a_comment_silences_its_line(comment: str, silenced: list[str], kept: list[str]) -> None:
    found = parse(f"x = 1\ny = 2  {comment}\n")
    assert all(found.covers(code, 2) for code in silenced)
    assert not any(found.covers(code, 2) for code in kept)
    assert not found.covers("CF101", 1)


def test_the_last_line_of_a_statement_counts_too() -> None:
    found = parse("x = f(\n    1,\n)  # compilefix: ignore\n")
    assert found.covers("CF101", 1, 3)


def test_a_string_is_no_comment() -> None:
    assert not parse("x = '# compilefix: ignore'\n").covers("CF101", 1)


def test_a_whole_file() -> None:
    assert parse('"""Doc."""\n# compilefix: ignore-file\nx = 1\n').covers("CF101", 3)
    some = parse("# compilefix: ignore-file[CF1]\nx = 1\n")
    assert some.covers("CF101", 2)
    assert not some.covers("CF201", 2)
    assert parse("# compilefix: ignore-file[CF1]\r\n# compilefix: ignore-file\r\n").covers("CF201", 9)
