"""`int(a) if t.any() else b`: the number is read once, of what is selected, and not behind a test that is read too.

n = int(t.argmax()) if t.any() else x.shape[1]      n = int(torch.where(t.any(), t.argmax(), x.shape[1]))
"""

from __future__ import annotations

import ast

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.conditions import condition, order_kept
from compilefix.codemods.finding import Edit
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import split_static
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet


def read_behind(node: ast.IfExp, scope: Scope, template: Template) -> Edit | None:
    """The edit that selects before it reads; None where a conditional expression does not choose between integers."""
    sides = [node.body, node.orelse]
    sources = [read_of(side, scope) for side in sides]
    read = next((source for source in sources if source is not None), None)
    if read is None or not all(_is_integer(*pair, scope) for pair in zip(sides, sources, strict=True)):
        return None
    fixed, tests = split_static(node.test, scope)
    if fixed:
        return None
    template.refuse(order_kept(node.test, scope))
    test = condition(tests, scope, template)
    if test is None:
        return None
    given = [side if source is None else source for side, source in zip(sides, sources, strict=True)]
    template.refuse(scope.legality.both_evaluated(given, scope.facts))
    for source in sources:
        if source is not None and scope.value(source).rank != 0:
            reason = f"`{snippet(source)}` is not proved to have one element, and with more another error is raised"
            template.refuse([Obstacle(reason, "condition-one-element")])
    if template.broken is not None:
        return None
    codes = [template.use(side, operand=isinstance(side, ast.IfExp | ast.Lambda)) for side in given]
    return scope.edit(node, f"int({where(scope)}({test}, {', '.join(codes)}))", **template.parts)


def _is_integer(side: ast.expr, source: ast.expr | None, scope: Scope) -> bool:
    """Whether a side is an integer that is read from a tensor of 64 bits, or one that is known while tracing."""
    if source is not None:
        value, cast = scope.value(source), isinstance(side, ast.Call) and isinstance(side.func, ast.Name)
        return value.is_tensor and value.certain and value.dtype_id == "int64" and (not cast or _is_int(side))
    value = scope.value(side)
    return value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int"


def _is_int(side: ast.expr) -> bool:
    return isinstance(side, ast.Call) and ast.unparse(side.func) == "int"
