"""Names that stand for the library of a caller's arrays: `xp = array_namespace(x)`, `nx = get_backend(a, b)`.

Code that is to work on NumPy arrays and on tensors asks an object for its functions, `nx.exp(x)`, and may name torch
nowhere. What it is called with and what it gives are tensors where the caller's are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis import torch_api
from compilefix.source.definitions import Function

_OF_ONE = frozenset(
    {"exp", "expm1", "log", "log1p", "log2", "sqrt", "square", "abs", "sign", "floor", "ceil", "sin", "cos", "tan"}
    | {"tanh", "isnan", "isinf", "isfinite"}
)
"""Functions of one array: as methods of an array they are called without an argument."""
_MAKES = frozenset(
    {"zeros", "ones", "full", "eye", "arange", "linspace", "zeros_like", "ones_like", "full_like", "stack", "einsum"}
    | {"concatenate", "empty", "empty_like", "array", "asarray"}
)
"""Functions that make an array: as methods, no array has them."""
_ARRAYS_TOO = frozenset({"array", "asarray", "concatenate", "power"})
"""Functions that are called so in torch's place, and not in torch."""


def array_namespaces(function: Function) -> frozenset[str]:
    """The names of a function, or of one round it, that are no imports and are called as such a library is."""
    called: dict[str, set[str]] = {}
    for name, node in _calls(function):
        called.setdefault(name, set()).add(node.func.attr)  # type: ignore[attr-defined]
    return frozenset(name for name, of in called.items() if len(of) > 1 and not of.isdisjoint(_OF_ONE | _MAKES))


def works_without_torch(function: Function) -> bool:
    """Whether a function asks such a library for what it calls, in a file that imports nothing of torch."""
    return "torch" not in function.module.packages and bool(array_namespaces(function))


def of_namespace(node: ast.Call, namespaces: frozenset[str]) -> bool:
    """Whether a call is one of a function of such a library that gives arrays."""
    func = node.func
    if not (isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in namespaces):
        return False
    api = torch_api.function(f"torch.{func.attr}")
    return func.attr in _ARRAYS_TOO or (api is not None and api.returns == "Tensor")


def computes_of(node: ast.Call, namespaces: frozenset[str]) -> bool:
    """Whether what such a call is given first is an array, too: what makes one is given sizes and lists."""
    return of_namespace(node, namespaces) and node.func.attr not in _MAKES  # type: ignore[attr-defined]


def _calls(function: Function) -> Iterator[tuple[str, ast.Call]]:
    own = function.parameters[0].arg if function.cls is not None and function.parameters else None
    for node in function.of(ast.Call):
        func = node.func
        if not (node.args and isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name)):
            continue
        name = func.value.id
        if name != own and _is_bound(name, function) and function.module.imported(name) is None:
            yield name, node


def _is_bound(name: str, function: Function | None) -> bool:
    return function is not None and (name in function.bound or _is_bound(name, function.parent))
