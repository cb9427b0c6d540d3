"""CF106: a loop that fills each row of a tensor up to a length from another tensor.

## What it does
Finds loops that write each row of a tensor up to a length from another tensor: `mask[i, :lengths[i]] = value`, from a
length on (`lengths[i]:`), and copies of a row (`out[i, :n] = x[i, :n]`). The loop may run over `range`, `enumerate` or
`zip`, over the lengths or their `tolist()`, and may read the length first (`n = lengths[i].item() + 1`) and compare it
with a number (`if n < out.shape[1]:`). All rows are
written at once, where a range of positions is below the lengths. And loops that write one number between consecutive
items of a tensor, in one dimension or in blocks of two: `mask[..., cu[i - 1] : cu[i], cu[i - 1] : cu[i]] = True`. And
loops that fill one box in each row: `mask[i, box[1] : box[3], box[0] : box[2]] = 1`, or between what is computed of
numbers of the row (`int(box[0] * width)`).

## Why is this bad
A slice needs its end as a Python number, so Dynamo ends the graph at every row (GB0124, GB0033), and because it stands
in a loop it may give up on the whole function. On a GPU each row waits for the device: 32 boxes in pictures of 224 by
224 took 1.77, 1.76 and 2.32 ms, and filled at once 0.06, 0.08 and 0.06 (H200, torch 2.11, a process each, 2026-11-26).

## Example
```python
for i in range(batch_size):
    attention_mask[i, : lengths[i]] = True
```

## Use instead
```python
positions = torch.arange(attention_mask.shape[1], device=attention_mask.device)
attention_mask[positions < lengths.unsqueeze(1)] = True
```

Rows of another tensor are copied with `out.copy_(torch.where(valid, x, out))`. For blocks, `inside` says which
positions lie between two items, and `mask.masked_fill_(inside.float().mT @ inside.float() > 0, True)` fills those of
which some turn has row and column.

## Fix safety
The fix is safe where the tensors are proved to have as many rows as the loop has turns, and the lengths to be integers
in one dimension. Else it needs the assumption `rows-match`: with too few lengths another error is raised, or none. A
copy needs `same-shape-dtype` where the tensors are not proved to have the same shape: a longer row could be copied in
part. Where there are no rows to copy, what is filled requires a gradient all the same (`gradient-zeros`). A length
below zero counts from the end, as in a slice: the code for that is left out where lengths cannot be negative. A tensor
of one dimension raises with another text (`enough-dimensions`). Lengths that are written later are read again by the
backward pass where memory is saved (`no-recompute`). Blocks are the same for all items that do not count from the end
(`not-negative`), whatever their order, also those that overlap or reach behind the tensor. So are boxes, of which an
edge may be cut to a whole number (`int(box[0])`); else they must hold integers (`rows-match`).

Graph breaks: GB0124, GB0033. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value, may_share
from compilefix.codemods.control_flow.block_loop import Blocks, block_code, block_obstacles, blocks_of
from compilefix.codemods.control_flow.box_loop import Boxes, box_code, box_obstacles, box_value, boxes_of
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.control_flow.row_guards import Guard, guard_of, guard_stays
from compilefix.codemods.control_flow.rows import Part, Rows, part_of_row, rows_match, rows_of, with_read
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.names import free_name
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.source.snippets import snippet
from compilefix.source.tree import stored_in


@dataclass(frozen=True)
class _RowFill:
    """`filled[i, :lengths[i]] = value` in a loop.

    source: the tensor of which the value is the same part of its row, `source[i, :lengths[i]]`. guard: the test of the
    length that decides whether the row is written.
    """

    part: Part
    value: ast.expr
    source: ast.expr | None
    guard: Guard | None = None


class RowLoop(Rule):
    """Rows filled one by one up to a length from a tensor."""

    code = "CF106"
    name = "row-loop"
    summary = "loop that fills rows up to lengths from a tensor"
    gb = ("GB0124", "GB0033")
    hints = ("for ",)
    by_hand = "compare `torch.arange` with the bounds, and fill with `torch.where`"
    assumptions = (
        "rows-match",
        "enough-dimensions",
        "branches-total",
        "is-tensor",
        "same-shape-dtype",
        "no-recompute",
        "not-negative",
        "gradient-zeros",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`for` loops that only write parts of rows."""
        for node in scope.of(ast.For):
            if (blocks := blocks_of(node, scope)) is not None:
                yield self._judge_blocks(blocks, scope)
            template = Template()
            if (boxes := boxes_of(node, scope, template)) is not None:
                yield self._judge_boxes(boxes, scope, template)
            rows = rows_of(node.target, node.iter, scope) if not node.orelse else None
            if rows is None:
                continue
            writes = node.body
            if (read := with_read(rows, node.body[0], scope)) is not None and len(writes) > 1:
                rows, writes = read, writes[1:]
            fills = [fill for statement in writes for fill in _row_fills(statement, rows, scope)]
            found = [fill for fill in fills if fill is not None]
            if len(found) == len(fills):
                yield self._judge(node, writes[0], rows, found, scope)

    def _judge_blocks(self, found: Blocks, scope: Scope) -> Finding:
        message = f"each turn reads two items of `{snippet(found.bounds[0])}` to fill a block, and breaks the graph"
        template = Template()
        template.refuse(_left_over(found.loop, scope))
        template.refuse(block_obstacles(found, scope))
        template.refuse(_fits(found.filled, found.value, found.loop, scope))
        at = found.loop.body[-1]
        if template.broken is not None:
            return self.obstructed(scope, at, message, template.broken)
        edit = scope.edit(found.loop, block_code(found, scope, template), **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, at, message, fix)

    def _judge_boxes(self, found: Boxes, scope: Scope, template: Template) -> Finding:
        message = f"each turn reads elements of `{snippet(found.tables[0])}` to fill a box, and breaks the graph"
        template.refuse(_left_over(found.loop, scope))
        template.refuse(box_obstacles(found, scope))
        template.refuse(box_value(found, list(_fits(found.filled, found.value, found.loop, scope)), scope))
        at = found.loop.body[-1]
        if template.broken is not None:
            return self.obstructed(scope, at, message, template.broken)
        edit = scope.edit(found.loop, box_code(found, scope, template), **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, at, message, fix)

    def _judge(self, node: ast.For, at: ast.stmt, rows: Rows, fills: Sequence[_RowFill], scope: Scope) -> Finding:
        message = (
            f"each turn reads an element of `{snippet(fills[0].part.lengths)}` to fill a row, and breaks the graph"
        )
        template = Template()
        template.refuse(_left_over(node, scope))
        for fill in fills:
            template.refuse(_obstacles(node, rows, fill, fills, scope))
        if template.broken is not None:
            return self.obstructed(scope, at, message, template.broken)
        edit = scope.edit(node, _code(fills, scope, template), **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, at, message, fix)


def _row_fills(statement: ast.stmt, rows: Rows, scope: Scope) -> list[_RowFill | None]:
    """What a statement fills, or all of those that a test of the row's length leads to."""
    if not isinstance(statement, ast.If):
        return [_row_fill(statement, rows, scope)]
    guard = guard_of(statement, rows, scope)
    return [_row_fill(inner, rows, scope, guard) for inner in statement.body] if guard is not None else [None]


def _row_fill(statement: ast.stmt, rows: Rows, scope: Scope, guard: Guard | None = None) -> _RowFill | None:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    part = part_of_row(statement.targets[0], rows, scope)
    if part is None:
        return None
    copied = part_of_row(statement.value, rows, scope)
    same = copied is not None and ast.dump(copied.bounds) == ast.dump(part.bounds)
    return _RowFill(part, statement.value, copied.tensor if copied is not None and same else None, guard)


def _left_over(node: ast.For, scope: Scope) -> Iterator[Obstacle]:
    stored = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    kept = next((name for name in stored if live_after(name, node, scope)), None)
    if kept is not None:
        yield Obstacle(f"`{kept}` is read after the loop")


def _obstacles(
    node: ast.For, rows: Rows, fill: _RowFill, fills: Sequence[_RowFill], scope: Scope
) -> Iterator[Obstacle]:
    filled, lengths = scope.value(fill.part.tensor), scope.value(fill.part.lengths)
    shown = snippet(fill.part.tensor)
    yield from rows_match(rows, fill.part, scope)
    if fill.guard is not None:
        yield from guard_stays(fill.guard, fill.part, node, scope)
    copied = fill.source is not None
    yield from _copies(node, fill, fills, scope) if copied else _fits(fill.part.tensor, fill.value, node, scope)
    if not filled.is_tensor:
        yield Obstacle(f"`{shown}` is not proved to be a tensor of rows")
    if overlaps(fill.part.tensor, scope):
        yield Obstacle(f"rows of `{shown}` may share memory: several of them cannot be written at once")
    if any(_other_name(fill.part.tensor, other.part.tensor, scope) for other in fills):
        yield Obstacle(f"`{shown}` may share memory with what else is written, in another order then")
    if any(may_share(scope.value(other.part.tensor).storage, lengths.storage) for other in fills):
        yield Obstacle("the lengths may share memory with the rows")
    yield from scope.legality.memory.write_in_place(shown, filled)


def _other_name(one: ast.expr, other: ast.expr, scope: Scope) -> bool:
    """Whether two names may stand for the same memory."""
    return ast.dump(one) != ast.dump(other) and may_share(scope.value(one).storage, scope.value(other).storage)


def _same_in_each_turn(number: ast.expr, loop: ast.For, scope: Scope) -> Iterator[Obstacle]:
    """Whether what is written is the same for each row, and nothing notices how often it is computed."""
    does = scope.legality.effects.of(number, scope.facts)
    reason = does.random or does.mutates or does.host or does.unknown or does.raises
    if reason is not None:
        yield Obstacle(f"`{snippet(number)}` is computed in each turn, and is not free of effects: {reason}")
    stored = stored_in(loop)
    other = next((n.id for n in ast.walk(number) if isinstance(n, ast.Name) and n.id in stored), None)
    if other is not None:
        yield Obstacle(f"`{snippet(number)}` is written, and `{other}` is another one in each turn")


def _fits(tensor: ast.expr, number: ast.expr, loop: ast.For, scope: Scope) -> Iterator[Obstacle]:
    """Whether a number is written that every element of the tensor can be, the same in each turn."""
    yield from _same_in_each_turn(number, loop, scope)
    filled, value = scope.value(tensor), scope.value(number)
    ranks = {"bool": 0, "int": 1, "float": 2}
    reason = f"`{snippet(number)}` is not proved to be a number that fits the dtype of the rows"
    if value.const is None and value.is_(Kind.STATIC, Kind.SIZE) and value.dtype in (*ranks, None):
        yield Obstacle(reason, "same-shape-dtype")
    elif value.const is None or value.dtype not in ranks:
        yield Obstacle(reason)
    elif filled.dtype in ranks:
        if ranks[value.dtype] > ranks[filled.dtype]:
            yield Obstacle(reason)
    elif value.const.value not in (0, 1):
        yield Obstacle(reason, "same-shape-dtype")


def _copies(node: ast.For, fill: _RowFill, fills: Sequence[_RowFill], scope: Scope) -> Iterator[Obstacle]:
    """Whether parts of rows of one tensor may be copied at once: of the same shape and dtype as what is written."""
    assert fill.source is not None
    filled, source = _before(fill.part.tensor, node, scope), _before(fill.source, node, scope)
    if not isinstance(fill.source, ast.Name | ast.Attribute):
        yield Obstacle("the rows are computed anew in each turn: give them a name")
    if not source.is_tensor or not source.certain:
        reason = f"`{snippet(fill.source)}` is not proved to be a tensor of rows"
        yield Obstacle(reason, "branches-total" if source.is_tensor else None)
    if any(may_share(scope.value(other.part.tensor).storage, source.storage) for other in fills):
        yield Obstacle(f"`{snippet(fill.source)}` may share memory with what is written")
    if not source.leaves <= filled.leaves:
        reason = f"`{snippet(fill.part.tensor)}` would require a gradient also where there are no rows to copy"
        yield Obstacle(reason, "gradient-zeros")
    shape, dtype = filled.shape_id == source.shape_id, filled.dtype_id == source.dtype_id
    if None in (filled.shape_id, filled.dtype_id) or not (shape and dtype):
        reason = f"`{snippet(fill.source)}` is not proved to have the shape and dtype of `{snippet(fill.part.tensor)}`"
        yield Obstacle(reason, "same-shape-dtype")


def _before(node: ast.expr, loop: ast.For, scope: Scope) -> Value:
    """What is known of a tensor before the loop, whose writes keep its shape and dtype."""
    known = scope.facts.env_before.get(loop, {}).get(node.id) if isinstance(node, ast.Name) else None
    return scope.value(node) if known is None else known


def _code(fills: Sequence[_RowFill], scope: Scope, template: Template) -> str:
    lines: list[str] = []
    taken: list[str] = []
    compared: dict[tuple[str, str, int], tuple[str, str]] = {}
    computed = next((f.part.lengths for f in fills if not isinstance(f.part.lengths, ast.Name | ast.Attribute)), None)
    given = None
    if computed is not None and len(fills) > 1:
        # Once, as in the head of the loop: the writes may change what the lengths are computed from.
        given = free_name("lengths", scope)
        taken.append(given)
        lines.append(f"{given} = {template.use(computed)}")
    for fill in fills:
        key = ast.dump(fill.part.tensor), ast.dump(fill.part.lengths), fill.part.offset
        if key not in compared:
            positions, ends = free_name("positions", scope, taken), free_name("ends", scope, taken)
            taken += [positions, ends]
            shown = given if given is not None and fill.part.lengths is computed else None
            lengths = shown or template.use(fill.part.lengths, operand=True)
            before, compared[key] = _compared(fill, lengths, positions, ends, scope, template)
            lines += before
        lines += _written(fill, compared[key], taken, scope, template)
    return "\n".join(lines)


def _compared(
    fill: _RowFill, lengths: str, positions: str, ends: str, scope: Scope, template: Template
) -> tuple[list[str], tuple[str, str]]:
    """The lines that make the positions in a row and the ends of the rows, and the code of both."""
    torch, sizes = torch_name(scope), Sizes(scope)
    filled = template.use(fill.part.tensor)
    lines = [f"{positions} = {torch}.arange({filled}.shape[1], device={filled}.device)"]
    if fill.part.offset:
        lengths = f"({lengths} {'-' if fill.part.offset < 0 else '+'} {abs(fill.part.offset)})"
    column = _as_column(fill, scope)
    code = f"{lengths}.to({filled}.device){column}"
    if sizes.same_device(fill.part.tensor, fill.part.lengths):
        code = f"{lengths}{column}"
    if sizes.never_negative(fill.part.lengths) and fill.part.offset >= 0:
        return lines, (positions, code)
    wide = scope.value(fill.part.lengths).dtype_id in ("int32", "int64")
    lines.append(f"{ends} = {code}{'' if wide else '.long()'}")
    lines.append(f"{ends} = {torch}.where({ends} < 0, {ends} + {filled}.shape[1], {ends})")
    return lines, (positions, ends)


def _as_column(fill: _RowFill, scope: Scope) -> str:
    """How the lengths come to stand below each other; some do already: `mask.sum(-1, keepdim=True)`."""
    return ".unsqueeze(1)" if scope.value(fill.part.lengths).rank == 1 else ".reshape(-1, 1)"


def _written(
    fill: _RowFill, compared: tuple[str, str], taken: list[str], scope: Scope, template: Template
) -> Iterator[str]:
    positions, ends = compared
    filled = template.use(fill.part.tensor)
    selected = f"{positions} {'<' if fill.part.below else '>='} {ends}"
    if fill.guard is not None:
        lengths = template.use(fill.part.lengths, operand=True)
        asked = fill.guard.code(lengths, template)
        selected = f"({selected}) & ({asked}).to({filled}.device){_as_column(fill, scope)}"
    if fill.source is None:
        yield f"{filled}[{selected}] = {template.use(fill.value)}"
        return
    source = template.use(fill.source)
    if scope.value(fill.source).rank != 2:
        name = free_name("selected", scope, taken)
        taken.append(name)
        yield f"{name} = {selected}"
        selected = f"{name}[(...,) + (None,) * ({source}.dim() - 2)]"
    yield f"{filled}.copy_({torch_name(scope)}.where({selected}, {source}, {filled}))"
