"""Elements on or off the diagonal of a matrix, which a mask made of `torch.eye` selects: their number is known.

x[torch.eye(n) == 0].view(n, -1)     x.flatten(0, 1)[1:].unflatten(0, (n - 1, n + 1))[:, :-1].clone().view(n, -1)
x[torch.eye(n) > 0]                  x.diagonal().clone()

Without its first element a matrix has the next one of the diagonal at the end of each `n + 1` elements.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.masks import is_mask, masked_select_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

_KEEPS = frozenset({"bool", "to", "cuda", "cpu", "type", "float", "int", "long", "clone", "detach", "type_as"})
_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}
_DEPTH = 8


@dataclass(frozen=True)
class Diagonal:
    """A selection from a matrix. off: whether it takes all but the diagonal. flat: whether `masked_select` makes it."""

    node: ast.expr
    matrix: ast.expr
    off: bool
    flat: bool


def diagonal_of(node: ast.expr, scope: Scope) -> Diagonal | None:
    """The elements that an expression takes from a matrix by a mask for its diagonal."""
    if isinstance(node, ast.Subscript):
        matrix, mask, flat = node.value, node.slice, False
        if not isinstance(node.ctx, ast.Load) or not scope.value(matrix).is_tensor:
            return None
    else:
        selected = masked_select_of(node, scope)
        if selected is None:
            return None
        matrix, mask, flat = selected[0], selected[1].node, True
    if not isinstance(mask, ast.Name | ast.UnaryOp | ast.Call | ast.Compare) or not is_mask(mask, scope):
        return None
    off = _off(mask, scope)
    return Diagonal(node, matrix, off, flat) if off is not None else None


def diagonal_code(found: Diagonal, template: Template, scope: Scope) -> str:
    """Code that takes the same elements; what is not proved is noted."""
    matrix = snippet(found.matrix)
    if not isinstance(found.matrix, ast.Name | ast.Attribute):
        template.refuse([Obstacle(f"give `{matrix}` a name: its size is asked")])
    rank = scope.value(found.matrix).rank
    if rank is not None and (rank < 2 or (found.flat and rank > 2)):
        template.refuse([Obstacle(f"`{matrix}` is no matrix")])
    template.refuse([Obstacle(f"`{matrix}` is not proved to be a matrix with the mask's shape", "same-shape-dtype")])
    code = template.use(found.matrix, operand=True)
    if not found.off:
        if rank == 2 or found.flat:
            return f"{code}.diagonal().clone()"
        return f"{code}.diagonal(dim1=0, dim2=1).movedim(-1, 0).clone()"
    rows = f"{code}.flatten(0, 1)[1:].unflatten(0, (len({code}) - 1, len({code}) + 1))[:, :-1].clone()"
    above = scope.parents.get(found.node)
    laid_out = isinstance(above, ast.Attribute) and above.attr in ("view", "reshape")
    return rows if laid_out else f"{rows}.flatten(0, 1)"


def _off(node: ast.expr, scope: Scope, depth: int = 0) -> bool | None:
    """Whether a tensor is true, or one, off the diagonal alone; False for the diagonal, None for other tensors."""
    if depth > _DEPTH:
        return None
    if isinstance(node, ast.Name):
        made = scope.only_value(node.id)
        if made is None:
            return None
        written = scope.legality.memory.writer(scope.value(made).storage, (), scope.facts)
        return _off(made, scope, depth + 1) if written is None else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert) and scope.value(node.operand).dtype == "bool":
        return _turned(_off(node.operand, scope, depth + 1))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and _ones(node.left, scope):
        return _turned(_off(node.right, scope, depth + 1))
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        const = scope.value(node.comparators[0]).const
        if const is None or isinstance(const.value, str | bytes):
            return None
        compare = _ORDERS.get(type(node.ops[0]))
        holds = [compare(number, const.value) for number in (0, 1)] if compare is not None else []
        inner = _off(node.left, scope, depth + 1)
        return None if len({*holds}) < 2 else inner if holds[1] else _turned(inner)
    return _call(node, scope, depth) if isinstance(node, ast.Call) else None


def _call(node: ast.Call, scope: Scope, depth: int) -> bool | None:
    name = scope.callee(node) or ""
    if name == "torch.eye":
        rest = {k.arg for k in node.keywords}
        square = len(node.args) == 1 or (len(node.args) == 2 and ast.dump(node.args[0]) == ast.dump(node.args[1]))
        return False if square and rest <= {"dtype", "device", "requires_grad"} else None
    if name == "torch.logical_not" and len(node.args) == 1:
        return _turned(_off(node.args[0], scope, depth + 1))
    if not name.startswith("Tensor.") or not isinstance(node.func, ast.Attribute):
        return None
    method = name.removeprefix("Tensor.")
    if method == "logical_not":
        return _turned(_off(node.func.value, scope, depth + 1))
    return _off(node.func.value, scope, depth + 1) if method in _KEEPS else None


def _ones(node: ast.expr, scope: Scope) -> bool:
    const = scope.value(node).const
    if const is not None:
        return const.value == 1
    return isinstance(node, ast.Call) and scope.callee(node) in ("torch.ones", "torch.ones_like", "Tensor.new_ones")


def _turned(off: bool | None) -> bool | None:
    return None if off is None else not off
