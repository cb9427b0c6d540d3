"""`torch.arange(n, n + length)` with an `n` read from a tensor: the length is known, and the range is shifted."""

from __future__ import annotations

import ast

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Fix
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.source.snippets import snippet

_INTEGERS = frozenset({"torch.int64", "torch.long"})


def length_of(node: ast.Call, scope: Scope) -> ast.expr | None:
    """The length of a range that begins at an integer tensor and whose end is a known number behind it."""
    if (
        scope.callee(node) != "torch.arange"
        or len(node.args) != 2
        or any(isinstance(a, ast.Starred) for a in node.args)
    ):
        return None
    start, end = node.args
    value = scope.value(start)
    if not (value.is_tensor and value.certain and value.dtype == "int") or not isinstance(start, ast.Name):
        return None
    for keyword in node.keywords:
        integers = keyword.arg == "dtype" and (scope.value(keyword.value).ref or "") in _INTEGERS
        if keyword.arg != "device" and not integers:
            return None
    if not isinstance(end, ast.BinOp) or not isinstance(end.op, ast.Add):
        return None
    sides = [end.left, end.right]
    rest = [side for side in sides if ast.dump(side) != ast.dump(start)]
    if len(rest) != 1:
        return None
    known = scope.value(rest[0])
    return rest[0] if known.is_(Kind.STATIC, Kind.SIZE) and known.dtype == "int" else None


def shifted(node: ast.Call, length: ast.expr, scope: Scope) -> Fix:
    """The range from zero, plus where it begins."""
    template = Template()
    start = scope.value(node.args[0])
    name = snippet(node.args[0])
    if start.rank != 0:
        template.refuse([Obstacle(f"`{name}` is not proved to have no dimension", "condition-one-element")])
    reason = f"`{name}` was read as a number, and must be where the range is"
    template.refuse([Obstacle(reason, "number-to-tensor")])
    options = "".join(f", {k.arg}={template.use(k.value)}" for k in node.keywords)
    code = f"({template.use(node.args[0])} + {torch_name(scope)}.arange({template.use(length)}{options}))"
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign | ast.Return | ast.keyword) or (
        isinstance(parent, ast.Call) and node in parent.args
    ):
        code = code[1:-1]
    return Fix((scope.edit(node, code, **template.parts),), imports(scope), template.assumptions, template.reasons)
