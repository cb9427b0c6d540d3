"""Expressions that make one number of the elements that a mask selects."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.dynamic_shapes.counts import indices_of
from compilefix.codemods.dynamic_shapes.definitions import Origin, Way, origin_of
from compilefix.codemods.dynamic_shapes.losses import Loss, loss_of
from compilefix.codemods.dynamic_shapes.masks import Mask, is_same, mask_of, masked_select_of, whole_mask
from compilefix.codemods.dynamic_shapes.row_operations import row_operation
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "any", "all"})
_ROW_REDUCTIONS = frozenset({"sum", "mean"})
_LISTS = frozenset({"masked_select", "nonzero", "argwhere", "where"})
COUNTS = frozenset({"numel", "nelement", "len", "shape", "size", "__len__"})


@dataclass(frozen=True)
class Reduction:
    """What makes one number of masked elements.

    node: the whole expression. kind: "sum", "len", "mse_loss", ... source: the masked elements (of a loss, the first
    argument), or for a count the mask itself where it stands in `nonzero`. rows: whether it reduces over the selected
    rows only: `x[m].mean(0)`. loss: the loss that it computes, if it does.
    """

    node: ast.expr
    kind: str
    source: ast.expr
    mask: Mask
    counted: bool = False
    rows: bool = False
    loss: Loss | None = None


def reductions(scope: Scope) -> Iterator[Reduction]:
    """The reductions of masked elements in a function, each once."""
    candidates: Sequence[ast.Call | ast.Subscript] = scope.among(ast.Call, ast.Subscript)
    if not any(_selects(node, scope) for node in candidates):
        return
    for node in candidates:
        found = _reduction(node, scope)
        if found is not None:
            yield found


def _selects(node: ast.Call | ast.Subscript, scope: Scope) -> bool:
    """Whether an expression gives as many elements as a mask has true values."""
    if isinstance(node, ast.Subscript):
        return mask_of(node, scope) is not None
    return (scope.callee(node) or "").rpartition(".")[2] in _LISTS


def _reduction(node: ast.Call | ast.Subscript, scope: Scope) -> Reduction | None:
    if isinstance(node, ast.Subscript):
        shape = node.value
        first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
        if isinstance(shape, ast.Attribute) and shape.attr == "shape" and first:
            return _of(node, "shape", shape.value, scope)
        if isinstance(shape, ast.Call) and ast.unparse(shape).endswith(".size()") and first:
            assert isinstance(shape.func, ast.Attribute)
            return _of(node, "shape", shape.func.value, scope)
        return None
    name = scope.callee(node) or _method_of_elements(node, scope)
    histogram = counted_classes(node, scope)
    if histogram is not None:
        return _of(node, "bincount", histogram[0], scope)
    loss = loss_of(node, scope)
    if loss is not None:
        found = _of(node, loss.kind, loss.source, scope) or _of(node, loss.kind, loss.target, scope)
        return None if found is None else replace(found, loss=loss)
    if (spread := spread_of(node, scope)) is not None:
        return _of(node, spread[0], spread[1], scope)
    if name == "len" and len(node.args) == 1 and not node.keywords:
        return _of(node, "len", node.args[0], scope)
    if (
        name.startswith("Tensor.")
        and isinstance(node.func, ast.Attribute)
        and [k.arg for k in node.keywords]
        in (
            [],
            ["dim"],
        )
    ):
        short = node.func.attr
        given = [*node.args, *(k.value for k in node.keywords)]
        first = len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value == 0
        if short in _ROW_REDUCTIONS and first:
            return _of(node, short, node.func.value, scope, rows=True)
        if (short == "size" and first) or (short in _REDUCTIONS | COUNTS and short != "size" and not given):
            return _of(node, short, node.func.value, scope)
    if name.startswith("torch.") and len(node.args) == 1 and not node.keywords:
        short = name.removeprefix("torch.")
        if short in _REDUCTIONS | {"numel"}:
            return _of(node, short, node.args[0], scope)
    return None


def _method_of_elements(node: ast.Call, scope: Scope) -> str:
    """The method of a tensor that is made by arithmetic of selected elements with something unknown: `a * x[m]`."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in _REDUCTIONS | COUNTS:
        return ""
    made = scope.value(func.value).is_unknown and _is_arithmetic(func.value, scope.statement(node), scope)
    return f"Tensor.{func.attr}" if made else ""


def _is_arithmetic(node: ast.expr, at: ast.stmt, scope: Scope, depth: int = 0) -> bool:
    """Whether an expression, or what gives a name its value on each way, is arithmetic with a tensor."""
    if scope.value(node).is_tensor:
        return True
    if isinstance(node, ast.UnaryOp):
        return _is_arithmetic(node.operand, at, scope, depth)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return any(_is_arithmetic(side, at, scope, depth) for side in (node.left, node.right))
    waiting, given = [origin_of(node, at, scope) if depth < 4 else None], list[ast.Assign | None]()
    while waiting:
        origin = waiting.pop()
        if isinstance(origin, Way):
            waiting += [origin.body, origin.orelse]
        else:
            given.append(origin)
    return all(one is not None and _is_arithmetic(one.value, one, scope, depth + 1) for one in given)


def _of(node: ast.expr, kind: str, source: ast.expr, scope: Scope, *, rows: bool = False) -> Reduction | None:
    """The reduction of `source`, where that holds masked elements."""
    if kind in COUNTS:
        mask = indices_of(source, scope)
        if mask is not None:
            elements_of = kind in ("numel", "nelement")
            # `nonzero` of a matrix has two numbers for each element.
            if not elements_of or scope.value(mask).rank == 1 or isinstance(source, ast.Subscript):
                return Reduction(node, kind, mask, Mask(mask, mask), counted=True)
            return None
    at = scope.statement(node)
    mask_node = first_mask(source, at, scope)
    if mask_node is None:
        return None
    if mask_node.broadcast:
        return Reduction(node, kind, source, mask_node)  # what is selected has one dimension
    if kind in ("len", "shape", "size") and not isinstance(source, ast.Subscript | ast.Name):
        return None
    if kind in ("len", "shape", "size") and mask_node.leading:
        return None
    if rows and (mask_node.leading or mask_node.last):
        return None
    return Reduction(node, kind, source, mask_node, rows=rows)


def spread_of(node: ast.Call, scope: Scope) -> tuple[str, ast.expr, int] | None:
    """ "std" or "var", the elements, and the number that is taken off their count, of `x.std()`, `torch.var(x)`, ..."""
    place, _, short = (scope.callee(node) or "").rpartition(".")
    given = list(node.args)
    if place == "Tensor" and isinstance(node.func, ast.Attribute):
        given.insert(0, node.func.value)
    if short not in ("std", "var") or place not in ("torch", "Tensor") or len(given) != 1 or len(node.keywords) > 1:
        return None
    less: object = 1
    for keyword in node.keywords:
        known = keyword.arg in ("unbiased", "correction") and isinstance(keyword.value, ast.Constant)
        less = keyword.value.value if known and isinstance(keyword.value, ast.Constant) else None
    return (short, given[0], int(less)) if isinstance(less, int) and less in (0, 1) else None


def counted_classes(node: ast.Call, scope: Scope) -> tuple[ast.expr, ast.expr] | None:
    """The index and the length in `torch.bincount(index, minlength=n)`, where the length is fixed while tracing."""
    name = scope.callee(node) or ""
    keywords = {k.arg: k.value for k in node.keywords}
    if set(keywords) != {"minlength"} or not scope.value(keywords["minlength"]).is_(Kind.STATIC, Kind.SIZE):
        return None
    if _zero_by_default(keywords["minlength"], scope):
        return None  # it only asks for as many numbers as there are
    if name == "torch.bincount" and len(node.args) == 1:
        return node.args[0], keywords["minlength"]
    if name == "Tensor.bincount" and not node.args and isinstance(node.func, ast.Attribute):
        return node.func.value, keywords["minlength"]
    return None


def _zero_by_default(length: ast.expr, scope: Scope) -> bool:
    """Whether a length is written as 0, or is a parameter that is 0 where a call does not say it."""
    const = scope.value(length).const
    given = scope.function.node.args
    positional = [*given.posonlyargs, *given.args]
    defaults = dict(zip((a.arg for a in positional[::-1]), given.defaults[::-1], strict=False))
    defaults |= {a.arg: d for a, d in zip(given.kwonlyargs, given.kw_defaults, strict=True) if d is not None}
    default = defaults.get(length.id) if isinstance(length, ast.Name) else None
    return (const is not None and const.value == 0) or (isinstance(default, ast.Constant) and default.value == 0)


def countable(index: ast.expr, length: ast.expr, value: Value) -> Iterator[Obstacle]:
    """Whether `bincount` takes a tensor, of which `value` is known: the code in its place takes others too."""
    yield Obstacle(f"an index may be as large as `{snippet(length)}`", "index-in-range")
    if value.dtype not in ("int", None):
        yield Obstacle(f"`bincount` raises for `{snippet(index)}`, which holds no integers")
    elif value.dtype is None or value.rank != 1:
        reason = f"`{snippet(index)}` is not proved to hold integers in one dimension: `bincount` raises for others"
        yield Obstacle(reason, "index-in-range")


def first_mask(node: ast.expr, at: ast.stmt, scope: Scope, depth: int = 0) -> Mask | None:
    """The mask of the first masked elements in an expression, or in a definition that it uses.

    Not looked into: what another reduction stands round, and indices.
    """
    if isinstance(node, ast.Subscript):
        mask = whole_mask(node, scope)
        if mask is None and isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:  # `w[m, i[m]]`
            chosen = first_mask(node.slice.elts[1], at, scope, depth)
            return chosen if chosen is not None and is_same(chosen.node, node.slice.elts[0]) else None
        return mask
    if isinstance(node, ast.Name):
        return _mask_in(origin_of(node, at, scope), scope, depth + 1) if depth < 4 else None
    selected = masked_select_of(node, scope)
    if selected is not None:
        return selected[1]
    if isinstance(node, ast.Call) and _reduces(node, scope):
        return None
    for child in ast.iter_child_nodes(node):
        inner = child.value if isinstance(child, ast.keyword) else child
        if isinstance(inner, ast.expr):
            found = first_mask(inner, at, scope, depth)
            if found is not None:
                return found
    return None


def _mask_in(origin: Origin, scope: Scope, depth: int) -> Mask | None:
    """The mask of the first masked elements in what gives a name its value."""
    if isinstance(origin, Way):
        return _mask_in(origin.body, scope, depth) or _mask_in(origin.orelse, scope, depth)
    return None if origin is None else first_mask(origin.value, origin, scope, depth)


def _reduces(node: ast.Call, scope: Scope) -> bool:
    name = scope.callee(node) or ""
    return name.rpartition(".")[2] in _REDUCTIONS | COUNTS and row_operation(node, name, scope) is None


_SOMETIMES = ast.IfExp | ast.BoolOp | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def takes_lines(node: ast.expr, scope: Scope) -> bool:
    """Whether what an expression needs may be computed before its statement."""
    statement = scope.statement(node)
    named = isinstance(statement, ast.Return | ast.AugAssign | ast.Expr) or (
        isinstance(statement, ast.Assign) and len(statement.targets) == 1
    )
    around = list(takewhile(lambda a: not isinstance(a, ast.stmt), scope.ancestors(node)))
    computed = [node, *around][-1] is getattr(statement, "value", None)  # and not in the target of an assignment
    before = scope.function.module.lines[statement.lineno - 1].encode()[: statement.col_offset]
    return named and computed and not before.strip() and not any(isinstance(a, _SOMETIMES) for a in around)
