"""`compilefix rules`: list the rules, or the assumptions."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Literal

import typer

from compilefix.codemods import registry
from compilefix.codemods.assumptions import ASSUMPTIONS
from compilefix.reporting.rule_page import description


def rules(
    assumptions: Annotated[
        bool, typer.Option("--assumptions", help="List what fixes may assume instead of the rules.")
    ] = False,
    output_format: Annotated[
        Literal["text", "json"], typer.Option("--output-format", help="How the list is written.")
    ] = "text",
) -> None:
    """List the rules with their codes. `compilefix rule CODE` explains one."""
    if assumptions:
        rows = list(ASSUMPTIONS.items())
    else:
        rows = [(f"{rule.code}  {rule.name}", rule.summary) for rule in registry.load().values()]
    if output_format == "json":
        content = dict(ASSUMPTIONS) if assumptions else [description(rule) for rule in registry.load().values()]
        sys.stdout.write(json.dumps(content, indent=2) + "\n")
        return
    width = max((len(left) for left, _ in rows), default=0)
    sys.stdout.writelines(f"{left:<{width}}  {right}\n" for left, right in rows)
