"""What torch has to be told of a slice with a bound that is a symbol, and whether the code tells it.

With `capture_scalar_outputs`, inductor compiles `x[:, :n]` where `torch._check` says that the slice begins and ends
within the tensor, forward and backward, and fails without (measured on torch 2.13 on a CPU, and on 2.11 on a CPU and an
H100, with ninety operations behind the slice: 2.13 fails on attention and convolutions over it, and 2.11 in the
backward pass of some slices with two such bounds).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.source.syntax import is_path
from compilefix.source.tree import elements_of

_ELSEWHERE = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda, ast.IfExp, ast.BoolOp)
_SUMS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//"}


def conditions_of(
    item: ast.Subscript, scope: Scope, read: ast.expr | None = None, name: str = "end"
) -> tuple[str, ...] | None:
    """The conditions that tell torch where the slices of a subscript lie, as code; None where none can be written.

    They are what Python's own slices do without: a bound below zero counts from the end, one behind the end is cut off.
    Where a number is read in the bound itself, `name` stands for it.
    """
    tensor = item.value
    if not is_path(tensor) or not scope.value(tensor).is_tensor:
        return None
    parts = elements_of(item.slice)
    found: list[str] = []
    for index, part in enumerate(parts):
        if isinstance(part, ast.Slice) and _has_symbol(part, scope):
            dim = _dimension(parts, index, scope)
            bounds = [
                None if bound is None else _code_of(bound, scope, read, name) for bound in (part.lower, part.upper)
            ]
            told = None if dim is None else _within(part, bounds, f"{ast.unparse(tensor)}.size({dim})")
            if told is None:
                return None
            found += told
    return tuple(dict.fromkeys(found))


def checked_before(item: ast.Subscript, scope: Scope) -> set[str]:
    """The conditions that `torch._check` asks on the way to a subscript, as code."""
    return {ast.unparse(call.args[0]) for call in _checks_before(scope.statement(item), scope)}


def place_of(item: ast.Subscript, scope: Scope) -> ast.stmt | None:
    """The statement before which a check can stand, and runs whenever the slice is made; None where there is none."""
    statement = scope.statement(item)
    around = next((a for a in scope.ancestors(item) if isinstance(a, (*_ELSEWHERE, ast.stmt))), statement)
    again = isinstance(statement, ast.While | ast.With | ast.AsyncFor | ast.FunctionDef | ast.Try)
    chained = isinstance(statement, ast.If) and scope.block(statement) == [statement]
    return None if around is not statement or again or chained else statement


def narrowed(item: ast.Subscript, scope: Scope) -> tuple[int, ast.expr] | None:
    """The dimension and the bound of a subscript that only cuts off the end, `x[:, :n]`: `x.narrow(1, 0, n)` does it.

    `narrow` needs no check, and fails where one would: it can stand where no statement can.
    """
    parts = elements_of(item.slice)
    slices = [part for part in parts if isinstance(part, ast.Slice) and part.lower is None and part.step is None]
    bounded = [(dim, part.upper) for dim, part in enumerate(slices) if part.upper is not None]
    if len(bounded) != 1 or slices != parts or not isinstance(item.ctx, ast.Load) or not conditions_of(item, scope):
        return None
    return bounded[0]


def _checks_before(statement: ast.stmt, scope: Scope) -> Iterator[ast.Call]:
    node: ast.AST | None = statement
    while isinstance(node, ast.stmt) and node in scope.parents:
        block = scope.block(node)
        for earlier in block[: block.index(node)]:
            call = earlier.value if isinstance(earlier, ast.Expr) else None
            if isinstance(call, ast.Call) and scope.callee(call) == "torch._check" and call.args:
                yield call
        node = next((a for a in scope.ancestors(node) if isinstance(a, ast.stmt)), None)


def _within(part: ast.Slice, bounds: list[str | None], size: str) -> list[str] | None:
    """The conditions for one slice of a dimension of this size."""
    low, high = bounds
    if part.step is not None or (part.lower is not None and low is None) or (part.upper is not None and high is None):
        return None
    begins = low if low is not None and not low.isdigit() else None
    if high is None:
        return [f"{begins} >= 0", f"{begins} <= {size}"]
    if begins is None:
        return [f"{high} >= {low or 0}", f"{high} <= {size}"]
    return [f"{begins} >= 0", f"{begins} <= {high}", f"{high} <= {size}"]


def _code_of(node: ast.expr, scope: Scope, read: ast.expr | None, name: str) -> str | None:
    """The code of a bound, of names and numbers alone: it is computed again for the check."""
    if node is read:
        return name
    if isinstance(node, ast.BinOp) and isinstance(node.op, tuple(_SUMS)):
        left, right = (_code_of(side, scope, read, name) for side in (node.left, node.right))
        if left is None or right is None:
            return None
        code = ast.parse(f"({left}) {_SUMS[type(node.op)]} ({right})", mode="eval")
        return ast.unparse(code)
    if isinstance(node, ast.Call):
        sized = isinstance(node.func, ast.Attribute) and node.func.attr == "size" and is_path(node.func.value)
        if node.keywords or not (sized or (isinstance(node.func, ast.Name) and node.func.id in ("min", "max"))):
            return None
        codes = [_code_of(argument, scope, read, name) for argument in node.args]
        return None if None in codes else f"{ast.unparse(node.func)}({', '.join(map(str, codes))})"
    kinds = scope.value(node).kinds
    if Kind.TENSOR in kinds and not (isinstance(node, ast.Name) and scope.value(node).is_tensor):
        return None  # `torch._check` asks no tensor; what a name holds can be read first
    number = isinstance(node, ast.Constant) and type(node.value) is int
    sizes = isinstance(node, ast.Subscript) and is_path(node.value) and isinstance(node.slice, ast.Constant)
    return ast.unparse(node) if number or sizes or is_path(node) else None


def _dimension(parts: list[ast.expr], index: int, scope: Scope) -> int | None:
    """The dimension that a part of a subscript cuts, from the end behind an ellipsis; None where a tensor is in it."""
    first, behind = parts[:index], parts[index + 1 :]
    from_end = any(isinstance(p, ast.Constant) and p.value is ... for p in first)
    counted = [p for p in (behind if from_end else first) if not (isinstance(p, ast.Constant) and p.value is None)]
    if any(not (isinstance(p, ast.Slice) or scope.value(p).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)) for p in counted):
        return None
    return -1 - len(counted) if from_end else len(counted)


def _has_symbol(part: ast.Slice, scope: Scope) -> bool:
    """Whether a bound of a slice is a number that may be read from a tensor, or is computed of one."""
    bounds = [bound for bound in (part.lower, part.upper) if bound is not None]
    return any(not scope.value(bound).is_(Kind.STATIC, Kind.SIZE, Kind.NONE) for bound in bounds)
