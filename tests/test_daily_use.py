"""What docs/daily-use.md shows works: its commands are run, its configuration is read, its lists are complete."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from compilefix.cli.check import Format
from compilefix.cli.review_terminal import KEYS as REVIEW_KEYS
from compilefix.codemods import registry
from compilefix.codemods.assumptions import ASSUMPTIONS
from compilefix.source.config import KEYS, load
from compilefix.source.selection import choose
from compilefix.source.suppressions import parse

PAGE = (Path(__file__).parent.parent / "docs" / "daily-use.md").read_text(encoding="utf-8")
MODEL = "import torch\n\n\ndef forward(x: torch.Tensor):\n    return x + 1 if x.sum() > 0 else x - 1\n"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


COMMANDS = [
    line.partition("  #")[0].strip()
    for block in blocks("sh")
    for line in block.splitlines()
    if not line.startswith("#")
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for folder in ("package", "src"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.py").write_text(MODEL)
    if shutil.which("git") is not None:
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "commit.gpgsign=false"]
        for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "x"]):
            subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_run(project: Path, command: str) -> None:
    if "--since" in command and shutil.which("git") is None:
        pytest.skip("git is not installed")
    words, _, files = command.partition(" < ")
    source, _, target = files.partition(" > ")
    arguments = shlex.split(words)
    arguments = [sys.executable, *(["-m"] if arguments[0] == "compilefix" else []), *arguments]
    if arguments[1] == "python":
        del arguments[1]
    if "--baseline" in arguments:
        (project / arguments[-1]).write_text('{"version": 1, "findings": []}')
    stdin = (project / source).read_bytes() if source else b""
    done = subprocess.run(arguments, cwd=project, input=stdin, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert not target or b"torch" in done.stdout


def test_the_configuration_shows_every_key_and_is_valid(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(blocks("toml")[0], encoding="utf-8")
    config = load([tmp_path])
    assert choose(config, tuple(registry.load())).codes
    assert set(config.assume) <= set(ASSUMPTIONS)
    assert re.findall(r"^([\w-]+) = ", blocks("toml")[0], re.MULTILINE) == list(KEYS)


def test_the_comments_silence() -> None:
    on_line, on_function, on_file = parse(blocks("python")[0].replace("x):", "x): pass")).comments
    assert on_line.codes == {"CF201"}
    assert on_function.codes == {"CF101", "CF2"}
    assert on_file.whole_file


def test_the_lists_of_formats_and_keys_are_complete() -> None:
    formats = PAGE.partition("## Formats")[2].partition("##")[0]
    assert all(f"`{name}`" in formats for name in get_args(Format))
    review = PAGE.partition("## Deciding")[2].partition("##")[0]
    assert all(f"`{key}`" in review for key in REVIEW_KEYS if key != "?")
