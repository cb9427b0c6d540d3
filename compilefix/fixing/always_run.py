"""Fixes that would make a break happen at every call: the branch that holds it would always run.

Where the capture flags keep what breaks in the graph, as a selection of rows, the fix is one that needs the flags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from compilefix.codemods.finding import Finding

_FLAGS = "capture-scalars"


def break_inside(finding: Finding, left: Sequence[Finding]) -> Finding | None:
    """What breaks the graph in code that the fix would always run, among the findings of the file that are `left`."""
    return next(_breaks_inside(finding, left), None)


def _breaks_inside(finding: Finding, left: Sequence[Finding]) -> Iterator[Finding]:
    if finding.fix is None or not finding.fix.always:
        return
    for other in left:
        inside = any(span.holds(other.span) for span in finding.fix.always)
        if inside and other.effect == "break" and other is not finding and other.span not in finding.fix.captured:
            yield other


def without_new_breaks(findings: Sequence[Finding], captured: Callable[[Finding], bool]) -> tuple[Finding, ...]:
    """The findings of a function; a fix that would always run what breaks, and has no fix, becomes a decline.

    `captured` says whether a break is one that the capture flags keep in the graph.
    """
    left = [finding for finding in findings if finding.fix is None]
    return tuple(_judged(finding, left, captured) for finding in findings)


def _judged(finding: Finding, left: Sequence[Finding], captured: Callable[[Finding], bool]) -> Finding:
    inside = list(_breaks_inside(finding, left))
    if not inside or finding.fix is None:
        return finding
    failing = next((other for other in inside if not captured(other)), None)
    if failing is not None:
        reason = f"line {failing.span.line} breaks the graph too ({failing.code}), and would always run"
        return replace(finding, fix=None, declined=reason)
    reason = f"without the capture flags line {inside[0].span.line} breaks the graph too ({inside[0].code})"
    fix = replace(
        finding.fix,
        captured=tuple(other.span for other in inside),
        assumptions=tuple(dict.fromkeys((*finding.fix.assumptions, _FLAGS))),
        reasons=(*finding.fix.reasons, reason),
    )
    return replace(finding, fix=fix)
