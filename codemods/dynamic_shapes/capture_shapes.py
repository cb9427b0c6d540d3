"""CF506: results of unknown size that stay in the graph only with a flag.

## What it does
Finds a `torch.compile` whose code needs a result of a size that depends on values (`x[mask]`, `nonzero`, `unique`, ...)
in a way that no other rule rewrites, and switches `torch._dynamo.config.capture_dynamic_output_shape_ops` on where it
is compiled. In a file by itself, where nothing is compiled, it is switched on behind the imports. The fix is made when
no other one is left to make.

## Why is this bad
The graph ends at each such operation (GB0036). With the flag the size is a symbol in the graph. On a GPU the program
still waits for the device there.

## Example
```python
def forward(edges, keep):
    return edges[:, keep]

model = torch.compile(forward)
```

## Use instead
```python
torch._dynamo.config.capture_dynamic_output_shape_ops = True
model = torch.compile(forward)
```

## Fix safety
The flag counts for the whole process, and what is compiled with it is compiled in another way (`capture-scalars`).
Where the code asks a size that depends on values for its truth (but by `guard_or_false`, which CF509 writes), goes
through such a result in a loop, takes the standard deviation of all of it, the product or a running sum, solves
equations with it, measures distances (`cdist`) or pads several of these (`pad_sequence`), or gives it to a convolution
in one or two dimensions or to attention (multi-head, or written out as a softmax between two products), or a product in
batches of two tensors that both have the size, the flag is not enough or makes the compilation fail; where a view may
cut its last dimension, the gradient comes out wrong with torch 2.13: nothing is offered, and the finding names the
place. So it is in training where a mask without a name selects twice (`x[~m]`, `y[~m]`): it gets a name, where that
stands in the file that compiles, is computed before all its uses and cannot change between them. So it is too where
compiled code enters `torch.inference_mode` and selects twice by one mask. In a file where nothing is compiled that is
all its code, with what it calls. Nothing is offered in a package where nothing is compiled: the flag would count for
all the code of whoever imports it. The flag does not help `one_hot` without a number of classes, and makes `bincount`
with weights wrong before torch 2.13.

Graph breaks: GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.compile_sites import CompileSite
from compilefix.codemods.capture_flags import SHAPES
from compilefix.codemods.dynamic_shapes.captured_sizes import not_captured
from compilefix.codemods.dynamic_shapes.data_dependent_shape import GOES_WITH, DataDependentShape, other_fixes
from compilefix.codemods.dynamic_shapes.inference_mode import counted_anew
from compilefix.codemods.dynamic_shapes.kept_breaks import selections_of
from compilefix.codemods.dynamic_shapes.twice_selected import computed_mask, masks_like, may_be_named, named_masks
from compilefix.codemods.finding import Edit
from compilefix.codemods.flag_rule import FlagRule, Need, library_roots, scopes_reached
from compilefix.codemods.rule import Scope
from compilefix.codemods.unknown_rows import failing_layer, miscounted_rows
from compilefix.source.module import Module
from compilefix.source.snippets import snippet


class CaptureShapes(FlagRule):
    """Results of unknown size that stay in the graph only with a flag."""

    code = "CF506"
    name = "capture-shapes"
    summary = "compiled code with results of unknown size, without capture_dynamic_output_shape_ops"
    gb = ("GB0036",)
    flag = SHAPES
    reason = "the flag counts for the whole process, and the compiled code gets tensors with symbols for sizes"

    def need_here(self, scope: Scope) -> tuple[ast.expr, Need] | None:
        """The first result that only the flag keeps in the graph, and what of the file it would not keep there."""
        wanted = next(
            (node for node in _results(scope) if not_captured(node, scope, named=_is_named(node, scope)) is None), None
        )
        if wanted is None:
            return None
        message = f"the size of `{snippet(wanted)}` depends on values: the graph breaks without `{SHAPES}`"
        region = list(scopes_reached(library_roots(scope), scope))
        return wanted, _need(message, "the flag would not do for ", region)

    def need_of(self, site: CompileSite, region: Sequence[Scope]) -> Need | None:
        """The results of unknown size in compiled code."""
        wanted = [snippet(node) for inner in region for node in _results(inner)]
        if not wanted:
            return None
        more = f" and {len(wanted) - 1} more" if len(wanted) > 1 else ""
        message = f"`{site.label}`: the size of `{wanted[0]}`{more} depends on values; only `{SHAPES}` keeps it"
        return _need(message, "the flag is not enough: ", region)


def _need(message: str, words: str, region: Sequence[Scope]) -> Need:
    """What code needs, the first result that the flag would not do for, and names for masks that select twice."""
    edits: dict[Module, Sequence[Edit]] = {}
    elsewhere: str | None = None
    results = [(inner, node) for inner in region for node in _results(inner)]
    for inner in region:
        masks: list[ast.expr] = []
        for node in (node for one, node in results if one is inner):
            mask, named = computed_mask(node, inner), _is_named(node, inner)
            reason = not_captured(node, inner, named=named) or failing_layer(node, inner, region)
            reason = reason or miscounted_rows(node, inner, region) or counted_anew(node, inner, region, results)
            place = f"{words}`{snippet(node)}` in `{inner.function.qualname}`: "
            if reason is not None:
                return Need(message, f"{place}{reason}")
            if mask is not None and named and not any(ast.dump(mask) == ast.dump(other) for other in masks):
                masks.append(mask)
                elsewhere = elsewhere or f"{place}{not_captured(node, inner)}"
        if masks:
            module = inner.function.module
            edits[module] = (*edits.get(module, ()), *named_masks(masks, inner))
    return Need(message, None, edits, elsewhere)


def _is_named(node: ast.expr, scope: Scope) -> bool:
    """Whether an operation selects by a mask that selects elsewhere too, and gets a name."""
    mask = computed_mask(node, scope)
    return mask is not None and len(masks_like(mask, scope)) > 1 and may_be_named(mask, scope)


def _results(scope: Scope) -> Iterator[ast.expr]:
    """The operations for which no other rule has a fix, in their order."""
    found = [f for f in scope.found(DataDependentShape()) if not (f.declined or "").startswith(GOES_WITH)]
    spans = {f.span for f in found if "GB0033" not in f.gb}
    declined = [f for f in other_fixes(scope) if f.fix is None and f.effect == "break"]
    also = {node for finding in declined for node in selections_of(finding, scope)}
    if spans or also:
        for node in scope.nodes:
            if isinstance(node, ast.Call | ast.Subscript) and (scope.span(node) in spans or node in also):
                yield node
