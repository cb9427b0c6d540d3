"""Names that hold a tensor in some calls, at places behind a test that leaves these calls out.

In `if self.training: n = torch.ones(4)` before `if not self.training and i >= n:` the comparison is never one of a
tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.source.tree import children, names_in, walk

_SIZES = frozenset({"shape", "size", "ndim", "dim", "numel"})
_NUMBERS = frozenset({"int", "float", "bool"})


def is_ruled_out(node: ast.expr, scope: Scope) -> bool:
    """Whether nothing in an expression that is a tensor at times is seen to be one where the expression is evaluated.

    An item of a dictionary that holds tensors and other things (`masks["pad_size"]`) may be any of these.
    """
    parts = [part for part in _parts_of(node) if scope.value(part).may_be(Kind.TENSOR)]
    known = dict(_known_at(node, scope))
    return bool(parts) and all(
        _is_none_here(part, known, scope) if isinstance(part, ast.Name) else scope.value(part).sometimes_tensor
        for part in parts
    )


def _parts_of(node: ast.AST) -> Iterator[ast.expr]:
    """The names that an expression takes its value from, and items that are asked for by their names."""
    if isinstance(node, ast.Attribute) and node.attr in _SIZES:
        return
    key = node.slice if isinstance(node, ast.Subscript) else None
    if isinstance(node, ast.Name) or (isinstance(key, ast.Constant) and isinstance(key.value, str)):
        yield node  # type: ignore[misc]
    else:
        for child in children(node):
            yield from _parts_of(child)


def _is_none_here(name: ast.Name, known: dict[str, bool], scope: Scope) -> bool:
    if not known:
        return False
    parameter = next((p for p in scope.function.parameters if p.arg == name.id), None)
    if parameter is not None and not _is_number(parameter.annotation):
        return False
    given = []
    for store in scope.names(name.id, stores=True):
        statement = scope.parents.get(store)
        if not isinstance(statement, ast.Assign) or store not in statement.targets:
            return False
        if scope.value(statement.value).may_be(Kind.TENSOR):
            given.append(statement)
    return bool(given) and all(_is_elsewhere(statement, name, known, scope) for statement in given)


def _is_elsewhere(statement: ast.Assign, use: ast.Name, known: dict[str, bool], scope: Scope) -> bool:
    """Whether a statement ran only where a test came out the other way, and what it asks is the same at the use."""
    return any(
        known.get(test, came) is not came and _stays(test, statement, use, scope)
        for test, came in _known_at(statement, scope)
    )


def _stays(test: str, first: ast.stmt, use: ast.Name, scope: Scope) -> bool:
    """Whether nothing between two places, in the order in which they run, gives a part of a test another value."""
    asked = ast.parse(test, mode="eval").body
    attributes = {part.attr for part in walk(asked) if isinstance(part, ast.Attribute)}
    if any(node.attr in attributes and isinstance(node.ctx, ast.Store) for node in scope.of(ast.Attribute)):
        return False
    own, behind = list(scope.ancestors(use)), set(scope.ancestors(first))
    loops = [outer for outer in own if isinstance(outer, ast.For | ast.While) and outer in behind]
    for part in walk(asked):
        if not isinstance(part, ast.Name):
            continue
        for store in scope.names(part.id, stores=True):
            around = list(scope.ancestors(store))
            between = first.lineno <= store.lineno <= use.lineno and scope.statement(store) not in own
            if between or any(loop in around for loop in loops):
                return False
    return first.lineno < use.lineno


def _known_at(node: ast.AST, scope: Scope) -> Iterator[tuple[str, bool]]:
    """The tests of which is known how they came out where a node is evaluated."""
    child = node
    for outer in scope.ancestors(node):
        if isinstance(outer, ast.If):
            if child in outer.body or child in outer.orelse:
                yield from _parts(outer.test, child in outer.body)
        elif isinstance(outer, ast.IfExp):
            if child is not outer.test:
                yield from _parts(outer.test, child is outer.body)
        elif isinstance(outer, ast.BoolOp) and child in outer.values:
            for before in outer.values[: outer.values.index(child)]:
                yield from _parts(before, isinstance(outer.op, ast.And))
        child = outer


def _parts(test: ast.expr, came: bool) -> Iterator[tuple[str, bool]]:
    """What is known where a test came out true, or false, each part without `not`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _parts(test.operand, not came)
    elif isinstance(test, ast.BoolOp):
        if isinstance(test.op, ast.And) is came:
            for part in test.values:
                yield from _parts(part, came)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Is | ast.IsNot):
        right = test.comparators[0]
        same = came is isinstance(test.ops[0], ast.Is)
        if isinstance(right, ast.Constant) and isinstance(right.value, bool) and same:
            yield ast.unparse(test.left), right.value
        elif isinstance(right, ast.Constant) and right.value is None:
            yield f"{ast.unparse(test.left)} is None", same
    elif isinstance(test, ast.Name | ast.Attribute):
        yield ast.unparse(test), came


def _is_number(annotation: ast.expr | None) -> bool:
    """Whether an annotation says that a number, or nothing, is given."""
    if annotation is None:
        return False
    names = names_in(annotation)
    return bool(names & _NUMBERS) and "Tensor" not in ast.unparse(annotation)
