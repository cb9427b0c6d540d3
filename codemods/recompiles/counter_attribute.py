"""CF602: an integer attribute of a module that counts calls.

## What it does
Finds `self.step += 1` in compiled code, where `step` is a Python integer of an `nn.Module`; also a class attribute or
a global that counts.

## Why is this bad
Integers of modules are constants to Dynamo: each new value is a new compilation. After eight it gives up on the
function and runs it in eager for good. Floats, and integers of objects that are no modules, are compiled twice and
then reused; they are not reported.

## Example
```python
def forward(self, x):
    self.step += 1
    return self.layer(x) * self.scale(self.step)
```

## Use instead
```python
self.register_buffer("step", torch.zeros((), dtype=torch.long), persistent=False)   # in __init__
```

Count where the compiled module is called instead, or set `torch._dynamo.config.allow_unspec_int_on_nn_module = True`
(two compilations; indexing a list with the number still counts).

## Fix safety
This rule has no fix: a buffer is a tensor to everybody who reads the attribute, and moves with the module.

Graph breaks: none (the recompile limit). torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.index import Class

_ADVICE = (
    "make it a buffer (`register_buffer(..., persistent=False)`), count where the compiled code is called, "
    "or set `torch._dynamo.config.allow_unspec_int_on_nn_module = True`"
)
_ADVICE_GLOBAL = "count where the compiled code is called: every new value is compiled again"


class CounterAttribute(Rule):
    """Integer attribute that counts calls."""

    code = "CF602"
    name = "counter-attribute"
    summary = "integer attribute of a module that changes with every call"
    effect = "recompile"
    hints = ("+=", "-=", "+ 1", "+1")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Attributes, and globals, that are counted up or down."""
        seen: set[str] = set()
        for node in scope.among(ast.AugAssign, ast.Assign):
            target = _counted(node, scope)
            if target is None or ast.unparse(target) in seen or _is_reset(target, node, scope):
                continue
            text = ast.unparse(target)
            if isinstance(target, ast.Name):
                if not _is_global_counter(target, scope):
                    continue
                reason = _ADVICE_GLOBAL
            elif isinstance(target, ast.Attribute) and _is_module_integer(target, scope):
                reason = _ADVICE
            elif isinstance(target, ast.Attribute) and _is_class_integer(target, scope):
                reason = _ADVICE_GLOBAL
            else:
                continue
            seen.add(text)
            message = f"`{text}` is a constant to Dynamo and changes with every call: each value is compiled anew"
            yield self.declined(scope, node, message, reason)


def _counted(node: ast.AST, scope: Scope) -> ast.expr | None:
    """The target of `t += 1` or `t = t + 1` with an integer."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        return node.target if _is_integer(node.value, scope) else None
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.BinOp):
        target, value = node.targets[0], node.value
        if (
            isinstance(value.op, ast.Add | ast.Sub)
            and ast.unparse(target) == ast.unparse(value.left)
            and _is_integer(value.right, scope)
        ):
            return target
    return None


def _is_integer(node: ast.expr, scope: Scope) -> bool:
    const = scope.value(node).const
    return const is not None and type(const.value) is int


def _owner_class(scope: Scope) -> Class | None:
    function = scope.function
    while function.parent is not None:
        function = function.parent
    return function.cls


def _is_module_integer(target: ast.Attribute, scope: Scope) -> bool:
    """Whether the target is an attribute of this module that `__init__` makes an integer."""
    cls = _owner_class(scope)
    if (
        cls is None
        or not isinstance(target.value, ast.Name)
        or not scope.function.parameters
        or target.value.id != scope.function.parameters[0].arg
    ):
        return False
    project = scope.legality.inference.project
    if not project.is_module_class(cls):
        return False
    for owner in project.ancestors(cls):
        if isinstance(owner, Class) and "__init__" in owner.methods:
            values = list(_assigned(owner.methods["__init__"].node, target.attr))
            if values:
                return all(isinstance(v, ast.Constant) and type(v.value) is int for v in values)
    return _is_class_constant(cls, target.attr)


def _assigned(node: ast.AST, attribute: str) -> Iterator[ast.expr]:
    for part in ast.walk(node):
        if not isinstance(part, ast.Assign | ast.AnnAssign) or part.value is None:
            continue
        for target in part.targets if isinstance(part, ast.Assign) else [part.target]:
            own = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self"
            if own and isinstance(target, ast.Attribute) and target.attr == attribute:
                yield part.value


def _is_class_integer(target: ast.Attribute, scope: Scope) -> bool:
    """`Model.calls += 1` on a class of the project."""
    ref = scope.value(target.value).ref
    cls = scope.legality.inference.project.resolve(ref) if ref is not None else None
    is_class = isinstance(cls, Class) and isinstance(target.value, ast.Name) and target.value.id == cls.node.name
    return isinstance(cls, Class) and is_class and _is_class_constant(cls, target.attr)


def _is_class_constant(cls: Class, attribute: str) -> bool:
    for node in cls.node.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(t, ast.Name) and t.id == attribute for t in targets):
            return isinstance(node.value, ast.Constant) and type(node.value.value) is int
    return False


def _is_global_counter(target: ast.Name, scope: Scope) -> bool:
    declared = any(isinstance(n, ast.Global) and target.id in n.names for n in scope.nodes)
    value = scope.function.module.assigns.get(target.id)
    return declared and isinstance(value, ast.Constant) and type(value.value) is int


def _is_reset(target: ast.expr, node: ast.AST, scope: Scope) -> bool:
    """Whether the function itself sets the counter to a constant: then every call sees the same values."""
    text = ast.unparse(target)
    return any(
        isinstance(n, ast.Assign)
        and n is not node
        and isinstance(n.value, ast.Constant)
        and any(ast.unparse(t) == text for t in n.targets)
        for n in scope.nodes
    )
