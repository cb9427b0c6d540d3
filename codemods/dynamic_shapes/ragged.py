"""Whether an expression gives a tensor whose size depends on values."""

from __future__ import annotations

import ast

from compilefix.analysis import torch_api
from compilefix.codemods.dynamic_shapes.masks import mask_of
from compilefix.codemods.rule import Scope


def is_ragged(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression selects by a mask or counts values: `x[mask]`, `torch.nonzero(x)`, `x.unique()`."""
    if isinstance(node, ast.Subscript):
        mask = mask_of(node, scope)
        return mask is not None and scope.value(mask).rank != 0
    if not isinstance(node, ast.Call):
        return False
    name = scope.callee(node) or ""
    api = torch_api.method(name.removeprefix("Tensor.")) if name.startswith("Tensor.") else torch_api.function(name)
    return api is not None and api.dynamic
