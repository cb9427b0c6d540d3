"""Where a test breaks the graph before it: at the read that its name was given, `done = flags.all().item()`.

Dynamo breaks the graph where a number is read, and goes on with a Python number: the test on it costs nothing more. The
rules for tests find and rewrite both together, so that their finding belongs to the read.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from compilefix.codemods.capture_flags import SCALARS, switched_on
from compilefix.codemods.conditions import named_truth, tensor_tests
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_OF_TESTS = frozenset({"CF101", "CF102", "CF103"})
_OF_READS = ("GB0033", "GB0124")  # of torch.equal, and of item() and what calls it


def at_their_reads(findings: Sequence[Finding], scope: Scope) -> tuple[Finding, ...]:
    """The findings, those of tests on names alone at the reads that these names were given.

    Of several tests of one read the first is told there. One behind it breaks nothing, and is told only where it has a
    fix, without which that of the first would not take the read out.
    """
    if not any(finding.code in _OF_TESTS for finding in findings) or switched_on(SCALARS, scope):
        return tuple(findings)
    tests = {scope.span(n): n for n in scope.nodes if isinstance(n, ast.If | ast.IfExp | ast.Assert)}
    told: set[ast.expr] = set()
    kept: list[Finding] = []
    for finding in findings:
        test = tests.get(finding.span) if finding.code in _OF_TESTS else None
        reads = _reads(test.test, scope) if test is not None else []
        if test is None or not reads:
            kept.append(finding)
        elif told.isdisjoint(reads):
            kept.append(_at(reads[0], test, finding, scope))
        elif finding.fix is not None:
            kept.append(finding)
        told.update(reads)
    return tuple(kept)


def _reads(test: ast.expr, scope: Scope) -> list[ast.expr]:
    """What was read for a test; nothing where a part of it is a tensor, or read there."""
    given = [named_truth(part, scope) for part in tensor_tests(test, scope)]
    known = [read for read in given if read is not None]
    return known if len(known) == len(given) else []


def _at(read: ast.expr, test: ast.If | ast.IfExp | ast.Assert, finding: Finding, scope: Scope) -> Finding:
    span = scope.span(read)
    more = finding.message.partition("; ")
    message = f"`{snippet(read)}` reads a tensor's value on the host for the test on line {test.lineno}"
    message = "".join((message, " and breaks the graph", *more[1:]))
    line = scope.function.module.lines[span.line - 1]
    return replace(finding, span=span, message=message, gb=_OF_READS, source_line=line)
