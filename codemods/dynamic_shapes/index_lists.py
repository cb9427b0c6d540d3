"""`rows = torch.where(mask)[0]`, of which the code only writes to the rows, reduces them, or asks how many there are.

A mask as an index means the same as the list of its true places: `x[rows] = 0` is `x[mask] = 0`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.counts import count_uses, names_of, raised_instead
from compilefix.codemods.dynamic_shapes.definitions import parts_of, reads_of
from compilefix.codemods.dynamic_shapes.distinct_values import length_of
from compilefix.codemods.dynamic_shapes.losses import LOSSES
from compilefix.codemods.dynamic_shapes.masks import is_mask
from compilefix.codemods.dynamic_shapes.one_hot_writes import fill_code, in_the_way, one_hot_write
from compilefix.codemods.finding import Edit
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "any", "all"}) | LOSSES
_MAX_NAMES = 3


@dataclass(frozen=True)
class IndexList:
    """The statement `rows = torch.where(mask)[0]`, the call in it, and the mask.

    flat: each place is one number; else, as `mask.nonzero()` gives it, as many as the mask has dimensions. numbers:
    whether it may list the places that are not zero of a tensor that is no mask. loose: whether a single place is a
    number of no dimension (`squeeze()`).
    """

    statement: ast.Assign
    call: ast.Call
    mask: ast.expr
    flat: bool = True
    numbers: bool = False
    loose: bool = False


def index_list(node: ast.Call, scope: Scope) -> IndexList | None:
    """The statement that lists the true places of a mask under a name of its own."""
    name = scope.callee(node) or ""
    if name in ("torch.where", "torch.nonzero", "torch.argwhere") and len(node.args) == 1:
        mask = node.args[0]
    elif name in ("Tensor.nonzero", "Tensor.argwhere") and not node.args and isinstance(node.func, ast.Attribute):
        mask = node.func.value
    else:
        return None
    options = {k.arg: ast.unparse(k.value) for k in node.keywords}
    tuples = name == "torch.where" or options.get("as_tuple") == "True"
    value, boolean = scope.value(mask), is_mask(mask, scope)
    numbers = value.is_tensor and value.dtype != "bool"
    if not set(options) <= {"as_tuple"} or not (boolean or numbers) or value.rank == 0:
        return None
    column = _one_column(node, tuples, scope)
    outer = column or (None if tuples else node)
    statement = scope.parents.get(outer) if outer is not None else None
    if not isinstance(statement, ast.Assign) or statement.value is not outer or len(statement.targets) != 1:
        return None
    if column is not None and value.rank not in (None, 1):
        return None
    if not isinstance(statement.targets[0], ast.Name):
        return None
    loose = column is not None and ast.unparse(column).endswith(".squeeze()")
    return IndexList(statement, node, mask, column is not None, numbers, loose)


def _one_column(node: ast.Call, tuples: bool, scope: Scope) -> ast.expr | None:
    """The expression that makes a list of numbers of what `where` or `nonzero` gives."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        index = ast.unparse(parent.slice)
        return parent if index == ("0" if tuples else "(slice(None), 0)") or (not tuples and index == ":, 0") else None
    if tuples or not isinstance(parent, ast.Attribute):
        return None
    call = scope.parents.get(parent)
    if not isinstance(call, ast.Call) or call.func is not parent or call.keywords:
        return None
    given = [ast.unparse(argument) for argument in call.args]
    flat = parent.attr in ("view", "reshape") and given == ["-1"]
    flat = flat or (parent.attr == "squeeze" and given in (["1"], ["-1"], []))
    flat = flat or (parent.attr == "flatten" and not given)
    return call if flat else None


def needs_only_mask(found: IndexList, scope: Scope) -> bool:
    """Whether all that is done with the places is to write there, to reduce what is there, and to count them."""
    uses = reads_of(found.statement, scope)
    if found.loose:
        asked = [found_in for use in uses or () if (found_in := _asked(use, scope)) is not None]
        numbered = all(_all_numbers(one) for one in asked)
        written = sum(one_hot_write(use, scope) is not None for use in uses or ())
        return bool(uses) and numbered and len(asked) + written == len(uses or ())
    if not found.flat:
        one = scope.value(found.mask).rank in (None, 1)
        return bool(uses) and all(
            _asked(use, scope) is not None
            or (one and (_filled(use, scope) is not None or one_hot_write(use, scope) is not None))
            for use in uses or ()
        )
    return bool(uses) and all(
        place_of(use, scope) is not None or _asked(use, scope) is not None or one_hot_write(use, scope) is not None
        for use in uses or ()
    )


def mask_edits(found: IndexList, template: Template, scope: Scope) -> list[Edit]:
    """The mask under the name that the list had, and sums of it where the length was asked for."""
    assert isinstance(found.statement.targets[0], ast.Name)
    name = found.statement.targets[0].id
    uses = reads_of(found.statement, scope) or ()
    if not found.numbers:
        template.refuse(unchanged(found.mask, scope))
    if (found.flat or any(place_of(use, scope) for use in uses)) and scope.value(found.mask).rank is None:
        reason = f"`{snippet(found.mask)}` is not proved to have one dimension"
        template.refuse([Obstacle(reason, "one-dimension")])
    counts: dict[ast.expr, str] = {}
    writes = {write.statement: write for use in uses if (write := one_hot_write(use, scope)) is not None}
    for write in writes.values():
        template.refuse(in_the_way(write, found.mask))
    for use in uses:
        if scope.statement(use) in writes:
            continue
        asked, place = _asked(use, scope), place_of(use, scope)
        if asked is not None:
            template.refuse(count_uses(asked, scope, raised=True, made=True))
            each = not found.flat and scope.value(found.mask).rank != 1 and _all_numbers(asked)
            counts[asked] = f"({name}.sum() * {name}.dim())" if each else f"{name}.sum()"
            counts |= dict.fromkeys(names_of(asked, scope), "")
        elif place is not None:
            mask, tensor = scope.value(found.mask), scope.value(place.value)
            if mask.shape_id is None or mask.shape_id != tensor.shape_id:
                reason = f"`{snippet(place.value)}` is not proved to be as long as `{snippet(found.mask)}`"
                template.refuse([Obstacle(reason, "same-shape-dtype")])
    code = template.use(found.mask, operand=found.numbers) + (" != 0" if found.numbers else "")
    filled = [scope.edit(statement, fill_code(write, name, scope)) for statement, write in writes.items()]
    return [scope.edit(found.statement.value, code, **template.parts), *filled, *raised_instead(counts, scope)]


def _all_numbers(asked: ast.expr) -> bool:
    """Whether an expression asks for the number of elements, and not of rows."""
    return isinstance(asked, ast.Call) and isinstance(asked.func, ast.Attribute) and asked.func.attr != "size"


def unchanged(mask: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether the mask, if it is one that has a name, is not written while the name of the list stands for it."""
    made = isinstance(mask, ast.Compare | ast.UnaryOp | ast.BinOp)
    if not made and scope.legality.memory.writer(scope.value(mask).storage, (), scope.facts) is not None:
        yield Obstacle(f"`{snippet(mask)}` is written in place")


def place_of(use: ast.expr, scope: Scope) -> ast.Subscript | None:
    """The index that a use is, or begins, where that is written to or reduced."""
    node: ast.expr = use
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Tuple) and parent.elts[0] is use:
        node, parent = parent, scope.parents.get(parent)
    if not isinstance(parent, ast.Subscript) or parent.slice is not node or not scope.value(parent.value).is_tensor:
        return None
    if isinstance(parent.ctx, ast.Store):
        return parent
    statement = scope.statement(use)
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        target = statement.targets[0]
        if ast.dump(target.slice) == ast.dump(parent.slice):
            return parent  # x[rows] = f(x[rows])
    return parent if _is_reduced(parent, scope, 0) else None


def _filled(use: ast.expr, scope: Scope) -> ast.Subscript | None:
    """The index that a column of places is, where one number is written to each, or computed with what is there.

    `x[places]` has a dimension more than `x[mask]`, which one number does not notice.
    """
    place, statement = scope.parents.get(use), scope.statement(use)
    if not isinstance(place, ast.Subscript) or place.slice is not use or not scope.value(place.value).is_tensor:
        return None
    if not isinstance(statement, ast.Assign | ast.AugAssign):
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if targets != [place]:
        return None
    given = scope.value(statement.value)
    return place if given.is_(Kind.STATIC, Kind.SIZE) or given.is_scalar_tensor else None


def _is_reduced(node: ast.expr, scope: Scope, depth: int) -> bool:
    """Whether all that is made of an expression is one number, there or under names."""
    for around in scope.ancestors(node):
        if isinstance(around, ast.Call) and (scope.callee(around) or "").rpartition(".")[2] in _REDUCTIONS:
            return True
        if isinstance(around, ast.stmt):
            parts = [part for part in parts_of(around) if any(n is node for n in ast.walk(part.value))]
            given = parts[0] if parts else around
            if not isinstance(given, ast.Assign) or len(given.targets) != 1 or depth > _MAX_NAMES:
                return False
            if not isinstance(given.targets[0], ast.Name):
                return False
            uses = reads_of(given, scope)
            return bool(uses) and all(
                _asked(use, scope) is not None or _is_reduced(use, scope, depth + 1) for use in uses or ()
            )
    return False


def _asked(use: ast.Name, scope: Scope) -> ast.expr | None:
    """The expression that asks how many places a list has; its last dimension may be that of the places' numbers."""
    return length_of(use, scope, dims=("0",))
