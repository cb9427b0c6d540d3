"""One number for each row, laid over it: `n[:, None]`, `n.unsqueeze(1)`, `n.view(-1, *([1] * (x.ndim - 1)))`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.source.syntax import is_literal, is_whole


@dataclass(frozen=True)
class Spread:
    """The tensor, which has one dimension, and how many of one element are put behind that.

    any_rank: whether a tensor of more dimensions gets it behind its own all the same.
    """

    tensor: ast.expr
    count: int | ast.expr
    any_rank: bool = False


def spread_of(node: ast.expr, scope: Scope) -> Spread | None:
    """What an expression lays over the dimensions behind; None where it does something else."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and isinstance(node.ctx, ast.Load):
        first, *rest = node.slice.elts
        full = is_whole(first)
        if rest and (full or is_literal(first, Ellipsis)) and all(is_literal(part, None) for part in rest):
            return Spread(node.value, len(rest), any_rank=not full)
        return None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.keywords:
        return None
    if scope.callee(node) == "Tensor.unsqueeze" and [ast.unparse(argument) for argument in node.args] == ["-1"]:
        return Spread(node.func.value, 1, any_rank=True)
    if scope.callee(node) == "Tensor.unsqueeze" and [ast.unparse(argument) for argument in node.args] == ["1"]:
        return Spread(node.func.value, 1)
    if scope.callee(node) not in ("Tensor.view", "Tensor.reshape") or len(node.args) < 2:
        return None
    if ast.unparse(node.args[0]) != "-1":
        return None
    rest = node.args[1:]
    if all(is_literal(part, 1) for part in rest):
        return Spread(node.func.value, len(rest))
    count = _ones(rest[0].value, scope) if len(rest) == 1 and isinstance(rest[0], ast.Starred) else None
    return None if count is None else Spread(node.func.value, count)


def _ones(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The number of ones in `[1] * n`."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Mult):
        return None
    for ones, count in ((node.left, node.right), (node.right, node.left)):
        if isinstance(ones, ast.List | ast.Tuple) and len(ones.elts) == 1 and is_literal(ones.elts[0], 1):
            value = scope.value(count)
            return count if value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int" else None
    return None
