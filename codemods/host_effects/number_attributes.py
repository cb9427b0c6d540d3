"""Attributes that hold a Python number, whatever ran before: `self.total = 0.0` and `self.total += loss.item()`."""

from __future__ import annotations

import ast

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project

_NUMBERS = ("int", "float", "bool")


def holds_number(name: str, cls: Class, scope: Scope) -> bool:
    """Whether all that the project gives an attribute of a class, or of an object that may be one, is a number.

    Where nothing gives it a first one, nothing is known of it.
    """
    inference = scope.legality.inference
    project = inference.project
    given = False
    for module in project.modules.texts.mentioning(name):
        for function in project.modules[module].all_functions:
            stores = [n for n in function.of(ast.Attribute) if n.attr == name and not isinstance(n.ctx, ast.Load)]
            named = any(n.value == name for n in function.of(ast.Constant))
            if function.node.name == name and function.cls is not None:
                return False  # a property
            if not (stores or named) or is_of_another(function, stores, cls, project):
                continue
            facts = inference.facts(function)
            values = [s.value for s in function.of(ast.Assign) if any(t in stores for t in s.targets)]
            values += [s.value for s in function.of(ast.AnnAssign) if s.target in stores and s.value is not None]
            added = [s.value for s in function.of(ast.AugAssign) if s.target in stores]
            if named or len(values) + len(added) != len(stores):
                return False
            if not all(_is_number(value, facts) for value in [*values, *added]):
                return False
            given = given or bool(values)
    return given


def _is_number(node: ast.expr, facts: FunctionFacts) -> bool:
    value = facts.value(node)
    return value.is_(Kind.NUMBER) or (value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) and value.dtype in _NUMBERS)


def is_of_another(function: Function, mentions: list[ast.Attribute], cls: Class, project: Project) -> bool:
    """Whether a method names an attribute only of its own object, and that cannot be one of the class."""
    other = function.cls
    if other is None or function.is_static or not function.parameters:
        return False
    owner = function.parameters[0].arg
    own = all(isinstance(mention.value, ast.Name) and mention.value.id == owner for mention in mentions)
    related = other is cls or other in project.ancestors(cls) or cls in project.ancestors(other)
    return own and not related
