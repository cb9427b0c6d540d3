"""Attributes that an object has from its `__init__` on, as far as its file shows."""

from __future__ import annotations

import ast

from compilefix.source.definitions import Function


def only_init_sets(node: ast.Attribute, function: Function) -> bool:
    """Whether an attribute of the object of a method is given its value by methods named `__init__` alone."""
    parameters = function.node.args.posonlyargs + function.node.args.args
    if function.cls is None or not parameters or not isinstance(node.value, ast.Name):
        return False
    return _setters(node.attr, function) == {"__init__"} and parameters[0].arg == node.value.id


def never_set_later(name: str, function: Function) -> bool:
    """Whether no function of the file but `__init__` gives an attribute of this name a value, on any object."""
    return _setters(name, function) <= {"__init__"}


def _setters(name: str, function: Function) -> set[str]:
    """The names of the functions of a function's file that store an attribute."""
    return {
        other.name
        for other in ast.walk(function.module.tree)
        if isinstance(other, ast.FunctionDef | ast.AsyncFunctionDef)
        for part in ast.walk(other)
        if isinstance(part, ast.Attribute) and part.attr == name and not isinstance(part.ctx, ast.Load)
    }
