"""`compilefix rule`: explain one rule."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Literal

import typer

from compilefix.codemods import registry
from compilefix.codemods.rule import Rule
from compilefix.reporting.rule_page import description, page
from compilefix.source.errors import InputError, suggestion


def rule(
    code: Annotated[str, typer.Argument(help="The code of the rule (CF101) or its name.")],
    output_format: Annotated[
        Literal["text", "json"], typer.Option("--output-format", help="How the page is written.")
    ] = "text",
) -> None:
    """Explain one rule: what it finds, why that costs time, when it is fixed, and what a fix may assume."""
    found = _find(code)
    if output_format == "json":
        sys.stdout.write(json.dumps(description(found), indent=2) + "\n")
        return
    text = page(found)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        sys.stdout.write(text)


def _find(asked: str) -> type[Rule]:
    rules = registry.load()
    for found in rules.values():
        if asked.upper() == found.code or asked == found.name:
            return found
    known = [*rules, *(found.name for found in rules.values())]
    near = suggestion(asked.upper(), rules) or suggestion(asked, known)
    raise InputError(f"unknown rule '{asked}'{near} (`compilefix rules` lists them)")
