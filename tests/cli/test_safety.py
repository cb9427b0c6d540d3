"""What happens to files when something goes wrong: kills at every moment, two runs at once, odd files."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

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
        print(x.detach().sum())
        return x
"""
KILLED = textwrap.dedent("""
    import os, signal, sys

    limit, left = int(sys.argv[1]), int(sys.argv[1])
    folder = os.path.realpath(os.getcwd())

    def watch(event, arguments):
        # Every step that changes the folder: temporary files, their modes and owners, links, renames, removals.
        global left
        if event not in ("tempfile.mkstemp", "open", "os.chmod", "os.chown", "os.rename", "os.link", "os.remove"):
            return
        target = arguments[0]
        if not isinstance(target, (str, os.PathLike)) or not os.path.realpath(target).startswith(folder + os.sep):
            return
        if event == "open" and not (arguments[2] & (os.O_WRONLY | os.O_RDWR)):
            return
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.argv = ["compilefix", "apply", "-q", "--assume", "log-late", "."]
    sys.setrecursionlimit(6000)
    from compilefix.cli.app import app
    sys.addaudithook(watch)
    app(prog_name="compilefix")
""")


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "compilefix", *arguments]
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("*.py"))}


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_kill_at_any_moment_leaves_every_file_old_or_new(tmp_path: Path) -> None:
    done = tmp_path / "done"
    done.mkdir()
    before = {"a.py": MODEL, "b.py": MODEL.replace("Model", "Other")}
    for name, text in before.items():
        (done / name).write_text(text)
    assert run("apply", "-q", "--assume", "log-late", ".", cwd=done).returncode == 0
    after = contents(done)
    assert set(after) == {"_compile_boundary.py", "a.py", "b.py"}
    killed = 0
    states = set()
    for step in range(100):
        folder = tmp_path / str(step)
        folder.mkdir()
        for name, text in before.items():
            (folder / name).write_text(text)
        status = subprocess.run([sys.executable, "-c", KILLED, str(step)], cwd=folder, check=False).returncode
        found = contents(folder)
        for name, text in found.items():
            assert text in (before.get(name), after[name]), (step, name)
        # A fix that imports the helper module is never there without it.
        if any(found[name] == after[name] for name in before):
            assert "_compile_boundary.py" in found
        states.add(tuple(sorted((name, text == after[name]) for name, text in found.items())))
        if status == 0:
            assert found == after
            break
        assert status == -signal.SIGKILL
        killed += 1
        # The next run is not disturbed by what was left behind.
        assert run("apply", "-q", "--assume", "log-late", ".", cwd=folder).returncode == 0
        assert contents(folder) == after
    else:
        pytest.fail("never ran to the end")
    # Two files and a helper, each made, given its mode and moved into place.
    assert killed >= 9
    assert len(states) >= 4


def test_two_runs_at_once_do_not_harm_each_other(tmp_path: Path) -> None:
    alone = tmp_path / "alone"
    both = tmp_path / "both"
    for folder in (alone, both):
        folder.mkdir()
        for number in range(8):
            (folder / f"m{number}.py").write_text(MODEL.replace("Model", f"Model{number}"))
    words = ["apply", "--assume", "log-late", "."]
    assert run(*words, cwd=alone).returncode == 0
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "compilefix", *words],
            cwd=both,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    outputs = [process.communicate() for process in processes]
    assert contents(both) == contents(alone)
    for process, (_, err) in zip(processes, outputs, strict=True):
        assert process.returncode in (0, 2)
        assert all("changed since it was read" in line for line in err.splitlines() if "not written" in line)
    assert not [path for path in both.iterdir() if path.suffix not in (".py",) and path.is_file()]


def test_an_edit_during_the_review_of_a_run_is_kept(tmp_path: Path) -> None:
    from compilefix.cli.changes import write_changes
    from compilefix.cli.inputs import Request, gather

    path = tmp_path / "model.py"
    path.write_text(MODEL)
    inputs = gather(Request(paths=[tmp_path]))
    patchset = inputs.run(rewrite=True).patchset
    path.write_text(MODEL + "# edited\n")
    written, errors = write_changes(patchset, inputs)
    assert not written
    assert [error.message for error in errors] == ["not written: the file has changed since it was read"]
    assert path.read_text() == MODEL + "# edited\n"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
def test_mode_bits_stay(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    path.chmod(mode)
    assert run("apply", "-q", cwd=tmp_path).returncode == 0
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert "torch.where" in path.read_text()


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="extended attributes are of Linux")
def test_extended_attributes_stay(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    try:
        os.setxattr(path, "user.note", b"mine")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    assert run("apply", "-q", cwd=tmp_path).returncode == 0
    assert "torch.where" in path.read_text()
    assert os.getxattr(path, "user.note") == b"mine"


def test_links_out_of_the_tree_are_reported_and_left_alone(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    tree = tmp_path / "tree"
    outside.mkdir()
    tree.mkdir()
    (outside / "model.py").write_text(MODEL)
    (tree / "link.py").symlink_to(outside / "model.py")
    (tree / "folder").symlink_to(outside)
    (tree / "real.py").write_text(MODEL)
    (tree / "broken.py").symlink_to(tree / "nowhere.py")
    (tree / "round.py").symlink_to(tree / "round.py")
    (tree / "pyproject.toml").write_text("[tool.compilefix]\n")
    done = run("apply", ".", cwd=tree)
    assert done.returncode == 2
    assert "link.py: not written: it is a link to a file elsewhere" in done.stderr
    assert (outside / "model.py").read_text() == MODEL
    assert "torch.where" in (tree / "real.py").read_text()
    assert (tree / "link.py").is_symlink()


@pytest.mark.slow
def test_a_deeply_nested_and_a_huge_file_do_not_stop_the_rest(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "deep.py").write_text("x = " + "(" * 3000 + "1" + ")" * 3000 + "\n")
    (tmp_path / "chain.py").write_text("def forward(x):\n    return x" + " + x" * 4000 + "\n")
    blocks = "".join(f"{'    ' * depth}if x{depth}:\n" for depth in range(90))
    (tmp_path / "blocks.py").write_text(f"{blocks}{'    ' * 90}pass\n")
    (tmp_path / "huge.py").write_text("TABLE = [\n" + "    (1, 2, 3),\n" * 20_000 + "]\n" + MODEL)
    done = run("apply", cwd=tmp_path)
    assert "Traceback" not in done.stderr
    assert "torch.where" in (tmp_path / "model.py").read_text()
    assert "torch.where" in (tmp_path / "huge.py").read_text()
    assert (tmp_path / "huge.py").read_text().count("(1, 2, 3),\n") == 20_000
    assert all(
        line.split(":")[0] in ("deep.py", "chain.py", "blocks.py", "not fixed") for line in done.stderr.splitlines()
    )


def test_check_and_apply_never_run_the_code(tmp_path: Path) -> None:
    trap = "import pathlib\n\npathlib.Path('ran').touch()\nraise SystemExit(7)\n"
    (tmp_path / "model.py").write_text(trap + MODEL)
    (tmp_path / "conftest.py").write_text(trap)
    (tmp_path / "torch.py").write_text(trap)
    (tmp_path / "setup.py").write_text(trap)
    (tmp_path / "libcst.py").write_text(trap)
    command = Path(sys.executable).with_name("compilefix")
    words = [str(command)] if command.exists() else [sys.executable, "-P", "-m", "compilefix"]
    for arguments in (["check", "."], ["apply", "--diff", "--unsafe-fixes", "."], ["apply", "--unsafe-fixes", "."]):
        done = subprocess.run([*words, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr
    assert not (tmp_path / "ran").exists()
