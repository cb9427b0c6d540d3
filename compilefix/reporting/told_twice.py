"""Statements of which a break would be told twice: a number that is read, and the attribute that stores it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from compilefix.codemods.finding import Finding, Fix, Span
from compilefix.reporting.told_flags import flags_told_once

_OF_STORES = "CF304"
_OF_READS = frozenset({"CF201", "CF202"})
_OF_DRAWS = "CF403"
_PRINTS = frozenset({"CF301", "CF302"})
_OF_TEXTS = "the number is only printed or logged"
_UNPROVED = " is not proved to be a tensor; if it is one: "
_OF_ELEMENTS = "CF503"
_OF_LIBRARIES = frozenset({"CF404", "CF405"})
_OF_ARRAYS = frozenset({"CF401", "CF402"})
_OF_NUMBERS = _OF_READS | {"CF401"}
_IN_PYTHON = " the number is used as a Python number in "
_OF_ITEMS = re.compile(r"^`(\w+)\[[^`]*\]`(?= is a (?:tensor, and|NumPy number, traced) )")
"""What a message says is read, where that is an item: `boxes[0]` of `boxes[0]:boxes[2]`, told of `boxes` once."""

_Said = tuple[str, str, int | str, str, str | None]
"""What a finding says, and where: path, code, line or function, message, reason."""


def told_once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings without stores that have no fix where the read in them is told anyway, and without repetitions.

    `torch.ones(n, n)` reads the same number twice, which a line says once where nothing is fixed.
    """
    reads: dict[str, list[Span]] = defaultdict(list)
    draws: dict[str, list[Span]] = defaultdict(list)
    texts: dict[str, list[Span]] = defaultdict(list)
    calls: dict[str, list[Span]] = defaultdict(list)
    for finding in findings:
        if finding.code in _OF_READS:
            reads[finding.path].append(finding.span)
        elif finding.code == _OF_DRAWS:
            draws[finding.path].append(finding.span)
        elif finding.code in _PRINTS:
            texts[finding.path].append(finding.span)
        elif finding.code in _OF_LIBRARIES and finding.fix is None:
            calls[finding.path].append(finding.span)
    findings = flags_told_once(findings)
    told: set[_Said] = set()
    fixed: set[tuple[str, Span, Fix]] = set()
    kept: list[Finding] = []
    for finding in findings:
        said: set[_Said] = {
            (finding.path, finding.code, finding.span.line, _OF_ITEMS.sub(r"\1", finding.message), finding.declined)
        }
        if finding.code == "CF401":
            # A name that holds a number of NumPy is read in many lines, and made in one.
            said.add((finding.path, finding.code, finding.function, finding.message, finding.declined))
        if finding.code in _OF_READS and _IN_PYTHON in (finding.declined or ""):
            # `pad=[left.item(), right.item()]`: one statement needs several numbers of Python's.
            said.add((finding.path, finding.code, finding.span.line, "", finding.declined))
        repeated = finding.fix is None and finding.code in _OF_NUMBERS and not said.isdisjoint(told)
        repeated = repeated or finding.repeats
        told |= said
        if finding.code == _OF_ELEMENTS and finding.fix is not None:
            # One rewrite of what is selected, for each use of it.
            rewritten = (finding.path, finding.span, finding.fix)
            repeated = rewritten in fixed
            fixed.add(rewritten)
        if finding.code in _OF_READS and _UNPROVED in (finding.declined or ""):
            # What NumPy has drawn: `rng.choice(n, 3).tolist()`.
            repeated = repeated or any(finding.span.holds(span) for span in draws[finding.path])
        if finding.fix is None and (finding.declined or "").startswith(_OF_TEXTS):
            repeated = repeated or any(span.holds(finding.span) for span in texts[finding.path])
        if finding.code in _OF_ARRAYS and finding.fix is None:
            # `scipy.special.expi(a, dtype=a.dtype)`: what is given to what runs on the host runs there too.
            repeated = repeated or any(span.holds(finding.span) for span in calls[finding.path])
        stored = finding.code == _OF_STORES and finding.fix is None
        if not repeated and not (stored and any(finding.span.holds(span) for span in reads[finding.path])):
            kept.append(finding)
    return tuple(kept)
