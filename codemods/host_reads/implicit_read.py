"""CF202: a tensor where Python or torch needs a number.

## What it does
Finds the places that read a tensor's value without saying so: `x.new_full(size, t)`, `torch.full_like(x, t)`,
`math.sqrt(t)`, slice bounds (`x[:n]`), an index without dimensions (`x[i]`, `items[i]`), sizes (`torch.zeros(n)`,
`x.view(n, -1)`, `x.split(n)`), `range(n)`, `alpha=t`, `.tolist()`, `str(t)`. What is listed of integers and made a
tensor again, `torch.tensor([n // 2 for n in lengths.tolist()])`, is computed of the tensor.

## Why is this bad
The graph ends there as at `.item()` (GB0033, GB0124, GB0059, GB0109), and on a GPU the program waits for the device.

## Example
```python
padded = x.new_full(size, x.min() - 1)
row = table[scores.argmax()]
```

## Use instead
```python
padded = torch.full(size, x.min().detach() - 1, dtype=x.dtype, device=x.device)
row = table[scores.argmax().reshape(1)].squeeze(0)
```

## Fix safety
Fill values and functions of `math` follow the rules of CF201; a fill value that requires a gradient raises TypeError
and is detached now (`number-to-tensor`). One that only looks like a tensor, or is one in some calls, goes where a
number may go as well, `torch.empty_like(x).fill_(v)`: no error is raised where it does not fit the dtype
(`math-errors`). `x.add(y, alpha=t)` becomes `x.add(y * t)`, which rounds once more (`float32-rounding`; integers in `y`
would overflow: `same-shape-dtype`). A row that is picked with an index tensor is a copy and not a view (`no-aliasing`,
unless it goes straight into arithmetic), and on a GPU an index out of range fails in the kernel instead of raising
IndexError (`number-to-tensor`). What is written at an index (`x[b, i] = v`, `x[i] += v`) is written at an index tensor,
which takes no other dtype unless `v` is a number (`same-shape-dtype`). What only seems to be one number, as an item of
what is read as a vector elsewhere in the function, is taken for one (`condition-one-element`, `enough-dimensions`). An
item of a list of tensors is picked from their stack: they must be of one shape and dtype (`same-shape-dtype`), and
those not picked get gradients of zero instead of None (`gradient-zeros`, `finite-derivative`). A slice of fixed length
that is read or written (`cache[:, n : n + k] = new`), beside fixed numbers or slices, becomes an index of its places,
which goes round where the slice is cut off or counts from the end (`index-in-range`), and refuses to be written with
another dtype (`same-shape-dtype`); one that is read before it is written needs `no-recompute`; two of them stand side
by side (`x[..., i : i + h, j : j + w]`). A length of which nothing is known is taken for a Python integer
(`static-shape-values`). `torch.arange(n, n + length)` with a known length becomes `n + torch.arange(length)`, where `n`
is on the device of the range (`number-to-tensor`). A slice that is reduced over its dimension becomes a reduction of
all elements, as CF201 does it (`not-negative`, and `enough-dimensions` where that dimension is not proved to exist),
and a slice that a number is written to is filled where a mask says, with the assumptions that CF201 names.
Another slice bound is read as a number and checked before the slice, and so are the numbers of a list, which can then
stay in the graph with a flag (`capture-scalars`, `index-in-range`, `not-negative`: see CF201). A tensor whose numbers a
loop only uses as sizes (`for t, h, w in grid:`) is read as a list for the same reason (`capture-scalars`, and
`enough-dimensions` where its dimensions are not proved; `number-to-tensor` where a sum of numbers of fewer than 64 bits
might wrap round). Other sizes and `range` have no such form: where the number is known without its tensor see CF203,
else CF205. A list of numbers (`low, high = t.tolist()`, `for w in t.tolist()`, a list with one name of which items are
read) becomes `t.unbind()` where CF201 would follow each of its numbers, with what CF201 says of them, for a tensor of
one dimension (`enough-dimensions` where that is not proved). Of a list of integers `max`, `min` and `sum` become
those of the tensor (`dimension-not-empty`: of no elements another exception is raised). A list of the places that
`torch.where` or `nonzero` has just found, which only indexes tensors, becomes the tensor of these places
(`number-to-tensor`: a list is on no device).

Graph breaks: GB0033, GB0059, GB0109, GB0124, GB0569. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.param_groups import keeps_groups
from compilefix.analysis.values import ARRAYS, Kind, Value
from compilefix.codemods.capture_flags import SCALARS, switched_on
from compilefix.codemods.dynamic_shapes.expert_numbers import goes_with_loop
from compilefix.codemods.finding import Finding, Fix, Span
from compilefix.codemods.host_reads.captured import CAPTURE, holds_integers, not_captured
from compilefix.codemods.host_reads.checked_bounds import checked_fix, checked_tensor_fix
from compilefix.codemods.host_reads.filled_slices import filled_slices
from compilefix.codemods.host_reads.fixed_attribute import made_for_item, made_in_init
from compilefix.codemods.host_reads.integer_places import integer_place, place_in_parts, takes_listed_dimensions
from compilefix.codemods.host_reads.listed_places import indexing_fix
from compilefix.codemods.host_reads.listed_rows import listed_fix
from compilefix.codemods.host_reads.listed_sizes import listed_sizes
from compilefix.codemods.host_reads.number_lists import LIST_ADVICE, list_fix
from compilefix.codemods.host_reads.number_rewrite import number_fix
from compilefix.codemods.host_reads.number_sinks import Fill, Picked, fill_of, in_log, index_of, rolled_by, scaled_by
from compilefix.codemods.host_reads.numbers_listed_again import listed_again_fix
from compilefix.codemods.host_reads.passed_on import is_only_passed_on
from compilefix.codemods.host_reads.reduced_slices import reduced_slice
from compilefix.codemods.host_reads.shifted_range import length_of, shifted
from compilefix.codemods.host_reads.static_number import reads_static
from compilefix.codemods.host_reads.tensor_range import listed
from compilefix.codemods.host_reads.vector_items import is_place_at_times, numbers_in_turn, seems_one_number
from compilefix.codemods.host_reads.windows import Window, window_of
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.ruled_out import is_ruled_out
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports
from compilefix.source.snippets import snippet

_LOAD = ast.Load()
_FROM_OUTSIDE = "pass the number in from outside the compiled code"
_OUTSIDE = f"{_FROM_OUTSIDE}, or keep all elements and mask those behind it"
_PLAIN = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Return, ast.Assert)
_SCALARS = frozenset({"alpha", "value", "beta"})
_SUMS = frozenset({"add", "sub", "addmm", "baddbmm", "addbmm", "addmv", "addr", "index_add"})
# Dynamo multiplies first in `x.add_(y, alpha=t)`, `x.addcmul_`, `x.addcdiv_` and `torch.addcdiv`.
_SCALAR_CALLS = (_SUMS | {f"{name}_" for name in _SUMS} | {"addcmul"}) - {"add_"}
_NUMBERS_ONLY = frozenset({"range", "arange", "linspace", "logspace", "randint", "randperm", "eye", "multinomial"})
_READERS = frozenset({"torch.arange", "Tensor.tolist", "str", "repr"})


class ImplicitRead(Rule):
    """Tensor where a number is needed."""

    code = "CF202"
    name = "implicit-number"
    summary = "tensor used as size, index, slice bound, fill value or other number"
    gb = ("GB0033", "GB0059", "GB0109", "GB0124", "GB0569")
    assumptions = (
        "condition-one-element",
        "number-to-tensor",
        "float32-rounding",
        "math-errors",
        "branches-total",
        "is-tensor",
        "no-aliasing",
        "same-shape-dtype",
        "gradient-zeros",
        "finite-derivative",
        "no-recompute",
        "not-negative",
        "enough-dimensions",
        "dimension-not-empty",
        "summation-order",
        "mask-not-empty",
        "index-in-range",
        "log-late",
        "exception-late",
        "static-shape-values",
        "capture-scalars",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Tensors in the places of numbers, and whole tensors that are read."""
        told: dict[tuple[str, str | None], list[Span]] = {}
        for finding in self._read(scope):
            before = told.setdefault((finding.message, finding.declined), [])
            repeats = finding.fix is None and any(_in_one_statement(span, finding.span, scope) for span in before)
            before.append(finding.span)
            yield replace(finding, repeats=True) if repeats else finding

    def _read(self, scope: Scope) -> Iterator[Finding]:
        known = scope.facts.values
        for node in scope.nodes:
            if isinstance(node, ast.Call) and _may_read(node, scope):
                yield from self._call(node, scope)
            elif isinstance(node, ast.BinOp) and _is_text_of_tensor(node, scope):
                message = f"`{snippet(node)}` reads a tensor's value on the host and breaks the graph"
                reason = "make the text outside the compiled code"
                yield self.declined(scope, node, message, reason, gb=("GB0033", "GB0208"))
            value = known.get(node)
            if value is None or not isinstance(node, ast.expr):
                continue
            if value.element is not None:
                yield from self._holding(node, value, scope)
            if Kind.TENSOR in value.kinds and isinstance(getattr(node, "ctx", _LOAD), ast.Load):
                yield from self._perhaps_tensor(node, value, scope)

    def _holding(self, node: ast.expr, value: Value, scope: Scope) -> Iterator[Finding]:
        """A list of tensors where torch takes dimensions or sizes."""
        if _lists_dimensions(node, value, scope):
            message = f"`{snippet(node)}` holds tensors, which are read on the host as dimensions: the graph breaks"
            yield self.declined(scope, node, message, "make a list of Python numbers: `range`", gb=("GB0033",))
        elif (item := _tensor_of_sizes(node, value, scope)) is not None:
            holds = "holds" if item.certain else "seems to hold"
            message = f"`{snippet(node)}` {holds} a tensor, which is read on the host as a size: the graph breaks"
            fix = listed_sizes(node, scope)
            if fix is not None:
                yield self.fixed(scope, node, message, fix, gb=("GB0033",))
            else:
                yield self.declined(scope, node, message, _OUTSIDE, gb=("GB0033",))

    def _perhaps_tensor(self, node: ast.expr, value: Value, scope: Scope) -> Iterator[Finding]:
        """What is a tensor, looks like one, or is one in some calls."""
        proved = value.is_tensor and value.certain and value.dtype != "complex"
        if (written := _written_at(node, scope)) is not None:
            yield from self._write(node, written, scope)
        elif value.is_tensor and (factor := _factor(node, scope)) is not None:
            if proved and scaled_by(node, scope) is not None:
                yield self._number(node, f"`{factor}=`", ("GB0033",), scope)
                return
            reason = f"multiply the tensor first: `{factor}` takes a Python number, and the sum rounds otherwise"
            yield self.declined(scope, node, _message(node, f"`{factor}=`"), reason, gb=("GB0033",))
        elif proved and not reads_static(node, scope):
            yield from self._tensor(node, scope)
        elif (value.declared or not value.certain) and (filled := fill_of(node, scope)) is not None:
            if filled.build is not None and value.dtype != "complex":
                yield self._filled(node, filled, scope)
        elif value.is_tensor and value.rank == 0 and value.dtype in ("int", None) and _is_part_of_index(node, scope):
            yield self._seeming(node, "an index", ("GB0033",), scope)
        elif _is_part_of_index(node, scope) and is_place_at_times(node, scope):
            if not is_ruled_out(node, scope):
                reason = f"`{snippet(node)}` is a tensor in some calls only; {_FROM_OUTSIDE}"
                yield self.declined(scope, node, _message_of_some(node, value, "an index"), reason, gb=("GB0033",))
        elif (window := window_of(node, scope)) is not None and window.first is node:
            yield self._window(node, window, scope)
        elif window is not None and isinstance(scope.parents.get(node), ast.Slice):
            reason = f"goes with the fix of `{snippet(window.first)}`"
            yield self.declined(scope, node, _message(node, "a slice bound"), reason, gb=("GB0124",))
        elif (place := integer_place(node, scope)) is not None:
            yield from self._not_proved(node, value, place, scope)
        elif value.is_tensor and (place := place_in_parts(node, scope)) is not None and not switched_on(SCALARS, scope):
            yield self._seeming(node, place, _ids(place), scope)

    def _not_proved(self, node: ast.expr, value: Value, place: str, scope: Scope) -> Iterator[Finding]:
        """What is not proved to be a tensor, where an integer is needed."""
        if value.sometimes_tensor:
            if is_ruled_out(node, scope):
                return
            why = "may be a NumPy number" if value.kinds <= ARRAYS else "is a tensor in some calls only"
            works = not_captured(node, scope)
            if works is None and switched_on(SCALARS, scope):
                return
            reason = f"`{snippet(node)}` {why}; {CAPTURE if works is None else _FROM_OUTSIDE}"
            yield self.declined(scope, node, _message_of_some(node, value, place), reason, gb=("GB0033",))
        elif value.is_tensor and (listed_rows := listed_fix(node, scope)) is not None:
            yield self._listed(node, place, listed_rows, scope)
        elif (
            value.is_tensor
            and not (_may_be_shape(node, scope) or reads_static(node, scope))
            and not is_only_passed_on(node, scope)
        ):
            yield self._seeming(node, place, _ids(place), scope)

    def _seeming(self, node: ast.expr, place: str, gb: tuple[str, ...], scope: Scope) -> Finding:
        """What looks like a tensor."""
        reason = f"`{snippet(node)}` looks like a tensor, which is not proved; if it is one: {_OUTSIDE}"
        return self.declined(scope, node, _likely_message(node, place), reason, gb=gb)

    def _call(self, node: ast.Call, scope: Scope) -> Iterator[Finding]:
        name = scope.callee(node) or ""
        if listed(node, scope) is not None:
            return
        length = length_of(node, scope)
        if length is not None:
            fix = shifted(node, length, scope)
            yield self.fixed(scope, node, _message(node.args[0], "the start of a range"), fix, gb=("GB0033",))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "tolist" and not node.args and not name:
            if scope.value(node.func.value).is_unknown:
                message = f"`{snippet(node)}` reads all values on the host and breaks the graph"
                reason = f"`{snippet(node.func.value)}` is not proved to be a tensor; if it is one: {LIST_ADVICE}"
                yield self.declined(scope, node, message, reason, gb=("GB0033", "GB0109"))
        elif name == "Tensor.tolist" and not node.args and isinstance(node.func, ast.Attribute):
            if reads_static(node.func.value, scope) or made_in_init(node, scope) is not None:
                return
            message = f"`{snippet(node)}` reads all values on the host and breaks the graph"
            whole_of = node.func.value
            whole = scope.value(whole_of)
            gb = ("GB0109",) if whole.dtype == "float" else ("GB0033",)
            placed = listed_again_fix(node, scope) or indexing_fix(node, whole_of, scope)
            outcome = placed or list_fix(node, whole_of, scope)
            if isinstance(outcome, str) and holds_integers(node, scope):
                outcome = checked_fix(node, (), scope) or outcome
            if isinstance(outcome, str):
                if holds_integers(node, scope) and not_captured(node, scope) is None:
                    if switched_on(SCALARS, scope):
                        return
                    outcome = f"{outcome}; {CAPTURE}"
                yield self.declined(scope, node, message, outcome, gb=gb)
            else:
                yield self.fixed(scope, node, message, outcome, gb=gb)
        elif name in ("str", "repr") and len(node.args) == 1 and not in_log(node, scope):
            value = scope.value(node.args[0])
            if value.is_tensor and value.certain:
                message = f"`{snippet(node)}` reads a tensor's value on the host and breaks the graph"
                reason = "make the text outside the compiled code"
                yield self.declined(scope, node, message, reason, gb=("GB0569",) if name == "repr" else ("GB0059",))

    def _tensor(self, node: ast.expr, scope: Scope) -> Iterator[Finding]:
        filled = fill_of(node, scope)
        parent = scope.parents.get(node)
        called = (scope.callee(parent) or "") if isinstance(parent, ast.Call) else ""
        if isinstance(parent, ast.Call) and length_of(parent, scope) is not None:
            return
        if (filled is not None and filled.build is not None) or called.startswith("math."):
            what = "a fill value" if filled is not None else f"an argument of `{called}`"
            yield self._number(node, what, ("GB0033",), scope)
        elif isinstance(parent, ast.Subscript) and parent.slice is node and isinstance(parent.ctx, ast.Load):
            if not _is_state_of_optimizer(parent.value, scope):
                yield from self._index(node, parent, scope)
        elif isinstance(parent, ast.Tuple) and index_of(node, scope) is not None:
            if scope.value(node).rank == 0 and scope.value(node).dtype == "int":
                yield self._place(node, scope)
            elif _may_be_place(scope.value(node)) or _seems_item(node, scope):
                yield self._item(node, scope)
        elif isinstance(parent, ast.Tuple | ast.List) and _is_index_of_tensor(parent, scope):
            if _may_be_place(scope.value(node)):
                reason = f"`{snippet(node)}.reshape(1)` keeps it on the device, and leaves a dimension of one element"
                if isinstance(parent, ast.List):
                    reason = "`torch.stack` makes an index of tensors, which stays on the device"
                yield self.declined(scope, node, _message(node, "an index"), reason, gb=("GB0033",))
        elif reduced_slice(node, scope) is not None or filled_slices(node, scope) is not None:
            yield self._number(node, "a slice bound", ("GB0124",), scope)
        elif isinstance(parent, ast.Slice) and (first := _window_start(parent, scope)) is not None:
            if node is first:
                yield self._number(node, "a slice bound", ("GB0124",), scope)
            elif (isinstance(node, ast.Name) and scope.value(first).is_tensor) or not isinstance(
                number_fix(first, first, "item", scope), str
            ):
                reason = f"goes with the fix of `{snippet(first)}`"
                yield self.declined(scope, node, _message(node, "a slice bound"), reason, gb=("GB0124",))
        elif rolled_by(node, scope) is not None:
            yield self._number(node, "a shift", ("GB0033",), scope)
        elif (place := integer_place(node, scope)) is not None:
            if made_for_item(node, scope) is not None:
                return
            if place == "a slice bound" and (fix := checked_tensor_fix(node, scope)) is not None:
                yield self.fixed(scope, node, _message(node, place), fix, gb=_ids(place))
                return
            if (listed_rows := listed_fix(node, scope)) is not None:
                yield self._listed(node, place, listed_rows, scope)
                return
            works = not_captured(node, scope)
            if works is None and switched_on(SCALARS, scope):
                return
            reason = CAPTURE if works is None else _OUTSIDE
            yield self.declined(scope, node, _message(node, place), reason, gb=_ids(place))
        elif (place := place_in_parts(node, scope)) is not None and not switched_on(SCALARS, scope):
            yield self.declined(scope, node, _message(node, place), _OUTSIDE, gb=_ids(place))

    def _listed(self, node: ast.expr, place: str, found: tuple[ast.Name, Fix], scope: Scope) -> Finding:
        """A number of a tensor that a loop goes through, which is read as a list for all of them."""
        first, fix = found
        message = _message(node, place) if scope.value(node).certain else _likely_message(node, place)
        if first not in ast.walk(node):
            reason = f"goes with the fix of `{first.id}` in line {first.lineno}"
            return self.declined(scope, node, message, reason, gb=_ids(place))
        return self.fixed(scope, node, message, fix, gb=_ids(place))

    def _window(self, node: ast.expr, window: Window, scope: Scope) -> Finding:
        """What looks like a tensor begins a slice of fixed length: the index of its places takes a number, too."""
        template = Template()
        template.refuse(window.obstacles(scope))
        template.refuse(scope.recomputed(node))
        if scope.value(node).rank != 0:
            reason = f"`{snippet(node)}` is not proved to have one element, and with more another error is raised"
            template.refuse([Obstacle(reason, "condition-one-element")])
        code = window.code(template.use(node), template, scope)
        if template.broken is not None:
            return self.declined(scope, node, _message(node, "a slice bound"), template.broken, gb=("GB0124",))
        edit = scope.edit(window.item, code, **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, node, _message(node, "a slice bound"), fix, gb=("GB0124",))

    def _filled(self, node: ast.expr, filled: Fill, scope: Scope) -> Finding:
        """What looks like a tensor fills another one: the code that takes a tensor takes a number too."""
        assert filled.build is not None
        template = Template()
        reason = (
            f"`{snippet(node)}` may require a gradient: it raises TypeError as a fill value, and takes part in it now"
        )
        template.refuse([Obstacle(reason, "number-to-tensor")])
        if scope.value(filled.target).dtype != "float":
            reason = f"where `{snippet(node)}` does not fit the dtype of `{snippet(filled.target)}` no error is raised"
            template.refuse([Obstacle(reason, "math-errors")])
        code = filled.build(template.use, template.use, False)
        edit = scope.edit(filled.call, code, **template.parts)
        fix = Fix((edit,), imports(scope) if "torch." in code else (), template.assumptions, template.reasons)
        value, what = scope.value(node), "a fill value"
        message = _message_of_some(node, value, what) if value.declared else _message(node, what)
        return self.fixed(scope, node, message, fix, gb=("GB0033",))

    def _index(self, node: ast.expr, parent: ast.Subscript, scope: Scope) -> Iterator[Finding]:
        value, base = scope.value(node), scope.value(parent.value)
        if base.is_tensor:
            if value.rank == 0 and value.dtype == "int":
                yield self._place(node, scope)
            elif _may_be_place(value) or (value.dtype in ("int", None) and _seems_item(node, scope)):
                yield self._item(node, scope)
        elif (base.is_(Kind.CONTAINER) and base.ref != "dict") or (base.ref or "").startswith("torch.nn."):
            yield self._number(node, "an index", ("GB0124",), scope)

    def _write(self, node: ast.expr, target: ast.Subscript, scope: Scope) -> Iterator[Finding]:
        """`x[i] = v`: an integer without dimensions says on the host where is written. One that is bool is a mask."""
        value, base = scope.value(node), scope.value(target.value)
        if not base.is_tensor or reads_static(node, scope):
            return
        picked = index_of(node, scope)
        if value.is_scalar_tensor and value.dtype == "int":
            if picked is not None:
                yield self._place(node, scope)
                return
            reason = f"`{snippet(node)}.reshape(1)` keeps it on the device, where what is written fits that"
            yield self.declined(scope, node, _message(node, "an index"), reason, gb=("GB0033",))
        elif picked is not None and value.certain and value.rank is None and value.dtype == "int":
            yield from [self._item(node, scope)] if _seems_one_place(node, picked, scope) else ()

    def _item(self, node: ast.expr, scope: Scope) -> Finding:
        if scope.value(node).dtype_id == "int64":
            return self._number(node, "an index", ("GB0033",), scope)
        reason = f"`{snippet(node)}` seems to be one number, which is not proved; if it is: {_OUTSIDE}"
        return self.declined(scope, node, _message(node, "an index"), reason, gb=("GB0033",))

    def _place(self, node: ast.expr, scope: Scope) -> Finding:
        """An index into a tensor. One of dtype uint8 is a mask."""
        if scope.value(node).dtype_id != "int64":
            reason = f"`{snippet(node)}` is not proved to be of dtype int64, and of dtype uint8 it would be a mask"
            return self.declined(scope, node, _message(node, "an index"), reason, gb=("GB0033",))
        return self._number(node, "an index", ("GB0033",), scope)

    def _number(self, node: ast.expr, what: str, gb: tuple[str, ...], scope: Scope) -> Finding:
        refuses = what in ("a fill value", "`alpha=`", "`value=`")
        outcome = number_fix(node, node, "implicit" if refuses else "item", scope)
        if isinstance(outcome, str):
            outcome = goes_with_loop(node, node, scope) or outcome
            return self.declined(scope, node, _message(node, what), outcome, gb=gb)
        return self.fixed(scope, node, _message(node, what), outcome, gb=gb)


def _in_one_statement(first: Span, second: Span, scope: Scope) -> bool:
    """Whether two places stand in one statement that has no others in it."""
    start, end = min(first.line, second.line), max(first.end_line, second.end_line)
    return any(
        isinstance(node, _PLAIN) and node.lineno <= start and end <= (node.end_lineno or 0) for node in scope.nodes
    )


def _is_state_of_optimizer(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is `self.state` of an optimizer, in which its parameters are keys."""
    cls = scope.function.cls
    if cls is None or not isinstance(node, ast.Attribute) or node.attr != "state":
        return False
    return keeps_groups(cls, scope.legality.inference.project)


def _may_read(node: ast.Call, scope: Scope) -> bool:
    """Whether a call has one of the names that `_call` looks for."""
    return scope.callee(node) in _READERS or (isinstance(node.func, ast.Attribute) and node.func.attr == "tolist")


def _written_at(node: ast.expr, scope: Scope) -> ast.Subscript | None:
    """The subscript that is written to with an expression as index, or as one of its indices."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Tuple):
        node, parent = parent, scope.parents.get(parent)
    written = isinstance(parent, ast.Subscript) and parent.slice is node and isinstance(parent.ctx, ast.Store)
    return parent if written and isinstance(parent, ast.Subscript) else None


def _seems_one_place(node: ast.expr, picked: Picked, scope: Scope) -> bool:
    return seems_one_number(node, scope) or numbers_in_turn(node, picked.put, scope)


def _factor(node: ast.expr, scope: Scope) -> str | None:
    """The keyword of a sum that scales one of its parts by an expression; None where it does not."""
    parent = scope.parents.get(node)
    if not isinstance(parent, ast.keyword) or parent.arg not in _SCALARS or reads_static(node, scope):
        return None
    call = scope.parents.get(parent)
    called = (scope.callee(call) or "") if isinstance(call, ast.Call) else ""
    found = called == "Tensor.addcdiv" or called.rpartition(".")[2] in _SCALAR_CALLS
    return parent.arg if found else None


def _window_start(part: ast.Slice, scope: Scope) -> ast.expr | None:
    """The first bound of a slice of fixed length that begins at a tensor."""
    return part.lower if part.lower is not None and window_of(part.lower, scope) is not None else None


def _may_be_shape(node: ast.expr, scope: Scope) -> bool:
    """Whether a parameter that only looks like a tensor stands where a whole shape may stand: `torch.zeros(size)`."""
    parent = scope.parents.get(node)
    if not isinstance(node, ast.Name) or not scope.value(node).origin or not isinstance(parent, ast.Call):
        return False
    return (scope.callee(parent) or "").rpartition(".")[2] not in _NUMBERS_ONLY


def _ids(place: str) -> tuple[str, ...]:
    return ("GB0124",) if "slice" in place else ("GB0059",) if "range" in place else ("GB0033",)


def _lists_dimensions(node: ast.expr, value: Value, scope: Scope) -> bool:
    """Whether torch takes a list of tensors, made elsewhere, for dimensions."""
    item = value.element
    if item is None or not (item.is_tensor and item.certain) or not value.is_(Kind.CONTAINER):
        return False
    listed = isinstance(node, ast.Tuple | ast.List)  # each of its items is looked at by itself
    return not listed and takes_listed_dimensions(node, scope)


def _tensor_of_sizes(node: ast.expr, value: Value, scope: Scope) -> Value | None:
    """The item that is a tensor, of a list or tuple that was made elsewhere and that torch takes for sizes."""
    if isinstance(node, ast.Tuple | ast.List) or not value.is_(Kind.CONTAINER) or value.ref == "dict":
        return None
    items = value.elements if value.elements is not None else (value.element,)
    found = next((item for item in items if item is not None and _is_size_or_tensor(item)), None)
    return found if found is not None and integer_place(node, scope) == "a size" else None


def _is_size_or_tensor(value: Value) -> bool:
    """Whether a value is a tensor, or a number in some calls or at some places of a list and a tensor in others."""
    numbers = value.kinds - {Kind.TENSOR}
    return Kind.TENSOR in value.kinds and numbers <= {Kind.STATIC, Kind.SIZE, Kind.NUMBER}


def _is_text_of_tensor(node: ast.BinOp, scope: Scope) -> bool:
    """Whether `"%d" % x` makes a text of a tensor. That of an exception is made where nothing is compiled."""
    if not isinstance(node.op, ast.Mod) or not isinstance(node.left, ast.Constant) or in_log(node, scope):
        return False
    if not isinstance(node.left.value, str):
        return False
    parts = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
    if any(isinstance(outer, ast.Raise | ast.Assert) for outer in scope.ancestors(node)):
        return False
    return any(scope.value(part).is_tensor and scope.value(part).certain for part in parts)


def _seems_item(node: ast.expr, scope: Scope) -> bool:
    return scope.value(node).rank is None and seems_one_number(node, scope)


def _may_be_place(value: Value) -> bool:
    """Whether a tensor without dimensions may be an integer: no other number is taken as an index."""
    return value.rank == 0 and value.dtype in ("int", None)


def _is_part_of_index(node: ast.expr, scope: Scope) -> bool:
    parent = scope.parents.get(node)
    return _is_index_of_tensor(parent if isinstance(parent, ast.Tuple) else node, scope)


def _is_index_of_tensor(node: ast.expr, scope: Scope) -> bool:
    """Whether a tensor is read at an index, or at several: an integer among them is read, whatever the others are."""
    parent = scope.parents.get(node)
    reads = isinstance(parent, ast.Subscript) and parent.slice is node and isinstance(parent.ctx, ast.Load)
    return isinstance(parent, ast.Subscript) and reads and scope.value(parent.value).is_tensor


def _message(node: ast.expr, what: str) -> str:
    return f"`{snippet(node)}` is a tensor, and as {what} its value is read on the host: the graph breaks"


def _message_of_some(node: ast.expr, value: Value, what: str) -> str:
    if Kind.NDARRAY in value.kinds:
        what_is_it = f"`{snippet(node)}` is a tensor or a NumPy number{'' if value.kinds <= ARRAYS else ' at times'}"
        return f"{what_is_it}, and read on the host as {what}: the graph breaks"
    return f"`{snippet(node)}` is a tensor at times, and read on the host then as {what}: the graph breaks"


def _likely_message(node: ast.expr, what: str) -> str:
    return f"`{snippet(node)}` looks like a tensor, which is read on the host as {what}: the graph breaks if it is one"
