"""`compilefix trace` on a real run: the program in fixtures/training, compiled with the eager backend."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "fixtures" / "training" / "train.py"
RUN = ("python", "train.py", "--backend", "eager")

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="runs a training program")


def trace(folder: Path, *words: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    words = tuple(sys.executable if word == "python" else word for word in words)
    command = [sys.executable, "-m", "compilefix", "trace", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False, env=env)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, and in `logs` those of a run of it; `report.json` and `printed.txt` are what the command said."""
    here = tmp_path_factory.mktemp("job")
    shutil.copy(PROGRAM, here)
    done = trace(here, "--keep", "logs", "--json", "report.json", "--", *RUN)
    assert done.returncode == 0, done.stderr
    (here / "printed.txt").write_text(done.stdout)
    return here


def report(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "report.json").read_text())


@needs_torch
def test_every_break_is_there_with_its_rule(folder: Path) -> None:
    found = {(site["source"], site["gb"]): site for site in report(folder)["break_sites"]}
    log = 'logger.info("loss %.4f", loss.item())'
    assert {key: site["code"] for key, site in found.items()} == {
        ("if h.abs().max() > 50.0:", "GB0170"): "CF101",
        ("spread = x.detach().std().item()", "GB0124"): "CF201",
        ('print("features of shape", tuple(x.shape), x.dtype)', "GB0059"): "CF301",
        ("kept = prediction[target > -1.0]", "GB0036"): "CF503",
        ("time.sleep(0.0)", "GB0007"): None,
        (log, "GB0291"): "CF302",
        (log, "GB0124"): "CF201",
    }
    branch = found["if h.abs().max() > 50.0:", "GB0170"]
    lines = PROGRAM.read_text().splitlines()
    assert lines[branch["line"] - 1].strip() == branch["source"]
    assert (branch["path"], branch["function"]) == ("train.py", "Guarded.forward")
    assert branch["fix"] == {"applicability": "safe", "assumptions": []}
    assert branch["count"] >= 2
    assert branch["compile_s"] > 0
    assert "find nothing to say about this line" in found["time.sleep(0.0)", "GB0007"]["declined"]
    assert found[log, "GB0124"]["fix"] is None
    assert "printed or logged" in found[log, "GB0124"]["declined"]


@needs_torch
def test_the_report_follows_its_schema(folder: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((ROOT / "docs" / "schemas" / "trace.json").read_text())
    jsonschema.validate(report(folder), schema)
    assert set(schema["properties"]) == set(report(folder))


@needs_torch
def test_recompiles_have_their_cause(folder: Path) -> None:
    document = report(folder)
    causes = document["recompiles"]
    counter = next(c for c in causes if ".calls == " in c["reason"])
    assert (counter["code"], counter["cause"]["source"]) == ("CF602", "self.calls += 1")
    assert counter["count"] >= 2
    size = next(c for c in causes if "size mismatch" in c["reason"] and c["function"] == "Model.forward")
    assert size["code"] is None
    assert "drop_last=True" in size["declined"]
    mode = [c for c in causes if "grad_mode" in c["reason"] and c["function"] == "Model.forward"]
    # Once for the function, though each of its parts was compiled again.
    assert len(mode) == 1
    assert mode[0]["frames"] > 1
    number = next(c for c in causes if c["reason"].startswith("weight == "))
    assert "pass a tensor" in number["declined"]
    handed_over = next(c for c in causes if c["function"] == "Scaled.forward" and "___stack0 ==" in c["reason"])
    assert handed_over["code"] == "CF201"
    assert document["compilations"] > document["frames"] > 5
    assert document["ranks"] == 1


@needs_torch
def test_the_text_says_the_same(folder: Path) -> None:
    text = (folder / "printed.txt").read_text()
    assert text.startswith("features of shape (8, 16) torch.float32\n")
    assert "    if h.abs().max() > 50.0:\n" in text
    assert "    CF101 fixes it\n" in text
    assert "    CF302 fixes it with --assume log-late\n" in text
    assert re.search(r"\n    no rule: CF303, .* know GB0007, but find nothing to say about this line\n", text)
    assert text.index("Graph breaks: 7 sites") < text.index("Recompiles: ")
    times = [site["compile_s"] for site in report(folder)["break_sites"]]
    assert times == sorted(times, reverse=True)


@needs_torch
def test_with_the_fixes_the_breaks_are_gone(folder: Path) -> None:
    fixed = ("python", "-m", "compilefix", "run", "--unsafe-fixes", "-q", "--", *RUN[1:])
    done = trace(folder, "--json", "fixed.json", "--", *fixed)
    assert done.returncode == 0, done.stderr
    after = json.loads((folder / "fixed.json").read_text())
    assert [site["source"] for site in after["break_sites"]] == ["time.sleep(0.0)"]
    assert after["compilations"] < report(folder)["compilations"] / 2
    assert (folder / "train.py").read_bytes() == PROGRAM.read_bytes()
    printed = [line for line in done.stdout.splitlines() if line.startswith(("features", "4 steps"))]
    assert printed == (folder / "printed.txt").read_text().splitlines()[: len(printed)]


def compilefix(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "compilefix", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def applied(folder: Path, logs: str) -> Path:
    """The program with the fixes for what the logs of two ranks show, in a folder of its own."""
    folder.mkdir()
    shutil.copy(PROGRAM, folder)
    done = compilefix(
        folder, "apply", "--trace", str(PROGRAM.parent / logs), "--confirmed", "--unsafe-fixes", "train.py"
    )
    assert done.returncode == 0, done.stderr
    return folder / "train.py"


@pytest.mark.slow  # another run of the program; what the logs show and what apply makes of a trace has quick tests
@needs_torch
def test_what_two_ranks_met_is_fixed_and_gone_from_the_next_run(tmp_path: Path) -> None:
    logs = PROGRAM.parent / "logs-2.13"
    before = json.loads(trace(PROGRAM.parent, "--from", str(logs), "--json", "-").stdout)
    assert (before["ranks"], len(before["break_sites"]), len(before["recompiles"])) == (2, 7, 10)
    program = applied(tmp_path / "new", "logs-2.13")
    assert applied(tmp_path / "old", "logs-2.11").read_text() == program.read_text() != PROGRAM.read_text()
    after = json.loads(trace(program.parent, "--json", "-", "--", *RUN).stdout)
    assert [site["source"] for site in after["break_sites"]] == ["time.sleep(0.0)"]
    assert after["compilations"] < before["compilations"] / before["ranks"] / 2
    assert len(after["recompiles"]) < len(before["recompiles"])
    # What neither has a break nor a fix is as it was.
    assert {r["code"] for r in after["recompiles"]} == {"CF602", None}


def test_logs_of_two_versions_of_torch_say_the_same() -> None:
    new, old = (
        json.loads(trace(PROGRAM.parent, "--from", str(PROGRAM.parent / logs), "--json", "-").stdout)
        for logs in ("logs-2.13", "logs-2.11")
    )

    def sites(document: dict[str, Any]) -> set[tuple[object, ...]]:
        keys = ("line", "gb", "title", "function", "source", "count", "frames", "code")
        return {tuple(site[key] for key in keys) for site in document["break_sites"]}

    assert sites(new) == sites(old)
    assert new["ranks"] == old["ranks"] == 2
    assert new["compilations"] == old["compilations"]
    assert [r["code"] for r in new["recompiles"]].count("CF602") == 1
    assert sorted(str(r["code"]) for r in new["recompiles"]) == sorted(str(r["code"]) for r in old["recompiles"])


def findings(folder: Path, *words: str) -> list[dict[str, Any]]:
    done = compilefix(
        folder, "check", "--trace", str(PROGRAM.parent / "logs-2.13"), "--output-format", "json", *words, "train.py"
    )
    assert done.returncode == 1, done.stderr
    return [f for f in json.loads(done.stdout)["findings"] if f["code"].startswith("CF00")]


def test_what_only_the_run_shows_becomes_a_finding(tmp_path: Path) -> None:
    shutil.copy(PROGRAM, tmp_path)
    found = findings(tmp_path)
    (broken,) = [f for f in found if f["code"] == "CF001"]
    lines = PROGRAM.read_text().splitlines()
    assert lines[broken["line"] - 1][broken["column"] - 1 : broken["end_column"] - 1] == "time.sleep(0.0)"
    assert (broken["gb"], broken["effect"], broken["confirmed"], broken["fix"]) == (["GB0007"], "break", True, None)
    assert broken["message"] == "Attempted to call function marked as skipped: met by 8 compilations of the run"
    assert broken["function"] == "Model.forward"
    assert "nothing to say about this line" in broken["declined"]
    again = {(f["function"], f["message"].partition(" failed: ")[0]): f for f in found if f["code"] == "CF002"}
    weight = again["Model.forward", "`weight == 1.0`"]
    assert lines[weight["line"] - 1].strip().startswith("loss = F.mse_loss(prediction, target) * weight")
    assert (weight["effect"], weight["confirmed"]) == ("recompile", True)
    assert weight["declined"] == "a Python float is a constant in the graph: pass a tensor"
    assert ("Guarded.forward", "`GLOBAL_STATE changed: grad_mode`") in again
    # What a break handed on goes away with it.
    assert not any("___stack" in message for _, message in again if message.endswith("== 0.2533959448337555`"))
    assert not any("calls" in message for _, message in again)


@pytest.mark.parametrize(
    ("words", "edited", "codes"),
    [
        (("--select", "CF1"), False, set()),
        (("--ignore", "CF002"), False, {"CF001"}),
        (("--ignore", "CF303"), False, {"CF002"}),
        ((), True, {"CF002"}),
    ],
)
def test_what_was_not_asked_for_does_not_come_back(
    tmp_path: Path, words: tuple[str, ...], edited: bool, codes: set[str]
) -> None:
    text = PROGRAM.read_text()
    head = "weight: float) -> torch.Tensor:"
    silenced = text.replace(head, f"{head}  # compilefix: ignore[CF001]")
    assert silenced != text
    (tmp_path / "train.py").write_text(silenced if edited else text)
    assert {finding["code"] for finding in findings(tmp_path, *words)} == codes


def test_a_line_that_reads_differently_is_no_finding(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM.read_text().replace("time.sleep(0.0)", "time.sleep(0)"))
    assert "CF001" not in {finding["code"] for finding in findings(tmp_path)}


@needs_torch
def test_saved_logs_of_two_ranks_are_added_up(folder: Path, tmp_path: Path) -> None:
    (log,) = (folder / "logs").iterdir()
    shutil.copy(log, tmp_path / "dedicated_log_torch_trace_rank_0_a.log")
    # The other rank was ended while it wrote.
    data = log.read_bytes()
    (tmp_path / "dedicated_log_torch_trace_rank_1_b.log.gz").write_bytes(gzip.compress(data)[:-20])
    (tmp_path / "dedicated_log_torch_trace_rank_2_c.log").write_bytes(data[: len(data) * 2 // 3])
    done = trace(folder, "--from", str(tmp_path), "--json", "-")
    assert done.returncode == 0, done.stderr
    both, one = json.loads(done.stdout), report(folder)
    assert both["ranks"] == 3
    assert {(s["line"], s["gb"]) for s in both["break_sites"]} == {(s["line"], s["gb"]) for s in one["break_sites"]}
    assert {s["code"] for s in both["break_sites"]} == {s["code"] for s in one["break_sites"]}
    assert sum(s["count"] for s in both["break_sites"]) > 2 * sum(s["count"] for s in one["break_sites"])
    assert done.stderr.count("ends in the middle") == 2


@needs_torch
def test_logs_from_another_machine_are_matched_with_the_files_here(folder: Path, tmp_path: Path) -> None:
    (log,) = (folder / "logs").iterdir()
    (tmp_path / "logs").mkdir()
    text = log.read_text().replace(str(folder), "/cluster/scratch/job-17/code")
    (tmp_path / "logs" / log.name).write_text(text)
    shutil.copy(PROGRAM, tmp_path)
    document = json.loads(trace(tmp_path, "--from", "logs", "--json", "-").stdout)
    assert {site["path"] for site in document["break_sites"]} == {"train.py"}
    assert [s["code"] for s in document["break_sites"]] == [s["code"] for s in report(folder)["break_sites"]]
    # A file that has changed since then is not taken for the same.
    changed = PROGRAM.read_text().replace("if h.abs().max() > 50.0:", "if h.abs().max() > 60.0:")
    (tmp_path / "train.py").write_text(changed)
    sites = json.loads(trace(tmp_path, "--from", "logs", "--json", "-").stdout)["break_sites"]
    branch = next(site for site in sites if site["gb"] == "GB0170")
    assert (branch["code"], branch["declined"]) == (
        None,
        f"train.py has changed since: line {branch['line']} reads differently",
    )
    # Without the file there is no rule, but the places are known.
    (tmp_path / "train.py").unlink()
    sites = json.loads(trace(tmp_path, "--from", "logs", "--json", "-").stdout)["break_sites"]
    assert {site["path"] for site in sites} == {"/cluster/scratch/job-17/code/train.py"}
    assert {site["code"] for site in sites} == {None}


@needs_torch
def test_a_workload_is_traced(tmp_path: Path) -> None:
    (tmp_path / "work.py").write_text(
        "import torch\n\n\ndef work(x: torch.Tensor):\n    y = torch.sigmoid(x)\n    print('seen')\n    return y * 2\n"
        "\n\ndef workload():\n    return work, (torch.ones(2),)\n"
    )
    done = trace(tmp_path, "work.py:workload", "--backend", "eager", "--calls", "2", "--json", "-", "--inference")
    assert done.returncode == 0, done.stderr
    (site,) = json.loads(done.stdout)["break_sites"]
    assert (site["path"], site["line"], site["code"], site["count"]) == ("work.py", 6, "CF301", 1)
    assert done.stderr.count("seen") == 2
    missing = trace(tmp_path, "gone.py:workload")
    assert missing.returncode == 2
    assert "gone.py" in missing.stderr


def test_the_command_gets_its_environment_and_one_variable_more(tmp_path: Path) -> None:
    env = {**os.environ, "TORCH_TRACE": "elsewhere", "MARK": "kept"}
    code = "import json, os, sys; print(json.dumps([dict(os.environ), sys.argv[1:]]))"
    done = trace(tmp_path, "--", "python", "-c", code, "--json", "x", "-q", env=env)
    shown, arguments = json.loads(done.stdout.splitlines()[0])
    assert arguments == ["--json", "x", "-q"]
    assert Path(shown.pop("TORCH_TRACE")).name.startswith("compilefix-trace-")
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    expected = json.loads(plain.stdout)[0]
    del expected["TORCH_TRACE"]
    assert shown == expected
    assert done.stdout.splitlines()[1:] == ["Nothing was compiled."]
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name a command, a workload or --from DIR, and only one of them"),
        (("--from", ".", "--", "python"), "name a command, a workload or --from DIR, and only one of them"),
        (("--from", "."), ".: holds no logs"),
        (("--from", "gone"), "gone: no such file or folder"),
        (("--from", "other.log"), "other.log: no compilation is recorded there: other.log: holds no records"),
        (("--", "no-such-command-here"), "no-such-command-here: cannot be started"),
        (("--keep", "full", "--", "python"), "full: holds files already"),
    ],
)
def test_what_cannot_be_done_is_one_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("")
    if "other.log" in words:
        (tmp_path / "other.log").write_text("epoch 1 done\n")
    done = trace(tmp_path, *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"compilefix: {message}")
    assert len(done.stderr.splitlines()) == 1


def test_a_command_that_fails_is_reported_with_what_it_did(tmp_path: Path) -> None:
    done = trace(tmp_path, "--", "python", "-c", "print('began'); raise SystemExit(3)")
    assert done.returncode == 2
    assert done.stdout == "began\nNothing was compiled.\n"
    assert done.stderr == "compilefix: the command ended with exit code 3; this is what it did until then\n"


PARTLY_RUN = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x, deep: bool = False):
        x = self.linear(x)
        if x.abs().max() > 50.0:
            x = x.clamp(min=-50.0, max=50.0)
        if deep:
            print("deep")
        return x


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        x = self.linear(x)
        if x.abs().max() > 5.0:
            x = x.clamp(min=-5.0, max=5.0)
        return x


net = torch.compile(Net(), backend="eager")
other = torch.compile(Other(), backend="eager")
net(torch.ones(2))
"""


@pytest.mark.slow
@needs_torch
def test_check_and_apply_know_what_a_run_has_met(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PARTLY_RUN)
    done = trace(tmp_path, "--keep", "logs", "--json", "t.json", "--", "python", "program.py")
    assert done.returncode == 0, done.stderr

    def compilefix(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "compilefix", *words]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)

    for saved in ("t.json", "logs"):
        checked = json.loads(compilefix("check", "--trace", saved, "--output-format", "json", "program.py").stdout)
        marks = {(f["code"], f["function"]): f["confirmed"] for f in checked["findings"]}
        assert marks == {
            ("CF101", "Net.forward"): True,
            ("CF301", "Net.forward"): False,
            ("CF101", "Other.forward"): None,
        }
    text = compilefix("check", "--trace", "t.json", "program.py").stdout.splitlines()[-1]
    assert text == (
        "The run met 1 finding, compiled the function of 1 more without meeting it, and says nothing of 1 more."
    )
    applied = compilefix("apply", "--trace", "t.json", "--confirmed", "--unsafe-fixes", "program.py")
    assert applied.returncode == 0, applied.stderr
    old = "        if x.abs().max() > 50.0:\n            x = x.clamp(min=-50.0, max=50.0)\n"
    new = "        x = torch.where(x.abs().max() > 50.0, x.clamp(min=-50.0, max=50.0), x)\n"
    assert program.read_text() == PARTLY_RUN.replace(old, new)
    again = json.loads(trace(tmp_path, "--json", "-", "--", "python", "program.py").stdout)
    assert again["break_sites"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("check", "--trace", "bad.json"), "bad.json: is no report of `compilefix trace --json`"),
        (("check", "--trace", "gone"), "gone: no such file or folder"),
        (("apply", "--trace", "bad.json"), "--trace and --confirmed go together"),
        (("apply", "--confirmed"), "--trace and --confirmed go together"),
        (("apply", "--confirmed", "--trace", "bad.json", "-i"), "--confirmed and --interactive do not go together"),
    ],
)
def test_a_trace_that_cannot_be_used_is_one_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    (tmp_path / "bad.json").write_text('{"version": 1}')
    command = [sys.executable, "-m", "compilefix", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (2, f"compilefix: {message}\n")
