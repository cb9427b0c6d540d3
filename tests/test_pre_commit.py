"""The hooks in a real repository, installed and run by pre-commit itself."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("pre_commit") is None, reason="pre-commit is not installed"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed"),
]

ROOT = Path(__file__).parent.parent
MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        x = self.linear(x)
        x = x.clamp(-9.0, 9.0) if x.abs().max() > 9.0 else x
        return x
"""
Run = Callable[..., subprocess.CompletedProcess[str]]


def git(*arguments: str, cwd: Path) -> None:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture(scope="module")
def pre_commit(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run, Path]:
    """A repository that uses the hooks of this one, a way to run them, and where pre-commit keeps its environments."""
    hooks = tmp_path_factory.mktemp("hooks")
    for name in ("compilefix", "codemods"):
        shutil.copytree(ROOT / name, hooks / name, ignore=shutil.ignore_patterns("__pycache__"), symlinks=False)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml"):
        shutil.copy(ROOT / name, hooks / name)
    git("init", "-q", cwd=hooks)
    git("add", ".", cwd=hooks)
    git("commit", "-q", "-m", "hooks", cwd=hooks)
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=hooks, check=True, capture_output=True, text=True)

    user = tmp_path_factory.mktemp("user")
    home = tmp_path_factory.mktemp("home")
    git("init", "-q", cwd=user)
    (user / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {hooks}\n    rev: {done.stdout.strip()}\n    hooks:\n"
        "      - id: compilefix\n      - id: compilefix-apply\n"
    )
    (user / "model.py").write_text(MODEL)
    (user / "notes.txt").write_text("no Python\n")
    git("add", ".", cwd=user)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "pre_commit", *arguments]
        environment = {**os.environ, "PRE_COMMIT_HOME": str(home)}
        return subprocess.run(words, cwd=user, capture_output=True, text=True, env=environment, check=False)

    installed = run("install-hooks")
    if installed.returncode and "No matching distribution" in installed.stdout + installed.stderr:
        pytest.skip("the hook's requirements cannot be installed here")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    return user, run, home


def test_the_first_hook_warns_and_passes(pre_commit: tuple[Path, Run, Path]) -> None:
    user, run, _ = pre_commit
    done = run("run", "compilefix", "--all-files")
    assert done.returncode == 0, done.stdout
    assert "model.py:12:13: CF102" in done.stdout
    assert (user / "model.py").read_text() == MODEL


def test_the_second_hook_fixes_and_stops_the_commit_once(pre_commit: tuple[Path, Run, Path]) -> None:
    user, run, _ = pre_commit
    (user / "model.py").write_text(MODEL)
    git("add", ".", cwd=user)
    done = run("run", "compilefix-apply", "--all-files")
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout
    assert "torch.where(" in (user / "model.py").read_text()
    git("add", ".", cwd=user)
    assert run("run", "--all-files").returncode == 0


def test_the_environment_of_the_hooks_has_no_torch(pre_commit: tuple[Path, Run, Path]) -> None:
    packages = {path.name for path in pre_commit[2].rglob("site-packages/*")}
    assert any(name.startswith("libcst") for name in packages)
    assert not packages & {"torch", "numpy"}
