"""Where Python reads a tensor as one number, or as the truth that a test asks for."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope

CASTS = ("float", "int", "bool")


def read_of(node: ast.AST, scope: Scope) -> ast.expr | None:
    """The tensor whose value a call reads as one number: `t.item()`, `float(t)`, `int(t.item())`, `bool(t)`."""
    if not isinstance(node, ast.Call):
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "item" and not node.args:
        if not scope.value(node.func.value).is_tensor or _is_cast(scope.parents.get(node), scope):
            return None  # `int(t.item())` reads the number as a whole
        return node.func.value
    if not _is_cast(node, scope):
        return None
    given = node.args[0]
    if isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr == "item":
        given = given if given.args else given.func.value
    return given if scope.value(given).is_tensor else None


def _is_cast(node: ast.AST | None, scope: Scope) -> bool:
    """Whether a node is `float(x)`, `int(x)` or `bool(x)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in CASTS
        and scope.callee(node) == node.func.id
        and len(node.args) == 1
    )


def decides(node: ast.AST, scope: Scope) -> bool:
    """Whether an expression is (part of) the test of a statement or conditional expression, and nothing else."""
    child = node
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
            return parent.test is child
        compares = isinstance(parent, ast.Compare) and child is node
        negates = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        if not (compares or negates or isinstance(parent, ast.BoolOp)):
            return False
        child = parent
    return False
