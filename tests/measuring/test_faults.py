"""Workers that fail in every way that a program can: each is a result, and nothing is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods.finding import Finding, Fix, Span  # noqa: E402
from compilefix.fixing.patchset import FileChange, PatchSet  # noqa: E402
from compilefix.measuring import leftovers  # noqa: E402
from compilefix.measuring.leftovers import end_all  # noqa: E402
from compilefix.measuring.process import Worker, WorkerFailed, run_arm  # noqa: E402
from compilefix.measuring.request import ArmResult, Options, WorkerRequest  # noqa: E402
from compilefix.measuring.verdict import verify  # noqa: E402

Run = Callable[..., ArmResult]
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="detached processes are found through /proc")


def request(folder: Path, source: str, **settings: Any) -> WorkerRequest:
    file = folder / "model_under_test.py"
    file.write_text(textwrap.dedent(source), encoding="utf-8")
    role = settings.pop("role", "observe")
    options = Options(**{"device": "cpu", "backend": "eager", "repeats": 0, "calls": 2, "timeout_s": 60.0, **settings})
    return WorkerRequest(
        "arm", role, False, f"{file}:work", options, folder / "arm", time_phases=("inference",) * (role == "time")
    )


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return lambda source, **settings: run_arm(request(tmp_path, source, **settings), tmp_path / "cache", lambda _: None)


def gone(pid: int) -> bool:
    stat = Path("/proc", str(pid), "stat")
    try:
        return stat.read_text(encoding="utf-8").rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        return True


def test_a_crash_is_a_result(run: Run) -> None:
    found = run(
        """
        import os, sys
        def crash():
            sys.__stderr__.write("about to fall over\\n")
            sys.__stderr__.flush()
            os.abort()
        def work(): return crash, ()
        """
    )
    assert found.error is not None
    assert "killed by SIGABRT while running call 1 of input set 1" in found.error
    assert "about to fall over" in found.error


def test_leaving_the_process_is_a_result(run: Run) -> None:
    found = run("import os\ndef leave(): os._exit(0)\ndef work(): return leave, ()\n")
    assert found.error is not None
    assert "ended with exit status 0 while running call 1" in found.error


@linux
def test_a_hang_is_ended_with_all_its_children(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = tmp_path / "child"
    # The time passes as soon as the call hangs, however long a busy machine takes to load torch.
    real = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: real() + (100.0 if child.exists() else 0.0))
    found = run(
        f"""
        import os, subprocess, sys, time
        def hang():
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            open("{child}.new", "w").write(str(child.pid))
            os.rename("{child}.new", "{child}")
            time.sleep(600)
        def work(): return hang, ()
        """,
        timeout_s=90.0,
    )
    assert found.error is not None
    assert "stopped after 90 s without an answer while running call 1" in found.error
    assert gone(int(child.read_text(encoding="utf-8")))


def test_output_without_end_is_a_result(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compilefix.measuring.process.MAX_PRINTED_BYTES", 2**20)
    found = run(
        """
        import sys
        def flood():
            while True:
                print("x" * 1000)
        def work(): return flood, ()
        """
    )
    assert found.error is not None
    assert "printed more than 1 MiB" in found.error
    assert len(found.error) < 10_000


def test_a_segmentation_fault_while_loading_is_told_with_what_was_printed(run: Run) -> None:
    found = run(
        """
        import os, signal
        os.write(2, b"loading the extension\\n")
        os.kill(os.getpid(), signal.SIGSEGV)
        """
    )
    assert found.error is not None
    assert "killed by SIGSEGV while loading the workload" in found.error
    assert "loading the extension" in found.error


def test_being_killed_is_suspected_to_be_for_want_of_memory(run: Run) -> None:
    found = run("import os\ndef die(): os.kill(os.getpid(), 9)\ndef work(): return die, ()\n")
    assert found.error is not None
    assert "killed by SIGKILL (out of memory?)" in found.error


def test_leaving_while_loading_is_a_result(run: Run) -> None:
    for source in ("raise SystemExit(0)", "import os; os._exit(0)", "import sys\ndef work(): sys.exit('enough')"):
        found = run(source)
        assert found.error is not None
        assert "exit" in found.error.lower()


def test_memory_that_is_not_there_is_an_exception_of_the_call(run: Run) -> None:
    found = run("import torch\ndef big(): return torch.zeros(2**50)\ndef work(): return big, ()\n")
    assert found.error is None
    assert found.raised
    assert found.observations is not None
    text = torch.load(found.observations, weights_only=True)[0]["exception"]["text"]
    assert "memory" in text


def test_megabytes_of_output_are_no_obstacle(run: Run) -> None:
    found = run(
        """
        import os, sys
        def talk():
            for _ in range(200):
                print("x" * 50_000)
                os.write(1, b"y" * 50_000)
        def work(): return talk, ()
        """,
        calls=1,
    )
    assert found.error is None, found.error
    assert found.observations is not None
    assert found.observations.stat().st_size < 2_000_000


def test_closed_outputs_are_no_obstacle(run: Run) -> None:
    found = run(
        """
        import os, sys
        def close():
            for stream in (sys.stdout, sys.__stdout__, sys.__stderr__):
                stream.close()
            return 1
        def work(): return close, ()
        """
    )
    assert found.error is None, found.error


def test_closing_every_file_of_the_process_is_a_result(run: Run) -> None:
    found = run("import os\ndef close(): os.closerange(0, 256)\ndef work(): return close, ()\n", timeout_s=20.0)
    assert found.error is not None
    assert "while running call" in found.error


@pytest.mark.slow
def test_a_fork_that_comes_back_does_not_answer_twice(run: Run, tmp_path: Path) -> None:
    worker = request(
        tmp_path,
        """
        import os
        def split(): return os.fork() == 0
        def work(): return split, ()
        """,
        calls=1,
    )
    with Worker(worker, tmp_path / "cache", lambda _: None) as process:
        assert process.answer()["error"] is None
        with pytest.raises(WorkerFailed, match="exit status 0"):
            process.answer()


@linux
def test_threads_and_children_that_stay_are_ended(run: Run, tmp_path: Path) -> None:
    found = run(
        f"""
        import os, subprocess, sys, threading, time
        SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
        def stay():
            threading.Thread(target=time.sleep, args=(600,)).start()
            plain = subprocess.Popen(SLEEP)
            detached = subprocess.Popen(SLEEP, start_new_session=True)
            unmarked = subprocess.Popen(SLEEP, start_new_session=True, env={{}})
            inside, outside = os.pipe()
            if os.fork() == 0:
                # A daemon as in the books: its parent ends at once, so that nothing ties it to the worker.
                os.setsid()
                orphan = subprocess.Popen(SLEEP)
                os.write(outside, str(orphan.pid).encode())
                os._exit(0)
            orphan = int(os.read(inside, 100))
            with open({str(tmp_path / "children")!r}, "w") as file:
                file.write(" ".join(map(str, (plain.pid, detached.pid, unmarked.pid, orphan))))
            return 1
        def work(): return stay, ()
        """,
        calls=1,
    )
    assert found.error is None, found.error
    children = [int(pid) for pid in (tmp_path / "children").read_text(encoding="utf-8").split()]
    assert len(children) == 4
    assert [pid for pid in children if not gone(pid)] == []


@linux
def test_an_unmarked_child_is_ended_also_when_the_parent_looks_late(tmp_path: Path) -> None:
    """What has cleared its environment is known only by its place below the worker, so the worker is to be there."""
    source = f"""
        import subprocess, sys
        def start():
            child = [sys.executable, "-c", "import time; time.sleep(600)"]
            with open({str(tmp_path / "child")!r}, "w") as file:
                file.write(str(subprocess.Popen(child, start_new_session=True, env={{}}).pid))
            return 1
        def work(): return start, ()
    """
    with Worker(request(tmp_path, source, calls=1), tmp_path / "cache", lambda _: None) as worker:
        found = ArmResult.from_dict(worker.answer())
        time.sleep(0.5)
    assert found.error is None, found.error
    assert gone(int((tmp_path / "child").read_text(encoding="utf-8")))


@linux
def test_a_child_is_known_also_after_its_parent_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the worker gives its children another parent; how soon is up to the system, so here it is at once."""
    source = (
        "import subprocess, sys, time\n"
        "child = [sys.executable, '-c', 'import time; time.sleep(60)']\n"
        "print(subprocess.Popen(child, start_new_session=True, env={}).pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    worker = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, start_new_session=True)
    assert worker.stdout is not None
    child = int(worker.stdout.readline())

    def kill_and_wait(pid: int) -> None:
        os.killpg(pid, signal.SIGKILL)
        worker.wait(10)

    monkeypatch.setattr(leftovers, "_kill_group", kill_and_wait)
    end_all(worker.pid, "no such mark")
    assert gone(child)


@linux
def test_what_others_started_is_left_alone(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    try:
        worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
        end_all(worker.pid, "no such mark")
        assert worker.wait(10) == -signal.SIGKILL
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@linux
def test_a_worker_ends_with_its_parent_even_in_code_that_never_returns(tmp_path: Path) -> None:
    # Filling a huge list holds the interpreter's lock, so that no thread of the worker can look at its input.
    file = tmp_path / "model_under_test.py"
    file.write_text(
        "import os\n"
        "def hang():\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "    sum(iter(int, 1))\n"
        "def work(): return hang, ()\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "compilefix", "verify", f"{file}:work", str(file), "--repeats", "0", "-q"]
    parent = subprocess.Popen([*command, "--device", "cpu"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 100
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text(encoding="utf-8"):
            assert time.monotonic() < deadline, "the worker did not start"
            assert parent.poll() is None
            time.sleep(0.1)
    finally:
        parent.kill()
        parent.wait()
    worker = int((tmp_path / "pid").read_text(encoding="utf-8"))
    deadline = time.monotonic() + 20
    while not gone(worker):
        assert time.monotonic() < deadline, "the worker goes on without its parent"
        time.sleep(0.05)


def test_an_arm_that_fails_while_it_is_timed_is_named_and_the_others_are_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compilefix.measuring.timing import measure

    # With cores for all of them, arms compile at the same time.
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    good = "def work(): return (lambda: 1), ()\n"
    fall = "import os\ncalls = []\ndef fall():\n    calls.append(1)\n    len(calls) > {} and os._exit(9)\n"
    sources = {"good": good, "early": fall.format(3), "late": fall.format(8)}
    requests = {}
    for name, source in sources.items():
        source += "" if name == "good" else "def work(): return fall, ()\n"
        (tmp_path / name).mkdir()
        requests[name] = request(tmp_path / name, source, role="time", repeats=5)
    found = measure(requests, {name: tmp_path / name / "cache" for name in requests}, lambda _: None)
    assert found.latency("inference", "good") is not None
    assert found.latency("inference", "early") is found.latency("inference", "late") is None
    assert "exit status 9 while making the first calls (inference)" in found.errors["early"]
    assert "exit status 9 while warming up (inference)" in found.errors["late"]
    assert set(found.errors) == {"early", "late"}


def test_the_other_arms_go_on_when_the_original_crashes_compiled(tmp_path: Path) -> None:
    before = textwrap.dedent(
        """
        import os, torch

        def scaled(x):
            if torch.compiler.is_compiling():
                os.abort()
            return x * 2

        def work(): return scaled, (torch.ones(3),)
        """
    )
    after = before.replace("    if torch.compiler.is_compiling():\n        os.abort()\n", "")
    file = tmp_path / "model.py"
    file.write_text(before, encoding="utf-8")
    fix = Finding("CF701", "x", str(file), Span(4, 4, 5, 17), "", "scaled", (), (), "break", Fix(()), None)
    patchset = PatchSet((FileChange(file, "model", before, after, (fix,)),))
    options = Options(device="cpu", backend="eager", repeats=0, calls=1, timeout_s=100.0)
    found = verify(patchset, f"{file}:work", options, lambda _: None)
    assert found.before.error is not None
    assert "SIGABRT" in found.before.error
    assert (found.after.error, found.after.graphs_per_call) == (None, 1)
    assert found.parity.outputs == "equal"


@pytest.mark.gpu
def test_a_dead_cuda_context_is_a_result(run: Run) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    found = run(
        """
        import torch
        def kill(x):
            return x[torch.full((4,), 10**6, device=x.device)].sum()
        def work(device): return kill, (torch.ones(3, device=device),)
        """,
        device="cuda",
        timeout_s=120.0,
    )
    assert found.raised or found.error is not None
    alive = run("import torch\ndef work(device): return torch.relu, (torch.ones(3, device=device),)\n", device="cuda")
    assert alive.error is None
    assert not alive.raised
