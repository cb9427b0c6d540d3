"""The GitHub Action: its definition is read, and its check step is run as GitHub runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")

ACTION: dict[str, Any] = yaml.safe_load((Path(__file__).parent.parent / "action.yml").read_text(encoding="utf-8"))
MODEL = "import torch\n\n\ndef forward(x: torch.Tensor):\n    return x + 1 if x.sum() > 0 else x - 1\n"


def check(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """The step `Check` with its environment filled in from the inputs and their defaults."""
    (step,) = [step for step in ACTION["runs"]["steps"] if step.get("name") == "Check"]
    given = {name: inputs.get(name.replace("-", "_"), item["default"]) for name, item in ACTION["inputs"].items()}
    environment = {}
    for name, value in step["env"].items():
        key = value.removeprefix("${{ inputs.").removesuffix(" }}")
        environment[name] = given[key]
    commands = folder / "bin"
    commands.mkdir()
    (commands / "compilefix").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m compilefix "$@"\n')
    (commands / "compilefix").chmod(0o755)
    environment["PATH"] = f"{commands}{os.pathsep}{os.environ['PATH']}"
    # GitHub runs `shell: bash` so.
    words = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    full = {**os.environ, **environment}
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, env=full, check=False)


def test_the_definition_is_complete() -> None:
    assert ACTION["runs"]["using"] == "composite"
    assert all(item["description"] and "default" in item for item in ACTION["inputs"].values())
    assert all("shell" in step for step in ACTION["runs"]["steps"] if "run" in step)


def test_findings_annotate_and_fail_the_step(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    done = check(tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::warning file=model.py,line=5,")


def test_options_and_a_file_for_the_upload(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    done = check(
        tmp_path, args="--exit-zero --select CF1", paths="model.py", output_format="sarif", output_file="out.sarif"
    )
    assert done.returncode == 0, done.stderr
    log = json.loads((tmp_path / "out.sarif").read_text())
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["CF102"]


def test_a_wrong_option_fails_the_step(tmp_path: Path) -> None:
    assert check(tmp_path, args="--select CF9").returncode == 2
