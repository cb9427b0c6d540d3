"""What is said of a rule: its page, and the same for machines."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any

from compilefix.codemods.assumptions import ASSUMPTIONS
from compilefix.codemods.rule import Rule

_COSTS: Mapping[str, str] = {
    "break": "a graph break",
    "recompile": "a recompile",
    "sync": "a wait for the device",
    "slow": "a slower program",
    "none": "no speed, but an error or a surprise",
}


def description(rule: type[Rule]) -> dict[str, Any]:
    """What is said of a rule in JSON."""
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": rule.summary,
        "family": rule().family,
        "effect": rule.effect,
        "gb": list(rule.gb),
        "torch": rule.torch,
        "assumptions": list(rule.assumptions),
        "documentation": documentation(rule),
    }


def page(rule: type[Rule]) -> str:
    """The page of a rule, in Markdown."""
    lines = [f"# {rule.code} {rule.name}", "", rule.summary, ""]
    lines += [f"- Family: {rule().family}", f"- Costs: {_COSTS[rule.effect]}"]
    if rule.gb:
        lines.append(f"- Graph-break ids: {', '.join(rule.gb)}")
    lines += [f"- torch: {rule.torch}", "", documentation(rule), ""]
    if rule.assumptions:
        lines += ["## Assumptions that a fix may need", ""]
        lines += [f"- `{name}`: {ASSUMPTIONS[name]}" for name in rule.assumptions]
        lines.append("")
    return "\n".join(lines)


def documentation(rule: type[Rule]) -> str:
    """The text in the rule's file."""
    return inspect.cleandoc(sys.modules[rule.__module__].__doc__ or "")
