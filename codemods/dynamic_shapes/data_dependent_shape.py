"""CF501: the shape of a result depends on values.

## What it does
Finds operations whose result has as many elements as the values say: indexing with a boolean mask, `nonzero`, `where`
with one argument, `unique`, `masked_select`, `combinations`, `bincount`, `one_hot` without a number of classes,
`repeat_interleave` with a tensor of repeats, `ctc_loss`. `x[mask] = value` writes in place and is compiled as it is; it
is not reported, unless the mask has no dimension: such an index is read as a Python number (GB0033).

## Why is this bad
Dynamo cannot know the shape while it traces, so the graph ends there (GB0036), and on a GPU the program waits for the
device. What follows is compiled again for other sizes.

## Example
```python
loss = per_token[mask].mean()
```

## Use instead
```python
loss = torch.where(mask, per_token, 0).sum() / mask.sum()
```

## Fix safety
`n[n < 1] = 1.0`, where the mask has no dimension, becomes `n.masked_fill_(n < 1, 1.0)`, which writes the same into the
same memory: safe for a number that a tensor of half precision holds, where the mask asks the tensor itself (it must be
on the same device, as no index must). CF502 takes such a mask too, where the new value is made of what it selects. For
all else this rule has no fix: the rewrite
depends on what the result is used for. The finding names the form to write. Where the shape is really needed,
`torch._dynamo.config.capture_dynamic_output_shape_ops = True` keeps the operation in the graph (not `one_hot` and
`combinations`, and not `bincount` with `minlength`); where that is set nothing is reported, and CF506 writes it where
the code is compiled.

Graph breaks: GB0033, GB0036, GB0246. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from compilefix.analysis import torch_api
from compilefix.analysis.docstrings import boolean_parameters
from compilefix.analysis.values import ARRAYS, Kind, Value
from compilefix.codemods.capture_flags import SHAPES, switched_on
from compilefix.codemods.control_flow.tensor_validation import checked_late
from compilefix.codemods.dynamic_shapes.captured_sizes import masks_not_captured, not_captured
from compilefix.codemods.dynamic_shapes.drafts import Draft
from compilefix.codemods.dynamic_shapes.expert_loop import ExpertLoop
from compilefix.codemods.dynamic_shapes.first_place import FirstPlace
from compilefix.codemods.dynamic_shapes.known_size import KnownSize
from compilefix.codemods.dynamic_shapes.masked_fills import fill_of_one
from compilefix.codemods.dynamic_shapes.masked_reduction import MaskedReduction
from compilefix.codemods.dynamic_shapes.masked_write import MaskedWrite
from compilefix.codemods.dynamic_shapes.masks import is_mask, mask_of, named_mask, seems_mask
from compilefix.codemods.dynamic_shapes.reduction_groups import drafts_of
from compilefix.codemods.dynamic_shapes.repeats import is_difference
from compilefix.codemods.finding import Finding, Fix, Span
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target
from compilefix.source.tree import elements_of, names_in

_ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_BY_HAND = "give the others a weight of zero, or select outside the compiled code"
"""What to do where the elements that are selected are reduced, or counted, in a way that takes no others."""
_CAPTURE = "where the shape itself is needed, set `torch._dynamo.config.capture_dynamic_output_shape_ops = True`"
GOES_WITH = "goes with the fix of"
"""So begins what is said of a selection that the fix of another rule does away with."""
_OF_UNIQUE = frozenset({"return_inverse", "return_counts", "sorted", "dim"})
_ARRAYS_OR_NONE = frozenset({Kind.TENSOR, Kind.NDARRAY, Kind.NONE})
_OF_TABLES = frozenset({"pandas", "polars", "xarray", "anndata", "datasets", "pyarrow", "dask", "scanpy"})
"""Libraries whose columns have `unique()`."""
_LABEL_LOSSES = frozenset({"torch.nn.functional.ctc_loss", "torch.ctc_loss", "torch.nn.CTCLoss"})
"""No setting keeps these in the graph: there is no kernel that tells the shapes."""
_ADVICE = {
    "nonzero": "count with `mask.sum()`, or keep the mask and use `torch.where(mask, a, b)`",
    "where": "keep the condition and use `torch.where(condition, a, b)`",
    "argwhere": "keep the mask and use `torch.where(mask, a, b)`",
    "masked_select": "for a sum or a mean use `torch.where(mask, x, 0)` and divide by `mask.sum()`",
    "unique": "with a known number of classes, scatter into a tensor of that size",
    "unique_consecutive": "compare neighbours and keep a mask",
    "bincount": "with a known number of classes, `torch.zeros(classes).scatter_add_(0, index, weights)`",
    "one_hot": "pass the number of classes: `one_hot(index, num_classes)`",
    "repeat_interleave": "pass `output_size=` if the sum of the repeats is known",
    "combinations": "pairs are `x[torch.triu_indices(len(x), len(x), 1, device=x.device)].T`, of a shape that is known",
    "lstsq": "call it outside the compiled code: the shape of the residuals depends on the rank",
}


class DataDependentShape(Rule):
    """Shape that depends on values."""

    code = "CF501"
    name = "data-dependent-shape"
    summary = "operation whose result has a shape that depends on values"
    gb = ("GB0033", "GB0036", "GB0246")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls by the API table, and indexing with a boolean mask."""
        drafts = drafts_of(scope)
        others = list(_others(drafts, scope))
        claimed = [(span, finding) for finding in others for span in _spans(finding)]
        checks = {node for call in checked_late(scope) for node in ast.walk(call)}
        captured = switched_on(SHAPES, scope)
        nodes: Sequence[ast.Call | ast.Subscript] = scope.among(ast.Call, ast.Subscript)
        refusing = masks_not_captured(scope)
        for node in nodes:
            if node in checks:
                continue  # CF103 carries the check to the boundary
            claims = [finding for span, finding in claimed if _within(scope.span(node), span)]
            if claims and any(_in_statement(finding, scope.statement(node)) for finding in others):
                continue
            found = self._call(node, scope) if isinstance(node, ast.Call) else self._index(node, drafts, scope)
            for finding in found:
                if claims:
                    # Another break of the elements that the fix of another rule does away with.
                    finding = replace(finding, declined=f"{GOES_WITH} {claims[0].code} on line {claims[0].span.line}")
                kept = "GB0033" in finding.gb or (isinstance(node, ast.Call) and scope.callee(node) in _LABEL_LOSSES)
                stays = None if kept else not_captured(node, scope)
                names = sorted(names_in(node.slice)) if isinstance(node, ast.Subscript) else []
                stays_too = stays or next((refusing[name] for name in names if name in refusing), None)
                if not kept and stays_too is not None and (finding.declined or "").endswith(_CAPTURE):
                    refused = f"`{SHAPES}` would not do: {stays_too}"
                    finding = replace(finding, declined=f"{(finding.declined or '').removesuffix(_CAPTURE)}{refused}")
                if not captured or kept or stays is not None:
                    yield finding

    def _call(self, node: ast.Call, scope: Scope) -> Iterator[Finding]:
        name = scope.callee(node) or _lists_places(node, scope) or ""
        method = name.startswith("Tensor.")
        api = torch_api.method(name.removeprefix("Tensor.")) if method else torch_api.function(name)
        short = name.rpartition(".")[2]
        if name in _LABEL_LOSSES:
            message = (
                f"`{snippet(node)}` gives tensors for the backward pass whose shape depends on values: the graph breaks"
            )
            yield self.declined(scope, node, message, "compute this loss outside the compiled code", gb=("GB0036",))
            return
        if api is None or short == "index" or not (api.dynamic or _in_form(api.dynamic_form, node, method, scope)):
            return
        receiver = scope.value(node.func.value) if method and isinstance(node.func, ast.Attribute) else None
        if receiver is not None and Kind.TENSOR not in receiver.kinds and not _lists_places(node, scope):
            return
        gb = ("GB0246",) if short == "one_hot" else ("GB0036",)
        reason = _ADVICE.get(short, "the number of results depends on values")
        if short not in ("one_hot", "repeat_interleave", "lstsq", "combinations"):
            reason = f"{reason}; {_CAPTURE}"
        yield self.declined(
            scope, node, f"the shape of `{snippet(node)}` depends on values: the graph breaks", reason, gb=gb
        )

    def _index(self, node: ast.Subscript, drafts: Sequence[Draft], scope: Scope) -> Iterator[Finding]:
        mask = mask_of(node, scope) or _apparent_mask(node, scope)
        if mask is None:
            return
        parent = scope.parents.get(node)
        in_place = isinstance(parent, ast.AugAssign) and parent.target is node
        if scope.value(mask).rank == 0:
            message = f"`{snippet(mask)}` has no dimension: as an index its value is read, and the graph breaks"
            filled = fill_of_one(parent, node, scope) if isinstance(parent, ast.Assign) else None
            if filled is not None:
                yield self.fixed(scope, node, message, Fix((filled,)), gb=("GB0033",))
                return
            reason = f"write `torch.where({snippet(mask)}, <new value>, {snippet(node.value)})`"
            yield self.declined(scope, node, message, reason, gb=("GB0033",))
            return
        if isinstance(node.ctx, ast.Store) and not in_place:
            return
        message = f"`{snippet(node)}` has as many elements as `{snippet(mask)}` has true values: the graph breaks"
        reason = _reason(node, drafts) or _advice(node, mask, in_place, scope)
        yield self.declined(scope, node, message, reason, gb=("GB0036",))


def _reason(node: ast.Subscript, drafts: Sequence[Draft]) -> str | None:
    """Why the elements that an index selects are not reduced over all elements, where all that is done is to reduce."""
    for draft in drafts:
        broken = draft.broken
        if broken is not None and any(node in ast.walk(definition) for definition in draft.elements.definitions):
            reduction = draft.found.node
            place = f"line {reduction.lineno}, `{snippet(reduction)}`"
            return f"{place}, cannot be computed of all elements: {broken}; {_BY_HAND}"
    return None


def _apparent_mask(node: ast.Subscript, scope: Scope) -> ast.expr | None:
    """What is surely a mask though it is not proved that a tensor is indexed with it.

    What all callers that are seen pass as a boolean tensor is one.
    """
    if not scope.value(node.value).may_be(Kind.TENSOR):
        return None
    parts = elements_of(node.slice)
    tensors = [part for part in parts if scope.value(part).is_tensor]
    passed = scope.legality.inference.passed_boolean(scope.function)
    masks = (p for p in tensors if is_mask(p, scope) or seems_mask(p, scope) or _is_called(p, passed, scope))
    found = next(masks, None)
    if found is not None:
        return found
    if not scope.value(node.value).is_tensor:
        return next((p for p in parts if _is_compared_itself(p, node.value, scope) or _selects_itself(p, scope)), None)
    # A tensor is indexed: something unknown with the name of a mask is one, as is what the docstring calls boolean, and
    # the result of a comparison.
    booleans = boolean_parameters(scope.function)
    for part in parts:
        value = scope.value(part)
        unknown = value.is_unknown or value.kinds == ARRAYS or (value.is_tensor and value.dtype is None)
        if (unknown and (named_mask(part, scope) or is_compared(part, scope))) or _is_called(part, booleans, scope):
            return part
    return None


def _is_compared_itself(mask: ast.expr, indexed: ast.expr, scope: Scope) -> bool:
    """Whether something unknown is indexed with its own comparison, `x[x > 0]`: only tensors and arrays take that."""
    if not isinstance(indexed, ast.Name) or not scope.value(indexed).is_unknown or not is_compared(mask, scope):
        return False
    compared = [mask]
    if isinstance(mask, ast.Name):
        given = (scope.parents.get(store) for store in scope.names(mask.id, stores=True))
        compared = [statement.value for statement in given if isinstance(statement, ast.Assign)]
    return all(
        isinstance(one, ast.Compare)
        and any(isinstance(part, ast.Name) and part.id == indexed.id for part in (one.left, *one.comparators))
        for one in compared
    )


def _selects_itself(mask: ast.expr, scope: Scope) -> bool:
    """Whether a name selects elsewhere from what it compares, so it is a mask: `boxes[keep]` beside `scores[keep]`.

    Also from all of what a loop goes through: `[x[keep] for x in (scores, boxes)]`.
    """
    if not isinstance(mask, ast.Name) or not is_compared(mask, scope):
        return False
    given = [scope.parents.get(store) for store in scope.names(mask.id, stores=True)]
    compared = {n.id for one in given if one is not None for n in ast.walk(one) if isinstance(n, ast.Name)} - {mask.id}
    loops: list[ast.comprehension | ast.For] = [*scope.of(ast.comprehension), *scope.of(ast.For)]
    for loop in loops:
        items = loop.iter.elts if isinstance(loop.iter, ast.List | ast.Tuple) else ()
        if isinstance(loop.target, ast.Name) and any(isinstance(i, ast.Name) and i.id in compared for i in items):
            compared.add(loop.target.id)
    return any(
        isinstance(other.slice, ast.Name)
        and other.slice.id == mask.id
        and isinstance(other.value, ast.Name)
        and other.value.id in compared
        for other in scope.of(ast.Subscript)
    )


def is_compared(node: ast.expr, scope: Scope, above: frozenset[str] = frozenset()) -> bool:
    """Whether an expression, or all that a name is given, is a comparison or made of comparisons.

    above: names that are asked for already, as in `mask = mask & other`.
    """
    if isinstance(node, ast.Name):
        if node.id in above:
            return node.id not in {parameter.arg for parameter in scope.function.parameters}
        given = [scope.parents.get(store) for store in scope.names(node.id, stores=True)]
        return bool(given) and all(_gives_comparison(statement, scope, above | {node.id}) for statement in given)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return is_compared(node.operand, scope, above)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        sides = [(side, is_compared(side, scope, above)) for side in (node.left, node.right)]
        # `(x == y) & mask`: no tensor of integers goes with a comparison to select rows, nor anything unknown.
        return any(so for _, so in sides) and all(
            so
            or seems_mask(side, scope)
            or (isinstance(side, ast.Name | ast.Subscript) and _may_be_mask(scope.value(side)))
            for side, so in sides
        )
    if not isinstance(node, ast.Compare) or not all(isinstance(op, _ORDERS) for op in node.ops):
        return False
    texts = (scope.value(part).const for part in (node.left, *node.comparators))
    return not any(const is not None and isinstance(const.value, str) for const in texts)


def _may_be_mask(value: Value) -> bool:
    return value.is_unknown or (value.kinds <= ARRAYS and value.dtype is None)


def _gives_comparison(statement: ast.AST | None, scope: Scope, above: frozenset[str]) -> bool:
    """Whether a statement gives a name a comparison, or joins one to it: `cond = a < b`, `cond &= a > 0`."""
    if isinstance(statement, ast.AugAssign):
        return (
            isinstance(statement.op, ast.BitAnd | ast.BitOr)
            and not isinstance(statement.value, ast.Name)
            and is_compared(statement.value, scope, above)
        )
    single = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    return (
        isinstance(statement, ast.Assign)
        and single
        and isinstance(statement.targets[0], ast.Name)
        and not isinstance(statement.value, ast.Name)
        and is_compared(statement.value, scope, above)
    )


def _is_called(node: ast.expr, names: Collection[str], scope: Scope) -> bool:
    """Whether an expression is one of these parameters, as it was passed."""
    if not isinstance(node, ast.Name) or node.id not in names or scope.names(node.id, stores=True):
        return False
    return scope.value(node).dtype in ("bool", None)


def other_fixes(scope: Scope) -> Iterator[Finding]:
    """What the rules for one form each say of the function."""
    yield from _others(drafts_of(scope), scope)


def _others(drafts: Sequence[Draft], scope: Scope) -> Iterator[Finding]:
    """What the rules for one form each say of the function."""
    yield from MaskedReduction().findings(drafts, scope)
    for rule in (MaskedWrite, ExpertLoop, KnownSize, FirstPlace):
        yield from scope.found(rule())


def _spans(finding: Finding) -> Iterator[Span]:
    yield finding.span
    if finding.fix is not None:
        yield from (edit.target for edit in finding.fix.edits)


def _in_statement(finding: Finding, statement: ast.stmt) -> bool:
    """Whether a finding stands in a statement, so that it speaks of the break there."""
    return statement.lineno <= finding.span.line <= (statement.end_lineno or statement.lineno)


def _within(inner: Span, outer: Span) -> bool:
    return (outer.line, outer.column) <= (inner.line, inner.column) and (inner.end_line, inner.end_column) <= (
        outer.end_line,
        outer.end_column,
    )


def _lists_places(node: ast.Call, scope: Scope) -> str | None:
    """The method where something unknown is asked for `nonzero()`, as arrays have it too, or what only tensors have.

    Tables have `unique()` too, but for its keywords: without any it says nothing of a column (`table.labels.unique()`),
    nor where a library of these is used.
    """
    func = node.func
    if not isinstance(func, ast.Attribute):
        return None
    distinct = func.attr == "unique" and (
        any(keyword.arg in _OF_UNIQUE for keyword in node.keywords)
        or (
            isinstance(func.value, ast.Name)
            and not (node.args or node.keywords or _OF_TABLES & scope.function.module.packages)
        )
    )
    if not distinct and func.attr not in ("nonzero", "masked_select", "bincount", "argwhere"):
        return None
    asked = scope.value(func.value)
    # What says nothing but None, as a method that subclasses write, gives something else there.
    return f"Tensor.{func.attr}" if asked.is_unknown or asked.kinds <= _ARRAYS_OR_NONE else None


def _in_form(form: str | None, node: ast.Call, method: bool, scope: Scope) -> bool:
    """Whether a call has the form in which a function of the table is dynamic."""
    keywords = {k.arg: k.value for k in node.keywords}
    if None in keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return False
    if form == "one_argument":
        return len(node.args) == 1 and not method and not {"input", "other"} & set(keywords)
    if form == "no_class_count":
        classes = node.args[1] if len(node.args) > 1 else keywords.get("num_classes")
        return classes is None or _counts_classes(classes, scope)
    if form == "tensor_repeats":
        size = keywords.get("output_size")
        if size is not None and (isinstance(size, ast.IfExp) or Kind.NONE not in scope.value(size).kinds):
            return False
        position = 0 if method else 1
        repeats = node.args[position] if len(node.args) > position else keywords.get("repeats")
        if repeats is None:
            return not method
        return scope.value(repeats).is_tensor or is_difference(repeats, scope)
    return False


def _counts_classes(classes: ast.expr, scope: Scope) -> bool:
    """Whether a number of classes is -1: in all calls, or in those that give none (`if classes is None: ...`)."""
    const = scope.value(classes).const
    if const is not None:
        return bool(const.value == -1)
    given = (
        [scope.parents[store] for store in scope.names(classes.id, stores=True)]
        if isinstance(classes, ast.Name)
        else []
    )
    return any(isinstance(by, ast.Assign) and _is_minus_one(by.value, scope) for by in given)


def _is_minus_one(node: ast.expr, scope: Scope) -> bool:
    const = scope.value(node).const
    return const is not None and bool(const.value == -1)


def _advice(node: ast.Subscript, mask: ast.expr, in_place: bool, scope: Scope) -> str:
    name, index = snippet(node.value), snippet(mask)
    if in_place:
        return f"write `torch.where({index}, <new value>, {name})`: the in-place form reads the masked elements first"
    statement = scope.statement(node)
    target = single_target(statement)
    if isinstance(target, ast.Subscript) and ast.dump(target.slice) == ast.dump(node.slice):
        whole_name = snippet(target.value)
        return f"write `{whole_name} = torch.where({index}, <new value>, {whole_name})`, with the mask expanded"
    return f"keep all elements and select with `torch.where({index}, ..., ...)`; {_CAPTURE}"
