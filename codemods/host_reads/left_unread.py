"""What a function returns beside other things, and a caller does not look at: `loss, _ = f(x)`, `f(x)[0]`."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.tree import parents

_ALL_NAMES = ("locals", "vars", "eval", "exec")


def place_in_result(node: ast.AST, scope: Scope) -> int | None:
    """Which item of the tuple that is returned an expression is, or is in."""
    child, parent = node, scope.parents.get(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        above = scope.parents.get(parent)
        if isinstance(parent, ast.Tuple) and isinstance(above, ast.Return) and isinstance(child, ast.expr):
            return parent.elts.index(child)
        child, parent = parent, above
    return None


def place_of_name(name: str, scope: Scope) -> int | None:
    """Which item of the returned tuple a name is, where all that is returned has it there."""
    found: set[int | None] = set()
    for node in scope.function.of(ast.Return):
        items = node.value.elts if isinstance(node.value, ast.Tuple) else []
        found |= {i for i, item in enumerate(items) if isinstance(item, ast.Name) and item.id == name} or {None}
    return found.pop() if len(found) == 1 else None


def leaves_unread(user: Function, place: int | None, scope: Scope) -> bool:
    """Whether a caller of the function looks at other items of the result only."""
    if place is None:
        return False
    calls = [call for call, callee in scope.legality.inference.facts(user).calls.items() if callee in scope.stands_for]
    around = parents((user.node, *user.nodes))
    return bool(calls) and all(_is_unread(call, place, around, user) for call in calls)


def _is_unread(call: ast.AST, place: int, around: dict[ast.AST, ast.AST], user: Function) -> bool:
    parent = around.get(call)
    if isinstance(parent, ast.Subscript) and parent.value is call and isinstance(parent.slice, ast.Constant):
        index = parent.slice.value
        return isinstance(index, int) and index >= 0 and index != place
    if not isinstance(parent, ast.Assign) or parent.value is not call or len(parent.targets) != 1:
        return False
    target = parent.targets[0]
    if not isinstance(target, ast.Tuple | ast.List) or any(isinstance(item, ast.Starred) for item in target.elts):
        return False
    put = target.elts[place] if place < len(target.elts) else None
    return isinstance(put, ast.Name) and not _may_read(put.id, user)


def _may_read(name: str, user: Function) -> bool:
    """Whether a function, or one inside it, looks at a name of its own."""
    for node in ast.walk(user.node):
        if isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
            return True
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store) and node.id in (name, *_ALL_NAMES):
            return True
    return False
