"""A loop that fills the blocks between consecutive items of a tensor with one number.

    for i in range(1, len(bounds)):
        mask[..., bounds[i - 1] : bounds[i], bounds[i - 1] : bounds[i]] = True

A position lies in a turn's block where it is not below its start and below its end. Rows and columns of which some turn
has both are counted by a product of matrices.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import may_share
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.names import free_name
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_MOST = 2


@dataclass(frozen=True)
class Blocks:
    """`filled[..., a[i] : a[i + 1], b[i] : b[i + 1]] = value` in a loop over `i`.

    bounds: the tensor for each dimension of the block. before: the full slices before them; None for an ellipsis.
    """

    loop: ast.For
    filled: ast.expr
    bounds: tuple[ast.expr, ...]
    before: int | None
    value: ast.expr


@dataclass(frozen=True)
class _Turns:
    """What a turn of the loop gives names: the counter, whose first item stands at `counter + first`, or the bounds."""

    over: ast.expr
    counter: str = ""
    first: int = 0
    start: str = ""
    end: str = ""


def blocks_of(loop: ast.For, scope: Scope) -> Blocks | None:
    """The blocks that a loop fills, if that is all it does."""
    turns = _turns(loop, scope)
    if turns is None or loop.orelse or not loop.body:
        return None
    named: dict[str, ast.expr] = {}
    for statement in loop.body[:-1]:
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return None
        name = statement.targets[0]
        if not isinstance(name, ast.Name) or name.id in named or name.id in _asked(turns, statement.value):
            return None
        if _item(statement.value, turns, {}, scope) is None:
            return None
        named[name.id] = statement.value
    write = loop.body[-1]
    if not isinstance(write, ast.Assign) or len(write.targets) != 1 or not isinstance(write.targets[0], ast.Subscript):
        return None
    target = write.targets[0]
    parts = list(target.slice.elts) if isinstance(target.slice, ast.Tuple) else [target.slice]
    whole = [ast.unparse(part) in (":", "...") for part in parts]
    count = whole.index(False) if False in whole else len(parts)
    slices = [_bounds(part, turns, named, scope) for part in parts[count:]]
    found = tuple(bound for bound in slices if bound is not None)
    if not found or len(found) != len(slices) or len(found) > _MOST:
        return None
    ellipses = [n for n, part in enumerate(parts[:count]) if ast.unparse(part) == "..."]
    if ellipses and ellipses != [count - 1]:
        return None
    return Blocks(loop, target.value, found, None if ellipses else count, write.value)


def _turns(loop: ast.For, scope: Scope) -> _Turns | None:
    head, target = loop.iter, loop.target
    if not isinstance(head, ast.Call) or head.keywords:
        return None
    over = scope.callee(head)
    if over == "range" and isinstance(target, ast.Name):
        last = head.args[-1] if head.args else None
        if len(head.args) == 2 and ast.unparse(head.args[0]) == "1" and last is not None:
            counted = _counted(last, scope)
            return _Turns(counted, target.id, -1) if counted is not None else None
        if len(head.args) == 1 and isinstance(last, ast.BinOp) and isinstance(last.op, ast.Sub):
            counted = _counted(last.left, scope) if ast.unparse(last.right) == "1" else None
            return _Turns(counted, target.id) if counted is not None else None
        return None
    pair = target.elts if isinstance(target, ast.Tuple) else []
    names = [e.id for e in pair if isinstance(e, ast.Name)]
    if over != "zip" or len(head.args) != 2 or len(names) != 2 or len(pair) != 2:
        return None
    sides = [side for side in head.args if isinstance(side, ast.Subscript)]
    texts = [ast.unparse(side.slice) for side in sides]
    if texts != [":-1", "1:"] or ast.dump(sides[0].value) != ast.dump(sides[1].value):
        return None
    return _Turns(sides[0].value, start=names[0], end=names[1])


def _asked(turns: _Turns, item: ast.expr) -> set[str]:
    """The names that the next turn reads an item by: giving one of them another value makes that another item."""
    names = names_in(turns.over, item)
    return names | {turns.counter, turns.start, turns.end}


def _counted(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor of which an expression asks the length: `len(t)`, `t.shape[0]`, `t.size(0)`, `t.numel()`."""
    if isinstance(node, ast.Call) and scope.callee(node) == "len" and len(node.args) == 1:
        return node.args[0]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return node.value.value if ast.unparse(node.slice) == "0" else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
        given = [ast.unparse(a) for a in node.args]
        asked = (node.func.attr == "size" and given == ["0"]) or (node.func.attr == "numel" and not given)
        return node.func.value if asked else None
    return None


def _bounds(part: ast.expr, turns: _Turns, named: dict[str, ast.expr], scope: Scope) -> ast.expr | None:
    """The tensor between two consecutive items of which a slice reaches."""
    if not isinstance(part, ast.Slice) or part.step is not None or part.lower is None or part.upper is None:
        return None
    ends = [_item(end, turns, named, scope) for end in (part.lower, part.upper)]
    first, last = ends
    if first is None or last is None or ast.dump(first[0]) != ast.dump(last[0]):
        return None
    return first[0] if (first[1], last[1]) == (0, 1) else None


def _item(node: ast.expr, turns: _Turns, named: dict[str, ast.expr], scope: Scope) -> tuple[ast.expr, int] | None:
    """The tensor of which a bound is an item, and whether it is the turn's first or second one."""
    node = read_of(node, scope) or node
    if isinstance(node, ast.Name) and node.id in named:
        node = read_of(named[node.id], scope) or named[node.id]
    if isinstance(node, ast.Name) and turns.start:
        return (turns.over, (turns.start, turns.end).index(node.id)) if node.id in (turns.start, turns.end) else None
    if not isinstance(node, ast.Subscript) or not turns.counter:
        return None
    offset = _offset(node.slice, turns.counter)
    return None if offset is None else (node.value, offset - turns.first)


def _offset(index: ast.expr, counter: str) -> int | None:
    """How far an index is from the counter: `i`, `i + 1`, `i - 1`."""
    if isinstance(index, ast.Name):
        return 0 if index.id == counter else None
    if not isinstance(index, ast.BinOp) or not isinstance(index.left, ast.Name) or index.left.id != counter:
        return None
    if ast.unparse(index.right) != "1" or not isinstance(index.op, ast.Add | ast.Sub):
        return None
    return 1 if isinstance(index.op, ast.Add) else -1


def block_obstacles(found: Blocks, scope: Scope) -> Iterator[Obstacle]:
    """What is not proved of the blocks, beside the number that is written."""
    filled, shown = scope.value(found.filled), snippet(found.filled)
    named = isinstance(found.filled, ast.Name | ast.Attribute)
    if not filled.is_tensor or not filled.certain or not named:
        yield Obstacle(f"`{shown}` is not proved to be a tensor under a name")
    if overlaps(found.filled, scope):
        yield Obstacle(f"elements of `{shown}` may share memory: several of them cannot be written at once")
    yield from scope.legality.memory.write_in_place(shown, filled)
    if filled.rank is None:
        reason = f"`{shown}` is not proved to have as many dimensions as the blocks, and else raises with another text"
        yield Obstacle(reason, "enough-dimensions")
    elif filled.rank < len(found.bounds) + (found.before or 0):
        yield Obstacle(f"`{shown}` has fewer dimensions than the blocks")
    texts = {ast.dump(bound) for bound in (*found.bounds, _turns_over(found, scope))}
    for bound in found.bounds:
        value, name = scope.value(bound), snippet(bound)
        if not isinstance(bound, ast.Name | ast.Attribute) or not value.is_tensor:
            yield Obstacle(f"`{name}` is not proved to be a tensor under a name")
        elif not value.certain:
            yield Obstacle(f"`{name}` is not proved to be a tensor", "is-tensor")
        if may_share(filled.storage, value.storage):
            yield Obstacle(f"`{name}` may share memory with what is written")
        yield from scope.recomputed(bound)
        if value.dtype != "int" or value.rank != 1 or len(texts) > 1:
            yield Obstacle(f"`{name}` is not proved to hold one integer for each turn, and one more", "rows-match")
        if not Sizes(scope).never_negative(bound):
            reason = f"items of `{name}` are not proved to be at least zero, and else count from the end"
            yield Obstacle(reason, "not-negative")


def _turns_over(found: Blocks, scope: Scope) -> ast.expr:
    turns = _turns(found.loop, scope)
    assert turns is not None
    return turns.over


def block_code(found: Blocks, scope: Scope, template: Template) -> str:
    """The statements that fill all blocks at once."""
    torch, filled = torch_name(scope), template.use(found.filled)
    lines: list[str] = []
    taken: list[str] = []
    inside: list[str] = []
    for number, bound in enumerate(found.bounds):
        places, within = free_name("places", scope, taken), free_name("inside", scope, taken)
        taken += [places, within]
        dim = number + found.before if found.before is not None else number - len(found.bounds)
        tensor = template.use(bound, operand=True)
        device = "" if Sizes(scope).same_device(found.filled, bound) else f".to({filled}.device)"
        lines.append(f"{places} = {torch}.arange({filled}.shape[{dim}], device={filled}.device)")
        starts, ends = (f"{tensor}[{part}, None]{device}" for part in (":-1", "1:"))
        lines.append(f"{within} = ({places} >= {starts}) & ({places} < {ends})")
        inside.append(within)
    blocks = f"{inside[0]}.any(0)" if len(inside) == 1 else f"{inside[0]}.float().mT @ {inside[1]}.float() > 0"
    value, rank = template.use(found.value), scope.value(found.filled).rank
    if found.before is None or rank == found.before + len(found.bounds):
        return "\n".join([*lines, f"{filled}.masked_fill_({blocks}, {value})"])
    index = ", ".join([*[":"] * found.before, blocks])
    return "\n".join([*lines, f"{filled}[{index}] = {value}"])
