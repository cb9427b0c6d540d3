"""Conditions that ask for NaN or infinity, and what is computed of them on the side that is meant for finite values."""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Sequence

from compilefix.codemods.control_flow.arms import Link
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_path

_ASKS = {"isfinite": True, "isnan": False, "isinf": False}
_REDUCES = ("all", "any")
_INFINITE: frozenset[str | None] = frozenset({"math.inf", "numpy.inf", "torch.inf"})


def computed_of_nan(links: Sequence[Link], rest: Sequence[ast.stmt], scope: Scope) -> str | None:
    """What a side computes of NaN where its condition keeps NaN out, and hands NaN back as a gradient; in words."""
    for place, link in enumerate(links):
        if link.test is None:
            continue
        behind = [*(statement for later in links[place + 1 :] for statement in later.body), *rest]
        kept = _kept(link, scope) if links[-1].test is not None else []
        found = given_nan(link.test, list(_values(link.body)), [*_values(behind), *kept], scope)
        if found is not None:
            return found
    return None


def given_nan(test: ast.expr, then: Sequence[ast.expr], orelse: Sequence[ast.expr], scope: Scope) -> str | None:
    """The same of the values on both sides of one condition."""
    for tensor, when_true in _asked(test, scope):
        names = _names(tensor, scope)
        finite, other = (then, orelse) if when_true else (orelse, then)
        elsewhere = any(scope.value(value).leaves and _reads(value, names) for value in other)
        for value in finite:
            if not scope.value(value).leaves or not _reads(value, names):
                continue
            if next(scope.legality.derivatives.finite([value], scope.facts), None) is not None:
                return (
                    f"`{snippet(value)}` would be computed of NaN or infinity too, for which "
                    f"`{ast.unparse(test)}` asks, and its gradient is NaN then"
                )
            back = None if elsewhere else next(_not_finite(value, names, scope), None)
            if back is not None:
                return (
                    f"a gradient of zero would flow back through `{ast.unparse(back)}` where it is NaN or infinite, "
                    f"for which `{ast.unparse(test)}` asks, and is NaN then"
                )
    return None


def _not_finite(value: ast.expr, names: Collection[str], scope: Scope) -> Iterator[ast.expr]:
    """The names and attributes in a value through which a gradient of zero may become NaN."""
    for part in _paths(value):
        if ast.unparse(part) in names and not scope.legality.derivatives.passes_zero(part, scope.facts):
            yield part


def _paths(node: ast.AST) -> Iterator[ast.Name | ast.Attribute]:
    """The names in some code, and the attributes of names: `x` and `self.x`."""
    yield from (n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute) and is_path(n))


def _kept(link: Link, scope: Scope) -> list[ast.expr]:
    """What names that a link replaces hold otherwise, where its test asks for NaN or infinity in them."""
    targets = {
        ast.unparse(part) for statement in link.body for part in _paths(statement) if isinstance(part.ctx, ast.Store)
    }
    asked = [] if link.test is None else [tensor for tensor, when_true in _asked(link.test, scope) if not when_true]
    return [n for tensor in asked for n in _paths(tensor) if ast.unparse(n) in targets]


def _names(tensor: ast.expr, scope: Scope) -> set[str]:
    """The local names and attributes that a tensor is, or is computed of."""
    return {ast.unparse(n) for n in _paths(tensor) if scope.value(n).leaves}


def _reads(value: ast.expr, names: Collection[str]) -> bool:
    return any(ast.unparse(n) in names for n in _paths(value))


def finite_where(mask: ast.expr, scope: Scope) -> list[ast.expr]:
    """The tensors that are not NaN where a mask is true, as it asks for that."""
    if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
        return [*finite_where(mask.left, scope), *finite_where(mask.right, scope)]
    return [tensor for tensor, when_true in _asked(mask, scope) if when_true]


def _values(statements: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    for part in (part for statement in statements for part in ast.walk(statement)):
        if isinstance(part, ast.Assign | ast.AnnAssign | ast.Return) and part.value is not None:
            yield part.value


def _asked(test: ast.expr, scope: Scope) -> Iterator[tuple[ast.expr, bool]]:
    """The tensors of which a condition asks whether they are finite, and whether they are where it is true."""
    both = isinstance(test, ast.BinOp) and isinstance(test.op, ast.BitOr | ast.BitAnd)
    if isinstance(test, ast.BoolOp) or both:
        parts = test.values if isinstance(test, ast.BoolOp) else [test.left, test.right]  # type: ignore[attr-defined]
        for part in parts:
            yield from _asked(part, scope)
        return
    source = read_of(test, scope)
    if source is not None:
        yield from _asked(source, scope)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not | ast.Invert):
        yield from ((tensor, not when_true) for tensor, when_true in _asked(test.operand, scope))
    elif isinstance(test, ast.Name):
        stores = scope.names(test.id, stores=True)
        statement = scope.parents.get(stores[0]) if stores else None
        if isinstance(statement, ast.Assign) and statement.targets[0] is stores[0]:
            yield from _asked(statement.value, scope)
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        yield from _compared(test, scope)
    elif isinstance(test, ast.Call):
        operand, name = _operand(test, scope)
        if operand is not None and name in _REDUCES:
            sure = name == "all"  # one that is finite says nothing of the others, nor does one that is not
            yield from (found for found in _asked(operand, scope) if found[1] == sure)
        elif operand is not None and name in _ASKS:
            yield operand, _ASKS[name]


def _compared(test: ast.Compare, scope: Scope) -> Iterator[tuple[ast.expr, bool]]:
    """The same of a comparison with infinity (`loss == float("inf")`), or of a tensor with itself (`loss != loss`)."""
    left, right, operator = test.left, test.comparators[0], test.ops[0]
    if ast.unparse(left) == ast.unparse(right) and isinstance(operator, ast.Eq | ast.NotEq):
        yield left, isinstance(operator, ast.Eq)
    for tensor, bound in ((left, right), (right, left)):
        if is_infinite(bound, scope):
            yield tensor, isinstance(operator, ast.NotEq | ast.Lt | ast.Gt)


def is_infinite(node: ast.AST, scope: Scope) -> bool:
    """Whether an expression is infinity: `float("inf")`, `-math.inf`, `torch.inf`, or a name that is given one."""
    if isinstance(node, ast.Name) and (given := _given(node.id, scope)) is not None:
        node = given
    while isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    constant = node.value if isinstance(node, ast.Constant) else getattr(scope.value(node).const, "value", None)
    if isinstance(constant, float):
        return math.isinf(constant)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "float" and len(node.args) == 1:
        text = node.args[0]
        return isinstance(text, ast.Constant) and str(text.value).strip("+-").lower() in ("inf", "infinity")
    return isinstance(node, ast.expr) and scope.function.module.qualified(node) in _INFINITE


def _given(name: str, scope: Scope) -> ast.expr | None:
    """What a name is given, in the function or, where that gives it nothing, at the top of the file."""
    is_local = bool(scope.names(name, stores=True))
    return scope.only_value(name) if is_local else scope.function.module.assigns.get(name)


def _operand(call: ast.Call, scope: Scope) -> tuple[ast.expr | None, str]:
    """What `torch.isnan(x)`, `isnan(x)` or `x.isnan()` is asked of, and the name of what is called."""
    owner, _, name = (scope.callee(call) or "").rpartition(".")
    if owner == "torch":
        given = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "input")]
        return (given[0] if given else None), name
    return (call.func.value, call.func.attr) if isinstance(call.func, ast.Attribute) else (None, name)
