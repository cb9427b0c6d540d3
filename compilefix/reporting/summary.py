"""What a set of findings adds up to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from compilefix.codemods.finding import Finding


@dataclass(frozen=True)
class Summary:
    """How many findings there are, how many are fixed with what is allowed, with more assumptions, and not at all.

    `apart` counts those in functions that nothing was seen to compile.
    """

    total: int
    fixable: int
    hidden: int
    assumptions: tuple[str, ...]
    declined: int
    apart: int


@dataclass(frozen=True)
class RuleCount:
    """How often one rule was found, and how many of those can be fixed with what is allowed."""

    code: str
    name: str
    count: int
    fixable: int


def summarize(findings: Sequence[Finding], allowed: frozenset[str] | None) -> Summary:
    """Count the findings. `allowed` holds the assumptions that a fix may rest on; None allows all."""
    fixable = hidden = declined = 0
    missing: set[str] = set()
    for finding in findings:
        if finding.fix is None:
            declined += 1
        elif finding.is_allowed(allowed):
            fixable += 1
        else:
            hidden += 1
            missing.update(set(finding.fix.assumptions) - (allowed or frozenset()))
    apart = sum(finding.apart for finding in findings)
    return Summary(len(findings), fixable, hidden, tuple(sorted(missing)), declined, apart)


def statistics(findings: Sequence[Finding], allowed: frozenset[str] | None) -> tuple[RuleCount, ...]:
    """The findings by rule, the most frequent first."""
    counts = Counter(finding.code for finding in findings)
    fixable = Counter(finding.code for finding in findings if finding.is_allowed(allowed))
    names = {finding.code: finding.name for finding in findings}
    ordered = sorted(counts, key=lambda code: (-counts[code], code))
    return tuple(RuleCount(code, names[code], counts[code], fixable[code]) for code in ordered)


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 fix`, `2 fixes`: the number with the right form of the noun (by default with an `s`)."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
