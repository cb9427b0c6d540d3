"""Whether an expression gives a tensor of another shape than another one has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from compilefix.codemods.rule import Scope
from compilefix.source.syntax import is_whole
from compilefix.source.tree import elements_of

_JOINING = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"})
_SCALING = frozenset({"interpolate", "upsample", "upsample_nearest", "upsample_bilinear"})
_GROWING = frozenset({"pad", "repeat", "repeat_interleave", "unsqueeze"})


def is_resized(node: ast.expr, other: str, scope: Scope) -> bool:
    """Whether an expression joins, extends or cuts the tensor that is written `other`: `torch.cat([x, y])`, `x[1:]`.

    What gives the same shape at times, such as `x[:n]`, does not count.
    """
    if isinstance(node, ast.Subscript):
        parts = elements_of(node.slice)
        return ast.unparse(node.value) == other and any(map(_cuts, parts))
    if not isinstance(node, ast.Call):
        return False
    name = (scope.callee(node) or "").rpartition(".")[2]
    if name in _SCALING and not any(_scales(keyword) for keyword in node.keywords):
        return False  # a size that is given may be the one that there is
    return name in _JOINING | _GROWING | _SCALING and any(ast.unparse(part) == other for part in _operands(node, name))


def _scales(keyword: ast.keyword) -> bool:
    """Whether a keyword asks for a tensor that is larger or smaller: `scale_factor=0.5`."""
    value = keyword.value
    return keyword.arg == "scale_factor" and not (isinstance(value, ast.Constant) and value.value in (None, 1))


def asked_to_differ(one: str, other: str, at: ast.AST, scope: Scope) -> bool:
    """Whether code stands where a test has said that two tensors differ in shape: `if a.shape == b.shape: ... else:`.

    Where the test asks for more they may have one shape; it was written for those that have not.
    """
    return any(
        _differ(node, wanted, one, other)
        for test, holds in _tests_before(at, scope)
        for node, wanted in _comparisons(test, holds)
    )


def _tests_before(at: ast.AST, scope: Scope) -> Iterator[tuple[ast.expr, bool]]:
    """The tests that led to a place, and whether they hold there.

    Those around it, and those of an `if` before it that is left for good: `if a.shape == b.shape: return a`.
    """
    child = at
    for around in scope.ancestors(at):
        if isinstance(around, ast.If | ast.IfExp):
            body = around.body if isinstance(around.body, list) else [around.body]
            orelse = around.orelse if isinstance(around.orelse, list) else [around.orelse]
            if child in body or child in orelse:
                yield around.test, child in body
        for block in (getattr(around, part, None) for part in ("body", "orelse", "finalbody")):
            for earlier in block[: block.index(child)] if isinstance(block, list) and child in block else ():
                if isinstance(earlier, ast.If) and not earlier.orelse and isinstance(earlier.body[-1], _LEAVES):
                    yield earlier.test, False
        child = around


def _comparisons(test: ast.expr, holds: bool) -> Iterator[tuple[ast.Compare, type[ast.cmpop]]]:
    """The comparisons in a test, each with the operator by which it says there that two things differ."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _comparisons(test.operand, not holds)
    elif isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from _comparisons(part, holds)
    elif isinstance(test, ast.Compare):
        yield test, ast.NotEq if holds else ast.Eq


_LEAVES = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def _differ(node: ast.Compare, wanted: type[ast.cmpop], one: str, other: str) -> bool:
    """Whether a comparison says that two tensors differ in shape, or that one has not the size that makes the other."""
    if {type(op) for op in node.ops} != {wanted}:
        return False
    for first, second in pairwise([node.left, *node.comparators]):
        if {_shape_of(first), _shape_of(second)} == {one, other}:
            return True
        for shaped, size in ((first, second), (second, first)):
            # `if a.shape != size: a = torch.zeros(size)`
            for tensor, made in ((one, other), (other, one)):
                if _shape_of(shaped) == tensor and _is_made_with(made, ast.unparse(size)):
                    return True
    return False


def _is_made_with(made: str, size: str) -> bool:
    """Whether the code of a tensor makes it of a size: `torch.zeros(size, device=device)`."""
    node = ast.parse(made, mode="eval").body
    first = node.args[:1] if isinstance(node, ast.Call) else []
    return any(ast.unparse(part) == size for part in first)


def _shape_of(node: ast.expr) -> str | None:
    """The tensor whose shape an expression gives, or a part of it: `x.shape`, `x.shape[1:]`, `x.size(0)`, `x.ndim`."""
    if isinstance(node, ast.Subscript):
        return _shape_of(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return ast.unparse(node.args[0]) if len(node.args) == 1 else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.func.value) if node.func.attr in ("size", "dim") else None
    return ast.unparse(node.value) if isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim") else None


def is_placed_otherwise(one: ast.expr, other: ast.expr) -> bool:
    """Whether two expressions add a dimension to one tensor, each at another place: `x[None]` and `x[:, None]`."""
    places = _added(one), _added(other)
    if places[0] is None or places[1] is None or places[0][0] != places[1][0]:
        return False
    first, second = places[0][1], places[1][1]
    return first != second and (first < 0) == (second < 0)


def _added(node: ast.expr) -> tuple[str, int] | None:
    """The tensor that an expression gives one more dimension, and where that stands."""
    if isinstance(node, ast.Subscript):
        parts = elements_of(node.slice)
        plain = [is_whole(part) for part in parts]
        new = [isinstance(p, ast.Constant) and p.value is None for p in parts]
        rest = [isinstance(p, ast.Constant) and p.value is ... for p in parts]
        known = all(map(any, zip(plain, new, rest, strict=True)))
        if new.count(True) != 1 or rest.count(True) > 1 or not known:
            return None
        place = new.index(True)
        behind = any(rest[:place])  # `x[..., None]` counts from the end, as `x.unsqueeze(-1)` does
        return ast.unparse(node.value), place - len(parts) if behind else place
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "unsqueeze":
        return None
    given = [*node.args, *(k.value for k in node.keywords if k.arg == "dim")]
    tensor = given.pop(0) if len(given) == 2 else node.func.value
    where = _integer(given[0]) if len(given) == 1 else None
    return None if where is None else (ast.unparse(tensor), where)


def is_empty(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression makes a tensor without elements: `torch.zeros(0, 3)`, `x.new_empty((0,))`."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = (scope.callee(node) or "").rpartition(".")[2]
    if name == "tensor":
        return isinstance(node.args[0], ast.List | ast.Tuple) and not node.args[0].elts
    if name.removeprefix("new_") not in _MAKING:
        return False
    first = node.args[0]
    return 0 in map(_integer, first.elts if isinstance(first, ast.List | ast.Tuple) else node.args)


_MAKING = frozenset({"zeros", "ones", "empty", "rand", "randn"})


def _cuts(part: ast.expr) -> bool:
    if isinstance(part, ast.Slice):
        bounds = [_integer(bound) for bound in (part.lower, part.upper)]
        return bool(bounds[0]) or (bounds[1] is not None and bounds[1] < 0)
    return _integer(part) is not None or (isinstance(part, ast.Constant) and part.value is None)


def _integer(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _integer(node.operand)
        return None if value is None else -value
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _operands(call: ast.Call, name: str) -> Iterator[ast.expr]:
    first = call.args[0] if call.args else None
    if name in _JOINING:
        yield from first.elts if isinstance(first, ast.List | ast.Tuple) else ()
        return
    if isinstance(call.func, ast.Attribute):
        yield call.func.value
    if first is not None:
        yield first
