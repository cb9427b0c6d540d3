"""NumPy numbers that `__init__` keeps in attributes, as in `self.hop = np.prod(strides)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope

_REDUCTIONS = frozenset(f"numpy.{name}" for name in ("prod", "sum", "max", "min", "amax", "amin", "mean"))


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


def _names(targets: list[ast.expr], name: str) -> bool:
    return any(isinstance(t, ast.Attribute) and t.attr == name and ast.unparse(t.value) == "self" for t in targets)
