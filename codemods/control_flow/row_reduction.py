"""CF107: rows that are cut at a length from a tensor, reduced, and stacked.

## What it does
Finds `torch.stack([x[i, :lengths[i]].mean(0) for i in range(len(x))])`, also with `enumerate` or `zip` over the lengths
or their `tolist()`, the loop that appends each result to a list which is then stacked, and the one that writes it into
a row (`out[i] = x[i, : lengths[i]].mean(0)`). All rows are reduced at once, with the positions outside of the slice
made to count for nothing.

## Why is this bad
A slice needs its end as a Python number, so Dynamo ends the graph at every row (GB0124, GB0033), and because it stands
in a loop it may give up on the whole function. On a GPU each row waits for the device.

## Example
```python
pooled = torch.stack([x[i, :n].sum(0) for i, n in enumerate(lengths.tolist())])
```

## Use instead
```python
pooled = torch.where((torch.arange(x.shape[1], device=x.device) < lengths.unsqueeze(1))[..., None], x, 0).sum(1)
```

## Fix safety
Sums and means are added in another order (`summation-order`); the maximum of an empty slice raises, and is infinite
then (`mask-not-empty`). A length below zero would count from the end (`not-negative`). Where the tensor and the lengths
are not proved to have one row for each turn the fix needs `rows-match`: with other sizes another error is raised, or
none. A stack of no rows raises, and the rewritten code gives a tensor without rows (`dimension-not-empty`).
A tensor of one dimension raises with another text (`enough-dimensions`). Lengths that are written later are read again
by the backward pass where memory is saved (`no-recompute`). What is written into must have the dimensions of what is
written (`same-shape-dtype`); without rows it requires a gradient all the same (`gradient-zeros`).

Graph breaks: GB0124, GB0033. torch: all supported versions.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import may_share
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.control_flow.rows import Part, Rows, part_of_row, rows_match, rows_of, with_read
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.host_reads.reduced_slices import counts_from_end, neutral, reduced_by
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name, where
from compilefix.source.snippets import snippet
from compilefix.source.tree import stored_in

_KINDS = frozenset({"sum", "mean", "max", "min", "amax", "amin", "any", "all"})


@dataclass(frozen=True)
class _Reduced:
    """What each turn makes of its row. total: whether it reduces all of it. taken: `.values` behind a maximum."""

    part: Part
    kind: str
    total: bool
    taken: str


class RowReduction(Rule):
    """Rows reduced one by one up to a length from a tensor."""

    code = "CF107"
    name = "row-reduction"
    summary = "rows cut at lengths from a tensor, reduced one by one and stacked"
    gb = ("GB0124", "GB0033")
    hints = ("stack", "for ")
    assumptions = (
        "rows-match",
        "enough-dimensions",
        "no-recompute",
        "dimension-not-empty",
        "branches-total",
        "is-tensor",
        "not-negative",
        "summation-order",
        "mask-not-empty",
        "same-shape-dtype",
        "gradient-zeros",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of `torch.stack` on a list with a reduced row for each turn, and loops that write one in each turn."""
        for loop in scope.of(ast.For):
            yield from self._written(loop, scope)
        for call in scope.of(ast.Call):
            if scope.callee(call) != "torch.stack" or not call.args or not _first_dimension(call):
                continue
            listed = call.args[0]
            if isinstance(listed, ast.ListComp):
                yield from self._comprehension(call, listed, scope)
            elif isinstance(listed, ast.Name):
                yield from self._list(call, listed, scope)

    def _comprehension(self, call: ast.Call, listed: ast.ListComp, scope: Scope) -> Iterator[Finding]:
        generator = listed.generators[0]
        if len(listed.generators) > 1 or generator.ifs or generator.is_async:
            return
        rows = rows_of(generator.target, generator.iter, scope)
        found = _reduced(listed.elt, rows, scope) if rows is not None else None
        if rows is not None and found is not None:
            yield self._judge(call, listed.elt, rows, found, (), scope)

    def _list(self, call: ast.Call, listed: ast.Name, scope: Scope) -> Iterator[Finding]:
        loop = _appending(listed, call, scope)
        if loop is None:
            return
        rows, body = rows_of(loop.target, loop.iter, scope), loop.body
        if rows is not None and len(body) == 2 and (read := with_read(rows, body[0], scope)) is not None:
            rows, body = read, body[1:]
        item = _appended(body[-1], listed.id)
        found = _reduced(item, rows, scope) if rows is not None and item is not None and len(body) == 1 else None
        if rows is None or found is None or item is None:
            return
        names = stored_in(loop)
        if any(live_after(name, loop, scope) for name in names):
            return
        if not _evaluated_first(call, scope):
            return
        store = scope.statement(scope.names(listed.id, stores=True)[0])
        yield self._judge(call, item, rows, found, (store, loop), scope)

    def _written(self, loop: ast.For, scope: Scope) -> Iterator[Finding]:
        """`out[i] = x[i, :lengths[i]].mean(0)`, where that is all the loop does."""
        rows, body = rows_of(loop.target, loop.iter, scope), loop.body
        if rows is not None and len(body) == 2 and (read := with_read(rows, body[0], scope)) is not None:
            rows, body = read, body[1:]
        write = body[0]
        if rows is None or loop.orelse or len(body) != 1 or not isinstance(write, ast.Assign):
            return
        target = write.targets[0]
        if len(write.targets) != 1 or not isinstance(target, ast.Subscript) or rows.tensor is not None:
            return
        if not isinstance(target.slice, ast.Name) or target.slice.id != rows.counter:
            return
        found = _reduced(write.value, rows, scope)
        names = stored_in(loop)
        if found is None or any(live_after(name, loop, scope) for name in names):
            return
        message = f"each turn reads an element of `{snippet(found.part.lengths)}` to cut a row, and breaks the graph"
        template = Template()
        self._refuse(rows, found, template, scope)
        template.refuse(_fills(target.value, rows, found, scope))
        code = f"{template.use(target.value)}.copy_({_code(found, template, scope, alone=True)})"
        if template.broken is not None:
            yield self.declined(scope, write, message, template.broken)
            return
        fix = Fix((scope.edit(loop, code, **template.parts),), imports(scope), template.assumptions, template.reasons)
        yield self.fixed(scope, write, message, fix)

    def _refuse(self, rows: Rows, found: _Reduced, template: Template, scope: Scope) -> None:
        """Note what stands against reducing all rows at once."""
        template.refuse(rows_match(rows, found.part, scope))
        template.refuse(_computed_twice(found, scope))
        template.refuse(reduced_by(found.kind, found.part.tensor, scope))
        if not Sizes(scope).never_negative(found.part.lengths):
            shown = snippet(found.part.lengths)
            if counts_from_end(found.part.lengths, scope):
                template.refuse([Obstacle(f"`{shown}` counts from the end")])
            template.refuse([Obstacle(f"`{shown}` is not proved to be at least zero in each element", "not-negative")])

    def _judge(
        self, call: ast.Call, at: ast.expr, rows: Rows, found: _Reduced, gone: Sequence[ast.stmt], scope: Scope
    ) -> Finding:
        message = f"each turn reads an element of `{snippet(found.part.lengths)}` to cut a row, and breaks the graph"
        template = Template()
        self._refuse(rows, found, template, scope)
        template.refuse(_turns(rows, scope))
        alone = isinstance(scope.parents.get(call), ast.Assign | ast.Return)
        code = _code(found, template, scope, alone=alone)
        if template.broken is not None:
            return self.declined(scope, at, message, template.broken)
        edits: list[Edit] = [scope.edit(statement, "") for statement in gone]
        edits.append(scope.edit(call, code, **template.parts))
        return self.fixed(scope, at, message, Fix(tuple(edits), imports(scope), template.assumptions, template.reasons))


def _turns(rows: Rows, scope: Scope) -> Iterator[Obstacle]:
    """Whether there is a turn."""
    turns = Sizes(scope).size(rows.turns)
    if turns is None or not turns.isdecimal() or int(turns) == 0:
        yield Obstacle("a stack of no rows raises, and would be a tensor without rows", "dimension-not-empty")


def _fills(filled: ast.expr, rows: Rows, found: _Reduced, scope: Scope) -> Iterator[Obstacle]:
    """Whether what all rows give may be written into a tensor at once."""
    value, tensor = scope.value(filled), scope.value(found.part.tensor)
    shown, sizes = snippet(filled), Sizes(scope)
    if not isinstance(filled, ast.Name | ast.Attribute) or not value.is_tensor or not value.certain:
        yield Obstacle(f"`{shown}` is not proved to be a tensor under a name")
    if overlaps(filled, scope):
        yield Obstacle(f"rows of `{shown}` may share memory: several of them cannot be written at once")
    read = (tensor, scope.value(found.part.lengths))
    if any(may_share(value.storage, other.storage) for other in read):
        yield Obstacle(f"`{shown}` may share memory with what is read")
    yield from scope.legality.memory.write_in_place(shown, value)
    if value.dtype is None or (value.dtype != "float" and tensor.dtype != value.dtype):
        yield Obstacle(f"`{shown}` is not proved to be floating", "same-shape-dtype")
    if value.rank is None or tensor.rank is None or value.rank != (1 if found.total else tensor.rank - 1):
        yield Obstacle(f"`{shown}` is not proved to have the dimensions of what is written", "same-shape-dtype")
    turns = sizes.rows(rows.turns) if scope.value(rows.turns).is_tensor else sizes.size(rows.turns)
    if turns is None or turns != sizes.rows(filled):
        yield Obstacle(f"`{shown}` is not proved to have one row for each turn", "rows-match")
    if turns is None or not turns.isdecimal() or int(turns) == 0:
        yield Obstacle(f"`{shown}` would require a gradient also where there are no rows", "gradient-zeros")


def _computed_twice(found: _Reduced, scope: Scope) -> Iterator[Obstacle]:
    """Whether the lengths may be computed twice, as a mean does."""
    lengths = found.part.lengths
    if found.kind == "mean" and not isinstance(lengths, ast.Name | ast.Attribute):
        effects = scope.legality.effects.of(lengths, scope.facts)
        reason = effects.random or effects.mutates or effects.always or effects.host or effects.unknown
        if reason is not None:
            yield Obstacle(f"give `{snippet(lengths)}` a name, as it is needed twice: {reason}")


def _evaluated_first(call: ast.Call, scope: Scope) -> bool:
    """Whether nothing comes between the loop and a call in the next statement, which is evaluated there once."""
    statement = scope.statement(call)
    around = list(itertools.takewhile(lambda node: node is not statement, scope.ancestors(call)))
    again = ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    if isinstance(statement, ast.While) or any(isinstance(node, again) for node in around):
        return False
    acts = ast.Call | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom
    others = (n for n in ast.walk(statement) if isinstance(n, acts) and n is not call and n not in around)
    return all((n.lineno, n.col_offset) > (call.lineno, call.col_offset) for n in others)


def _first_dimension(call: ast.Call) -> bool:
    """Whether a call stacks along the first dimension."""
    given = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "dim")]
    named = all(k.arg == "dim" for k in call.keywords)
    return named and all(isinstance(dim, ast.Constant) and dim.value == 0 for dim in given)


def _appending(listed: ast.Name, call: ast.Call, scope: Scope) -> ast.For | None:
    """The loop right before the call that fills its list, which is empty before and used nowhere else."""
    stores = scope.names(listed.id, stores=True)
    uses = scope.function.places(listed.id)
    if len(stores) != 1 or len(uses) != 3:
        return None
    made = scope.parents.get(stores[0])
    if isinstance(made, ast.Assign) and made.targets != stores:
        return None
    block = scope.block(made) if isinstance(made, ast.Assign) else []
    if not isinstance(made, ast.Assign) or not isinstance(made.value, ast.List) or made.value.elts or made not in block:
        return None
    user = block.index(scope.statement(call)) if scope.statement(call) in block else 0
    loop = block[user - 1]
    if not isinstance(loop, ast.For) or loop.orelse or user - 1 <= block.index(made):
        return None
    return loop if any(n in uses for n in ast.walk(loop)) else None


def _appended(statement: ast.stmt, name: str) -> ast.expr | None:
    """What `name.append(...)` appends."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    owner = call.func.value
    alone = isinstance(owner, ast.Name) and owner.id == name and len(call.args) == 1 and not call.keywords
    return call.args[0] if alone else None


def _reduced(node: ast.expr, rows: Rows, scope: Scope) -> _Reduced | None:
    """The reduction of a part of a row over the dimension that is cut."""
    taken, call = "", node
    if isinstance(node, ast.Attribute) and node.attr in ("values", "indices"):
        taken, call = f".{node.attr}", node.value
    elif isinstance(node, ast.Subscript) and ast.unparse(node.slice) in ("0", "1"):
        taken, call = ".values" if ast.unparse(node.slice) == "0" else ".indices", node.value
    return _reduction(call, taken, rows, scope)


def _reduction(node: ast.expr, taken: str, rows: Rows, scope: Scope) -> _Reduced | None:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    method = isinstance(node.func.value, ast.Subscript)
    kind = node.func.attr
    if (scope.callee(node) or "") not in (f"Tensor.{kind}", f"torch.{kind}") or kind not in _KINDS:
        return None
    operands = [node.func.value, *node.args] if method else node.args
    part = part_of_row(operands[0], rows, scope) if operands else None
    given = operands[1:]
    dims = [*given, *(k.value for k in node.keywords if k.arg in ("dim", "axis"))]
    if part is None or part.offset or not scope.value(part.tensor).is_tensor or len(dims) > 1:
        return None
    if any(k.arg not in ("dim", "axis") for k in node.keywords):
        return None
    rank = scope.value(part.tensor).rank
    first = bool(dims) and isinstance(dims[0], ast.Constant) and dims[0].value == 0
    total = not dims and (rank == 2 or (rank is not None and kind != "mean"))
    tuples = kind in ("max", "min") and bool(dims)
    if not (first or total) or tuples != bool(taken) or (taken == ".indices" and not part.below):
        return None
    return _Reduced(part, kind, total, taken)


def _code(found: _Reduced, template: Template, scope: Scope, *, alone: bool) -> str:
    torch, part = torch_name(scope), found.part
    tensor, lengths = template.use(part.tensor), template.use(part.lengths, operand=True)
    rank = scope.value(part.tensor).rank
    if not Sizes(scope).same_device(part.tensor, part.lengths):
        lengths = f"{lengths}.to({tensor}.device)"
    whole = scope.value(part.lengths).dtype == "int"
    if not whole:  # `int(lengths[i])` cuts off what is behind the point
        lengths = f"{lengths}.long()"
    selected = f"{torch}.arange({tensor}.shape[1], device={tensor}.device) {'<' if part.below else '>='} "
    selected += f"{lengths}.unsqueeze(1)"
    if rank is None:
        selected = f"({selected})[(...,) + (None,) * ({tensor}.dim() - 2)]"
    elif rank > 2:
        selected = f"({selected})[..., {', '.join(['None'] * (rank - 2))}]"
    kept = f"{where(scope)}({selected}, {tensor}, {neutral(found.kind)})"
    dims = "1" if not found.total or rank == 2 else f"dim=({', '.join(map(str, range(1, rank or 0)))})"
    if found.kind != "mean":
        method = f"a{found.kind}" if found.total and found.kind in ("max", "min") else found.kind
        return f"{kept}.{method}({dims}){found.taken}"
    size, wide = f"{tensor}.shape[1]", scope.value(part.lengths).dtype_id in ("int32", "int64")
    lengths = lengths if wide or not whole else f"{lengths}.long()"
    count = f"{lengths}.clamp(max={size})" if part.below else f"({size} - {lengths}).clamp(min=0)"
    if rank is None:
        count += f"[(...,) + (None,) * ({tensor}.dim() - 2)]"
    elif rank > 2:
        count += f"[:, {', '.join(['None'] * (rank - 2))}]"
    code = f"{kept}.sum({dims}) / {count}"
    return code if alone else f"({code})"
