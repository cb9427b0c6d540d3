"""The first or last element of each row that a mask selects, where all rows have as many.

sentence = x[mask, :].view(n, -1, width)[:, -1, :]
place = torch.where(mask, torch.arange(mask.size(1)), -1).argmax(1); sentence = x[torch.arange(x.size(0)), place]

Who lays out what is selected in rows takes as many elements of each.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.definitions import definition_of, reads_of, unused_then
from compilefix.codemods.dynamic_shapes.masks import boolean, whole_mask
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_whole
from compilefix.source.tree import names_in

_LAY_OUT = frozenset({"Tensor.view", "Tensor.reshape"})


@dataclass(frozen=True)
class EdgeOfRows:
    """node: the elements that are taken of what is laid out. selection: `x[mask]`.

    rows: how many there are. behind: the sizes of the dimensions behind them.

    last: whether the last of each row is taken, or the first. definition: what gives the selection a name.
    """

    node: ast.Subscript
    selection: ast.Subscript
    mask: ast.expr
    rows: ast.expr
    behind: Sequence[ast.expr]
    last: bool
    definition: ast.Assign | None


def edge_of_rows(node: ast.Subscript, scope: Scope) -> EdgeOfRows | None:
    """`x[mask].view(n, -1, ...)[:, -1]`, also where the selection has a name; None for another index."""
    last = _edge(node.slice, scope)
    call = node.value
    if last is None or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    sizes = call.args
    if len(sizes) == 1 and isinstance(sizes[0], ast.Tuple | ast.List):
        sizes = sizes[0].elts
    if scope.callee(call) not in _LAY_OUT or len(sizes) < 2 or not _is_number(sizes[1], -1, scope):
        return None
    selected = call.func.value
    definition = definition_of(selected, scope.statement(node), scope)
    given = selected if definition is None else definition.value
    found = whole_mask(given, scope) if isinstance(given, ast.Subscript) else None
    if not isinstance(given, ast.Subscript) or found is None or found.leading or found.last:
        return None
    ranks = scope.value(found.node).rank, scope.value(given.value).rank
    if ranks[0] not in (None, 2) or ranks[1] not in (None, len(sizes)):
        return None
    return EdgeOfRows(node, given, found.node, sizes[0], sizes[2:], last, definition)


def edge_edits(found: EdgeOfRows, template: Template, scope: Scope) -> Iterator[Edit]:
    """The edits that take the same elements by their places; what is not proved is noted."""
    tensor, mask = found.selection.value, found.mask
    template.refuse(boolean(mask, scope))
    for part in (tensor, mask):
        template.refuse(scope.legality.computed_again(part, scope.facts))
    reason = f"`{snippet(mask)}` is not proved to have as many true places in each row, and one at least"
    template.refuse([Obstacle(reason, "rows-match")])
    text = ast.unparse(tensor)
    asked = [(found.rows, 0), *((size, index - len(found.behind)) for index, size in enumerate(found.behind))]
    for size, dim in asked:
        if ast.unparse(size) not in (f"{text}.size({dim})", f"{text}.shape[{dim}]"):
            reason = f"dimension {dim} of `{snippet(tensor)}` is not proved to be `{snippet(size)}`"
            template.refuse([Obstacle(reason, "rows-match")])
    if scope.value(tensor).rank is None or scope.value(mask).rank is None:
        reason = f"`{snippet(mask)}` is not proved to be a matrix, with one element for each row of `{snippet(tensor)}`"
        template.refuse([Obstacle(reason, "enough-dimensions")])
    if found.definition is not None:
        statement, names = (
            scope.statement(found.node),
            names_in(found.selection),
        )
        template.refuse(unused_then([found.definition], statement, names, scope, used=False, replaced=[found.node]))
    torch = torch_name(scope)
    x, m = template.use(tensor, operand=True), template.use(mask, operand=True)
    places = f"{m}.int().argmax(1)"
    if found.last:
        places = f"{torch}.where({template.use(mask)}, {torch}.arange({m}.size(1), device={m}.device), -1).argmax(1)"
    if _is_computed_first(found.node, scope):
        name = _name(found, scope)
        yield scope.before(scope.statement(found.node), f"{name} = {places}", **template.parts)
        places = name
    code = f"{x}[{torch}.arange({x}.size(0), device={x}.device), {places}]"
    yield scope.edit(found.node, code, **template.used_in(code))
    reads = None if found.definition is None else reads_of(found.definition, scope)
    if found.definition is not None and reads is not None and all(n in set(ast.walk(found.node)) for n in reads):
        yield scope.edit(found.definition, "")


def _name(found: EdgeOfRows, scope: Scope) -> str:
    """A name of its own for the places: other rows may be taken in the same statement."""
    wanted = "last_places" if found.last else "first_places"
    alike = (edge_of_rows(node, scope) for node in scope.of(ast.Subscript) if node is not found.node)
    before = sum(1 for edge in alike if edge is not None and edge.last == found.last and _is_before(edge, found))
    return free_name(wanted if not before else f"{wanted}_{before + 1}", scope)


def _is_before(one: EdgeOfRows, other: EdgeOfRows) -> bool:
    return (one.node.lineno, one.node.col_offset) < (other.node.lineno, other.node.col_offset)


def _is_computed_first(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is computed once, where its statement begins or soon after."""
    around = scope.ancestors(node)
    inner = [next(around)]
    while not isinstance(inner[-1], ast.stmt):
        inner.append(next(around))
    plain = isinstance(inner[-1], ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr)
    return plain and not any(
        isinstance(part, ast.IfExp | ast.BoolOp | ast.Lambda | ast.comprehension) for part in inner
    )


def _edge(index: ast.expr, scope: Scope) -> bool | None:
    """Whether `[:, -1]` takes the last of a dimension, or `[:, 0]` the first; None for another index."""
    parts = index.elts if isinstance(index, ast.Tuple) else []
    if len(parts) < 2 or not all(is_whole(part) for part in (parts[0], *parts[2:])):
        return None
    edges = {number: last for number, last in ((-1, True), (0, False)) if _is_number(parts[1], number, scope)}
    return next(iter(edges.values()), None)


def _is_number(node: ast.expr, number: int, scope: Scope) -> bool:
    const = scope.value(node).const
    return const is not None and type(const.value) is int and const.value == number
