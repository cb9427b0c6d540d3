"""Where a test breaks the graph before it: at the read that its name was given, `done = flags.all().item()`.

Dynamo breaks the graph where a number is read, and goes on with a Python number: the test on it costs nothing more. The
rules for tests find and rewrite both together, so that their finding belongs to the read.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from compilefix.codemods.capture_flags import SCALARS, switched_on
from compilefix.codemods.finding import Finding, Span
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import named_truth, tensor_tests
from compilefix.source.snippets import snippet

_OF_TESTS = frozenset({"CF101", "CF102", "CF103", "CF105"})
_OF_READS = ("GB0033", "GB0124")  # of torch.equal, and of item() and what calls it
_Test = ast.If | ast.IfExp | ast.Assert


def at_their_reads(findings: Sequence[Finding], scope: Scope) -> tuple[Finding, ...]:
    """The findings, those of tests on names alone at the reads that these names were given.

    Of several tests of one read the first is told there. One behind it breaks nothing, and is told only where it has a
    fix, without which that of the first would not take the read out. Where there is no fix, each read for a test or an
    `elif` behind it is told: the graph breaks at each.
    """
    if not any(finding.code in _OF_TESTS for finding in findings) or switched_on(SCALARS, scope):
        return tuple(findings)
    tests = {scope.span(n): n for n in scope.nodes if isinstance(n, ast.If | ast.IfExp | ast.Assert)}
    own = {finding.span for finding in findings if finding.code in _OF_TESTS}
    told = set[ast.expr]()
    kept: list[Finding] = []
    for finding in findings:
        test = tests.get(finding.span) if finding.code in _OF_TESTS else None
        if test is None:
            kept.append(finding)
            continue
        if finding.fix is not None:
            reads, whole = _reads([test], scope)
            kept.append(_at(*reads[0], finding, scope) if whole and told.isdisjoint(r for r, _ in reads) else finding)
        else:
            reads, whole = _reads(_chain(test, own, scope), scope)
            kept += () if whole else (finding,)
            kept += (_at(read, one, finding, scope) for read, one in reads if read not in told)
        told.update(read for read, _ in reads if whole or finding.fix is None)
    return tuple(kept)


def _chain(test: _Test, own: Collection[Span], scope: Scope) -> Iterator[_Test]:
    """A test and the `elif` branches behind it that its finding is about too: those without one of their own."""
    yield test
    while isinstance(test, ast.If) and len(test.orelse) == 1 and isinstance(test.orelse[0], ast.If):
        test = test.orelse[0]
        if scope.span(test) in own:
            return
        yield test


def _reads(tests: Iterable[_Test], scope: Scope) -> tuple[list[tuple[ast.expr, _Test]], bool]:
    """What was read for tests before them, and whether that is all of it: no part is a tensor, or read there."""
    given = [(named_truth(part, scope), test) for test in tests for part in tensor_tests(test.test, scope)]
    known: dict[ast.expr, _Test] = {}
    for read, test in given:
        if read is not None:
            known.setdefault(read, test)
    return list(known.items()), bool(known) and all(read is not None for read, _ in given)


def _at(read: ast.expr, test: _Test, finding: Finding, scope: Scope) -> Finding:
    span = scope.span(read)
    more = finding.message.partition("; ")
    message = f"`{snippet(read)}` reads a tensor's value on the host for the test on line {test.lineno}"
    message = "".join((message, " and breaks the graph", *more[1:]))
    line = scope.function.module.lines[span.line - 1]
    return replace(finding, span=span, message=message, gb=_OF_READS, source_line=line)
