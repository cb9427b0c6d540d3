"""CF205: numbers that stay in the graph only with a flag.

## What it does
Finds a `torch.compile` whose code reads numbers from tensors as sizes of new tensors, as results, or for arithmetic
that no other rule rewrites, one by one or as a list (`x.split(counts.tolist())`), and switches
`torch._dynamo.config.capture_scalar_outputs` on where it is compiled. In a file by itself, where nothing is compiled,
it is switched on behind the imports. The fix is made when no other one is left to make.

## Why is this bad
Each such read ends the graph (GB0124, GB0033), and on a GPU the program waits for the device. With the flag the number
is a symbol in the graph. It still waits for the device, once the size is needed.

## Example
```python
def forward(x, index):
    return x.new_zeros(int(index.max()) + 1).scatter_add(0, index, x)

model = torch.compile(forward)
```

## Use instead
```python
torch._dynamo.config.capture_scalar_outputs = True
model = torch.compile(forward)
```

## Fix safety
The flag counts for the whole process, and what is compiled with it is compiled in another way (`capture-scalars`). A
number that bounds a slice makes the compilation fail with the flag on, unless `torch._check` says where the slice lies
(CF201 and CF202 write these checks); one that picks an item of a list does, and so does one that is a size of what a
convolution, `grid_sample`, `einsum`, a product of batches or multi-head attention is given: nothing is offered where
the compiled code has one of these, or asks a number for its truth, also where it is compiled by another call in the
project, or reads a tensor by items of another one that have names (`i, j = order`); the finding names it.
Of a number that is an argument's own (`n.item()`, not `lengths.max().item()`), torch 2.13 fails on more: normalising,
pooling, attention, `roll`, `diff`, and a result with a gradient that is joined of tensors of such sizes. A list must
hold integers, by the dtype of its tensor or as the sizes of parts, since one of floats breaks the graph with the flag
as without; where the code asks for the size of such a part, or takes its running sum or standard deviation, nothing is
offered. `view` and `reshape` take such a number, `repeat` where no gradient goes back through it (torch 2.13). A slice
up to the sum of such a list compiles with torch 2.13, and not with 2.11 (inductor, on an H200). What is padded by such
a number is taken to fail where a slice up to it does (`F.pad`, measured with 2.13 on a CPU: products and softmax fail,
and what is computed element by element, reduced or averaged compiles, with a gradient too). A view that may cut the
last dimension in pieces and count these with others (`rows.view(-1, 4)`), of a tensor with such a size, is left alone:
inductor of torch 2.13 gives the pieces of one row alone, without an error (2.11 does not). Where two slices have a
bound that is read from one place twice (`v[o[i].item() : o[i + 1].item()]` in each turn), training fails with 2.13. In
a file where nothing is compiled that is all its code, with what it calls and where it returns the number to. Nothing is
offered in a package where nothing is compiled: the flag would count for all the code of whoever imports it.

What it brings is little on a CPU: a pooling like the one above, called with eight numbers of rows in turn, took 17, 19
and 106 us of processor time per call with the flag for 3, 1,000 and 100,000 values, 31, 34 and 105 us without it, and
7, 8 and 121 us not compiled (torch 2.13, inductor, one thread, 2026-11-21). It compiled one graph instead of three.

Graph breaks: GB0033, GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.compile_sites import CompileSite
from compilefix.analysis.values import Kind
from compilefix.codemods.callers import callers
from compilefix.codemods.capture_flags import SCALARS
from compilefix.codemods.flag_rule import FlagRule, Need, library_roots, scopes_reached
from compilefix.codemods.host_reads.captured import bounds_slices, holds_integers, is_list, not_captured
from compilefix.codemods.host_reads.implicit_read import ImplicitRead
from compilefix.codemods.host_reads.item_indices import item_indices
from compilefix.codemods.host_reads.number_arithmetic import NumberArithmetic, reads
from compilefix.codemods.host_reads.number_helpers import only_reads
from compilefix.codemods.host_reads.read_twice import read_twice
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.unknown_rows import failing_layer, fails_where_cut, fails_where_made, miscounted_view
from compilefix.source.snippets import snippet


class CaptureFlag(FlagRule):
    """Numbers that stay in the graph only with a flag."""

    code = "CF205"
    name = "capture-flag"
    summary = "compiled code that reads sizes or results from tensors, without capture_scalar_outputs"
    gb = ("GB0033", "GB0124")
    flag = SCALARS
    reason = "the flag counts for the whole process, and the compiled code gets symbols in place of numbers"

    def need_here(self, scope: Scope) -> tuple[ast.expr, Need] | None:
        """The first number that only the flag keeps in the graph, and what of the file it would not keep there."""
        found = (node for node in _numbers(scope) if _is_wanted(node, scope) and not _is_for_nobody(node, scope))
        wanted = next((node for node in found if not_captured(node, scope) is None), None)
        if wanted is None:
            return None
        region = list(scopes_reached(library_roots(scope), scope))
        refused = _refused_in(region)
        message = f"`{snippet(wanted)}` is read on the host: the graph breaks without `{SCALARS}`"
        return wanted, Need(message, None if refused is None else f"the flag would not do for {refused}")

    def need_of(self, site: CompileSite, region: Sequence[Scope]) -> Need | None:
        """The numbers that compiled code reads."""
        numbers = [(node, inner) for inner in region for node in _numbers(inner)]
        wanted = [snippet(node) for node, inner in numbers if _is_wanted(node, inner)]
        if not wanted:
            return None
        refused = _refused_in(region)
        message = f"`{site.label}` reads {_count(wanted)}, which only `{SCALARS}` keeps in the graph"
        return Need(message, None if refused is None else f"the flag is not enough: {refused}")

    def fails_elsewhere(self, region: Sequence[Scope]) -> str | None:
        """A number that the flag would not do for."""
        return _refused_in(region)


def _refused_in(region: Sequence[Scope]) -> str | None:
    """The first number that the flag would not do for, and why."""
    # Not only of those that are left: which other fixes are made is not known before the last pass.
    numbers = ((node, inner) for inner in region for node in _numbers(inner, every=True))
    reasons = (words for node, inner in numbers if (words := _refused(node, inner, region)))
    return next(reasons, None) or next((_of_item(place, inner) for place, inner in item_indices(region)), None)


def _of_item(place: ast.Subscript, scope: Scope) -> str:
    where = f"`{snippet(place)}` in `{scope.function.qualname}`"
    return f"{where}: an index by an item of a tensor may be a number there, and inductor fails on some of these"


def _refused(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """Why the flag would not do for a number, and where that is."""
    reason = not_captured(node, scope) or _fails_behind(node, scope, region)
    return None if reason is None else f"`{snippet(node)}` in `{scope.function.qualname}`: {reason}"


def _fails_behind(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """Why a tensor with this number as a size fails in a layer, or comes out wrong of a view; a float is no size."""
    if scope.value(node).dtype == "float":
        return None
    cut = (_read_again(node, scope) or fails_where_cut(node, scope, region)) if bounds_slices(node, scope) else None
    reason = cut or failing_layer(node, scope, region) or miscounted_view(node, scope, region)
    if reason is None and not is_list(node, scope):
        reason = fails_where_made(node, scope, region)
    return reason


def _read_again(node: ast.expr, scope: Scope) -> str | None:
    """Why a number that bounds a slice fails: another one that does is read from the same place."""
    again = read_twice(node, [other for other, _ in reads(scope)], scope)
    if not any(bounds_slices(other, scope) for other in again):
        return None
    return (
        f"what `{snippet(node)}` reads bounds slices and is read twice, which fails in training: read the list at once"
    )


def _numbers(scope: Scope, *, every: bool = False) -> Iterator[ast.expr]:
    """The reads for which no other rule has a fix, or all of them."""
    rule = NumberArithmetic()
    for node, source in reads(scope):
        if every or rule.judge(node, source, scope).fix is None:
            yield node
    spans = {f.span for f in scope.found(ImplicitRead()) if every or f.fix is None}
    for part in scope.nodes:
        if not isinstance(part, ast.expr) or not spans or scope.span(part) not in spans:
            continue
        if scope.value(part).may_be(Kind.TENSOR) or (is_list(part, scope) and not _of_floats(part, scope)):
            yield part


def _of_floats(node: ast.expr, scope: Scope) -> bool:
    """Whether a list is one of floats, which breaks the graph with the flag as without."""
    read = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
    return scope.value(read).dtype not in ("int", None)


def _is_wanted(node: ast.expr, scope: Scope) -> bool:
    """Whether the flag is certain to help: of a list of unknown dtype it is known only that it does no harm."""
    return not is_list(node, scope) or holds_integers(node, scope)


def _is_for_nobody(node: ast.expr, scope: Scope) -> bool:
    """Whether a function only reads the number in its argument, and is called no more."""
    source = read_of(node, scope)
    if source is None or not isinstance(node, ast.Call) or scope.compiled.callers:
        return False
    return only_reads(node, source, scope) and next(callers(scope), None) is None


def _count(wanted: list[str]) -> str:
    return f"`{wanted[0]}`" if len(wanted) == 1 else f"`{wanted[0]}` and {len(wanted) - 1} more numbers"
