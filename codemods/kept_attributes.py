"""Attributes that an object has from its `__init__` on, as far as its file shows."""

from __future__ import annotations

import ast

from compilefix.source.index import Function


def only_init_sets(node: ast.Attribute, function: Function) -> bool:
    """Whether an attribute of the object of a method is given its value by methods named `__init__` alone."""
    parameters = function.node.args.posonlyargs + function.node.args.args
    if function.cls is None or not parameters or not isinstance(node.value, ast.Name):
        return False
    setters = {
        other.name
        for other in ast.walk(function.module.tree)
        if isinstance(other, ast.FunctionDef | ast.AsyncFunctionDef)
        for part in ast.walk(other)
        if isinstance(part, ast.Attribute) and part.attr == node.attr and not isinstance(part.ctx, ast.Load)
    }
    return setters == {"__init__"} and parameters[0].arg == node.value.id
