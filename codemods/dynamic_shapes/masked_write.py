"""CF502: masked elements that are read, computed with and written back.

## What it does
Finds `x[mask] = f(x[mask])` and `x[mask] += value`, and computes `f` for all elements and selects with `torch.where`.
`x[mask] = value` reads nothing and is compiled as it is, unless `value` is a parameter or made of one: its gradient has
as many elements as the mask has true values, so that training breaks the graph (GB0219). `torch.where` selects it then.
`x[mask] = torch.arange(mask.sum())` numbers the elements: a running count of the mask gives the same numbers.
`table[index[mask]] = values[mask]` writes all values, those that are not selected to a row in front that is dropped.
`h = h.masked_scatter(mask[..., None], f(h[mask]))` computes `f` for all rows and selects, too.

## Why is this bad
What is read has as many elements as the mask has true values. Dynamo cannot know how many while it traces, so the graph
ends there (GB0036), and on a GPU the program waits for the device. A training step of six blocks behind a mask token,
16 sequences of 196, took 6.4, 8.4 and 7.1 ms as written, and 4.8, 4.0 and 3.2 with the fix (H200, torch 2.11, a process
each, 2026-11-26).

## Example
```python
angle[angle < 0] += 2 * math.pi
y[positive] = (-1 / x[positive]).exp()
hidden[image_mask] += embeds
hidden[dropped] = self.mask_token
```

## Use instead
```python
angle.copy_(torch.where(angle < 0, angle + 2 * math.pi, angle))
safe = torch.where(positive, x, 1.0)
y.copy_(torch.where(positive, (-1 / safe).exp(), y))
selected = image_mask[..., None]
added = torch.zeros_like(hidden).masked_scatter(selected, embeds)  # or embeds, where that is one row
hidden.copy_(torch.where(selected, hidden + added, hidden))
hidden.copy_(torch.where(dropped[..., None], self.mask_token, hidden))
```

## Fix safety
`f` must treat each element by itself. Safe where it is proved that the mask has the tensor's shape, that `f` cannot
fail for the other elements, and that it keeps the dtype. Where the derivative of `f` is not finite for every value, the
other elements are replaced by a number for which it is, so that no gradient becomes NaN. The tensor is written in place
(`copy_`), so that views and arguments see it and its layout in memory stays; where the backward pass needs the old
elements they are cloned. A tensor that shares memory with itself (`expand`) is refused where the function makes it:
writing to masked elements of one is deprecated. Where the backward pass fails because a tensor was written in place, it
still does, and its message names another operation.

Where the elements say which rows of a table are taken (`y[mask] = table[index[mask]]`), the first row stands for the
others: the table must have one (`branches-total`), and the derivative must be finite there (`finite-derivative`).

What is added to the elements or written in their place, and has a row for each true value (`x[mask] += rows`), is put
in the places of all elements by `masked_scatter`. Rows that do not fit raised: fewer raise another RuntimeError now, on
a GPU one that ends its context, and of more the first ones are taken (`rows-match`). One row for all places is added to
all, which the shapes tell while tracing.

A tensor beside the elements (`x[mask] = (x[mask] - rows) / 2`), of which it is not known whether it has a row for each
true value, is put in the places of all by `masked_scatter` where its sizes say so (`rows-match`); one row for all, or a
number, stays as it is.

An index of which a mask selects (`y[mask] = table[index[mask]]`, `table[index[mask]] = values[mask]`) must be one of
integers, with the shape of the mask, and values that are written to places must have one row for each of its elements
(`same-shape-dtype`). What is out of range may not raise as before (`index-in-range`).

A mask without dimensions selects from a number (`total[mask] /= count[mask]`): whatever is selected has none either,
and all else that the new value is made of is a number of Python's, since a tensor beside what is selected may decide
the dtype otherwise than beside a number.

One number of each selected row (`y[mask] = scores[mask, labels[mask]]`) is gathered, the first one where the mask is
false: `scores` must have one dimension behind those of the mask (`same-shape-dtype`), its rows must not be empty
(`branches-total`), and what selects must not be negative, since `gather` does not count from the end (`not-negative`).

What goes along the last dimension (`x[mask] = x[mask].softmax(-1)`, `y[mask] = x[mask].norm(dim=-1)`) needs one behind
those of the mask (`enough-dimensions`). Where `y` is a vector, the second dimension is the last one. So are losses of
rows (`y[mask] = cross_entropy(x[mask], t[mask], reduction="none")`): rows that are not selected get the class -100,
which is ignored.

One number for each row may be laid over it (`total[mask] / count[mask][:, None]`, `.view(-1, 1)`): the tensor that it
comes from must have the dimensions of the mask (`same-shape-dtype`), and what it is laid over more
(`enough-dimensions`).

A layer (`x[mask] = layer(x[mask])`) is given all rows under the assumption `all-rows`. So is a function of the project
(`y[mask], d[mask] = spline(x[mask], w[mask, :])`), where each of its operations treats elements by themselves or goes
along the last dimension. Where the mask is made of comparisons of `x`, the other rows get a number that the mask would
select, so that the checks of the function hold for them too; a check of another argument is refused. An
`if mask.any()` round nothing but the statement goes (`gradient-zeros`), as it does round one that writes what
training changes; without it, a function that checks its values
may have raised where the mask selects nothing (`mask-not-empty`). The gradient of one number that
is used for all elements (`x[mask] *= scale`) is summed over more zeros: the last bit may differ. With fewer dimensions
than the tensor a mask is broadcast; where it does not fit the tensor, the index raises and the selection may not
(`same-shape-dtype`). A parameter beside the elements (`x[mask] += self.token.weight`), or one of one
dimension that is written in their place, is taken to fit one row, and not to have a row for each true value
(`same-shape-dtype`). A mask of what the graph writes into may be computed again by the backward pass, from what was
written (`no-recompute`).

Graph breaks: GB0033, GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.dynamic_shapes.added_rows import AddedRows, accumulated, added_rows
from compilefix.codemods.dynamic_shapes.definitions import mask_kept, unused_then, wholes_of
from compilefix.codemods.dynamic_shapes.expert_loop import ExpertLoop
from compilefix.codemods.dynamic_shapes.mask_guards import fixed_parts, guard_of
from compilefix.codemods.dynamic_shapes.masked_calls import MaskedCall, edits_of, masked_call
from compilefix.codemods.dynamic_shapes.masked_fills import asks_only, elsewhere, fills_of
from compilefix.codemods.dynamic_shapes.masked_places import MaskedPlaces, code_of_places, masked_places
from compilefix.codemods.dynamic_shapes.masks import has_place, whole_mask
from compilefix.codemods.dynamic_shapes.numbered import Numbered, numbered, numbered_code
from compilefix.codemods.dynamic_shapes.replaced_expressions import expression_edits
from compilefix.codemods.dynamic_shapes.scattered_back import ScatteredBack, scattered_back, selected_code
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.dynamic_shapes.trained_writes import TrainedWrite, selected, trained_write
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, where
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in


class MaskedWrite(Rule):
    """Masked elements read and written back."""

    code = "CF502"
    name = "masked-write"
    summary = "masked elements that are read, computed with and written back"
    gb = ("GB0033", "GB0036")
    by_hand = "compute the new values of all elements, and select with `torch.where`"
    assumptions = (
        "same-shape-dtype",
        "branches-total",
        "is-tensor",
        "finite-derivative",
        "no-aliasing",
        "all-rows",
        "boolean-mask",
        "gradient-zeros",
        "mask-not-empty",
        "rows-match",
        "index-in-range",
        "enough-dimensions",
        "no-recompute",
        "not-negative",
        "capture-scalars",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Writes to masked elements whose new values are made of masked elements."""
        experts = [e.target for f in scope.found(ExpertLoop()) if f.fix is not None for e in f.fix.edits]
        for node in scope.among(ast.Assign, ast.AugAssign):
            if isinstance(node, ast.Assign | ast.AugAssign):
                if any(scope.span(node).overlaps(edit) for edit in experts):
                    continue  # what an expert gives its tokens
                given = masked_call(node, scope)
                target = written(node, scope)
                if given is not None:
                    yield self._judge_call(given, scope)
                elif (numbers := numbered(node, scope)) is not None:
                    yield self._number(numbers, scope)
                elif target is not None:
                    yield self._judge(node, target, scope)
                elif (places := masked_places(node, scope)) is not None:
                    yield self._judge_places(places, scope)
                elif (trained := trained_write(node, scope)) is not None:
                    yield self._judge_trained(trained, scope)
        calls: Sequence[ast.Call] = scope.among(ast.Call)
        for call in calls:
            if (scattered := scattered_back(call, scope)) is not None:
                yield self._judge_scattered(scattered, scope)

    def _judge_scattered(self, found: ScatteredBack, scope: Scope) -> Finding:
        selected = f"as many elements as `{snippet(found.mask.node)}` has true values"
        message = f"`{snippet(found.rows)}` has {selected}, and is put back into a copy: the graph breaks"
        template = Template()
        made = selected_code(found, template, scope)
        if made is None or template.broken is not None:
            reason = template.broken or "the new values are not computed element by element"
            return self.obstructed(scope, found.call, message, reason)
        code, elements = made
        edits = expression_edits(found.call, code, elements, template)
        fix = Fix(edits, imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, elements.first_selection(found.rows) or found.call, message, fix)

    def _judge_places(self, found: MaskedPlaces, scope: Scope) -> Finding:
        count = f"as many as `{snippet(found.mask.node)}` has true values"
        message = f"`{snippet(found.statement.targets[0])}` writes to places that are {count}: the graph breaks"
        template = Template()
        code = code_of_places(found, template, scope)
        if template.broken is not None:
            return self.obstructed(scope, found.statement, message, template.broken)
        gone = (scope.edit(definition, "") for definition in wholes_of(found.definitions))
        edits = (*gone, scope.edit(found.statement, code, **template.parts))
        fix = Fix(edits, imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, found.statement, message, fix)

    def _judge_trained(self, found: TrainedWrite, scope: Scope) -> Finding:
        shown = snippet(found.statement.targets[0])
        message = (
            f"the gradient of what `{shown}` gets has a shape that depends on values: in training the graph breaks"
        )
        template = Template()
        code = selected(found, template, scope)
        edits = _with_guard(found.statement, found.mask.node, found.value, code, template, scope)
        if template.broken is not None:
            return self.obstructed(scope, found.statement, message, template.broken, gb=())
        always = () if edits[0].target == scope.span(found.statement) else (scope.span(found.statement),)
        fix = Fix(edits, imports(scope), template.assumptions, template.reasons, always=always)
        return self.fixed(scope, found.statement, message, fix, gb=())

    def _number(self, found: Numbered, scope: Scope) -> Finding:
        message = f"`{snippet(found.statement.value)}` has as many numbers as `{snippet(found.mask)}` has true values"
        template = Template()
        code = numbered_code(found, template, scope)
        if template.broken is not None:
            return self.obstructed(scope, found.statement, message, template.broken, gb=("GB0033",))
        edit = scope.edit(found.statement, code, **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, found.statement, message, fix, gb=("GB0033",))

    def _judge_call(self, found: MaskedCall, scope: Scope) -> Finding:
        message = f"`{snippet(found.call)}` is given as many rows as `{snippet(found.mask.node)}` has true values"
        template = Template()
        edits = edits_of(found, template, scope)
        for target in found.targets:
            if overlaps(target.value, scope):
                template.refuse(
                    [Obstacle(f"elements of `{snippet(target.value)}` may share memory: `copy_` refuses that")]
                )
        if not edits or template.broken is not None:
            return self.obstructed(scope, found.statement, message, template.broken or "the rows are not written back")
        always = (scope.span(found.statement),) if found.guard is not None else ()
        fix = Fix(edits, imports(scope), template.assumptions, template.reasons, always=always)
        return self.fixed(scope, found.statement, message, fix)

    def _judge(self, node: ast.Assign | ast.AugAssign, target: ast.Subscript, scope: Scope) -> Finding:
        mask = whole_mask(target, scope, of_numbers=True)
        assert mask is not None
        elements = Elements(mask, scope, node)
        template = Template()
        lines = _rewritten(node, target, elements, template)
        if scope.value(mask.node).rank == 0:
            elements.obstacles.extend(_of_numbers(node.value, elements))
            if not asks_only(mask.node, target.value, scope):
                elements.obstacles.append(elsewhere(mask.node, target.value))
        elements.once()
        template.refuse(elements.obstacles)
        selection = None if isinstance(node, ast.AugAssign) else elements.first_selection(node.value)
        read = snippet(target if selection is None else selection)
        message = (
            f"`{read}` has as many elements as `{snippet(mask.node)}` has true values: reading it breaks the graph"
        )
        if not lines or template.broken is not None:
            rows = added_rows(node, target, mask, scope)
            if rows is not None and not Elements(mask, scope, node).selects(rows.rows):
                return self._judge_rows(rows, node, message, scope)
            placed = Elements(mask, scope, node, places=True)
            again = Template()
            lines = _rewritten(node, target, placed, again)
            placed.once()
            again.refuse(placed.obstacles)
            if lines and placed.placed and again.broken is None:
                return self._fixed_write(node, target, placed, lines, again, message)
            reason = template.broken or "the new values are not computed element by element"
            return self.obstructed(scope, _place(node, selection, scope), message, reason)
        return self._fixed_write(node, target, elements, lines, template, message)

    def _fixed_write(
        self,
        node: ast.Assign | ast.AugAssign,
        target: ast.Subscript,
        elements: Elements,
        lines: list[str],
        template: Template,
        message: str,
    ) -> Finding:
        scope = elements.scope
        # Elsewhere the operand is replaced where the mask is false; beside rows that are put in their places it is not.
        near = elements.placed and "finite-derivative" in template.assumptions
        divisor = _kept_from_zero(node, elements) if near else None
        if divisor is not None:
            reason = f"`{divisor}` is divided by, and the mask asks for it: zeros would come back as NaN gradients"
            return self.obstructed(scope, node, message, reason)
        edits = elements.edits(node, lines, template)
        fills = fills_of(target.value, scope, template)
        edits = (*edits, *(e for e in fills if not any(e.target.overlaps(other.target) for other in edits)))
        selection = None if isinstance(node, ast.AugAssign) else elements.first_selection(node.value)
        place = _place(node, selection, scope)
        return self.fixed(scope, place, message, Fix(edits, imports(scope), template.assumptions, template.reasons))

    def _judge_rows(self, rows: AddedRows, node: ast.stmt, message: str, scope: Scope) -> Finding:
        template = Template()
        line = accumulated(rows, node, Elements(rows.mask, scope, node), template)
        place = _place(node, rows.selection, scope)
        if rows.definition is None:
            edits = _with_guard(node, rows.mask.node, rows.rows, line, template, scope)
        else:
            edits = (scope.edit(node, line, **template.parts), scope.edit(rows.definition, ""))
        if template.broken is not None:
            return self.obstructed(scope, place, message, template.broken)
        always = () if edits[0].target == scope.span(node) else (scope.span(node),)
        fix = Fix(edits, imports(scope), template.assumptions, template.reasons, always=always)
        return self.fixed(scope, place, message, fix)


def _kept_from_zero(node: ast.Assign | ast.AugAssign, elements: Elements) -> str | None:
    """What the new values are divided by, where the mask compares it: its zeros are what the mask keeps out."""
    scope = elements.scope
    tests: list[ast.expr] = [elements.mask.node]
    if isinstance(elements.mask.node, ast.Name):
        stores = [scope.parents.get(store) for store in scope.names(elements.mask.node.id, stores=True)]
        tests += [store.value for store in stores if isinstance(store, ast.Assign)]
    compares = [n for test in tests for n in ast.walk(test) if isinstance(n, ast.Compare)]
    compared = {ast.unparse(n) for one in compares for n in ast.walk(one) if isinstance(n, ast.Name | ast.Attribute)}
    values = [node.value, *(definition.value for definition in elements.definitions)]
    divisions = (n for v in values for n in ast.walk(v) if isinstance(n, ast.BinOp) and isinstance(n.op, ast.Div))
    divisors = [n.right for n in divisions]
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
        divisors.append(node.value)
    given = {ast.unparse(d.targets[0]): d.value for d in elements.definitions}
    for divisor in divisors:
        selected = given.get(ast.unparse(divisor), divisor)
        base = selected.value if isinstance(selected, ast.Subscript) else selected
        if isinstance(base, ast.Name | ast.Attribute) and ast.unparse(base) in compared:
            return ast.unparse(divisor)
    return None


def _with_guard(
    statement: ast.stmt, mask: ast.expr, value: ast.expr, code: str, template: Template, scope: Scope
) -> tuple[Edit, ...]:
    """The edits for what is written; the question round it whether the mask selects anything goes too."""
    guard = guard_of([statement], mask, scope)
    asked = fixed_parts(statement, mask, scope)
    if guard is None and asked is None:
        return (scope.edit(statement, code, **template.parts),)
    text = f"`{snippet(value)}` would get a gradient of zeros instead of None where the mask selects nothing"
    template.refuse([Obstacle(text, "gradient-zeros")])
    for obstacle in scope.legality.both_evaluated([value], scope.facts):
        known = obstacle.assumption in MaskedWrite.assumptions
        template.refuse([obstacle if known else Obstacle(obstacle.reason)])
    if any(isinstance(part, ast.Call | ast.BinOp | ast.UnaryOp) for part in ast.walk(value)):
        text = f"zeros may become NaN on their way back through `{snippet(value)}`"
        template.refuse([Obstacle(text, "finite-derivative")])
    if guard is not None:
        return (scope.edit(guard, code, **template.parts),)
    assert asked is not None
    test = Template()
    loose = ast.BoolOp | ast.IfExp | ast.Lambda
    kept = " and ".join(test.use(part, operand=len(asked[1]) > 1 and isinstance(part, loose)) for part in asked[1])
    edit = scope.edit(asked[0].test, kept, **test.parts)
    return (edit, scope.edit(statement, code, **template.parts))


def _place(node: ast.stmt, selection: ast.expr | None, scope: Scope) -> ast.AST:
    """Where the graph breaks: the statement, or the selection where that stands earlier or on one of two ways."""
    if selection is None:
        return node
    chosen = any(isinstance(around, ast.IfExp) for around in scope.ancestors(selection))
    return selection if chosen or scope.statement(selection) is not node else node


def written(node: ast.Assign | ast.AugAssign, scope: Scope) -> ast.Subscript | None:
    """The masked elements that a statement writes, where it reads masked elements for it."""
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0] if len(node.targets) == 1 else None
    if not isinstance(target, ast.Subscript):
        return None
    mask = whole_mask(target, scope, of_numbers=True)
    if mask is None:
        return None
    reads = isinstance(node, ast.AugAssign) or Elements(mask, scope, node).selects(node.value)
    return target if reads else None


def _rewritten(
    node: ast.Assign | ast.AugAssign, target: ast.Subscript, elements: Elements, template: Template
) -> list[str]:
    """The statements to write; none, with an obstacle noted, where there are none."""
    scope = elements.scope
    tensor = target.value
    if not has_place(tensor, scope):
        elements.obstacles.append(Obstacle(f"`{snippet(tensor)}` is neither a name nor an item at a fixed place"))
        return []
    whole: ast.expr = ast.copy_location(ast.Subscript(tensor, target.slice, ast.Load()), target)
    tree = elements.take(node.value)
    if tree is None:
        return []
    name = ast.unparse(tensor)
    if isinstance(node, ast.AugAssign):
        old = elements.take(whole)
        if old is None:
            return []
        tree = ast.copy_location(ast.BinOp(old, node.op, tree), old)
    if overlaps(tensor, scope):
        elements.obstacles.append(Obstacle(f"elements of `{name}` may share memory: `copy_` refuses to write them"))
    value = elements.judge(tree)
    elements.obstacles.extend(_types(tensor, value, elements))
    moved = names_in(*(d.value for d in elements.definitions))
    elements.obstacles.extend(unused_then(elements.definitions, node, moved, scope))
    elements.obstacles.extend(mask_kept(elements.definitions, elements.mask.node, node))
    over = elements.over(tensor, template)
    replaced = elements.replaced(tree, value, over, template)
    if value.leaves:
        others = [elements.atoms[t] for t in elements.atoms if t != name and t not in replaced]
        elements.obstacles.extend(scope.legality.memory.saved(others, node, scope.facts))
    if name in elements.bases and name not in replaced and value.leaves and not _linear(tree, elements):
        # The backward pass may need the old elements, which are overwritten.
        replaced[name] = f"{name}.clone()"
    steps, code = elements.steps(tree, template, replaced)
    select = f"{where(scope)}({over}, {code}, {name})"
    lines, select = elements.hoisted(elements.with_names("\n".join([*steps, select]), template))
    lines, steps = lines[: len(lines) - len(steps)], lines[len(lines) - len(steps) :]
    named = [f"{given} = {template.use(part)}" for given, part in elements.hoists.items()]
    last = "\n".join([*steps, f"{name}.copy_({select})"])
    return [*named, *(elements.with_names(line, template) for line in lines), last]


def _types(tensor: ast.expr, value: Value, elements: Elements) -> Iterator[Obstacle]:
    """Whether the new values have the dtype of the tensor, and what they are made of its shape."""
    scope = elements.scope
    before = scope.value(tensor)
    if value.dtype is not None and before.dtype is not None and value.dtype != before.dtype:
        yield Obstacle(f"the new values are {value.dtype} and `{snippet(tensor)}` is {before.dtype}")
    elif value.dtype_id is None or value.dtype_id != before.dtype_id:
        yield Obstacle(f"the new values are not proved to have the dtype of `{snippet(tensor)}`", "same-shape-dtype")
    elif not before.certain:
        # Its own elements have its dtype, whatever it is: an array has no `copy_`.
        yield Obstacle(f"`{snippet(tensor)}` is not proved to be a tensor", "is-tensor")
    for text in elements.bases:
        base = elements.atoms[text]
        if text != ast.unparse(tensor) and (before.shape_id is None or scope.value(base).shape_id != before.shape_id):
            yield Obstacle(
                f"`{snippet(base)}` is not proved to have the shape of `{snippet(tensor)}`", "same-shape-dtype"
            )


def _of_numbers(value: ast.expr, elements: Elements) -> Iterator[Obstacle]:
    """Whether new values behind a mask without dimensions are made of selected numbers only, and of Python's.

    What is selected has a dimension, a number that is not has none: beside each other they have another dtype than
    all numbers, and another shape than what is selected of more.
    """
    scope = elements.scope
    more = next((text for text in elements.bases if scope.value(elements.atoms[text]).rank != 0), None)
    if more is not None:
        yield Obstacle(f"`{more}` is not proved to have no dimension, as the mask")
    selected = {
        n for s in ast.walk(value) if isinstance(s, ast.Subscript) and elements.mask.same(s) for n in ast.walk(s)
    }
    names = (
        n for n in ast.walk(value) if isinstance(n, ast.Name | ast.Attribute | ast.Subscript) and n not in selected
    )
    beside = next((n for n in names if scope.value(n).may_be(Kind.TENSOR)), None)
    if beside is not None:
        yield Obstacle(f"`{snippet(beside)}` is not selected, and may decide the dtype beside what is")


def _linear(tree: ast.expr, elements: Elements) -> bool:
    """Whether the backward pass needs no operand: sums, and products with numbers."""
    if isinstance(tree, ast.Name):
        return True
    if isinstance(tree, ast.UnaryOp):
        return _linear(tree.operand, elements)
    if not isinstance(tree, ast.BinOp) or not _linear(tree.left, elements) or not _linear(tree.right, elements):
        return False
    if isinstance(tree.op, ast.Add | ast.Sub):
        return True
    numbers = {text for text, v in elements.values().items() if v.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)}
    right = isinstance(tree.right, ast.Name) and tree.right.id in numbers
    left = isinstance(tree.left, ast.Name) and tree.left.id in numbers
    return (right and isinstance(tree.op, ast.Mult | ast.Div)) or (left and isinstance(tree.op, ast.Mult))
