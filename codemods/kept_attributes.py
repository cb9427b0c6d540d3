"""What the methods of a class give the attributes of the object, as far as its file shows."""

from __future__ import annotations

import ast
from collections.abc import Iterator

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


def assigned(method: ast.AST, attribute: str) -> Iterator[ast.expr]:
    """What a method gives an attribute of `self`."""
    for node in ast.walk(method):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            own = (t for t in targets if isinstance(t, ast.Attribute) and t.attr == attribute)
            yield from (node.value for t in own if isinstance(t.value, ast.Name) and t.value.id == "self")


def _setters(name: str, function: Function) -> set[str]:
    """The names of the functions of a function's file that store an attribute."""
    return {
        other.name
        for other in ast.walk(function.module.tree)
        if isinstance(other, ast.FunctionDef | ast.AsyncFunctionDef)
        for part in ast.walk(other)
        if isinstance(part, ast.Attribute) and part.attr == name and not isinstance(part.ctx, ast.Load)
    }
