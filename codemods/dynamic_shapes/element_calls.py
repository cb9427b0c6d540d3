"""Calls that treat each element, or each row, of what they are given by itself."""

from __future__ import annotations

import ast

from compilefix.analysis import torch_api
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes import row_functions
from compilefix.codemods.dynamic_shapes.row_layers import ROW_LAYERS, row_layer
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

ROWS = "all-rows"
CONVERSIONS = frozenset({"to", "type_as", "type", "contiguous", "clone", "detach"})
"""Methods whose arguments are no tensors to compute with."""
ELEMENT_LOSSES = frozenset(
    f"torch.nn.functional.{name}"
    for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "binary_cross_entropy_with_logits")
)
"""With `reduction="none"` they treat each element by itself, and they take all numbers."""


def by_element(node: ast.Call, name: str, method: bool, scope: Scope) -> Obstacle | None:
    """What stands in the way of giving a call all elements and not only selected ones; None where nothing does."""
    short = name.rpartition(".")[2]
    api = torch_api.method(short) if method else torch_api.function(name)
    if method and short in CONVERSIONS:
        return None
    if short == "unsqueeze" and [ast.unparse(a) for a in node.args[0 if method else 1 :]] == ["-1"]:
        return None
    if name in ELEMENT_LOSSES and _unreduced(node):
        return None
    if _chooses(node, name, method, scope):
        return None
    if api is not None:
        if not api.pointwise or api.mutates or api.random or api.random_training or api.host:
            return Obstacle(f"`{snippet(node)}` does not treat each element by itself")
        written = any(k.arg in ("out", "inplace") for k in node.keywords)
        return Obstacle(f"`{snippet(node)}` writes in place") if written else None
    module = torch_api.module(name)
    called = scope.value(node.func)
    callee = scope.facts.calls.get(node)
    if callee is not None and not called.may_be(Kind.OBJECT):
        read = row_functions.read(callee, scope.legality.inference, node)
        if read.broken is not None:
            return Obstacle(read.broken)
        if read.checks or read.written:
            what = "raises for some values" if read.checks else "writes into what it is given"
            return Obstacle(f"`{snippet(node.func)}` {what}")
        return Obstacle(f"`{snippet(node.func)}` would be given all rows, and not only those of the mask", ROWS)
    if module is not None and called.is_(Kind.OBJECT):
        if module.pointwise and not (called.inplace or module.random or module.random_training):
            return None
        if short not in ROW_LAYERS:
            return Obstacle(f"`{snippet(node.func)}` does not treat each row by itself")
    elif called.ref == "torch.nn.Sequential":
        if not row_layer(called):
            return Obstacle(f"`{snippet(node.func)}` is not known to treat each row by itself")
    elif name.startswith(("torch.", "numpy.", "math.")) or (
        isinstance(node.func, ast.Attribute) is False
        and (
            not isinstance(node.func, ast.Name | ast.Subscript) or name in ("len", "int", "float", "sum", "max", "min")
        )
    ):
        return Obstacle(f"`{snippet(node.func)}` is not known to treat each element by itself")
    return Obstacle(f"`{snippet(node.func)}` would be given all rows, and not only those of the mask", ROWS)


def _chooses(node: ast.Call, name: str, method: bool, scope: Scope) -> bool:
    """Whether a call is `torch.max(a, b)` or `a.min(b)` of two tensors."""
    operands = [node.func.value, *node.args] if method and isinstance(node.func, ast.Attribute) else node.args
    two = len(operands) == 2 and not node.keywords and all(scope.value(operand).is_tensor for operand in operands)
    return two and name in ("torch.max", "torch.min", "Tensor.max", "Tensor.min")


def _unreduced(node: ast.Call) -> bool:
    """Whether a loss of two tensors has one number for each element: no weights, which would be broadcast."""
    reduction = next((k.value for k in node.keywords if k.arg == "reduction"), None)
    known = {"input", "target", "reduction", "beta", "delta"}
    plain = len(node.args) <= 2 and all(k.arg in known for k in node.keywords)
    return plain and isinstance(reduction, ast.Constant) and reduction.value == "none"
