"""The elements of a matrix that a mask with one true place in each row selects, or those beside them.

others = scores[~diagonal].view(n, -1)     order = torch.argsort(torch.where(diagonal, 1, 0), dim=1, stable=True)
                                           others = scores.gather(1, order[:, :-1]).view(n, -1)
own = scores[diagonal]                     own = scores.gather(1, torch.where(diagonal, 1, 0).argmax(1, ...))[:, 0]

Who lays out what is selected in rows takes as many elements of each. That the mask leaves out one says how it is made.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.definitions import Origin, Way, origin_of
from compilefix.codemods.dynamic_shapes.masks import boolean
from compilefix.codemods.dynamic_shapes.off_diagonal import diagonal_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.syntax import last_name

_MAKES = re.compile(r"(?:^|_)(?:eye|one_?hot)(?:_|$)")
_LAY_OUT = frozenset({"view", "reshape"})
_KEEPS = frozenset({"bool", "to", "cuda", "cpu", "type", "contiguous"})


@dataclass(frozen=True)
class OneInRow:
    """node: the selection. turned: whether it takes what stands beside the true place of each row."""

    node: ast.Subscript
    mask: ast.Name
    turned: bool


def one_in_row(node: ast.Subscript, scope: Scope) -> OneInRow | None:
    """A selection by a diagonal or one-hot mask, if what it leaves out, or takes, is laid out in rows."""
    found = _selection(node)
    if found is None or not scope.value(node.value).is_tensor or scope.value(found.mask).dtype not in (None, "bool"):
        return None
    if scope.value(node.value).rank not in (None, 2) or diagonal_of(node, scope) is not None:
        return None
    beside = (other for index in scope.of(ast.Subscript) if (other := _selection(index)) is not None)
    rows = any(other.mask.id == found.mask.id and other.turned and _in_rows(other.node, scope) for other in beside)
    if not rows or (found.turned and not _in_rows(node, scope)):
        return None
    made = [*_values(origin_of(found.mask, scope.statement(node), scope))]
    if not made or any(value is None or not _is_made(value) for value in made):
        return None
    # Other places may have been added since.
    written = scope.legality.memory.writer(scope.value(found.mask).storage, (), scope.facts)
    return found if written is None else None


def one_in_row_code(found: OneInRow, template: Template, scope: Scope) -> str:
    """Code that takes the same elements; what is not proved is noted."""
    reason = f"`{found.mask.id}` is not proved to be true at one place in each row"
    template.refuse([Obstacle(reason, "one-hot-rows")])
    template.refuse(boolean(found.mask, scope))
    reason = f"`{snippet(found.node.value)}` is not proved to be a matrix with the mask's shape"
    template.refuse([Obstacle(reason, "same-shape-dtype")])
    torch, matrix = torch_name(scope), template.use(found.node.value, operand=True)
    places = f"{torch}.where({template.use(found.mask)}, 1, 0)"
    if not found.turned:
        return f"{matrix}.gather(1, {places}.argmax(dim=1, keepdim=True))[:, 0]"
    return f"{matrix}.gather(1, {torch}.argsort({places}, dim=1, stable=True)[:, :-1])"


def _selection(node: ast.Subscript) -> OneInRow | None:
    mask, turned = node.slice, False
    if isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert):
        mask, turned = mask.operand, True
    plain = isinstance(node.ctx, ast.Load) and isinstance(mask, ast.Name)
    return OneInRow(node, mask, turned) if plain and isinstance(mask, ast.Name) else None


def _in_rows(node: ast.Subscript, scope: Scope) -> bool:
    """Whether the elements are laid out as a matrix: `x[~m].view(n, -1)`."""
    method = scope.parents.get(node)
    call = scope.parents.get(method) if isinstance(method, ast.Attribute) else None
    if (
        not isinstance(method, ast.Attribute)
        or method.attr not in ("view", "reshape")
        or not isinstance(call, ast.Call)
    ):
        return False
    numbers = [ast.unparse(argument) for argument in call.args]
    return call.func is method and len(numbers) == 2 and numbers[1] == "-1" != numbers[0]


def _values(origin: Origin) -> Iterator[ast.expr | None]:
    """What a name may have been given; None for what is not in sight."""
    if isinstance(origin, Way):
        yield from _values(origin.body)
        yield from _values(origin.orelse)
    else:
        yield origin.value if origin is not None else None


def _is_made(node: ast.expr) -> bool:
    """Whether a call says by its name that it makes a diagonal or a one-hot tensor."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _KEEPS:
        node = node.func.value
    if not isinstance(node, ast.Call):
        return False
    called = last_name(node.func)
    return _MAKES.search(called) is not None
