"""Selected rows given to a function of the project, whose results have names until they are written back.

new_y, new_d = spline(x[inside], w[inside])      new_y, new_d = spline(torch.where(inside, x, -1.0), w)
y[inside] = new_y                                y.copy_(torch.where(inside, new_y, y))
d[inside] = new_d.to(d.dtype)                    d.copy_(torch.where(inside, new_d.to(d.dtype), d))

The names hold all rows then, so that nothing else may use them but a question for their dtype or device.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.element_calls import CONVERSIONS
from compilefix.codemods.dynamic_shapes.masks import Mask, whole_mask
from compilefix.codemods.rule import Scope
from compilefix.source.tree import names_in

_ASKED = frozenset({"dtype", "device"})


@dataclass(frozen=True)
class Write:
    """A statement that writes a result to the elements of a mask: `y[mask] = new` or `y[mask] = new.to(y.dtype)`."""

    statement: ast.Assign
    target: ast.Subscript
    value: ast.expr


def named_writes(node: ast.Assign, scope: Scope) -> tuple[Mask, tuple[Write, ...]] | None:
    """The writes of all that a call returns under several names, and their mask; None where other code uses it too."""
    whole = node.targets[0]
    if not isinstance(whole, ast.Tuple | ast.List):
        return None
    names = [n.id for n in whole.elts if isinstance(n, ast.Name)]
    if len(names) < len(whole.elts) or len(set(names)) < len(names) or _in_nested(names, scope):
        return None
    writes: dict[Write, None] = {}
    for name in names:
        found = _writes_of(name, node, scope)
        if not found:
            return None
        writes.update(dict.fromkeys(found))
    first = next(iter(writes))
    mask = whole_mask(first.target, scope)
    if mask is None or not all(mask.same(write.target) for write in writes) or not _kept(mask, node, writes, scope):
        return None
    return mask, tuple(sorted(writes, key=lambda write: write.statement.lineno))


def _writes_of(name: str, node: ast.Assign, scope: Scope) -> list[Write] | None:
    """The statements that write what the call gave this name; None where it is used in another way."""
    if len(scope.names(name, stores=True)) != 1:
        return None
    found: list[Write] = []
    for load in scope.names(name):
        above = scope.parents[load]
        if isinstance(above, ast.Attribute) and above.attr in _ASKED:
            continue
        write = _write(load, scope)
        if write is None or not _follows(write.statement, node, scope):
            return None
        found.append(write)
    return found


def _write(load: ast.Name, scope: Scope) -> Write | None:
    """The statement that writes a name to the elements of a mask, perhaps with another dtype or on another device."""
    value: ast.expr = load
    above = scope.parents[value]
    while isinstance(above, ast.Attribute) and above.attr in CONVERSIONS:
        call = scope.parents[above]
        if not isinstance(call, ast.Call) or call.func is not above:
            return None
        value, above = call, scope.parents[call]
    if not isinstance(above, ast.Assign) or above.value is not value or len(above.targets) != 1:
        return None
    target = above.targets[0]
    return Write(above, target, value) if isinstance(target, ast.Subscript) else None


def _follows(statement: ast.stmt, node: ast.stmt, scope: Scope) -> bool:
    """Whether a statement stands behind another, in its block or in an `if` there, so that it runs once at most."""
    block = scope.block(node)
    rest = block[block.index(node) + 1 :] if node in block else []
    while statement not in rest:
        above = scope.parents.get(statement)
        if not isinstance(above, ast.If):
            return False
        statement = above
    return True


def _kept(mask: Mask, node: ast.stmt, writes: Iterable[Write], scope: Scope) -> bool:
    """Whether the mask is the same at the call and at each write."""
    if scope.legality.memory.writer(scope.value(mask.node).storage, (), scope.facts) is not None:
        return False
    last = max(write.statement.lineno for write in writes)
    read = names_in(mask.node)
    return not any(node.lineno <= s.lineno <= last for name in read for s in scope.names(name, stores=True))


def _in_nested(names: Sequence[str], scope: Scope) -> bool:
    """Whether a nested function, or code that does not run, mentions one of the names."""
    every = (n for n in scope.function.of(ast.Name) if n.id in names)
    return any(n not in scope.parents for n in every) or any(p.arg in names for p in scope.function.parameters)


@dataclass(frozen=True)
class NamedRows:
    """An argument that is a name, given selected rows, or a number, before the call and used in it alone.

    selections: the `a[mask]` in what it is given: without the index they are all rows. definitions: the statements
    that they stand in. others: what it is given on other ways, perhaps tensors.
    """

    selections: tuple[ast.Subscript, ...]
    definitions: tuple[ast.Assign, ...]
    others: tuple[ast.expr, ...]


def named_rows(argument: ast.expr, mask: Mask, call: ast.Call, scope: Scope) -> NamedRows | None:
    """The selections that an argument is made of: `low = -bounds[mask]`, on one way of an `if` or on several."""
    if not isinstance(argument, ast.Name) or _in_nested([argument.id], scope):
        return None
    inside = set(ast.walk(call))
    stores = scope.names(argument.id, stores=True)
    if not stores or any(n not in inside for n in scope.names(argument.id)):
        return None
    statement = scope.statement(call)
    found: dict[ast.Assign, ast.Subscript] = {}
    others: list[ast.expr] = []
    for store in stores:
        given = scope.parents[store]
        if not isinstance(given, ast.Assign) or given.targets != [store] or not _follows_from(statement, given, scope):
            return None
        value = given.value.operand if isinstance(given.value, ast.UnaryOp) else given.value
        if isinstance(value, ast.Subscript) and mask.same(value):
            found[given] = value
        elif scope.value(given.value).may_be(Kind.TENSOR):
            others.append(given.value)
    return NamedRows(tuple(found.values()), tuple(found), tuple(others)) if found else None


def is_given_rows(argument: ast.expr, mask: Mask, scope: Scope) -> bool:
    """Whether an argument is a name that may be given rows that the mask selects."""
    stores = scope.names(argument.id, stores=True) if isinstance(argument, ast.Name) else []
    given = (part for store in stores for part in ast.walk(scope.statement(store)))
    return any(isinstance(part, ast.Subscript) and mask.same(part) for part in given)


def _follows_from(statement: ast.stmt, given: ast.stmt, scope: Scope) -> bool:
    """Whether a statement stands behind one in its block, or behind the `if`s that this one stands in."""
    around: ast.AST = given
    while isinstance(around, ast.stmt):
        block = scope.block(around)
        if around in block and statement in block[block.index(around) + 1 :]:
            return True
        around = scope.parents[around]
        if not isinstance(around, ast.If):
            return False
    return False
