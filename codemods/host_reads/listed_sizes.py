"""Sizes that are listed from a tensor: `x.split(list(counts))`, which stays in the graph as `x.split(counts.tolist())`.

With `capture_scalar_outputs` torch 2.13 compiles a split into parts of such sizes (`captured` has what was measured).
"""

from __future__ import annotations

import ast

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.capture_flags import SCALARS, switched_on
from compilefix.codemods.finding import Fix
from compilefix.codemods.host_reads.captured import sizes_not_captured
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet


def listed_sizes(node: ast.expr, scope: Scope) -> Fix | None:
    """The fix for `list(counts)` as the sizes of parts; None where the graph could not keep these as symbols."""
    if not isinstance(node, ast.Call) or scope.callee(node) not in ("list", "tuple"):
        return None
    if len(node.args) != 1 or node.keywords or isinstance(node.args[0], ast.Starred):
        return None
    counts = node.args[0]
    value, shown = scope.value(counts), snippet(counts)
    if not value.is_tensor or not value.certain or value.dtype not in ("int", None) or value.rank not in (1, None):
        return None
    if sizes_not_captured(node, scope) is not None:
        return None
    template = Template()
    if value.rank is None:
        reason = f"`{shown}` is not proved to have one dimension, and with more its items may be read as numbers"
        template.refuse([Obstacle(reason, "enough-dimensions")])
    if value.dtype is None:
        reason = f"`{shown}` is not proved to hold integers, and for others another error is raised"
        template.refuse([Obstacle(reason, "index-in-range")])
    if not switched_on(SCALARS, scope):
        template.refuse([Obstacle(f"they stay in the graph only where `{SCALARS}` is on", "capture-scalars")])
    edit = scope.edit(node, f"{template.use(counts, operand=True)}.tolist()", **template.parts)
    return Fix((edit,), (), template.assumptions, template.reasons, last=True)
