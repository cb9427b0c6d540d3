"""`compilefix verify` as people call it: exit codes, the JSON document, a git revision as the base."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="verify needs torch")

BRANCH = """import torch


def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() * 2.0
    if y.sum() > 0:
        y = y * 0.5
    return y + 1.0


def workload():
    return f, [(torch.ones(4),), (-torch.ones(4),)]
"""
QUICK = ("--backend", "eager", "--repeats", "0", "--device", "cpu", "-q")


Command = Callable[..., subprocess.CompletedProcess[str]]


def git(folder: Path, *args: str) -> None:
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *args],
        cwd=folder,
        check=True,
        capture_output=True,
    )


def test_a_fix_that_holds_is_proved_and_nothing_is_written(tmp_path: Path) -> None:
    model = tmp_path / "model.py"
    model.write_text(BRANCH)
    words = [sys.executable, "-m", "compilefix", "verify", "model.py:workload", *QUICK, "--json", "out/verdict.json"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.rstrip().splitlines()[-2:] == ["proved", "  1 break site before, no break site after"]
    verdict = json.loads((tmp_path / "out" / "verdict.json").read_text())
    assert verdict["version"] == 1
    assert verdict["verdict"] == "proved"
    assert [(s["line"], s["gb"]) for s in verdict["before"]["break_sites"]] == [(6, "GB0170")]
    assert verdict["after"]["break_sites"] == []
    assert {
        k: verdict["parity"][k] for k in ("outputs", "gradients", "state", "inputs", "exceptions", "text")
    } == dict.fromkeys(("outputs", "gradients", "state", "inputs", "exceptions", "text"), "equal")
    condition, *statements = verdict["coverage"]
    assert (condition["path"], condition["line"], condition["text"]) == ("model.py", 6, "y.sum() > 0")
    assert min(condition["true"], condition["false"]) >= 3
    assert {(item["kind"], item["false"], item["true"] > 0) for item in statements} == {("statement", 0, True)}
    assert verdict["variation"]["differ"] == []
    assert not (tmp_path / ".compilefix").exists()
    assert [(f["code"], f["line"], f["assumptions"]) for f in verdict["fixes"]] == [("CF101", 6, [])]
    assert verdict["speedup"] == {"inference": None, "training": None}
    assert model.read_text() == BRANCH


def test_a_wrong_rewrite_since_a_revision_is_not_proved(command: Command, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "model.py").write_text(BRANCH)
    git(tmp_path, "add", "."), git(tmp_path, "commit", "-qm", "as written")
    wrong = BRANCH.replace(
        "    if y.sum() > 0:\n        y = y * 0.5\n", "    y = torch.where(y.sum() > 0, y, y * 0.5)\n"
    )
    (tmp_path / "model.py").write_text(wrong)
    done = command(tmp_path, "verify", "model.py:workload", "--base", "HEAD", *QUICK, "--json", "-")
    assert done.returncode == 1, done.stdout + done.stderr
    verdict = json.loads(done.stdout)
    assert verdict["verdict"] == "not-proved"
    assert verdict["parity"]["outputs"] == "different"
    assert "call 1" in verdict["parity"]["first_difference"]["place"]


@pytest.mark.slow  # tests/measuring/test_planted.py has one like it
def test_a_right_rewrite_since_a_revision_is_proved(command: Command, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "model.py").write_text(BRANCH)
    git(tmp_path, "add", "."), git(tmp_path, "commit", "-qm", "as written")
    right = BRANCH.replace(
        "    if y.sum() > 0:\n        y = y * 0.5\n", "    y = torch.where(y.sum() > 0, y * 0.5, y)\n"
    )
    (tmp_path / "model.py").write_text(right)
    done = command(tmp_path, "verify", "model.py:workload", "--base", "HEAD", *QUICK)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow  # tests/measuring/test_verify.py judges each fix alone too
def test_each_fix_alone(command: Command, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        BRANCH.replace("    return y + 1.0\n", "    z = 2.0 if y.max() > 1 else 4.0\n    return y * z\n")
    )
    done = command(tmp_path, "verify", "model.py:workload", *QUICK, "--each", "--json", "verdict.json")
    verdict = json.loads((tmp_path / "verdict.json").read_text())
    assert [(f["code"], f["verdict"]) for f in verdict["fixes"]] == [("CF101", "proved"), ("CF102", "proved")], (
        done.stdout
    )


def test_nothing_to_change_is_not_proved(command: Command, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import torch\n\n\ndef workload():\n    return torch.relu, [(torch.ones(4),)]\n")
    done = command(tmp_path, "verify", "model.py:workload", *QUICK)
    assert done.returncode == 1
    assert "nothing to change" in done.stdout


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("model.py",), "is no workload"),
        (("missing.py:workload",), "missing.py"),
        (("model.py:other",), "other"),
        (("model.py:broken",), "broken"),
        (("no_such_package.module:workload",), "no_such_package.module"),
        (("model.py:workload", "--device", "abacus"), "abacus"),
        (("model.py:workload", "--base", "HEAD"), "git"),
        (("model.py:workload", "--assume", "luck"), "luck"),
        (("model.py:workload", "no/such/folder"), "no/such/folder"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_run_is_one_line_and_exit_2(
    command: Command, tmp_path: Path, args: tuple[str, ...], message: str
) -> None:
    (tmp_path / "model.py").write_text(BRANCH + "\n\ndef broken():\n    return 1\n")
    done = command(tmp_path, "verify", *args, "--backend", "eager", "--repeats", "0", "-q")
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.slow
def test_apply_writes_only_what_proves_itself(tmp_path: Path) -> None:
    never = BRANCH.replace(
        "    return y + 1.0\n", "    if (y.sum() - 1e30).abs() < 1:\n        y = y + 1.0\n    return y\n"
    )
    (tmp_path / "model.py").write_text(never + "\n\ncompiled = torch.compile(f)\n")
    command = [sys.executable, "-m", "compilefix", "apply", "model.py", "--verify", "model.py:workload", "-q"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "model.py").read_text()
    assert "torch.where(y.sum() > 0" in text
    assert "if (y.sum() - 1e30).abs() < 1:" in text
    assert "left out: CF101 at model.py:8: unverified" in done.stderr
