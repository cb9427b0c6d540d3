"""CF603: a list that grows with every call.

## What it does
Finds `self.history.append(value)` (also `extend`, `+= [...]`, `insert`, `add` of a set) in compiled code, where the
container is made in `__init__`, or is a global of the file, and nothing in the function empties it.

## Why is this bad
The length of the list is a guard: each call finds it longer, and the code is compiled again. After eight times Dynamo
gives up on the function and runs it in eager for good.

## Example
```python
def forward(self, x):
    y = self.layer(x)
    self.history.append(y.detach())
    return y
```

## Use instead
Return the value and append it where the compiled module is called; or empty the list at the start of the call, or
keep the last value only (`self.last = y.detach()`), which is compiled once.

## Fix safety
This rule has no fix: who reads the list, and when, stands outside the function.

Graph breaks: none (the recompile limit). torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.kept_attributes import assigned
from compilefix.codemods.recompiles.sizes import is_likely_compiled
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Class, Function

_GROWS = frozenset({"append", "extend", "insert", "add"})
_SHRINKS = frozenset({"clear", "pop", "popleft", "remove"})
_ADVICE = (
    "return the value and append it where the compiled code is called, or empty the container at the start of the call"
)


class GrowingList(Rule):
    """List that grows with every call."""

    code = "CF603"
    name = "growing-list"
    summary = "list of a module or file that grows with every call"
    effect = "recompile"
    hints = (".append(", ".extend(", "+=", ".insert(", ".add(")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Containers of `self` that are only added to."""
        seen: set[str] = set()
        if _registers(scope):
            return
        for node in scope.among(ast.Call, ast.AugAssign):
            container = _grown(node)
            if container is None or ast.unparse(container) in seen:
                continue
            if isinstance(container, ast.Attribute):
                kept = _is_own_container(container, scope)
            else:
                kept = (
                    isinstance(container, ast.Name)
                    and is_likely_compiled(scope)
                    and _is_global_container(container, scope)
                )
            if not kept or _is_emptied(container, scope) or _is_filled_up(node, container, scope):
                continue
            seen.add(ast.unparse(container))
            message = (
                f"`{ast.unparse(container)}` is longer at every call, and its length is a guard: each is compiled anew"
            )
            yield self.declined(scope, node, message, _ADVICE)


def _registers(scope: Scope) -> bool:
    """Whether the function sets hooks up: it keeps their handles once, and is not part of every call."""
    return any(n.attr.startswith("register_") for n in scope.of(ast.Attribute))


def _is_filled_up(node: ast.AST, container: ast.expr, scope: Scope) -> bool:
    """Whether it grows only until it has an item for each place: `if len(self.keys) <= layer: self.keys.append(k)`."""
    asked = f"len({ast.unparse(container)})"
    tests = (around.test for around in scope.ancestors(node) if isinstance(around, ast.If))
    return any(asked in ast.unparse(test) for test in tests)


def _grown(node: ast.AST) -> ast.expr | None:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _GROWS and node.args:
        return node.func.value
    if (
        isinstance(node, ast.AugAssign)
        and isinstance(node.op, ast.Add)
        and isinstance(node.value, ast.List | ast.ListComp)
    ):
        return node.target
    return None


def _is_own_container(target: ast.Attribute, scope: Scope) -> bool:
    """Whether `__init__` of this class makes the attribute an empty list or set, or one written out."""
    function = scope.function
    if (
        function.cls is None
        or not function.parameters
        or not isinstance(target.value, ast.Name)
        or target.value.id != function.parameters[0].arg
    ):
        return False
    project = scope.legality.inference.project
    if scope.compiled.root == function.qualname and not project.is_module_class(function.cls):
        return False  # a method that counts as compiled by itself: its object may be a new one in each call
    for owner in project.ancestors(function.cls):
        if not isinstance(owner, Class) or "__init__" not in owner.methods:
            continue
        values = list(assigned(owner.methods["__init__"].node, target.attr))
        if values:
            return all(_is_plain_container(v) for v in values)
    return False


def _is_global_container(target: ast.Name, scope: Scope) -> bool:
    """Whether the name is a global that the file makes a list or set, and no local of the functions around it."""
    value = scope.function.module.assigns.get(target.id)
    if value is None or not _is_plain_container(value):
        return False
    function: Function | None = scope.function
    while function is not None:
        declared = any(target.id in n.names for n in function.of(ast.Global))
        stored = any(n.id == target.id and isinstance(n.ctx, ast.Store) for n in function.of(ast.Name))
        if target.id in {p.arg for p in function.parameters} or (stored and not declared):
            return False
        function = function.parent
    return True


def _is_plain_container(node: ast.expr) -> bool:
    if isinstance(node, ast.List | ast.Set | ast.ListComp | ast.SetComp):
        return True
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("list", "set")
        and not node.keywords
    )


def _is_emptied(target: ast.expr, scope: Scope) -> bool:
    text = ast.unparse(target)
    for node in scope.nodes:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in _SHRINKS
            and ast.unparse(node.func.value) == text
        ):
            return True
        if isinstance(node, ast.Assign) and any(ast.unparse(t) == text for t in node.targets):
            return True
        if isinstance(node, ast.Delete) and any(
            isinstance(t, ast.Subscript) and ast.unparse(t.value) == text for t in node.targets
        ):
            return True
    return False
