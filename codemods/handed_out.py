"""Results that leave the model: arrays that a function makes of tensors, and that what calls it only hands on.

Nothing computes with them any more, so that whoever compiles the model makes them outside of it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import TYPE_CHECKING

from compilefix.analysis.host_work import makes_array
from compilefix.analysis.values import Kind, Value
from compilefix.source.definitions import Function
from compilefix.source.tree import parents

if TYPE_CHECKING:
    from compilefix.codemods.rule import Scope

_PARTS = (ast.Tuple, ast.List, ast.Dict, ast.ListComp, ast.DictComp, ast.Subscript, ast.IfExp)
"""What holds a value, or is a part of it."""


def hands_out_arrays(scope: Scope) -> bool:
    """Whether a function gives arrays of tensors in each of its ways out, and its caller does nothing with them."""
    function, callers = scope.function, scope.compiled.callers
    if not callers or not any(makes_array(call) for call in scope.of(ast.Call)):
        return False
    given = [node.value for node in scope.of(ast.Return) if node.value is not None]
    if not given or not all(_is_of_arrays(scope.value(value)) for value in given):
        return False
    caller = callers[-1]
    calls = [node for node, callee in scope.legality.inference.facts(caller).calls.items() if callee is function]
    around = parents((caller.node, *caller.nodes)) if calls else {}
    return bool(calls) and all(_is_handed_on(call, around, caller, set()) for call in calls)


def _is_of_arrays(value: Value) -> bool:
    if value.is_(Kind.CONTAINER) and value.element is not None:
        return _is_of_arrays(value.element)
    return value.is_(Kind.NDARRAY)


def _is_handed_on(node: ast.AST, around: Mapping[ast.AST, ast.AST], caller: Function, names: set[str]) -> bool:
    """Whether a value is only returned or kept, by itself or in a list, a dict or under a name.

    `names` have been followed: `found = (found, scores)` gives one that it reads.
    """
    holder = around.get(node)
    while isinstance(holder, _PARTS) and not (isinstance(holder, ast.Subscript) and node is not holder.value):
        node, holder = holder, around.get(holder)
    if isinstance(holder, ast.Return):
        return True
    if isinstance(holder, ast.Call):
        return isinstance(holder.func, ast.Attribute) and holder.func.attr == "append" and node in holder.args
    if not isinstance(holder, ast.Assign) or node is not holder.value:
        return False
    for target in holder.targets:
        if isinstance(target, ast.Name) and target.id in names:
            continue
        if isinstance(target, ast.Name):
            names.add(target.id)
            loads = [n for n in caller.of(ast.Name) if n.id == target.id and isinstance(n.ctx, ast.Load)]
            if not all(_is_handed_on(load, around, caller, names) for load in loads):
                return False
        elif not isinstance(target, ast.Subscript):
            return False
    return True
