"""Statements of which two rules would tell the same break: a number that is read, and the attribute that stores it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from compilefix.codemods.finding import Finding, Span

_OF_STORES = "CF304"
_OF_READS = frozenset({"CF201", "CF202"})


def told_once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings without stores that have no fix, where the read in them is told anyway."""
    reads: dict[str, list[Span]] = defaultdict(list)
    for finding in findings:
        if finding.code in _OF_READS:
            reads[finding.path].append(finding.span)
    return tuple(
        finding
        for finding in findings
        if finding.code != _OF_STORES
        or finding.fix is not None
        or not any(finding.span.holds(span) for span in reads[finding.path])
    )
