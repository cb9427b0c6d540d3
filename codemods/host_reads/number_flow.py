"""Where a number that was read from a tensor goes, and what has to change there for it to stay a tensor."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.regions import CompiledFunction
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.host_reads.number_sinks import Fill, fill_of, kept_in, tensor_beside
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Template, decides, exact
from compilefix.source.snippets import snippet

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_CLAMPS = frozenset({"clamp", "clip", "clamp_", "clamp_min", "clamp_max"})
_MATH = {name: name for name in ("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan")}
_MATH |= {"sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "asin", "acos": "acos", "atan": "atan"}
_MATH |= {"erf": "erf", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fabs": "abs"}
_MAX_CALLS = 3

Build = Callable[["Renderer"], str]


@dataclass
class Flow:
    """Where a number goes: the arithmetic on the way, the expressions to rewrite, and what stands in the way.

    operations: Python arithmetic on the way. integral: all of it adds, subtracts or multiplies by a small integer.
    beside: it meets tensors in arithmetic, where the precision of what was computed on the way shows.
    handed_out: it is returned or stored. read: what is known of the tensor.
    """

    read: Value
    operations: int = 0
    integral: bool = True
    exactly: bool = True
    beside: bool = False
    handed_out: bool = False
    rewrites: list[tuple[ast.expr, Build]] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    calls: int = 0

    def refuse(self, reason: str, assumption: str | None = None) -> None:
        """Note what stands in the way."""
        self.obstacles.append(Obstacle(reason, assumption))

    def compute(self, *, integral: bool = False, exactly: bool = False) -> None:
        """Note an operation on the number."""
        self.operations += 1
        self.integral = self.integral and integral
        self.exactly = self.exactly and exactly

    @property
    def keeps_dtype(self) -> bool:
        """Whether the arithmetic gives the same in the tensor's own dtype.

        One operation with a constant that the dtype holds, rounded once, is what Python's double precision gives when
        it is rounded to that dtype; with integers it is exact.
        """
        small = self.integral or (self.exactly and self.read.dtype == "float")
        return self.operations == 1 and small and not self.beside and self.read.dtype != "bool"


class Renderer:
    """Code for an expression in which some nodes have new code."""

    def __init__(self, template: Template, codes: Mapping[ast.AST, str]) -> None:
        self.template = template
        self.codes = codes

    def __call__(self, node: ast.expr) -> str:
        """The code, as an operand."""
        if node in self.codes:
            return self.codes[node]
        if any(n in self.codes for n in ast.walk(node)):
            if isinstance(node, ast.BinOp):
                symbol = _SYMBOLS[type(node.op)]
                return f"({self(node.left)} {symbol} {self(node.right)})"
            if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
                return f"(-{self(node.operand)})"
        return self.template.use(node, operand=True)


_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Pow: "**",
}


def follow(node: ast.expr, scope: Scope, flow: Flow) -> None:
    """Follow a number from where it is read or computed to every place where it meets a tensor."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        target = parent.targets[0]
        if isinstance(target, ast.Name):
            _follow_name(target.id, scope, flow)
            return
    if decides(node, scope):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number decides `{snippet(parent)}`")
    elif isinstance(parent, ast.Compare):
        _compare(node, parent, scope, flow)
    elif isinstance(parent, ast.BinOp):
        _binary(node, parent, scope, flow)
    elif isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):
        if flow.read.dtype in (None, "int", "bool"):
            flow.compute()  # `-t` wraps round for unsigned integers
        follow(parent, scope, flow)
    elif isinstance(parent, ast.AugAssign) and parent.value is node and isinstance(parent.op, _ARITHMETIC):
        met(parent.target, scope, flow)
    elif (filled := fill_of(node, scope)) is not None:
        _fill(filled, scope, flow)
    elif (beside := tensor_beside(node, scope)) is not None:
        met(beside, scope, flow)
    elif isinstance(parent, ast.Call) and node in parent.args and _function(node, parent, scope, flow):
        pass
    elif (clamp := _clamp(node, scope)) is not None:
        _bound(*clamp, scope, flow)
    elif isinstance(parent, ast.Call | ast.keyword) and _passed(node, scope, flow):
        pass
    elif _in_log(node, scope):
        flow.refuse("the number is only printed or logged: it goes where the line goes (see the finding for that call)")
    elif (place := kept_in(node, scope)) is not None:
        flow.handed_out = True
        flow.refuse(*place)
    else:
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")


def _follow_name(name: str, scope: Scope, flow: Flow, *, parameter: bool = False) -> None:
    loads = scope.names(name)
    everywhere = [
        n for n in scope.function.nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    if (not loads and not parameter) or len(everywhere) != len(loads):
        flow.refuse(f"`{name}` is not used, or is used in a nested function")
        return
    if len(scope.names(name, stores=True)) != (0 if parameter else 1):
        flow.refuse(f"`{name}` is assigned in several places")
        return
    for load in loads:
        follow(load, scope, flow)


def met(other: ast.expr, scope: Scope, flow: Flow) -> None:
    """The number meets what should be a tensor: does the result keep its dtype?"""
    flow.beside = True
    _same_dtype(other, scope, flow)


def _same_dtype(other: ast.expr, scope: Scope, flow: Flow) -> None:
    value = scope.value(other)
    if not value.is_tensor or not value.certain:
        flow.refuse(f"`{snippet(other)}` is not proved to be a tensor")
    elif value.dtype in ("int", "bool"):
        flow.refuse(
            f"`{snippet(other)}` is of an integer dtype: the result's dtype would follow the tensor that was read"
        )
    elif value.dtype != "float" or not value.dimensioned or flow.read.dtype in (None, "complex"):
        flow.refuse(
            f"`{snippet(other)}` is not proved to be a floating tensor with "
            f"dimensions: the result's dtype could change",
            "number-to-tensor",
        )


def _compare(node: ast.expr, parent: ast.Compare, scope: Scope, flow: Flow) -> None:
    if len(parent.ops) != 1 or isinstance(parent.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
        none = isinstance(parent.comparators[0], ast.Constant) and parent.comparators[0].value is None
        if not (none and isinstance(parent.ops[0], ast.Is | ast.IsNot)):
            flow.refuse(
                f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`"
            )
        return
    other = parent.comparators[0] if parent.left is node else parent.left
    if not scope.value(other).may_be(Kind.TENSOR):
        flow.refuse(f"the result of `{snippet(parent)}` is used as a Python bool")
        return
    # A comparison takes place in the dtype of the tensor that has dimensions.
    same = scope.value(other).dtype_id is not None and scope.value(other).dtype_id == flow.read.dtype_id
    unknown = scope.value(other).dtype is None and flow.read.dtype is None
    if same or unknown:
        _same_dtype(other, scope, flow)
    else:
        met(other, scope, flow)


def _binary(node: ast.expr, parent: ast.BinOp, scope: Scope, flow: Flow) -> None:
    other = parent.right if parent.left is node else parent.left
    numbers = scope.value(other).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)
    if numbers and isinstance(parent.op, (*_ARITHMETIC, ast.Pow)):
        const = scope.value(other).const
        plain = const is not None and isinstance(parent.op, ast.Add | ast.Sub | ast.Mult)
        flow.compute(
            integral=plain and isinstance(const.value, int) and abs(const.value) <= 100,  # type: ignore[union-attr]
            exactly=plain and exact(const.value),  # type: ignore[union-attr]
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
        follow(parent, scope, flow)
        return
    if not isinstance(parent.op, _ARITHMETIC):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")
        return
    met(other, scope, flow)
    if isinstance(parent.op, ast.Add | ast.Mult) and parent.left is node:
        # `number * x` keeps the number's precision beside a half tensor, as `x * tensor` does and `tensor * x` does
        # not.
        if isinstance(parent.right, ast.Name | ast.Attribute):
            symbol = _SYMBOLS[type(parent.op)]
            flow.rewrites.append(
                (parent, lambda render: f"{render.template.use(parent.right)} {symbol} {render(parent.left)}")
            )
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


def _nonzero(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.const is not None and isinstance(value.const.value, int | float) and value.const.value != 0


def _function(node: ast.expr, call: ast.Call, scope: Scope, flow: Flow) -> bool:
    """A function of Python's on the number: `max`, `min`, `abs`, `round`, `int`, `float`, and those of `math`."""
    name = scope.callee(call) or ""
    if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    if name in ("min", "max") and len(call.args) == 2:
        return _extreme(node, call, name, scope, flow)
    if len(call.args) != 1:
        return False
    method = _METHODS.get(name) or _MATH.get(name.removeprefix("math.")) if name.startswith("math.") else None
    method = method or _METHODS.get(name)
    if name == "float":
        if flow.read.dtype != "float":
            flow.compute()
        flow.rewrites.append((call, lambda render: render(call.args[0])))
    elif name == "int" and scope.value(node).dtype in ("int", "bool"):
        flow.rewrites.append((call, lambda render: render(call.args[0])))
    elif method is not None:
        if name != "abs" or flow.read.dtype != "float":
            flow.compute()
        if name != "abs":
            flow.refuse(
                f"`{snippet(call)}` raises for numbers outside its domain, NaN and infinities, and as a tensor "
                "its last bit of double precision may differ",
                "math-errors",
            )
        flow.rewrites.append((call, lambda render: f"{render(call.args[0])}.{method}()"))
    else:
        return False
    follow(call, scope, flow)
    return True


_METHODS = {"abs": "abs", "round": "round", "int": "trunc"}


def _extreme(node: ast.expr, call: ast.Call, name: str, scope: Scope, flow: Flow) -> bool:
    """`max(number, constant)` and `min(number, constant)`.

    Python's `max(nan, 1.0)` is NaN as clamp's is, and `max(1.0, nan)` is 1.0: there the number must be an integer.
    """
    other = call.args[1] if call.args[0] is node else call.args[0]
    value = scope.value(other)
    if not value.is_(Kind.STATIC, Kind.SIZE) or value.dtype not in ("int", "float"):
        return False
    if call.args[1] is node and (flow.read.dtype not in ("int", "bool") or scope.value(node).dtype not in ("int",)):
        flow.refuse(f"`{snippet(call)}` gives the constant for NaN, and `clamp` gives NaN")
        return True
    bound = "min" if name == "max" else "max"
    flow.rewrites.append(
        (call, lambda render: f"{render(node)}.clamp({bound}={render.template.use(other)})"),
    )
    constant = value.const
    if constant is None or not exact(constant.value) or value.dtype != flow.read.dtype:
        flow.compute()
    follow(call, scope, flow)
    return True


def _fill(filled: Fill, scope: Scope, flow: Flow) -> None:
    """A value that a tensor is filled with takes that tensor's dtype."""
    value = scope.value(filled.target)
    same = value.dtype_id is not None and value.dtype_id == flow.read.dtype_id
    if not value.is_tensor or not value.certain:
        flow.refuse(f"`{snippet(filled.target)}` is not proved to be a tensor")
    if flow.read.dtype == "complex" or value.dtype == "complex":
        flow.refuse(f"`{snippet(filled.call)}` fills with a complex number")
    if not same:
        flow.beside = flow.beside or (value.dtype is not None and flow.read.dtype is not None)
        flow.refuse(
            f"a number that `{snippet(filled.target)}`'s dtype does not hold may raise, and as a tensor it does not",
            "math-errors",
        )
    elif flow.operations or value.dtype != "float":
        flow.refuse(
            f"`{snippet(filled.call)}` raises for a number that the dtype does not hold, and as a tensor it does not",
            "math-errors",
        )
    if filled.build is not None and isinstance(filled.call, ast.expr):
        build = filled.build
        flow.rewrites.append((filled.call, lambda render: build(render.template.use, render, same)))


def _clamp(node: ast.expr, scope: Scope) -> tuple[ast.Call, ast.expr] | None:
    """The clamp call that a number is a bound of, and the tensor that is clamped."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return None
    name = scope.callee(call) or ""
    bare = name.removeprefix("Tensor.").removeprefix("torch.")
    function = name.startswith("torch.")
    if bare not in _CLAMPS or (
        not isinstance(parent, ast.keyword) and (len(call.args) > (2 if function else 1) or call.keywords)
    ):
        return None
    if function:
        return (call, call.args[0]) if call.args and call.args[0] is not node else None
    return (call, call.func.value) if isinstance(call.func, ast.Attribute) else None


def _bound(call: ast.Call, tensor: ast.expr, scope: Scope, flow: Flow) -> None:
    bounds = [k for k in call.keywords if k.arg in ("min", "max")]
    if len(bounds) > 1 and call not in [node for node, _ in flow.rewrites]:
        method = "clamp_" if isinstance(call.func, ast.Attribute) and call.func.attr == "clamp_" else "clamp"
        ordered = sorted(bounds, key=lambda k: k.arg != "min")

        def build(render: Renderer) -> str:
            chained = "".join(f".{method}({k.arg}={render(k.value)})" for k in ordered)
            return render.template.use(tensor, operand=True) + chained

        flow.rewrites.append((call, build))
    if scope.value(tensor).dtype_id is None or scope.value(tensor).dtype_id != flow.read.dtype_id:
        flow.refuse(
            f"a bound that does not fit the dtype of `{snippet(tensor)}` raises as a number and not as a tensor",
            "number-to-tensor",
        )
    met(tensor, scope, flow)


def _passed(node: ast.expr, scope: Scope, flow: Flow) -> bool:
    """The number is an argument of a function of the project: its uses there must take a tensor as well."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return False
    callee = scope.facts.calls.get(call)
    if callee is None or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    parameters = callee.parameters[0 if callee.cls is None or callee.is_static else 1 :]
    if isinstance(parent, ast.keyword):
        name = parent.arg
    else:
        position = call.args.index(node)
        name = parameters[position].arg if position < len(parameters) else None
    if name is None or name not in {p.arg for p in callee.parameters} or callee is scope.function:
        return False
    if flow.calls >= _MAX_CALLS:
        flow.refuse(f"`{snippet(call)}` passes the number on through many functions")
        return True
    facts = scope.legality.inference.facts(callee)
    inner = Scope(CompiledFunction(callee, facts, (*scope.compiled.reached_by, callee.qualname)), scope.legality, "")
    before = list(flow.rewrites)
    flow.calls += 1
    _follow_name(name, inner, flow, parameter=True)
    added = [node for node, _ in flow.rewrites[len(before) :]]
    if added and (callee.module.file.path != scope.file.path or not all(_takes_both(n, inner) for n in added)):
        flow.refuse(f"`{callee.qualname}` would have to change, and others may call it with a Python number")
    return True


def _takes_both(node: ast.expr, scope: Scope) -> bool:
    """Whether what a call in another function becomes takes numbers as well: other callers may pass them."""
    name = scope.callee(node) or ""
    return name == "Tensor.new_full"


def _in_log(node: ast.AST, scope: Scope) -> bool:
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.stmt):
            return False
        name = scope.callee(parent) or ""
        if name == "print" or name.startswith(("logging.", "warnings.")):
            return True
    return False
