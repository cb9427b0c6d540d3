"""CF602: an integer attribute of a module that counts calls.

## What it does
Finds `self.step += 1` in compiled code, where `step` is a Python integer of an `nn.Module`, or of an object that the
module holds (`self.cache.length += x.shape[1]`); also a class attribute or a global that counts.

## Why is this bad
Integers of modules, and of all that they hold, are constants to Dynamo: each new value is a new compilation. After
eight it gives up on the function and runs it in eager for good. Floats, and integers of objects that are arguments, are
compiled twice and then reused; they are not reported.

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
(two compilations; indexing a list with the number still counts), as CF610 does. A number that compiled code only
counts, and does not read, is counted when the compiled call returns:

```python
emit(lambda self: setattr(self, "step", self.step + 1), self)
```

`emit` comes from a small helper module that `apply` writes into the project; see CF301.

## Fix safety
The fix rests on `state-late`: nobody reads the number before the call has returned. It is declined where code of the
same call reads the attribute or may store another value there, as far as calls by name and by operators (`len(self)`)
show that, methods of subclasses in the same file among them: hooks are not looked at. Where the compiled call has no
boundary the line ends the graph. No buffer is made: it is a tensor to everybody who reads the attribute, and moves with
the module.

Graph breaks: none (the recompile limit). torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.capture_flags import INTEGERS, switched_on
from compilefix.codemods.finding import Finding
from compilefix.codemods.host_effects.deferral import where_to_wrap
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.host_effects.stored import deferred_store
from compilefix.codemods.kept_attributes import assigned
from compilefix.codemods.recompiles.sizes import definition_of
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Class

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
    hints = ("+=", "-=", " + ", " - ", "+1", "-1")
    assumptions = ("state-late", "log-late")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Attributes, and globals, that are counted up or down."""
        held = {id(node) for node, _ in held_counters(scope)}
        if held and switched_on(INTEGERS, scope):
            held = set()
        seen: set[str] = set()
        for node, target in _counters(scope):
            text = ast.unparse(target)
            if text in seen:
                continue
            if isinstance(target, ast.Name):
                if not _is_global_counter(target, scope):
                    continue
                reason = _ADVICE_GLOBAL
            elif id(node) in held:
                reason = _ADVICE
            elif isinstance(target, ast.Attribute) and _is_class_integer(target, scope):
                reason = _ADVICE_GLOBAL
            else:
                continue
            seen.add(text)
            message = f"`{text}` is a constant to Dynamo and changes with every call: each value is compiled anew"
            yield self._judge(node, message, reason, scope)

    def _judge(self, node: ast.stmt, message: str, advice: str, scope: Scope) -> Finding:
        """What is only counted is counted at the boundary; for all else there is the advice."""
        if scope.logging == "boundary" and isinstance(node, ast.AugAssign) and _is_own(node.target, scope):
            try:
                fix = deferred_store(node, scope)
            except Refused as refusal:
                return self.declined(scope, node, message, f"{advice}; not counted at its end: {refusal}")
            return self.fixed(scope, node, message + where_to_wrap(scope), fix)
        return self.declined(scope, node, message, advice)


def held_counters(scope: Scope) -> Iterator[tuple[ast.stmt, ast.Attribute]]:
    """The integers of a module, and of an object that it holds, that a function counts, and the statements."""
    for node, target in _counters(scope):
        if isinstance(target, ast.Attribute) and (_is_module_integer(target, scope) or _is_held(target, scope)):
            yield node, target


def _counters(scope: Scope) -> Iterator[tuple[ast.stmt, ast.expr]]:
    for node in scope.among(ast.AugAssign, ast.Assign):
        target = _counted(node, scope)
        if target is not None and not _is_reset(target, node, scope):
            yield node, target


def _counted(node: ast.AST, scope: Scope) -> ast.expr | None:
    """What `t += 1` or `t = t + 1` counts."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        return node.target if _is_integer(node.value, scope) else None
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.BinOp):
        target, value = node.targets[0], node.value
        if (
            isinstance(value.op, ast.Add | ast.Sub)
            and ast.unparse(target) == ast.unparse(value.left)
            and _is_integer(value.right, scope)
        ):
            return value.left  # of which more is known than of the target
    return None


def _is_integer(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a written integer, or a size."""
    value = scope.value(node)
    if value.const is not None:
        return type(value.const.value) is int
    return value.is_(Kind.SIZE) and value.dtype == "int"


def _owner_class(scope: Scope) -> Class | None:
    function = scope.function
    while function.parent is not None:
        function = function.parent
    return function.cls


def _is_own(target: ast.expr, scope: Scope) -> bool:
    return isinstance(target, ast.Attribute) and _is_module_integer(target, scope)


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
    return scope.legality.inference.project.is_module_class(cls) and _made_an_integer(cls, target.attr, scope)


def _is_held(target: ast.Attribute, scope: Scope) -> bool:
    """Whether the target is an attribute of an object of the project that this module holds."""
    own, holder = _owner_class(scope), definition_of(target.value, scope)
    project = scope.legality.inference.project
    if own is None or not project.is_module_class(own) or not isinstance(holder, ast.Attribute):
        return False
    while isinstance(holder, ast.Attribute):
        holder = holder.value
    if not isinstance(holder, ast.Name) or not scope.function.parameters:
        return False
    ref = scope.value(target.value).ref
    cls = project.resolve(ref) if ref is not None else None
    is_own = holder.id == scope.function.parameters[0].arg
    return is_own and isinstance(cls, Class) and _made_an_integer(cls, target.attr, scope)


def _made_an_integer(cls: Class, attribute: str, scope: Scope) -> bool:
    """Whether `__init__` makes an attribute an integer, or else the body of the class."""
    for owner in scope.legality.inference.project.ancestors(cls):
        if isinstance(owner, Class) and "__init__" in owner.methods:
            values = list(assigned(owner.methods["__init__"].node, attribute))
            if values:
                return all(isinstance(v, ast.Constant) and type(v.value) is int for v in values)
    return _is_class_constant(cls, attribute)


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
    """Whether the function itself sets the counter to a constant: then every call sees the same values.

    What is set where the counter says so (`if self.step > 9: self.step = 0`) goes round.
    """
    text = ast.unparse(target)
    return any(
        isinstance(n, ast.Assign)
        and n is not node
        and isinstance(n.value, ast.Constant)
        and any(ast.unparse(t) == text for t in n.targets)
        and not any(_asks(above, text, scope) for above in scope.ancestors(n))
        for n in scope.nodes
    )


def _asks(node: ast.AST, text: str, scope: Scope) -> bool:
    """Whether an `if` asks for the counter, or for what was found out about it."""
    if not isinstance(node, ast.If):
        return False
    tests = [node.test, *(definition_of(n, scope) for n in ast.walk(node.test) if isinstance(n, ast.Name))]
    return any(isinstance(n, ast.Attribute) and ast.unparse(n) == text for test in tests for n in ast.walk(test))
