"""CF806: the state_dict of a compiled module is saved.

## What it does
Finds `torch.save(model.state_dict(), ...)` where `model` is the result of `torch.compile`, in programs that nowhere
deal with the prefix `_orig_mod.`.

## Why is this bad
Every name in that checkpoint begins with `_orig_mod.`. Loaded into the module as it was before compiling, in
evaluation, on a server or with another library, it fails: missing and unexpected keys.

## Example
```python
model = torch.compile(model)
...
torch.save(model.state_dict(), "model.pt")
```

## Use instead
```python
torch.save(getattr(model, "_orig_mod", model).state_dict(), "model.pt")
```

`model.compile()` instead of `model = torch.compile(model)` keeps the names as well.

## Fix safety
The fix saves the state of the module that was compiled, or, where an option or `TORCH_COMPILE_DISABLE` keeps it from
being compiled, of the module itself. The tensors are the same. It rests on `checkpoint-names`: programs that read old
checkpoints of the compiled module have to read both. It is declined where the program loads a checkpoint into the
compiled module: both places have to change.

Graph breaks: none. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.module_rule import COMPILE, Holder, ModuleRule, ModuleView

_SAVES = ("torch.save", "safetensors.torch.save_file", "torch.distributed.checkpoint.save")
_REASON = "the names in the checkpoint lose the prefix `_orig_mod.`"


class CompiledStateDict(ModuleRule):
    """The state_dict of a compiled module is saved."""

    code = "CF806"
    name = "compiled-state-dict"
    summary = "checkpoint of a compiled module, whose names begin with `_orig_mod.`"
    effect = "none"
    assumptions = ("checkpoint-names",)
    hints = ("state_dict()",)

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The saved states of names that hold a compiled module."""
        if not view.calls or view.project.modules.texts.mentioning("_orig_mod"):
            return
        for node in view.nodes:
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            owner = node.func.value
            if node.func.attr != "state_dict" or node.args or node.keywords or not isinstance(owner, ast.Name):
                continue
            compiled = _compiled_before(owner, view)
            if compiled is not None and _is_saved(node, view):
                yield self._judge(node, owner, compiled, view)

    def _judge(self, node: ast.Call, owner: ast.Name, compiled: ast.Assign, view: ModuleView) -> Finding:
        name = owner.id
        message = f"`{name}` is compiled: every name in its `state_dict()` begins with `_orig_mod.`"
        if _is_loaded(owner, compiled, view):
            reason = f"a checkpoint is loaded into the compiled `{name}` too: take `{name}._orig_mod` at both places"
            return self.declined_at(view, node, message, reason)
        edit = view.edit(owner, 'getattr({owner}, "_orig_mod", {owner})', owner=owner)
        return self.fixed_at(view, node, message, Fix((edit,), (), self.assumptions, (_REASON,)))


def _compiled_before(owner: ast.Name, view: ModuleView) -> ast.Assign | None:
    """The statement that gave a name the compiled module that it still holds."""
    holder = view.holder(owner)
    stores = _stores(owner.id, holder, view)
    before = [n for n in stores if n.lineno < owner.lineno]
    if not before or isinstance(holder, ast.Lambda):
        return None
    statement = view.parents.get(before[-1])
    if not isinstance(statement, ast.Assign) or statement.targets != [before[-1]]:
        return None
    value = statement.value
    if isinstance(value, ast.IfExp):
        value = next((v for v in (value.body, value.orelse) if view.is_value(v, COMPILE)), value)
    # With several results of compile calls, or another value later in a loop, it is not this one alone.
    later = [n for n in stores if n.lineno > owner.lineno]
    return statement if view.is_value(value, COMPILE) and not later else None


def _stores(name: str, holder: Holder, view: ModuleView) -> list[ast.Name]:
    found = [n for n in view.names(holder, name) if not isinstance(n.ctx, ast.Load) and view.holder(n) is holder]
    return sorted(found, key=lambda n: (n.lineno, n.col_offset))


def _is_saved(node: ast.expr, view: ModuleView) -> bool:
    """Whether a value goes into a file: at once, in a dict, or by a name that is saved in the same function."""
    for above in view.ancestors(node):
        if isinstance(above, ast.Call):
            return view.module.qualified(above.func) in _SAVES
        if isinstance(above, ast.Assign) and len(above.targets) == 1 and isinstance(above.targets[0], ast.Name):
            name = above.targets[0].id
            holder = view.holder(above)
            return any(
                isinstance(call := view.parents.get(n), ast.Call) and view.module.qualified(call.func) in _SAVES
                for n in view.names(holder, name)
            )
        if isinstance(above, ast.stmt) or not isinstance(above, ast.Dict):
            return False
    return False


def _is_loaded(owner: ast.Name, compiled: ast.Assign, view: ModuleView) -> bool:
    holder = view.holder(owner)
    return any(
        isinstance(above := view.parents.get(n), ast.Attribute)
        and above.attr == "load_state_dict"
        and n.lineno > compiled.lineno
        for n in view.names(holder, owner.id)
    )
