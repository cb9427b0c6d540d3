"""CF704: a cached property that is filled in compiled code.

## What it does
Finds reads of a `functools.cached_property` in compiled code.

## Why is this bad
Before Python 3.12 the property takes a lock when it is read for the first time, which Dynamo does not trace: the graph
breaks (GB0142). In any version the value is computed in the first graph and found in later ones, which compiles twice.

## Example
```python
@cached_property
def frequencies(self):
    return torch.arange(self.dim) / self.dim

def forward(self, x):
    return x * self.frequencies
```

## Use instead
```python
@property
def frequencies(self):
    return torch.arange(self.dim) / self.dim
```
which computes it in the graph each time; or a buffer made in `__init__`, or a read before the module is compiled.

## Fix safety
The value is computed at each read: that is the same where what it is made of does not change after the first read, and
nobody writes into the value (`computed-again`). Refused where computing it draws random numbers, writes or prints, or
may do so as far as is known, where it makes memory that is filled later (`torch.empty`), where something writes into
the value in place, and where something stores or deletes the attribute, also through the `__dict__` of an object in
the same file, or the class stands in another file.

Not reported where `__init__` of the class reads the property, itself or in a method or property of the object, since
it is filled then, nor what a cached property reads in its turn.

Graph breaks: GB0142. torch: all supported versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet

_WHOLE = re.compile(r"\b__dict__\b|\bvars\(\w")
_CACHED = "functools.cached_property"
_UNFILLED = frozenset({"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"})
_MANY_MODULES = 20
_ADVICE = "read it once before compiling, or compute it in `__init__` (a tensor as a buffer with `persistent=False`)"


class CachedProperty(Rule):
    """Cached property that is filled in compiled code."""

    code = "CF704"
    name = "cached-property"
    summary = "a cached property is filled in compiled code"
    gb = ("GB0142",)
    hints = ("self.", ".")
    assumptions = ("computed-again",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Reads of cached properties, each property once."""
        if _CACHED in scope.function.decorators:
            return  # what a cached property reads is filled with it, where that is found
        seen: set[str] = set()
        for node in scope.of(ast.Attribute):
            if node.attr in seen or not isinstance(node.ctx, ast.Load):
                continue
            method = _cached(node, scope)
            if method is None or _filled_when_made(node, scope):
                continue
            seen.add(node.attr)
            message = f"`{snippet(node)}` is a cached property: filling it takes a lock, and the graph breaks"
            reason = _refused(method, scope)
            edit = None if reason is not None else _plain(method, scope)
            if edit is None:
                yield self.declined(scope, node, message, f"{reason}: {_ADVICE}" if reason else _ADVICE)
                continue
            why = f"`{method.qualname}` is computed at each read"
            yield self.fixed(scope, node, message, Fix((edit,), (), self.assumptions, (why,)))


def _cached(node: ast.Attribute, scope: Scope) -> Function | None:
    """The method of a cached property that is read."""
    base = scope.value(node.value)
    if not base.is_(Kind.OBJECT) or base.ref is None:
        return None
    project = scope.legality.inference.project
    cls = project.resolve(base.ref)
    method = project.method(cls, node.attr) if isinstance(cls, Class) else None
    return method if method is not None and _CACHED in method.decorators else None


def _filled_when_made(node: ast.Attribute, scope: Scope) -> bool:
    """Whether making the object reads the property, in `__init__` or in what `__init__` asks of the object itself."""
    function, project = scope.function, scope.legality.inference.project
    if function.cls is None or function.is_static or not function.parameters:
        return False
    wanted = _path(node, function)
    if wanted is None or function.node.name == "__init__":
        return False
    pending, seen = ["__init__"], {"__init__"}
    while pending:
        method = project.method(function.cls, pending.pop())
        if method is None:
            continue
        for read in method.of(ast.Attribute):
            path = _path(read, method)
            if path == wanted or (path is not None and path[:-1] == wanted[:-1] and _reads(path[-1], node, scope)):
                return True
            if path is not None and len(path) == 1 and path[0] not in seen:
                seen.add(path[0])
                pending.append(path[0])
    return False


def _path(node: ast.expr, method: Function) -> tuple[str, ...] | None:
    """The names behind the instance: `a`, `b` of `self.a.b`; None for what is no attribute of it."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    instance = method.parameters[0].arg if method.parameters and not method.is_static else None
    return tuple(names) if isinstance(node, ast.Name) and node.id == instance else None


def _reads(other: str, node: ast.Attribute, scope: Scope) -> bool:
    """Whether another property of the same object reads this one."""
    base, project = scope.value(node.value), scope.legality.inference.project
    cls = project.resolve(base.ref) if base.ref is not None else None
    method = project.method(cls, other) if isinstance(cls, Class) else None
    if method is None or not (method.is_property or _CACHED in method.decorators):
        return False
    return any(_path(read, method) == (node.attr,) for read in method.of(ast.Attribute))


def _refused(method: Function, scope: Scope) -> str | None:
    """Why a property may not be computed again."""
    name = method.node.name
    if (effect := effect_of_repeating(method, scope)) is not None:
        return effect
    if (written := _written(name, scope)) is not None:
        return written
    if method.module is not scope.function.module:
        return "its class stands in another file"
    if scope.legality.stores_attribute(name):
        return "the attribute is stored or deleted by name"
    if _WHOLE.search(method.module.file.text):
        return "the file handles all that an object holds, and with it what the property keeps there"
    return None


def effect_of_repeating(method: Function, scope: Scope) -> str | None:
    """What computing a method's value again does besides, or may do; None where it is seen to do nothing."""
    effects = scope.legality.effects.of_function(method)
    for effect in (effects.random, effects.mutates, effects.host):
        if effect is not None:
            return f"computing it has an effect: {effect}"
    if effects.unknown is not None:
        return f"computing it may have an effect: {effects.unknown}"
    if _is_unfilled(method, scope):
        return "it makes memory that is filled later"
    return None


def _is_unfilled(method: Function, scope: Scope) -> bool:
    """Whether a property, or what it calls, makes memory without values, which lasts only where it is kept."""
    inference = scope.legality.inference
    return any(
        (inference.facts(function).callee(call) or "").rpartition(".")[2] in _UNFILLED
        for function in (method, *scope.legality.called(method))
        for call in function.of(ast.Call)
    )


def _written(name: str, scope: Scope) -> str | None:
    """What writes in place into what an attribute of this name holds, or may do so; None where nothing does."""
    modules = scope.legality.inference.project.modules
    named = modules.texts.mentioning(f".{name}")
    if len(named) > _MANY_MODULES:
        return f"`{name}` stands in too many files to tell whether something writes into the value"
    for module in named:
        for node in ast.walk(modules[module].tree):
            if any(_holds(target, name) for target in _targets(node)):
                return f"`{snippet(node)}` writes into the value"
    return None


def _targets(node: ast.AST) -> Iterator[ast.expr]:
    """What a statement or call writes into."""
    if isinstance(node, ast.Assign | ast.Delete):
        parts = (part for target in node.targets for part in ast.walk(target))
        yield from (p.value for p in parts if isinstance(p, ast.Subscript) and not isinstance(p.ctx, ast.Load))
    elif isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Call):
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "out")
        if isinstance(node.func, ast.Attribute) and node.func.attr.endswith("_") and node.func.attr[0] != "_":
            yield node.func.value


def _holds(node: ast.expr, name: str) -> bool:
    """Whether this is what an attribute of a name holds, or a part of it: `x.name.narrow(0, 0, n)`."""
    while True:
        if isinstance(node, ast.Attribute):
            if node.attr == name:
                return True
            node = node.value
        elif isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node = node.func.value
        else:
            return False


def _plain(method: Function, scope: Scope) -> Edit | None:
    """The decorator of a plain property in place of the other."""
    decorators = method.node.decorator_list
    return scope.edit(decorators[0], "property") if len(decorators) == 1 and _means_builtin(method) else None


def _means_builtin(method: Function) -> bool:
    """Whether `property` is Python's where the method stands."""
    module, cls = method.module, method.cls
    own = {"property"} & {*module.imports, *module.functions, *module.classes, *module.assigns}
    return not own and (cls is None or "property" not in cls.methods)
