"""What becomes of a NumPy number: every place where it is used, and which of them need its value while tracing."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.numpy_calls.number_origins import origin_of
from compilefix.codemods.numpy_calls.number_signs import sign_of
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow)
_DTYPE_FROM_VALUE = frozenset(
    {"torch.tensor", "torch.as_tensor", "torch.asarray", "torch.scalar_tensor", "Tensor.new_tensor"}
)


@dataclass
class Use:
    """What becomes of a NumPy number, or `boolean`. `place` is the first use under a name that needs its value."""

    boolean: bool = False
    place: ast.expr | None = None
    integer: bool = False
    truth: bool = False
    read: bool = False
    obstacles: list[Obstacle] = field(default_factory=list)
    followed: set[str] = field(default_factory=set)

    def refuse(self, reason: str, assumption: str | None = None) -> None:
        """Note what stands in the way."""
        self.obstacles.append(Obstacle(reason, assumption))


def follow(node: ast.expr, scope: Scope, use: Use, integral: bool) -> None:
    """Follow the number to every place where it is used."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, _ARITHMETIC):
        other = parent.right if parent.left is node else parent.left
        if scope.value(other).is_tensor and scope.value(other).certain:
            _takes_as_float(parent, use)
            return
        _not_boolean(parent, use)
        if origin_of(other, scope) in (None, "assumed"):
            use.refuse(f"`{snippet(other)}` is not proved to be a Python number or a tensor", "static-shape-values")
        division(parent, scope, use)
        follow(parent, scope, use, integral)
    elif isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Invert) and use.boolean:
        use.truth = True
        use.refuse(f"`{snippet(parent)}` is the opposite of a NumPy bool, and -1 or -2 of Python's")
    elif isinstance(parent, ast.UnaryOp) and not isinstance(parent.op, ast.Not):
        _not_boolean(parent, use)
        follow(parent, scope, use, integral)
    elif isinstance(parent, ast.Compare) and all(
        origin_of(o, scope) for o in (parent.left, *parent.comparators) if o is not node
    ):
        around = scope.parents.get(parent)
        if isinstance(around, ast.UnaryOp) and isinstance(around.op, ast.Invert):
            use.refuse(f"`{snippet(around)}` is the opposite of a NumPy bool, and -1 or -2 of Python's")
        elif _in_test(parent, scope):
            use.truth = True
            if any(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops):
                use.refuse(f"`{snippet(parent)}` asks which object the NumPy number is")
        else:
            use.refuse(f"the result of `{snippet(parent)}` is used as a NumPy bool", "static-shape-values")
    elif (isinstance(parent, ast.If | ast.While | ast.IfExp) and parent.test is node) or isinstance(
        parent, ast.BoolOp | ast.UnaryOp
    ):
        use.truth = True
        if isinstance(parent, ast.BoolOp) and not _in_test(parent, scope):
            follow(parent, scope, use, integral)  # its value may be the number
    elif isinstance(parent, ast.Slice) or (isinstance(parent, ast.Subscript) and parent.slice is node):
        use.integer = True
    elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        _follow_name(parent.targets[0].id, scope, use, integral)
    elif isinstance(parent, ast.AugAssign) and parent.value is node and scope.value(parent.target).is_tensor:
        _takes_as_float(parent, use)
    elif isinstance(parent, ast.Attribute) and parent.attr in ("astype", "item"):
        use.integer = True
        use.read = use.read or (parent.attr == "item" and integral)  # of a float nothing is read
        if isinstance(node, ast.Name):
            use.refuse(f"`{snippet(parent)}` needs a NumPy number")  # only the call itself is rewritten
        cast = cast_of(node, scope) if parent.attr == "astype" else None
        if cast is not None:
            follow(cast, scope, use, True)  # still a NumPy number
        elif parent.attr == "astype":
            use.refuse(f"`{snippet(scope.parents.get(parent))}` needs a NumPy number")
    elif isinstance(parent, ast.Tuple | ast.List) and isinstance(scope.parents.get(parent), ast.Call):
        _argument(scope.parents[parent], scope, use, integral)
    elif (isinstance(parent, ast.Call) and node in parent.args) or isinstance(parent, ast.keyword):
        call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        _argument(call, scope, use, integral)
    else:
        use.refuse(f"the number leaves the arithmetic of this function in `{snippet(parent)}`", "static-shape-values")


_BY_ELEMENT = frozenset(
    {"add", "sub", "subtract", "mul", "multiply", "div", "divide", "true_divide", "floor_divide", "remainder", "fmod"}
    | {"pow", "lerp", "clamp", "clip", "masked_fill", "fill", "where", "eq", "ne", "gt", "ge", "lt", "le"}
)
"""Functions that take the number as a tensor beside the other one, and read nothing (measured on torch 2.13)."""

_ROUNDS = frozenset({"math.ceil", "math.floor", "math.trunc"})
"""What makes an integer of a number, which Dynamo asks the tensor for that stands for one of NumPy."""


def _not_boolean(node: ast.expr, use: Use) -> None:
    """Two of NumPy's bools add up to one, and have no difference; Python's are integers."""
    if use.boolean:
        use.refuse(f"`{snippet(node)}` computes with a NumPy bool", "static-shape-values")


def _takes_as_float(node: ast.AST, use: Use) -> None:
    """Integers times a NumPy bool are floats; Python's keeps their dtype, and torch subtracts none."""
    if use.boolean:
        use.refuse(f"`{snippet(node)}` takes a NumPy bool for a float")


def _argument(call: ast.AST | None, scope: Scope, use: Use, integral: bool) -> None:
    name = (scope.callee(call) or "") if isinstance(call, ast.Call) else ""
    assert isinstance(call, ast.Call)
    if name in ("abs", "round", "range"):
        _not_boolean(call, use)
    if name in ("int", "round", "range"):
        use.integer = True
    elif name in _ROUNDS:
        use.integer = use.read = True
    elif name == "float" or name.startswith("math."):
        use.integer = use.integer or integral
    elif name in ("min", "max", "abs"):
        follow(call, scope, use, integral)
    elif name in _DTYPE_FROM_VALUE and not any(k.arg == "dtype" for k in call.keywords):
        use.refuse(f"`{snippet(call)}` takes its dtype from the NumPy number")
    elif name.startswith(("Tensor.", "torch.")):
        _takes_as_float(call, use)
        use.integer = use.integer or (integral and name.rpartition(".")[2].rstrip("_") not in _BY_ELEMENT)
    else:
        use.refuse(f"the number is passed on in `{snippet(call)}`", "static-shape-values")


def _follow_name(name: str, scope: Scope, use: Use, integral: bool) -> None:
    if name in use.followed:
        return
    use.followed.add(name)
    loads = scope.names(name)
    everywhere = scope.function.loads(name)
    if len(everywhere) != len(loads) or len(scope.names(name, stores=True)) != 1:
        use.refuse(f"`{name}` is assigned in several places or used in a nested function", "static-shape-values")
    for load in loads:
        needed = use.integer, use.truth
        follow(load, scope, use, integral)
        if use.place is None and (use.integer, use.truth) != needed:
            use.place = load


def division(node: ast.BinOp, scope: Scope, use: Use) -> None:
    """Numbers raise where NumPy numbers give inf: a division by zero, a power that overflows."""
    if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod) and sign_of(node.right, scope) != "positive":
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


def cast_of(node: ast.expr, scope: Scope) -> ast.Call | None:
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
            and ast.unparse(call.args[0]) in ("int", "'int'", "'int64'", "np.int64", "numpy.int64")
        ):
            return call
    return None
