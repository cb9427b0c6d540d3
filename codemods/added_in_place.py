"""Places where something is added to a number: to a tensor it is added in place, and who holds the number sees that.

old = self.count
self.count += 1  # `old` stays as it is, where these are numbers
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function


def added_to(target: ast.expr, scope: Scope) -> Iterator[ast.AugAssign]:
    """The statements that add to what a number is stored in: to an attribute of this name, or an item of this name."""
    holder = _holder(target)
    if isinstance(holder, ast.Name):
        for statement in scope.of(ast.AugAssign):
            place = _holder(statement.target)
            if isinstance(place, ast.Name) and place.id == holder.id:
                yield statement
    if not isinstance(holder, ast.Attribute):
        return
    project, cls = scope.legality.inference.project, scope.function.cls
    modules = {scope.function.module.name: None}
    if cls is not None:
        modules.update((base.module.name, None) for base in project.ancestors(cls) if not isinstance(base, str))
        modules.update(dict.fromkeys(project.modules.texts.mentioning(cls.qualname)))
    for name in project.modules.texts.mentioning(holder.attr):
        for function in project.modules[name].all_functions if name in modules else ():
            for statement in function.of(ast.AugAssign):
                place = _holder(statement.target)
                if isinstance(place, ast.Attribute) and place.attr == holder.attr:
                    yield statement


def added_after(uses: Sequence[ast.expr], at: ast.AST, scope: Scope) -> Iterator[ast.AugAssign]:
    """The statements outside `at` that add to what becomes of a number: to names in `uses`, or where these go."""
    for use in uses:
        if isinstance(use, ast.Name):
            yield from _outside(added_to(use, scope), at, scope)
        parent = scope.parents.get(use)
        if isinstance(parent, ast.Assign | ast.AnnAssign) and parent.value is use:
            for target in parent.targets if isinstance(parent, ast.Assign) else [parent.target]:
                yield from _outside(added_to(target, scope), at, scope)
        elif isinstance(parent, ast.Return):
            for function in scope.function.module.all_functions:
                yield from _added_to_result(function, scope)


def _added_to_result(function: Function, scope: Scope) -> Iterator[ast.AugAssign]:
    """Where a function of this file adds to what the one at hand returned."""
    calls = scope.legality.inference.facts(function).calls if function.of(ast.AugAssign) else {}
    given = [
        n for n in function.of(ast.Assign) if isinstance(n.value, ast.Call) and calls.get(n.value) in scope.stands_for
    ]
    for statement in function.of(ast.AugAssign) if given else ():
        if any(ast.dump(t) == ast.dump(statement.target) for n in given for t in n.targets):
            yield statement


def _outside(statements: Iterator[ast.AugAssign], at: ast.AST, scope: Scope) -> Iterator[ast.AugAssign]:
    return (one for one in statements if one is not at and at not in scope.ancestors(one))


def _holder(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node
