"""The hooks that modules set on themselves: Dynamo traces them where it traces the `forward` of the module."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project

_SETS = frozenset({"register_forward_hook", "register_forward_pre_hook"})


def own_hooks(function: Function, project: Project) -> Iterator[Function]:
    """What runs before and behind a `forward`: `self.register_forward_hook(keep)` in `__init__`."""
    cls = function.cls
    if cls is None or function.node.name != "forward" or function.parent is not None:
        return
    for base in project.ancestors(cls):
        maker = base.methods.get("__init__") if isinstance(base, Class) else None
        if maker is None:
            continue
        for call in maker.of(ast.Call):
            func = call.func
            if isinstance(func, ast.Attribute) and func.attr in _SETS and call.args and _is_self(func.value):
                hook = _named(call.args[0], cls, maker, project)
                if hook is not None:
                    yield hook


def _named(node: ast.expr, cls: Class, maker: Function, project: Project) -> Function | None:
    """The function that a name, or a method that `self.keep`, stands for."""
    if isinstance(node, ast.Attribute) and _is_self(node.value):
        return project.method(cls, node.attr)
    if not isinstance(node, ast.Name) or node.id in maker.bound:
        return None
    name = maker.module.qualified(node)
    found = project.resolve(name) if name is not None else None
    return found if isinstance(found, Function) else None


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"
