"""Conditions on the shape, dtype or device of tensors, or on numbers, that keep what stands behind from failing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.source.tree import elements_of, names_in

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


def kept_in_range(test: ast.expr, scope: Scope) -> ast.expr | None:
    """What a fixed condition on a number keeps in range: `steps[i - 1]` and `1 / i` behind `i == 0 or t`.

    Of a tensor the last item comes before the first one: a constant says nothing of how many items it has.
    """
    compared = [part for part in parts_of_condition(test, scope) if isinstance(part, ast.Compare)]
    limits = [c for c in compared if not any(isinstance(side, ast.Constant) for side in (c.left, *c.comparators))]
    names, limited = _numbers_in(compared, scope), _numbers_in(limits, scope)
    for behind in _guarded(test, scope) if names else ():
        for node in ast.walk(behind):
            if isinstance(node, ast.Subscript) and scope.value(node.value).is_tensor:
                indices = elements_of(node.slice) if isinstance(node.ctx, ast.Load) else ()
                parts = [part for part in indices if limited & names_in(part) and not isinstance(part, ast.Slice)]
            else:
                part = _kept(node)
                parts = [part] if part is not None and names & names_in(part) else []
            if any(not scope.value(part).is_tensor for part in parts):
                return node if isinstance(node, ast.expr) else parts[0]
    return None


def parts_of_condition(test: ast.expr, scope: Scope) -> Iterator[ast.AST]:
    """What a condition is made of, also where a name has the answer: `first = old is None`, then `if first or t`."""
    for node in ast.walk(test):
        yield node
        made = scope.only_value(node.id) if isinstance(node, ast.Name) and scope.value(node).dtype == "bool" else None
        if made is not None and made is not test:
            yield from ast.walk(made)


def _numbers_in(tests: Iterable[ast.Compare], scope: Scope) -> frozenset[str]:
    """The numbers of Python that comparisons are about."""
    named = (n for test in tests for n in ast.walk(test) if isinstance(n, ast.Name))
    return frozenset(n.id for n in named if scope.value(n).is_(Kind.STATIC, Kind.SIZE))


def _kept(node: ast.AST) -> ast.expr | None:
    """The index of an item that is read, and what a number is divided by."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.slice
    divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
    return node.right if divides and isinstance(node, ast.BinOp) else None


def _guarded(test: ast.expr, scope: Scope) -> Iterator[ast.AST]:
    """What runs, or does not, as a part of a condition says: later parts, branches, and the way on behind an exit."""
    child: ast.AST = test
    for parent in scope.ancestors(test):
        if isinstance(parent, ast.BoolOp) and child in parent.values:
            yield from parent.values[parent.values.index(child) + 1 :]
        elif isinstance(parent, ast.IfExp):
            yield from (parent.body, parent.orelse)
            return
        elif isinstance(parent, ast.stmt):
            yield from (*getattr(parent, "body", ()), *getattr(parent, "orelse", ()))
            last = (getattr(parent, "body", None) or [None])[-1]
            if isinstance(last, ast.Return | ast.Continue | ast.Break | ast.Raise):
                block = scope.block(parent)
                yield from block[block.index(parent) + 1 :]
            return
        child = parent


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
