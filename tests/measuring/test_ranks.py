"""Workloads of a job of several ranks: each arm finds its peers, one rank speaks, and nothing waits for ever."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from compilefix.measuring.ranks import local_rank, rank, rendezvous, world_size

JOB = {"RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "MASTER_PORT": "29500"}

MODEL = """import torch
import torch.distributed as dist


def f(x: torch.Tensor) -> torch.Tensor:
    y = x.float() * 2.0
    if y.sum() > 0:
        y = y * 0.5
    return y + 1.0


def average(x):
    y = f(x)
    dist.all_reduce(y)
    return y / dist.get_world_size()


def workload():
    dist.init_process_group("gloo")
    x = torch.full((4,), 1.0 + dist.get_rank())
    return average, [(x,), (-x,)]
"""


def test_a_process_of_its_own_is_no_job() -> None:
    assert (rank({}), world_size({}), local_rank({}), rendezvous({}, "a")) == (0, 1, None, {})
    assert world_size({"WORLD_SIZE": "8"}) == 1
    assert world_size({"RANK": "0", "WORLD_SIZE": "many"}) == 1


def test_ranks_of_a_job_meet_at_one_place_for_each_arm() -> None:
    assert (rank(JOB), world_size(JOB), local_rank(JOB)) == (1, 2, 1)
    other = {**JOB, "RANK": "0", "LOCAL_RANK": "0"}
    assert rendezvous(JOB, "a") == rendezvous(other, "a")
    assert rendezvous(JOB, "a") != rendezvous(JOB, "b")
    assert 20000 <= int(rendezvous(JOB, "a")["MASTER_PORT"]) < 32000


@pytest.mark.slow
def test_a_job_of_two_ranks_is_measured_and_the_first_one_speaks(tmp_path: Path) -> None:
    distributed = pytest.importorskip("torch.distributed")
    if not distributed.is_available() or not distributed.is_gloo_available():
        pytest.skip("torch was built without gloo")
    (tmp_path / "model.py").write_text(MODEL)
    launch = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    options = ["--backend", "eager", "--repeats", "5", "--calls", "2", "--device", "cpu", "--timeout", "200"]
    command = [*launch, "-m", "compilefix", "verify", "model.py:workload", *options, "--json", "verdict.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=550, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    assert done.stdout.count("Break sites: 1 before, 0 after") == 1
    for number, name in enumerate(("verdict.json", "verdict.rank1.json")):
        document = json.loads((tmp_path / name).read_text())
        # Beside other work the times may say anything of four numbers.
        slower = any("is slower" in reason for reason in document["reasons"])
        assert document["verdict"] == ("not-proved" if slower else "proved"), document["reasons"]
        assert (document["environment"]["rank"], document["environment"]["world_size"]) == (str(number), "2")
        assert (document["parity"]["outputs"], document["before"]["error"]) == ("equal", None)
        assert document["after"]["latency_ms"]["n"] > 0
