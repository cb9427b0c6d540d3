"""Loops in which the graph breaks: Dynamo cannot go on inside a loop, and leaves the whole function to Python.

Such a loop is not unrolled, and other lengths compile nothing again, as long as what breaks in each turn stands there.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from compilefix.codemods.finding import Finding, Span
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.tree import walk

_OF_LOOPS = "CF605"
_LEAVING = (ast.Continue, ast.Break, ast.Return)
_NESTED = (ast.Try, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Match)


def without_skipped_loops(
    findings: Sequence[Finding], scope: Scope, found_in: Callable[[Scope], Iterable[Finding]]
) -> tuple[Finding, ...]:
    """The findings of a function, without the length of a loop that nothing unrolls.

    `found_in` gives what is found in what the function calls: a break in there ends the graph in the loop, too.
    """
    lengths = {f.span: f for f in findings if f.code == _OF_LOOPS and f.fix is None}
    if not lengths:
        return tuple(findings)
    breaks = [*_spans_of_breaks(findings), *_breaking_calls(scope, found_in)]
    skipped = {
        id(lengths[span])
        for loop in scope.of(ast.For)
        if (span := Span(*scope.file.span(loop.iter))) in lengths and _breaks(loop.body, breaks, scope)
    }
    return tuple(finding for finding in findings if id(finding) not in skipped)


def _spans_of_breaks(findings: Iterable[Finding]) -> list[Span]:
    return [finding.span for finding in findings if finding.effect == "break"]


def _breaking_calls(scope: Scope, found_in: Callable[[Scope], Iterable[Finding]]) -> Iterator[Span]:
    """The calls in a function of what breaks the graph each time."""
    known: dict[Function, bool] = {scope.function: False}
    for node, callee in scope.facts.calls.items():
        if callee not in known:
            inner = scope.in_function(callee)
            later = bool(callee.of(ast.Yield) or callee.of(ast.YieldFrom))  # a generator runs where it is gone through
            known[callee] = not later and _breaks(callee.node.body, _spans_of_breaks(found_in(inner)), inner)
        if known[callee]:
            yield scope.span(node)


def _breaks(body: Sequence[ast.stmt], breaks: Sequence[Span], scope: Scope) -> bool:
    """Whether the graph breaks in each turn: in a statement, or in the test of one that may not run as a whole.

    A loop in the loop is taken to run at least once.
    """
    for statement in body:
        whole = Span(*scope.file.span(statement))
        if any(whole == broken or _run_whole(statement, broken, scope) for broken in breaks):
            return True
        if isinstance(statement, ast.With | ast.For) and _breaks(statement.body, breaks, scope):
            return True
        if any(isinstance(part, _LEAVING) for part in walk(statement)):
            return False
    return False


def _run_whole(statement: ast.stmt, broken: Span, scope: Scope) -> bool:
    """Whether what breaks the graph stands in a part of a statement that runs whenever the statement does."""
    if isinstance(statement, ast.If | ast.While):
        parts: list[ast.expr | ast.stmt] = [statement.test]
    elif isinstance(statement, ast.For):
        parts = [statement.iter]
    elif isinstance(statement, ast.With):
        parts = [item.context_expr for item in statement.items]
    else:
        parts = [] if isinstance(statement, _NESTED) else [statement]
    return any(
        Span(*scope.file.span(part)).holds(broken)
        and not any(Span(*scope.file.span(arm)).holds(broken) for arm in _at_times(part))
        for part in parts
    )


def _at_times(part: ast.AST) -> Iterator[ast.expr]:
    """What an expression or statement evaluates in some runs only, or later."""
    for node in walk(part):
        if isinstance(node, ast.IfExp):
            yield from (node.body, node.orelse)
        elif isinstance(node, ast.BoolOp):
            yield from node.values[1:]
        elif isinstance(node, ast.Lambda):
            yield node.body
        elif isinstance(node, ast.Assert) and node.msg is not None:
            yield node.msg
