"""Masked elements of a tensor that get a number: `x[mask] = 0`, where the mask may have no dimension.

Dynamo compiles that as it is, but an index without dimensions it reads as a number (GB0033). `masked_fill_` takes any.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.atoms import known_value
from compilefix.codemods.dynamic_shapes.masks import UNNAMED, boolean, laid_over, whole_mask
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet


def fills_of(tensor: ast.expr, scope: Scope, template: Template) -> list[Edit]:
    """The other statements that give masked elements of a tensor a number, with `masked_fill_`.

    None where the tensor is known to have a dimension, nor one that needs an assumption which the template does not.
    """
    if scope.value(tensor).dimensioned or not isinstance(tensor, ast.Name | ast.Attribute):
        return []
    made = ast.unparse(tensor)
    edits: list[Edit] = []
    for statement in scope.of(ast.Assign):
        target = statement.targets[0]
        if len(statement.targets) > 1 or not isinstance(target, ast.Subscript) or ast.unparse(target.value) != made:
            continue
        edit = fill(statement, target, scope, template)
        edits += [edit] if edit is not None else []
    return edits


def fill(statement: ast.Assign, target: ast.Subscript, scope: Scope, template: Template) -> Edit | None:
    """`x.masked_fill_(mask, 0)` for `x[mask] = 0`; None where something else is written."""
    mask = whole_mask(target, scope, of_numbers=True)
    if mask is None or mask.leading or mask.last or not _is_number(statement.value, scope):
        return None
    own = Template()
    index = mask.node
    lines: list[str] = []
    plain = own.use(index)
    code, obstacles = laid_over(mask, target.value, scope, plain)
    if code != plain or obstacles == [UNNAMED]:
        if not isinstance(index, ast.Name):
            plain = free_name("filled", scope)
            lines = [f"{plain} = {own.use(index)}"]
        code, obstacles = laid_over(mask, target.value, scope, plain, (plain, None))
    own.refuse(obstacles)
    own.refuse(boolean(index, scope))
    own.refuse(_held(statement.value, target.value, scope))
    if scope.value(index).rank == 0 and not asks_only(index, target.value, scope):
        own.refuse([elsewhere(index, target.value)])
    if not {obstacle.assumption for obstacle in own.obstacles} <= set(template.assumptions):
        return None
    template.refuse(own.obstacles)
    lines.append(f"{own.use(target.value)}.masked_fill_({code}, {own.use(statement.value)})")
    return scope.edit(statement, "\n".join(lines), **own.parts)


def fill_of_one(statement: ast.Assign, target: ast.Subscript, scope: Scope) -> Edit | None:
    """`n.masked_fill_(n < 1, 1)` for `n[n < 1] = 1`, where neither has a dimension; None where that is not proved.

    The tensor is made here: of a parameter that requires a gradient the two say in other words that it is a leaf. Its
    mask asks the tensor itself: as an index a mask may be on the CPU beside a tensor on a GPU, to `masked_fill_` not.
    """
    mask, tensor = scope.value(target.slice), scope.value(target.value)
    if len(statement.targets) > 1 or not (mask.is_tensor and tensor.is_tensor and mask.rank == tensor.rank == 0):
        return None
    if mask.dtype != "bool" or not (mask.certain and tensor.certain) or not _is_number(statement.value, scope):
        return None
    outside = any(token.startswith(("param:", "self.", "global.", "leaked")) for token in tensor.storage)
    if outside or next(_held(statement.value, target.value, scope), None) is not None:
        return None
    if not _is_computed(target.value, scope) or not asks_only(target.slice, target.value, scope):
        return None
    own = Template()
    owner = own.use(target.value, operand=True)
    code = f"{owner}.masked_fill_({own.use(target.slice)}, {own.use(statement.value)})"
    return scope.edit(statement, code, **own.parts)


def _is_computed(tensor: ast.expr, scope: Scope) -> bool:
    """Whether a name is given nothing but what an operation computes: no leaf, and none of several views."""
    stores = scope.names(tensor.id, stores=True) if isinstance(tensor, ast.Name) else []
    given = [scope.parents.get(store) for store in stores]
    pairs = zip(stores, given, strict=True)
    made = [s.value if isinstance(s, ast.Assign) and s.targets == [store] else None for store, s in pairs]
    return bool(made) and all(isinstance(value, ast.BinOp) or _computes(value, scope) for value in made)


def _computes(value: ast.expr | None, scope: Scope) -> bool:
    name = scope.callee(value) if isinstance(value, ast.Call) else None
    if not isinstance(value, ast.Call) or name is None or not name.startswith(("torch.", "Tensor.")):
        return False
    asks = any(keyword.arg in ("requires_grad", None) for keyword in value.keywords)
    return not asks and name.rpartition(".")[2] not in _GIVES_LEAVES


def elsewhere(mask: ast.expr, tensor: ast.expr) -> Obstacle:
    """As an index a mask without dimensions may be on the CPU beside a tensor on a GPU, and the other way round."""
    return Obstacle(f"`{snippet(mask)}` is not proved to be on the device of `{snippet(tensor)}`", "same-shape-dtype")


def asks_only(mask: ast.expr, tensor: ast.expr, scope: Scope) -> bool:
    """Whether a mask is computed of one tensor and of numbers, so that it is on the device of that tensor."""
    if ast.unparse(mask) == ast.unparse(tensor):
        return True
    if isinstance(mask, ast.Name) and isinstance(tensor, ast.Name) and scope.value(mask).is_tensor:
        value, made = scope.only_value(mask.id), scope.only_value(tensor.id)
        return value is not None and made is not None and asks_only(value, tensor, scope)
    if isinstance(mask, ast.Compare):
        return all(asks_only(side, tensor, scope) for side in (mask.left, *mask.comparators))
    if isinstance(mask, ast.BinOp):
        return asks_only(mask.left, tensor, scope) and asks_only(mask.right, tensor, scope)
    if isinstance(mask, ast.UnaryOp):
        return asks_only(mask.operand, tensor, scope)
    name = (scope.callee(mask) or "") if isinstance(mask, ast.Call) else ""
    if isinstance(mask, ast.Call) and name.rpartition(".")[2] in _ASKS and not mask.keywords:
        of = [mask.func.value] if name.startswith("Tensor.") and isinstance(mask.func, ast.Attribute) else []
        return all(asks_only(part, tensor, scope) for part in (*of, *mask.args))
    return scope.value(mask).is_(Kind.STATIC, Kind.SIZE)


def _is_number(node: ast.expr, scope: Scope) -> bool:
    value = known_value(node, scope)
    return value.is_(Kind.STATIC) and value.dtype in ("int", "float", "bool")


def _held(number: ast.expr, tensor: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether the tensor holds the number: above the largest half `x[mask]` gives inf, and `masked_fill_` raises.

    Otherwise the two are the same, for numbers that an integer tensor cuts off too.
    """
    const = scope.value(number).const
    given = const.value if const is not None and isinstance(const.value, int | float) else None
    if given is not None and (abs(given) <= _LARGEST_HALF or not math.isfinite(given)):
        return
    infinite = (scope.value(number).ref or "").rpartition(".")[2] in ("inf", "nan")
    if not infinite and scope.value(tensor).dtype_id not in ("float32", "float64"):
        reason = f"`{snippet(number)}` may be larger than what `{snippet(tensor)}` holds in half precision"
        yield Obstacle(reason, "same-shape-dtype")


_LARGEST_HALF = 65504
_GIVES_LEAVES = frozenset({"Parameter", "requires_grad_", "detach_"})
_ASKS = frozenset({"abs", "eq", "ge", "gt", "isfinite", "isinf", "isnan", "le", "logical_not", "logical_or", "lt"})
