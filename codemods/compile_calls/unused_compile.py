"""CF801: the result of torch.compile is not used.

## What it does
Finds `torch.compile(model)` as a statement of its own, a compiled object under a name or attribute that nothing reads,
and one of which only the parameters, the state or the mode are used, while what was compiled is called itself.

## Why is this bad
`torch.compile` changes nothing in what it is given: it returns another object, and only calls of that run compiled. The
program runs as before, in eager, without a word.

## Example
```python
torch.compile(model)
for batch in loader:
    loss = model(batch)
```

## Use instead
```python
model = torch.compile(model)
for batch in loader:
    loss = model(batch)
```

Or `model.compile()`, which compiles the calls of the module itself and keeps the names in its `state_dict`.

## Fix safety
The fix gives the result to the name or attribute that was compiled. It rests on `takes-effect`: what ran in eager runs
compiled from now on. Where that may be a module it rests on `checkpoint-names` too, and is declined where the file asks
a module for the names of its parameters or layers, which begin with `_orig_mod.` then: `model.compile()` keeps them. It
is declined where the name is compiled again, or asked for its class, where it belongs to another scope or to an
imported module, and there is none for a result under a name that nothing calls: which of the calls were meant is not
known.

Not reported: a compiled object that is called anywhere, handed on, kept or returned.

Graph breaks: none. torch: all supported versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.codemods.compile_calls.original_called import is_only_looked_at
from compilefix.codemods.compile_calls.places import is_expected_to_fail
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.module_rule import CompileCall, ModuleRule, ModuleView
from compilefix.source.snippets import snippet

_ASKS_NAMES = re.compile(
    r"\.(named_parameters|named_modules|named_buffers|named_children|get_submodule|get_parameter)\("
)
_REASON = "what ran in eager runs compiled from now on"


class UnusedCompile(ModuleRule):
    """The result of torch.compile is not used."""

    code = "CF801"
    name = "unused-compile"
    summary = "result of torch.compile that nothing uses"
    effect = "slow"
    assumptions = ("takes-effect", "checkpoint-names")
    hints = ("compile",)

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The compile calls whose result is dropped or never read."""
        for call in view.calls:
            parent = view.parents.get(call.node)
            if call.target is None or is_expected_to_fail(call.node, view):
                continue
            if isinstance(parent, ast.Expr):
                yield self._dropped(call, parent, view)
            elif isinstance(parent, ast.Assign):
                yield from self._never_called(call, parent, view)

    def _never_called(self, call: CompileCall, statement: ast.Assign, view: ModuleView) -> Iterator[Finding]:
        assert call.target is not None
        name, original = ast.unparse(statement.targets[0]), snippet(call.target)
        if _is_never_read(statement, view):
            message = f"`{name}` is compiled and never used; `{original}` runs in eager"
        elif is_only_looked_at(statement, call.target, view):
            message = f"`{name}` is compiled, but what is called is `{original}`, which runs in eager"
        else:
            return
        yield self.declined_at(view, statement, message, f"call `{name}` where `{original}` is called")

    def _dropped(self, call: CompileCall, statement: ast.Expr, view: ModuleView) -> Finding:
        assert call.target is not None
        text = snippet(call.target)
        message = f"`torch.compile` returns the compiled object and leaves `{text}` as it is: nothing is compiled here"
        reason = _why_not_assigned(call.target, view)
        is_function = _is_function(call.target, view)
        if reason is None and not is_function and _ASKS_NAMES.search(view.file.text):
            reason = f"names that the file asks a module for would begin with `_orig_mod.`: use `{text}.compile()`"
        reason = reason or _asked_otherwise(call, view)
        if reason is not None:
            return self.declined_at(view, statement, message, reason)
        edit = view.edit(statement, "{target} = {call}", target=call.target, call=call.node)
        reasons = (
            (_REASON,) if is_function else (_REASON, "the names in the state of a module get `_orig_mod.` before them")
        )
        return self.fixed_at(view, statement, message, Fix((edit,), (), self.assumptions[: len(reasons)], reasons))


def _asked_otherwise(call: CompileCall, view: ModuleView) -> str | None:
    """What is done with the name that a compiled module does not take: it is compiled again, or asked for its class."""
    assert call.target is not None
    text, local = ast.unparse(call.target), isinstance(call.target, ast.Name)

    def is_it(node: ast.expr | None) -> bool:
        here = not local or node is None or view.holder(node) is view.holder(call.node)
        return node is not None and here and ast.unparse(node) == text

    again = next((c for c in view.calls if c is not call and is_it(c.target)), None)
    if again is not None:
        return f"line {again.node.lineno} compiles `{snippet(call.target)}` too, which twice is no module any more"
    asked = (n for n in view.nodes if isinstance(n, ast.Call) and ast.unparse(n.func) in ("isinstance", "type"))
    if any(n.args and is_it(n.args[0]) for n in asked):
        return f"what is compiled has another class, for which the file asks: use `{text}.compile()`"
    return None


def _is_function(target: ast.expr, view: ModuleView) -> bool:
    """Whether what is compiled is known to be a function of the file, or a method."""
    if isinstance(target, ast.Attribute):
        return target.attr in ("forward", "__call__")
    defined = (n for n in view.nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
    kinds = {type(n) for n in defined if isinstance(target, ast.Name) and n.name == target.id}
    return bool(kinds) and ast.ClassDef not in kinds


def _why_not_assigned(target: ast.expr, view: ModuleView) -> str | None:
    """Why the result cannot be given to what was compiled; None where it can."""
    first = target
    while isinstance(first, ast.Attribute):
        first = first.value
    if not isinstance(first, ast.Name):
        return "give the result a name, and call that"
    if isinstance(target, ast.Attribute):
        other = view.module.imported(first.id) is not None
        return f"`{snippet(target)}` belongs to another module: give the result a name of its own" if other else None
    holder = view.holder(target)
    if isinstance(holder, ast.Module):
        return None
    if isinstance(holder, ast.Lambda):
        return "give the result a name, and call that"
    arguments = holder.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    own = target.id in (p.arg for p in parameters if p is not None) or any(  # type: ignore[attr-defined]
        isinstance(n.ctx, ast.Store) and view.holder(n) is holder for n in view.names(holder, first.id)
    )
    return None if own else f"`{first.id}` belongs to another scope: give the result a name of its own, and call that"


def _is_never_read(statement: ast.Assign, view: ModuleView) -> bool:
    """Whether the result is given to a local name that nothing in its function reads."""
    holder = view.holder(statement)
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(target, ast.Name) or target.id.startswith("_"):
        return False
    if isinstance(holder, ast.Module | ast.Lambda):
        return False
    declared = any(isinstance(n, ast.Global | ast.Nonlocal) and target.id in n.names for n in ast.walk(holder))
    whole = any(
        name in ("locals", "exec", "eval") for name in (n.id for n in ast.walk(holder) if isinstance(n, ast.Name))
    )
    return not declared and not whole and all(isinstance(n.ctx, ast.Store) for n in view.names(holder, target.id))
