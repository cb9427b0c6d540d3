"""Selected rows that are laid flat for a loss: `x[mask].view(-1, x.size(-1))`, `labels[mask].view(-1)`.

What a mask selects has one dimension for its true places already, so that both change nothing.
"""

from __future__ import annotations

import ast

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_SAME_SHAPE = "same-shape-dtype"


def laid_flat(node: ast.Call, scope: Scope, *, columns: bool) -> tuple[ast.expr, Obstacle | None] | None:
    """The rows, or with `columns` false the numbers, that a call lays flat, and what is not proved of them."""
    name = scope.callee(node)
    if not isinstance(node.func, ast.Attribute) or node.keywords:
        return None
    rows = node.func.value
    if name == "Tensor.flatten" and not node.args and not columns:
        return rows, None
    sizes = node.args
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    if name not in ("Tensor.view", "Tensor.reshape") or len(sizes) != 1 + columns or not _is_rest(sizes[0], scope):
        return None
    if not columns or _is_last_size(sizes[1], rows):
        return rows, None
    reason = f"`{snippet(rows)}` is not proved to have `{snippet(sizes[1])}` columns"
    return rows, Obstacle(reason, _SAME_SHAPE)


def _is_rest(node: ast.expr, scope: Scope) -> bool:
    const = scope.value(node).const
    return const is not None and const.value == -1


def _is_last_size(node: ast.expr, rows: ast.expr) -> bool:
    """Whether a size is the last one of these rows: `rows.size(-1)`, `rows.shape[-1]`."""
    asked = ast.unparse(node)
    return asked in (f"{ast.unparse(rows)}.size(-1)", f"{ast.unparse(rows)}.shape[-1]")
