"""Objects that say something else later: what can be read only once, and containers that no copy is made of."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Class, Function
from compilefix.source.syntax import last_name

_READ_ONCE = frozenset({"iter", "map", "filter", "zip", "enumerate", "reversed", "open", "StringIO", "BytesIO"})
_NOT_COPIED = frozenset(
    {"deque", "Counter", "defaultdict", "ChainMap", "UserDict", "UserList", "bytearray", "array", "memoryview"}
    | {"SimpleNamespace", "Namespace"}
)
_DEPTH = 4


def is_read_once(node: ast.expr, scope: Scope) -> bool:
    """Whether what an expression gives is used up by a loop over it, as far as is seen."""
    return any(
        isinstance(value, ast.GeneratorExp) or _gives_iterator(value, scope) for value in _given(node, scope, _DEPTH)
    )


def changes_later(node: ast.expr, scope: Scope) -> str | None:
    """Why what a name or attribute stands for may not wait to be shown; None where nothing speaks against it."""
    if is_read_once(node, scope):
        return "can be read only once"
    for value in _given(node, scope, _DEPTH):
        if isinstance(value, ast.Call) and last_name(value.func) in _NOT_COPIED:
            return "may have changed when it is shown"
    if not scope.value(node).is_tensor and _attribute_is_set(node, scope):
        return "may have changed when it is shown"
    return None


def _attribute_is_set(node: ast.expr, scope: Scope) -> bool:
    """Whether the function gives an attribute of an object a value, which its text may show: `state.step = 2`."""
    name, function = ast.unparse(node), scope.function
    if function.cls is not None and function.parameters and function.parameters[0].arg == name:
        return False  # `self.logger.info(...)` shows nothing of the object
    stores = (n.value for n in scope.of(ast.Attribute) if not isinstance(n.ctx, ast.Load))
    sets = (c.args[0] for c in scope.of(ast.Call) if scope.callee(c) in ("setattr", "delattr") and c.args)
    return any(ast.unparse(owner) == name for owner in (*stores, *sets))


def _given(node: ast.expr, scope: Scope, depth: int) -> Iterator[ast.expr]:
    """The expressions that a name or an attribute of the object is given in the file, or the expression itself."""
    if isinstance(node, ast.Name):
        stores = [scope.parents.get(store) for store in scope.names(node.id, stores=True)]
        found = [s.value for s in stores if isinstance(s, ast.Assign | ast.AnnAssign) and s.value is not None]
        if not stores and node.id in scope.function.module.assigns:
            found = [*_module_values(node.id, scope)]
    elif isinstance(node, ast.Attribute):
        found = [*_attribute_values(node, scope.function.cls)]
    else:
        yield node
        return
    for value in found:
        if depth:
            yield from _given(value, scope, depth - 1)


def _module_values(name: str, scope: Scope) -> Iterator[ast.expr]:
    for statement in scope.function.module.tree.body:
        if isinstance(statement, ast.Assign):
            targets: list[ast.expr] = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        else:
            continue
        if statement.value is not None and any(isinstance(t, ast.Name) and t.id == name for t in targets):
            yield statement.value


def _attribute_values(node: ast.Attribute, cls: Class | None) -> Iterator[ast.expr]:
    if cls is None or not isinstance(node.value, ast.Name):
        return
    for method in cls.methods.values():
        each: list[ast.Assign | ast.AnnAssign] = [*method.of(ast.Assign), *method.of(ast.AnnAssign)]
        for assigned in each:
            targets = assigned.targets if isinstance(assigned, ast.Assign) else [assigned.target]
            named = any(isinstance(t, ast.Attribute) and t.attr == node.attr for t in targets)
            if named and isinstance(assigned.value, ast.Call | ast.GeneratorExp):
                yield assigned.value


def _gives_iterator(value: ast.expr, scope: Scope) -> bool:
    if not isinstance(value, ast.Call):
        return False
    if last_name(value.func) in _READ_ONCE or ast.unparse(value.func).startswith("itertools."):
        return True
    callee = scope.facts.calls.get(value)
    return isinstance(callee, Function) and any(isinstance(n, ast.Yield | ast.YieldFrom) for n in callee.nodes)
