"""Rules of our own for the tests of the commands, so that these do not depend on what the shipped rules do."""

from __future__ import annotations

import ast
import builtins
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from compilefix.cli.app import app
from compilefix.codemods import registry
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope

MODEL = """\
import torch


@torch.compile
def forward(x):
    x = slow(x)
    x = risky(x)
    return never(x)
"""


class _CallRule(Rule):
    """Finds the calls of one function."""

    function: str

    def calls(self, scope: Scope) -> Iterator[ast.Call]:
        for node in scope.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == self.function:
                yield node


class Slow(_CallRule):
    code, name, summary, gb = "CF901", "slow-call", "a slow call", ("GB0001",)
    function = "slow"

    def find(self, scope: Scope) -> Iterator[Finding]:
        for node in self.calls(scope):
            fix = Fix((scope.edit(node, "fast({x})", x=node.args[0]),))
            yield self.fixed(scope, node, "`slow` is slow", fix)


class Risky(_CallRule):
    code, name, summary = "CF902", "risky-call", "a risky call"
    assumptions = ("log-late",)
    function = "risky"

    def find(self, scope: Scope) -> Iterator[Finding]:
        for node in self.calls(scope):
            fix = Fix((scope.edit(node, "sure({x})", x=node.args[0]),), assumptions=("log-late",))
            yield self.fixed(scope, node, "`risky` is risky", fix)


class Never(_CallRule):
    code, name, summary = "CF911", "never-call", "a call that stays"
    function = "never"

    def find(self, scope: Scope) -> Iterator[Finding]:
        for node in self.calls(scope):
            yield self.declined(scope, node, "`never` breaks the graph", "nothing takes its place")


@pytest.fixture(autouse=True)
def _what_the_fixes_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """No fix is made whose code calls what is not there: for these tests it is built in."""
    for name in ("fast", "sure"):
        monkeypatch.setattr(builtins, name, len, raising=False)


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str
    data: bytes


class Cli:
    """Runs commands in the folder of the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, name: str, content: str | bytes = MODEL) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Result:
        result = CliRunner().invoke(app, list(arguments), input=stdin, prog_name="compilefix")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return Result(result.exit_code, result.stdout, result.stderr, result.stdout_bytes)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command in a folder, with the shipped rules, in this process, which imports torch once for all tests."""

    def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.chdir(folder)
        result = CliRunner().invoke(app, list(words), prog_name="compilefix")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return subprocess.CompletedProcess(words, result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    rules: Sequence[type[Rule]] = (Slow, Risky, Never)
    monkeypatch.setattr(registry, "load", lambda: {rule.code: rule for rule in rules})
    monkeypatch.chdir(tmp_path)
    return Cli(tmp_path)
