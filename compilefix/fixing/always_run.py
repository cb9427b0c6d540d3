"""Fixes that would make a break happen at every call: the branch that holds it would always run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from compilefix.codemods.finding import Finding


def break_inside(finding: Finding, left: Sequence[Finding]) -> Finding | None:
    """What breaks the graph in code that the fix would always run, among the findings of the file that are `left`."""
    if finding.fix is None or not finding.fix.always:
        return None
    for other in left:
        inside = any(span.holds(other.span) for span in finding.fix.always)
        if inside and other.effect == "break" and other is not finding:
            return other
    return None


def without_new_breaks(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings of a function; a fix that would always run what breaks, and has no fix, becomes a decline."""
    left = [finding for finding in findings if finding.fix is None]
    found = [(finding, break_inside(finding, left)) for finding in findings]
    return tuple(
        finding
        if inside is None
        else replace(
            finding,
            fix=None,
            declined=f"line {inside.span.line} breaks the graph too ({inside.code}), and would always run",
        )
        for finding, inside in found
    )
