"""Selected elements that an `if` gives a name: the statements stay, and the names hold all elements.

    loss = -x[mask].log()                 loss = -torch.where(mask, x, 1).log()
    if weight is not None:                if weight is not None:
        loss = loss * weight[mask]            loss = loss * torch.where(mask, weight, 1)
    return loss.mean()                    return torch.where(mask, loss, 0).sum() / mask.sum()

Where only one side selects, the reduction asks the same again, and stays as it is on the other side:

    if mask is not None:
        x = x[mask]                       return torch.where(mask, x, 0).sum() if mask is not None else x.sum()
    return x.sum()

Where an `if` without an `else` reduces the elements of a name, they are selected on the way that is left:

    if mode == "mean":                    if mode == "mean":
        loss = loss.mean()                    loss = torch.where(mask, loss, 0).sum() / mask.sum()
    return loss                           else:
                                              loss = loss[mask]
                                          return loss
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.definitions import (
    Origin,
    Part,
    Way,
    origin_of,
    parts_of,
    reads_of,
    whole_of,
    wholes_of,
    writes_elsewhere,
)
from compilefix.codemods.dynamic_shapes.drafts import Draft
from compilefix.codemods.dynamic_shapes.other_ways import apart
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_LOOPS = ast.For | ast.AsyncFor | ast.While | ast.Try


def definitions_of(group: Sequence[Draft]) -> list[ast.Assign]:
    """The definitions of drafts, in source order."""
    found = dict.fromkeys(definition for draft in group for definition in draft.elements.definitions)
    return sorted(found, key=lambda d: (d.lineno, d.value.col_offset))


def uses_elsewhere(definitions: Sequence[ast.Assign], rewritten: Sequence[ast.AST], scope: Scope) -> Iterator[Obstacle]:
    """Whether something else than what is rewritten uses the selected elements by their names."""
    inside = {n for part in rewritten for n in ast.walk(part)}
    for definition in definitions:
        assert isinstance(definition.targets[0], ast.Name)
        name = definition.targets[0].id
        reads = reads_of(definition, scope, joined=True)
        if reads is None:
            yield Obstacle(f"`{name}` may be used elsewhere too")
        for use in reads or ():
            known = asks_for_kind(use, scope) or _passed_by(use, rewritten, scope) is not None
            if use not in inside and not known:
                yield Obstacle(f"`{name}` is used on line {use.lineno} too")


def asks_for_kind(use: ast.Name, scope: Scope) -> bool:
    """Whether a place asks a tensor for its dtype or device, which all elements have too."""
    around = scope.parents.get(use)
    return isinstance(around, ast.Attribute) and around.attr in ("dtype", "device")


def selected_again(definitions: Sequence[ast.Assign], rewritten: Sequence[ast.AST], scope: Scope) -> dict[ast.If, str]:
    """The `if`s that reduce the elements of a name on each of their sides, and the name.

    Where none is taken the name still holds the elements: there they are selected.
    """
    inside = {n for part in rewritten for n in ast.walk(part)}
    found: dict[ast.If, str] = {}
    for definition in definitions:
        for use in reads_of(definition, scope, joined=True) or ():
            if use not in inside and (passed := _passed_by(use, rewritten, scope)) is not None:
                found[passed] = use.id
    return found


def _passed_by(use: ast.Name, rewritten: Sequence[ast.AST], scope: Scope) -> ast.If | None:
    """The `if` without an `else` behind which a name holds selected elements only where no side of it was taken."""
    way = origin_of(use, scope.statement(use), scope)
    if not isinstance(way, Way) or is_elif(way.statement, scope):
        return None
    top = way.statement
    while True:
        body = way.body
        reduced = [part for part in rewritten if isinstance(part, ast.expr)]
        if not isinstance(body, ast.Assign) or not any(n in reduced for n in ast.walk(body)):
            return None
        if not way.statement.orelse:
            return top if _is_one_of(way.orelse, rewritten) else None
        if not isinstance(way.orelse, Way) or way.statement.orelse != [way.orelse.statement]:
            return None
        way = way.orelse


def _is_one_of(origin: Origin, definitions: Sequence[ast.AST]) -> bool:
    """Whether one of the definitions gave the value, on whichever way."""
    if isinstance(origin, Way):
        return _is_one_of(origin.body, definitions) and _is_one_of(origin.orelse, definitions)
    return origin in definitions


def is_elif(statement: ast.stmt, scope: Scope) -> bool:
    """Whether a statement is no statement by itself, but a side of the `if` before it."""
    line = scope.function.module.lines[statement.lineno - 1]
    return isinstance(statement, ast.If) and line.encode()[statement.col_offset :].startswith(b"elif")


def disturbed(group: Sequence[Draft], scope: Scope) -> Iterator[Obstacle]:
    """What stands in the way of keeping the definitions of drafts, whatever the code for them is."""
    definitions = definitions_of(group)
    for draft in group:
        elements = draft.elements
        if draft.inner:
            yield Obstacle(f"`{snippet(draft.found.node)}` uses another number that is made of the selected elements")
        if elements.hoists or elements.before or elements.named:
            yield Obstacle(f"`{snippet(draft.found.node)}` takes several steps, and an `if` decides on the elements")
    for whole in wholes_of(d for d in definitions if isinstance(d, Part)):
        if not all(part in definitions for part in parts_of(whole)):
            yield Obstacle(f"`{snippet(whole)}` gives other names values too")
    for definition in definitions:
        if any(isinstance(around, _LOOPS) for around in scope.ancestors(whole_of(definition))):
            yield Obstacle(f"`{snippet(definition)}` stands in a loop")
    yield from _changed_between(group, definitions, scope)


def _changed_between(group: Sequence[Draft], definitions: Sequence[ast.Assign], scope: Scope) -> Iterator[Obstacle]:
    """Whether what the names share memory with is written before the last use, or the mask becomes another.

    Nor may what the code asks for the number of dimensions, or which side was taken.
    """
    mask = group[0].elements.mask.node
    tests = [draft.sided[0].test for draft in group if draft.sided is not None]
    bases = [draft.elements.atoms[text] for draft in group for text in draft.elements.bases]
    asked = names_in(mask, *tests, *bases)
    targets = {d.targets[0].id for d in definitions if isinstance(d.targets[0], ast.Name)}
    read = asked | targets | names_in(*(d.value for d in definitions))
    wholes = wholes_of(definitions)
    first, last = wholes[0].lineno, max(draft.found.node.lineno for draft in group)
    for part in _simple(scope):
        if part in wholes or not first <= part.lineno <= last:
            continue
        does = scope.legality.effects.of(part, scope.facts)
        stored = {n.id for n in ast.walk(part) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
        within = set(ast.walk(part))
        reduced = [draft.found.node for draft in group if draft.found.node in within]
        later = [draft.found.node for draft in group if draft.found.node.lineno > part.lineno]
        last_use = bool(reduced) and all(apart(reduced[0], node, scope) for node in later if node not in within)
        written = does.mutates is not None and not (isinstance(part, ast.stmt) and writes_elsewhere(part, read, scope))
        renamed = stored & (asked - targets if last_use else asked)
        if written or renamed or (does.unknown is not None and names_in(part) & read):
            yield Obstacle(f"`{snippet(part)}` stands between the selection and its use, and may change it")
    if targets & names_in(*tests) or (isinstance(mask, ast.Name) and mask.id in targets):
        yield Obstacle(f"`{snippet(mask)}` is not the same before and after the selection")
    for test in tests:
        does = scope.legality.effects.of(test, scope.facts)
        named = "it gives a name a value" if any(isinstance(n, ast.NamedExpr) for n in ast.walk(test)) else None
        for reason in (named, does.random, does.mutates, does.host, does.unknown, does.raises):
            if reason is not None:
                yield Obstacle(f"`{snippet(test)}` would be asked twice: {reason}")


def _simple(scope: Scope) -> Iterator[ast.stmt | ast.expr]:
    """The statements of a function without blocks, and what those with some ask for."""
    for node in scope.parents:
        if isinstance(node, ast.If | ast.While):
            yield node.test
        elif isinstance(node, ast.For):
            yield node.iter
        elif isinstance(node, ast.With):
            yield from (item.context_expr for item in node.items)
        elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
            yield node
