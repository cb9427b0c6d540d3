"""Conditions like `mask.any()`, and values that change only what the mask selects."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.values import Kind
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.source.tree import elements_of


@dataclass(frozen=True)
class Mask:
    """A mask of which a false condition says something: that it is empty, or else that it is full.

    boolean: whether it is proved to be a boolean tensor; what is not may even be no tensor.
    """

    dump: str
    names: frozenset[str]
    empty: bool
    boolean: bool


def empty_masks(test: ast.expr, scope: Scope) -> Iterator[Mask]:
    """The masks that are proved empty (or full) where the condition is false."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        for part in test.values:
            yield from empty_masks(part, scope)
        return
    source = read_of(test, scope)
    if source is not None and not (isinstance(test, ast.Call) and _name(test.func) == "int"):
        yield from empty_masks(source, scope)
        return
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = read_of(test.operand, scope) or test.operand
        found = _reduced(inner, "all", scope)
        if found is not None:
            yield from _as_masks(found, scope, empty=False)
        return
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and _is_zero(test.comparators[0]):
        count = read_of(test.left, scope) or test.left
        found = _reduced(count, "sum", scope) or _reduced(count, "count_nonzero", scope)
        if found is not None and isinstance(test.ops[0], ast.Gt | ast.NotEq):
            yield from _as_masks(found, scope, empty=True, counted=True)
        return
    found, counted = _reduced(test, "any", scope), False
    if found is None:
        found, counted = _reduced(test, "sum", scope), True
    if found is not None:
        yield from _as_masks(found, scope, empty=True, counted=counted)


def empty_masks_where(test: ast.expr, scope: Scope) -> Iterator[Mask]:
    """The masks that are proved empty (or full) where the condition is true: `mask.sum() == 0`, `not mask.any()`."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            yield from empty_masks_where(part, scope)
        return
    source = read_of(test, scope)
    if source is not None:
        yield from empty_masks_where(source, scope)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not | ast.Invert):
        yield from empty_masks(test.operand, scope)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        yield from empty_masks(ast.copy_location(ast.Compare(test.left, [ast.NotEq()], test.comparators), test), scope)


def _reduced(node: ast.expr, method: str, scope: Scope) -> ast.expr | None:
    """The tensor in `mask.any()` or `torch.any(mask)`, without a dimension."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != method:
        return None
    callee = scope.callee(node)
    if callee == f"torch.{method}" and len(node.args) == 1 and not node.keywords:
        return node.args[0]
    if node.args or node.keywords:
        return None
    return node.func.value if callee == f"Tensor.{method}" or scope.value(node.func.value).is_unknown else None


def _as_masks(node: ast.expr, scope: Scope, *, empty: bool, counted: bool = False) -> Iterator[Mask]:
    value = scope.value(node)
    proved = value.is_tensor and value.certain
    boolean = proved and value.dtype == "bool"
    known = value.dtype == "bool" or (value.dtype is None and not counted)  # of no mask the sum may be zero, too
    if not boolean and not (known and (value.may_be(Kind.TENSOR) or value.is_unknown)):
        return
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        yield from _as_masks(node.operand, scope, empty=not empty, counted=counted)
    names = frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
    yield Mask(ast.dump(node), names, empty, boolean)


def selects_by(value: ast.expr, name: str, masks: Sequence[Mask], statement: ast.stmt, node: ast.If) -> bool:
    """Whether a value is the old value of `name` where one of the masks does not select."""
    stored = {
        n.id
        for n in ast.walk(node)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.lineno < statement.lineno
    }
    usable = [mask for mask in masks if not mask.names & stored]
    kept = kept_by(value, usable)
    return kept is not None and _is_name(kept, name)


def kept_by(value: ast.expr, masks: Sequence[Mask]) -> ast.expr | None:
    """What a selection by one of the masks is where that selects nothing, element by element; None for others."""
    if not isinstance(value, ast.Call) or value.keywords or not isinstance(value.func, ast.Attribute):
        return None
    args, owner = list(value.args), value.func.value
    if not (isinstance(owner, ast.Name) and owner.id == "torch"):
        # `x.where(mask, other)` is `torch.where(mask, x, other)`.
        args = [*args[:1], owner, *args[1:]] if value.func.attr == "where" else [owner, *args]
    if len(args) != 3:
        return None
    if value.func.attr == "masked_fill":
        return args[0] if selects_nothing(args[1], masks) else None
    if value.func.attr == "where":
        return args[2] if selects_nothing(args[0], masks) else args[1] if selects_all(args[0], masks) else None
    return None


def shortcut_of(test: ast.expr, body: ast.expr, orelse: ast.expr, scope: Scope) -> ast.expr | None:
    """The one of two selected values that the other is too where it is taken, as a mask selects nothing there.

    `torch.where(mask, y, x) if mask.any() else x` is `torch.where(mask, y, x)`.
    """
    for value, other, masks in (
        (body, orelse, tuple(empty_masks(test, scope))),
        (orelse, body, tuple(empty_masks_where(test, scope))),
    ):
        kept = kept_by(value, masks)
        while kept is not None and ast.dump(kept) != ast.dump(other):
            kept = kept_by(kept, masks)
        if kept is not None:
            return value
    return None


def selects_nothing(node: ast.expr, masks: Sequence[Mask]) -> bool:
    """Whether an expression is one of the masks that are empty, or a view of one."""
    return _is_mask(node, masks, empty=True)


def selects_all(node: ast.expr, masks: Sequence[Mask]) -> bool:
    """Whether an expression is one of the masks that are full, or a view of one."""
    return _is_mask(node, masks, empty=False)


def _is_mask(node: ast.expr, masks: Sequence[Mask], *, empty: bool) -> bool:
    inverted = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert) else None
    if inverted is not None and _is_mask(inverted, masks, empty=not empty):
        return True
    dumps = {ast.dump(view) for view in _viewed(node)}
    return any(mask.empty == empty and mask.dump in dumps for mask in masks)


def _viewed(node: ast.expr) -> Iterator[ast.expr]:
    """An expression, and what it is a view of with all elements: `mask` in `mask[..., None]`."""
    yield node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _VIEWS:
        yield from _viewed(node.func.value)
    if isinstance(node, ast.Subscript):
        parts = elements_of(node.slice)
        # `(...,) + (None,) * (x.dim() - mask.dim())` is what a masked write becomes.
        if all(ast.unparse(part) in ("...", "None", ":") for part in parts) or _is_appended(node.slice):
            yield from _viewed(node.value)


def _is_appended(index: ast.expr) -> bool:
    return isinstance(index, ast.BinOp) and ast.unparse(index).startswith("(...,) + (None,) * (")


_VIEWS = frozenset({"unsqueeze", "view", "reshape", "expand", "expand_as", "squeeze", "contiguous", "bool"})


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0 and not isinstance(node.value, bool)


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None
