"""Expressions that look like no tensor: what a class or an image library makes, what a `with` statement is given."""

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


_ARRAY_LIBRARIES = frozenset({"cv2", "PIL", "skimage", "scipy", "imageio", "albumentations"})


def is_other_object(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression calls a class, or what gives a context: `Bounded(low, high)`, `torch.no_grad()`.

    A class is told by its name, where its definition is not seen: `torch.where` refuses what it makes. So it does an
    array: what an image library gives, what is read backwards (`image[:, ::-1]`), or multiplied by a list.
    """
    if isinstance(scope.parents.get(node), ast.withitem):
        return True
    if isinstance(node, ast.Subscript):
        return any(map(_goes_back, _parts(node.slice))) or is_other_object(node.value, scope)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return any(isinstance(side, ast.List) or is_other_object(side, scope) for side in sides)
    if not isinstance(node, ast.Call) or scope.value(node).is_tensor:
        return False
    name = scope.function.module.qualified(node.func)
    if name is None or name.partition(".")[0] in {"self", "cls", *scope.function.bound}:
        return False
    if name.partition(".")[0] in _ARRAY_LIBRARIES:
        return True
    last = name.rpartition(".")[2]
    made = _CLASS.fullmatch(last) is not None and not last.endswith(_TENSOR_CLASSES)
    return made or name in _MODES or name.startswith("contextlib.")


def _parts(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _goes_back(part: ast.expr) -> bool:
    """Whether a slice has a negative step, which a tensor refuses."""
    step = part.step if isinstance(part, ast.Slice) else None
    return isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)
