"""Where Python or torch needs the value of a NumPy number: conditions, `range`, `int()`, `.item()`, sizes, bounds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.numpy_calls.array_values import from_tensor
from compilefix.codemods.numpy_calls.kept_numbers import is_kept_number
from compilefix.codemods.numpy_calls.numpy_draws import breaks_when_drawn
from compilefix.codemods.rule import Scope
from compilefix.source.tree import elements_of

_REDUCES = re.compile(r"numpy\.(?:prod|sum|max|min|amax|amin)")
_CASTS = frozenset({"int", "float", "bool", "complex"})
_ARRAY_OR_NUMBER = frozenset({Kind.NDARRAY, Kind.STATIC, Kind.SIZE, Kind.NUMBER})


def needed_numbers(scope: Scope) -> Iterator[tuple[ast.expr, str]]:
    """The NumPy numbers that Python reads while it traces, with the graph-break id.

    Those that are computed from a tensor in the same function belong to the rule for NumPy on tensors.
    """
    tests = [
        *(node.test for node in scope.of(ast.If)),
        *(node.test for node in scope.of(ast.While)),
        *(node.test for node in scope.of(ast.IfExp)),
        *(test for node in scope.of(ast.Assert) for test in _asked(node)),
    ]
    for test in tests:
        yield from _truths(test, scope)
    for operation in scope.of(ast.BoolOp):
        if not isinstance(scope.parents.get(operation), ast.If | ast.While | ast.IfExp | ast.Assert | ast.BoolOp):
            for part in operation.values[:-1]:
                yield from _truths(part, scope)
    for call in scope.of(ast.Call):
        name = scope.callee(call) or ""
        if name == "range":
            for argument in call.args:
                if is_array(scope.value(argument)):
                    yield argument, "GB0059"
        elif (source := _read_by(call, name)) is not None:
            if _is_read(source, scope):
                yield call, "GB0033"
        elif name.startswith(("torch.", "Tensor.", "math.")):
            for argument in _given(call):
                if _is_integer(argument, name, scope) or _lists_integers(argument, scope):
                    yield argument, "GB0033"
    for part in scope.of(ast.Subscript):
        # Of the items of a dict those are looked up that are equal, and an array is none of its keys.
        listed = scope.value(part.value)
        if listed.is_(Kind.CONTAINER) and listed.ref != "dict" and _is_place(part.slice, scope):
            yield part.slice, "GB0033"
        elif listed.is_tensor:
            places = elements_of(part.slice)
            yield from ((place, "GB0033") for place in places if _is_counted(place, scope))
    for part in scope.of(ast.Slice):
        for bound in (part.lower, part.upper, part.step):
            if bound is not None and _is_integer(bound, "", scope) and _tensor_sliced(part, scope):
                yield bound, "GB0033"


def _asked(node: ast.Assert) -> Iterator[ast.expr]:
    """What an assert asks on the host: with no message, or a constant one, the last operand is left to the graph."""
    test = node.test
    if node.msg is not None and not isinstance(node.msg, ast.Constant):
        yield test
        return
    while isinstance(test, ast.BoolOp):
        yield from test.values[:-1]
        test = test.values[-1]
    if isinstance(test, ast.UnaryOp):
        yield test


_ALWAYS_ARRAYS = frozenset(
    f"numpy.{name}" for name in ("cumsum", "cumprod", "concatenate", "stack", "argsort", "sort", "diff", "atleast_1d")
)
"""What gives an array of whatever it is given, a list of numbers too: `np.cumsum(sizes).tolist()`."""


def _read_by(call: ast.Call, name: str) -> ast.expr | None:
    """What a call reads as one Python number, or as a list of them."""
    if name in _CASTS:
        return call.args[0] if len(call.args) == 1 else None
    method = isinstance(call.func, ast.Attribute) and call.func.attr in ("item", "tolist") and not call.args
    return call.func.value if method and isinstance(call.func, ast.Attribute) else None


def _is_read(node: ast.expr, scope: Scope) -> bool:
    """Whether a number is read from an array: a draw of a single number breaks the graph where it is drawn."""
    value = scope.value(node)
    if not value.is_(Kind.NDARRAY) or from_tensor(node, scope) or is_kept_number(node, scope):
        return False
    if not (value.certain or (isinstance(node, ast.Call) and scope.callee(node) in _ALWAYS_ARRAYS)):
        return False
    drawn = isinstance(node, ast.Call) and (scope.callee(node) or "").startswith("numpy.random.")
    return not (
        drawn and isinstance(node, ast.Call) and breaks_when_drawn(node, scope.callee(node) or "", scope) is not None
    )


def _given(call: ast.Call) -> Iterator[ast.expr]:
    """What a call is given, the items of tuples and lists too."""
    for argument in (*call.args, *(keyword.value for keyword in call.keywords)):
        if isinstance(argument, ast.Starred):
            argument = argument.value
        yield from argument.elts if isinstance(argument, ast.Tuple | ast.List) else (argument,)


def _is_integer(node: ast.expr, called: str, scope: Scope) -> bool:
    """Whether torch or `math` takes a number that the traced code computes: one that is kept is a constant there."""
    value = scope.value(node)
    if not is_array(value) or from_tensor(node, scope):
        return False
    if isinstance(scope.parents.get(node), ast.Starred):
        return value.is_(Kind.NDARRAY) and value.certain and integer_place(node, scope) is not None
    return is_computed(node, scope) and (called.startswith("math.") or integer_place(node, scope) is not None)


def _lists_integers(node: ast.expr, scope: Scope) -> bool:
    """Whether torch takes a list as sizes or dimensions that holds NumPy numbers: `x.permute(order)`, `*order`."""
    value = scope.value(node)
    if not value.is_(Kind.CONTAINER) or isinstance(node, ast.Tuple | ast.List):
        return False
    items = value.elements if value.elements is not None else (value.element,)
    arrays = (item for item in items if item is not None)
    return any(is_array(item) and item.certain for item in arrays) and integer_place(node, scope) is not None


def is_computed(node: ast.expr, scope: Scope) -> bool:
    """Whether a NumPy number is the result of arithmetic or of a function, or an item of an array, in this function."""
    if isinstance(node, ast.Name) and len(stores := scope.names(node.id, stores=True)) == 1:
        made = scope.parents.get(stores[0])
        if isinstance(made, ast.For | ast.comprehension):
            return made.target is stores[0] and is_array(scope.value(made.iter))
        return isinstance(made, ast.Assign) and made.targets == stores and is_computed(made.value, scope)
    if isinstance(node, ast.Call):
        return _REDUCES.fullmatch(scope.callee(node) or "") is not None
    return isinstance(node, ast.BinOp | ast.Subscript)


def _is_place(node: ast.expr, scope: Scope) -> bool:
    """Whether an index of a list or tuple is a NumPy number that the traced code computes."""
    return is_array(scope.value(node)) and is_computed(node, scope)


def _is_counted(node: ast.expr, scope: Scope) -> bool:
    """Whether a number is one of those that `for i in np.arange(n)` goes through, or computed of one: `i + 1`."""
    if isinstance(node, ast.BinOp):
        return _is_counted(node.left, scope) or _is_counted(node.right, scope)
    if not isinstance(node, ast.Name) or len(stores := scope.names(node.id, stores=True)) != 1:
        return False
    loop = scope.parents.get(stores[0])
    if not isinstance(loop, ast.For | ast.comprehension) or loop.target is not stores[0]:
        return False
    return scope.callee(loop.iter) == "numpy.arange"


def _tensor_sliced(part: ast.Slice, scope: Scope) -> bool:
    outer = next(parent for parent in scope.ancestors(part) if isinstance(parent, ast.Subscript))
    return scope.value(outer.value).is_tensor


def _truths(test: ast.expr, scope: Scope) -> Iterator[tuple[ast.expr, str]]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _truths(value, scope)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _truths(test.operand, scope)
    elif (is_array(scope.value(test)) or _is_made_of_array(test, scope)) and not from_tensor(test, scope):
        yield test, "GB0170"


def _is_made_of_array(node: ast.expr, scope: Scope) -> bool:
    """Whether an array is compared or computed with: beside one, whatever else stands there, comes out an array."""
    if isinstance(node, ast.Compare):
        if not isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            return False
        parts = [node.left, node.comparators[0]]
    elif isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    else:
        return False
    values = [scope.value(part) for part in parts]
    return any(v.is_(Kind.NDARRAY) and v.certain for v in values) or any(_is_made_of_array(p, scope) for p in parts)


def is_array(value: Value) -> bool:
    """Whether the value is an array, or a NumPy number, wherever anything is known of it."""
    return Kind.NDARRAY in value.kinds and value.kinds <= _ARRAY_OR_NUMBER
