"""`compilefix rule`: explain one rule."""

from __future__ import annotations

import inspect
import json
import sys
from typing import Annotated, Any, Literal

import typer

from compilefix.codemods import registry
from compilefix.codemods.assumptions import ASSUMPTIONS
from compilefix.codemods.rule import Rule
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
    page = _page(found)
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(page))
    else:
        sys.stdout.write(page)


def description(found: type[Rule]) -> dict[str, Any]:
    """What is said of a rule in JSON."""
    return {
        "code": found.code,
        "name": found.name,
        "summary": found.summary,
        "family": found().family,
        "effect": found.effect,
        "gb": list(found.gb),
        "torch": found.torch,
        "assumptions": list(found.assumptions),
        "documentation": _documentation(found),
    }


def _find(asked: str) -> type[Rule]:
    rules = registry.load()
    for found in rules.values():
        if asked.upper() == found.code or asked == found.name:
            return found
    known = [*rules, *(found.name for found in rules.values())]
    near = suggestion(asked.upper(), rules) or suggestion(asked, known)
    raise InputError(f"unknown rule '{asked}'{near} (`compilefix rules` lists them)")


def _page(found: type[Rule]) -> str:
    lines = [f"# {found.code} {found.name}", "", found.summary, ""]
    lines += [f"- Family: {found().family}", f"- Costs: {_COSTS[found.effect]}"]
    if found.gb:
        lines.append(f"- Graph-break ids: {', '.join(found.gb)}")
    lines += [f"- torch: {found.torch}", "", _documentation(found), ""]
    if found.assumptions:
        lines += ["## Assumptions that a fix may need", ""]
        lines += [f"- `{name}`: {ASSUMPTIONS[name]}" for name in found.assumptions]
        lines.append("")
    return "\n".join(lines)


_COSTS = {
    "break": "a graph break",
    "recompile": "a recompile",
    "sync": "a wait for the device",
    "slow": "a slower graph",
}


def _documentation(found: type[Rule]) -> str:
    return inspect.cleandoc(sys.modules[found.__module__].__doc__ or "")
