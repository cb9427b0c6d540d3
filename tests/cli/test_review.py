"""The review: its decisions with a scripted person, and the whole of it in a real terminal."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from compilefix.cli import inputs as inputs_module
from compilefix.cli.inputs import Request, gather
from compilefix.cli.review import Answer, Proposal, Quit, Reviewed, review

if TYPE_CHECKING:
    from conftest import Cli

MODEL = """\
import torch


@torch.compile
def forward(x):
    x = slow(x)
    x = slow(x)
    x = risky(slow(x))
    return never(x)
"""


def decided(cli: Cli, answers: Sequence[Answer], **options: Any) -> tuple[Reviewed, list[str]]:
    """What comes of these answers, and the text of each line that was asked about."""
    asked: list[str] = []
    left: Iterator[Answer] = iter(answers)

    def ask(proposal: Proposal) -> Answer:
        assert "fast" in proposal.after.text or "sure" in proposal.after.text
        asked.append(f"{proposal.number}/{proposal.total} {proposal.finding.code}:{proposal.finding.span.line}")
        return next(left)

    reviewed = review(gather(Request(paths=[Path()], **options)), ask)
    assert next(left, None) is None
    return reviewed, asked


def text_of(reviewed: Reviewed) -> str:
    (change,) = reviewed.patchset
    return change.after


def test_each_fix_is_decided_on(cli: Cli) -> None:
    path = cli.write("model.py", MODEL)
    reviewed, asked = decided(cli, ["accept", "skip", "accept"])
    assert asked == ["1/3 CF901:6", "2/3 CF901:7", "3/3 CF901:8"]
    assert text_of(reviewed) == MODEL.replace("slow", "fast", 1).replace("risky(slow", "risky(fast")
    assert (reviewed.write, len(reviewed.patchset.fixes)) == (False, 2)
    assert path.read_text() == MODEL


def test_nothing_accepted_is_no_change(cli: Cli) -> None:
    cli.write("model.py", MODEL)
    reviewed, _ = decided(cli, ["skip", "skip", "skip"])
    assert not reviewed.patchset


def test_all_of_a_rule_asks_no_more_about_it(cli: Cli) -> None:
    cli.write("model.py", MODEL)
    reviewed, asked = decided(cli, ["skip", "rule", "skip"], unsafe_fixes=True)
    assert asked == ["1/4 CF901:6", "2/4 CF901:7", "3/4 CF902:8"]
    assert text_of(reviewed) == MODEL.replace("slow", "fast").replace("fast", "slow", 1)


def test_back_takes_an_answer_back(cli: Cli) -> None:
    cli.write("model.py", MODEL)
    answers: list[Answer] = ["back", "accept", "rule", "back", "back", "skip", "skip", "accept", "skip"]
    reviewed, asked = decided(cli, answers, unsafe_fixes=True)
    assert [line.partition("/")[0] for line in asked] == ["1", "1", "2", "3", "2", "1", "2", "3", "4"]
    assert text_of(reviewed) == MODEL.replace("risky", "sure")


def test_never_writes_the_comment(cli: Cli) -> None:
    cli.write("model.py", MODEL)
    reviewed, _ = decided(cli, ["accept", "never", "skip"])
    assert text_of(reviewed) == MODEL.replace("slow", "fast", 1).replace(
        "x = slow(x)\n", "x = slow(x)  # compilefix: ignore[CF901]\n"
    )


def test_write_stops_and_keeps_what_was_accepted(cli: Cli) -> None:
    cli.write("model.py", MODEL)
    reviewed, _ = decided(cli, ["accept", "write"])
    assert reviewed.write
    assert text_of(reviewed) == MODEL.replace("slow", "fast", 1)


def test_quit_keeps_nothing(cli: Cli) -> None:
    cli.write("model.py", MODEL)
    with pytest.raises(Quit):
        decided(cli, ["accept", "quit"])


def test_a_fix_inside_another_is_made_first_and_the_other_asked_about_again(cli: Cli) -> None:
    cli.write("model.py", MODEL.replace("risky(slow(x))", "slow(slow(x))"))
    reviewed, asked = decided(cli, ["skip", "skip", "accept", "accept", "accept"])
    assert len(asked) == 5
    assert "x = fast(fast(x))" in text_of(reviewed)


def test_it_needs_a_terminal_and_no_diff(cli: Cli) -> None:
    cli.write("model.py", MODEL)
    result = cli("apply", "--interactive")
    assert (result.code, result.out) == (2, "")
    assert "needs a terminal" in result.err
    assert cli("apply", "--interactive", "--diff").code == 2


REAL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        x = x.clamp(-9.0, 9.0) if x.abs().max() > 9.0 else x
        x = x.clamp(-5.0, 5.0) if x.abs().max() > 5.0 else x
        print(x.detach().sum())
        return x
"""
FIRST = "torch.where(x.abs().max() > 9.0, x.clamp(-9.0, 9.0), x)"
SECOND = "torch.where(x.abs().max() > 5.0, x.clamp(-5.0, 5.0), x)"


class Terminal:
    """A pseudo-terminal in which the command runs."""

    def __init__(self, folder: Path, *arguments: str, term: str = "xterm-256color") -> None:
        pexpect = pytest.importorskip("pexpect")
        words = ["-m", "compilefix", "apply", "--interactive", *arguments]
        environment = {**inputs_module.os.environ, "TERM": term, "COLUMNS": "100", "LINES": "40"}
        self.eof = pexpect.EOF
        self.child = pexpect.spawn(
            sys.executable, words, cwd=str(folder), env=environment, encoding="utf-8", timeout=60, dimensions=(40, 100)
        )

    def press(self, key: str, prompt: str = r"Apply this fix\?.*\] ") -> str:
        """Wait for the prompt and press a key; what was shown before it, without colours."""
        self.child.expect(prompt)
        shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", str(self.child.before))
        self.child.send(key)
        return shown.replace("\r\n", "\n")

    def end(self) -> tuple[int, str]:
        self.child.expect(self.eof)
        shown = str(self.child.before).replace("\r\n", "\n")
        self.child.close()
        return self.child.exitstatus, shown


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
class TestInATerminal:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "model.py"
        path.write_text(REAL)
        return path

    @pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
    def test_accept_and_skip(self, path: Path, term: str) -> None:
        terminal = Terminal(path.parent, term=term)
        shown = terminal.press("y")
        assert "[1/2] CF102" in shown
        assert "model.py:12:13" in shown
        assert f"+        x = {FIRST}" in shown
        assert "safe" in shown
        terminal.press("n")
        assert path.read_text() == REAL
        shown = terminal.press("y", prompt=r"Write 1 fix to 1 file\? \[y,n\] ")
        code, closing = terminal.end()
        assert (code, "1 fix applied in 1 file." in closing) == (0, True)
        assert path.read_text() == REAL.replace("x.clamp(-9.0, 9.0) if x.abs().max() > 9.0 else x", FIRST)

    def test_explain_help_back_and_never(self, path: Path) -> None:
        terminal = Terminal(path.parent)
        terminal.press("e")
        assert "CF102" in terminal.press("?")
        assert "write a comment that silences" in terminal.press("x")
        terminal.press("y")
        terminal.press("b")
        assert "[1/2]" in terminal.press("i")
        terminal.press("y")
        terminal.press("y", prompt=r"Write 1 fix to 1 file\? \[y,n\] ")
        assert terminal.end()[0] == 0
        assert path.read_text() == REAL.replace("> 9.0 else x", "> 9.0 else x  # compilefix: ignore[CF102]").replace(
            "x.clamp(-5.0, 5.0) if x.abs().max() > 5.0 else x", SECOND
        )

    def test_a_helper_module_comes_with_the_fix_that_needs_it(self, path: Path) -> None:
        terminal = Terminal(path.parent, "--select", "CF301", "--assume", "log-late")
        shown = terminal.press("y")
        assert "assumes log-late: Printed and logged lines appear" in shown
        shown = terminal.press("y", prompt=r"Write 1 fix to 2 files\? \[y,n\] ")
        assert "_compile_boundary.py (new file, " in shown
        assert terminal.end()[0] == 0
        assert (path.parent / "_compile_boundary.py").exists()
        assert "from _compile_boundary import emit" in path.read_text()

    @pytest.mark.parametrize(("keys", "code"), [(["y", "q"], 0), (["y", "\x03"], 130), (["y", "\x04"], 0)])
    def test_leaving_writes_nothing(self, path: Path, keys: list[str], code: int) -> None:
        terminal = Terminal(path.parent)
        for key in keys:
            terminal.press(key)
        status, closing = terminal.end()
        assert status == code
        assert "Nothing written" in closing or "interrupted" in closing
        assert path.read_text() == REAL
        assert [other.name for other in path.parent.iterdir()] == ["model.py"]

    def test_no_at_the_end_writes_nothing(self, path: Path) -> None:
        terminal = Terminal(path.parent)
        terminal.press("a")
        terminal.press("n", prompt=r"Write 2 fixes to 1 file\? \[y,n\] ")
        assert terminal.end()[0] == 0
        assert path.read_text() == REAL

    def test_a_kill_in_the_middle_writes_nothing(self, path: Path) -> None:
        terminal = Terminal(path.parent)
        terminal.press("y")
        terminal.child.expect(r"Apply this fix\?")
        terminal.child.kill(9)
        assert path.read_text() == REAL


def test_a_notebook_is_reviewed_too(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    path = tmp_path / "model.ipynb"
    cells = [nbformat.v4.new_code_cell("%time x = 1"), nbformat.v4.new_code_cell(REAL)]
    path.write_text(nbformat.writes(nbformat.v4.new_notebook(cells=cells)), encoding="utf-8")
    terminal = Terminal(tmp_path)
    shown = terminal.press("y")
    assert "model.ipynb:cell 2:12:13" in shown
    terminal.press("w")
    assert terminal.end()[0] == 0
    new = nbformat.read(path, as_version=4)
    assert FIRST in new.cells[1].source
    assert new.cells[0].source == "%time x = 1"


def test_the_option_is_in_the_help() -> None:
    words = [sys.executable, "-m", "compilefix", "apply", "--help"]
    assert "--interactive" in subprocess.run(words, capture_output=True, text=True, check=True).stdout
