"""Truths that become bool tensors: where that shows.

Python makes integers of bools, and two bool tensors add up to a bool. The text of a tensor is not that of a bool.
"""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind
from compilefix.codemods.host_effects.calls import kind_of
from compilefix.codemods.rule import Scope

_HELD = (ast.Tuple, ast.List, ast.Dict, ast.BoolOp, ast.UnaryOp, ast.Compare)


_OF_NUMBERS = frozenset({"abs", "divmod", "pow", "round"})
_LOOK_UP = frozenset({"get", "setdefault", "pop", "index", "count"})


def is_looked_up(node: ast.AST, parent: ast.AST | None) -> bool:
    """Whether a number is a key, or looked for among keys: a tensor is equal to no key but itself."""
    if isinstance(parent, ast.Dict):
        return node in parent.keys
    if isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.In | ast.NotIn):
        return node is parent.left and not isinstance(parent.comparators[0], ast.Tuple | ast.List)
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
        return parent.func.attr in _LOOK_UP and node in parent.args
    return isinstance(parent, ast.Set)


def computed_with(node: ast.expr, scope: Scope, followed: frozenset[str] = frozenset()) -> ast.AST | None:
    """Where a truth, which becomes a bool tensor, is computed with or looked up otherwise than such a tensor."""
    parent = scope.parents.get(node)
    if is_looked_up(node, parent):
        return parent
    if isinstance(parent, ast.Call) and node in parent.args and scope.callee(parent) in _OF_NUMBERS:
        return parent
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        uses = scope.names(name) if name not in followed else []
        found = (computed_with(use, scope, followed | {name}) for use in uses)
        return next((use for use in found if use is not None), None)
    if isinstance(parent, ast.UnaryOp):
        return None if isinstance(parent.op, ast.Not) else parent
    if isinstance(parent, ast.AugAssign) and parent.value is node:
        return None if _stays(parent.op, parent.target, scope) else parent
    if isinstance(parent, ast.BinOp):
        return None if _stays(parent.op, parent.right if parent.left is node else parent.left, scope) else parent
    return None


def shown_in(node: ast.expr, scope: Scope, followed: frozenset[str] = frozenset()) -> ast.AST | None:
    """Where a truth, which becomes a bool tensor, is shown by `str` or `repr`: in a print, a log line, a text."""
    child: ast.AST = node
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.FormattedValue):
            return None if parent.conversion == -1 and child is node else parent  # one by itself as the number
        if isinstance(parent, ast.Call):
            makes_text = kind_of(parent, scope) is not None or scope.callee(parent) in ("str", "repr", "format")
            return parent if makes_text else None
        if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mod) and parent.right is child:
            return parent if isinstance(parent.left, ast.Constant) else None
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            name = parent.targets[0].id
            uses = scope.names(name) if name not in followed else []
            found = (shown_in(use, scope, followed | {name}) for use in uses)
            return next((use for use in found if use is not None), None)
        if not isinstance(parent, _HELD):
            return None
        child = parent
    return None


def _stays(op: ast.operator, other: ast.expr, scope: Scope) -> bool:
    """Whether an operation gives the same with a bool tensor as with a bool."""
    value = scope.value(other)
    if value.is_tensor and value.certain and value.dtype in ("int", "float", "complex"):
        return True
    return isinstance(op, ast.Add | ast.Mult) and value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int"
