"""Whether an expression and its derivative are finite at one point: what may stand where a mask is false.

`torch.where(mask, 1 / x, 0)` has a gradient of NaN where `x` is zero, mask or no mask, since zero times infinity is
NaN. With `torch.where(mask, x, 1)` in place of `x` it is zero there, when the expression is smooth at 1. This module
computes value and derivative of an expression of plain numbers, as pairs.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from itertools import product

from compilefix.codemods.dynamic_shapes.row_operations import DEGREE_ONE

Pair = tuple[float, float]
_LARGEST = 1e4  # far inside float16
_MOST_TESTS = 4  # each of which doubles the ways that are computed


def finite_at(
    tree: ast.expr, point: Mapping[str, object], variables: Collection[str], refs: Mapping[ast.AST, str]
) -> bool:
    """Whether value and derivative to each variable are finite, and far from the limits of float16.

    `point` gives a number to each name; `refs` tells what the calls call. False where something is not known.
    """
    tests = list(dict.fromkeys(ast.dump(n.test) for n in ast.walk(tree) if isinstance(n, ast.IfExp)))
    if len(tests) > _MOST_TESTS:
        return False
    for variable, sides in product(variables, list(product((0.0, 1.0), repeat=len(tests)))):
        numbers = {
            name: (float(value), 1.0 if name == variable else 0.0)
            for name, value in point.items()
            if isinstance(value, int | float)
        }
        numbers |= {test: (side, 0.0) for test, side in zip(tests, sides, strict=True)}
        try:
            result = _pair(tree, numbers, refs)
        except (KeyError, ValueError, OverflowError, ZeroDivisionError, TypeError):
            return False
        if not all(math.isfinite(part) and abs(part) < _LARGEST for part in result):
            return False
    return True


def _pair(node: ast.expr, numbers: Mapping[str, Pair], refs: Mapping[ast.AST, str]) -> Pair:
    if isinstance(node, ast.Name):
        return numbers[node.id]
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return numbers[node.value.id]  # an element of a table
    if isinstance(node, ast.Subscript) and _only_spreads(node.slice):
        return _pair(node.value, numbers, refs)
    if isinstance(node, ast.IfExp):
        return _pair(node.body if numbers[ast.dump(node.test)][0] else node.orelse, numbers, refs)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value, slope = _pair(node.operand, numbers, refs)
        return -value, -slope
    if isinstance(node, ast.BinOp):
        return _OPERATORS[type(node.op)](_pair(node.left, numbers, refs), _pair(node.right, numbers, refs))
    if isinstance(node, ast.Call):
        short = refs[node].rpartition(".")[2]
        if short in DEGREE_ONE and isinstance(node.func, ast.Attribute):
            row = node.func.value if refs[node].startswith("Tensor.") else node.args[0]
            return _pair(row, numbers, refs)
        if short in _CONVERTED:
            return _pair(_operands(node, refs)[0], numbers, refs)
        if short in _BOUNDED:
            return _bounded(node, numbers, refs)
        if short == "where":
            return _chosen(node, numbers, refs)
        if short in _LOSSES:
            given = dict(zip(("input", "target"), node.args, strict=False)) | {
                k.arg or "": k.value for k in node.keywords
            }
            return _LOSSES[short](_pair(given["input"], numbers, refs), _pair(given["target"], numbers, refs))
    if isinstance(node, ast.Call) and not node.keywords:
        operands = _operands(node, refs)
        if short in _MADE_LIKE:
            return _MADE_LIKE[short] if len(operands) == 1 else (_pair(operands[1], numbers, refs)[0], 0.0)
        pairs = [_pair(operand, numbers, refs) for operand in operands]
        if short in _TWO and len(pairs) == 2:
            return _TWO[short](pairs[0], pairs[1])
        if len(pairs) == 1:
            return _ONE[short](pairs[0])
    raise KeyError(ast.unparse(node))


def _only_spreads(index: ast.expr) -> bool:
    """Whether an index takes all elements, and puts dimensions behind: `[..., None]`, `[(...,) + (None,) * n]`."""
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.Add):
        index = index.left
    parts = index.elts if isinstance(index, ast.Tuple) else []
    kept = [part.value for part in parts if isinstance(part, ast.Constant)]
    return len(kept) == len(parts) > 0 and kept[0] is Ellipsis and all(part is None for part in kept[1:])


def _operands(node: ast.Call, refs: Mapping[ast.AST, str]) -> list[ast.expr]:
    method = isinstance(node.func, ast.Attribute) and refs[node].startswith("Tensor.")
    return [*([node.func.value] if method and isinstance(node.func, ast.Attribute) else []), *node.args]


def _bounded(node: ast.Call, numbers: Mapping[str, Pair], refs: Mapping[ast.AST, str]) -> Pair:
    """`x.clamp(low, high)`: the derivative is that of `x`, or zero."""
    values, *bounds = _operands(node, refs)
    given = dict(zip(("min", "max"), bounds, strict=False)) | {k.arg: k.value for k in node.keywords}
    value, slope = _pair(values, numbers, refs)
    for name, choose in (("min", max), ("max", min)):
        if name in given and not (isinstance(given[name], ast.Name) and ast.unparse(given[name]) == "None"):
            value = choose(value, _pair(given[name], numbers, refs)[0])
    return value, slope


def _chosen(node: ast.Call, numbers: Mapping[str, Pair], refs: Mapping[ast.AST, str]) -> Pair:
    """`torch.where(a > b, x, y)`: zero times the derivative of the other side must be zero too."""
    test, *sides = node.args
    if not isinstance(test, ast.Compare) or len(test.ops) > 1 or len(sides) != 2:
        raise KeyError(ast.unparse(node))
    pairs = [_pair(side, numbers, refs) for side in sides]
    if not all(math.isfinite(part) for pair in pairs for part in pair):
        raise ValueError(ast.unparse(node))
    left, right = _pair(test.left, numbers, refs)[0], _pair(test.comparators[0], numbers, refs)[0]
    return pairs[0 if _COMPARISONS[type(test.ops[0])](left, right) else 1]


def _multiply(a: Pair, b: Pair) -> Pair:
    return a[0] * b[0], a[1] * b[0] + a[0] * b[1]


def _divide(a: Pair, b: Pair) -> Pair:
    return a[0] / b[0], (a[1] * b[0] - a[0] * b[1]) / (b[0] * b[0])


def _power(a: Pair, b: Pair) -> Pair:
    if b[1] == 0 and b[0] in (1, 2, 3, 4):
        return a[0] ** b[0], b[0] * a[0] ** (b[0] - 1) * a[1]
    # Through the logarithm: a base that is not positive is refused.
    value = math.exp(b[0] * math.log(a[0]))
    return value, value * (b[1] * math.log(a[0]) + b[0] * a[1] / a[0])


def _angle(a: Pair, b: Pair) -> Pair:
    return math.atan2(a[0], b[0]), (a[1] * b[0] - a[0] * b[1]) / (a[0] * a[0] + b[0] * b[0])


def _chain(function: Callable[[float], float], slope: Callable[[float], float]) -> Callable[[Pair], Pair]:
    return lambda pair: (function(pair[0]), slope(pair[0]) * pair[1])


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def _softplus(x: Pair, y: Pair) -> Pair:
    """The cross entropy of a logit with a target."""
    value = max(x[0], 0.0) - x[0] * y[0] + math.log1p(math.exp(-abs(x[0])))
    return value, x[1] * (_sigmoid(x[0]) - y[0]) - x[0] * y[1]


_OPERATORS: Mapping[type[ast.operator], Callable[[Pair, Pair], Pair]] = {
    ast.Add: lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ast.Sub: lambda a, b: (a[0] - b[0], a[1] - b[1]),
    ast.Mult: _multiply,
    ast.Div: _divide,
    ast.Pow: _power,
}
_TWO: Mapping[str, Callable[[Pair, Pair], Pair]] = {
    "add": _OPERATORS[ast.Add],
    "sub": _OPERATORS[ast.Sub],
    "mul": _multiply,
    "div": _divide,
    "true_divide": _divide,
    "pow": _power,
    "atan2": _angle,
    "arctan2": _angle,
    "min": min,
    "max": max,
    "minimum": min,
    "maximum": max,
}
_LOSSES: Mapping[str, Callable[[Pair, Pair], Pair]] = {
    **dict.fromkeys(
        ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"),  # the square bounds the others
        lambda a, b: ((a[0] - b[0]) ** 2, 2 * (a[0] - b[0]) * (a[1] - b[1])),
    ),
    "binary_cross_entropy_with_logits": _softplus,
}
_CONVERTED = frozenset({"to", "type", "type_as"})
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_BOUNDED = frozenset({"clamp", "clip"})
_MADE_LIKE: Mapping[str, Pair] = {"zeros_like": (0.0, 0.0), "ones_like": (1.0, 0.0), "full_like": (0.0, 0.0)}
_ONE: Mapping[str, Callable[[Pair], Pair]] = {
    "exp": _chain(math.exp, math.exp),
    "log": _chain(math.log, lambda x: 1 / x),
    "log2": _chain(math.log2, lambda x: 1 / (x * math.log(2))),
    "log10": _chain(math.log10, lambda x: 1 / (x * math.log(10))),
    "log1p": _chain(math.log1p, lambda x: 1 / (1 + x)),
    "expm1": _chain(math.expm1, math.exp),
    "sqrt": _chain(math.sqrt, lambda x: 0.5 / math.sqrt(x)),
    "rsqrt": _chain(lambda x: 1 / math.sqrt(x), lambda x: -0.5 / (x * math.sqrt(x))),
    "reciprocal": _chain(lambda x: 1 / x, lambda x: -1 / (x * x)),
    "square": _chain(lambda x: x * x, lambda x: 2 * x),
    "sin": _chain(math.sin, math.cos),
    "cos": _chain(math.cos, lambda x: -math.sin(x)),
    "tan": _chain(math.tan, lambda x: 1 + math.tan(x) ** 2),
    "tanh": _chain(math.tanh, lambda x: 1 - math.tanh(x) ** 2),
    "atan": _chain(math.atan, lambda x: 1 / (1 + x * x)),
    "asin": _chain(math.asin, lambda x: 1 / math.sqrt(1 - x * x)),
    "arcsin": _chain(math.asin, lambda x: 1 / math.sqrt(1 - x * x)),
    "acos": _chain(math.acos, lambda x: -1 / math.sqrt(1 - x * x)),
    "arccos": _chain(math.acos, lambda x: -1 / math.sqrt(1 - x * x)),
    "atanh": _chain(math.atanh, lambda x: 1 / (1 - x * x)),
    "acosh": _chain(math.acosh, lambda x: 1 / math.sqrt(x * x - 1)),
    "sigmoid": _chain(_sigmoid, lambda x: _sigmoid(x) * (1 - _sigmoid(x))),
    "sinh": _chain(math.sinh, math.cosh),
    "cosh": _chain(math.cosh, math.sinh),
    "sign": lambda pair: (math.copysign(1.0, pair[0]) if pair[0] else 0.0, 0.0),
    "abs": _chain(abs, lambda x: math.copysign(1.0, x)),
    "neg": lambda pair: (-pair[0], -pair[1]),
    "float": lambda pair: pair,
    "double": lambda pair: pair,
    "clone": lambda pair: pair,
    "contiguous": lambda pair: pair,
}
