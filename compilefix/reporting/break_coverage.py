"""Which rules cover a graph-break id, and how far: for `explain`, and for the table in the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, Literal

from compilefix.analysis.graph_breaks import MEANING, GraphBreak, Known, shipped
from compilefix.codemods.rule import Rule

Remedy = Literal["fix", "assumption", "advice", "none"]

_ORDER: tuple[Remedy, ...] = ("fix", "assumption", "advice", "none")
REMEDIES: Mapping[Remedy, str] = {
    "fix": "a rule rewrites it where it can prove that nothing changes",
    "assumption": "a rule rewrites it under an assumption that you allow",
    "advice": "a rule finds it and says what to do",
    "none": "no rule",
}
"""What each remedy means. A rule that rewrites also declines, with a reason, where a condition does not hold."""


@dataclass(frozen=True)
class Coverage:
    """The rules that name an id, and the best that one of them offers."""

    rules: tuple[type[Rule], ...]
    remedy: Remedy


def coverage(name: str, rules: Mapping[str, type[Rule]]) -> Coverage:
    """How far the rules cover a graph-break id."""
    naming = tuple(rule for rule in rules.values() if name in rule.gb)
    return Coverage(naming, min((remedy(rule) for rule in naming), key=_ORDER.index, default="none"))


def remedy(rule: type[Rule]) -> Remedy:
    """The best that a rule offers: a fix without assumptions, one with assumptions only, or advice."""
    if not _makes_fixes(rule):
        return "advice"
    return "fix" if not rule.assumptions or rule.code in shipped().safe_rules else "assumption"


def explanation(entry: GraphBreak, rules: Mapping[str, type[Rule]]) -> str:
    """The page of one id, in Markdown."""
    found = coverage(entry.id, rules)
    lines = [f"# {entry.id} {entry.title}", ""]
    if len(entry.titles) > 1:
        lines += [f"Called before: {'; '.join(entry.titles[1:])}.", ""]
    lines += [f"- {MEANING[nature]}" for nature in entry.natures]
    lines += [""] if entry.natures else []
    if entry.explanation:
        lines += ["## What PyTorch says", "", entry.explanation, ""]
        lines += [f"- {hint}" for hint in entry.hints]
        lines += [""] if entry.hints else []
    lines += ["## What compilefix does", ""]
    if not found.rules:
        lines.append("No rule covers this id: `compilefix trace` shows where it happens.")
    for rule in found.rules:
        lines.append(f"- {rule.code} {rule.name} ({_offer(rule)}): {rule.summary}")
    return "\n".join(lines) + "\n"


def description(entry: GraphBreak, rules: Mapping[str, type[Rule]]) -> dict[str, Any]:
    """The same for machines."""
    found = coverage(entry.id, rules)
    return {
        "id": entry.id,
        "title": entry.title,
        "former_titles": list(entry.titles[1:]),
        "natures": list(entry.natures),
        "explanation": entry.explanation,
        "hints": list(entry.hints),
        "remedy": found.remedy,
        "rules": [
            {
                "code": rule.code,
                "name": rule.name,
                "summary": rule.summary,
                "remedy": remedy(rule),
                "assumptions": list(rule.assumptions),
            }
            for rule in found.rules
        ],
    }


def table_page(known: Known, rules: Mapping[str, type[Rule]]) -> str:
    """The page of the documentation that accounts for every id."""
    rows = [(entry, coverage(name, rules)) for name, entry in sorted(known.breaks.items())]
    lines = [
        "# All graph-break ids",
        "",
        f"PyTorch {known.torch} knows {len(known.breaks)} graph-break ids. `compilefix explain GB0170` says what one "
        "means.",
        "",
        "| remedy | ids | meaning |",
        "|---|---|---|",
    ]
    for kind, meaning in REMEDIES.items():
        lines.append(f"| {kind} | {sum(found.remedy == kind for _, found in rows)} | {meaning} |")
    lines += ["", "<!-- Written by scripts/build_graph_breaks.py. -->", ""]
    lines += ["| id | title | remedy | rules | without a rule |", "|---|---|---|---|---|"]
    for entry, found in rows:
        codes = ", ".join(rule.code for rule in found.rules)
        why = "" if found.rules else "; ".join(MEANING[nature] for nature in entry.natures)
        lines.append(f"| {entry.id} | {_cell(entry.title)} | {found.remedy} | {codes} | {why} |")
    return "\n".join(lines) + "\n"


def _offer(rule: type[Rule]) -> str:
    kind = remedy(rule)
    if kind == "advice" or not rule.assumptions:
        return kind
    word = "assumptions" if len(rule.assumptions) > 1 else "assumption"
    return f"fix, {'may need' if kind == 'fix' else 'with'} the {word} {', '.join(rule.assumptions)}"


def _makes_fixes(rule: type[Rule]) -> bool:
    """Whether a method of the rule makes findings with a fix, that is, calls `fixed` or `fixed_at`."""
    own = (base for base in rule.__mro__ if issubclass(base, Rule) and base is not Rule)
    codes = (f.__code__ for base in own for f in vars(base).values() if isinstance(f, FunctionType))
    return any({"fixed", "fixed_at"} & set(code.co_names) for code in _all_code(codes))


def _all_code(codes: Iterable[CodeType]) -> Iterator[CodeType]:
    for code in codes:
        yield code
        yield from _all_code(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _cell(text: str) -> str:
    """A title, which may hold code and placeholders, in a table of Markdown."""
    return f"`{text.replace('`', chr(39))}`".replace("|", "\\|")
