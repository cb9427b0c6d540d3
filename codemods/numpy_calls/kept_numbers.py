"""NumPy numbers that `__init__` keeps in attributes, as in `self.hop = np.prod(strides)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_REDUCTIONS = frozenset(f"numpy.{name}" for name in ("prod", "sum", "max", "min", "amax", "amin", "mean"))
_TAKE_DTYPE = frozenset({"tensor", "as_tensor", "asarray", "scalar_tensor", "new_tensor", "array", "result_type"})


def is_kept_number(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is an attribute with a NumPy number, which is a constant where the code is traced."""
    return made_in_init(node, scope) is not None


def made_in_init(node: ast.expr, scope: Scope) -> ast.Call | None:
    """The call in `__init__` that reduces what it is given to the one number that an attribute of `self` keeps."""
    cls = scope.function.cls
    init = cls.methods.get("__init__") if cls is not None else None
    if init is None or not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)):
        return None
    if node.value.id != "self" or not any(a.arg == "self" for a in init.parameters[:1]):
        return None
    made = [s.value for s in init.node.body if isinstance(s, ast.Assign) and _names(s.targets, node.attr)]
    if len(made) != 1 or not isinstance(made[0], ast.Call):
        return None
    call = made[0]
    facts = scope.legality.inference.facts(init)
    whole = len(call.args) == 1 and not call.keywords and not isinstance(call.args[0], ast.Starred)
    return call if whole and facts.refs.get(call) in _REDUCTIONS else None


def kept_in(node: ast.expr, scope: Scope, depth: int = 0) -> Iterator[ast.Call]:
    """The calls in `__init__` that made the NumPy numbers an expression is computed of."""
    for part in ast.walk(node) if depth < 8 else ():
        if isinstance(part, ast.Attribute):
            made = made_in_init(part, scope)
            if made is not None:
                yield made
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
            stores = scope.names(part.id, stores=True)
            given = scope.parents.get(stores[0]) if len(stores) == 1 else None
            if isinstance(given, ast.Assign):
                yield from kept_in(given.value, scope, depth + 1)


def needed_as_numpy(made: ast.Call, scope: Scope) -> str | None:
    """Where code of the project needs the NumPy number itself: a method of it, or its dtype for a tensor."""
    cls = scope.function.cls
    statements = cls.methods["__init__"].node.body if cls is not None else []
    kept = next(s for s in statements if isinstance(s, ast.Assign) and s.value is made)
    names = dict.fromkeys(t.attr for t in kept.targets if isinstance(t, ast.Attribute))
    project = scope.legality.inference.project
    for module in dict.fromkeys(m for name in names for m in project.modules.texts.mentioning(name)):
        for function in project.modules[module].all_functions:
            for node in function.of(ast.Attribute):
                if isinstance(node.value, ast.Attribute) and node.value.attr in names:
                    return f"`{snippet(node)}` needs a NumPy number"
            for call in function.of(ast.Call):
                called = (function.module.qualified(call.func) or ast.unparse(call.func)).rpartition(".")[2]
                given = (n for a in call.args for n in ast.walk(a) if isinstance(n, ast.Attribute))
                if called in _TAKE_DTYPE and any(n.attr in names for n in given):
                    return f"`{snippet(call)}` takes its dtype from the NumPy number"
    return None


def _names(targets: list[ast.expr], name: str) -> bool:
    return any(isinstance(t, ast.Attribute) and t.attr == name and ast.unparse(t.value) == "self" for t in targets)
