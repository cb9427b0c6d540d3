"""Draws that decide a branch: whether the branch becomes a selection once a tensor decides it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from compilefix.analysis import values
from compilefix.analysis.legality import Obstacle
from compilefix.codemods.control_flow.tensor_if import TensorIf
from compilefix.codemods.control_flow.tensor_ternary import TensorTernary
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet

_IN_BRANCH = "the number is needed as a Python number in a branch"


def decides(drawn: ast.expr, compared: ast.Compare, scope: Scope) -> Iterator[Obstacle]:
    """Whether a comparison of a drawn number, which decides a branch, may be one of a tensor.

    `drawn` is the number, or a name for it. The assumptions of the rewritten branch come with the draw: without that
    rewrite nothing would be won. A number that is drawn always, and looked at only under a fixed condition, is a tensor
    with profit in any case: the graph stays whole where the condition does not hold.
    """
    child: ast.AST = compared
    guarded = False
    for outer in scope.ancestors(compared):
        if isinstance(outer, ast.BoolOp):
            first = outer.values[0]
            guarded = guarded or (
                isinstance(outer.op, ast.And) and first is not child and not scope.value(first).is_tensor
            )
        elif isinstance(outer, ast.If | ast.IfExp) and outer.test is child:
            if not (guarded and isinstance(drawn, ast.Name)):
                yield from _selected(drawn, compared, outer, scope)
            return
        elif isinstance(outer, ast.Assign) and guarded and isinstance(drawn, ast.Name):
            return
        elif not isinstance(outer, ast.UnaryOp):
            break
        child = outer
    yield Obstacle(f"the number is needed as a Python number in `{snippet(scope.parents[child])}`")


def _selected(drawn: ast.expr, compared: ast.Compare, branch: ast.If | ast.IfExp, scope: Scope) -> Iterator[Obstacle]:
    """What the rewrite of a branch rests on that a tensor decides; what stands in its way where there is none."""
    known = dict(scope.facts.values)
    number = values.tensor(dtype="float", rank=0)
    known[drawn] = number
    truth: list[ast.AST] = [compared, *_around(compared, branch, scope)]
    for node in truth:
        known[node] = values.tensor(dtype="bool", rank=0)
    facts = replace(scope.facts, values=known)
    supposed = Scope(replace(scope.compiled, facts=facts), scope.legality, scope.path, scope.logging)
    rule: Rule = TensorIf() if isinstance(branch, ast.If) else TensorTernary()
    yield from _needed([f for f in rule.find(supposed) if f.span == scope.span(branch)])


def _around(compared: ast.Compare, branch: ast.If | ast.IfExp, scope: Scope) -> Iterator[ast.AST]:
    for outer in scope.ancestors(compared):
        if outer is branch:
            return
        yield outer


def _needed(found: Sequence[Finding]) -> Iterator[Obstacle]:
    fixes = [finding.fix for finding in found if finding.fix is not None]
    if not fixes:
        reasons = [finding.declined for finding in found if finding.declined is not None]
        yield Obstacle(f"{_IN_BRANCH} ({reasons[0]})" if reasons else _IN_BRANCH)
        return
    for name in fixes[0].assumptions:
        yield Obstacle("the branch that the number decides becomes a selection", name)
