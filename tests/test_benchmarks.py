"""The benchmark of a log line and a guard per block runs anywhere, with sizes that are soon done."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "log_guard_blocks.py"
SMALL = ["--blocks", "2", "--width", "8", "--batch", "2", "--rounds", "2", "--calls", "2", "--processes", "1"]


@pytest.mark.parametrize("guard", ["raise", "clamp"])
def test_a_log_line_and_a_guard_in_each_block(guard: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    command = [sys.executable, str(SCRIPT), "--device", "cpu", "--mode", "default", "--guard", guard]
    done = subprocess.run(
        [*command, "--backend", "aot_eager", *SMALL, "--json", str(report)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(report.read_text(encoding="utf-8"))["reports"]
    assert (found["guard"], found["wrong"], found["compiled_in_50_calls"]) == (guard, [], 0)
    assert all(found[arm]["n"] == 4 for arm in ("without", "as written", "rewritten"))
    assert f"| default | {guard} |" in done.stdout
    assert "| held |" in done.stdout
