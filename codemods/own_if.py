"""Which condition keeps an `if` of its own: the code inside counts on what it asks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.guarding import kept_from_failing, kept_in_range, parts_of_condition
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_PLACES = ast.Name | ast.Attribute | ast.Subscript


def needs_own_if(test: ast.expr, scope: Scope) -> str | None:
    """Why a fixed condition cannot be a part of a tensor's: what else the same `if` has rests on it."""
    name = _counted_on(test, scope)
    if name is not None:
        return f"what follows counts on `{snippet(test)}` where it uses `{name}`"
    kept = kept_from_failing(test, scope) or kept_in_range(test, scope)
    return None if kept is None else f"`{snippet(test)}` may keep `{snippet(kept)}` from failing"


def _counted_on(test: ast.expr, scope: Scope) -> str | None:
    """The name whose type or presence a fixed condition asks for, where the name is used behind the condition."""
    asked: list[ast.expr] = []
    for node in parts_of_condition(test, scope):
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            asked += [whole for side in (node.left, *node.comparators) for whole in _looked_into(side)]
        elif isinstance(node, ast.Call) and scope.callee(node) in ("isinstance", "hasattr", "callable", "len"):
            asked += node.args[:1]
        elif isinstance(node, ast.Compare) and any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            asked += node.comparators
        elif isinstance(node, ast.Name | ast.Attribute) and scope.value(node).is_(Kind.CONTAINER):
            asked += [node] if _is_truth(node, test, scope) else []
        asked += _asked_by_own(node, scope)
    texts = {ast.unparse(node) for node in asked if isinstance(node, _PLACES)}
    end = (test.end_lineno or 0, test.end_col_offset or 0)
    for node in scope.function.nodes:
        if isinstance(node, _PLACES) and isinstance(node.ctx, ast.Load):
            text = ast.unparse(node)
            if text in texts and (node.lineno, node.col_offset) > end and not _is_asked(node, scope):
                return text
    return None


def _looked_into(asked: ast.expr) -> Iterator[ast.expr]:
    """What is asked for its presence, and what has it: `d` where `d.get("a")` is None, also with a name for it."""
    yield asked
    if isinstance(asked, ast.NamedExpr):
        yield asked.target
        yield from _looked_into(asked.value)
    elif isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute):
        yield asked.func.value


def _is_truth(node: ast.expr, test: ast.expr, scope: Scope) -> bool:
    """Whether a condition asks for the truth of an expression, which a list has that is not empty."""
    return node is test or isinstance(scope.parents.get(node), ast.BoolOp | ast.UnaryOp)


def _asked_by_own(node: ast.AST, scope: Scope) -> Iterator[ast.expr]:
    """What a function or property of the project may ask about: what it is given, and attributes of the same object.

    What is defined in the function itself may ask for each of its names.
    """
    callee = scope.facts.calls.get(node)
    if callee is None:
        return
    if callee.parent is scope.function:
        yield from (n for n in callee.nodes if isinstance(n, ast.Name))
    if isinstance(node, ast.Call):
        yield from (*node.args, *(keyword.value for keyword in node.keywords))
    owner = node.func if isinstance(node, ast.Call) else node
    if callee.cls is not None and isinstance(owner, ast.Attribute) and ast.unparse(owner.value) == "self":
        yield from (n for n in callee.nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "self")


def _is_asked(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is itself only compared with `is`."""
    parent = scope.parents.get(node)
    return isinstance(parent, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops)
