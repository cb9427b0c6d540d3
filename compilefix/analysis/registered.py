"""What a module registers: `self.register_buffer("scale", tensor)`, by position or by keyword."""

from __future__ import annotations

import ast
from typing import NamedTuple


class Registered(NamedTuple):
    """A call that registers a buffer or parameter; name and value are None where the call does not show them."""

    owner: ast.expr
    name: ast.expr | None
    value: ast.expr | None
    is_buffer: bool


def registered(node: ast.AST) -> Registered | None:
    """The call of `register_buffer` or `register_parameter` that a node is."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    method = node.func.attr
    if method not in ("register_buffer", "register_parameter"):
        return None
    given = {k.arg: k.value for k in node.keywords}
    plain = not any(isinstance(argument, ast.Starred) for argument in node.args)
    by_place = dict(enumerate(node.args)) if plain else {}
    name = by_place.get(0, given.get("name"))
    value = by_place.get(1, given.get("tensor" if method == "register_buffer" else "param"))
    return Registered(node.func.value, name, value, method == "register_buffer")
