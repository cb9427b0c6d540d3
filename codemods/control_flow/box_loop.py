"""A loop that fills one box in each row of a tensor, as a picture of a batch has one.

    for i, box in enumerate(boxes):
        mask[i, box[1] : box[3], box[0] : box[2]] = 1

A place lies in the box of its row where it is not below the start and below the end, in each dimension of the box. What
a turn computes of the numbers of its row, `int(box[0] * width)`, is computed for all rows. What the head of the loop
computes, `zip(mask.view(-1, h, w), boxes.round().int())`, gets a name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, may_share
from compilefix.codemods.control_flow.rows import Rows, rows_of
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.names import free_name
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of, names_in

_MOST = 3
_OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//"}
_CLAMPS = {"max": "min", "min": "max"}
_WHOLE = frozenset({"int", "long"})
_LISTS = _WHOLE | {"tolist", "unbind", "item", "cpu"}


@dataclass(frozen=True)
class _Number:
    """Code for a number of each row, as a column, and whether it is proved to be an integer."""

    code: str
    whole: bool


@dataclass(frozen=True)
class Boxes:
    """`filled[i, a:b, c:d] = value` in a loop over the rows, with numbers of the same row for `a` to `d`.

    sides: code for start and end in each dimension behind the rows; None for the whole dimension, and for an open end.
    heads: names for what the head of the loop computes.
    """

    loop: ast.For
    rows: Rows
    filled: ast.expr
    tables: tuple[ast.expr, ...]
    sides: tuple[tuple[_Number | None, _Number | None] | None, ...]
    value: ast.expr
    heads: Mapping[ast.expr, str]


@dataclass
class _Turn:
    """What a turn of the loop computes, as code for all rows; `tables` are the tensors whose rows it reads."""

    rows: Rows
    scope: Scope
    template: Template
    named: dict[str, _Number | ast.expr] = field(default_factory=dict)
    tables: dict[str, ast.expr] = field(default_factory=dict)
    heads: Mapping[ast.expr, str] = field(default_factory=dict)

    def assign(self, statement: ast.stmt) -> bool:
        """Take in a statement that gives names numbers of the row; False where it does something else."""
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        target, value = statement.targets[0], statement.value
        targets = elements_of(target)
        if not all(isinstance(one, ast.Name) for one in targets):
            return False
        names = [one.id for one in targets if isinstance(one, ast.Name)]
        if not {self.rows.counter, self.rows.length}.isdisjoint(names) or len({*names}) != len(names):
            return False
        given: list[_Number | None]
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(value.elts) == len(names):
            given = [self.number(one) for one in value.elts]
        elif isinstance(target, ast.Tuple):
            given = [self._item(value, place) for place in range(len(names))]
        else:
            given = [self.number(value)]
        self.named |= {name: one for name, one in zip(names, given, strict=True) if one is not None}
        return None not in given

    def number(self, node: ast.expr) -> _Number | None:
        """Code for a number of the row, if an expression is one."""
        if isinstance(node, ast.Name) and node.id in self.named:
            known = self.named[node.id]
            return known if isinstance(known, _Number) else None
        inner = read_of(node, self.scope)
        if inner is None and isinstance(node, ast.Call) and ast.unparse(node.func) == "int" and len(node.args) == 1:
            inner = node.args[0]
        if inner is not None and isinstance(node, ast.Call):
            return self._read(node, inner)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            left, right = self._side(node.left), self._side(node.right)
            divides = isinstance(node.op, ast.Div | ast.FloorDiv)
            if left is None or right is None or (divides and not self._fixed(node.right)):
                return None
            whole = left.whole and right.whole and not isinstance(node.op, ast.Div)
            return _Number(f"({left.code} {_OPERATORS[type(node.op)]} {right.code})", whole)
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func) in _CLAMPS
            and len(node.args) == 2
            and not node.keywords
        ):
            limit = next((a for a in node.args if self._fixed(a)), None)
            clamped = next((n for a in node.args if a is not limit and (n := self.number(a)) is not None), None)
            if limit is None or clamped is None or not clamped.whole or self.scope.value(limit).dtype != "int":
                return None
            code = f"{clamped.code}.clamp({_CLAMPS[ast.unparse(node.func)]}={self.template.use(limit)})"
            return _Number(code, whole=True)
        return self._element(node)

    def _read(self, node: ast.Call, inner: ast.expr) -> _Number | None:
        number = self.number(inner)
        if number is None or number.whole:
            return number
        if isinstance(node.func, ast.Name):
            return _Number(f"{number.code}.long()", whole=True) if node.func.id == "int" else None
        return _Number(f"{number.code}.double()", whole=False)  # Python computes with it in double precision

    def _side(self, node: ast.expr) -> _Number | None:
        if self._fixed(node):
            return _Number(self.template.use(node, operand=True), self.scope.value(node).dtype == "int")
        return self.number(node)

    def _fixed(self, node: ast.expr) -> bool:
        """Whether a number is the same in each turn, and known while tracing."""
        own = {self.rows.counter, self.rows.length, *self.named}
        if not names_in(node).isdisjoint(own):
            return False
        return self.scope.value(node).is_(Kind.STATIC, Kind.SIZE)

    def _element(self, node: ast.expr) -> _Number | None:
        """`boxes[i, 0]`, `boxes[i][0]`, `starts[i]`, and `box[0]` of the row that the loop gives."""
        index: list[ast.expr] = []
        while isinstance(node, ast.Subscript):
            index = [*elements_of(node.slice), *index]
            node = node.value
            if self.rows.tensor is None and isinstance(index[0], ast.Name) and index[0].id == self.rows.counter:
                break
        numbers = [part.value for part in index[1:] if isinstance(part, ast.Constant)]
        if isinstance(node, ast.Name) and node.id == self.rows.length and self.rows.lengths is not None:
            numbers = [part.value for part in index if isinstance(part, ast.Constant)]
            table, expected = self.rows.lengths, len(index)
        elif index and isinstance(index[0], ast.Name) and index[0].id == self.rows.counter and self.rows.tensor is None:
            table, expected = node, len(index) - 1
        else:
            return None
        places = [number for number in numbers if type(number) is int]
        return self._column(table, places) if len(places) == expected else None

    def _item(self, node: ast.expr, place: int) -> _Number | None:
        """What `x1, y1, x2, y2 = box`, `= boxes[i]` or `= boxes[i].int().tolist()` gives one of the names."""
        whole = listed = False
        while (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _LISTS
            and not (node.args or node.keywords)
        ):
            whole, listed = whole or node.func.attr in _WHOLE, listed or node.func.attr == "tolist"
            node = node.func.value
        row = ast.copy_location(ast.Subscript(node, ast.Constant(place), ast.Load()), node)
        number = self._element(row)
        if number is None or number.whole:
            return number
        return _Number(f"{number.code}.{'long' if whole else 'double'}()", whole) if whole or listed else number

    def _column(self, table: ast.expr, places: Sequence[int]) -> _Number | None:
        named = isinstance(table, ast.Name | ast.Attribute) or table in self.heads
        if not named or not self.scope.value(table).is_tensor:
            return None
        self.tables.setdefault(ast.unparse(table), table)
        index = ", ".join([":", *map(str, places), "None"])
        code = self.heads.get(table) or self.template.use(table)
        return _Number(f"{code}[{index}]", self.scope.value(table).dtype == "int")


def boxes_of(loop: ast.For, scope: Scope, template: Template) -> Boxes | None:
    """The boxes that a loop fills, if that is all it does."""
    target, unpacked = _row_under_a_name(loop)
    rows = rows_of(target, loop.iter, scope) if not loop.orelse else None
    if rows is None:
        return None
    turn = _Turn(rows, scope, template, heads=_computed_in_head(loop, scope))
    write = loop.body[-1]
    if not isinstance(write, ast.Assign) or len(write.targets) != 1 or not isinstance(write.targets[0], ast.Subscript):
        return None
    target = write.targets[0]
    parts = list(target.slice.elts) if isinstance(target.slice, ast.Tuple) else [target.slice]
    owner: ast.expr | None = target.value if rows.tensor is None else rows.tensor
    row = parts.pop(0) if rows.tensor is None else target.value
    if not isinstance(row, ast.Name) or row.id != rows.counter or not 0 < len(parts) <= _MOST:
        return None
    if not all(turn.assign(statement) for statement in [*unpacked, *loop.body[:-1]]):
        return None
    sides: list[tuple[_Number | None, _Number | None] | None] = []
    for part in parts:
        if not isinstance(part, ast.Slice) or part.step is not None:
            return None
        ends = [end if end is None else turn.number(end) for end in (part.lower, part.upper)]
        if any(found is None and end is not None for found, end in zip(ends, (part.lower, part.upper), strict=True)):
            return None
        sides.append(None if ends == [None, None] else (ends[0], ends[1]))
    bounded = [side for side in sides if side is not None]
    read = names_in(*template.parts.values())
    if not read.isdisjoint(turn.named):
        return None  # the next turn would read something else
    if owner is None or not turn.tables or (len(bounded) < 2 and not all(all(side) for side in bounded)):
        return None  # one end in one dimension is the length of a row
    return Boxes(loop, rows, owner, tuple(turn.tables.values()), tuple(sides), write.value, turn.heads)


def _row_under_a_name(loop: ast.For) -> tuple[ast.expr, list[ast.stmt]]:
    """The target of a loop, and what unpacks its row: of `i, (x0, x1)` it is `i, row`, and `x0, x1 = row`."""
    target = loop.target
    if not isinstance(target, ast.Tuple) or len(target.elts) != 2 or not isinstance(target.elts[1], ast.Tuple):
        return target, []
    row = "compilefix row"  # no name that code can have
    unpacks = ast.Assign([target.elts[1]], ast.copy_location(ast.Name(row, ast.Load()), target))
    named = ast.Tuple([target.elts[0], ast.Name(row, ast.Store())], ast.Store())
    return ast.copy_location(named, target), [ast.copy_location(unpacks, target)]


def _computed_in_head(loop: ast.For, scope: Scope) -> dict[ast.expr, str]:
    """Names for the tensors that the head of a loop over pairs computes, in order."""
    heads: dict[ast.expr, str] = {}
    if isinstance(loop.iter, ast.Call) and scope.callee(loop.iter) in ("zip", "enumerate"):
        for argument in loop.iter.args:
            if isinstance(argument, ast.Call) and scope.value(argument).is_tensor:
                word = "rows" if argument is not loop.iter.args[-1] else "edges"
                heads[argument] = free_name(word, scope, list(heads.values()))
    return heads


def box_obstacles(found: Boxes, scope: Scope) -> Iterator[Obstacle]:
    """What is not proved of the boxes, beside the number that is written."""
    filled, shown = scope.value(found.filled), snippet(found.filled)
    named = isinstance(found.filled, ast.Name | ast.Attribute) or found.filled in found.heads
    if not named or not filled.is_tensor:
        yield Obstacle(f"`{shown}` is not proved to be a tensor under a name")
    if any(overlaps(part, scope) for part in ast.walk(found.filled) if isinstance(part, ast.expr)):
        yield Obstacle(f"rows of `{shown}` may share memory: several of them cannot be written at once")
    yield from scope.legality.memory.write_in_place(shown, filled)
    needed = len(found.sides) + 1
    if filled.rank is None:
        reason = f"`{shown}` is not proved to have {needed} dimensions, and else raises with another text"
        yield Obstacle(reason, "enough-dimensions")
    elif filled.rank < needed:
        yield Obstacle(f"`{shown}` has fewer dimensions than the boxes")
    if any(not end.whole for side in found.sides if side is not None for end in side if end is not None):
        yield Obstacle(f"the edges of the boxes in `{shown}` are not proved to be integers", "rows-match")
    sizes = Sizes(scope)
    turns = found.rows.turns
    counted = {sizes.rows(turns) if scope.value(turns).is_tensor else sizes.size(turns), sizes.rows(found.filled)}
    for table in found.tables:
        value, name = scope.value(table), snippet(table)
        if may_share(filled.storage, value.storage):
            yield Obstacle(f"`{name}` may share memory with what is written")
        for one, text in ((filled, shown), (value, name)):
            if not one.certain:
                yield Obstacle(f"`{text}` is not proved to be a tensor", "is-tensor")
        yield from scope.recomputed(table)
        counted.add(sizes.rows(table))
        if value.dtype_id not in ("int32", "int64"):  # of NaN there is no whole number, and few bits may go round
            yield Obstacle(f"`{name}` is not proved to hold whole numbers", "rows-match")
    if None in counted or len(counted) != 1 or any(scope.value(table).rank is None for table in found.tables):
        yield Obstacle(f"what is read and `{shown}` are not proved to have one row for each turn", "rows-match")
    yield Obstacle(f"the edges of the boxes in `{shown}` are not proved to be at least zero", "not-negative")


def box_code(found: Boxes, scope: Scope, template: Template) -> str:
    """The statements that fill all boxes at once."""
    torch, filled = torch_name(scope), found.heads.get(found.filled) or template.use(found.filled)
    device = f".to({filled}.device)"
    if all(Sizes(scope).same_device(found.filled, table) for table in found.tables):
        device = ""
    lines = [f"{name} = {template.use(head)}" for head, name in found.heads.items()]
    taken = list(found.heads.values())
    inside: list[str] = []
    count = len(found.sides)
    for number, side in enumerate(found.sides):
        if side is None:
            continue
        places, within = free_name("places", scope, taken), free_name("inside", scope, taken)
        taken += [places, within]
        lines.append(f"{places} = {torch}.arange({filled}.shape[{number + 1}], device={filled}.device)")
        ends = [(end, sign) for end, sign in zip(side, (">=", "<"), strict=True) if end is not None]
        tests = [f"{places} {sign} {end.code}{device}" for end, sign in ends]
        lines.append(f"{within} = {tests[0]}" if len(tests) == 1 else f"{within} = ({tests[0]}) & ({tests[1]})")
        dims = [":", *("None" if other != number else ":" for other in range(count))]
        inside.append(f"{within}[{', '.join(dims)}]")
    selected = " & ".join(inside)
    rank = scope.value(found.filled).rank
    if rank is None:
        chosen = free_name("selected", scope, taken)
        lines.append(f"{chosen} = {selected}")
        selected = f"{chosen}[(...,) + (None,) * ({filled}.dim() - {count + 1})]"
    elif rank > count + 1:
        whole = selected if len(inside) == 1 else f"({selected})"
        selected = f"{whole}[{', '.join(['...', *['None'] * (rank - count - 1)])}]"
    return "\n".join([*lines, f"{filled}.masked_fill_({selected}, {template.use(found.value)})"])


def box_value(found: Boxes, others: Sequence[Obstacle], scope: Scope) -> Sequence[Obstacle]:
    """What stands against the number, of which zero and one fit booleans too."""
    value, filled = scope.value(found.value), scope.value(found.filled)
    fits = value.const is not None and value.const.value in (0, 1) and value.is_(Kind.STATIC) and filled.dtype == "bool"
    return [] if fits else others
