"""`compilefix check`: report findings."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from compilefix.analysis import graph_breaks
from compilefix.cli import options
from compilefix.cli.inputs import Inputs, Request, gather, print_errors
from compilefix.cli.wanted import Wanted
from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.reporting import baseline as known_findings
from compilefix.reporting.report import Report, UnusedSuppression, entries
from compilefix.reporting.summary import count, summarize
from compilefix.reporting.summary import statistics as count_by_rule
from compilefix.reporting.told_twice import told_once
from compilefix.source.errors import InputError
from compilefix.source.files import display_path
from compilefix.source.notebooks import Notebook

if TYPE_CHECKING:
    from compilefix.tracing.model import Trace

Format = Literal["text", "concise", "json", "github", "gitlab", "sarif", "junit"]


def check(
    paths: options.Paths = None,
    select: options.Select = None,
    extend_select: options.ExtendSelect = None,
    ignore: options.Ignore = None,
    reached: options.Reached = False,
    assume: options.Assume = None,
    unsafe_fixes: options.UnsafeFixes = False,
    output_format: Annotated[Format, typer.Option("--output-format", help="How findings are written.")] = "text",
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count the findings by rule instead of listing them.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", help="Report only findings that are not in this baseline."),
    ] = None,
    write_baseline: Annotated[
        Path | None,
        typer.Option(
            "--write-baseline", metavar="FILE", help="Write the findings here as a baseline, and exit with 0."
        ),
    ] = None,
    trace: options.TraceFile = None,
    since: options.Since = None,
    stdin_filename: options.StdinFilename = None,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even when there are findings.")] = False,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    config: options.ConfigFile = None,
    jobs: options.Jobs = None,
    no_cache: options.NoCache = False,
    quiet: options.Quiet = False,
) -> None:
    """Report what makes torch.compile break a graph or recompile. Nothing is written, imported or run.

    Exit codes: 0 no findings, 1 findings, 2 something could not be looked at.
    """
    if statistics and output_format not in ("text", "concise", "json"):
        raise InputError("--statistics goes with the formats text, concise and json")
    if baseline is not None and write_baseline is not None:
        raise InputError("--baseline and --write-baseline do not go together")
    known = frozenset[str]() if baseline is None else known_findings.load(baseline)
    met = None if trace is None else _met(trace)
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
    wanted = inputs.wanted()
    # What a comment silences answers for what the run met, too.
    outcome = inputs.run(rewrite=False, wanted=wanted if met is None else lambda _: True)
    findings = outcome.findings
    if met is not None:
        findings = tuple(filter(wanted, _confirmed(findings, met, inputs)))
    report = Report(
        entries=entries(told_once(findings), inputs.by_path, inputs.config.root),
        errors=(*inputs.errors, *outcome.errors),
        files=inputs.by_path,
        allowed=inputs.allowed,
        unused=_unused(wanted) if inputs.whole else (),
    )
    print_errors(report.errors)
    if write_baseline is not None:
        known_findings.write(write_baseline, report.entries)
        if not quiet:
            print(f"{count(len(report.entries), 'finding')} written to {display_path(write_baseline)}.")
        raise typer.Exit(2 if report.errors else 0)
    new = tuple(entry for entry in report.entries if entry.fingerprint not in known)
    report = replace(report, entries=new, known=len(report.entries) - len(new))
    if not quiet:
        for comment in report.unused:
            print(comment, file=sys.stderr)
        gone = len(known) - report.known
        if gone and inputs.whole and baseline is not None:
            print(f"{count(gone, 'finding')} in {display_path(baseline)} not found any more", file=sys.stderr)
    _write(report, output_format, statistics, quiet, inputs)
    if met is not None and not quiet and output_format in ("text", "concise"):
        print(_confirmation(report.findings))
    if report.errors:
        raise typer.Exit(2)
    if report.entries and not exit_zero:
        raise typer.Exit(1)


def _confirmation(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.confirmed for finding in findings)
    them = "it" if counts[False] == 1 else "them"
    return (
        f"The run met {count(counts[True], 'finding')}, compiled the function of {counts[False]} more without meeting "
        f"{them}, and says nothing of {counts[None]} more."
    )


def _write(report: Report, output_format: Format, statistics: bool, quiet: bool, inputs: Inputs) -> None:
    out = sys.stdout
    if output_format in ("text", "concise"):
        from compilefix.reporting import findings_text

        if statistics:
            lines = findings_text.statistics_lines(count_by_rule(report.findings, report.allowed))
            out.writelines(line + "\n" for line in lines)
        elif output_format == "concise":
            findings_text.write_concise(report, out)
        else:
            findings_text.write_frames(report, out, colour=out.isatty())
        if not quiet:
            summary = summarize(report.findings, report.allowed)
            closing = findings_text.summary_lines(summary, len(inputs.files), report.known)
            out.writelines(line + "\n" for line in closing)
    elif output_format == "json":
        from compilefix.reporting import findings_json

        out.write(
            findings_json.document(report, count_by_rule(report.findings, report.allowed) if statistics else None)
        )
    else:
        document = importlib.import_module(f"compilefix.reporting.findings_{output_format}").document
        out.write(document(report))
    out.flush()


def _unused(wanted: Wanted) -> tuple[UnusedSuppression, ...]:
    found = []
    for file, comment, codes in wanted.unused(tuple(registry.load())):
        cell = file.cell_at(comment.line) if isinstance(file, Notebook) else None
        line = comment.line - (0 if cell is None else cell.line - 1)
        found.append(UnusedSuppression(display_path(file.path), line, codes, None if cell is None else cell.number))
    return tuple(found)


def _met(trace: Path) -> Trace:
    # Imported late: a hook need not wait for what reads logs.
    from compilefix.tracing.confirm import load_trace

    return load_trace(trace, graph_breaks.known().by_title)


def _confirmed(findings: Sequence[Finding], met: Trace, inputs: Inputs) -> Sequence[Finding]:
    from compilefix.tracing.confirm import confirmed

    rules = registry.load()
    left_out = [code for code in rules if code not in inputs.selection]
    return confirmed(findings, met, inputs.files, rules, Path.cwd(), left_out=left_out)
