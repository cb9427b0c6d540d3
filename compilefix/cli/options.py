"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Paths = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Files and folders; the working directory when none is given, - for the standard input.",
        show_default=False,
    ),
]
Select = Annotated[
    list[str] | None,
    typer.Option("--select", metavar="RULES", help="Only these rules: codes or beginnings (CF1), separated by commas."),
]
ExtendSelect = Annotated[
    list[str] | None,
    typer.Option("--extend-select", metavar="RULES", help="These rules besides the ones that are selected."),
]
Ignore = Annotated[list[str] | None, typer.Option("--ignore", metavar="RULES", help="All but these rules.")]
Reached = Annotated[
    bool,
    typer.Option(
        "--reached", help="Only what torch.compile, a configured root or a `forward` leads to.", show_default=False
    ),
]
Assume = Annotated[
    list[str] | None,
    typer.Option("--assume", metavar="NAMES", help="Allow fixes that rest on these assumptions, separated by commas."),
]
UnsafeFixes = Annotated[
    bool, typer.Option("--unsafe-fixes", help="Allow fixes that rest on any assumption.", show_default=False)
]
Exclude = Annotated[
    list[str] | None,
    typer.Option("--exclude", metavar="PATTERN", help="Leave out what matches, as in a .gitignore; may be repeated."),
]
ForceExclude = Annotated[
    bool,
    typer.Option("--force-exclude", help="Hold files that are named to the exclusions too.", show_default=False),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="REV", help="Only files that changed since this git revision, new files too."),
]
StdinFilename = Annotated[
    Path | None,
    typer.Option("--stdin-filename", metavar="FILE", help="The file that the standard input (path -) stands for."),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", "-j", min=1, metavar="N", help="At most so many processes. By default one for each processor."
    ),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Take nothing from earlier runs, and keep nothing for later.", show_default=False),
]
ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Read this file instead of the nearest pyproject.toml."),
]
TraceFile = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        help="What a real run met: a report of `compilefix trace --json`, or its logs.",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.", show_default=False)]


def split(values: list[str] | None) -> tuple[str, ...]:
    """The values of an option that may be repeated and may hold several values between commas."""
    return tuple(part for value in values or () for item in value.split(",") if (part := item.strip()))
