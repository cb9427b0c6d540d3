"""The rules as LibCST's own tool runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from libcst.codemod import CodemodCommand

from compilefix import commands
from compilefix.codemods import registry

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        x = x.clamp(-9.0, 9.0) if x.abs().max() > 9.0 else x  # a comment
        print("step")
        return x * x.detach().abs().mean().item()
"""
FIXED = MODEL.replace(
    "x.clamp(-9.0, 9.0) if x.abs().max() > 9.0 else x", "torch.where(x.abs().max() > 9.0, x.clamp(-9.0, 9.0), x)"
)


def tool(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "libcst.tool", *arguments]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def test_every_rule_is_a_command() -> None:
    for code, rule in registry.load().items():
        command = getattr(commands, code)
        assert issubclass(command, CodemodCommand)
        assert rule.name in command.DESCRIPTION


def test_libcst_runs_one_rule_on_files(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "other.py").write_text(MODEL)
    done = tool("codemod", "-x", "--no-format", "compilefix.commands.CF102", ".", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "model.py").read_text() == FIXED
    assert (tmp_path / "other.py").read_text() == FIXED


def test_assumptions_are_options_and_the_configuration_holds(tmp_path: Path) -> None:
    source = "import torch\n\n\ndef forward(x: torch.Tensor):\n    return x + 1 if x.sum() > 0 else x - 1\n"
    (tmp_path / "pyproject.toml").write_text("[tool.compilefix]\nper-file-ignores = { 'old.py' = ['CF102'] }\n")
    for name in ("model.py", "old.py"):
        (tmp_path / name).write_text(source)
    arguments = ("codemod", "-x", "--no-format", "compilefix.commands.CF102")
    assert tool(*arguments, ".", cwd=tmp_path).returncode == 0
    assert (tmp_path / "model.py").read_text() == source
    assert tool(*arguments, "--unsafe-fixes", ".", cwd=tmp_path).returncode == 0
    assert "torch.where(" in (tmp_path / "model.py").read_text()
    assert (tmp_path / "old.py").read_text() == source


def test_a_fix_that_needs_a_second_file_is_left_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    done = tool("codemod", "-x", "--no-format", "compilefix.commands.CF301", "--unsafe-fixes", ".", cwd=tmp_path)
    assert (tmp_path / "model.py").read_text() == MODEL
    assert "line 13: CF301 needs a helper module" in done.stdout + done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["model.py"]
