"""CF106: a loop that fills each row of a tensor up to a length from another tensor.

## What it does
Finds `for i in range(len(lengths)): mask[i, :lengths[i]] = value`, also from a length on (`lengths[i]:`) and with
`enumerate`, and writes all rows at once where a range of positions is below the lengths.

## Why is this bad
A slice needs its end as a Python number, so Dynamo ends the graph at every row (GB0124), and because it stands in a
loop it may give up on the whole function. On a GPU each row waits for the device.

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

## Fix safety
The fix is safe where the tensors are proved to have as many rows as the loop has turns, and the lengths to be integers
in one dimension. Else it needs the assumption `rows-match`: with too few lengths another error is raised, or none. A
length below zero counts from the end, as in a slice: the code for that is left out where lengths cannot be negative.

Graph breaks: GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import may_share
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import Template, imports, read_of, torch_name
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class _RowFill:
    """`filled[i, :lengths[i]] = value` in a loop of `turns` over `i`; `below` is False for `lengths[i]:`."""

    filled: ast.expr
    lengths: ast.expr
    value: ast.expr
    below: bool
    turns: ast.expr
    counter: str


class RowLoop(Rule):
    """Rows filled one by one up to a length from a tensor."""

    code = "CF106"
    name = "row-loop"
    summary = "loop that fills rows up to lengths from a tensor"
    gb = ("GB0124",)
    hints = ("for ",)
    assumptions = ("rows-match", "branches-total")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`for` loops whose only statement fills a row."""
        for node in scope.of(ast.For):
            fill = _row_fill(node, scope)
            if fill is not None:
                yield self._judge(node, fill, scope)

    def _judge(self, node: ast.For, fill: _RowFill, scope: Scope) -> Finding:
        message = f"each turn reads an element of `{snippet(fill.lengths)}` to fill a row, and breaks the graph"
        template = Template()
        template.refuse(_obstacles(node, fill, scope))
        if template.broken is not None:
            return self.declined(scope, node.body[0], message, template.broken)
        edit = scope.edit(node, _code(fill, scope, template), **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, node.body[0], message, fix)


def _row_fill(node: ast.For, scope: Scope) -> _RowFill | None:
    if (
        len(node.body) != 1
        or node.orelse
        or not isinstance(node.body[0], ast.Assign)
        or not isinstance(node.iter, ast.Call)
    ):
        return None
    assign, head = node.body[0], node.iter
    over = scope.callee(head)
    length: str | None = None
    if over == "range" and len(head.args) == 1 and isinstance(node.target, ast.Name):
        counter, turns = node.target.id, head.args[0]
    elif (
        over == "enumerate"
        and len(head.args) == 1
        and isinstance(node.target, ast.Tuple)
        and len(node.target.elts) == 2
    ):
        first, second = node.target.elts
        if not (isinstance(first, ast.Name) and isinstance(second, ast.Name)):
            return None
        counter, turns, length = first.id, head.args[0], second.id
    else:
        return None
    found = _row_slice(assign.targets[0], counter) if len(assign.targets) == 1 else None
    if found is None or found[1].step is not None or (found[1].lower is None) == (found[1].upper is None):
        return None
    filled, part = found
    end = part.upper or part.lower
    assert end is not None
    lengths: ast.expr | None = None
    inner = read_of(end, scope) or end
    if length is not None and isinstance(inner, ast.Name) and inner.id == length:
        lengths = head.args[0]
    elif isinstance(inner, ast.Subscript) and isinstance(inner.slice, ast.Name) and inner.slice.id == counter:
        lengths = inner.value
    if lengths is None or not scope.value(lengths).is_tensor:
        return None
    return _RowFill(filled, lengths, assign.value, part.upper is not None, turns, counter)


def _row_slice(target: ast.expr, counter: str) -> tuple[ast.expr, ast.Slice] | None:
    """The tensor and the slice in `m[i, a:b]` and `m[i][a:b]`."""
    if not isinstance(target, ast.Subscript):
        return None
    index = target.slice
    if isinstance(index, ast.Tuple) and len(index.elts) == 2 and isinstance(index.elts[1], ast.Slice):
        row, part, owner = index.elts[0], index.elts[1], target.value
    elif isinstance(index, ast.Slice) and isinstance(target.value, ast.Subscript):
        row, part, owner = target.value.slice, index, target.value.value
    else:
        return None
    return (owner, part) if isinstance(row, ast.Name) and row.id == counter else None


def _obstacles(node: ast.For, fill: _RowFill, scope: Scope) -> Iterator[Obstacle]:
    filled, lengths, value = scope.value(fill.filled), scope.value(fill.lengths), scope.value(fill.value)
    if not all(isinstance(n, ast.Name | ast.Attribute) for n in (fill.filled, fill.lengths)):
        yield Obstacle("the rows or lengths are computed anew in each turn: give them a name")
    names = [n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)]
    kept = next((name for name in names if live_after(name, node, scope)), None)
    if kept is not None:
        yield Obstacle(f"`{kept}` is read after the loop")
    ranks = {"bool": 0, "int": 1, "float": 2}
    constant = value.const is not None and value.dtype in ranks
    if not constant or filled.dtype not in ranks or ranks[value.dtype or ""] > ranks[filled.dtype]:
        yield Obstacle(f"`{snippet(fill.value)}` is not proved to be a number that fits the dtype of the rows")
    if not filled.is_tensor or filled.rank is None or filled.rank < 2:
        yield Obstacle(f"`{snippet(fill.filled)}` is not proved to be a tensor of rows")
    if may_share(filled.storage, lengths.storage):
        yield Obstacle("the lengths may share memory with the rows")
    if filled.origin and filled.leaves and filled.dtype == "float":
        yield Obstacle(f"`{snippet(fill.filled)}` may require a gradient, and a write into it is another error then")
    if lengths.dtype != "int":
        yield Obstacle(f"`{snippet(fill.lengths)}` is not proved to hold integers", "rows-match")
    sizes = Sizes(scope)
    turns = sizes.rows(fill.turns) if scope.value(fill.turns).is_tensor else sizes.size(fill.turns)
    rows = (turns, sizes.rows(fill.filled), sizes.rows(fill.lengths))
    if None in rows or len(set(rows)) != 1 or lengths.rank != 1:
        yield Obstacle(
            f"`{snippet(fill.lengths)}` and `{snippet(fill.filled)}` are not proved to have one row for each turn",
            "rows-match",
        )


def _code(fill: _RowFill, scope: Scope, template: Template) -> str:
    torch, sizes = torch_name(scope), Sizes(scope)
    filled, lengths = template.use(fill.filled), template.use(fill.lengths)
    positions = free_name("positions", scope)
    lines = [f"{positions} = {torch}.arange({filled}.shape[1], device={filled}.device)"]
    ends = f"{lengths}.to({filled}.device).unsqueeze(1)"
    if sizes.same_device(fill.filled, fill.lengths):
        ends = f"{lengths}.unsqueeze(1)"
    if not sizes.never_negative(fill.lengths):
        name = free_name("ends", scope)
        wide = scope.value(fill.lengths).dtype_id in ("int32", "int64")
        lines.append(f"{name} = {ends}{'' if wide else '.long()'}")
        lines.append(f"{name} = {torch}.where({name} < 0, {name} + {filled}.shape[1], {name})")
        ends = name
    lines.append(f"{filled}[{positions} {'<' if fill.below else '>='} {ends}] = {template.use(fill.value)}")
    return "\n".join(lines)
