"""What the tests of a function say that a parameter may be, whatever its annotation says."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis import values
from compilefix.analysis.annotations import annotated
from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project

_OPERATORS = ("__add__", "__sub__", "__mul__", "__truediv__", "__matmul__")


def computing_classes(function: Function, project: Project) -> dict[str, frozenset[str]]:
    """By parameter the classes with operators of their own, no tensors, that the function asks it for.

    `isinstance(x, TensorList)` says that `x: torch.Tensor` is not all that the function is given.
    """
    found: dict[str, frozenset[str]] = {}
    names = {p.arg for p in function.parameters}
    for test in function.of(ast.Call):
        if not isinstance(test.func, ast.Name) or test.func.id != "isinstance" or len(test.args) != 2:
            continue
        asked = test.args[0]
        if isinstance(asked, ast.Name) and asked.id in names:
            classes = (computing_class(t, function, project) for t in asked_types(test.args[1], function))
            found[asked.id] = found.get(asked.id, frozenset()) | frozenset(filter(None, classes))
    return found


def computing_class(node: ast.expr, function: Function, project: Project) -> str | None:
    """The name of a class of the project with operators of its own whose objects are no tensors."""
    name = function.module.qualified(node)
    found = project.resolve(name) if name is not None else None
    if not isinstance(found, Class) or annotated(node, function.module, project).kinds != values.ANY_OBJECT.kinds:
        return None
    return found.full_name if any(project.method(found, o) is not None for o in _OPERATORS) else None


def asked_types(node: ast.expr, function: Function, seen: frozenset[str] = frozenset()) -> Sequence[ast.expr]:
    """The types of an `isinstance`: of a tuple, a union, or a name that stands for one."""
    if isinstance(node, ast.Name) and node.id not in seen:  # `Real = Real | Fraction` stands for itself in part
        seen |= {node.id}
        stores = function.stores.get(node.id, [])
        made = [a.value for a in function.of(ast.Assign) if a.targets == stores]
        if node.id not in function.bound and node.id in function.module.assigns:
            made = [function.module.assigns[node.id]]
        if len(made) == 1 and isinstance(made[0], ast.Tuple | ast.BinOp):
            node = made[0]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*asked_types(node.left, function, seen), *asked_types(node.right, function, seen)]
    return node.elts if isinstance(node, ast.Tuple) else [node]
