"""The functions of which a call picks one by a key: `{"boxes": self.boxes_loss, "masks": self.mask_loss}[key](...)`."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function


def picked_functions(call: ast.Call, scope: Scope) -> list[Function]:
    """What a call of an item of a dictionary may run; nothing where a value of it is not known, or it may change."""
    func = call.func
    if not isinstance(func, ast.Subscript) or not isinstance(func.value, ast.Name):
        return []
    made = scope.only_value(func.value.id)
    if not isinstance(made, ast.Dict):
        return []
    if None in made.keys or not all(_only_reads(load, scope) for load in scope.names(func.value.id)):
        return []
    found = [_named_by(value, scope) for value in made.values]
    functions = [function for function in found if function is not None]
    return functions if len(functions) == len(found) else []


def _only_reads(load: ast.Name, scope: Scope) -> bool:
    """Whether a use of the dictionary looks an item up, or asks for a key."""
    around = scope.parents.get(load)
    if isinstance(around, ast.Subscript):
        return around.value is load and isinstance(around.ctx, ast.Load)
    return isinstance(around, ast.Compare) and load in around.comparators


def _named_by(node: ast.expr, scope: Scope) -> Function | None:
    """The method or function of the project that an expression names."""
    project, cls = scope.legality.inference.project, scope.function.cls
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        return project.method(cls, node.attr) if cls is not None else None
    if not isinstance(node, ast.Name) or scope.names(node.id, stores=True):
        return None
    named = project.resolve(f"{scope.function.module.name}.{node.id}")
    return named if isinstance(named, Function) else None
