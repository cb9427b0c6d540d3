"""`if condition: return a` before the `return b` of a function, as one return of the selected value.

    if x.sum() == 0:                      condition = x.sum() == 0
        return torch.zeros_like(x)        y = x * 0.5
    y = x * 0.5                           return torch.where(condition, torch.zeros_like(x), y + 1)
    return y + 1

What the way on computes runs always then; where it divides by what the condition finds to be zero, it divides by one.
A name that it gives another value is read before, as `early`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.conditions import condition, order_kept
from compilefix.codemods.control_flow.branch_acts import act_lines, noted_call
from compilefix.codemods.control_flow.exits import Exit, assigned_in, exit_of
from compilefix.codemods.control_flow.guarded_writes import evaluated
from compilefix.codemods.control_flow.liveness import read_at_any_time
from compilefix.codemods.control_flow.masks import empty_masks_where, kept_by, shortcut_of
from compilefix.codemods.control_flow.own_names import OwnNames, own_names, stored_by
from compilefix.codemods.control_flow.returned_values import Returned, returned_of, values_of
from compilefix.codemods.control_flow.selected_returns import LOOSE, SelectedReturns, are_one
from compilefix.codemods.control_flow.selected_values import asks_for_gradient, without_gradient
from compilefix.codemods.control_flow.tested_divisors import (
    divided_safely,
    tested_divisors,
    with_divisors,
    zero_divisors,
)
from compilefix.codemods.control_flow.way_on import WayOn, computed, notes_of, runs_always, writes
from compilefix.codemods.double_where import finite_sides
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.own_if import needs_own_if
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Given, Template
from compilefix.codemods.tensor_tests import is_tensor_test, split_static
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target


def returns_early(node: ast.If) -> bool:
    """Whether the first branch of the `if` returns."""
    return bool(node.body) and isinstance(node.body[-1], ast.Return)


def selected_return(node: ast.If, scope: Scope, template: Template) -> tuple[Edit, ...]:
    """The edits that make one return of it; none, with the obstacle noted, where that is not possible.

    Raises:
        Refused: what a branch prints cannot be carried out later.
    """
    found = exit_of(node, scope)
    if isinstance(found, str):
        template.refuse([Obstacle(found)])
        return ()
    if any(isinstance(a, ast.For | ast.While | ast.Try) for a in scope.ancestors(node)):
        template.refuse([Obstacle("a branch returns from within a loop or `try`")])
        return ()
    if not all(is_tensor_test(test, scope) for test in found.tests):
        template.refuse([Obstacle("a branch returns, and a fixed condition is mixed with a tensor")])
        return ()
    fixed, found = _fixed_ways_out(found, scope, template)
    found = _under_fixed(found, scope, template)
    values = [value for returned in found.returned for value in values_of(returned, scope)]
    empty = tuple(empty_masks_where(found.tests[0], scope)) if len(found.tests) == 1 else ()
    way = WayOn(node, tuple(scope.value(value) for value in values), found.between, empty, noting=_can_note(found))
    reason = "a branch returns before a `return` in a loop or `with`" if way.returns_inside() else None
    reason = reason or runs_always(way, scope, template) or _steps_stand(found, scope, template)
    own = reason or own_names(found, scope)
    if isinstance(own, str):
        template.refuse([Obstacle(own)])
        return ()
    if writes(way):
        template.refuse(scope.legality.derivatives.finite(computed(way), scope.facts))
    template.refuse(_guards_stand(found, scope))
    heads = Template()
    lines = act_lines(found.acts, scope, heads) if found.acts else ([], [])
    codes = [condition([test], scope, heads) for test in found.tests]
    template.refuse(heads.obstacles)
    template.edits.extend(heads.edits)
    for test in found.tests[1:]:
        whole = _compares_whole(test, scope)
        template.refuse(evaluated(test, scope) if whole else scope.legality.both_evaluated([test], scope.facts))
    if any(code is None for code in codes) or lines is None or template.broken is not None:
        return ()
    tests = [code for code in codes if code is not None]
    first: list[str] = []
    if fixed:
        parts = " or ".join(heads.use(part, operand=isinstance(part, LOOSE)) for part in fixed)
        first = [f"if {parts}:", f"    return {heads.use(found.returned[0])}"]
    return _edits(found, way, tests, first, [*lines[0], *lines[1]], own, heads, scope, template)


def _can_note(found: Exit) -> bool:
    """Whether what the way on notes stands where the condition has its name."""
    return not (found.behind or found.guards)


def _compares_whole(test: ast.expr, scope: Scope) -> bool:
    """Whether a test asks `torch.allclose` or `torch.equal`, which become tensors and read nothing then."""
    calls = (scope.callee(n) or "" for n in ast.walk(test) if isinstance(n, ast.Call))
    return any(call.rpartition(".")[2] in ("allclose", "equal") for call in calls)


def _fixed_ways_out(found: Exit, scope: Scope, template: Template) -> tuple[list[ast.expr], Exit]:
    """The fixed conditions of a first test like `flag is None or t.sum() == 0`, and the exit with what is left of it.

    They stay an `if` that returns: what stands behind may count on them.
    """
    test = found.tests[0]
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or) or found.acts or found.steps:
        return [], found
    fixed = [part for part in test.values if not is_tensor_test(part, scope)]
    tensors = [part for part in test.values if is_tensor_test(part, scope)]
    behind = [part for part in fixed if test.values.index(part) > test.values.index(tensors[0])]
    if not fixed or any(not scope.value(part).is_static for part in behind):
        return [], found
    template.refuse(scope.legality.both_evaluated(behind, scope.facts))
    left = tensors[0] if len(tensors) == 1 else ast.copy_location(ast.BoolOp(test.op, tensors), test)
    return fixed, replace(found, tests=(left, *found.tests[1:]))


def _under_fixed(found: Exit, scope: Scope, template: Template) -> Exit:
    """The exit as if the fixed part of `weight is not None and t.any()` were an `if` of its own around it."""
    test = found.tests[0]
    if len(found.tests) != 1 or found.behind or found.guards or found.acts:
        return found
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return found
    fixed, tensors = split_static(test, scope)
    if all(needs_own_if(part, scope) is None for part in fixed):
        return found
    template.refuse(order_kept(test, scope))
    left = tensors[0] if len(tensors) == 1 else ast.copy_location(ast.BoolOp(test.op, tensors), test)
    guards = tuple((part, True) for part in fixed)
    outer = (*found.between, *found.lasts)
    opened = replace(found, tests=(left,), guards=guards, outer=outer, opened=tuple(fixed))
    changed = next(_changed_guards(opened), None) is not None
    return replace(opened, kept=free_name("given", scope)) if changed else opened


def _opened(lines: Sequence[str], found: Exit, heads: Template) -> list[str]:
    """The first lines under the fixed part of the test."""
    if not found.opened:
        return list(lines)
    test = " and ".join(heads.use(part, operand=isinstance(part, LOOSE)) for part in found.opened)
    named = [] if found.kept is None else [f"{found.kept} = {test}"]
    return [*named, f"if {found.kept or test}:", *(f"    {line}" for code in lines for line in code.splitlines())]


def _edits(
    found: Exit,
    way: WayOn,
    tests: Sequence[str],
    first: Sequence[str],
    noted: Sequence[str],
    own: OwnNames,
    heads: Template,
    scope: Scope,
    template: Template,
) -> tuple[Edit, ...]:
    """The edits, where the way on may run always; what stands in the way of selecting is noted in `template`.

    tests: the code of the conditions. first, noted: the lines before them, and those of what is noted for the boundary.
    """
    ends = [end for ways in found.ends if (end := returned_of(ways, scope)) is not None]
    if len(ends) != len(found.ends):
        template.refuse([Obstacle("what is returned differs in its length or form")])
        return ()
    elements = ends[0].elements
    finite = finite_sides([side for sides in elements for side in sides], scope)
    early = _early_values(elements, found, way, own, scope)
    notes = notes_of(way, scope)
    alone = not (early or found.steps or noted or notes)
    agreed = _agreed(ends, found, way, scope, template, selects=bool(finite)) if alone else None
    # Behind guards the last `return` is that of other ways, too, and stays where it is.
    spread = bool(found.guards or found.between or found.steps or len(elements) > 1 or noted or finite)
    spread = spread or _holds_comment(found, scope)
    names, named, later = list(tests), list[str](), dict[ast.If, str]()
    if spread:
        names, named, later = _named_conditions(found, tests, heads, scope, evaluated=agreed is None)
    if early:
        # The names on both sides are the same, and what they stand for is not.
        template.refuse(scope.legality.derivatives.finite(computed(way), scope.facts))
    tested = tested_divisors(found.tests[0], found, scope) if names and len(tests) == 1 else []
    safely = divided_safely([d for d in tested if not own.reads(d)], names[0], heads, scope) if tested else {}
    head = [*first, *named, *noted, *_step_lines(found, own, heads, safely)]
    for value, name in early.items():
        if not isinstance(value, ast.Name) or own.names.get(value) != name:
            head.append(f"{name} = {_early_code(value, own, heads, scope)}")
    template.refuse(heads.obstacles)
    selecting = agreed is None and spread and len(tests) == 1
    divisors = zero_divisors(found.tests[0], found, scope) if selecting else []
    if found.guards and divisors:
        reason = f"`{snippet(divisors[0])}` is divided by where the test finds it to be zero, under a fixed condition"
        template.refuse([Obstacle(reason)])
        return ()
    returns = SelectedReturns(found, names if agreed is None else (), early, scope, template)
    if found.behind or not spread:
        return _in_one_place(found, head, returns, (agreed or ends)[0], divisors, names, heads)
    if any(divisor in ast.walk(call) for divisor in divisors for call in notes):
        template.refuse([Obstacle("what is noted for the boundary divides by what the test finds to be zero")])
        return ()
    edits = [scope.edit(found.ifs[0], "\n".join(_opened(head, found, heads)), **heads.parts)]
    edits += [scope.edit(guard, line, **heads.parts) for guard, line in later.items()]
    edits += [scope.edit(d, f"{where(scope)}({names[0]}, 1, {{divisor}})", divisor=d) for d in divisors]
    for call in notes:
        body = Template()
        line = noted_call(call, " & ".join(f"~{name}" for name in names), scope, body)
        template.refuse(body.obstacles)
        edits.append(scope.edit(call, line, **body.parts))
    edits += [returns.edit(last, end) for last, end in zip(found.lasts, agreed or ends, strict=True)]
    return tuple(edits)


def _holds_comment(found: Exit, scope: Scope) -> bool:
    """Whether comments may stand between the first test and the last return, which are kept where they are."""
    lines = scope.function.module.lines[found.ifs[0].lineno - 1 : found.lasts[-1].end_lineno]
    return not found.behind and "#" in "\n".join(lines)


def _in_one_place(
    found: Exit,
    head: Sequence[str],
    returns: SelectedReturns,
    end: Returned,
    divisors: Sequence[ast.expr],
    names: Sequence[str],
    heads: Template,
) -> tuple[Edit, ...]:
    """The edits where all of the code goes to the place of the `if`."""
    scope, body = returns.scope, Template(dict(heads.parts))
    way_on = [with_divisors(statement, divisors, names[0], body, scope) for statement in found.between]
    line = returns.line(end, found.lasts[-1], body)
    whole = scope.edit(found.ifs[0], "\n".join([*head, *way_on, line]), **body.parts)
    gone = [] if found.behind else [*found.ifs[1:], *found.lasts]
    return (whole, *(scope.edit(statement, "") for statement in gone))


def _agreed(
    ends: Sequence[Returned], found: Exit, way: WayOn, scope: Scope, template: Template, *, selects: bool
) -> Sequence[Returned] | None:
    """What is returned at the end of each way, where that is right on all ways and nothing needs to be selected.

    None where a selection is needed. selects: a side has a form of its own where it is not the selected one.
    """
    elements = ends[0].elements
    if all(map(are_one, elements)):
        # Nothing evaluates the condition any more.
        template.refuse(_never_fails(found.tests, scope))
        return ends
    if selects:
        return None
    if all(are_one(sides) or _is_first(sides, found, scope) for sides in elements):
        ends = [replace(end, elements=tuple((*sides[1:], sides[0]) for sides in end.elements)) for end in ends]
    elif not all(are_one(sides) or _is_shortcut(sides, found, way, scope) for sides in elements):
        return None
    template.refuse([o for test in found.tests for o in evaluated(test, scope)])
    return ends


def _named_conditions(
    found: Exit, tests: Sequence[str], heads: Template, scope: Scope, *, evaluated: bool
) -> tuple[list[str], list[str], dict[ast.If, str]]:
    """Names for the conditions, the lines that give them, and those that stand in the place of a later `if`."""
    names: list[str] = []
    lines: list[str] = []
    later: dict[ast.If, str] = {}
    for link, code in zip(found.links, tests, strict=True):
        if not evaluated or code in heads.named.values():
            names.append(code)
            continue
        name = free_name("condition", scope, [*names, *heads.named.values()])
        names.append(name)
        if link in found.ifs[1:]:
            later[link] = f"{name} = {code}"
        else:
            lines.append(f"{name} = {code}")
    return names, lines, later


def _early_code(value: ast.expr, own: OwnNames, heads: Template, scope: Scope) -> str:
    """The code of a value that is computed before the way on changes what it reads."""
    if not isinstance(value, ast.Call) or not asks_for_gradient(value, scope):
        return own.code(value, heads)
    if own.reads(value):
        heads.refuse([Obstacle(f"`{snippet(value)}` makes a tensor that requires a gradient")])
    return heads.code(without_gradient(Given(value), scope, heads))


def _step_lines(found: Exit, own: OwnNames, heads: Template, instead: Mapping[ast.expr, str]) -> Iterator[str]:
    """The code of what the branches compute before they return."""
    for index, step in enumerate(found.steps):
        (block,) = (link.body for link in found.links if any(step is s for s in link.body))
        before = [s for s in found.steps[:index] if any(s is one for one in block)]
        yield own.line(step, heads, stored_by(before), instead)


def _is_first(sides: Sequence[ast.expr], found: Exit, scope: Scope) -> bool:
    """Whether what is returned first is what the other `return` gives, too, where a mask selects nothing.

    `if mask.any(): return torch.where(mask, y, x)`, and then `return x`.
    """
    if found.between or len(found.tests) != 1 or len(sides) != 2:
        return False
    return shortcut_of(found.tests[0], sides[0], sides[1], scope) is sides[0]


def _is_shortcut(sides: Sequence[ast.expr], found: Exit, way: WayOn, scope: Scope) -> bool:
    """Whether what is returned early is what the last `return` gives then, too, as a mask selects nothing.

    `if not mask.any(): return x`, and behind it `return torch.where(mask, y, x)`.
    """
    if writes(way) or len(found.tests) != len(sides) - 1:
        return False
    given: dict[str, ast.expr] = {}
    for statement in found.between:
        target = single_target(statement)
        if not isinstance(statement, ast.Assign) or not isinstance(target, ast.Name) or target.id in given:
            return False
        given[target.id] = statement.value
    for test, side in zip(found.tests, sides, strict=False):
        masks = [mask for mask in empty_masks_where(test, scope) if not mask.names & given.keys()]
        kept: ast.expr | None = sides[-1]
        while kept is not None and ast.dump(kept) != ast.dump(side):
            kept = given.get(kept.id) if isinstance(kept, ast.Name) else kept_by(kept, masks)
        if kept is None:
            return False
    return True


def _never_fails(tests: Sequence[ast.expr], scope: Scope) -> Iterator[Obstacle]:
    """Whether conditions may go of which nothing depends: one that raises keeps doing so."""
    for test in tests:
        doubt = next(evaluated(test, scope), None)
        if doubt is not None:
            yield Obstacle(f"`{snippet(test)}` decides nothing, and may raise: {doubt.reason}")


def _early_values(
    elements: Sequence[tuple[ast.expr, ...]], found: Exit, way: WayOn, own: OwnNames, scope: Scope
) -> dict[ast.expr, str]:
    """Names for the values that are returned early and read a name which has another value on the way on."""
    stored = {
        n.id
        for statement in found.between
        for n in ast.walk(statement)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    early: dict[ast.expr, str] = {}
    for value in (side for sides in elements for side in sides[: len(found.returned)]):
        if isinstance(value, ast.Name) and value in own.names:
            early[value] = own.names[value]
            continue
        reads = own.reads(value)
        reads = reads or any(isinstance(n, ast.Name) and n.id in stored for n in ast.walk(value))
        # A call may reach a nested function that reads one.
        calls = any(isinstance(n, ast.Call) for n in ast.walk(value))
        reads = reads or (calls and any(read_at_any_time(name, found.ifs[0], scope) for name in stored))
        # What stands behind the guards is not computed where they do not hold.
        reads = reads or bool(found.guards and not isinstance(value, ast.Name | ast.Constant))
        if reads or (writes(way) and not isinstance(value, ast.Name | ast.Constant)):
            early[value] = free_name("early", scope, [*early.values(), *own.names.values()])
    return early


def _guards_stand(found: Exit, scope: Scope) -> Iterator[Obstacle]:
    """Whether the fixed conditions say at the last return what they said before."""
    if found.kept is not None:
        return
    for test in _changed_guards(found):
        yield Obstacle(f"`{snippet(test)}` may be another at the last `return`")
    for test, _ in found.guards:
        yield from scope.legality.computed_again(test, scope.facts)


def _changed_guards(found: Exit) -> Iterator[ast.expr]:
    """The fixed conditions that ask for what the way on gives another value."""
    stored = {
        n.id for s in found.between for n in ast.walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)
    }
    for test, _ in found.guards:
        attributes = any(isinstance(n, ast.Attribute) for n in ast.walk(test))
        names = any(isinstance(n, ast.Name) and n.id in stored for n in ast.walk(test))
        if names or (attributes and _stores_attribute(found.between)):
            yield test


def _stores_attribute(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) for s in body for n in ast.walk(s))


def _steps_stand(found: Exit, scope: Scope, template: Template) -> str | None:
    """Whether what the branches compute before they return may be computed always."""
    for branch in found.steps:
        step = branch if isinstance(branch, ast.Assign) else assigned_in(branch, scope)
        assert step is not None
        if isinstance(branch, ast.If):
            template.refuse(scope.legality.both_evaluated([branch.test], scope.facts))
        flat = [n for t in step.targets for n in (t.elts if isinstance(t, ast.Tuple) else [t])]
        if not all(isinstance(t, ast.Name) for t in flat):
            return "a branch returns, and does more than return a value"
        owner = next(s for s in found.ifs if step in ast.walk(s))
        template.refuse(scope.legality.both_evaluated([step.value], scope.facts))
        template.refuse(scope.legality.derivatives.finite([step.value], scope.facts))
        template.refuse(scope.legality.memory.saved([step.value], owner, scope.facts))
    return None
