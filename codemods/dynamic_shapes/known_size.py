"""CF505: a result of unknown size where the size is known, or not needed.

## What it does
Finds `torch.bincount(index, minlength=n)`; one-hot vectors with as many places as the largest index asks for, of which
only the first `k` are kept; and `torch.unique(x)` of which the code only asks whether any or all of the values pass a
test, or for the largest and smallest, or how many there are (with `unique_consecutive` too), or which of them an
element has; the list of the true places of a mask (`torch.where(mask)[0]`, `mask.nonzero().flatten()`,
`x[torch.where(mask)]`) that the code writes to, reduces, gives to a loss or counts (`max(len(rows), 1)`,
`torch.tensor(len(rows), dtype=torch.float)`), or writes a number to at one column of each row
(`one_hot[rows, labels[rows]] = 1`); the columns of the true elements of a matrix (`torch.where(matrix)[1]`), where the
code only writes one number to each, or what another tensor has there; the rows that a one-hot mask selects, of which
there is one for each index; the columns of the ones in one-hot rows; the elements of a square matrix on or off its
diagonal, which a mask made of `torch.eye` selects; and `repeat_interleave` with a tensor of repeats, whose result is
combined with a tensor that has as many rows.

## Why is this bad
How many different values there are, and how large the largest index is, depends on values. Dynamo cannot know it while
it traces: the graph ends there (GB0036), on a GPU the program waits, and `unique` sorts for nothing.

## Example
```python
counts = torch.bincount(labels, minlength=self.num_classes)
slots = F.one_hot(position, max(position.max() + 1, capacity))[..., :capacity]
values = torch.unique(target)
wrong = torch.any((values != 0) & (values != 1))
classes = len(torch.unique(target))
_, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
rank = counts.cumsum(0)[inverse]
rows = torch.where(keep)[0]
x[rows] = 0
best = candidates[F.one_hot(choice, num_classes=4) > 0.5]
kinds = torch.where(attributes == 1)[1]
others = similarity[~torch.eye(n, dtype=torch.bool)].view(n, -1)
centred = nodes - means.repeat_interleave(sizes, dim=0)
ordered = torch.cat([tokens[mask], tokens[~mask]])
negatives = scores[~diagonal].view(n, -1)  # diagonal = eye_of_rank(n)
```

## Use instead
```python
counts = torch.zeros(self.num_classes, dtype=torch.int64, device=labels.device)
counts = counts.scatter_add_(0, labels, torch.ones_like(labels))
slots = (position.unsqueeze(-1) == torch.arange(capacity, device=position.device)).long()
wrong = torch.any((target != 0) & (target != 1))
ordered = torch.sort(target.flatten())[0]
classes = (ordered[1:] != ordered[:-1]).sum() + min(ordered.numel(), 1)
ordered, order = torch.sort(x.flatten(), stable=True)
first = torch.ones_like(ordered, dtype=torch.bool)
first[1:] = ordered[1:] != ordered[:-1]
group = first.cumsum(0) - 1
inverse = torch.empty_like(order).scatter_(0, order, group).view(x.shape)
counts = torch.zeros_like(order).scatter_add_(0, group, torch.ones_like(order))
rank = counts.cumsum(0)[inverse]
rows = keep
x[rows] = 0
places = choice[(...,) + (None,) * (candidates.dim() - choice.dim())]
places = places.expand_as(candidates.narrow(choice.dim(), 0, 1))
best = candidates.gather(choice.dim(), places).flatten(0, choice.dim())
kinds = (attributes == 1).int().argmax(dim=1)
shifted = similarity.flatten(0, 1)[1:].unflatten(0, (n - 1, n + 1))
others = shifted[:, :-1].clone().view(n, -1)
rows = nodes.shape[0]
centred = nodes - means.repeat_interleave(sizes, dim=0, output_size=rows if rows != 1 else None)
ordered = tokens[torch.argsort(torch.where(mask, 0, 1), stable=True)]
order = torch.argsort(torch.where(diagonal, 1, 0), dim=1, stable=True)
negatives = scores.gather(1, order[:, :-1]).view(n, -1)
```

## Fix safety
A test of each value holds for any or all of the different values exactly when it does for any or all of the values:
safe where nothing else uses them and the tensor does not change in between. Of zeros of both signs `unique` keeps one:
the largest value itself, and what is divided by the values, has a fix for integers alone.

`bincount` gives more numbers than `minlength` where an index is as large or larger, and then the rewritten code raises
(`index-in-range`); the index is made int64, and gets a name before the statement where it has none. With `weights=`
there is no fix. `bincount` raises for floats and one number, `one_hot` where an index is negative, and the rewritten
code does not (`index-in-range`).

The number of different values is that of the places where a new value begins in sorted order (as it is for
`unique_consecutive`), NaN and no elements included; it was a Python number and becomes a tensor (`number-to-tensor`).
The numbering of `return_inverse` is the same, but for several NaN (`nan-order`). Its counts stand in front of zeros,
one for each element: that is safe where what is made of them, number by number, is in the end only indexed with the
numbering; a factor that may require a gradient declines it, since the zeros may be divided by. A mask as an index
means the same as the list of its places, where it is as long as the tensor (`same-shape-dtype`) and has one dimension
(`one-dimension`). For complex numbers `unique` raises (`same-shape-dtype`). Rows of a one-hot mask: `one_hot` and
the mask raise where an index or the number of classes does not fit, and the rewritten code may not (`index-in-range`,
`same-shape-dtype`). That the rows of a matrix which is compared with one are one-hot is not in the code
(`one-hot-rows`), nor that a mask is true once in each row which a function for diagonals or one-hot tensors makes, and
which selects the others (`scores[~diagonal].view(n, -1)`: `one-hot-rows`), nor that a matrix is as large as the mask
for its diagonal (`same-shape-dtype`). The repeats must give as many rows as the tensor beside them has (`rows-match`):
other numbers raised there, and on a GPU are not noticed, and memory behind the result may be written. With one row,
which may be broadcast, the size is read as before. Where the numbers of dimensions are not proved, what is repeated
must be computed from that tensor. Repeats that are a list of sizes (`torch.tensor(counts)`) are added up by Python:
safe, as sizes are not negative. Rows that a mask and its opposite only put into another order (`torch.cat([x[mask],
x[~mask]])`) are sorted by it: the mask has one dimension (`one-dimension`) and one element for each row (`rows-match`),
and is boolean (`boolean-mask`), where that is not proved. The first or last of the elements that a mask selects, laid
out in rows (`x[mask].view(n, -1, width)[:, -1]`), is looked up by its place: the mask has as many true places in each
row, and there are as many rows and columns as are written (`rows-match`).

Graph breaks: GB0033, GB0036, GB0246. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, may_share
from compilefix.codemods.dynamic_shapes.class_numbers import FirstPlaces, first_places
from compilefix.codemods.dynamic_shapes.column_lists import column_edits, column_list
from compilefix.codemods.dynamic_shapes.definitions import unused_then, uses_of
from compilefix.codemods.dynamic_shapes.distinct_values import (
    groups_edits,
    groups_of,
    number_edits,
    number_of_values,
    sortable,
)
from compilefix.codemods.dynamic_shapes.edge_of_rows import edge_edits, edge_of_rows
from compilefix.codemods.dynamic_shapes.expert_loop import ExpertLoop
from compilefix.codemods.dynamic_shapes.index_lists import index_list, mask_edits, needs_only_mask
from compilefix.codemods.dynamic_shapes.index_tuples import index_tuple, tuple_edits
from compilefix.codemods.dynamic_shapes.listed_repeats import listed_edits, listed_repeats
from compilefix.codemods.dynamic_shapes.masks import mask_of
from compilefix.codemods.dynamic_shapes.off_diagonal import diagonal_code, diagonal_of
from compilefix.codemods.dynamic_shapes.one_hot_columns import columns_code, one_hot_columns
from compilefix.codemods.dynamic_shapes.one_hot_rows import one_hot_rows, rows_code
from compilefix.codemods.dynamic_shapes.one_in_row import one_in_row, one_in_row_code
from compilefix.codemods.dynamic_shapes.partitions import Partition, partition_code, partition_of
from compilefix.codemods.dynamic_shapes.reduction_groups import drafts_of
from compilefix.codemods.dynamic_shapes.reductions import countable, counted_classes, first_mask, takes_lines
from compilefix.codemods.dynamic_shapes.repeats import repeats_beside, sized_code
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_ANY_VALUE = frozenset({"any", "all", "max", "min", "amax", "amin"})


class KnownSize(Rule):
    """Result of unknown size where the size is known."""

    code = "CF505"
    name = "known-size"
    summary = "bincount or one_hot with a class count, or unique values of which only a test is needed"
    gb = ("GB0033", "GB0036", "GB0246")
    hints = (
        "bincount",
        "one_hot",
        "unique",
        "nonzero",
        "where(",
        "repeat_interleave",
        "eye",
        "onehot",
        ".cat(",
        ".concat",
        "view(",
        "reshape(",
    )
    assumptions = (
        "index-in-range",
        "number-to-tensor",
        "same-shape-dtype",
        "float32-rounding",
        "enough-dimensions",
        "rows-match",
        "nan-order",
        "one-hot-rows",
        "one-dimension",
        "boolean-mask",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of `bincount` with a minimum length, of `one_hot` in part, and of `unique` with only the tensor."""
        yield from self._selected(scope)
        for node in scope.of(ast.Call):
            template = Template()
            if counted_classes(node, scope) is not None:
                if not _masked(node, scope):
                    yield self._counts(node, scope)
            elif (number := number_of_values(node, scope)) is not None:
                yield self._of_known_size(node, number_edits(number, template, scope), template, scope)
            elif (groups := groups_of(node, scope)) is not None:
                yield self._of_known_size(node, groups_edits(groups, template, scope), template, scope)
            elif (columns := one_hot_columns(node, scope)) is not None:
                edit = scope.edit(columns.node, columns_code(columns, template), **template.parts)
                yield self._of_known_size(columns.call, [edit], template, scope)
            elif (places := index_list(node, scope)) is not None and needs_only_mask(places, scope):
                yield self._of_known_size(node, mask_edits(places, template, scope), template, scope)
            elif (indices := index_tuple(node, scope)) is not None:
                yield self._of_known_size(node, tuple_edits(indices, template, scope), template, scope)
            elif (listed_columns := column_list(node, scope)) is not None:
                yield self._of_known_size(node, column_edits(listed_columns, template, scope), template, scope)
            elif tested(node, scope) is not None:
                yield from self._values(node, scope)
            elif (listed := listed_repeats(node, scope)) is not None:
                yield self._of_known_size(node, listed_edits(listed, scope), template, scope)
            elif (repeats := repeats_beside(node, scope)) is not None:
                edit = scope.edit(repeats.node, sized_code(repeats, template), **template.parts)
                yield self._of_known_size(repeats.node, [edit], template, scope)
            elif (partition := partition_of(node, scope)) is not None:
                yield self._partition(partition, scope)
            else:
                first = first_places(node, scope)
                if first is not None:
                    yield self._places(first, scope)

    def _selected(self, scope: Scope) -> Iterator[Finding]:
        """What masks and indices take of rows, one each or all but one."""
        for node in scope.among(ast.Subscript, ast.Call):
            if (diagonal := diagonal_of(node, scope)) is not None:
                template = Template()
                edit = scope.edit(diagonal.node, diagonal_code(diagonal, template, scope), **template.parts)
                yield self._of_known_size(diagonal.node, [edit], template, scope)
        for index in scope.of(ast.Subscript):
            template = Template()
            if (rows := one_hot_rows(index, scope)) is not None:
                edit = scope.edit(rows.node, rows_code(rows, template, scope), **template.parts)
                yield self._of_known_size(rows.node, [edit], template, scope)
            elif (one := one_in_row(index, scope)) is not None:
                edit = scope.edit(one.node, one_in_row_code(one, template, scope), **template.parts)
                yield self._of_known_size(one.node, [edit], template, scope)
            elif (edge := edge_of_rows(index, scope)) is not None:
                yield self._of_known_size(edge.node, edge_edits(edge, template, scope), template, scope, edge.selection)

    def _counts(self, node: ast.Call, scope: Scope) -> Finding:
        found = counted_classes(node, scope)
        assert found is not None
        index, length = found
        template = Template()
        torch = torch_name(scope)
        value = scope.value(index)
        gone = _gone_with(node, scope)
        if gone is not None:
            message = f"the shape of `{snippet(node)}` depends on values: the graph breaks"
            return self.declined(scope, node, message, f"goes with the fix of CF504 on line {gone.span.line}")
        template.refuse(countable(index, length, value))
        name = template.use(index)
        before: list[Edit] = []
        if not isinstance(index, ast.Name | ast.Attribute):
            line, name = name, free_name("index", scope)
            template.refuse(_named_before(index, node, scope))
            before.append(scope.before(scope.statement(node), f"{name} = {line}", **template.parts))
        known = value.dtype_id == "int64"
        labels = name + ("" if known else ".long()")
        code = (
            f"{torch}.zeros({template.use(length)}, dtype={torch}.int64, device={name}.device)"
            f".scatter_add_(0, {labels}, {torch}.ones_like({name}"
            f"{'' if known else f', dtype={torch}.int64'}))"
        )
        return self._of_known_size(node, [*before, scope.edit(node, code, **template.parts)], template, scope)

    def _of_known_size(
        self, node: ast.expr, edits: Iterable[Edit], template: Template, scope: Scope, unknown: ast.expr | None = None
    ) -> Finding:
        """The finding for a result of `unknown` size, or `node` itself, and edits for it if nothing is in the way."""
        edits = tuple(edits)
        message = f"the shape of `{snippet(unknown or node)}` depends on values: the graph breaks"
        if template.broken is not None:
            return self.declined(scope, node, message, template.broken)
        fix = Fix(edits, imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, node, message, fix)

    def _partition(self, found: Partition, scope: Scope) -> Finding:
        first = found.parts[0].mask
        message = f"`{snippet(found.node)}` takes as many rows at a time as `{snippet(first)}` says: the graph breaks"
        template = Template()
        rows, order, length = partition_code(found, template, scope)
        edits: list[Edit] = []
        if takes_lines(found.node, scope) and not _changed_on_the_way(found.node, found.node, scope):
            name, lines = free_name("order", scope), [order, *([f"{{name}}[: {length}]"] if length else [])]
            code = "\n".join(f"{name} = {line}" for line in lines).replace("{name}", name)
            edits.append(scope.before(scope.statement(found.node), code, **template.used_in(code)))
            order = name
        elif length:
            order = f"{order}[: {length}]"
        code = f"{rows}[{order}]"
        edits.append(scope.edit(found.node, code, **template.used_in(code)))
        fix = Fix(tuple(edits), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, found.node, message, fix)

    def _places(self, found: FirstPlaces, scope: Scope) -> Finding:
        message = f"`{snippet(found.given)}` is read from a tensor as a number of classes: the graph breaks"
        index = snippet(found.index)
        if not isinstance(found.index, ast.Name | ast.Attribute):
            return self.declined(scope, found.node, message, f"give `{index}` a name: it is needed twice")
        template = Template()
        reason = f"`{index}` may be empty, hold a negative index, or have a dtype that `one_hot` refuses"
        template.refuse([Obstacle(reason, "index-in-range")])
        torch, tensor = torch_name(scope), template.use(found.index)
        places = f"{torch}.arange({template.use(found.places)}, device={tensor}.device)"
        edits = [scope.edit(found.node, f"({tensor}.unsqueeze(-1) == {places}).long()", **template.parts)]
        if found.definition is not None:
            edits.append(scope.edit(found.definition, ""))
        fix = Fix(tuple(edits), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, found.node, message, fix)

    def _values(self, node: ast.Call, scope: Scope) -> Iterator[Finding]:
        tensor = tested(node, scope)
        assert tensor is not None
        statement = scope.parents.get(node)
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or statement.value is not node:
            return
        uses = uses_of(statement, target, scope)
        asked = [use for use in uses or () if _asks_any(use, scope)]
        if uses is None or not asked:
            return  # the rule for shapes that depend on values has it
        message = f"the shape of `{snippet(node)}` depends on values: the graph breaks"
        rest = [use for use in uses if use not in asked and not _in_raise(use, scope)]
        if rest:
            yield self.declined(scope, node, message, f"line {rest[0].lineno} needs the different values themselves")
            return
        template = Template()
        last = max((scope.statement(use) for use in uses), key=lambda s: s.lineno)
        names = names_in(tensor)
        if any(_differentiable(use, tensor, scope) for use in asked):
            template.refuse([Obstacle(f"a gradient may flow to `{snippet(tensor)}`, and the backward pass raises now")])
        dtype = scope.value(tensor).dtype
        if dtype not in ("int", "bool") and any(_tells_zeros(use, scope) for use in asked):
            reason = f"`{snippet(tensor)}` may hold zeros of both signs, of which `unique` keeps one"
            template.refuse([Obstacle(reason, "same-shape-dtype" if dtype is None else None)])
        template.refuse(sortable(tensor, scope))
        template.refuse(_unchanged(statement, last, names, scope))
        if template.broken is not None:
            yield self.declined(scope, node, message, template.broken)
            return
        edits: list[Edit] = [scope.edit(statement, "")]
        edits.extend(scope.edit(use, "{p}", p=tensor) for use in asked)
        edits.extend(scope.edit(use, "{p}", p=node) for use in uses if use not in asked)
        fix = Fix(tuple(edits), imports(scope), template.assumptions, template.reasons)
        yield self.fixed(scope, node, message, fix)


def _gone_with(node: ast.Call, scope: Scope) -> Finding | None:
    """The loop over experts whose fix takes away the counts that it skips experts by."""
    line = node.lineno
    for finding in scope.found(ExpertLoop()):
        edits = finding.fix.edits if finding.fix is not None else ()
        if any(edit.target.line <= line <= edit.target.end_line for edit in edits):
            return finding
    return None


def _named_before(index: ast.expr, node: ast.Call, scope: Scope) -> Iterator[Obstacle]:
    """Whether what is counted may get a name before the statement, where it is needed three times."""
    for part in ast.walk(index):
        if isinstance(part, ast.Subscript) and mask_of(part, scope) is not None:
            yield Obstacle(f"the size of `{snippet(part)}` depends on values: the graph breaks there all the same")
    moves = takes_lines(node, scope) and scope.legality.effects.of(index, scope.facts).repeatable
    if not moves or _changed_on_the_way(index, node, scope):
        yield Obstacle(f"give `{snippet(index)}` a name: it is needed three times")


def _changed_on_the_way(index: ast.expr, node: ast.Call, scope: Scope) -> bool:
    """Whether the statement gives a name a value, or writes in place, before it comes to what is counted."""
    statement = scope.statement(node)
    beside = {*ast.walk(statement)} - {*ast.walk(index), node, *scope.ancestors(node)}
    if any(isinstance(part, ast.NamedExpr) for part in beside):
        return True
    read = [scope.value(n).storage for n in ast.walk(index) if isinstance(n, ast.Name | ast.Attribute)]
    for part in beside:
        if isinstance(part, ast.Call) and scope.legality.effects.of(part, scope.facts).mutates is not None:
            written = scope.value(part.func.value).storage if isinstance(part.func, ast.Attribute) else None
            if written is None or any(may_share(written, memory) for memory in read):
                return True
    return False


def _masked(node: ast.Call, scope: Scope) -> bool:
    """Whether the rule for masked elements rewrites a call of `bincount`."""
    found = counted_classes(node, scope)
    if found is None or first_mask(found[0], scope.statement(node), scope) is None:
        return False
    return any(draft.found.node is node and draft.broken is None for draft in drafts_of(scope))


def tested(node: ast.Call, scope: Scope) -> ast.expr | None:
    """The tensor in `torch.unique(x)` or `torch.unique(x, dim=None)`, where that is a name."""
    name = scope.callee(node) or ""
    if not all(_plain(keyword) for keyword in node.keywords):
        return None
    if name == "torch.unique" and len(node.args) == 1:
        tensor = node.args[0]
    elif name == "Tensor.unique" and not node.args and isinstance(node.func, ast.Attribute):
        tensor = node.func.value
    else:
        return None
    return tensor if isinstance(tensor, ast.Name) and scope.value(tensor).is_tensor else None


def _plain(keyword: ast.keyword) -> bool:
    """Whether an option of `unique` leaves its result one tensor of all different values."""
    if keyword.arg == "sorted":
        return True
    empty = {"dim": None, "return_inverse": False, "return_counts": False}
    return (
        keyword.arg in empty and isinstance(keyword.value, ast.Constant) and keyword.value.value is empty[keyword.arg]
    )


def _asks_any(use: ast.expr, scope: Scope) -> bool:
    """Whether the values are only compared, each by itself, and then asked for any, all, the largest or smallest."""
    node: ast.expr = use
    for parent in scope.ancestors(use):
        if isinstance(parent, ast.Call):
            name = scope.callee(parent) or ""
            alone = not parent.keywords and (parent.args == [node] or (not parent.args and name.startswith("Tensor.")))
            return alone and name in {f"{kind}.{short}" for kind in ("torch", "Tensor") for short in _ANY_VALUE}
        if isinstance(parent, ast.Compare | ast.BinOp):
            parts = [parent.left, *(parent.comparators if isinstance(parent, ast.Compare) else [parent.right])]
            others = [p for p in parts if p is not node]
            if not all(_made_of(other, use, scope) for other in others):
                return False
        elif isinstance(parent, ast.Attribute):
            call = scope.parents.get(parent)
            if not isinstance(call, ast.Call) or call.func is not parent:
                return False  # `.T` of one dimension is another thing than of several
        elif not isinstance(parent, ast.UnaryOp):
            return False
        assert isinstance(parent, ast.expr)
        node = parent
    return False


def _differentiable(use: ast.expr, tensor: ast.expr, scope: Scope) -> bool:
    """Whether a gradient may flow through the use: `unique` has no derivative, and the backward pass raises."""
    return bool(scope.value(tensor).leaves) and not any(isinstance(p, ast.Compare) for p in scope.ancestors(use))


def _tells_zeros(use: ast.expr, scope: Scope) -> bool:
    """Whether a use tells 0.0 from -0.0: it divides by the values, or hands on the largest or smallest itself."""
    compared = False
    for parent in scope.ancestors(use):
        if isinstance(parent, ast.BinOp):
            if not compared and not isinstance(parent.op, ast.Add | ast.Sub | ast.Mult):
                return True
        elif isinstance(parent, ast.Compare):
            compared = True
        elif isinstance(parent, ast.Call):
            extreme = (scope.callee(parent) or "").rpartition(".")[2] not in ("any", "all")
            return extreme and not compared and not isinstance(scope.parents.get(parent), ast.Compare)
    return False


def _made_of(node: ast.expr, use: ast.expr, scope: Scope) -> bool:
    """Whether an operand is one number, or made of the same values and numbers."""
    assert isinstance(use, ast.Name)
    value = scope.value(node)
    if value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE) or value.is_scalar_tensor:
        return True
    if isinstance(node, ast.Name):
        return node.id == use.id
    if isinstance(node, ast.Compare | ast.BinOp):
        parts = [node.left, *(node.comparators if isinstance(node, ast.Compare) else [node.right])]
        return all(_made_of(part, use, scope) for part in parts)
    return isinstance(node, ast.UnaryOp) and _made_of(node.operand, use, scope)


def _in_raise(use: ast.expr, scope: Scope) -> bool:
    return any(isinstance(parent, ast.Raise) for parent in scope.ancestors(use))


def _unchanged(statement: ast.Assign, last: ast.stmt, names: set[str], scope: Scope) -> Iterator[Obstacle]:
    """Whether the tensor is the same from the statement to the last use."""
    block = scope.block(statement)
    outer = next((s for s in block if s is last or any(n is last for n in ast.walk(s))), None)
    if outer is None or any(isinstance(a, ast.For | ast.While) for a in scope.ancestors(statement)):
        yield Obstacle("the values are used in another block")
        return
    yield from unused_then([statement], outer, names, scope, used=False)
    for node in ast.walk(outer):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names:
            yield Obstacle(f"`{node.id}` is assigned before the last use")
