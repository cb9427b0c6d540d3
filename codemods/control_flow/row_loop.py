"""CF106: a loop that fills each row of a tensor up to a length from another tensor.

## What it does
Finds loops that write each row of a tensor up to a length from another tensor: `mask[i, :lengths[i]] = value`, from a
length on (`lengths[i]:`), and copies of a row (`out[i, :n] = x[i, :n]`). The loop may run over `range`, `enumerate` or
`zip`, over the lengths or their `tolist()`, and may read the length first (`n = lengths[i].item()`). All rows are
written at once, where a range of positions is below the lengths.

## Why is this bad
A slice needs its end as a Python number, so Dynamo ends the graph at every row (GB0124, GB0033), and because it stands
in a loop it may give up on the whole function. On a GPU each row waits for the device.

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

Rows of another tensor are copied with `out.copy_(torch.where(valid, x, out))`.

## Fix safety
The fix is safe where the tensors are proved to have as many rows as the loop has turns, and the lengths to be integers
in one dimension. Else it needs the assumption `rows-match`: with too few lengths another error is raised, or none. A
copy needs `same-shape-dtype` where the tensors are not proved to have the same shape: a longer row could be copied in
part. A length below zero counts from the end, as in a slice: the code for that is left out where lengths cannot be
negative.

Graph breaks: GB0124, GB0033. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Value, may_share
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import Template, imports, read_of, torch_name
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class _Loop:
    """A loop over rows: the name of their number or of the row itself, and where the lengths come from.

    turns: what says how often it runs. rows: the tensor whose rows `zip` gives. length: the name of the row's length.
    lengths: the tensor that the head or a read in the body takes them from. writes: the statements behind that read.
    """

    counter: str
    turns: ast.expr
    rows: ast.expr | None
    length: str | None
    lengths: ast.expr | None
    writes: tuple[ast.stmt, ...]


@dataclass(frozen=True)
class _RowFill:
    """`filled[i, :lengths[i]] = value` in a loop; `below` is False for `lengths[i]:`.

    source: the tensor of which the value is the same part of its row, `source[i, :lengths[i]]`.
    """

    filled: ast.expr
    lengths: ast.expr
    value: ast.expr
    source: ast.expr | None
    below: bool


class RowLoop(Rule):
    """Rows filled one by one up to a length from a tensor."""

    code = "CF106"
    name = "row-loop"
    summary = "loop that fills rows up to lengths from a tensor"
    gb = ("GB0124", "GB0033")
    hints = ("for ",)
    assumptions = ("rows-match", "branches-total", "same-shape-dtype")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`for` loops that only write parts of rows."""
        for node in scope.of(ast.For):
            loop = _loop(node, scope)
            fills = [_row_fill(statement, loop, scope) for statement in loop.writes] if loop is not None else []
            found = [fill for fill in fills if fill is not None]
            if loop is not None and found and len(found) == len(fills):
                yield self._judge(node, loop, found, scope)

    def _judge(self, node: ast.For, loop: _Loop, fills: Sequence[_RowFill], scope: Scope) -> Finding:
        message = f"each turn reads an element of `{snippet(fills[0].lengths)}` to fill a row, and breaks the graph"
        template = Template()
        template.refuse(_left_over(node, scope))
        for fill in fills:
            template.refuse(_obstacles(node, loop, fill, fills, scope))
        if template.broken is not None:
            return self.declined(scope, loop.writes[0], message, template.broken)
        edit = scope.edit(node, _code(fills, scope, template), **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, loop.writes[0], message, fix)


def _loop(node: ast.For, scope: Scope) -> _Loop | None:
    head = node.iter
    if node.orelse or not isinstance(head, ast.Call) or head.keywords:
        return None
    over = scope.callee(head)
    rows: ast.expr | None = None
    if over == "range" and len(head.args) == 1 and isinstance(node.target, ast.Name):
        return _with_read(_Loop(node.target.id, head.args[0], None, None, None, tuple(node.body)), scope)
    pair = node.target.elts if isinstance(node.target, ast.Tuple) else []
    if len(pair) != 2 or not isinstance(pair[0], ast.Name) or not isinstance(pair[1], ast.Name):
        return None
    if over == "enumerate" and len(head.args) == 1:
        given = head.args[0]
    elif over == "zip" and len(head.args) == 2:
        rows, given = head.args
    else:
        return None
    lengths = _listed(given, scope) or given
    return _Loop(pair[0].id, lengths, rows, pair[1].id, lengths, tuple(node.body))


def _listed(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor in `lengths.tolist()`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
        return node.func.value if scope.callee(node) == "Tensor.tolist" else None
    return None


def _with_read(loop: _Loop, scope: Scope) -> _Loop:
    """The loop whose first statement reads the row's length: `n = lengths[i].item()`."""
    first, *rest = loop.writes
    if rest and isinstance(first, ast.Assign) and len(first.targets) == 1 and isinstance(first.targets[0], ast.Name):
        lengths = _item(read_of(first.value, scope) or first.value, loop.counter)
        if lengths is not None:
            return replace(loop, length=first.targets[0].id, lengths=lengths, writes=tuple(rest))
    return loop


def _item(node: ast.expr, counter: str) -> ast.expr | None:
    """The tensor in `lengths[i]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Name) and node.slice.id == counter:
        return node.value
    return None


def _row_fill(statement: ast.stmt, loop: _Loop, scope: Scope) -> _RowFill | None:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    found = _part_of_row(statement.targets[0], loop)
    if found is None or found[1].step is not None or (found[1].lower is None) == (found[1].upper is None):
        return None
    filled, part = found
    end = part.upper or part.lower
    assert end is not None
    inner = read_of(end, scope) or end
    if loop.length is not None and isinstance(inner, ast.Name) and inner.id == loop.length:
        lengths = loop.lengths
    else:
        lengths = _item(inner, loop.counter) if loop.rows is None else None
    if lengths is None or not scope.value(lengths).is_tensor:
        return None
    copied = _part_of_row(statement.value, loop)
    source = copied[0] if copied is not None and ast.dump(copied[1]) == ast.dump(part) else None
    return _RowFill(filled, lengths, statement.value, source, part.upper is not None)


def _part_of_row(node: ast.expr, loop: _Loop) -> tuple[ast.expr, ast.Slice] | None:
    """The tensor and the slice in `m[i, a:b]`, `m[i, a:b, :]`, `m[i][a:b]`, and in `row[a:b]` with the rows of `m`."""
    if not isinstance(node, ast.Subscript):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    owner, row = node.value, None
    if loop.rows is not None:
        row, owner = owner, loop.rows
    elif isinstance(owner, ast.Subscript):
        row, owner = owner.slice, owner.value
    elif len(parts) > 1:
        row, parts = parts[0], parts[1:]
    whole = all(ast.unparse(part) in (":", "...") for part in parts[1:])
    if not isinstance(row, ast.Name) or row.id != loop.counter or not whole or not isinstance(parts[0], ast.Slice):
        return None
    return owner, parts[0]


def _left_over(node: ast.For, scope: Scope) -> Iterator[Obstacle]:
    stored = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    kept = next((name for name in stored if live_after(name, node, scope)), None)
    if kept is not None:
        yield Obstacle(f"`{kept}` is read after the loop")


def _obstacles(
    node: ast.For, loop: _Loop, fill: _RowFill, fills: Sequence[_RowFill], scope: Scope
) -> Iterator[Obstacle]:
    filled, lengths = scope.value(fill.filled), scope.value(fill.lengths)
    anew = [fill.filled, *([] if fill.source is None else [fill.source])]
    if fill.lengths is not loop.turns:
        anew.append(fill.lengths)
    if not all(isinstance(n, ast.Name | ast.Attribute) for n in anew):
        yield Obstacle("the rows or lengths are computed anew in each turn: give them a name")
    yield from _copies(node, fill, fills, scope) if fill.source is not None else _fits(fill, scope)
    if not filled.is_tensor:
        yield Obstacle(f"`{snippet(fill.filled)}` is not proved to be a tensor of rows")
    if any(may_share(scope.value(other.filled).storage, lengths.storage) for other in fills):
        yield Obstacle("the lengths may share memory with the rows")
    if filled.origin and filled.leaves and filled.dtype == "float":
        yield Obstacle(f"`{snippet(fill.filled)}` may require a gradient, and a write into it is another error then")
    if lengths.dtype != "int":
        yield Obstacle(f"`{snippet(fill.lengths)}` is not proved to hold integers", "rows-match")
    sizes = Sizes(scope)
    turns = sizes.rows(loop.turns) if scope.value(loop.turns).is_tensor else sizes.size(loop.turns)
    rows = {turns, sizes.rows(fill.filled), sizes.rows(fill.lengths)}
    if None in rows or len(rows) != 1 or lengths.rank != 1:
        yield Obstacle(
            f"`{snippet(fill.lengths)}` and `{snippet(fill.filled)}` are not proved to have one row for each turn",
            "rows-match",
        )


def _fits(fill: _RowFill, scope: Scope) -> Iterator[Obstacle]:
    """Whether a number is written that every element of the tensor can be."""
    filled, value = scope.value(fill.filled), scope.value(fill.value)
    ranks = {"bool": 0, "int": 1, "float": 2}
    reason = f"`{snippet(fill.value)}` is not proved to be a number that fits the dtype of the rows"
    if value.const is None or value.dtype not in ranks:
        yield Obstacle(reason)
    elif filled.dtype in ranks:
        if ranks[value.dtype] > ranks[filled.dtype]:
            yield Obstacle(reason)
    elif value.const.value not in (0, 1):
        yield Obstacle(reason, "same-shape-dtype")


def _copies(node: ast.For, fill: _RowFill, fills: Sequence[_RowFill], scope: Scope) -> Iterator[Obstacle]:
    """Whether parts of rows of one tensor may be copied at once: of the same shape and dtype as what is written."""
    assert fill.source is not None
    filled, source = _before(fill.filled, node, scope), _before(fill.source, node, scope)
    if not source.is_tensor:
        yield Obstacle(f"`{snippet(fill.source)}` is not proved to be a tensor of rows")
    if any(may_share(scope.value(other.filled).storage, source.storage) for other in fills):
        yield Obstacle(f"`{snippet(fill.source)}` may share memory with what is written")
    shape, dtype = filled.shape_id == source.shape_id, filled.dtype_id == source.dtype_id
    if None in (filled.shape_id, filled.dtype_id) or not (shape and dtype):
        reason = f"`{snippet(fill.source)}` is not proved to have the shape and dtype of `{snippet(fill.filled)}`"
        yield Obstacle(reason, "same-shape-dtype")


def _before(node: ast.expr, loop: ast.For, scope: Scope) -> Value:
    """What is known of a tensor before the loop, whose writes keep its shape and dtype."""
    known = scope.facts.env_before.get(loop, {}).get(node.id) if isinstance(node, ast.Name) else None
    return scope.value(node) if known is None else known


def _code(fills: Sequence[_RowFill], scope: Scope, template: Template) -> str:
    lines: list[str] = []
    taken: list[str] = []
    compared: dict[tuple[str, str], tuple[str, str]] = {}
    for fill in fills:
        key = ast.dump(fill.filled), ast.dump(fill.lengths)
        if key not in compared:
            positions, ends = free_name("positions", scope, taken), free_name("ends", scope, taken)
            taken += [positions, ends]
            before, compared[key] = _compared(fill, positions, ends, scope, template)
            lines += before
        lines += _written(fill, compared[key], taken, scope, template)
    return "\n".join(lines)


def _compared(
    fill: _RowFill, positions: str, ends: str, scope: Scope, template: Template
) -> tuple[list[str], tuple[str, str]]:
    """The lines that make the positions in a row and the ends of the rows, and the code of both."""
    torch, sizes = torch_name(scope), Sizes(scope)
    filled, lengths = template.use(fill.filled), template.use(fill.lengths, operand=True)
    lines = [f"{positions} = {torch}.arange({filled}.shape[1], device={filled}.device)"]
    code = f"{lengths}.to({filled}.device).unsqueeze(1)"
    if sizes.same_device(fill.filled, fill.lengths):
        code = f"{lengths}.unsqueeze(1)"
    if sizes.never_negative(fill.lengths):
        return lines, (positions, code)
    wide = scope.value(fill.lengths).dtype_id in ("int32", "int64")
    lines.append(f"{ends} = {code}{'' if wide else '.long()'}")
    lines.append(f"{ends} = {torch}.where({ends} < 0, {ends} + {filled}.shape[1], {ends})")
    return lines, (positions, ends)


def _written(
    fill: _RowFill, compared: tuple[str, str], taken: list[str], scope: Scope, template: Template
) -> Iterator[str]:
    positions, ends = compared
    filled, selected = template.use(fill.filled), f"{positions} {'<' if fill.below else '>='} {ends}"
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
