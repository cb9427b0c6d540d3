"""What kind of expression stands somewhere, as far as its text alone says."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def is_literal(node: ast.AST | None, value: object) -> bool:
    """Whether an expression is this one of `None`, `True`, `False` and `...`."""
    return isinstance(node, ast.Constant) and node.value is value


def is_path(node: ast.AST) -> bool:
    """Whether an expression is a name or an attribute of one, `x` or `self.scale`, which gives the same each time."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def is_whole(part: ast.expr) -> bool:
    """Whether a part of an index is `:`, which takes all of a dimension."""
    return isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None


def last_name(node: ast.expr) -> str:
    """The name that a name or attribute ends with, `item` of `x.item`; empty for other expressions."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def single_target(statement: ast.AST | None) -> ast.expr | None:
    """What an assignment gives a value, where that is one target: `y` of `y = x`, and not of `y = z = x`."""
    return statement.targets[0] if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None


def unpacks(call: ast.Call) -> bool:
    """Whether a call is given `*arguments` or `**options`: what goes to which parameter is not seen."""
    return any(isinstance(a, ast.Starred) for a in call.args) or any(k.arg is None for k in call.keywords)


def asks_for_none(test: ast.AST | None) -> bool:
    """Whether a test is `x is None` or `x is not None`."""
    return (
        isinstance(test, ast.Compare)
        and len(test.ops) == 1
        and isinstance(test.ops[0], ast.Is | ast.IsNot)
        and is_literal(test.comparators[0], None)
    )


def asks_for_something(test: ast.expr) -> bool:
    """Whether a test is `x is not None`."""
    return asks_for_none(test) and isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot)


def conjuncts(test: ast.expr) -> list[ast.expr]:
    """What has to hold for a test to: the parts of `a and b`, any other test by itself."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def asked_in(test: ast.expr) -> Iterator[ast.expr]:
    """The tests that `and`, `or` and `not` make one of."""
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from asked_in(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from asked_in(test.operand)
    else:
        yield test
