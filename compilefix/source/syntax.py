"""What kind of expression stands somewhere, as far as its text alone says."""

from __future__ import annotations

import ast


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
