"""How many elements a mask selects: the expressions that ask for it, and whether a tensor may be the answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.legality import Obstacle
from compilefix.codemods.dynamic_shapes.masks import is_mask
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet


def indices_of(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The boolean tensor whose true places an expression lists: `m.nonzero()`, `torch.where(m)[0]`."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and node.slice.value == 0:
        inner = node.value
        tuples = isinstance(inner, ast.Call) and (
            scope.callee(inner) == "torch.where" or any(k.arg == "as_tuple" for k in inner.keywords)
        )
        return _listed(inner, scope) if tuples else None
    if isinstance(node, ast.Call) and not any(
        k.arg == "as_tuple" and not (isinstance(k.value, ast.Constant) and k.value.value is False)
        for k in node.keywords
    ):
        return _listed(node, scope) if scope.callee(node) != "torch.where" else None
    return None


def _listed(node: ast.expr, scope: Scope) -> ast.expr | None:
    if not isinstance(node, ast.Call):
        return None
    name = scope.callee(node) or ""
    if name in ("torch.nonzero", "torch.where", "torch.argwhere") and len(node.args) == 1:
        tensor = node.args[0]
    elif name in ("Tensor.nonzero", "Tensor.argwhere") and isinstance(node.func, ast.Attribute) and not node.args:
        tensor = node.func.value
    else:
        return None
    return tensor if is_mask(tensor, scope) and scope.value(tensor).rank != 0 else None


def count_uses(node: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether a count may be a tensor where it is used: in arithmetic and comparisons."""
    parent = scope.parents.get(node)
    if (
        isinstance(parent, ast.Assign)
        and len(parent.targets) == 1
        and isinstance(parent.targets[0], ast.Name)
        and parent.value is node
    ):
        name = parent.targets[0].id
        for use in scope.names(name):
            yield from _count_use(use, scope)
        if len(scope.names(name, stores=True)) != 1:
            yield Obstacle(f"`{name}` has other values too")
        return
    yield from _count_use(node, scope)


def _count_use(node: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    parent = scope.parents.get(node)
    while isinstance(parent, ast.Tuple) and isinstance(scope.statement(node), ast.Return):
        parent = scope.parents.get(parent)
    if isinstance(parent, ast.BinOp):
        other = parent.right if parent.left is node else parent.left
        partner = scope.value(other)
        arithmetic = isinstance(parent.op, ast.Add | ast.Sub | ast.Mult | ast.Div)
        if arithmetic and partner.is_tensor and partner.certain and partner.dtype == "float" and partner.dimensioned:
            if partner.dtype_id not in ("float32", "float64"):
                yield Obstacle(
                    f"beside a half precision `{snippet(other)}` a GPU rounds a count above 2048 first",
                    "float32-rounding",
                )
            return
        yield Obstacle("the count was a Python number, and becomes a tensor", "number-to-tensor")
        if not partner.is_tensor:
            yield from _count_use(parent, scope)
    elif isinstance(parent, ast.Compare | ast.Return | ast.BoolOp | ast.If | ast.IfExp | ast.While | ast.UnaryOp):
        yield Obstacle("the count was a Python number, and becomes a tensor", "number-to-tensor")
    elif isinstance(parent, ast.FormattedValue) and any(isinstance(a, ast.Raise) for a in scope.ancestors(node)):
        return  # a tensor without dimensions is shown as the number
    else:
        yield Obstacle(f"the count is needed as a Python number in `{snippet(parent) if parent else ''}`")
