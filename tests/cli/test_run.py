"""`compilefix run` is a process like the one that Python would start, but for the fixes."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="the programs import torch")

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x):
        x = self.linear(x)
        if x.abs().max() > 50.0:
            x = x.clamp(min=-50.0, max=50.0)
        return x
"""
PROGRAM = """\
import inspect

import torch
from torch import nn

import net


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 1)

    def forward(self, x):
        x = self.linear(x)
        if x.abs().max() > 5.0:
            x = x.clamp(min=-5.0, max=5.0)
        return x


model = torch.compile(nn.Sequential(net.Net(), Head()), backend="eager", fullgraph=True)
print(model(torch.ones(2, 2)).shape)
print("torch.where" in inspect.getsource(net), "torch.where" in inspect.getsource(Head))
"""


def run(folder: Path, *words: str, program: tuple[str, ...] = ("-m", "compilefix")) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *program, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
@needs_torch
def test_script_and_modules_run_with_the_fixes_and_the_files_stay(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "main.py").write_text(PROGRAM)
    # fullgraph=True: without the fixes the program ends with an error.
    assert run(tmp_path, "main.py", program=()).returncode == 1
    compiled = {path: path.read_bytes() for path in tmp_path.rglob("*.pyc")}
    done = run(tmp_path, "run", "--summary", "--", "main.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "torch.Size([2, 1])\nTrue True\n"
    assert done.stderr.splitlines()[-3:] == [
        "compilefix: ran with 2 fixes, served from memory",
        "  main.py: CF101",
        "  net.py: CF101",
    ]
    assert (tmp_path / "net.py").read_text() == NET
    assert (tmp_path / "main.py").read_text() == PROGRAM
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.pyc")} == compiled
    # The same as a module, with one file fixed only.
    part = run(tmp_path, "run", "--paths", "net.py", "--summary", "--", "-m", "main")
    assert part.returncode == 1
    assert "  net.py: CF101" in part.stderr


SHOW = """\
import atexit
import sys

atexit.register(lambda: print("closing"))
print(__name__, __file__, sys.argv[1:], sys.path[0] == sys.argv[-1], __spec__ is None)
print(sys.modules["__main__"].__dict__ is globals())
"""


@pytest.mark.parametrize("dashes", [("--",), ()])
def test_a_script_sees_what_python_shows_it(tmp_path: Path, dashes: tuple[str, ...]) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "show.py").write_text(SHOW)
    words = ("deep/show.py", "--flag", "-q", str(tmp_path / "deep"))
    expected = run(tmp_path, *words, program=())
    done = run(tmp_path, "run", *dashes, *words)
    assert done.stdout == expected.stdout
    assert "True True\nTrue\nclosing" in done.stdout
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("sys.exit(7)", 7),
        ("sys.exit('no luck')", 1),
        ("raise SystemExit", 0),
        ("def f(): raise ValueError('no') from OSError('first')\nf()", 1),
        ("import nowhere_to_be_found", 1),
        ("open('nowhere')", 1),
        ("this is no Python", 1),
    ],
)
def test_a_program_ends_as_it_ends_under_python(tmp_path: Path, ending: str, code: int) -> None:
    (tmp_path / "end.py").write_text(f"import sys\n{ending}\n")
    expected = run(tmp_path, "end.py", program=())
    done = run(tmp_path, "run", "-q", "--", "end.py")
    assert done.returncode == expected.returncode == code
    assert done.stdout == expected.stdout
    assert done.stderr == expected.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals end a process on POSIX only")
def test_an_interrupt_is_the_programs_own(tmp_path: Path) -> None:
    # A job in the background starts with the signal ignored.
    handled = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    (tmp_path / "end.py").write_text(f"import os, signal\n{handled}\nos.kill(os.getpid(), signal.SIGINT)\n")
    expected = run(tmp_path, "end.py", program=())
    done = run(tmp_path, "run", "-q", "--", "end.py")
    assert (done.returncode, done.stderr) == (expected.returncode, expected.stderr)
    assert "KeyboardInterrupt" in done.stderr


def test_the_root_of_the_file_system_is_not_searched(tmp_path: Path) -> None:
    (tmp_path / "show.py").write_text("print('ran')\n")
    done = run(Path(tmp_path.anchor), "run", "--", str(tmp_path / "show.py"))
    assert (done.returncode, done.stdout) == (0, "ran\n")
    assert done.stderr == "compilefix: running with 0 fixes in 0 files\n"


@pytest.mark.skipif(os.name != "posix", reason="signals end a process on POSIX only")
def test_a_signal_ends_the_process_itself(tmp_path: Path) -> None:
    (tmp_path / "end.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    assert run(tmp_path, "run", "-q", "--", "end.py").returncode == -signal.SIGTERM


def test_a_module_runs_as_with_m(tmp_path: Path) -> None:
    package = tmp_path / "pack"
    package.mkdir()
    (package / "__init__.py").write_text("print('package')\n")
    (package / "__main__.py").write_text(
        "import sys\nfrom . import other\nprint(__name__, sys.argv[1:], __package__)\n"
    )
    (package / "other.py").write_text("")
    expected = run(tmp_path, "-m", "pack", "--x", program=())
    done = run(tmp_path, "run", "-q", "--", "-m", "pack", "--x")
    assert (done.returncode, done.stdout) == (0, expected.stdout)
    assert done.stdout.startswith("package\n__main__ ['--x'] pack")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("gone.py",), "gone.py: no such file"),
        (("--", "-m", "no_such_module_at_all"), "there is no module no_such_module_at_all"),
        (("--", "-m"), "-m needs the name of a module"),
        (("--", "."), ".: is a folder, not a script"),
    ],
)
def test_what_cannot_be_started_is_one_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = run(tmp_path, "run", *words)
    assert done.returncode == 2
    assert done.stderr.startswith(f"compilefix: {message}")
    assert len(done.stderr.splitlines()) == 1
