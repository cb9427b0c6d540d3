"""Draws that decide a branch: whether the branch becomes a selection once a tensor decides it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from compilefix.analysis import values
from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.control_flow.tensor_if import TensorIf
from compilefix.codemods.control_flow.tensor_ternary import TensorTernary
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.tensor_tests import is_truth
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
        elif isinstance(outer, ast.Assign) and child is compared and isinstance(outer.targets[0], ast.Name):
            yield from _named(drawn, compared, outer, scope)
            return
        elif not isinstance(outer, ast.UnaryOp):
            break
        child = outer
    yield Obstacle(f"the number is needed as a Python number in `{snippet(scope.parents[child])}`")


def _named(drawn: ast.expr, compared: ast.Compare, named: ast.Assign, scope: Scope) -> Iterator[Obstacle]:
    """The same for the comparison's name, of which only branches ask: `drop = random() < p`, then `if drop:`."""
    name = named.targets[0]
    uses = scope.names(name.id) if isinstance(name, ast.Name) else []
    everywhere = [n for n in ast.walk(scope.function.node) if isinstance(n, ast.Name) and n.id == ast.unparse(name)]
    stores = scope.names(ast.unparse(name), stores=True)
    branches = [next((b for b in scope.ancestors(u) if isinstance(b, ast.stmt | ast.IfExp)), None) for u in uses]
    once = len(named.targets) == 1 and len(stores) == 1 and len(everywhere) == len(uses) + 1
    if not once or not uses or not all(is_truth(use, scope) for use in uses):
        yield Obstacle(f"the number is needed as a Python number in `{snippet(named)}`")
        return
    for use, branch in zip(uses, branches, strict=True):
        if isinstance(branch, ast.If | ast.IfExp):
            yield from _selected(drawn, compared, branch, scope, use)
        else:
            yield Obstacle(_IN_BRANCH)


def _selected(
    drawn: ast.expr, compared: ast.Compare, branch: ast.If | ast.IfExp, scope: Scope, use: ast.expr | None = None
) -> Iterator[Obstacle]:
    """What the rewrite of a branch rests on that a tensor decides; what stands in its way where there is none.

    `use` is the name of the comparison in the test, where it has one.
    """
    known = dict(scope.facts.values)
    number = values.tensor(dtype="float", rank=0)
    known[drawn] = number
    asked = compared if use is None else use
    truth: list[ast.AST] = [compared, asked, *_around(asked, branch, scope)]
    for node in truth:
        known[node] = values.tensor(dtype="bool", rank=0)
    facts = replace(scope.facts, values=known)
    supposed = Scope(replace(scope.compiled, facts=facts), scope.legality, scope.path, scope.logging)
    rule: Rule = TensorIf() if isinstance(branch, ast.If) else TensorTernary()
    yield from _needed([f for f in rule.find(supposed) if f.span == scope.span(branch)])


def _around(compared: ast.expr, branch: ast.If | ast.IfExp, scope: Scope) -> Iterator[ast.AST]:
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
