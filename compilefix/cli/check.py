"""`compilefix check`: report findings."""

from __future__ import annotations

import sys
from typing import Annotated, Literal

import typer

from compilefix.cli import options
from compilefix.cli.inputs import Request, gather, print_errors
from compilefix.reporting.summary import statistics as count_by_rule
from compilefix.reporting.summary import summarize
from compilefix.source.errors import InputError

Format = Literal["text", "concise", "json", "github"]


def check(
    paths: options.Paths = None,
    select: options.Select = None,
    extend_select: options.ExtendSelect = None,
    ignore: options.Ignore = None,
    assume: options.Assume = None,
    unsafe_fixes: options.UnsafeFixes = False,
    output_format: Annotated[Format, typer.Option("--output-format", help="How findings are written.")] = "text",
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count the findings by rule instead of listing them.")
    ] = False,
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="Exit with 0 even when there are findings.")] = False,
    exclude: options.Exclude = None,
    force_exclude: options.ForceExclude = False,
    config: options.ConfigFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Report what makes torch.compile break a graph or recompile. Nothing is written, imported or run.

    Exit codes: 0 no findings, 1 findings, 2 something could not be looked at.
    """
    if statistics and output_format == "github":
        raise InputError("--statistics goes with the formats text, concise and json")
    inputs = gather(
        Request(
            paths=paths or (),
            select=options.split(select),
            extend_select=options.split(extend_select),
            ignore=options.split(ignore),
            assume=options.split(assume),
            unsafe_fixes=unsafe_fixes,
            exclude=tuple(exclude or ()),
            force_exclude=force_exclude,
            config=config,
        )
    )
    outcome = inputs.run(rewrite=False)
    findings = outcome.findings
    errors = (*inputs.errors, *outcome.errors)
    print_errors(errors)
    out = sys.stdout
    if output_format == "json":
        from compilefix.reporting import findings_json

        counts = count_by_rule(findings, inputs.allowed) if statistics else None
        out.write(findings_json.document(findings, errors, counts) + "\n")
    elif output_format == "github":
        from compilefix.reporting import findings_github

        out.writelines(line + "\n" for line in findings_github.lines(findings, errors))
    else:
        from compilefix.reporting import findings_text

        if statistics:
            lines = findings_text.statistics_lines(count_by_rule(findings, inputs.allowed))
            out.writelines(line + "\n" for line in lines)
        elif output_format == "concise":
            findings_text.write_concise(findings, out, inputs.allowed)
        else:
            findings_text.write_frames(findings, inputs.by_path, out, inputs.allowed, colour=out.isatty())
        if not quiet:
            closing = findings_text.summary_lines(summarize(findings, inputs.allowed), len(inputs.files))
            out.writelines(line + "\n" for line in closing)
    out.flush()
    if errors:
        raise typer.Exit(2)
    if findings and not exit_zero:
        raise typer.Exit(1)
