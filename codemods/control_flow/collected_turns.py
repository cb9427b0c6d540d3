"""Turns of a loop that collect a value and that a tensor skips, where the list is only summed up or averaged later.

    losses = []                                 losses, kept = [], []
    for c in range(classes):                    for c in range(classes):
        mask = labels == c                          mask = labels == c
        if not mask.any():                          keep = mask.any()
            continue                                losses.append(torch.where(keep, loss(x, mask), 0))
        losses.append(loss(x, mask))                kept.append(keep)
    return torch.stack(losses).mean()           return torch.stack(losses).sum() / torch.stack(kept).sum()

Each turn collects then, and a skipped one zero. How many were kept takes the place of the list's length.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import ARRAYS
from compilefix.codemods.bound_names import unbound_where_skipped
from compilefix.codemods.conditions import condition, order_kept
from compilefix.codemods.control_flow.appended import appended
from compilefix.codemods.control_flow.guarded_writes import needs_elements
from compilefix.codemods.control_flow.liveness import live_after, read_at_any_time, reads_first
from compilefix.codemods.control_flow.masks import empty_masks, empty_masks_where
from compilefix.codemods.control_flow.skipped_turn import of_expression
from compilefix.codemods.double_where import double_where, finite_sides
from compilefix.codemods.dynamic_shapes.counts import count_uses
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.number_reads import decides
from compilefix.codemods.own_if import needs_own_if
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Given, Template
from compilefix.codemods.tensor_tests import is_tensor_test, split_static
from compilefix.codemods.torch_name import torch_name, where
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of, stored_in


@dataclass(frozen=True)
class Use:
    """What the code makes of the list behind the loop: the expression, and what that is."""

    node: ast.expr
    what: Literal["mean", "sum", "total", "length", "empty", "any"]
    stacked: ast.expr | None = None


@dataclass(frozen=True)
class CollectedTurn:
    """A turn that a tensor skips. steps: what it computes before it collects. skips: whether the test skips it."""

    node: ast.If
    loop: ast.For
    skips: bool
    steps: tuple[ast.stmt, ...]
    last: ast.stmt
    item: ast.expr
    uses: tuple[Use, ...]

    @property
    def body(self) -> tuple[ast.stmt, ...]:
        """All that runs although the turn was skipped."""
        return (*self.steps, self.last)


def collected_turn(node: ast.If, scope: Scope) -> CollectedTurn | None:
    """The turn that an `if` on a tensor skips, where all that it does is to collect one value."""
    loop = scope.parents.get(node)
    if not isinstance(loop, ast.For) or node not in loop.body or node.orelse or not is_tensor_test(node.test, scope):
        return None
    skips = len(node.body) == 1 and isinstance(node.body[0], ast.Continue)
    if not skips and loop.body[-1] is not node:
        return None
    body = loop.body[loop.body.index(node) + 1 :] if skips else node.body
    found = appended(body[-1], scope) if body else None
    if found is None or not isinstance(found[1].func, ast.Attribute) or not isinstance(found[1].func.value, ast.Name):
        return None
    name = found[1].func.value
    jumps = [n for s in loop.body for n in ast.walk(s) if isinstance(n, ast.Break | ast.Continue | ast.Return)]
    if loop.orelse or jumps != ([node.body[0]] if skips else []) or not _is_new_list(name.id, loop, scope):
        return None
    loads = [n for n in scope.names(name.id) if n is not name]
    uses = [_use_of(load, scope) for load in loads]
    behind = all(load.lineno > (loop.end_lineno or 0) for load in loads)
    known = [use for use in uses if use is not None]
    if not known or len(known) != len(uses) or not behind or read_at_any_time(name.id, loop, scope):
        return None
    return CollectedTurn(node, loop, skips, tuple(body[:-1]), body[-1], found[1].args[0], tuple(known))


def _is_new_list(name: str, loop: ast.For, scope: Scope) -> bool:
    """Whether a name is given an empty list before a loop, and nothing else; no other name has the list."""
    made = scope.only_assignment(name)
    block = scope.block(loop)
    if made is None or not isinstance(made.value, ast.List) or made.value.elts:
        return False
    return made in block and block.index(made) < block.index(loop)


def _use_of(load: ast.Name, scope: Scope) -> Use | None:
    parent = scope.parents.get(load)
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not) and decides(parent, scope):
        return Use(parent, "empty")
    if decides(load, scope) and not isinstance(parent, ast.Compare):
        return Use(load, "any")
    if not isinstance(parent, ast.Call) or parent.args != [load] or parent.keywords:
        return None
    name = scope.callee(parent)
    if name == "len":
        return Use(parent, "length")
    if name == "sum":
        return Use(parent, "total")
    if name != "torch.stack":
        return None
    around = scope.parents.get(parent)
    call = scope.parents.get(around) if isinstance(around, ast.Attribute) else around
    if not isinstance(call, ast.Call) or call.keywords or call.args not in ([], [parent]):
        return None
    if scope.callee(call) in ("Tensor.mean", "torch.mean"):
        return Use(call, "mean", parent)
    return Use(call, "sum") if scope.callee(call) in ("Tensor.sum", "torch.sum") else None


def always_collected(turn: CollectedTurn, scope: Scope, template: Template) -> tuple[Edit, ...]:
    """The edits after which each turn collects; none, with the obstacle noted, where that cannot be."""
    template.refuse(_obstacles(turn, scope))
    template.refuse(_of_uses(turn, scope))
    fixed, tests = split_static(turn.node.test, scope) if turn.skips else ([], [turn.node.test])
    if len(tests) == 1 and scope.value(tests[0]).kinds == ARRAYS and scope.value(turn.item).is_tensor:
        # What is collected is made by PyTorch: no array decides.
        template.mixes = True
        code = condition(tests, scope, template)
        code = None if code is None else f"({code}).reshape(())"
    else:
        code = condition(tests, scope, template, operand=turn.skips)
    if code is None or template.broken is not None:
        return ()
    keep, kept = free_name("keep", scope), free_name("kept", scope)
    first = f"{keep} = {'~' if turn.skips else ''}{code}"
    if fixed:
        template.refuse(order_kept(turn.node.test, scope))
        template.refuse(scope.legality.both_evaluated(tests, scope.facts))
        reasons = (needs_own_if(part, scope) for part in fixed)
        template.refuse([Obstacle(reason) for reason in reasons if reason is not None])
        guard = " and ".join(template.use(part, operand=len(fixed) > 1) for part in fixed)
        first += f"\nif not ({guard}):\n    {keep} = {torch_name(scope)}.ones_like({keep})"
    counts = [use for use in turn.uses if use.what not in ("sum", "total")]
    edits = [scope.before(turn.loop, f"{kept} = []")] if counts else []
    mended = finite_sides([*_computed(turn), turn.item], scope)
    body = template if not turn.skips else Template()
    tail = _collected(turn, keep, mended, scope, body)
    if counts:
        tail.append(f"{kept}.append({keep})")
    if turn.skips:
        edits.append(scope.edit(turn.node, first, **template.parts))
        for value in mended - {turn.item}:
            part = Template()
            edits.append(scope.edit(value, double_where(Given(value), (keep, True), scope, part), **part.parts))
        edits.append(scope.edit(turn.last, "\n".join(tail), **body.parts))
    else:
        lines = [first, *(_step(step, keep, mended, scope, body) for step in turn.steps), *tail]
        edits.append(scope.edit(turn.node, "\n".join(lines), **body.parts))
    count = f"{torch_name(scope)}.stack({kept}).sum()"
    if len(counts) > 1:
        block = scope.block(turn.loop)
        behind = block[block.index(turn.loop) + 1 :]
        if not behind:
            template.refuse([Obstacle("what is collected is used elsewhere than behind the loop")])
            return ()
        name = free_name("count", scope)
        edits.append(scope.before(behind[0], f"{name} = {count}"))
        count = name
    edits += [_edit_of(use, count, turn, scope) for use in counts]
    return tuple(edits)


def _collected(
    turn: CollectedTurn, keep: str, mended: frozenset[ast.expr], scope: Scope, template: Template
) -> list[str]:
    """The lines that collect the value of a turn that is kept, and else zero."""
    assert isinstance(turn.last, ast.Expr)
    assert isinstance(turn.last.value, ast.Call)
    holder = template.use(turn.last.value.func)
    item = turn.item
    code = double_where(Given(item), (keep, True), scope, template) if item in mended else template.use(item)
    if scope.value(item).dtype == "float":
        return [f"{holder}({where(scope)}({keep}, {code}, 0))"]
    lines = []
    if not isinstance(item, ast.Name):
        name = free_name("item", scope)
        lines, code = [f"{name} = {code}"], name
    return [*lines, f"{holder}({where(scope)}({keep}, {code}, {torch_name(scope)}.zeros_like({code})))"]


def _step(step: ast.stmt, keep: str, mended: frozenset[ast.expr], scope: Scope, template: Template) -> str:
    """The code of a statement of the turn, with what stays finite where it was skipped."""
    if not isinstance(step, ast.Assign) or step.value not in mended:
        return template.use(step)
    targets = "".join(f"{ast.unparse(target)} = " for target in step.targets)
    return targets + double_where(Given(step.value), (keep, True), scope, template)


def _edit_of(use: Use, kept: str, turn: CollectedTurn, scope: Scope) -> Edit:
    plain = isinstance(scope.parents.get(use.node), ast.Return | ast.Assign | ast.Call | ast.keyword)
    if use.what == "length":
        return scope.edit(use.node, kept)
    if use.stacked is None:
        code = f"{kept} {'==' if use.what == 'empty' else '>'} 0"
        return scope.edit(use.node, code if isinstance(scope.parents.get(use.node), ast.If) else f"({code})")
    code = f"{{stacked}}.sum() / {kept}"
    if scope.value(turn.item).rank != 0:
        (held,) = use.stacked.args  # type: ignore[attr-defined]
        code = f"{{stacked}}.reshape(len({held.id}), -1).mean(1).sum() / {kept}"
    return scope.edit(use.node, code if plain else f"({code})", stacked=use.stacked)


def _computed(turn: CollectedTurn) -> Iterator[ast.expr]:
    for step in turn.steps:
        yield from (part.value for part in ast.walk(step) if isinstance(part, ast.Assign))


def _obstacles(turn: CollectedTurn, scope: Scope) -> Iterator[Obstacle]:
    test = turn.node.test
    masks = list(empty_masks_where(test, scope) if turn.skips else empty_masks(test, scope))
    failing = needs_elements(turn.body, masks, turn.loop, scope) if masks else None
    if failing is not None:
        yield Obstacle(f"`{snippet(failing)}` fails where the turn was skipped")
    fresh: dict[str, bool] = {}
    for step in turn.steps:
        yield from _of_step(step, fresh, scope)
    yield from of_expression(turn.item, scope)
    stored = stored_in(*turn.steps)
    for name in sorted(stored):
        if reads_first(name, turn.body) or live_after(name, turn.last if turn.skips else turn.node, scope):
            yield Obstacle(f"`{name}` would have another value behind a turn that was skipped")
    yield from unbound_where_skipped(turn.body, turn.body[0] if turn.skips else turn.node, scope)
    value = scope.value(turn.item)
    if not value.is_tensor:
        yield Obstacle(f"`{snippet(turn.item)}` is not proved to be a tensor")
    elif not value.certain:
        yield Obstacle(f"`{snippet(turn.item)}` is not proved to be a tensor", "same-shape-dtype")
    if value.rank != 0:
        yield Obstacle("what a skipped turn collects is not proved to have the same shape", "same-shape-dtype")
    computed = [*_computed(turn), turn.item]
    if not turn.skips:
        inner = [v for v in computed[:-1] if scope.statement(v) not in turn.steps]
        for mended in finite_sides(inner, scope):
            yield Obstacle(f"the derivative of `{snippet(mended)}` is not finite where the turn was skipped")
    if value.dtype not in ("bool", "int"):
        yield Obstacle("what the skipped turn uses gets gradients of zeros instead of None", "gradient-zeros")
        yield from scope.legality.derivatives.finite(
            [v for v in computed if v not in finite_sides([v], scope)], scope.facts
        )
        if value.leaves:
            yield Obstacle("the derivative of the skipped turn could be NaN, also times zero", "finite-derivative")
    yield from scope.legality.memory.saved(computed, turn.body[0], scope.facts)
    yield from scope.recomputed(test)


def _of_step(step: ast.stmt, fresh: dict[str, bool], scope: Scope) -> Iterator[Obstacle]:
    """Whether a statement may run although the turn is skipped; `fresh` are the names of new tensors so far."""
    if isinstance(step, ast.If) and not is_tensor_test(step.test, scope):
        yield from scope.legality.both_evaluated([step.test], scope.facts)
        for inner in (*step.body, *step.orelse):
            yield from _of_step(inner, fresh, scope)
        return
    if isinstance(step, ast.Raise):
        yield Obstacle(f"`{snippet(step)}` would also be raised in a turn that was skipped", "branches-total")
        return
    own = isinstance(step, ast.AugAssign) and isinstance(step.target, ast.Name) and fresh.get(step.target.id)
    if isinstance(step, ast.AugAssign) and own and isinstance(step.op, ast.Add | ast.Sub | ast.Mult):
        yield from of_expression(step.value, scope)
        return
    targets = step.targets if isinstance(step, ast.Assign) else []
    names = [n for target in targets for n in elements_of(target)]
    if not isinstance(step, ast.Assign) or not all(isinstance(n, ast.Name) for n in names):
        yield Obstacle(f"the turn does more than collect a value: `{snippet(step)}`")
        return
    made = scope.value(step.value)
    here = f"@{step.value.lineno}:"
    new = made.is_tensor and all(here in token for token in made.storage)
    fresh |= {n.id: new for n in names if isinstance(n, ast.Name)}
    yield from of_expression(step.value, scope)


def _is_guarded(use: Use, asked: Sequence[Use], scope: Scope) -> bool:
    """Whether the list is only used so where the code has asked whether something was collected."""
    around = [a for a in scope.ancestors(use.node) if isinstance(a, ast.If | ast.IfExp)]
    for one in asked:
        tests = [a for a in scope.ancestors(one.node) if isinstance(a, ast.If | ast.IfExp)]
        test = next((a for a in tests if any(n is one.node for n in ast.walk(a.test))), None)
        leaves = isinstance(test, ast.If) and isinstance(test.body[-1], ast.Return | ast.Raise)
        if test is not None and (test in around or (leaves and one.node.lineno < use.node.lineno)):
            return True
    return False


def _of_uses(turn: CollectedTurn, scope: Scope) -> Iterator[Obstacle]:
    asked = [use for use in turn.uses if use.what in ("length", "empty", "any")]
    for use in turn.uses:
        if use.what in ("mean", "sum") and not _is_guarded(use, asked, scope):
            yield Obstacle(f"all turns may be skipped, where `{snippet(use.node)}` raises", "mask-not-empty")
        if use.what == "mean":
            yield Obstacle(f"`{snippet(use.node)}` becomes a sum, divided by a number", "summation-order")
            if scope.value(turn.item).dtype != "float":
                yield Obstacle(f"`{snippet(turn.item)}` is not proved to be floating", "same-shape-dtype")
        if use.what == "total":
            yield Obstacle("the sum of no turns was the number 0, and becomes a tensor", "number-to-tensor")
    for use in asked:
        yield Obstacle("a loop without turns has collected nothing", "dimension-not-empty")
        yield Obstacle("how many turns were kept becomes a tensor", "number-to-tensor")
        divided = scope.parents.get(use.node)
        if isinstance(divided, ast.BinOp) and isinstance(divided.op, ast.Div) and divided.right is use.node:
            yield Obstacle(f"`{snippet(divided)}` divides by zero where all turns are skipped", "math-errors")
        elif use.what == "length":
            yield from count_uses(use.node, scope)
