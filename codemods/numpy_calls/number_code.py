"""The Python code that stands for a NumPy call on numbers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.numpy_calls.number_origins import function_of, is_integral, origin_of, sequence_origin
from compilefix.codemods.numpy_calls.number_signs import is_finite, sign_of
from compilefix.codemods.numpy_calls.number_uses import Use, cast_of, division
from compilefix.codemods.numpy_calls.numpy_functions import Function
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

_LARGEST_EXPONENT = 700.0
_NEVER_WHOLE = ("{m}.log(", "{m}.log1p(")
"""Of an integer these are 0 exactly, or transcendental: too far from a whole number for the last bit to matter."""


def math_name(scope: Scope) -> str:
    """How this file calls the math module."""
    return scope.local_name("math") or "math"


def rewritten(node: ast.Call, function: Function, scope: Scope, template: Template, use: Use) -> tuple[ast.expr, str]:
    """The node to replace, and the code for it."""
    cast = cast_of(node, scope)
    if (use.integer or use.truth) and not _stable(node, function, scope):
        template.refuse(
            [Obstacle(f"`{snippet(node)}` may differ in the last bit, and an integer or a branch is made of it")]
        )
    if any(isinstance(n, ast.Name) and n.id == math_name(scope) and isinstance(n.ctx, ast.Store) for n in scope.nodes):
        template.refuse([Obstacle(f"`{math_name(scope)}` is the name of a local variable here")])
    code = _code(node, scope, template)
    if cast is None:
        call = _item_of(node, scope)
        if call is not None:
            return call, code if function.result != "whole" else _typed(
                node, function, code, scope, template, integer=use.integer
            )
        return node, _typed(node, function, code, scope, template, integer=use.integer)
    if isinstance(cast.func, ast.Attribute) and not is_finite(node.args[0], scope):
        template.refuse([Obstacle(f"`{snippet(node.args[0])}` may be NaN or infinite", "math-errors")])
    cast = _item_of(cast, scope) or cast
    if function.result == "float" or (function.result == "same" and not is_integral(node, function, scope)):
        return cast, f"int({code})"
    return cast, code


def _item_of(node: ast.expr, scope: Scope) -> ast.Call | None:
    """The call in `node.item()`."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.Attribute) and parent.attr == "item" else None
    return call if isinstance(call, ast.Call) and call.func is parent else None


def _typed(node: ast.Call, function: Function, code: str, scope: Scope, template: Template, *, integer: bool) -> str:
    """Code for a number of the type that NumPy gives, where nothing else fixes the type."""
    if function.result == "whole":
        template.refuse(_float_kept(node, function, scope))
        value = scope.value(node.args[0])
        if value.dtype == "float" or (isinstance(node.args[0], ast.BinOp) and isinstance(node.args[0].op, ast.Div)):
            return f"float({code})"
        if origin_of(node.args[0], scope) == "assumed" and not integer:
            # Who rounds a number that nothing tells of rounds a float; of an integer NumPy makes one of these.
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


def _float_kept(node: ast.Call, function: Function, scope: Scope) -> Iterator[Obstacle]:
    """Whether a float goes through an integer unharmed: NaN and infinities raise, and minus zero loses its sign."""
    argument = node.args[0]
    if not is_finite(argument, scope):
        yield Obstacle(f"`{snippet(argument)}` may be NaN or infinite: `{snippet(node)}` raises then", "math-errors")
    elif not function.python.startswith("{m}.floor") and sign_of(argument, scope) is None:
        yield Obstacle(f"`{snippet(node)}` may be minus zero, which no integer is", "static-shape-values")


def _may_be_empty(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    shaped = isinstance(node, ast.Attribute) and node.attr == "shape" and scope.value(node.value).dimensioned
    return not value.elements and not shaped


def _code(node: ast.Call, scope: Scope, template: Template) -> str:
    """The call in Python; NumPy calls among its arguments with it."""
    function = function_of(node, scope)
    assert function is not None
    if function.sequence and _may_be_empty(node.args[0], scope) and function.python.startswith(("max", "min")):
        template.refuse([Obstacle("the sequence may be empty: the error has another text", "math-errors")])
    parts = []
    for argument in node.args:
        _domain(argument, function, scope, template)
        parts.append(_expression(argument, scope, template))
    return function.python.format(*parts, m=math_name(scope))


def _expression(node: ast.expr, scope: Scope, template: Template, *, operand: bool = False) -> str:
    if isinstance(node, ast.Tuple) and node.elts:
        # Written out: the parentheses of a tuple are no part of its place in the file.
        items = ", ".join(_expression(item, scope, template) for item in node.elts)
        return f"({items},)" if len(node.elts) == 1 else f"({items})"
    if not any(function_of(n, scope) for n in ast.walk(node)):
        return template.use(node, operand=operand)
    if isinstance(node, ast.Call) and (function := function_of(node, scope)) is not None:
        return _typed(node, function, _code(node, scope, template), scope, template, integer=True)
    if isinstance(node, ast.BinOp) and type(node.op) in _SYMBOLS:
        use = Use()
        division(node, scope, use)
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
    origin = sequence_origin(argument, scope) if function.sequence else origin_of(argument, scope)
    if origin == "assumed":
        template.refuse(
            [Obstacle(f"`{snippet(argument)}` is not proved to hold Python numbers", "static-shape-values")]
        )
    elif origin == "constant" and function.python in _GROW and not _are_constants(argument, scope):
        reason = f"the numbers in `{snippet(argument)}` may make one that NumPy's integers do not hold: they wrap round"
        template.refuse([Obstacle(reason, "static-shape-values")])
    sign = None if function.sequence else sign_of(argument, scope)
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


_GROW = ("{m}.prod({0})", "sum({0})")


def _are_constants(node: ast.expr, scope: Scope) -> bool:
    items = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return all(scope.value(item).const is not None for item in items)


def _stable(node: ast.Call, function: Function, scope: Scope) -> bool:
    """Whether an integer or a branch made of the number is the same in Python as in NumPy."""
    for part in ast.walk(node):
        inner = function_of(part, scope) if part is not node else None
        if inner is None or inner.exact:
            continue
        rounded = function.result == "whole" and part in node.args
        if not (rounded and inner.python.startswith(_NEVER_WHOLE) and _is_integer(part, scope)):
            return False
    if function.exact:
        return True
    if function.python.startswith(_NEVER_WHOLE) and _is_integer(node, scope):
        return scope.parents.get(node) is cast_of(node, scope)
    logarithm = function.python.startswith(("{m}.log2", "{m}.log10"))
    return logarithm and scope.value(node.args[0]).dtype == "int" and scope.parents.get(node) is cast_of(node, scope)


def _is_integer(node: ast.AST, scope: Scope) -> bool:
    """Whether the argument of a call is an integer."""
    return isinstance(node, ast.Call) and len(node.args) == 1 and scope.value(node.args[0]).dtype == "int"
