"""A loop that fills one box in each row of a tensor, as a picture of a batch has one.

    for i, box in enumerate(boxes):
        mask[i, box[1] : box[3], box[0] : box[2]] = 1

A place lies in the box of its row where it is not below the start and below the end, in each dimension of the box.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind, may_share
from compilefix.codemods.control_flow.rows import Rows, rows_of
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.names import free_name
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Template, read_of, torch_name
from compilefix.source.snippets import snippet

_MOST = 3
_LISTS = frozenset({"tolist", "int", "long", "unbind"})


@dataclass(frozen=True)
class Edge:
    """Where a box starts or ends in one dimension: the item of its row at `index`, and what is added to it.

    whole: whether the number is cut to a whole one, as by `int(box[0])`.
    """

    index: tuple[int, ...]
    offset: int = 0
    whole: bool = False


@dataclass(frozen=True)
class Boxes:
    """`filled[i, a:b, c:d] = value` in a loop over the rows, with `a` to `d` from the same row of `boxes`.

    sides: start and end in each dimension behind the rows; None for the whole dimension, and for an open end.
    """

    loop: ast.For
    rows: Rows
    filled: ast.expr
    boxes: ast.expr
    sides: tuple[tuple[Edge | None, Edge | None] | None, ...]
    value: ast.expr

    @property
    def edges(self) -> tuple[Edge, ...]:
        """All starts and ends that are read."""
        return tuple(edge for side in self.sides if side is not None for edge in side if edge is not None)


def boxes_of(loop: ast.For, scope: Scope) -> Boxes | None:
    """The boxes that a loop fills, if that is all it does."""
    rows = rows_of(loop.target, loop.iter, scope) if not loop.orelse else None
    if rows is None or len(loop.body) > 2 or not loop.body:
        return None
    named: dict[str, Edge] = {}
    boxes: ast.expr | None = rows.lengths
    if len(loop.body) == 2:
        unpacked = _unpacked(loop.body[0], rows)
        if unpacked is None:
            return None
        boxes, named = unpacked
    write = loop.body[-1]
    if not isinstance(write, ast.Assign) or len(write.targets) != 1 or not isinstance(write.targets[0], ast.Subscript):
        return None
    target = write.targets[0]
    parts = list(target.slice.elts) if isinstance(target.slice, ast.Tuple) else [target.slice]
    owner: ast.expr = target.value
    if rows.tensor is not None:
        if not isinstance(owner, ast.Name) or owner.id != rows.counter:
            return None
        owner = rows.tensor
    else:
        row = parts.pop(0)
        if not isinstance(row, ast.Name) or row.id != rows.counter:
            return None
    if boxes is None:
        boxes = next((b for n in ast.walk(target.slice) if (b := _rows_read(n, rows)) is not None), None)
    if boxes is None or not parts or len(parts) > _MOST:
        return None
    sides: list[tuple[Edge | None, Edge | None] | None] = []
    for part in parts:
        if ast.unparse(part) == ":":
            sides.append(None)
            continue
        if not isinstance(part, ast.Slice) or part.step is not None:
            return None
        ends = (part.lower, part.upper)
        edges = [None if end is None else _edge(end, rows, boxes, named, scope) for end in ends]
        if any(edge is None and end is not None for edge, end in zip(edges, ends, strict=True)):
            return None
        sides.append((edges[0], edges[1]))
    found = Boxes(loop, rows, owner, boxes, tuple(sides), write.value)
    return found if sum(side is not None for side in sides) > 1 and found.edges else None


def _rows_read(node: ast.AST, rows: Rows) -> ast.expr | None:
    """The tensor in `boxes[i, 0]` and `boxes[i][0]`."""
    if not isinstance(node, ast.Subscript):
        return None
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return node.value if isinstance(parts[0], ast.Name) and parts[0].id == rows.counter else None


def _unpacked(statement: ast.stmt, rows: Rows) -> tuple[ast.expr, dict[str, Edge]] | None:
    """The boxes, and the edges that names stand for: `x1, y1, x2, y2 = box`, `= boxes[i].tolist()`."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, given, whole = statement.targets[0], statement.value, False
    while (
        isinstance(given, ast.Call)
        and isinstance(given.func, ast.Attribute)
        and given.func.attr in _LISTS
        and not (given.args or given.keywords)
    ):
        whole = whole or given.func.attr in ("int", "long")
        given = given.func.value
    if not isinstance(target, ast.Tuple) or not all(isinstance(e, ast.Name) for e in target.elts):
        return None
    named = isinstance(given, ast.Name) and given.id == rows.length and rows.lengths is not None
    boxes = rows.lengths if named else _rows_read(given, rows) if ast.unparse(given).endswith("]") else None
    if boxes is None or (isinstance(given, ast.Subscript) and isinstance(given.slice, ast.Tuple)):
        return None
    names = [e.id for e in target.elts if isinstance(e, ast.Name)]
    read = {n.id for n in ast.walk(boxes) if isinstance(n, ast.Name)} | {rows.counter, rows.length}
    if len({*names}) != len(names) or not read.isdisjoint(names):
        return None
    return boxes, {name: Edge((place,), whole=whole) for place, name in enumerate(names)}


def _edge(node: ast.expr, rows: Rows, boxes: ast.expr, named: Mapping[str, Edge], scope: Scope) -> Edge | None:
    inner = read_of(node, scope)
    if inner is not None:
        edge = _edge(inner, rows, boxes, named, scope)
        cast = ast.unparse(node.func) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
        if edge is None or (cast is not None and (cast != "int" or edge.offset)):
            return None
        return Edge(edge.index, edge.offset, edge.whole or cast is not None)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        added, edge = scope.value(node.right).const, _edge(node.left, rows, boxes, named, scope)
        if edge is None or added is None or type(added.value) is not int:
            return None
        return Edge(
            edge.index, edge.offset + (added.value if isinstance(node.op, ast.Add) else -added.value), edge.whole
        )
    if isinstance(node, ast.Name):
        return named.get(node.id)
    index: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        index = [*(node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]), *index]
        node = node.value
        if index and isinstance(index[0], ast.Name) and index[0].id == rows.counter and rows.tensor is None:
            break
    if isinstance(node, ast.Name) and node.id == rows.length and rows.lengths is not None:
        same = ast.dump(boxes) == ast.dump(rows.lengths)
    else:
        same = len(index) > 0 and isinstance(index[0], ast.Name) and index[0].id == rows.counter
        same, index = same and rows.tensor is None and ast.dump(node) == ast.dump(boxes), index[1:]
    numbers = [part.value if isinstance(part, ast.Constant) else None for part in index]
    places = tuple(number for number in numbers if type(number) is int)
    return Edge(places) if same and places and len(places) == len(numbers) else None


def box_obstacles(found: Boxes, scope: Scope) -> Iterator[Obstacle]:
    """What is not proved of the boxes, beside the number that is written."""
    filled, boxes = scope.value(found.filled), scope.value(found.boxes)
    shown, name = snippet(found.filled), snippet(found.boxes)
    if not isinstance(found.filled, ast.Name | ast.Attribute) or not filled.is_tensor:
        yield Obstacle(f"`{shown}` is not proved to be a tensor under a name")
    if not isinstance(found.boxes, ast.Name | ast.Attribute) or not boxes.is_tensor:
        yield Obstacle(f"`{name}` is not proved to be a tensor under a name")
    for one, text in ((filled, shown), (boxes, name)):
        if one.is_tensor and not one.certain:
            yield Obstacle(f"`{text}` is not proved to be a tensor", "branches-total")
    if overlaps(found.filled, scope):
        yield Obstacle(f"rows of `{shown}` may share memory: several of them cannot be written at once")
    if may_share(filled.storage, boxes.storage):
        yield Obstacle(f"`{name}` may share memory with what is written")
    if filled.origin and filled.leaves and filled.dtype == "float":
        yield Obstacle(f"`{shown}` may require a gradient, and a write into it is another error then")
    needed = len(found.sides) + 1
    if filled.rank is None:
        reason = f"`{shown}` is not proved to have {needed} dimensions, and else raises with another text"
        yield Obstacle(reason, "enough-dimensions")
    elif filled.rank < needed:
        yield Obstacle(f"`{shown}` has fewer dimensions than the boxes")
    yield from scope.recomputed(found.boxes)
    narrow = any(edge.offset for edge in found.edges) and boxes.dtype_id not in ("int32", "int64")
    if boxes.dtype != "int" or narrow:  # of NaN there is no whole number, and few bits may go round
        yield Obstacle(f"`{name}` is not proved to hold integers", "rows-match")
    sizes = Sizes(scope)
    turns = found.rows.turns
    counted = {
        sizes.rows(turns) if scope.value(turns).is_tensor else sizes.size(turns),
        sizes.rows(found.filled),
        sizes.rows(found.boxes),
    }
    if None in counted or len(counted) != 1 or boxes.rank != len(found.edges[0].index) + 1:
        yield Obstacle(f"`{name}` and `{shown}` are not proved to have one row for each turn", "rows-match")
    yield Obstacle(
        f"the edges in `{name}` are not proved to be at least zero, and else count from the end", "not-negative"
    )


def box_code(found: Boxes, scope: Scope, template: Template) -> str:
    """The statements that fill all boxes at once."""
    torch, filled, boxes = torch_name(scope), template.use(found.filled), template.use(found.boxes, operand=True)
    device = "" if Sizes(scope).same_device(found.filled, found.boxes) else f".to({filled}.device)"
    integers = scope.value(found.boxes).dtype == "int"
    lines: list[str] = []
    taken: list[str] = []
    inside: list[str] = []
    count = len(found.sides)
    for number, side in enumerate(found.sides):
        if side is None:
            continue
        places, within = free_name("places", scope, taken), free_name("inside", scope, taken)
        taken += [places, within]
        lines.append(f"{places} = {torch}.arange({filled}.shape[{number + 1}], device={filled}.device)")
        tests = []
        for edge, operator in zip(side, (">=", "<"), strict=True):
            if edge is None:
                continue
            code = f"{boxes}[:, {', '.join(map(str, edge.index))}, None]"
            if edge.whole and not integers:
                code = f"{code}.long()"
            if edge.offset:
                code = f"({code} {'-' if edge.offset < 0 else '+'} {abs(edge.offset)})"
            tests.append(f"({places} {operator} {code}{device})")
        lines.append(f"{within} = {' & '.join(tests)}")
        dims = [":", *("None" if other != number else ":" for other in range(count))]
        inside.append(f"{within}[{', '.join(dims)}]")
    selected = " & ".join(inside)
    rank = scope.value(found.filled).rank
    if rank is None:
        chosen = free_name("selected", scope, taken)
        lines.append(f"{chosen} = {selected}")
        selected = f"{chosen}[(...,) + (None,) * ({filled}.dim() - {count + 1})]"
    elif rank > count + 1:
        selected = f"({selected})[{', '.join(['...', *['None'] * (rank - count - 1)])}]"
    return "\n".join([*lines, f"{filled}.masked_fill_({selected}, {template.use(found.value)})"])


def box_value(found: Boxes, others: Sequence[Obstacle], scope: Scope) -> Sequence[Obstacle]:
    """What stands against the number, of which zero and one fit booleans too."""
    value, filled = scope.value(found.value), scope.value(found.filled)
    fits = value.const is not None and value.const.value in (0, 1) and value.is_(Kind.STATIC) and filled.dtype == "bool"
    return [] if fits else others
