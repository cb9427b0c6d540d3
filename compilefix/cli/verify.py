"""`compilefix verify`: measure the fixes for some paths on a workload, without writing them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from compilefix.cli import options
from compilefix.cli.inputs import Request
from compilefix.cli.progress import progress
from compilefix.cli.verdicts import Reports, against, with_base, write
from compilefix.cli.workloads import Changes, Chosen, changes, chosen
from compilefix.measuring.git import GitError
from compilefix.measuring.ranks import rank
from compilefix.measuring.request import Options, WorkloadError, split_spec
from compilefix.measuring.verdict import Progress
from compilefix.measuring.verdict import verify as measure
from compilefix.reporting import verdict_baseline
from compilefix.reporting.summary import count
from compilefix.reporting.verified import Verified, exit_code
from compilefix.source.errors import InputError

Mode = Literal["default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs"]


def verify(
    workload: Annotated[
        str | None,
        typer.Argument(
            help="path/to/file.py:function, package.module:function, or a name in the configuration; all of those by "
            "default.",
            show_default=False,
        ),
    ] = None,
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
    ] = 2,
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
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with the sources, the diff and plots.")
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write a text for a pull request; - for stdout.")
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="FILE", help="Fail on what became worse since this file, which --json wrote."
        ),
    ] = None,
    keep: Annotated[
        Path,
        typer.Option("--keep", metavar="FOLDER", help="Where a program goes for each difference that is found."),
    ] = Path(".compilefix/reproducers"),
    select: options.Select = None,
    ignore: options.Ignore = None,
    assume: options.Assume = None,
    unsafe_fixes: options.UnsafeFixes = False,
    config: options.ConfigFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Measure the fixes on a workload: graph breaks, results and time before and after. Nothing is written.

    Without a WORKLOAD, all that the configuration names under `workloads` are run.

    Exit codes: 0 proved, 1 not proved, 2 could not run. With --baseline, code without a change passes unless it became
    worse.
    """
    if importlib.util.find_spec("torch") is None:
        raise InputError("verify needs torch: install compilefix[verify]")
    if html is not None and importlib.util.find_spec("jinja2") is None:
        raise InputError("--html needs jinja2: install compilefix[verify]")
    if [json_file, markdown].count(Path("-")) > 1:
        raise InputError("only one of --json and --markdown can be written to stdout")
    given = paths or []
    try:
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
        if compare_with is not None:
            split_spec(compare_with)
    except (WorkloadError, ValueError) as error:
        raise InputError(str(error)) from error
    request = Request(
        paths=given,
        select=options.split(select),
        ignore=options.split(ignore),
        assume=options.split(assume),
        unsafe_fixes=unsafe_fixes,
        config=config,
    )
    known = None if baseline is None else verdict_baseline.load(baseline)
    wanted = chosen(workload, given, config)
    results = []
    with progress(quiet or rank() > 0) as say:
        for one in wanted:
            note = f"{one.name}: " if len(wanted) > 1 else ""
            try:
                found = changes(one.spec, request, base, each)
                measured = _measured(one, found, settings, say, note, compare_with, keep)
            except (WorkloadError, GitError, InputError, ValueError) as error:
                if len(wanted) == 1:
                    raise InputError(str(error)) from error
                print(f"compilefix: {one.name}: {error}", file=sys.stderr)
                results.append(Verified(one.name, None, error=str(error)))
                continue
            if base is not None and measured.verdict is not None:
                measured = with_base(measured, base)
            results.append(measured if known is None else against(known, one, measured))
    write(results, Reports(json_file, html, markdown))
    if code := exit_code(results):
        raise typer.Exit(code)


def _measured(
    one: Chosen, found: Changes, settings: Options, say: Progress, note: str, compare_with: str | None, keep: Path
) -> Verified:
    patchset = found.patchset
    say(f"{note}{count(len(patchset.fixes), 'fix', 'fixes')} in {count(len(patchset.changes), 'file')}")
    verdict = measure(
        patchset, one.spec, settings, lambda text: say(note + text), found.singles, compare_with, keep, found.build
    )
    return Verified(one.name, verdict, patchset)
