"""`compilefix verify` on the workloads of a configuration, its reports, and its comparison with a baseline."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="verify needs torch")

MODEL = """import torch


def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() * 2.0
    if y.sum() > 0:
        y = y * 0.5
    return y + 1.0


def workload():
    return f, [(torch.ones(4),), (-torch.ones(4),)]
"""
FIXED = MODEL.replace("    if y.sum() > 0:\n        y = y * 0.5\n", "    y = torch.where(y.sum() > 0, y * 0.5, y)\n")
QUICK = ("--backend", "eager", "--repeats", "0", "--calls", "2", "--device", "cpu", "-q")


Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "model.py").write_text(MODEL)
    (tmp_path / "pyproject.toml").write_text(
        "[tool.compilefix.workloads]\nsmall = 'bench/model.py:workload'\nlarge = 'bench/none.py:workload'\n"
    )
    return tmp_path


def test_all_workloads_of_the_configuration_run_and_one_that_cannot_keeps_none_back(
    command: Command, project: Path
) -> None:
    files = ("--json", "out/v.json", "--html", "out/v.html", "--markdown", "out/v.md")
    done = command(project, "verify", *QUICK, *files)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr == "compilefix: large: bench/none.py: no such file\n"
    document = json.loads((project / "out" / "v.json").read_text())
    assert {name: one["verdict"] for name, one in document["workloads"].items()} == {
        "small": "proved",
        "large": "not-proved",
    }
    assert document["workloads"]["large"]["error"] == "bench/none.py: no such file"
    assert "== small" in done.stdout
    assert "could not run" in done.stdout.splitlines()[-1]
    page = (project / "out" / "v.html").read_text()
    assert "torch.where(y.sum() &gt; 0" in page
    assert "graph break GB0170" in page
    assert "| `small` | **proved** | 1 → 0 |" in (project / "out" / "v.md").read_text()
    assert (project / "bench" / "model.py").read_text() == MODEL


@pytest.mark.slow  # three measurements; what is worse than before is judged in tests/reporting too
def test_a_fixed_model_is_held_to_its_verdict_and_a_new_break_fails(command: Command, project: Path) -> None:
    inside = project / "bench"
    done = command(inside, "verify", "small", *QUICK, "--json", "old.json")
    assert done.returncode == 0, done.stdout + done.stderr
    (inside / "model.py").write_text("# a line that moves all others\n" + FIXED)
    done = command(inside, "verify", "small", *QUICK, "--baseline", "old.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "nothing is worse than in old.json"

    (inside / "model.py").write_text(FIXED.replace("    return y + 1.0\n", "    print('done')\n    return y + 1.0\n"))
    done = command(inside, "verify", "small", *QUICK, "--ignore", "CF3", "--baseline", "old.json", "--json", "-")
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["regressions"] == ["the code: new graph break at model.py:7: print('done') (GB0059)"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("smal",), "'smal' is no workload; did you mean 'small'?"),
        (("other",), "a name of [tool.compilefix.workloads] (small, large)"),
        (("small", "--baseline", "none.json"), "none.json: cannot be read"),
        (("small", "--json", "-", "--markdown", "-"), "only one of --json and --markdown"),
        (("small", "--compare-with", "model.py"), "'model.py' is no workload"),
        (("large",), "bench/none.py: no such file"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_run_is_one_line_and_exit_2(
    command: Command, project: Path, args: tuple[str, ...], message: str
) -> None:
    done = command(project, "verify", *args, "--backend", "eager", "--repeats", "0", "-q")
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_without_any_workload_the_way_to_name_one_is_said(command: Command, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.compilefix]\n")
    done = command(tmp_path, "verify")
    assert done.returncode == 2
    assert "no workload: name one, or list some under workloads in [tool.compilefix]" in done.stderr
