from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from compilefix import __version__
from compilefix.cli.app import COMMANDS


def run(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "compilefix", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def modules_after(*arguments: str, cwd: Path) -> set[str]:
    """The modules that a command imports, looked at in the process that ran it."""
    program = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: print('\\n' + json.dumps(sorted(sys.modules))))\n"
        f"sys.argv = ['compilefix', *{list(arguments)!r}]\n"
        "from compilefix.cli.app import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, check=False)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_help_lists_every_command_and_imports_none(tmp_path: Path) -> None:
    loaded = modules_after("--help", cwd=tmp_path)
    assert not loaded & {module for module, _ in COMMANDS.values()}
    assert not loaded & {"torch", "libcst", "numpy"}
    out = run("--help", cwd=tmp_path).stdout
    assert all(name in out and summary in out for name, (_, summary) in COMMANDS.items())


def test_check_imports_neither_torch_nor_libcst(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import torch\n\n\n@torch.compile\ndef f(x):\n    return x.item() + 1\n")
    # Typer imports pydantic to convert values; texts and paths need none of it.
    options = ("--select", "CF1", "--exclude", "*.txt", "--config", "pyproject.toml")
    (tmp_path / "pyproject.toml").write_text("")
    for arguments in ((), options):
        loaded = modules_after("check", "model.py", *arguments, cwd=tmp_path)
        assert "compilefix.fixing.engine" in loaded
        assert not loaded & {"torch", "libcst", "numpy", "rich", "pydantic"}


def test_apply_does_not_import_torch(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import torch\n\n\n@torch.compile\ndef f(x):\n    return x.item() + 1\n")
    assert "torch" not in modules_after("apply", "--diff", "--unsafe-fixes", "model.py", cwd=tmp_path)


def test_the_version(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout == f"compilefix {__version__}\n"


@pytest.mark.parametrize("arguments", [["chekc"], ["check", "--no-such-option"], ["rule"]])
def test_a_wrong_command_line_exits_with_2_and_no_traceback(tmp_path: Path, arguments: list[str]) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_near_miss_is_suggested(tmp_path: Path) -> None:
    assert "check" in run("chekc", cwd=tmp_path).stderr


def test_a_narrow_output_encoding_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "modél.py").write_bytes(b"def f(:\n")
    done = run("check", ".", cwd=tmp_path, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert done.returncode == 2
    assert "mod\\xe9l.py:1: syntax error" in done.stderr


def test_a_closed_pipe_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("x = 1\n")
    with subprocess.Popen(
        [sys.executable, "-m", "compilefix", "rules", "--assumptions"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("compilefix ch", "check"),
        ("compilefix check --output-f", "--output-format"),
        ("compilefix apply --int", "--interactive"),
    ],
)
def test_the_shell_completes_commands_and_options(tmp_path: Path, words: str, offered: str) -> None:
    asked = {"_COMPILEFIX_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    assert offered in run(cwd=tmp_path, **asked).stdout.split()


def test_a_program_in_the_working_directory_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "rich.py").write_text("raise SystemExit(7)\n")
    (tmp_path / "typer.py").write_text("raise SystemExit(7)\n")
    assert run("check", cwd=tmp_path).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("command", [["check"], ["apply", "--diff", "--unsafe-fixes"]])
def test_output_that_cannot_be_written_ends_in_one_line(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "model.py").write_text(
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    print(x.shape)\n    return x\n"
    )
    line = [sys.executable, "-m", "compilefix", *command, "model.py"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(line, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "compilefix: the output: No space left on device"
    assert "Traceback" not in done.stderr
    shell = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *line], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert shell.returncode == 1
    assert "Traceback" not in shell.stderr


def test_a_path_that_is_no_text_in_the_locale_is_no_reason_to_stop(tmp_path: Path) -> None:
    code = "import torch\n\n\n@torch.compile\ndef f(x):\n    print(x.shape)\n    return x\n"
    (tmp_path / "modél.py").write_text(code)
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = run("apply", "--diff", "--unsafe-fixes", ".", cwd=tmp_path, **plain)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
