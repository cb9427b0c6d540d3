"""CF717: a gradient that stays in the graph only with a flag.

## What it does
Finds a `torch.compile` whose code asks for a gradient (`torch.autograd.grad`) of a tensor that comes from outside, as
potentials do for forces, and switches `torch._dynamo.config.trace_autograd_ops` on where it is compiled. In a file by
itself, where nothing is compiled, it is switched on behind the imports. The fix is made when no other one is left to
make: where the tensor is made in the function, CF712 computes the gradient with `torch.func.vjp`.

## Why is this bad
The graph ends at the call (GB9186), and what computed the energy and what uses the gradient are compiled apart. Trained
through such a gradient, the compiled code before the break raises an error (`torch.compile with aot_autograd does not
currently support double backward`). With the flag the gradient is a part of the graph, and so is its own.

## Example
```python
def forces(positions):
    energy = potential(positions).sum()
    return -torch.autograd.grad(energy, positions, create_graph=True)[0]

model = torch.compile(forces)
```

## Use instead
```python
torch._dynamo.config.trace_autograd_ops = True
model = torch.compile(forces)
```

## Fix safety
The flag counts for the whole process, and other gradients that compiled code asks for are traced too
(`capture-scalars`). Where a gradient cannot be asked for, since the tensor requires none, the RuntimeError has another
text. Where what the gradient is taken of is returned, and its graph is not kept (`create_graph=True`), the graph breaks
as before.

Nothing is offered where the code calls `backward()` or resets gradients, which would be traced too, or makes tensors
require gradients (CF702). Nothing is offered where it applies an autograd function: of the gradient that is computed in
the graph, what is trained through its `backward` gets none, silently. Nothing is offered where a handler catches the
error of a gradient that cannot be asked for, which is raised past it, and, with `create_graph=True`, where it measures
distances (`cdist`), attends (`scaled_dot_product_attention`) or reduces segments: they have no second derivative, and
the compilation fails, also where none is asked for. Nothing is offered in a package where nothing is compiled: the
flag would count for all the code of whoever imports it.

Values, gradients and second gradients were compared with eager code on torch 2.13 (`aot_eager` and `inductor`, CPU,
2026-11-27): of leaves and of computed tensors, in training and without, twice in a row, in a loop, with dropout and
with BatchNorm.

Graph breaks: GB9186. torch: 2.11 and later, which have the flag.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from compilefix.analysis.compile_sites import CompileSite
from compilefix.analysis.summaries import applies
from compilefix.codemods.capture_flags import GRADIENTS
from compilefix.codemods.finding import Finding
from compilefix.codemods.flag_rule import FlagRule, Need, library_roots, scopes_reached
from compilefix.codemods.host_effects.deferral import is_tried
from compilefix.codemods.rule import Scope
from compilefix.codemods.unknown_rows import holds_layer
from compilefix.codemods.unsupported.gradient_in_graph import GradientInGraph
from compilefix.codemods.unsupported.parameter_in_forward import ParameterInForward
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import unpacks

_ONCE = frozenset({"cdist", "pdist", "segment_reduce", "scaled_dot_product_attention", "multi_head_attention_forward"})
_ATTENTION = ("MultiheadAttention", "Transformer")


class GradientFlag(FlagRule):
    """Gradient that stays in the graph only with a flag."""

    code = "CF717"
    name = "gradient-flag"
    summary = "compiled code that asks for a gradient, without trace_autograd_ops"
    gb = ("GB9186",)
    torch = ">=2.11"
    flag = GRADIENTS
    reason = "the flag counts for the whole process, and all gradients that compiled code asks for go into graphs"

    def need_here(self, scope: Scope) -> tuple[ast.expr, Need] | None:
        """The first gradient that only the flag keeps in the graph, and what of the file it would not do for."""
        asked = next(_asked(scope), None)
        if asked is None:
            return None
        return asked, Need(_message("this file", asked), _unfit(list(scopes_reached(library_roots(scope), scope))))

    def need_of(self, site: CompileSite, region: Sequence[Scope]) -> Need | None:
        """The gradients that compiled code asks for."""
        asked = next((node for inner in region for node in _asked(inner)), None)
        return None if asked is None else Need(_message(f"`{site.label}`", asked), _unfit(region))


def _message(what: str, asked: ast.expr) -> str:
    return f"{what} asks for a gradient in `{snippet(asked)}`; only `{GRADIENTS}` keeps it in the graph"


def _requests(scope: Scope) -> list[Finding]:
    """What breaks the graph for a gradient and has no fix of its own."""
    return [finding for finding in scope.found(GradientInGraph()) if finding.fix is None]


def _asked(scope: Scope) -> Iterator[ast.Call]:
    """The gradients that no other rule computes in another way."""
    spans = {finding.span for finding in _requests(scope) if "GB9186" in finding.gb}
    if spans:
        yield from (node for node in scope.of(ast.Call) if scope.span(node) in spans)


def _unfit(region: Sequence[Scope]) -> str | None:
    """Why the flag would not do, or would do more than it should."""
    asking = {inner.function for inner in region if next(_asked(inner), None) is not None}
    kept = any(_keeps_graph(node) for inner in region for node in _asked(inner))
    for inner in region:
        name = inner.function.qualname
        caught = next((node for node in _asking(inner, asking) if is_tried(node, inner)), None)
        if caught is not None:
            return (
                f"a handler round `{snippet(caught)}` in `{name}` catches its error, which in a graph is raised past it"
            )
        own = next((node for node in inner.of(ast.Call) if _is_own_gradient(node, inner)), None)
        if own is not None:
            return f"with the flag nothing is trained through the `backward` behind `{snippet(own)}` in `{name}`"
        once = next((node for node in inner.of(ast.Call) if kept and _is_once(node, inner)), None)
        if once is not None:
            return f"`{snippet(once)}` in `{name}` has no second derivative: with `create_graph` the compilation fails"
        traced = next((finding for finding in _requests(inner) if "GB9186" not in finding.gb), None)
        if traced is not None:
            return f"line {traced.span.line} in `{name}` works on gradients too, which the flag would change"
        made = next(iter(inner.found(ParameterInForward())), None)
        if made is not None:
            return f"the flag is not enough: line {made.span.line} in `{name}` makes a tensor require a gradient"
    return None


def _asking(scope: Scope, functions: Collection[Function]) -> Iterator[ast.Call]:
    """The calls that ask for a gradient, themselves or in a function that they lead to."""
    yield from _asked(scope)
    for node, called in scope.facts.calls.items():
        if isinstance(node, ast.Call) and (
            called in functions or not scope.legality.reached(called).isdisjoint(functions)
        ):
            yield node


def _keeps_graph(node: ast.Call) -> bool:
    """Whether a gradient may be asked for with a graph of its own."""
    if unpacks(node):
        return True
    given = [k.value for k in node.keywords if k.arg == "create_graph"] + node.args[4:5]
    return any(not isinstance(value, ast.Constant) or bool(value.value) for value in given)


def _is_own_gradient(node: ast.Call, scope: Scope) -> bool:
    """Whether a call applies an autograd function, also one that is not seen."""
    callee = scope.facts.calls.get(node)
    if callee is not None:
        return applies(node, callee)
    applied = isinstance(node.func, ast.Attribute) and node.func.attr == "apply"
    return applied and not (scope.callee(node) or "").startswith(("torch.nn.", "Tensor."))


def _is_once(node: ast.Call, scope: Scope) -> bool:
    """Whether a function or a layer of torch has no derivative of its gradient."""
    name = scope.callee(node) or ""
    if name.startswith("torch.") and name.rpartition(".")[2] in _ONCE:
        return True
    return holds_layer(scope.value(node.func), _ATTENTION)
