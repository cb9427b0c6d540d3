from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from compilefix.fixing import engine

if TYPE_CHECKING:
    from conftest import Cli

MODEL = b"import torch\n\n\n@torch.compile\ndef forward(x):\n    x = slow(x)\n    x = risky(x)\n    return never(x)\n"


def test_safe_fixes_are_applied_and_counted(cli: Cli) -> None:
    path = cli.write("model.py", MODEL)
    other = cli.write("other.py", "x = 1\n")
    result = cli("apply")
    assert (result.code, result.out) == (0, "1 fix applied in 1 file.\n")
    assert result.err == (
        "not fixed: 1 finding without a fix; 1 fix that need assumptions (--assume log-late or --unsafe-fixes)\n"
    )
    assert path.read_bytes() == MODEL.replace(b"slow", b"fast")
    assert other.read_text() == "x = 1\n"


@pytest.mark.parametrize("option", [["--assume", "log-late"], ["--unsafe-fixes"]])
def test_assumptions_allow_more(cli: Cli, option: list[str]) -> None:
    path = cli.write("model.py", MODEL)
    assert cli("apply", *option).out == "2 fixes applied in 1 file.\n"
    assert path.read_bytes() == MODEL.replace(b"slow", b"fast").replace(b"risky", b"sure")


def test_a_fix_that_cannot_be_made_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check`, which does not read files with LibCST, has promised it."""
    monkeypatch.setattr(engine, "rewritten", lambda file, group, config: None)
    path = cli.write("model.py", MODEL)
    before = path.read_bytes()
    result = cli("apply")
    assert result.out == "0 fixes applied in 0 files.\n"
    place = "model.py:6:9: CF901 not fixed"
    assert result.err.splitlines()[0] == f"{place}: LibCST, with which files are rewritten, cannot read this one"
    assert path.read_bytes() == before


def test_a_form_feed_where_the_first_block_begins(cli: Cli) -> None:
    path = cli.write("model.py", MODEL.replace(b"\n    x = slow", b"\n\f    x = slow"))
    before = path.read_bytes()
    assert "model.py:6:10: CF901 not fixed: " in cli("apply").err
    assert path.read_bytes() == before


def test_nothing_to_do(cli: Cli) -> None:
    cli.write("model.py", "x = 1\n")
    result = cli("apply")
    assert (result.code, result.out, result.err) == (0, "0 fixes applied in 0 files.\n", "")
    assert cli("apply", "--diff").data == b""
    assert cli("apply", "--diff").code == 0


def test_the_diff_is_all_there_is_on_stdout_and_nothing_is_written(cli: Cli) -> None:
    path = cli.write("model.py", MODEL)
    result = cli("apply", "--diff")
    assert result.code == 1
    assert path.read_bytes() == MODEL
    assert result.out.startswith("diff --git a/model.py b/model.py\n--- a/model.py\n+++ b/model.py\n@@ ")
    assert "-    x = slow(x)\n+    x = fast(x)\n" in result.out
    assert len(result.err.splitlines()) == 1
    assert result.err.startswith("not in this diff: ")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
@pytest.mark.parametrize("in_repository", [True, False])
@pytest.mark.parametrize(
    "content",
    [
        pytest.param(MODEL, id="plain"),
        pytest.param(MODEL.replace(b"\n", b"\r\n"), id="crlf"),
        pytest.param(b"\xef\xbb\xbf" + MODEL[14:], id="bom"),
        pytest.param(b"# coding: latin-1\n# \xe9\n" + MODEL, id="latin-1"),
        pytest.param(MODEL.replace(b"never(x)\n", b"slow(x)"), id="no final newline"),
        pytest.param(MODEL.replace(b"\n\n\n", b"\n\x0c\n# a\x0bb\xe2\x80\xa8c\n"), id="odd separators"),
    ],
)
def test_git_applies_the_diff_to_the_byte(cli: Cli, content: bytes, in_repository: bool) -> None:
    if content.startswith(b"\xef\xbb\xbf"):
        content = content.replace(b"@torch.compile", b"from torch import compile\n@compile")
    cli.write("pkg/model.py", content)
    if in_repository:
        subprocess.run(["git", "init", "-q", str(cli.folder)], check=True)
    diff = cli("apply", "--diff", "pkg").data
    assert diff
    subprocess.run(["git", "apply", "--whitespace=nowarn", "-"], input=diff, cwd=cli.folder, check=True)
    assert (cli.folder / "pkg" / "model.py").read_bytes() == content.replace(b"slow", b"fast")


@pytest.mark.parametrize(
    "content",
    [
        MODEL.replace(b"\n", b"\r\n"),
        MODEL.replace(b"\n", b"\r"),
        MODEL.replace(b"@", b"@  ").replace(b"    ", b"\t"),
        MODEL.replace(b"import torch\n", b"import torch\n\x0c\n"),
        MODEL.replace(b"    return", b"\x0c    return"),
        MODEL.replace(b"slow(x)\n", b"slow(x)\r\n"),
        b"#!/usr/bin/env python\n# -*- coding: cp1252 -*-\n# \x80\n" + MODEL,
        b"\xef\xbb\xbf# x\n" + MODEL,
        b"# coding: latin-1\n# \xe9\n" + MODEL,
        MODEL.rstrip(),
    ],
)
def test_everything_else_in_the_file_stays(cli: Cli, content: bytes) -> None:
    path = cli.write("model.py", content)
    assert cli("apply").code == 0
    assert path.read_bytes() == content.replace(b"slow", b"fast")


def test_what_cannot_be_written_is_named_and_not_counted(cli: Cli) -> None:
    locked = cli.write("locked.py", MODEL)
    locked.chmod(0o444)
    free = cli.write("free.py", MODEL)
    cli.write("broken.py", "def f(:\n")
    result = cli("apply", "-q")
    assert result.code == 2
    assert [line.split(":")[0] for line in result.err.splitlines()] == ["broken.py", "locked.py"]
    assert "read-only" in result.err
    assert locked.read_bytes() == MODEL
    assert free.read_bytes() == MODEL.replace(b"slow", b"fast")
    assert cli("apply").out == "0 fixes applied in 0 files.\n"


def test_an_error_wins_over_changes_in_the_exit_code_of_the_diff(cli: Cli) -> None:
    cli.write("model.py", MODEL)
    assert cli("apply", "--diff", "model.py", "missing.py").code == 2


def test_silenced_lines_are_not_fixed(cli: Cli) -> None:
    content = MODEL.replace(b"slow(x)\n", b"slow(x)  # compilefix: ignore\n    x = slow(x)\n")
    path = cli.write("model.py", content)
    assert cli("apply").out == "1 fix applied in 1 file.\n"
    assert path.read_bytes() == content.replace(b"    x = slow(x)\n", b"    x = fast(x)\n")


def test_nothing_is_found_after_applying(cli: Cli) -> None:
    path = cli.write("model.py", MODEL.replace(b"risky", b"slow").replace(b"never(x)", b"slow(slow(x))"))
    assert cli("apply").out == "4 fixes applied in 1 file.\n"
    after = path.read_bytes()
    assert cli("check").code == 0
    assert cli("apply").out == "0 fixes applied in 0 files.\n"
    assert path.read_bytes() == after
