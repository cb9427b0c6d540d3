"""Code in messages."""

from __future__ import annotations

import ast

_LONGEST = 60


def snippet(node: ast.AST | None) -> str:
    """The first line of a node's code, cut to 60 characters; empty for no node."""
    text = "" if node is None else ast.unparse(node).splitlines()[0]
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
