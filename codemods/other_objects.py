"""Expressions that look like no tensor: an object that a class makes, what a `with` statement is given."""

from __future__ import annotations

import ast
import re

from compilefix.codemods.rule import Scope

_MODES = frozenset(
    {
        "torch.no_grad",
        "torch.enable_grad",
        "torch.inference_mode",
        "torch.set_grad_enabled",
        "torch.autocast",
        "torch.amp.autocast",
        "torch.cuda.amp.autocast",
        "torch.cuda.stream",
        "torch.device",
    }
)
_CLASS = re.compile(r"_*[A-Z][A-Z0-9]*[a-z]\w*")
_TENSOR_CLASSES = ("Tensor", "Variable", "Parameter", "Buffer")


def is_other_object(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression calls a class, or what gives a context: `Bounded(low, high)`, `torch.no_grad()`.

    A class is told by its name, where its definition is not seen: `torch.where` refuses what it makes.
    """
    if isinstance(scope.parents.get(node), ast.withitem):
        return True
    if not isinstance(node, ast.Call) or scope.value(node).is_tensor:
        return False
    name = scope.function.module.qualified(node.func)
    if name is None or name.partition(".")[0] in {"self", "cls", *scope.function.bound}:
        return False
    last = name.rpartition(".")[2]
    made = _CLASS.fullmatch(last) is not None and not last.endswith(_TENSOR_CLASSES)
    return made or name in _MODES or name.startswith("contextlib.")
