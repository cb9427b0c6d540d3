"""CF811: a method of a compiled module, which runs in eager.

## What it does
Finds calls such as `model.predict(x)` where `model` is the result of `torch.compile`, and the method, in a class of the
project, calls the module itself or its parts; and `model.generate(...)` where the class is not known.

## Why is this bad
`torch.compile(model)` compiles the calls of the module, which run `forward`. Every other method is that of the original
module: it runs in eager, and `self(x)` inside it is the original, too. On PyTorch 2.13 such a method compiles no graph
at all, without a word.

## Example
```python
model = torch.compile(model)
labels = model.predict(x)
```

## Use instead
```python
model.compile()
labels = model.predict(x)
```

`model.compile()` compiles the module in place, so that `self(x)` in the method is compiled. A method that calls the
parts and not the module is compiled by itself: `model.encode = torch.compile(model.encode)`.

## Fix safety
This rule has no fix: what ran in eager would run compiled, at other places than the call that was written for it.

Graph breaks: none. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.compile_calls.compiled_uses import Compiled, compiled_in, holds, made_by
from compilefix.codemods.finding import Finding
from compilefix.codemods.module_rule import ModuleRule, ModuleView
from compilefix.source.definitions import Class, Function
from compilefix.source.tree import walk

_WHOLE = "compile in place with `{model}.compile()`: then `self(...)` in the method is compiled"
_PARTS = "compile the method: `{model}.{method} = torch.compile({model}.{method})`"


class EagerMethod(ModuleRule):
    """Method of a compiled module, which runs in eager."""

    code = "CF811"
    name = "eager-method"
    summary = "method of a compiled module, which runs in eager"
    effect = "slow"
    hints = ("compile",)

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The calls of methods of compiled modules."""
        seen: set[tuple[str, str]] = set()
        for compiled in compiled_in(view):
            if compiled.in_place or not isinstance(compiled.target, ast.expr):
                continue
            for node, method in _method_calls(compiled, view):
                advice = _advice(compiled.target, method, view)
                if advice is not None and (compiled.name, method) not in seen:
                    seen.add((compiled.name, method))
                    message = (
                        f"`{method}` of the compiled `{compiled.name}` runs in eager: only calls of `{compiled.name}` "
                        "itself are compiled"
                    )
                    named = isinstance(compiled.target, ast.Name | ast.Attribute)
                    model = ast.unparse(compiled.target) if named else compiled.name
                    yield self.declined_at(view, node, message, advice.format(model=model, method=method))


def _method_calls(compiled: Compiled, view: ModuleView) -> Iterator[tuple[ast.Call, str]]:
    for node in walk(compiled.inside):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = node.func.value
        if isinstance(owner, ast.Name):
            if owner.id == compiled.name and holds(owner, compiled, view):
                yield node, node.func.attr
        elif isinstance(owner, ast.Attribute) and ast.unparse(owner) == compiled.name:
            yield node, node.func.attr


def _advice(target: ast.expr, method: str, view: ModuleView) -> str | None:
    """What to do about a method that computes with the module; None for any other method."""
    made = made_by(target, view)
    name = view.module.qualified(made.func) if made is not None else None
    cls = view.project.resolve(name) if name is not None else None
    if not isinstance(cls, Class):
        # Those of libraries and of factories call the model at each step.
        return _WHOLE if method == "generate" else None
    if not view.project.is_module_class(cls):
        return None
    function = view.project.method(cls, method)
    if any(isinstance(n, ast.Attribute) and n.attr == "compile" for n in walk(cls.node)):
        return None  # It may compile what the method needs.
    if function is None or function.is_static or function.is_property or method in ("forward", "__call__"):
        return None
    called = set(_called_on_self(function))
    if called & {"self", "forward"}:
        return _WHOLE
    return _PARTS if called & _parts(cls, view) else None


def _called_on_self(function: Function) -> Iterator[str]:
    """What a method calls of its object: `self` itself, or the names of attributes."""
    own = function.parameters[0].arg if function.parameters else ""
    for call in function.of(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == own:
            yield "self"
        elif isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == own:
            yield call.func.attr


def _parts(cls: Class, view: ModuleView) -> set[str]:
    """The attributes that `__init__` gives a module of torch's or of the project."""
    found: set[str] = set()
    init = view.project.method(cls, "__init__")
    for node in init.of(ast.Assign) if init is not None else ():
        if not isinstance(node.value, ast.Call) or init is None:
            continue
        name = init.module.qualified(node.value.func) or ""
        made = view.project.resolve(name) if name else None
        torch_made = name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper()
        if (torch_made and name != "torch.nn.Parameter") or (
            isinstance(made, Class) and view.project.is_module_class(made)
        ):
            found.update(t.attr for t in node.targets if isinstance(t, ast.Attribute))
    return found
