"""Python arithmetic and functions on a number that was read from a tensor, and what they are as a tensor's."""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.default_numbers import is_number_by_default
from compilefix.codemods.host_reads.never_nan import never_nan
from compilefix.codemods.host_reads.number_flow import Flow, meets_whole_numbers, met
from compilefix.codemods.host_reads.number_places import subtracted
from compilefix.codemods.number_reads import decides
from compilefix.codemods.rule import Scope
from compilefix.codemods.selected_numbers import exact
from compilefix.source.operators import SYMBOLS
from compilefix.source.snippets import snippet

Onward = tuple[ast.expr, ...]
"""What is computed of a number in one place; nothing where its way ends there."""

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_MATH = {name: name for name in ("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan")}
_MATH |= {"sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "asin", "acos": "acos", "atan": "atan"}
_MATH |= {"erf": "erf", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fabs": "abs"}
_MATH |= {"radians": "deg2rad", "degrees": "rad2deg"}  # bitwise the same in double precision
_MATH |= {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}  # as NumPy calls them
_SAME_IN_NUMPY = frozenset({"sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tanh"})
_ASKS = frozenset({"isnan", "isinf", "isfinite"})
_METHODS = {"abs": "abs", "round": "round", "int": "trunc"}


def negated(parent: ast.UnaryOp, flow: Flow) -> Onward:
    """The number with the other sign."""
    if flow.boolean or flow.read.dtype in (None, "int", "bool"):
        flow.compute(whole=True, negates=True)  # `-t` wraps round for unsigned integers
    return (parent,)


def binary(node: ast.expr, parent: ast.BinOp, scope: Scope, flow: Flow) -> Onward:
    """An operand of `+ - * / ** %`, beside another number or a tensor."""
    other = parent.right if parent.left is node else parent.left
    numbers = scope.value(other).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)
    if not numbers and _reads_number(other, scope):
        flow.refuse(f"`{snippet(other)}` is not proved to be a number", "branches-total")
        numbers = True
    elif not isinstance(parent.op, ast.Mod) and scope.value(other).is_unknown and is_number_by_default(other, scope):
        flow.refuse(f"`{snippet(other)}` is a number by default, and not proved to be one", "number-to-tensor")
        numbers = True
    const = scope.value(other).const
    if (const is not None and isinstance(const.value, str | bytes)) or scope.value(other).is_(Kind.CONTAINER):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")
        return ()
    if numbers and scope.value(other).dtype == "complex" and not isinstance(parent.op, ast.Add | ast.Sub):
        flow.refuse(f"`{snippet(parent)}` is complex, and torch rounds complex products and quotients otherwise")
        return ()
    if numbers and isinstance(parent.op, (*ARITHMETIC, ast.Pow)):
        return _among_numbers(parent, other, scope, flow)
    length = scope.value(other).is_unknown and isinstance(other, ast.Name | ast.Attribute) and flow.read.dtype == "int"
    if isinstance(parent.op, ast.Mod) and parent.left is node and (length or _counts(flow.read, other, scope)):
        flow.compute(whole=True)
        if length:
            flow.refuse(f"`{snippet(other)}` is not proved to be a Python integer", "static-shape-values")
        if not _nonzero(other, scope):
            reason = f"`{snippet(parent)}` may divide by zero, which raises another error for tensors"
            flow.refuse(reason, "math-errors")
        return (parent,)
    if not isinstance(parent.op, ARITHMETIC):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")
        return ()
    _beside_tensor(node, parent, other, scope, flow)
    return ()


def _among_numbers(parent: ast.BinOp, other: ast.expr, scope: Scope, flow: Flow) -> Onward:
    """Arithmetic with another number of Python's: the tensor takes part in it, and is followed from there."""
    const = scope.value(other).const
    plain = const is not None and isinstance(parent.op, ast.Add | ast.Sub | ast.Mult)
    flow.compute(
        integral=plain and isinstance(const.value, int) and abs(const.value) <= 100,  # type: ignore[union-attr]
        exactly=plain and exact(const.value),  # type: ignore[union-attr]
        whole=isinstance(parent.op, ast.Add | ast.Sub | ast.Mult) and scope.value(other).dtype in ("int", "bool"),
        negates=isinstance(parent.op, ast.Mult) and not (plain and const.value >= 0),  # type: ignore[union-attr, operator]
    )
    if isinstance(parent.op, ast.Div) and not _nonzero(parent.right, scope):
        flow.refuse(
            f"`{snippet(parent)}` may divide by zero, which raises for numbers and not for tensors",
            "math-errors",
        )
    if isinstance(parent.op, ast.Pow):
        flow.refuse(
            f"`{snippet(parent)}` raises for numbers where it overflows, divides by zero or is not real, and not "
            "for tensors",
            "math-errors",
        )
    return (parent,)


def _beside_tensor(node: ast.expr, parent: ast.BinOp, other: ast.expr, scope: Scope, flow: Flow) -> None:
    """Arithmetic with a tensor, where the way of the number ends."""
    if not isinstance(parent.op, ast.Div) and meets_whole_numbers(node, other, scope, flow):
        subtracted(node, parent.op, scope, flow)
        return
    met(other, scope, flow)
    subtracted(node, parent.op, scope, flow)
    if isinstance(parent.op, ast.Add | ast.Mult) and parent.left is node:
        # `number * x` keeps the number's precision beside a half tensor, as `x * tensor` does and `tensor * x` does
        # not.
        if isinstance(parent.right, ast.Name | ast.Attribute):
            symbol = SYMBOLS[type(parent.op)]
            flow.rewrites.append(
                (parent, lambda render: f"{render.template.use(parent.right)} {symbol} {render(parent.left)}")
            )
            flow.plain.add(parent)  # a Python number gives the same on either side
        else:
            flow.refuse(
                f"`{snippet(parent)}` would round the number to the precision of a half tensor",
                "float32-rounding",
            )
    if isinstance(parent.op, ast.Div) and parent.left is node:
        flow.refuse(
            f"`{snippet(parent)}`: torch divides a number by a tensor through the reciprocal, which rounds otherwise",
            "float32-rounding",
        )


def _counts(read: Value, other: ast.expr, scope: Scope) -> bool:
    """Whether a number and a fixed one are integers: the rest of these is the same for tensors, also below zero."""
    fixed = scope.value(other)
    return read.dtype == "int" and fixed.is_(Kind.STATIC, Kind.SIZE) and fixed.dtype == "int"


def _reads_number(node: ast.expr, scope: Scope) -> bool:
    """Whether what is not known computes with numbers alone, one of them read from something: `x.sum().item() + 1`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
        sides = (node.left, node.right)
        known = [side for side in sides if scope.value(side).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)]
        return all(side in known or _reads_number(side, scope) for side in sides)
    method = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else None
    return isinstance(method, ast.Attribute) and method.attr == "item" and scope.value(node).is_unknown


def _nonzero(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.const is not None and isinstance(value.const.value, int | float) and value.const.value != 0


def function_of(node: ast.expr, call: ast.Call, scope: Scope, flow: Flow) -> Onward | None:
    """A function of Python's on the number: `max`, `min`, `abs`, `round`, `int`, `float`, and those of `math`."""
    name = scope.callee(call) or ""
    computes = name in ("min", "max", "abs", "round", "int", "float") or name.startswith("math.")
    if flow.boolean and computes and name.rpartition(".")[2] not in _ASKS:
        flow.compute()
    if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if name in ("min", "max") and len(call.args) == 2:
        return _extreme(node, call, name, scope, flow)
    if len(call.args) != 1:
        return None
    if name.removeprefix("math.").removeprefix("numpy.") in _ASKS and "." in name:
        statement = next((s for s in scope.ancestors(call) if isinstance(s, ast.stmt | ast.IfExp)), None)
        if not decides(call, scope) or not isinstance(statement, ast.If | ast.IfExp):
            flow.refuse(f"the result of `{snippet(call)}` is used as a Python bool")
        if scope.value(node).is_tensor and scope.value(node).leaves:
            reason = f"torch warns of `{snippet(node)}`, which may require a gradient, as a number"
            flow.refuse(reason, "number-to-tensor")
        asked = name.rpartition(".")[2]
        flow.rewrites.append((call, lambda render: f"{render(call.args[0])}.{asked}()"))
        return ()
    method = _METHODS.get(name) or _MATH.get(name.removeprefix("math.")) if name.startswith("math.") else None
    method = method or _METHODS.get(name) or _numpy_method(name, call, scope)
    if name == "float":
        if flow.read.dtype != "float":
            flow.compute()
        flow.rewrites.append((call, lambda render: render(call.args[0])))
    elif name == "int" and scope.value(node).dtype in ("int", "bool"):
        flow.rewrites.append((call, lambda render: render(call.args[0])))
    elif method is not None:
        if name != "abs" or flow.read.dtype != "float":
            flow.compute(whole=name == "abs")
        if name != "abs":
            flow.refuse(
                f"`{snippet(call)}` raises or warns for numbers outside its domain, NaN and infinities, and as a "
                "tensor its last bit of double precision may differ",
                "math-errors",
            )
        flow.rewrites.append((call, lambda render: f"{render(call.args[0])}.{method}()"))
    else:
        return None
    return (call,)


def _numpy_method(name: str, call: ast.Call, scope: Scope) -> str | None:
    """The method for a function of NumPy behind a tensor; before one, NumPy's number makes the result double."""
    parent = scope.parents.get(call)
    short = name.removeprefix("numpy.")
    behind = isinstance(parent, ast.BinOp) and parent.right is call and scope.value(parent.left).is_tensor
    return _MATH.get(short) if behind and name.startswith("numpy.") and short in _SAME_IN_NUMPY else None


def _extreme(node: ast.expr, call: ast.Call, name: str, scope: Scope, flow: Flow) -> Onward | None:
    """`max(number, constant)` and `min(number, constant)`.

    Python's `max(nan, 1.0)` is NaN as clamp's is, and `max(1.0, nan)` is 1.0: there NaN becomes the constant, unless
    the number is made of an integer in a way that never gives NaN.
    """
    other = call.args[1] if call.args[0] is node else call.args[0]
    value = scope.value(other)
    if not value.is_(Kind.STATIC, Kind.SIZE) or value.dtype not in ("int", "float"):
        return None
    whole = flow.read.dtype in ("int", "bool")
    constant_for_nan = call.args[1] is node and not (
        whole and (scope.value(node).dtype == "int" or never_nan(node, scope))
    )
    bound = "min" if name == "max" else "max"
    constant = value.const
    number = constant.value if constant is not None and isinstance(constant.value, int | float) else None
    if constant_for_nan and not scope.legality.effects.of(other, scope.facts).repeatable:
        flow.refuse(
            f"`{snippet(call)}` gives `{snippet(other)}` for NaN, which would be computed twice: give it a name"
        )
        return ()
    if constant_for_nan:
        # Two more arguments: infinities stay what they are.
        flow.rewrites.append(
            (
                call,
                lambda render: (
                    f"{render(node)}.clamp({bound}={render.template.use(other)})"
                    f'.nan_to_num({render.template.use(other)}, float("inf"), float("-inf"))'
                ),
            )
        )
        flow.compute(whole=value.dtype == "int")
        return (call,)
    if scope.value(node).dtype == "int" and isinstance(number, float) and number.is_integer() and abs(number) <= 2**53:
        # `max(n, 1.0)` of an integer: as one it takes the dtype of any floating tensor that it meets.
        flow.rewrites.append((call, lambda render: f"{render(node)}.clamp({bound}={int(number)})"))
        flow.compute(whole=True)
        return (call,)
    flow.rewrites.append(
        (call, lambda render: f"{render(node)}.clamp({bound}={render.template.use(other)})"),
    )
    if constant is None or not _holds(flow.read, constant.value) or value.dtype != flow.read.dtype:
        flow.compute(whole=value.dtype == "int")
    return (call,)


def _holds(read: Value, number: object) -> bool:
    """Whether the dtype of a tensor is sure to hold a number: `clamp` raises for 300 beside uint8."""
    narrow = read.dtype == "int" and read.dtype_id not in ("int16", "int32", "int64")
    return exact(number) and (not narrow or (isinstance(number, int) and 0 <= number <= 127))
