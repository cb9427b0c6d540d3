"""`compilefix apply`: fix files in place, or print the diff."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from compilefix.analysis import graph_breaks
from compilefix.cli import options
from compilefix.cli.changes import print_diff, print_fixed_stdin, write_changes
from compilefix.cli.documents import needs_helper
from compilefix.cli.inputs import Inputs, Request, gather, print_errors
from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.fixing.engine import Outcome
from compilefix.fixing.patchset import PatchSet
from compilefix.reporting.summary import count, summarize
from compilefix.source.errors import InputError
from compilefix.source.files import SourceError, display_path


def apply(
    paths: options.Paths = None,
    select: options.Select = None,
    extend_select: options.ExtendSelect = None,
    ignore: options.Ignore = None,
    reached: options.Reached = False,
    assume: options.Assume = None,
    unsafe_fixes: options.UnsafeFixes = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print the changes as a diff for `git apply`; write nothing.")
    ] = False,
    interactive: Annotated[
        bool,
        typer.Option(
            "--interactive",
            "-i",
            help="Decide on each fix with a key; nothing is written before the end.",
            show_default=False,
        ),
    ] = False,
    trace: options.TraceFile = None,
    confirmed: Annotated[
        bool, typer.Option("--confirmed", help="Make only the fixes for what --trace has met.", show_default=False)
    ] = False,
    workload: Annotated[
        str | None,
        typer.Option("--verify", metavar="WORKLOAD", help="Make only the fixes that prove themselves on it."),
    ] = None,
    since: options.Since = None,
    stdin_filename: options.StdinFilename = None,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    config: options.ConfigFile = None,
    jobs: options.Jobs = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> None:
    """Fix files in place. Only safe fixes are made, unless --assume or --unsafe-fixes allows more.

    The standard input (path -) is written, fixed, to the standard output.

    Exit codes: 0 done, 2 something could not be looked at or written. With --diff: 0 no change, 1 changes, 2 as before.
    """
    if interactive and diff:
        raise InputError("--interactive and --diff do not go together")
    if (trace is not None) != confirmed:
        raise InputError("--trace and --confirmed go together")
    if workload is not None and interactive:
        raise InputError("--verify and --interactive do not go together")
    if confirmed and interactive:
        raise InputError("--confirmed and --interactive do not go together")
    inputs = gather(
        Request(
            paths=paths or (),
            select=options.split(select),
            extend_select=options.split(extend_select),
            ignore=options.split(ignore),
            reached=reached,
            assume=options.split(assume),
            unsafe_fixes=unsafe_fixes,
            exclude=tuple(exclude or ()),
            force_exclude=force_exclude,
            config=config,
            since=since,
            stdin_filename=stdin_filename,
            jobs=jobs,
            cache=not no_cache,
        )
    )
    if interactive:
        _review(inputs)
        return
    wanted = inputs.wanted() if inputs.stdin is None else _in_one_file(inputs)
    if trace is not None:
        wanted = _met(trace, inputs, wanted)
    outcome = inputs.run(rewrite=True, wanted=wanted)
    if workload is not None:
        outcome = replace(outcome, patchset=_proved(workload, inputs, outcome.patchset, quiet))
    errors = [*inputs.errors, *outcome.errors]
    if diff:
        errors += print_diff(outcome.patchset, inputs)
        print_errors(errors)
        if not quiet:
            _say_what_is_left(outcome, inputs.allowed, "not in this diff")
        raise typer.Exit(2 if errors else 1 if outcome.patchset else 0)
    if inputs.stdin is not None:
        print_errors(errors)
        unreadable = inputs.errors or any(isinstance(file.parsed(), SourceError) for file in inputs.files)
        if not unreadable:
            print_fixed_stdin(outcome.patchset, inputs)
        raise typer.Exit(2 if errors else 0)
    errors += _write(outcome.patchset, inputs, quiet)
    print_errors(errors)
    if not quiet:
        _say_what_is_left(outcome, inputs.allowed, "not fixed")
    if errors:
        raise typer.Exit(2)


def _proved(workload: str, inputs: Inputs, patchset: PatchSet, quiet: bool) -> PatchSet:
    """The fixes that prove themselves on the workload; the others are named with the reason."""
    from compilefix.cli.progress import progress
    from compilefix.cli.workloads import one_by_one, only
    from compilefix.measuring.keeping import proved_part
    from compilefix.measuring.request import Options, WorkloadError

    if not patchset:
        return patchset
    settings = Options(repeats=0)
    try:
        with progress(quiet) as say:
            singles = one_by_one(inputs, patchset)
            kept = proved_part(patchset, singles, lambda some: only(inputs, some), workload, settings, say)
    except (WorkloadError, ValueError) as error:
        raise InputError(str(error)) from error
    for fix, reason in kept.left_out:
        print(f"left out: {fix.code} at {display_path(Path(fix.path))}:{fix.span.line}: {reason}", file=sys.stderr)
    return kept.patchset


def _write(patchset: PatchSet, inputs: Inputs, quiet: bool) -> list[SourceError]:
    """Write the changes, and say what was written; what could not be is returned."""
    written, errors = write_changes(patchset, inputs)
    if not quiet:
        fixes = sum(len(change.fixes) for change in written)
        print(f"{count(fixes, 'fix', 'fixes')} applied in {count(len(written), 'file')}.")
        for change in written:
            if change.before is None:
                print(f"New file: {display_path(change.path)}")
        sys.stdout.flush()
    return errors


def _review(inputs: Inputs) -> None:
    # Its colours take a while to import.
    from compilefix.cli.review_terminal import interactive

    reviewed = interactive(inputs)
    errors = [] if reviewed is None else [*reviewed.errors, *_write(reviewed.patchset, inputs, False)]
    print_errors(errors)
    if errors:
        raise typer.Exit(2)


def _in_one_file(inputs: Inputs) -> Callable[[Finding], bool]:
    """The filter for the standard input, beside which no helper module can be written."""
    usual = inputs.wanted()
    return lambda finding: not needs_helper(finding) and usual(finding)


def _met(trace: Path, inputs: Inputs, usual: Callable[[Finding], bool]) -> Callable[[Finding], bool]:
    """The filter for the findings that a run has met; they keep their fingerprint while fixes move the lines."""
    # Imported late: a hook need not wait for what reads logs.
    from compilefix.tracing.confirm import confirmed, load_trace

    run = load_trace(trace, graph_breaks.known().by_title)
    found = inputs.run(rewrite=False, wanted=usual).findings
    marked = confirmed(found, run, inputs.files, registry.load(), Path.cwd())
    met = {finding.fingerprint for finding in marked if finding.confirmed}
    return lambda finding: finding.fingerprint in met and usual(finding)


def _say_what_is_left(outcome: Outcome, allowed: frozenset[str] | None, where: str) -> None:
    for finding in outcome.taken_back:  # `check` has promised these
        place = f"{display_path(finding.path)}:{finding.span.line}:{finding.span.column + 1}"
        print(f"{place}: {finding.code} {where}: {finding.declined}", file=sys.stderr)
    summary = summarize(outcome.findings, allowed)
    parts = []
    if summary.declined:
        parts.append(f"{count(summary.declined, 'finding')} without a fix")
    if summary.hidden:
        parts.append(
            f"{count(summary.hidden, 'fix', 'fixes')} that need assumptions "
            f"(--assume {','.join(summary.assumptions)} or --unsafe-fixes)"
        )
    if parts:
        print(f"{where}: {'; '.join(parts)}", file=sys.stderr)
