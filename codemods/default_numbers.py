"""Values that are numbers by default: `def f(x, scale=0.5)`, and `self.beta = beta` where `__init__` has `beta=0.9`.

Also what `math` and NumPy make of such: `self.gain = np.log(beta)`.
"""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind
from compilefix.codemods.numpy_calls.numpy_functions import FUNCTIONS
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function


def is_number_by_default(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is an argument, or what only `__init__` keeps of one, and that has a number as default.

    Or is computed of such numbers: `self.scale**2`.
    """
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return all(scope.value(side).is_(Kind.STATIC, Kind.SIZE) or is_number_by_default(side, scope) for side in sides)
    if isinstance(node, ast.Name):
        return not scope.names(node.id, stores=True) and _has_number(node.id, scope.function.node.args)
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    if not own or not isinstance(node, ast.Attribute) or scope.function.cls is None:
        return False
    methods = [m for m in scope.function.cls.node.body if isinstance(m, ast.FunctionDef | ast.AsyncFunctionDef)]
    given = [(method, value) for method in methods for value in _given(node.attr, method)]
    return bool(given) and all(
        method.name == "__init__" and isinstance(value, ast.Name) and _has_number(value.id, method.args)
        for method, value in given
    )


def makes_number(called: str | None) -> bool:
    """Whether a function of this name gives a number where it is given numbers."""
    library, _, name = (called or "").rpartition(".")
    return library == "math" or (library == "numpy" and name in FUNCTIONS and not FUNCTIONS[name].sequence)


def keeps_number(attribute: str, scope: Scope) -> bool:
    """Whether only `__init__` gives an attribute of the object values, and makes these of numbers by default."""
    cls = scope.function.cls
    init = None if cls is None else cls.methods.get("__init__")
    return cls is not None and init is not None and _keeps_number(attribute, init, scope, frozenset())


def _keeps_number(attribute: str, init: Function, scope: Scope, asked: frozenset[str]) -> bool:
    if attribute in asked or init.cls is None:
        return False
    if any(_given(attribute, method.node) for method in init.cls.methods.values() if method is not init):
        return False
    given, asked = _given(attribute, init.node), asked | {attribute}
    return bool(given) and all(value is not None and _is_of_numbers(value, init, scope, asked) for value in given)


def _is_of_numbers(node: ast.expr, init: Function, scope: Scope, asked: frozenset[str]) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, ast.Name):
        return not init.stores.get(node.id) and _has_number(node.id, init.node.args)
    if isinstance(node, ast.Attribute):
        return _is_own(node, node.attr) and _keeps_number(node.attr, init, scope, asked)
    parts: list[ast.expr] = []
    if isinstance(node, ast.UnaryOp):
        parts = [node.operand]
    elif isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Call) and not node.keywords:
        made = makes_number(scope.legality.inference.facts(init).refs.get(node))
        parts = node.args if made else []
    return bool(parts) and all(_is_of_numbers(part, init, scope, asked) for part in parts)


def _given(attribute: str, method: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.expr | None]:
    """What a method gives an attribute of the object; None where that is not one expression."""
    found: list[ast.expr | None] = []
    for statement in ast.walk(method):
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        value = getattr(statement, "value", None) if isinstance(statement, ast.Assign | ast.AnnAssign) else None
        for target in targets:
            if isinstance(target, ast.Tuple):
                many = value.elts if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts) else None
                for place, part in enumerate(target.elts):
                    found += [many[place] if many is not None else None] if _is_own(part, attribute) else []
            elif _is_own(target, attribute):
                found.append(value)
    return found


def _is_own(target: ast.AST | None, attribute: str) -> bool:
    return isinstance(target, ast.Attribute) and target.attr == attribute and ast.unparse(target.value) == "self"


def _has_number(name: str, arguments: ast.arguments) -> bool:
    """Whether a parameter has a number as its default."""
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    defaults = [*zip(positional[first:], arguments.defaults, strict=True)]
    defaults += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    return any(
        parameter.arg == name and isinstance(default, ast.Constant) and type(default.value) in (int, float)
        for parameter, default in defaults
    )
