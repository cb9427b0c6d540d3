"""Integers drawn on the host that are places: `i = random.randint(0, h - n)` and `x[..., i : i + n, :]`.

torch draws them as a tensor, and what reads them becomes an index of places, as for an integer that is read from a
tensor (CF201).
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from compilefix.analysis import values
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Fix
from compilefix.codemods.host_reads.number_flow import Flow
from compilefix.codemods.host_reads.number_follow import follow
from compilefix.codemods.host_reads.number_rewrite import fix_of
from compilefix.codemods.numpy_calls.draws import in_order
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet

_BOUNDS: Mapping[str, tuple[int, int, tuple[str, ...]]] = {
    "random.randint": (2, 1, ("a", "b")),
    "random.randrange": (1, 0, ("start", "stop")),
    "numpy.random.randint": (1, 0, ("low", "high")),
}
"""By draw: the fewest bounds that it takes, what is added to the upper one, which torch does not draw, and the names of
both."""


def place_fix(node: ast.Call, name: str, scope: Scope) -> Fix | str | None:
    """The fix that draws a place as a tensor, or why there is none; None for another draw, or another use."""
    fewest, more, names = _BOUNDS.get(name, (0, 0, ()))
    bounds = in_order(node, names) if names else None
    if bounds is None or not fewest <= len(bounds) <= 2:
        return None
    drawn = values.tensor(dtype="int", dtype_id="int64", rank=0)
    flow, template = Flow(drawn), Template()
    around = scope.parents.get(node)
    whole = around if isinstance(around, ast.Call) and scope.callee(around) == "int" else node
    follow(whole, scope, flow)
    if not flow.picks or not flow.whole or flow.handed_out:
        return None
    template.refuse(flow.obstacles)
    for bound in bounds:
        value = scope.value(bound)
        if not value.is_(Kind.STATIC, Kind.SIZE) or value.dtype != "int":
            if not value.is_unknown:
                return None
            reason = f"`{snippet(bound)}` is not proved to be a Python integer"
            template.refuse([Obstacle(reason, "static-shape-values")])
    template.refuse([Obstacle("torch's generator gives other numbers of the same distribution", "rng-stream")])
    *first, high = bounds
    start = template.use(first[0]) if first else "0"
    end = f"{template.use(high, operand=True)} + {more}" if more else template.use(high)
    code = f"{torch_name(scope)}.randint({start}, {end}, (){_device(flow, scope)})"
    return template.broken or fix_of(whole, code, flow, template, scope)


def _device(flow: Flow, scope: Scope) -> str:
    """The device of an argument that the place is one of: a draw on another keeps the code out of CUDA graphs."""
    parameters = {parameter.arg for parameter in scope.function.parameters}
    for node, _ in flow.rewrites:
        base = node.value if isinstance(node, ast.Subscript) else None
        if isinstance(base, ast.Name) and base.id in parameters and not scope.names(base.id, stores=True):
            value = scope.value(base)
            if value.is_tensor and value.certain:
                return f", device={base.id}.device"
    return ""
