"""`compilefix trace`: where a real run breaks and recompiles, and which rule takes care of it."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from compilefix.analysis import graph_breaks
from compilefix.cli import options
from compilefix.cli.inputs import STDIN, Request, gather
from compilefix.codemods import registry
from compilefix.measuring.request import Options, WorkloadError, split_spec, workload_command
from compilefix.reporting import trace_json, trace_text
from compilefix.source.errors import InputError
from compilefix.source.files import SourceFile, display_path, read
from compilefix.tracing.collect import find_logs, read_logs
from compilefix.tracing.functions import folded
from compilefix.tracing.match import Matched, files_to_check, located, match
from compilefix.tracing.model import Trace

Mode = Literal["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]
_SLOW_READING_S = 1.0


def trace(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORKLOAD|-- CMD [ARGS]...", help="A workload, or any command.", show_default=False),
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option("--from", metavar="DIR", help="Read the logs of an earlier run with TORCH_TRACE=DIR instead."),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Leave the logs in this folder, a new or empty one.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the report here as JSON; - for stdout.")
    ] = None,
    device: Annotated[str, typer.Option("--device", help="Of a workload: auto, cpu, cuda or cuda:N.")] = "auto",
    mode: Annotated[Mode, typer.Option("--mode", help="Of a workload: the mode of torch.compile.")] = "default",
    backend: Annotated[
        str, typer.Option("--backend", help="Of a workload: the backend of torch.compile.")
    ] = "inductor",
    training: Annotated[
        bool | None,
        typer.Option("--training/--inference", help="Of a workload: run backward too, or never.", show_default=False),
    ] = None,
    calls: Annotated[int, typer.Option("--calls", help="Of a workload: calls with each input set.")] = 3,
    select: options.Select = None,
    ignore: options.Ignore = None,
    assume: options.Assume = None,
    unsafe_fixes: options.UnsafeFixes = False,
    config: options.ConfigFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Show where a real run breaks graphs and recompiles, the most expensive first, and which rule fixes it.

    Write `compilefix trace -- python train.py ARGS` (or torchrun), `compilefix trace file.py:function` for a workload,
    or `compilefix trace --from DIR` for logs. Exit codes: 0, and 2 when the run or the reading failed.
    """
    if (logs is None) == (not words):
        raise InputError("name a command, a workload or --from DIR, and only one of them")
    status = 0
    with contextlib.ExitStack() as stack:
        if logs is None:
            folder = _log_folder(keep, stack)
            command = _command(words or [], Options(device, mode, backend, training, calls))
            status = _run(command, folder, to_stderr=str(json_file) == "-")
            found = find_logs(folder) if any(folder.iterdir()) else ()
        else:
            found = find_logs(logs)
        traced = read_logs(found, graph_breaks.known().by_title, _progress(quiet))
    if logs is not None and not traced.compilations and not traced.breaks:
        notes = f": {traced.notes[0]}" if len(traced.notes) == 1 else ""
        raise InputError(f"{display_path(logs)}: no compilation is recorded there{notes}")
    request = Request(
        paths=(),
        select=options.split(select),
        ignore=options.split(ignore),
        assume=options.split(assume),
        unsafe_fixes=unsafe_fixes,
        config=config,
    )
    matched, allowed = _matched(folded(located(traced, Path.cwd()), _tree), request)
    for note in traced.notes:
        print(f"compilefix: {note}", file=sys.stderr)
    _write(matched, allowed, json_file)
    if status != 0:
        how = f"signal {-status}" if status < 0 else f"exit code {status}"
        print(f"compilefix: the command ended with {how}; this is what it did until then", file=sys.stderr)
        raise typer.Exit(2)


def _matched(traced: Trace, request: Request) -> tuple[Matched, frozenset[str] | None]:
    files = files_to_check(traced)
    rules = registry.load()
    # The options are checked also where there is no file to look at.
    inputs = gather(replace(request, paths=files) if files else replace(request, paths=(STDIN,), content=b""))
    if not files:
        return match(traced, (), (), rules), inputs.allowed
    # Findings that a comment silences count: the question is what can be done about a break, not whether to report it.
    outcome = inputs.run(rewrite=False, wanted=lambda finding: finding.code in inputs.selection)
    return match(traced, outcome.findings, inputs.files, rules), inputs.allowed


def _tree(path: str) -> ast.Module | None:
    file = read(Path(path)) if Path(path).suffix == ".py" else None
    return file.tree if isinstance(file, SourceFile) else None


def _command(words: Sequence[str], settings: Options) -> Sequence[str]:
    if len(words) == 1:
        try:
            split_spec(words[0])
        except WorkloadError:
            return words
        if importlib.util.find_spec("torch") is None:
            raise InputError("a workload needs torch: install compilefix[verify]")
        return workload_command(words[0], settings)
    return words


def _log_folder(keep: Path | None, stack: contextlib.ExitStack) -> Path:
    if keep is None:
        return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="compilefix-trace-")))
    try:
        keep.mkdir(parents=True, exist_ok=True)
        if any(keep.iterdir()):
            raise InputError(f"{display_path(keep)}: holds files already; logs of two runs must not mix")
    except OSError as error:
        raise InputError(f"{display_path(keep)}: cannot be used: {error.strerror}") from error
    return keep.absolute()


def _run(command: Sequence[str], folder: Path, *, to_stderr: bool) -> int:
    """Run the command with TORCH_TRACE, and with nothing else changed. Raises InputError where it cannot start."""
    try:
        process = subprocess.Popen(
            command, env={**os.environ, "TORCH_TRACE": str(folder)}, stdout=sys.stderr.fileno() if to_stderr else None
        )
    except OSError as error:
        raise InputError(f"{command[0]}: cannot be started: {error.strerror}") from error
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # The command got the signal too. What it compiled until it ends is what was asked for.
            continue


def _progress(quiet: bool) -> Callable[[int, int], None] | None:
    if quiet:
        return None
    began = last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - began > _SLOW_READING_S and now - last > _SLOW_READING_S:
            last = now
            print(f"compilefix: read {done >> 20} of {total >> 20} MiB of logs", file=sys.stderr, flush=True)

    return tell


def _write(matched: Matched, allowed: frozenset[str] | None, json_file: Path | None) -> None:
    text = json.dumps(trace_json.document(matched), indent=2, allow_nan=False) + "\n"
    if json_file is not None and str(json_file) == "-":
        sys.stdout.write(text)
        return
    sys.stdout.writelines(_ended(trace_text.lines(matched, allowed)))
    sys.stdout.flush()
    if json_file is not None:
        try:
            json_file.parent.mkdir(parents=True, exist_ok=True)
            json_file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{display_path(json_file)}: cannot be written: {error.strerror}") from error


def _ended(lines: Iterator[str]) -> Iterator[str]:
    return (line + "\n" for line in lines)
