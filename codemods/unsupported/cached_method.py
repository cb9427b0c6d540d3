"""CF718: a cache round a bound method, kept on the object.

## What it does
Finds calls of `self.build(...)` in compiled code, where the class keeps `self.build = lru_cache(100)(self.build)`, and
takes the cache away.

## Why is this bad
Dynamo looks through `lru_cache` round a function, also as the decorator of a method, but not round a bound method: the
graph breaks at each call (GB0156).

## Example
```python
class Pattern:
    def __init__(self, steps):
        self.steps = steps
        self.indexes = lru_cache(100)(self.indexes)

    def indexes(self, length):
        return torch.arange(length) % self.steps
```

## Use instead
```python
class Pattern:
    def __init__(self, steps):
        self.steps = steps

    def indexes(self, length):
        return torch.arange(length) % self.steps
```

## Fix safety
The method is called each time then, also outside of compiled code: what it computes with does not change between two
calls, nobody writes into what it returned or asks whether it is the same object, and arguments without a hash raise no
TypeError (`computed-again`). In a compiled graph Dynamo computes it each time with a decorated method, too.

Declined where computing the value has an effect, draws random numbers or may do so as far as is known, where the method
calls itself, which the cache may make fast, where a caller writes into what it is given, by whatever name, and where
something asks the cache itself (`cache_clear`, `cache_info`) or takes it without calling it. Declined where the method
is given a tensor, or computes with one of the object, since what is kept has the gradient of the first call; where the
file changes what it reads of the object; and where the class stands in another file.

Graph breaks: GB0156. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.unsupported.cached_property import effect_of_repeating
from compilefix.codemods.unsupported.written_results import written_result
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet
from compilefix.source.tree import parents

_CACHES = ("functools.lru_cache", "functools.cache")
_OF_THE_CACHE = r"\.(?:cache_clear|cache_info|cache_parameters|__wrapped__)\b"
_MAKERS = ("__init__", "__post_init__")
_ADVICE = "decorate a function with `lru_cache`, or compute it in `__init__`"


class CachedMethod(Rule):
    """Cache round a bound method."""

    code = "CF718"
    name = "cached-method"
    summary = "a bound method in a cache, called in compiled code"
    gb = ("GB0156",)
    hints = ("(",)
    assumptions = ("computed-again",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of methods that their object keeps in a cache, each method once."""
        seen: set[str] = set()
        texts = scope.legality.inference.project.modules.texts
        if scope.function.module.name not in texts.matching("functools", r"\b(?:lru_)?cache\b"):
            return
        for call in scope.of(ast.Call):
            if not isinstance(call.func, ast.Attribute) or call.func.attr in seen:
                continue
            kept = _kept(call.func, scope)
            if kept is None:
                continue
            seen.add(call.func.attr)
            maker, statement, method = kept
            message = f"`{snippet(call.func)}` is a bound method in a cache, which Dynamo does not trace"
            reason = _refused(call, maker, method, scope)
            if reason is not None:
                yield self.declined(scope, call, message, f"{reason}: {_ADVICE}")
                continue
            why = f"`{method.qualname}` is computed at each call"
            edit = _without_cache(statement, maker, scope)
            yield self.fixed(scope, call, message, Fix((edit,), (), self.assumptions, (why,)))


def _kept(node: ast.Attribute, scope: Scope) -> tuple[Function, ast.Assign, Function] | None:
    """Where the class of an object puts a method of it into a cache under this name, and the method."""
    base = scope.value(node.value)
    if not base.is_(Kind.OBJECT) or base.ref is None:
        return None
    project = scope.legality.inference.project
    cls = project.resolve(base.ref)
    if not isinstance(cls, Class):
        return None
    for name in _MAKERS:
        maker = project.method(cls, name)
        for statement in maker.of(ast.Assign) if maker is not None else ():
            if maker is None or not _is_own(statement.targets[0], node.attr, maker) or len(statement.targets) > 1:
                continue
            inner = _cached(statement.value, maker, scope)
            method = project.method(cls, inner) if inner is not None else None
            if method is None or isinstance(method.node, ast.AsyncFunctionDef):
                continue
            if not method.is_static and not method.is_property and not method.decorators:
                return maker, statement, method
    return None


def _is_own(node: ast.expr, name: str, method: Function) -> bool:
    """Whether this is an attribute of the object that a method is called on."""
    instance = method.parameters[0].arg if method.parameters else None
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == instance
    )


def _cached(value: ast.expr, maker: Function, scope: Scope) -> str | None:
    """The method of the object that a cache is put round: `lru_cache(100)(self.build)`, `cache(self.build)`."""
    if not isinstance(value, ast.Call) or len(value.args) != 1 or value.keywords:
        return None
    inner = value.args[0]
    if not isinstance(inner, ast.Attribute) or not _is_own(inner, inner.attr, maker):
        return None
    made = value.func if isinstance(value.func, ast.Call) else value
    return inner.attr if scope.legality.inference.facts(maker).callee(made) in _CACHES else None


def _refused(call: ast.Call, maker: Function, method: Function, scope: Scope) -> str | None:
    """Why the cache is left where it is."""
    module = scope.function.module
    if maker.module is not module or method.module is not module:
        return "its class stands in another file"
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if any(node.attr in (name, method.node.name) for node in method.of(ast.Attribute)):
        return "the method calls itself, for which the cache may be"
    project = scope.legality.inference.project
    for one in (method, *project.overriding_anywhere(method)):
        if one is None:
            return "too many classes may have another method in its place"
        if (effect := effect_of_repeating(one, scope)) is not None:
            return effect
    texts = project.modules.texts
    if texts.matching(f".{name}.", rf"\.{name}{_OF_THE_CACHE}"):
        return "something asks the cache itself"
    elsewhere = set(texts.matching(name, rf"\.{name}\s*(:[^=\n]+)?=[^=]|\bdel\b[^\n]*\.{name}\b")) - {module.name}
    if elsewhere or sum(_stores(node, name) for node in ast.walk(module.file.tree)) > 1:
        return "the attribute is stored or deleted elsewhere, too"
    given = next((a for a in (*call.args, *(k.value for k in call.keywords)) if scope.value(a).is_tensor), None)
    if given is not None:
        return f"the cache tells `{snippet(given)}` by which tensor it is, not by its values"
    changing = _handed_on(call, maker, scope) or _changing(method, scope)
    return changing or written_result(name, scope)


def _stores(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load)


def _handed_on(call: ast.Call, maker: Function, scope: Scope) -> str | None:
    """A place in the file that takes the cache for something else than to call it."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    tree = maker.module.tree
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    called |= {node.args[0] for node in maker.of(ast.Call) if len(node.args) == 1 and _cached(node, maker, scope)}
    for node in ast.walk(tree):
        loads = isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load)
        if loads and node not in called:
            return f"`{snippet(node)}` is handed on"
        if isinstance(node, ast.Constant) and node.value == name:
            return f"the attribute is named by the text `{snippet(node)}`"
    return None


def _changing(method: Function, scope: Scope) -> str | None:
    """What the method reads of the object that training changes, or other code."""
    stored = {
        node.attr: function.qualname
        for function in method.module.all_functions
        if function.node.name not in _MAKERS
        for node in function.of(ast.Attribute)
        if not isinstance(node.ctx, ast.Load)
    }
    for function in (method, *scope.legality.called(method)):
        instance = function.parameters[0].arg if function.cls is not None and function.parameters else None
        facts = scope.legality.inference.facts(function)
        for node in function.of(ast.Attribute):
            if not isinstance(node.value, ast.Name) or node.value.id != instance:
                continue
            if node.attr in stored:
                return f"`{stored[node.attr]}` changes `{snippet(node)}`"
            value = facts.value(node)
            layer = (value.ref or "").startswith("torch.nn.")
            if layer or (value.may_be(Kind.TENSOR) and not value.is_unknown):
                return f"what is kept has the gradient of `{snippet(node)}` as it was, also in a copy of the object"
    return None


def _without_cache(statement: ast.Assign, maker: Function, scope: Scope) -> Edit:
    """The method itself in place of its cache; nothing where it has the same name."""
    target, value = statement.targets[0], statement.value
    inner = value.args[0] if isinstance(value, ast.Call) else value
    alone = parents(maker.nodes).get(statement) is not maker.node or len(maker.node.body) == 1
    if (
        isinstance(target, ast.Attribute)
        and isinstance(inner, ast.Attribute)
        and target.attr == inner.attr
        and not alone
    ):
        return scope.edit(statement, "")
    return scope.edit(value, ast.unparse(inner))
