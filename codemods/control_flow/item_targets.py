"""`p[i] = a` in the branches of an `if`: the element is always written, with the selected value.

if t.any():                      p[i] = torch.where(t.any(), a, 0.0)
    p[i] = a
else:
    p[i] = 0.0
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from compilefix.analysis.in_place import written_always
from compilefix.analysis.leaves import are_same
from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Given, Template, exact
from compilefix.source.snippets import snippet

_RANKS = {"bool": 0, "int": 1, "float": 2}


def is_item(name: str) -> bool:
    """Whether the name of a target is that of an element, `p[i]`."""
    return name.endswith("]")


def item_name(target: ast.Subscript, scope: Scope) -> str | None:
    """The name of an element as a target; None where a write into it is no write into one place of a tensor."""
    memory = scope.value(target.value)
    if not isinstance(target.value, ast.Name) or not (memory.is_tensor and memory.certain):
        return None
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    bounds = [b for p in parts if isinstance(p, ast.Slice) for b in (p.lower, p.upper, p.step) if b is not None]
    places = [p for p in parts if not isinstance(p, ast.Slice)]
    fixed = all(scope.value(n).is_(Kind.STATIC, Kind.SIZE, Kind.NONE) for n in (*bounds, *places))
    return ast.unparse(target) if fixed else None


def moves(target: ast.Subscript, stored: Sequence[str]) -> bool:
    """Whether one of these names is a part of what says where the element is."""
    return any(isinstance(n, ast.Name) and n.id in stored for n in ast.walk(target))


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
    memory = scope.value(target.value)
    statement = scope.statement(target)
    template.refuse(written_always(memory, statement, node, scope.facts))
    given = [side for side in sides if side is not None]
    steps = [step for side in given for step in side.steps]
    template.refuse(scope.legality.both_evaluated(steps, scope.facts))
    if len(given) < len(sides):
        load = item_value(target, scope)
        template.refuse(scope.legality.both_evaluated([load], scope.facts))
        template.refuse(scope.legality.computed_again(target.slice, scope.facts))
    template.refuse(_fits(target, memory, [scope.value(side.node) for side in given], mixed=mixed or None not in sides))
    template.refuse(scope.legality.finite(steps, scope.facts))
    template.refuse(scope.legality.saved(steps, node, scope.facts))
    known = [scope.value(side.node).leaves for side in given]
    alike = len(given) == len(sides) and all(are_same(known[0], other) for other in known)
    if any(known) and not alike:
        reason = f"what is written into `{snippet(target)}` takes part on one side only"
        template.refuse([Obstacle(f"{reason}: its gradient would be zeros instead of None", "gradient-zeros")])


def _fits(target: ast.Subscript, memory: Value, values: Sequence[Value], *, mixed: bool) -> Iterator[Obstacle]:
    """Whether selecting first and writing then rounds no other way than writing alone."""
    rank = _RANKS.get(memory.dtype or "", -1)
    for value in values:
        number = value.is_(Kind.STATIC, Kind.SIZE)
        if not number and not (value.is_tensor and value.certain):
            yield Obstacle(f"what is written into `{snippet(target)}` is not proved to be a tensor or a number")
        elif rank < 0 or _RANKS.get(value.dtype or "", 3) > rank:
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
