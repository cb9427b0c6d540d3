"""Lists whose length may depend on values: what selects may stand in the function, in one it calls, or in a caller.

That is no proof: what is made of it holds for lists of any length, and only asks which ones are worth looking at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from compilefix.codemods.dynamic_shapes.ragged_sizes import KEEPS, is_selected, size_of
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Class, Function
from compilefix.source.tree import elements_of, names_in

_MOST_STEPS = 6


def unknown_size(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor whose length an expression asks for, where values may decide that."""
    tensor = size_of(node, scope)
    return tensor if tensor is not None and may_be_selected(tensor, scope) else None


def may_be_selected(node: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """Whether values may decide how many items a tensor has, or the tensors in a tuple."""
    if depth > _MOST_STEPS:
        return False
    if is_selected(node, scope):
        return True
    if isinstance(node, ast.Tuple | ast.List):
        return any(may_be_selected(item, scope, depth + 1) for item in node.elts)
    if isinstance(node, ast.Subscript):
        index = elements_of(node.slice)
        return any(may_be_selected(part, scope, depth + 1) for part in (node.value, *index))
    if isinstance(node, ast.IfExp):
        return any(may_be_selected(side, scope, depth + 1) for side in (node.body, node.orelse))
    if isinstance(node, ast.Call):
        called = scope.facts.calls.get(node)
        if called is not None:
            return _gives_selected(called, scope, depth + 1)
        receiver = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr in KEEPS else None
        return receiver is not None and may_be_selected(receiver, scope, depth + 1)
    if not isinstance(node, ast.Name):
        return False
    given = [value for store in _stores(node.id, scope) if (value := _source(store, scope)) is not None]
    if any(may_be_selected(value, scope, depth + 1) for value in given):
        return True
    if not scope.function.takes(node.id):
        return False
    return _picks(node.id, scope) or any(
        may_be_selected(argument, caller, depth + 1) for caller, argument in _given_by(node.id, scope)
    )


def _stores(name: str, scope: Scope) -> Iterator[ast.Name]:
    """The places that give a name a value, in comprehensions too."""
    for node in scope.function.of(ast.Name):
        if node.id == name and isinstance(node.ctx, ast.Store):
            yield node


def _source(store: ast.Name, scope: Scope) -> ast.expr | None:
    """What a name, or a tuple of names that it is one of, is given or goes through."""
    node: ast.AST | None = store
    while isinstance(node, ast.Name | ast.Tuple | ast.Starred):
        node = scope.parents.get(node)
    if isinstance(node, ast.Assign):
        return node.value
    return node.iter if isinstance(node, ast.comprehension | ast.For) else None


def _gives_selected(function: Function, scope: Scope, depth: int) -> bool:
    inner = _within(function, scope)
    return any(node.value is not None and may_be_selected(node.value, inner, depth) for node in inner.of(ast.Return))


def _picks(name: str, scope: Scope) -> bool:
    """Whether a list, or what it is taken apart into, is an index: such lists are as long as there are places."""
    names = {name}
    for statement in scope.of(ast.Assign):
        if isinstance(statement.value, ast.Name) and statement.value.id == name:
            names |= names_in(*statement.targets)
    for node in scope.of(ast.Subscript):
        index = elements_of(node.slice)
        if len(index) > 1 and all(isinstance(one, ast.Name) and one.id in names for one in index):
            return True
    return False


def _given_by(name: str, scope: Scope) -> Iterator[tuple[Scope, ast.expr]]:
    """What callers give a parameter."""
    names = [parameter.arg for parameter in scope.function.parameters]
    for caller, node in _calls(scope):
        method = isinstance(node.func, ast.Attribute) and names[:1] == ["self"]
        found = dict(zip(names[int(method) :], node.args, strict=False))
        found |= {keyword.arg: keyword.value for keyword in node.keywords if keyword.arg is not None}
        if name in found:
            yield _within(caller, scope), found[name]


def _calls(scope: Scope) -> Iterator[tuple[Function, ast.Call]]:
    """The calls of a function, and of the method of a base class that it stands in for."""
    function, inference = scope.function, scope.legality.inference
    for caller, node in scope.calls_here:
        if isinstance(node, ast.Call) and inference.facts(caller).calls.get(node) is function:
            yield caller, node
    bases = inference.project.ancestors(function.cls)[1:] if function.cls is not None else ()
    for caller in (method for base in bases if isinstance(base, Class) for method in base.methods.values()):
        if function.node.name in caller.attributes:
            for node, callee in inference.facts(caller).calls.items():
                if isinstance(node, ast.Call) and callee.cls in bases and callee.node.name == function.node.name:
                    yield caller, node


def _within(function: Function, scope: Scope) -> Scope:
    facts = scope.legality.inference.facts(function)
    compiled = replace(scope.compiled, function=function, facts=facts)
    return Scope(compiled, scope.legality, function.module.file.path.as_posix())
