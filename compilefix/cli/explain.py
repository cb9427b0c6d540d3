"""`compilefix explain`: what a graph-break id means, and which rule covers it."""

from __future__ import annotations

import json
import re
import sys
from typing import Annotated, Literal

import typer

from compilefix.analysis import graph_breaks
from compilefix.codemods import registry
from compilefix.reporting.break_coverage import coverage, description, explanation
from compilefix.source.errors import InputError, suggestion

VERSION = 1
_RULE = re.compile(r"CF\d{3}", re.IGNORECASE)


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="ID", help="A graph-break id (GB0170); all are listed where none is given.", show_default=False
        ),
    ] = None,
    output_format: Annotated[
        Literal["text", "json"], typer.Option("--output-format", help="How the answer is written.")
    ] = "text",
) -> None:
    """Explain a graph-break id: what it means, and which rule covers it."""
    known = graph_breaks.known()
    rules = registry.load()
    chosen = list(known.breaks.values()) if name is None else [_find(name, known)]
    if output_format == "json":
        content = [description(entry, rules) for entry in chosen]
        document = {"version": VERSION, "ids": content} if name is None else {"version": VERSION, **content[0]}
        sys.stdout.write(json.dumps(document, indent=2) + "\n")
    elif name is None:
        for entry in chosen:
            found = coverage(entry.id, rules)
            codes = " ".join(rule.code for rule in found.rules)
            sys.stdout.write(f"{entry.id}  {found.remedy:<10}  {entry.title}{f'  ({codes})' if codes else ''}\n")
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(explanation(chosen[0], rules)))
    else:
        sys.stdout.write(explanation(chosen[0], rules))


def _find(asked: str, known: graph_breaks.Known) -> graph_breaks.GraphBreak:
    by_title = known.by_title
    name = graph_breaks.normal_id(asked) or by_title.get(asked.strip())
    if name is not None and name in known.breaks:
        return known.breaks[name]
    if _RULE.fullmatch(asked.strip()):
        raise InputError(f"'{asked}' is a rule, and no graph-break id: see `compilefix rule {asked.strip().upper()}`")
    near = suggestion(name or asked.upper(), known.breaks) or suggestion(asked, by_title)
    raise InputError(f"unknown graph-break id '{asked}'{near} (`compilefix explain` lists them)")
