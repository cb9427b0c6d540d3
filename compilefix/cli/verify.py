"""`compilefix verify`: measure the fixes for some paths on a workload, without writing them."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

import typer

from compilefix.cli import options
from compilefix.cli.inputs import Inputs, Request, gather, print_errors
from compilefix.codemods.finding import Finding
from compilefix.fixing.patchset import PatchSet
from compilefix.measuring.git import GitError, patchset_between
from compilefix.measuring.request import Options, WorkloadError, split_spec
from compilefix.measuring.verdict import Progress
from compilefix.measuring.verdict import verify as measure
from compilefix.measuring.verdict_model import Verdict
from compilefix.reporting import verdict_json, verdict_text
from compilefix.reporting.summary import count
from compilefix.source.errors import InputError

Mode = Literal["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]


def verify(
    workload: Annotated[str, typer.Argument(help="path/to/file.py:function or package.module:function.")],
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Fix these files; the workload's own file when none is given.", show_default=False),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="REV", help="Compare this git revision with the working tree instead."),
    ] = None,
    device: Annotated[str, typer.Option("--device", help="auto, cpu, cuda or cuda:N.")] = "auto",
    mode: Annotated[Mode, typer.Option("--mode", help="The mode of torch.compile.")] = "default",
    backend: Annotated[str, typer.Option("--backend", help="The backend of torch.compile.")] = "inductor",
    training: Annotated[
        bool | None,
        typer.Option(
            "--training/--inference", help="Run backward too, or never; decided from the workload by default."
        ),
    ] = None,
    calls: Annotated[int, typer.Option("--calls", help="Calls in a row with each input set, for parity.")] = 3,
    repeats: Annotated[int, typer.Option("--repeats", help="Rounds of timing; 0 measures no time.")] = 20,
    processes: Annotated[
        int,
        typer.Option(
            "--processes", help="Processes that share the rounds; what differs between them is told as noise."
        ),
    ] = 3,
    compare_with: Annotated[
        str | None,
        typer.Option("--compare-with", metavar="WORKLOAD", help="Time this workload too, in the same run."),
    ] = None,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", help="Limit for each answer of a worker.")
    ] = 600.0,
    each: Annotated[bool, typer.Option("--each", help="Measure each fix alone too.", show_default=False)] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the verdict here; - for stdout.")
    ] = None,
    select: options.Select = None,
    ignore: options.Ignore = None,
    assume: options.Assume = None,
    unsafe_fixes: options.UnsafeFixes = False,
    config: options.ConfigFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Measure the fixes on a workload: graph breaks, results and time before and after. Nothing is written.

    Exit codes: 0 proved, 1 not proved, 2 could not run.
    """
    if importlib.util.find_spec("torch") is None:
        raise InputError("verify needs torch: install compilefix[verify]")
    try:
        place, _ = split_spec(workload)
        settings = Options(
            device=device,
            mode=mode,
            backend=backend,
            training=training,
            calls=calls,
            repeats=repeats,
            processes=processes,
            timeout_s=timeout,
        )
        singles: list[tuple[Finding, PatchSet]] = []
        if base is not None:
            patchset = patchset_between(Path.cwd(), base, paths or ())
        else:
            if place.endswith(".py") and not Path(place).is_file():
                raise WorkloadError(f"{place}: no such file")
            inputs = gather(_request(place, paths, select, ignore, assume, unsafe_fixes, config))
            if inputs.errors and not inputs.files:
                raise InputError(str(inputs.errors[0]))
            outcome = inputs.run(rewrite=True)
            print_errors([*inputs.errors, *outcome.errors])
            patchset = outcome.patchset
            singles = _one_by_one(inputs, patchset) if each else []
        with _progress(quiet) as say:
            say(f"{count(len(patchset.fixes), 'fix', 'fixes')} in {count(len(patchset.changes), 'file')}")
            verdict = measure(patchset, workload, settings, say, singles, compare_with)
    except (WorkloadError, GitError, ValueError) as error:
        raise InputError(str(error)) from error
    if json_file is not None and str(json_file) == "-":
        print(json.dumps(verdict_json.document(verdict), indent=2, allow_nan=False))
    else:
        from rich.console import Console

        # A pipe has no width; 120 columns keep a place and its source line on one line.
        verdict_text.show(verdict, Console() if sys.stdout.isatty() else Console(width=120))
        if json_file is not None:
            _write(verdict, json_file)
    if verdict.verdict != "proved":
        raise typer.Exit(1)


def _request(
    place: str,
    paths: list[Path] | None,
    select: list[str] | None,
    ignore: list[str] | None,
    assume: list[str] | None,
    unsafe_fixes: bool,
    config: Path | None,
) -> Request:
    chosen = paths or ([Path(place)] if place.endswith(".py") else [_module_file(place)])
    return Request(
        paths=chosen,
        select=options.split(select),
        ignore=options.split(ignore),
        assume=options.split(assume),
        unsafe_fixes=unsafe_fixes,
        config=config,
    )


def _module_file(name: str) -> Path:
    sys.path.insert(0, str(Path.cwd()))
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise InputError(f"the module {name} cannot be found: {error}") from error
    finally:
        sys.path.pop(0)
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        raise InputError(f"the module {name} cannot be found: name the files to fix after the workload")
    return Path(spec.origin)


def _one_by_one(inputs: Inputs, patchset: PatchSet) -> list[tuple[Finding, PatchSet]]:
    """For each fix the patch set that has only this one. A fix that only another one made possible is left out."""
    alone = ((fix, inputs.run(rewrite=True, only=fix).patchset) for fix in patchset.fixes)
    return [(fix, single) for fix, single in alone if single]


@contextmanager
def _progress(quiet: bool) -> Iterator[Progress]:
    """Say on stderr what is being measured: a spinner on a terminal, lines elsewhere."""
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet)
    if not console.is_terminal:
        yield lambda message: None if quiet else print(f"compilefix: {message}", file=sys.stderr, flush=True)
        return
    from rich.progress import Progress as Bar
    from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

    with Bar(
        SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda message: bar.update(task, description=message)


def _write(verdict: Verdict, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        verdict_json.write(verdict, path)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
