"""`compilefix run`: run a program with the fixes served from memory."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from compilefix.cli import options
from compilefix.cli.inputs import Request, gather, print_errors
from compilefix.fixing import program
from compilefix.fixing.patchset import FileChange, PatchSet
from compilefix.reporting.summary import count
from compilefix.source.errors import InputError

SETTINGS: Mapping[str, Any] = {"allow_interspersed_args": False}
"""What stands after the program's name belongs to the program."""


def run(
    words: Annotated[list[str], typer.Argument(metavar="SCRIPT.PY|-m MODULE [ARGS]...", help="The program, after --.")],
    paths: Annotated[
        list[Path] | None,
        typer.Option(
            "--paths",
            metavar="PATH",
            help="Fix these files and folders; may be repeated. By default the working directory, or the script's "
            "folder where that lies elsewhere.",
        ),
    ] = None,
    summary: Annotated[
        bool, typer.Option("--summary", help="Say at the end, on stderr, which fixes ran.", show_default=False)
    ] = False,
    select: options.Select = None,
    ignore: options.Ignore = None,
    assume: options.Assume = None,
    unsafe_fixes: options.UnsafeFixes = False,
    exclude: options.Exclude = None,
    config: options.ConfigFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Run a program with the fixes served from memory: nothing on disk changes.

    Write `compilefix run -- script.py ARGS` or `compilefix run -- -m package.module ARGS`. The exit code is the
    program's; 2 also when it could not be started. Processes that the program starts anew run what is on disk.
    """
    start = _start(words)
    inputs = gather(
        Request(
            paths=paths or (start,),
            select=options.split(select),
            ignore=options.split(ignore),
            assume=options.split(assume),
            unsafe_fixes=unsafe_fixes,
            exclude=tuple(exclude or ()),
            config=config,
        )
    )
    outcome = inputs.run(rewrite=True)
    if not quiet:
        print_errors([*inputs.errors, *outcome.errors])
        fixes = count(len(outcome.patchset.fixes), "fix", "fixes")
        files = count(len(outcome.patchset.changes), "file")
        print(f"compilefix: running with {fixes} in {files}", file=sys.stderr)
    request = program.Program(tuple(words), _served(outcome.patchset), summary)
    _replace_by(program.command(_written(request)))


def _start(words: Sequence[str]) -> Path:
    """The folder that holds the program's own code. Raises InputError where there is no such program."""
    here = Path.cwd()
    if words[0] != "-m":
        script = Path(words[0])
        if not script.is_file():
            what = "is a folder, not a script" if script.is_dir() else "no such file"
            raise InputError(f"{words[0]}: {what} (write `compilefix run -- script.py` or `-- -m module`)")
        folder = script.resolve().parent
        return Path() if folder.is_relative_to(here.resolve()) and not _holds_too_much(here) else folder
    if len(words) < 2:
        raise InputError("-m needs the name of a module")
    sys.path.insert(0, str(here))
    try:
        # The top package only: to look for a module inside it would import it here.
        spec = importlib.util.find_spec(words[1].partition(".")[0])
    except (ImportError, ValueError):
        spec = None
    finally:
        sys.path.pop(0)
    if spec is None:
        raise InputError(f"there is no module {words[1]}")
    places = list(spec.submodule_search_locations or ([spec.origin] if spec.origin else []))
    if not places or Path(places[0]).resolve().is_relative_to(here.resolve()) or not Path(places[0]).exists():
        return Path()
    return Path(places[0])


def _holds_too_much(folder: Path) -> bool:
    """Whether a folder is no project: the root of the file system, or one that holds the user's home."""
    home = Path("~").expanduser()
    return folder == folder.parent or home.is_relative_to(folder)


def _served(patchset: PatchSet) -> tuple[program.Served, ...]:
    return tuple(
        program.Served(
            os.path.realpath(change.path),
            change.after,
            change.module if change.before is None else None,
            _codes(change),
        )
        for change in patchset
        if change.path.suffix == ".py"
    )


def _codes(change: FileChange) -> tuple[str, ...]:
    counted = Counter(fix.code for fix in change.fixes)
    return tuple(code if number == 1 else f"{number} x {code}" for code, number in sorted(counted.items()))


def _written(request: program.Program) -> Path:
    handle, name = tempfile.mkstemp(prefix="compilefix-", suffix=".json")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(request.to_json())
    return Path(name)


def _replace_by(command: Sequence[str]) -> None:
    """Become the program: same process, so that signals, terminal and exit status are its own."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "posix":
        os.execv(command[0], list(command))
    raise typer.Exit(subprocess.run(command, check=False).returncode)
