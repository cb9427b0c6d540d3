"""Sizes that depend on values: `len(rows)` where `rows` is what `nonzero` lists or a mask selects.

With `capture_dynamic_output_shape_ops` such a size is a symbol in the graph. Python cannot ask it for its truth there.
"""

from __future__ import annotations

import ast

from compilefix.codemods.dynamic_shapes.ragged import is_ragged
from compilefix.codemods.rule import Scope

_COUNTS = frozenset({"numel", "nelement"})
KEEPS = frozenset(
    {"squeeze", "flatten", "view", "reshape", "long", "int", "float", "to", "t", "contiguous", "clone", "detach"}
    | {"sort", "argsort", "abs", "exp", "log", "sqrt", "sigmoid", "double", "half", "bool"}
)
_MAX_NAMES = 5


def ragged_size(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor of which an expression asks how many values were selected: `x` in `len(x)`, `x.shape[0]`, ..."""
    tensor = size_of(node, scope)
    return tensor if tensor is not None and is_selected(tensor, scope) else None


def size_of(node: ast.expr, scope: Scope, depth: int = 0) -> ast.expr | None:
    """What an expression, or the name that it was given, asks for its length."""
    if isinstance(node, ast.Name):
        given = scope.only_value(node.id) if depth <= _MAX_NAMES else None
        return None if given is None else size_of(given, scope, depth + 1)
    if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "0":
        held = node.value.func if isinstance(node.value, ast.Call) and not node.value.args else node.value
        wanted = "size" if held is not node.value else "shape"
        return held.value if isinstance(held, ast.Attribute) and held.attr == wanted else None
    if not isinstance(node, ast.Call):
        return None
    if scope.callee(node) == "len" and len(node.args) == 1:
        return node.args[0]
    if isinstance(node.func, ast.Attribute) and not node.keywords:
        counts = node.func.attr in _COUNTS and not node.args
        first = node.func.attr == "size" and [ast.unparse(a) for a in node.args] == ["0"]
        return node.func.value if counts or first else None
    return None


def is_selected(node: ast.expr, scope: Scope) -> bool:
    """Whether values decide how many rows a tensor has, or a name for it."""
    return selection_of(node, scope) is not None


def selection_of(node: ast.expr, scope: Scope, depth: int = 0) -> ast.expr | None:
    """The operation that selects as many rows as values say, for what is made of its result row by row."""
    if depth > _MAX_NAMES:
        return None
    if isinstance(node, ast.Name):
        stores = scope.names(node.id, stores=True)
        given = [_value_of(store, scope) for store in stores]
        here = [value for value in given if value is not None]
        own = not scope.function.takes(node.id)
        return selection_of(here[0], scope, depth + 1) if own and len(here) == len(stores) == 1 else None
    if is_ragged(node, scope) or _lists_places(node, scope):
        return node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in KEEPS:
        return selection_of(node.func.value, scope, depth + 1)
    if isinstance(node, ast.Subscript):  # `torch.where(mask)[0]`, `mask.nonzero()[:, 0]`
        index = ast.unparse(node.slice)
        if index.isdecimal() and _is_tuple(node.value, scope):
            return node.value
        return selection_of(node.value, scope, depth + 1) if index.startswith(":, ") else None
    return None


def _lists_places(node: ast.expr, scope: Scope) -> bool:
    return isinstance(node, ast.Call) and scope.callee(node) == "torch.where" and len(node.args) == 1


def _is_tuple(node: ast.expr, scope: Scope) -> bool:
    listed = isinstance(node, ast.Call) and any(k.arg == "as_tuple" for k in node.keywords) and is_ragged(node, scope)
    return listed or _lists_places(node, scope)


def _value_of(store: ast.Name, scope: Scope) -> ast.expr | None:
    """What an assignment gives a name, alone or as one of those that `where` and `unique` give."""
    target: ast.AST | None = store
    statement = scope.parents.get(store)
    if isinstance(statement, ast.Tuple):
        target, statement = statement, scope.parents.get(statement)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or statement.targets[0] is not target:
        return None
    if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
        same = len(target.elts) == len(statement.value.elts)
        return statement.value.elts[target.elts.index(store)] if same else None
    return statement.value if target is store or isinstance(statement.value, ast.Call) else None
