"""Conditions on the shape, dtype or device of tensors that keep what stands behind them from failing."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope

_ATTRIBUTES = frozenset({"shape", "ndim", "dtype", "layout"})
_METHODS = frozenset(
    {"size", "dim", "ndimension", "numel", "nelement", "is_complex", "is_floating_point", "element_size", "stride"}
)


def kept_from_failing(test: ast.expr, scope: Scope) -> ast.expr | None:
    """What is computed behind a fixed condition of the tensors that it asks about, and may fail where it is false.

    In `a.shape == b.shape and (a == b).all()` that is the comparison of the values: for other shapes it is not reached.
    """
    asked = {ast.unparse(node) for node in _asked(test)}
    for behind in _behind(test, scope) if asked else ():
        used = (n for n in ast.walk(behind) if isinstance(n, ast.expr) and ast.unparse(n) in asked)
        if any(not _is_asked(n, scope) for n in used) and any(scope.legality.both_evaluated([behind], scope.facts)):
            return behind
    return None


def _asked(test: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose shape, dtype or device a condition asks for."""
    for node in ast.walk(test):
        if isinstance(node, ast.Attribute) and node.attr in _ATTRIBUTES:
            yield node.value
        elif isinstance(node, ast.Compare):  # not `x.device.type == "cuda"`: what follows runs there and elsewhere
            sides = [node.left, *node.comparators]
            yield from (s.value for s in sides if isinstance(s, ast.Attribute) and s.attr == "device")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            yield node.func.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
            yield from node.args


def _is_asked(node: ast.expr, scope: Scope) -> bool:
    """Whether no more than its shape, dtype or device is asked for."""
    parent = scope.parents.get(node)
    return isinstance(parent, ast.Attribute) and parent.attr in (*_ATTRIBUTES, "device")


def _behind(test: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """What is computed only after a part of a condition: the parts behind it, the branches, and the way on."""
    child: ast.AST = test
    for parent in scope.ancestors(test):
        if isinstance(parent, ast.BoolOp) and child in parent.values:
            yield from parent.values[parent.values.index(child) + 1 :]
        elif isinstance(parent, ast.IfExp):
            yield from (parent.body, parent.orelse)
        elif isinstance(parent, ast.stmt):
            block = scope.block(parent)
            branches = [*getattr(parent, "body", ()), *getattr(parent, "orelse", ())]
            for statement in (*branches, *block[block.index(parent) + 1 :]):
                yield from (n for n in ast.iter_child_nodes(statement) if isinstance(n, ast.expr))
            return
        child = parent
