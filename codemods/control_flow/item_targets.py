"""`p[i] = a` in the branches of an `if`: the element is always written, with the selected value.

if t.any():                      p[i] = torch.where(t.any(), a, 0.0)
    p[i] = a
else:
    p[i] = 0.0
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Iterator, Sequence

from compilefix.analysis.in_place import written_always
from compilefix.analysis.leaves import are_same
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import UNKNOWN, Kind, Value, replace
from compilefix.codemods.rule import Scope
from compilefix.codemods.selected_numbers import exact
from compilefix.codemods.selection import judge_selection
from compilefix.codemods.template import Given, Template
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of, names_in

_RANKS = {"bool": 0, "int": 1, "float": 2}
_INDEXES = ("int32", "int64")
_FIXED = (Kind.STATIC, Kind.SIZE, Kind.NONE)


def is_item(name: str) -> bool:
    """Whether the name of a target is that of an element, `p[i]`."""
    return name.endswith("]")


def item_name(target: ast.Subscript, scope: Scope) -> str | None:
    """The name of an element as a target; None where a write into it is no write into fixed places of a tensor."""
    if not _has_name(target.value) or not scope.value(target.value).is_tensor:
        return None
    bounds, places = _where(target)
    fixed = all(_may_be_number(scope.value(n)) for n in bounds)
    fixed = fixed and all(_may_be_number(scope.value(n)) or _may_be_index(scope.value(n)) for n in places)
    return ast.unparse(target) if fixed else None


def slot_name(target: ast.Subscript, scope: Scope) -> str | None:
    """The name of the place in a list, or the key of a dict, that a statement gives another tensor; else None.

    A list takes only a place that it has; a dict would take a new key.
    """
    base = scope.value(target.value)
    if not isinstance(target.value, ast.Name) or not base.is_(Kind.CONTAINER):
        return None
    if base.ref == "dict":
        return ast.unparse(target) if _is_key(target) else None
    if base.ref is not None or base.element is None or not base.element.is_tensor:
        return None
    fixed = not isinstance(target.slice, ast.Slice) and scope.value(target.slice).is_(Kind.STATIC, Kind.SIZE)
    return ast.unparse(target) if fixed and scope.value(target.slice).dtype == "int" else None


def judge_slot(
    target: ast.Subscript, sides: Sequence[Given | None], node: ast.If, scope: Scope, template: Template
) -> None:
    """Note what stands in the way of putting a tensor into a place of a list always; None keeps what is there."""
    name, shown = ast.unparse(target), snippet(target)
    base = scope.value(target.value)
    load = copy.copy(target)
    load.ctx = ast.Load()
    scope.facts.values[load] = held = replace(base.element or UNKNOWN, storage=base.storage, leaves=base.leaves)
    values = [held if side is None else scope.value(side.node) for side in sides]
    if not all(value.is_tensor for value in values):
        template.refuse([Obstacle(f"`{shown}` is not proved to be a tensor on both sides")])
        return
    if None in sides:
        if _is_key(target) and not _asked_before(target, node, scope):
            template.refuse([Obstacle(f"the key of `{shown}` may not be there where the branch is not taken")])
        template.refuse([Obstacle(f"`{shown}` may not be there where the branch is not taken", "branches-total")])
    reason = f"`{shown}` is a new tensor after every run, and who holds the old one keeps that"
    template.refuse([Obstacle(reason, "no-aliasing")])
    judge_selection([name], sides, values, [], scope, node, template)


def _is_key(target: ast.Subscript) -> bool:
    """Whether a place is a key of a dict that is written out as a text."""
    return isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str)


def _asked_before(target: ast.Subscript, node: ast.If, scope: Scope) -> bool:
    """Whether a key was written or read on every way to an `if`, and the dict did not lose it, as far as one sees."""
    text, name = ast.unparse(target), ast.unparse(target.value)
    found = False
    for statement in _ways_to(node, scope):
        nodes = list(ast.walk(statement))
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr):
            choices = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
            always = not any(isinstance(n, choices) for n in nodes)
            found = found or (always and any(isinstance(n, ast.Subscript) and ast.unparse(n) == text for n in nodes))
        if any(_may_lose(n, name) for n in nodes):
            found = _makes_key(statement, target)
    loops = [outer for outer in _around(node, scope) if isinstance(outer, ast.For | ast.While)]
    # A loop runs what stands behind, too, before it comes again.
    return found and not any(_may_lose(n, name) for loop in loops for n in ast.walk(loop))


def _makes_key(statement: ast.stmt, target: ast.Subscript) -> bool:
    """Whether a statement gives the name of the dict a new one that is written out with this key."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or not isinstance(statement.value, ast.Dict):
        return False
    bound = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    keys = [ast.unparse(key) for key in statement.value.keys if key is not None]
    alone = len(bound) == 1 and ast.unparse(bound[0]) == ast.unparse(target.value)
    return alone and ast.unparse(target.slice) in keys


def _may_lose(node: ast.AST, name: str) -> bool:
    """Whether a node may take a key out of the dict of that name: the dict itself is given away, or another one."""
    if isinstance(node, ast.Call):
        given = [*node.args, *(k.value for k in node.keywords)]
        method = node.func
        own = isinstance(method, ast.Attribute) and isinstance(method.value, ast.Name) and method.value.id == name
        keeps = isinstance(method, ast.Attribute) and method.attr in ("get", "keys", "items", "values", "update")
        return (own and not keeps) or any(isinstance(g, ast.Name) and g.id == name for g in given)
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Del) and ast.unparse(node.value) == name
    return isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)


def _around(node: ast.stmt, scope: Scope) -> list[ast.AST]:
    """What a statement stands in, the function first."""
    around: list[ast.AST] = []
    outer = scope.parents.get(node)
    while outer is not None:
        around.insert(0, outer)
        if outer is scope.function.node:
            break
        outer = scope.parents.get(outer)
    return around


def _ways_to(node: ast.stmt, scope: Scope) -> Iterator[ast.stmt]:
    """The statements that stand before one in its block, and before the blocks round that, in order."""
    for outer, inner in itertools.pairwise([*_around(node, scope), node]):
        for field in ("body", "orelse", "finalbody"):
            block = getattr(outer, field, None)
            if isinstance(block, list) and inner in block:
                yield from block[: block.index(inner)]


def _has_name(node: ast.expr) -> bool:
    """Whether an expression is a name, an attribute of one, or what one holds under a constant key."""
    while isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)):
        node = node.value
    return isinstance(node, ast.Name)


def _where(target: ast.Subscript) -> tuple[list[ast.expr], list[ast.expr]]:
    """The bounds of the slices in an index, and its other parts."""
    parts = elements_of(target.slice)
    bounds = [b for p in parts if isinstance(p, ast.Slice) for b in (p.lower, p.upper, p.step) if b is not None]
    return bounds, [p for p in parts if not isinstance(p, ast.Slice)]


def _may_be_number(value: Value) -> bool:
    return value.is_(*_FIXED) or value.kinds == UNKNOWN.kinds


def _may_be_index(value: Value) -> bool:
    """Whether a tensor lists places, unless it is one of bytes: these select as a mask does."""
    return value.is_tensor and value.dtype == "int"


def moves(target: ast.Subscript, stored: Sequence[str]) -> bool:
    """Whether one of these names is a part of what says where the element is."""
    others = [name for name in stored if name != ast.unparse(target)]
    if not isinstance(target.value, ast.Name) and any("." in name or is_item(name) for name in others):
        return True  # `self.kept[i]` beside `self.kept`, or another name of what holds it
    return not names_in(target).isdisjoint(stored)


def item_value(target: ast.Subscript, scope: Scope) -> ast.Subscript:
    """The element as it is before the write, as an expression."""
    load = copy.copy(target)
    load.ctx = ast.Load()
    memory = scope.value(target.value)
    kept = scope.value(target)
    known = kept if kept.is_tensor else Value(memory.kinds, dtype=memory.dtype, dtype_id=memory.dtype_id)
    scope.facts.values[load] = Value(
        memory.kinds,
        dtype=memory.dtype,
        dtype_id=memory.dtype_id,
        rank=known.rank,
        storage=memory.storage,
        leaves=memory.leaves,
    )
    return load


def judge_item(
    target: ast.Subscript,
    sides: Sequence[Given | None],
    node: ast.If,
    scope: Scope,
    template: Template,
    *,
    mixed: bool,
) -> None:
    """Note what stands in the way of writing an element always, with one of these values; None keeps what it is.

    `mixed`: fixed conditions stand among the tests, so that two numbers may meet in one selection.
    """
    if slot_name(target, scope) is not None:
        judge_slot(target, sides, node, scope, template)
        return
    memory = scope.value(target.value)
    statement = scope.statement(target)
    template.refuse(written_always(memory, statement, node, scope.facts))
    template.refuse(_known(target, memory, scope))
    given = [side for side in sides if side is not None]
    steps = [step for side in given for step in side.steps]
    template.refuse(scope.legality.both_evaluated(steps, scope.facts))
    if len(given) < len(sides):
        template.refuse(_once(target, memory, scope))
        load = item_value(target, scope)
        template.refuse(scope.legality.both_evaluated([load], scope.facts))
        template.refuse(scope.legality.indices([load], scope.facts))
        for part in (target.value, target.slice):
            template.refuse(scope.legality.computed_again(part, scope.facts))
    template.refuse(_fits(target, memory, [scope.value(side.node) for side in given], mixed=mixed or None not in sides))
    template.refuse(scope.legality.derivatives.finite(steps, scope.facts))
    template.refuse(scope.legality.memory.saved(steps, node, scope.facts))
    known = [scope.value(side.node).leaves for side in given]
    alike = len(given) == len(sides) and all(are_same(known[0], other) for other in known)
    if any(known) and not alike:
        reason = f"what is written into `{snippet(target)}` takes part on one side only"
        template.refuse([Obstacle(f"{reason}: its gradient would be zeros instead of None", "gradient-zeros")])


def _known(target: ast.Subscript, memory: Value, scope: Scope) -> Iterator[Obstacle]:
    """Whether the element is proved to be one that can be read and written in any run."""
    if not memory.certain:
        yield Obstacle(f"`{snippet(target.value)}` is not proved to be a tensor", "is-tensor")
    for part in (*_where(target)[0], *_where(target)[1]):
        value = scope.value(part)
        if not value.is_(*_FIXED) and not (value.certain and value.dtype_id in _INDEXES):
            reason = f"`{snippet(part)}` is not proved to say where: a mask selects as many elements as it has true"
            yield Obstacle(reason, "branches-total")


def _once(target: ast.Subscript, memory: Value, scope: Scope) -> Iterator[Obstacle]:
    """Whether each element is read once: one that is put back twice gets its gradient twice."""
    for part in _where(target)[1]:
        value = scope.value(part)
        if memory.leaves and memory.dtype not in ("bool", "int") and not value.is_(*_FIXED) and value.rank != 0:
            yield Obstacle(f"`{snippet(part)}` may name an element twice, whose gradient would count twice")


def _fits(target: ast.Subscript, memory: Value, values: Sequence[Value], *, mixed: bool) -> Iterator[Obstacle]:
    """Whether selecting first and writing then rounds no other way than writing alone."""
    rank = _RANKS.get(memory.dtype or "", -1)
    for value in values:
        number = value.is_(Kind.STATIC, Kind.SIZE)
        if not number and not (value.is_tensor and value.certain):
            likely = value.is_tensor or value.kinds == UNKNOWN.kinds
            reason = f"what is written into `{snippet(target)}` is not proved to be a tensor or a number"
            yield Obstacle(reason, "branches-total" if likely else None)
        if rank < 0 or _RANKS.get(value.dtype or "", 3) > rank:
            yield Obstacle(
                f"what is written into `{snippet(target)}` is not proved to fit its dtype", "same-shape-dtype"
            )
    numbers = [v for v in values if v.is_(Kind.STATIC, Kind.SIZE)]
    beside = [v for v in values if v.is_tensor]
    same = all(v.dtype_id is not None and v.dtype_id == memory.dtype_id for v in beside)
    # Beside the old element, or a tensor of its dtype, a number is rounded once, as it is when it is written.
    alone = mixed and len(numbers) > 1
    if (alone or not same) and not all(v.const is not None and exact(v.const.value) for v in numbers):
        yield Obstacle("a constant is not exact in half precision: as a tensor it is rounded first", "float32-rounding")
    ranks = {v.rank for v in beside}
    if len(beside) > 1 and (len({v.shape_id for v in beside}) > 1 or beside[0].shape_id is None) and ranks != {0}:
        yield Obstacle("the two sides are not proved to have the same shape", "same-shape-dtype")
