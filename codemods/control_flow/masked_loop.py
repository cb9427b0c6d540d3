"""A `for` loop that a tensor ends early, as one that runs all its turns and keeps what it had once it has ended."""

from __future__ import annotations

import ast

from compilefix.analysis.leaves import are_sure, settled
from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind, Value, replace
from compilefix.codemods.conditions import condition, is_tensor_test
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Given, Template, judge_selection, torch_name, where
from compilefix.source.snippets import snippet


def ends_loop(node: ast.If, scope: Scope) -> bool:
    """Whether an `if` does nothing but end the `for` loop whose body it stands in, on a tensor."""
    loop = scope.parents.get(node)
    only_breaks = len(node.body) == 1 and isinstance(node.body[0], ast.Break) and not node.orelse
    return only_breaks and isinstance(loop, ast.For) and node in loop.body and is_tensor_test(node.test, scope)


def masked_loop(loop: ast.For, end: ast.If, scope: Scope, template: Template) -> str | None:
    """The loop with a tensor that says whether it has ended; None, with the obstacle noted, where that cannot be."""
    reason = _not_plain(loop, end, scope)
    if reason is not None:
        template.refuse([Obstacle(reason)])
        return None
    template.refuse([Obstacle("the loop runs all its turns, and what follows its end is masked out", "bounded-loop")])
    done = free_name("done", scope)
    lines: list[str] = []
    selected: list[str] = []
    for statement in loop.body:
        if statement is end:
            code = condition([end.test], scope, template, operand=True)
            template.refuse(scope.legality.both_evaluated([end.test], scope.facts))
            if code is None:
                return None
            lines.append(f"{done} = {done} | {code}")
            continue
        assigned = _assigned(statement)
        assert assigned is not None
        name, value = assigned
        if not (live_after(name.id, loop, scope) or _carried(name.id, loop)):
            template.refuse(scope.legality.both_evaluated([value], scope.facts))
            lines.append(template.use(statement))
            continue
        before = scope.facts.env_before.get(statement, {}).get(name.id)
        given = any(parameter.arg == name.id for parameter in scope.function.parameters)
        if before is None or scope.facts.env_before[loop].get(name.id) is None or not (before.certain or given):
            template.refuse([Obstacle(f"`{name.id}` may have no value before the loop")])
            return None
        if not before.certain:
            template.refuse([Obstacle(f"`{name.id}` is not proved to be a tensor", "branches-total")])
        values = (scope.value(value), _kept(scope.value(value), before, scope.facts.env_before[loop][name.id]))
        judge_selection([name.id], (Given(value), None), values, [], scope, statement, template)
        lines.append(f"{name.id} = {where(scope)}({done}, {name.id}, {template.use(value)})")
        selected.append(name.id)
    if not selected:
        template.refuse([Obstacle("the loop assigns no name that is read later")])
        return None
    torch = torch_name(scope)
    head = f"for {template.use(loop.target)} in {template.use(loop.iter)}:"
    start = f"{done} = {torch}.zeros((), dtype={torch}.bool, device={selected[0]}.device)"
    return "\n".join([start, head, *(f"    {line}" for line in lines)])


def _kept(given: Value, before: Value, first: Value) -> Value:
    """What a name keeps in a turn after the end: what an earlier turn gave it, and never what it had at first.

    All turns have to hang on the same tensors, and on those of what it had at first, which would get zeros.
    """
    leaves = settled(given.leaves)
    return replace(before, leaves=leaves) if are_sure(leaves) and first.leaves <= leaves else before


def _not_plain(loop: ast.For, end: ast.If, scope: Scope) -> str | None:
    """Why a loop is more than assignments to names and one way out."""
    if loop.orelse:
        return "the loop has an `else`, which runs where it was not ended"
    if not scope.value(loop.iter).is_(Kind.CONTAINER):
        return f"the number of turns over `{snippet(loop.iter)}` is not known"
    targets = [n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)]
    kept = next((name for name in targets if live_after(name, loop, scope)), None)
    if kept is not None:
        return f"`{kept}` is read after the loop, where it says at which turn it ended"
    for statement in loop.body:
        if statement is not end and _assigned(statement) is None:
            return f"the loop does more than assign names: `{snippet(statement)}`"
    return None


def _assigned(statement: ast.stmt) -> tuple[ast.Name, ast.expr] | None:
    """The name that a statement assigns, annotated or not, and its value."""
    if isinstance(statement, ast.AnnAssign):
        target: ast.expr = statement.target
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    else:
        return None
    return (target, statement.value) if isinstance(target, ast.Name) and statement.value is not None else None


def _carried(name: str, loop: ast.For) -> bool:
    """Whether a turn may read what an earlier one gave the name."""
    names = [n for statement in loop.body for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
    first = min(n.lineno for n in names if isinstance(n.ctx, ast.Store))
    return any(isinstance(n.ctx, ast.Load) and n.lineno <= first for n in names)
