"""Random numbers that code decides itself, by a seed or a state: another stream would not keep what it promises."""

from __future__ import annotations

import ast

from compilefix.analysis.builtin_calls import NUMPY_GENERATORS
from compilefix.codemods.kept_attributes import assigned
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet

_SETS = frozenset({"seed", "set_state", "setstate"})


def promised(node: ast.Call, name: str, scope: Scope) -> str | None:
    """Why the numbers that a call draws are not any of their distribution; None where nothing shows that."""
    owner = name.rpartition(".")[0]
    for call in scope.of(ast.Call):
        source, _, method = (scope.callee(call) or "").rpartition(".")
        if source == owner and method in _SETS:
            return f"`{snippet(call)}` decides what is drawn"
    kept = node.func.value if owner in NUMPY_GENERATORS and isinstance(node.func, ast.Attribute) else None
    if not isinstance(kept, ast.Attribute):
        return None
    return next((reason for method in _methods(scope) if (reason := _decided(kept, method)) is not None), None)


def _methods(scope: Scope) -> list[Function]:
    """The methods of the class of a function, and of its bases in the project."""
    cls = scope.function.cls
    known = () if cls is None else scope.legality.inference.project.ancestors(cls)
    return [method for one in known if isinstance(one, Class) for method in one.methods.values()]


def _decided(kept: ast.Attribute, method: Function) -> str | None:
    """How a method makes the generator that an object keeps with a seed, or sets one or a state."""
    for value in assigned(method.node, kept.attr):
        if not _is_unseeded(value, method):
            return f"`{snippet(value)}` may have a seed, which decides what `{snippet(kept)}` draws"
    text = ast.unparse(kept)
    for part in method.nodes:
        sets = isinstance(part, ast.Attribute) and part.attr in {*_SETS, "bit_generator"}
        if sets and isinstance(part, ast.Attribute) and ast.unparse(part.value) == text:
            return f"`{snippet(part)}` decides what `{text}` draws"
    return None


def _is_unseeded(made: ast.expr, method: Function) -> bool:
    """Whether a generator is made without a seed, or is an argument: `rng or np.random.default_rng()`."""
    if isinstance(made, ast.Constant):
        return made.value is None
    if isinstance(made, ast.Name):
        return method.takes(made.id) and not method.stores.get(made.id)
    if isinstance(made, ast.BoolOp):
        return all(_is_unseeded(part, method) for part in made.values)
    if isinstance(made, ast.IfExp):
        return _is_unseeded(made.body, method) and _is_unseeded(made.orelse, method)
    if not isinstance(made, ast.Call):
        return False
    given = [*made.args, *(keyword.value for keyword in made.keywords)]
    return all(not isinstance(part, ast.Name) and _is_unseeded(part, method) for part in given)
