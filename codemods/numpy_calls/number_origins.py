"""Where the arguments of a NumPy call come from: shapes, constants, or numbers that are only assumed to be some."""

from __future__ import annotations

import ast
from typing import Literal

from compilefix.analysis.values import Kind
from compilefix.codemods.numpy_calls.numpy_functions import FUNCTIONS, Function
from compilefix.codemods.rule import Scope

Origin = Literal["size", "constant", "assumed"]
_OF_ARRAYS = frozenset(
    {
        *("all", "any", "astype", "cpu", "detach", "dtype", "flatten", "max", "mean", "min", "ndim", "numpy", "ravel"),
        *("reshape", "shape", "squeeze", "std", "sum", "tobytes", "transpose", "view"),
    }
)
"""What arrays and tensors have, and numbers, shapes and lists have not."""


def function_of(node: ast.AST, scope: Scope) -> Function | None:
    """The table's entry for a call that this rule rewrites."""
    if not isinstance(node, ast.Call):
        return None
    name = scope.callee(node) or ""
    function = FUNCTIONS.get(name.removeprefix("numpy.")) if name.startswith("numpy.") else None
    return function if function is not None and origins_of(node, function, scope) else None


def outermost(node: ast.Call, scope: Scope) -> bool:
    """Whether the call stands in no other NumPy call of its kind: an argument is rewritten with what it stands in."""
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.stmt):
            return True
        if function_of(parent, scope) is not None:
            return False
    return True


def origins_of(node: ast.Call, function: Function, scope: Scope) -> frozenset[Origin]:
    """Where the arguments come from; empty where one is not, or may not be, a Python number."""
    if len(node.args) != function.arity or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return frozenset()
    found: set[Origin] = set()
    for argument in node.args:
        origin = sequence_origin(argument, scope) if function.sequence else origin_of(argument, scope)
        if origin is None:
            return frozenset()
        found.add(origin)
    # Of a bool NumPy makes another one, or a number in half precision.
    if function.result != "truth" and not function.sequence and any(scope.value(a).dtype == "bool" for a in node.args):
        return frozenset()
    # Of mixed numbers NumPy makes floats, and Python keeps the one that it selects.
    if function.arity > 1 and any(scope.value(a).dtype != "int" for a in node.args):
        return frozenset()
    return frozenset(found)


def origin_of(node: ast.expr, scope: Scope) -> Origin | None:
    """Where a number comes from; None where it is not, or may not be, a Python number."""
    value = scope.value(node)
    if isinstance(node, ast.BinOp):
        return joined(origin_of(node.left, scope), origin_of(node.right, scope))
    if isinstance(node, ast.UnaryOp):
        return origin_of(node.operand, scope)
    if isinstance(node, ast.Call):
        function = function_of(node, scope)
        if function is not None:
            origins = origins_of(node, function, scope)
            return "assumed" if "assumed" in origins else "size" if "size" in origins else "constant"
        if (scope.callee(node) or "").startswith("numpy."):
            return None
    if value.is_(Kind.SIZE):
        return "size"
    if (value.is_(Kind.STATIC) and value.dtype in ("bool", "int", "float")) or value.ref in ("numpy.pi", "math.pi"):
        return "constant"
    if value.is_unknown and isinstance(node, ast.Attribute | ast.Name) and not is_used_as_array(node, scope):
        return "assumed"
    return None


def joined(left: Origin | None, right: Origin | None) -> Origin | None:
    """Where a number made of two others comes from: the weaker origin of the two."""
    if left is None or right is None:
        return None
    order: tuple[Origin, ...] = ("assumed", "size", "constant")
    return next(o for o in order if o in (left, right))


def sequence_origin(node: ast.expr, scope: Scope) -> Origin | None:
    """Where the integers in a sequence come from."""
    value = scope.value(node)
    if isinstance(node, ast.Tuple | ast.List):
        result: Origin | None = "constant"
        for item in node.elts:
            integer = not isinstance(item, ast.Starred) and scope.value(item).dtype == "int"
            result = joined(result, origin_of(item, scope) if integer else None)
        return result if node.elts else None
    if value.is_(Kind.CONTAINER) and value.element is not None and value.ref != "dict":
        if value.element.is_(Kind.SIZE):
            return "size"
        if value.element.is_(Kind.STATIC) and value.element.dtype == "int":
            return "constant"
        value = value.element  # as unknown as a list that is itself unknown
    named = isinstance(node, ast.Attribute | ast.Name)
    if value.is_unknown and named and not is_used_as_array(node, scope) and not _computed_with(node, scope):
        return "assumed"
    return None


def _computed_with(node: ast.expr, scope: Scope) -> bool:
    """Whether the function compares all of what a name holds with a number, or computes with it, as with no list.

    A list may be repeated, and added to another one.
    """
    text = ast.unparse(node)
    for part in scope.of(ast.Compare):
        ordered = any(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in part.ops)
        if ordered and text in (ast.unparse(side) for side in (part.left, *part.comparators)):
            return True
    return any(
        text in (ast.unparse(part.left), ast.unparse(part.right))
        for part in scope.of(ast.BinOp)
        if not isinstance(part.op, ast.Add | ast.Mult)
    )


def is_used_as_array(node: ast.expr, scope: Scope, seen: frozenset[str] = frozenset()) -> bool:
    """Whether the function treats a name or attribute of unknown value as an array, and not as a number or a shape.

    It asks it for what only arrays have (`label.astype`), or gives the name what is no sequence of numbers (`a > 0.5`).
    """
    text = ast.unparse(node)
    if text in seen:
        return False
    if any(
        n.attr in _OF_ARRAYS and isinstance(n.value, ast.Name | ast.Attribute) and ast.unparse(n.value) == text
        for n in scope.of(ast.Attribute)
    ):
        return True
    return isinstance(node, ast.Name) and any(
        _makes_array(assigned.value, scope, seen | {text})
        for assigned in scope.of(ast.Assign)
        for target in assigned.targets
        if isinstance(target, ast.Name) and target.id == node.id
    )


def _makes_array(node: ast.expr, scope: Scope, seen: frozenset[str]) -> bool:
    """Whether an expression of unknown value shows that it gives an array, by how it is made."""
    if isinstance(node, ast.IfExp):
        return any(_makes_array(side, scope, seen) for side in (node.body, node.orelse))
    if isinstance(node, ast.ListComp):
        return _makes_array(node.elt, scope, seen)
    if isinstance(node, ast.BinOp | ast.Compare):
        operands = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.left, *node.comparators)
        return any(_makes_array(operand, scope, seen) for operand in operands)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _OF_ARRAYS:
        return True
    return isinstance(node, ast.Name | ast.Attribute) and is_used_as_array(node, scope, seen)


def is_integral(node: ast.Call, function: Function, scope: Scope) -> bool:
    """Whether NumPy gives a number of an integer type."""
    if function.result in ("float", "truth"):
        return False
    for argument in node.args:
        value = scope.value(argument)
        inner = function_of(argument, scope)
        if inner is not None:
            assert isinstance(argument, ast.Call)
            if not is_integral(argument, inner, scope):
                return False
        elif function.sequence:
            element = value.element
            if element is not None and not element.is_unknown and element.dtype not in ("int", "bool"):
                return False
        elif value.dtype not in ("int", "bool"):
            return False
    return True
