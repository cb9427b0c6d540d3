"""CF401: NumPy on Python numbers and shapes.

## What it does
Finds `np.sqrt`, `np.ceil`, `np.prod` and the like on shape integers and Python numbers, and computes the same with
`math` and Python's own functions.

## Why is this bad
Dynamo traces NumPy as tensor operations. A result of an integer type that is used as a Python integer
(`int(np.prod(s))`), and one that decides a branch, is then a value read from a tensor: the graph breaks (GB0033,
GB0170). A shape that goes through NumPy loses its symbol, so that the code is compiled again for every new size; the
same in `math` is compiled twice. NumPy on constants that is only used beside tensors costs nothing and is not
reported, and neither are `log`, `log10` and `exp` of a shape, which are compiled for every size with `math` as well.

## Example
```python
rows = int(np.ceil(x.shape[2] / self.stride))
features = x.reshape(x.shape[0], int(np.prod(x.shape[1:])))
```

## Use instead
```python
rows = math.ceil(x.shape[2] / self.stride)
features = x.reshape(x.shape[0], math.prod(x.shape[1:]))
```

## Fix safety
A NumPy number acts as the Python number does beside a tensor: same dtype, same values. `sqrt`, `ceil`, `floor`,
`prod` and the functions on integers give the same bits; `exp`, `log` and the trigonometric functions agree up to the
last bit of double precision, and are declined where an integer or a branch is made of them (`log2` and `log10` of an
integer were compared for all integers up to 2 million, and are not). NumPy gives NaN or inf where `math` raises: the
argument must be proved to be in the domain, else the fix needs `math-errors`. Where the result leaves the arithmetic
of the function, or an argument is not proved to be a Python number, it needs `static-shape-values`. `np.array` of a
shape is declined.

Graph breaks: GB0033, GB0170. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Effect, Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import Template
from compilefix.source.snippets import snippet

Result = Literal["float", "whole", "same"]
Domain = Literal["all", "nonnegative", "positive", "bounded"]
Origin = Literal["size", "constant", "assumed"]

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_DTYPE_FROM_VALUE = frozenset(
    {"torch.tensor", "torch.as_tensor", "torch.asarray", "torch.scalar_tensor", "Tensor.new_tensor"}
)
_ARRAYS = frozenset({"numpy.array", "numpy.asarray"})
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True)
class Function:
    """What stands for a NumPy function.

    python: the code, with `{m}` for the math module and `{0}`, `{1}` for the arguments.
    result: "float"; "whole", a whole number whose type follows NumPy's version; "same", the type of the arguments.
    exact: the result has the same bits.
    symbolic: Dynamo keeps a shape symbolic through the Python function, so that it helps against recompiles.
    """

    python: str
    result: Result
    domain: Domain = "all"
    exact: bool = True
    symbolic: bool = True
    arity: int = 1
    sequence: bool = False


FUNCTIONS: Mapping[str, Function] = {
    "sqrt": Function("{m}.sqrt({0})", "float", "nonnegative"),
    "log": Function("{m}.log({0})", "float", "positive", exact=False, symbolic=False),
    "log2": Function("{m}.log2({0})", "float", "positive", exact=False),
    "log10": Function("{m}.log10({0})", "float", "positive", exact=False, symbolic=False),
    "log1p": Function("{m}.log1p({0})", "float", "nonnegative", exact=False, symbolic=False),
    "exp": Function("{m}.exp({0})", "float", "bounded", exact=False, symbolic=False),
    "sin": Function("{m}.sin({0})", "float", exact=False),
    "cos": Function("{m}.cos({0})", "float", exact=False),
    "tan": Function("{m}.tan({0})", "float", exact=False),
    "tanh": Function("{m}.tanh({0})", "float", exact=False),
    "ceil": Function("{m}.ceil({0})", "whole"),
    "floor": Function("{m}.floor({0})", "whole"),
    "trunc": Function("{m}.trunc({0})", "whole"),
    "rint": Function("round({0})", "whole"),
    "round": Function("round({0})", "whole"),
    "prod": Function("{m}.prod({0})", "same", sequence=True),
    "sum": Function("sum({0})", "same", sequence=True),
    "max": Function("max({0})", "same", sequence=True),
    "amax": Function("max({0})", "same", sequence=True),
    "min": Function("min({0})", "same", sequence=True),
    "amin": Function("min({0})", "same", sequence=True),
    "abs": Function("abs({0})", "same"),
    "absolute": Function("abs({0})", "same"),
    "maximum": Function("max({0}, {1})", "same", arity=2),
    "minimum": Function("min({0}, {1})", "same", arity=2),
}
"""NumPy functions of Python numbers, measured against `math` in tests/codemods/test_numpy_calls.py."""


@dataclass
class _Use:
    """What becomes of a NumPy number."""

    integer: bool = False
    truth: bool = False
    obstacles: list[Obstacle] = field(default_factory=list)
    followed: set[str] = field(default_factory=set)

    def refuse(self, reason: str, assumption: str | None = None) -> None:
        self.obstacles.append(Obstacle(reason, assumption))


class NumpyStatic(Rule):
    """NumPy on Python numbers and shapes."""

    code = "CF401"
    name = "numpy-static"
    summary = "NumPy on Python numbers and shapes"
    gb = ("GB0033", "GB0170")
    assumptions = ("math-errors", "static-shape-values")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """NumPy calls on what is no tensor, where they break the graph or bind it to one size."""
        if "numpy" not in scope.file.text:
            return
        for node in scope.nodes:
            name = scope.callee(node) or "" if isinstance(node, ast.Call) else ""
            if not isinstance(node, ast.Call) or not name.startswith("numpy."):
                continue
            if name in _ARRAYS:
                yield from self._array(node, scope)
            elif name.removeprefix("numpy.") in FUNCTIONS:
                yield from self._judge(node, FUNCTIONS[name.removeprefix("numpy.")], scope)

    def _array(self, node: ast.Call, scope: Scope) -> Iterator[Finding]:
        if len(node.args) >= 1 and _sequence_origin(node.args[0], scope) == "size":
            message = f"`{snippet(node)}` makes an array of a shape: the code is compiled again for every size"
            reason = "an ndarray of shape integers: compute with the integers one by one"
            yield self.declined(scope, node, message, reason, effect="recompile", gb=())

    def _judge(self, node: ast.Call, function: Function, scope: Scope) -> Iterator[Finding]:
        origins = _origins(node, function, scope)
        if not origins or not _outermost(node, scope):
            return
        use = _Use()
        integral = _integral(node, function, scope)
        _follow(node, scope, use, integral)
        breaks = use.truth or (use.integer and integral)
        if not breaks and ("size" not in origins or not function.symbolic):
            return
        effect: Effect = "break" if breaks else "recompile"
        gb = () if not breaks else ("GB0170",) if use.truth else ("GB0033",)
        if breaks:
            message = (
                f"`{snippet(node)}` is traced as a tensor, and its value is needed while tracing: the graph breaks"
            )
        else:
            message = f"`{snippet(node)}` binds the graph to one size: the code is compiled again for every other"
        template = Template()
        template.refuse(use.obstacles)
        target, code = _rewritten(node, function, scope, template, use)
        if template.broken is not None:
            yield self.declined(scope, node, message, template.broken, effect=effect, gb=gb)
            return
        uses_math = f"{_math(scope)}." in code
        imports = ("math",) if uses_math and scope.local_name("math") is None else ()
        edit = scope.edit(target, code, **template.parts)
        yield self.fixed(
            scope, node, message, Fix((edit,), imports, template.assumptions, template.reasons), effect=effect, gb=gb
        )


def _math(scope: Scope) -> str:
    return scope.local_name("math") or "math"


def _function(node: ast.AST, scope: Scope) -> Function | None:
    """The table's entry for a call that this rule rewrites."""
    if not isinstance(node, ast.Call):
        return None
    name = scope.callee(node) or ""
    function = FUNCTIONS.get(name.removeprefix("numpy.")) if name.startswith("numpy.") else None
    return function if function is not None and _origins(node, function, scope) else None


def _outermost(node: ast.Call, scope: Scope) -> bool:
    """Whether the call stands in no other NumPy call of its kind: an argument is rewritten with what it stands in."""
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.stmt):
            return True
        if _function(parent, scope) is not None:
            return False
    return True


def _origins(node: ast.Call, function: Function, scope: Scope) -> frozenset[Origin]:
    """Where the arguments come from; empty where one is not, or may not be, a Python number."""
    if len(node.args) != function.arity or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return frozenset()
    found: set[Origin] = set()
    for argument in node.args:
        origin = _sequence_origin(argument, scope) if function.sequence else _origin(argument, scope)
        if origin is None:
            return frozenset()
        found.add(origin)
    # Of mixed numbers NumPy makes floats, and Python keeps the one that it selects.
    if function.arity > 1 and any(scope.value(a).dtype != "int" for a in node.args):
        return frozenset()
    return frozenset(found)


def _origin(node: ast.expr, scope: Scope) -> Origin | None:
    value = scope.value(node)
    if isinstance(node, ast.BinOp):
        return _joined(_origin(node.left, scope), _origin(node.right, scope))
    if isinstance(node, ast.UnaryOp):
        return _origin(node.operand, scope)
    if isinstance(node, ast.Call):
        function = _function(node, scope)
        if function is not None:
            origins = _origins(node, function, scope)
            return "assumed" if "assumed" in origins else "size" if "size" in origins else "constant"
        if (scope.callee(node) or "").startswith("numpy."):
            return None
    if value.is_(Kind.SIZE):
        return "size"
    if (value.is_(Kind.STATIC) and value.dtype in ("bool", "int", "float")) or value.ref in ("numpy.pi", "math.pi"):
        return "constant"
    if value.is_unknown and isinstance(node, ast.Attribute | ast.Name):
        return "assumed"
    return None


def _joined(left: Origin | None, right: Origin | None) -> Origin | None:
    if left is None or right is None:
        return None
    order: tuple[Origin, ...] = ("assumed", "size", "constant")
    return next(o for o in order if o in (left, right))


def _sequence_origin(node: ast.expr, scope: Scope) -> Origin | None:
    value = scope.value(node)
    if isinstance(node, ast.Tuple | ast.List):
        result: Origin | None = "constant"
        for item in node.elts:
            integer = not isinstance(item, ast.Starred) and scope.value(item).dtype == "int"
            result = _joined(result, _origin(item, scope) if integer else None)
        return result if node.elts else None
    if value.is_(Kind.CONTAINER) and value.element is not None and value.ref != "dict":
        if value.element.is_(Kind.SIZE):
            return "size"
        return "constant" if value.element.is_(Kind.STATIC) and value.element.dtype == "int" else None
    return "assumed" if value.is_unknown and isinstance(node, ast.Attribute | ast.Name) else None


def _integral(node: ast.Call, function: Function, scope: Scope) -> bool:
    """Whether NumPy gives a number of an integer type."""
    if function.result == "float":
        return False
    for argument in node.args:
        value = scope.value(argument)
        inner = _function(argument, scope)
        if inner is not None:
            assert isinstance(argument, ast.Call)
            if not _integral(argument, inner, scope):
                return False
        elif function.sequence:
            if value.element is not None and value.element.dtype not in ("int", "bool"):
                return False
        elif value.dtype not in ("int", "bool"):
            return False
    return True


def _follow(node: ast.expr, scope: Scope, use: _Use, integral: bool) -> None:
    """Follow the number to every place where it is used."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, _ARITHMETIC):
        other = parent.right if parent.left is node else parent.left
        if scope.value(other).is_tensor and scope.value(other).certain:
            return
        if _origin(other, scope) in (None, "assumed"):
            use.refuse(f"`{snippet(other)}` is not proved to be a Python number or a tensor", "static-shape-values")
        _division(parent, scope, use)
        _follow(parent, scope, use, integral)
    elif isinstance(parent, ast.UnaryOp) and not isinstance(parent.op, ast.Not):
        _follow(parent, scope, use, integral)
    elif isinstance(parent, ast.Compare) and all(
        _origin(o, scope) for o in (parent.left, *parent.comparators) if o is not node
    ):
        if _in_test(parent, scope):
            use.truth = True
        else:
            use.refuse(f"the result of `{snippet(parent)}` is used as a NumPy bool", "static-shape-values")
    elif (isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is node) or isinstance(
        parent, ast.BoolOp | ast.UnaryOp
    ):
        use.truth = True
    elif isinstance(parent, ast.Slice) or (isinstance(parent, ast.Subscript) and parent.slice is node):
        use.integer = True
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        _follow_name(parent.targets[0].id, scope, use, integral)
    elif isinstance(parent, ast.AugAssign) and parent.value is node and scope.value(parent.target).is_tensor:
        return
    elif isinstance(parent, ast.Attribute) and parent.attr in ("astype", "item"):
        use.integer = True
        if parent.attr == "astype" and _cast(node, scope) is None:
            use.refuse(f"`{snippet(scope.parents.get(parent))}` needs a NumPy number")
    elif isinstance(parent, ast.Tuple | ast.List) and isinstance(scope.parents.get(parent), ast.Call):
        _argument(scope.parents[parent], scope, use, integral)
    elif (isinstance(parent, ast.Call) and node in parent.args) or isinstance(parent, ast.keyword):
        call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        _argument(call, scope, use, integral)
    else:
        use.refuse(f"the number leaves the arithmetic of this function in `{snippet(parent)}`", "static-shape-values")


def _argument(call: ast.AST | None, scope: Scope, use: _Use, integral: bool) -> None:
    name = (scope.callee(call) or "") if isinstance(call, ast.Call) else ""
    assert isinstance(call, ast.Call)
    if name in ("int", "round", "range"):
        use.integer = True
    elif name == "float" or name.startswith("math."):
        use.integer = use.integer or integral
    elif name in ("min", "max", "abs"):
        _follow(call, scope, use, integral)
    elif name in _DTYPE_FROM_VALUE and not any(k.arg == "dtype" for k in call.keywords):
        use.refuse(f"`{snippet(call)}` takes its dtype from the NumPy number")
    elif name.startswith(("Tensor.", "torch.")):
        use.integer = use.integer or integral
    else:
        use.refuse(f"the number is passed on in `{snippet(call)}`", "static-shape-values")


def _follow_name(name: str, scope: Scope, use: _Use, integral: bool) -> None:
    if name in use.followed:
        return
    use.followed.add(name)
    loads = scope.names(name)
    everywhere = [
        n
        for n in ast.walk(scope.function.node)
        if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    if len(everywhere) != len(loads) or len(scope.names(name, stores=True)) != 1:
        use.refuse(f"`{name}` is assigned in several places or used in a nested function", "static-shape-values")
    for load in loads:
        _follow(load, scope, use, integral)


def _division(node: ast.BinOp, scope: Scope, use: _Use) -> None:
    """Numbers raise where NumPy numbers give inf: a division by zero, a power that overflows."""
    if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod) and _sign(node.right, scope) != "positive":
        use.refuse(f"`{snippet(node.right)}` may be zero: Python raises where NumPy gives inf", "math-errors")
    elif isinstance(node.op, ast.Pow):
        use.refuse(f"`{snippet(node)}` may overflow: Python raises where NumPy gives inf", "math-errors")


def _in_test(node: ast.AST, scope: Scope) -> bool:
    child = node
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.If | ast.While | ast.IfExp):
            return parent.test is child
        if not isinstance(parent, ast.BoolOp | ast.UnaryOp):
            return False
        child = parent
    return False


def _cast(node: ast.expr, scope: Scope) -> ast.Call | None:
    """The call that makes a Python integer of the number right where it is computed."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Call) and scope.callee(parent) == "int" and parent.args == [node] and not parent.keywords:
        return parent
    if isinstance(parent, ast.Attribute) and parent.attr == "astype":
        call = scope.parents.get(parent)
        if (
            isinstance(call, ast.Call)
            and call.func is parent
            and len(call.args) == 1
            and ast.unparse(call.args[0]) in ("int", "np.int64", "numpy.int64")
        ):
            return call
    return None


def _rewritten(node: ast.Call, function: Function, scope: Scope, template: Template, use: _Use) -> tuple[ast.expr, str]:
    """The node to replace, and the code for it."""
    cast = _cast(node, scope)
    if (use.integer or use.truth) and not _stable(node, function, scope):
        template.refuse(
            [Obstacle(f"`{snippet(node)}` may differ in the last bit, and an integer or a branch is made of it")]
        )
    if any(isinstance(n, ast.Name) and n.id == _math(scope) and isinstance(n.ctx, ast.Store) for n in scope.nodes):
        template.refuse([Obstacle(f"`{_math(scope)}` is the name of a local variable here")])
    code = _code(node, scope, template)
    if cast is None:
        parent = scope.parents.get(node)
        if (
            isinstance(parent, ast.Attribute)
            and parent.attr == "item"
            and isinstance(call := scope.parents.get(parent), ast.Call)
        ):
            return call, code if function.result != "whole" else _typed(node, function, code, scope, template)
        return node, _typed(node, function, code, scope, template)
    if function.result == "float" or (function.result == "same" and not _integral(node, function, scope)):
        return cast, f"int({code})"
    if function.sequence and _may_be_empty(node.args[0], scope) and function.python.startswith(("max", "min")):
        template.refuse([Obstacle("the sequence may be empty: the error has another text", "math-errors")])
    return cast, code


def _typed(node: ast.Call, function: Function, code: str, scope: Scope, template: Template) -> str:
    """Code for a number of the type that NumPy gives, where nothing else fixes the type."""
    if function.result == "whole":
        value = scope.value(node.args[0])
        if value.dtype == "float" or (isinstance(node.args[0], ast.BinOp) and isinstance(node.args[0].op, ast.Div)):
            return f"float({code})"
        template.refuse(
            [
                Obstacle(
                    f"`{snippet(node)}` is a float in some releases of NumPy and an integer in others",
                    "static-shape-values",
                )
            ]
        )
    elif function.sequence and function.python.startswith(("{m}", "sum")) and _may_be_empty(node.args[0], scope):
        template.refuse(
            [Obstacle(f"`{snippet(node.args[0])}` may be empty, and NumPy then gives a float", "static-shape-values")]
        )
    return code


def _may_be_empty(node: ast.expr, scope: Scope) -> bool:
    return not scope.value(node).elements


def _code(node: ast.Call, scope: Scope, template: Template) -> str:
    """The call in Python; NumPy calls among its arguments with it."""
    function = _function(node, scope)
    assert function is not None
    parts = []
    for argument in node.args:
        _domain(argument, function, scope, template)
        parts.append(_expression(argument, scope, template))
    return function.python.format(*parts, m=_math(scope))


def _expression(node: ast.expr, scope: Scope, template: Template, *, operand: bool = False) -> str:
    if isinstance(node, ast.Tuple) and node.elts:
        # Written out: the parentheses of a tuple are no part of its place in the file.
        items = ", ".join(_expression(item, scope, template) for item in node.elts)
        return f"({items},)" if len(node.elts) == 1 else f"({items})"
    if not any(_function(n, scope) for n in ast.walk(node)):
        return template.use(node, operand=operand)
    if isinstance(node, ast.Call) and (function := _function(node, scope)) is not None:
        return _typed(node, function, _code(node, scope, template), scope, template)
    if isinstance(node, ast.BinOp) and type(node.op) in _SYMBOLS:
        use = _Use()
        _division(node, scope, use)
        template.refuse(use.obstacles)
        left = _expression(node.left, scope, template, operand=True)
        right = _expression(node.right, scope, template, operand=True)
        code = f"{left} {_SYMBOLS[type(node.op)]} {right}"
        return f"({code})" if operand else code
    template.refuse([Obstacle(f"`{snippet(node)}` is not rewritten")])
    return template.use(node)


_SYMBOLS: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
}


def _domain(argument: ast.expr, function: Function, scope: Scope, template: Template) -> None:
    """Note where NumPy would give NaN or inf and Python would raise, and where nothing is proved at all."""
    origin = _sequence_origin(argument, scope) if function.sequence else _origin(argument, scope)
    if origin == "assumed":
        template.refuse(
            [Obstacle(f"`{snippet(argument)}` is not proved to hold Python numbers", "static-shape-values")]
        )
    sign = None if function.sequence else _sign(argument, scope)
    if function.domain == "bounded":
        const = scope.value(argument).const
        fits = const is not None and isinstance(const.value, int | float) and const.value < _LARGEST_EXPONENT
    else:
        fits = (
            function.domain == "all"
            or sign == "positive"
            or (function.domain == "nonnegative" and sign == "nonnegative")
        )
    if not fits:
        template.refuse(
            [
                Obstacle(
                    f"`{snippet(argument)}` may be outside the domain: Python raises where NumPy gives NaN or inf",
                    "math-errors",
                )
            ]
        )


def _sign(node: ast.expr, scope: Scope, depth: int = 0) -> Literal["positive", "nonnegative"] | None:
    """What is proved of a number's sign."""
    const = scope.value(node).const
    if const is not None and isinstance(const.value, int | float):
        return "positive" if const.value > 0 else "nonnegative" if const.value == 0 else None
    if depth > 8:
        return None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult | ast.Div | ast.FloorDiv):
        left, right = _sign(node.left, scope, depth + 1), _sign(node.right, scope, depth + 1)
        if left is None or right is None:
            return None
        any_positive, both_positive = "positive" in (left, right), left == right == "positive"
        positive = (
            any_positive if isinstance(node.op, ast.Add) else both_positive and not isinstance(node.op, ast.FloorDiv)
        )
        return "positive" if positive else "nonnegative"
    if isinstance(node, ast.Name):
        stores = scope.names(node.id, stores=True)
        if len(stores) != 1 or not scope.value(node).is_(Kind.SIZE):
            return None
        parent = scope.parents.get(stores[0])
        if isinstance(parent, ast.Assign) and parent.targets == [stores[0]]:
            return _sign(parent.value, scope, depth + 1)
        assign = scope.parents.get(parent) if isinstance(parent, ast.Tuple | ast.List) else None
        return "nonnegative" if isinstance(assign, ast.Assign) and _is_shape(assign.value, scope) else None
    if isinstance(node, ast.Subscript):
        return "nonnegative" if _is_shape(node.value, scope) and not isinstance(node.slice, ast.Slice) else None
    if isinstance(node, ast.Call):
        name = scope.callee(node) or ""
        measures = name.rpartition(".")[2] in ("size", "numel", "dim") and name.startswith("Tensor.")
        return "nonnegative" if (name == "len" or measures) and scope.value(node).is_(Kind.SIZE) else None
    return None


def _is_shape(node: ast.expr, scope: Scope) -> bool:
    return scope.value(node).ref == "torch.Size"


def _stable(node: ast.Call, function: Function, scope: Scope) -> bool:
    """Whether an integer or a branch made of the number is the same in Python as in NumPy."""
    inner = [f for n in ast.walk(node) if n is not node and (f := _function(n, scope)) is not None]
    if not all(f.exact for f in inner):
        return False
    if function.exact:
        return True
    logarithm = function.python.startswith(("{m}.log2", "{m}.log10"))
    return logarithm and scope.value(node.args[0]).dtype == "int" and scope.parents.get(node) is _cast(node, scope)
