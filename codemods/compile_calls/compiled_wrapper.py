"""CF807: torch.compile is given the wrapper of a distributed model.

## What it does
Finds `torch.compile(DistributedDataParallel(model))`.

## Why is this bad
The wrapper's own code cannot be traced: on PyTorch 2.13 the `forward` of `DistributedDataParallel` breaks the graph
three times (GB0007, GB0156), and with `fullgraph=True` it is an error. What is inside is split at the gradient buckets
either way, so that communication overlaps with the backward pass; compiled inside, it is split without a break.
PyTorch's documentation advises to compile the inner module.

## Example
```python
model = DistributedDataParallel(model)
model = torch.compile(model)
```

## Use instead
```python
model.compile()
model = DistributedDataParallel(model)
```

## Fix safety
This rule has no fix: what reads `model.module` or a checkpoint's names sees another order of wrappers.

Graph breaks: in torch's own code. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.module_rule import ModuleRule, ModuleView

_WRAPPERS = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
)


class CompiledWrapper(ModuleRule):
    """torch.compile is given the wrapper of a distributed model."""

    code = "CF807"
    name = "compiled-wrapper"
    summary = "DistributedDataParallel given to torch.compile"
    hints = ("DistributedDataParallel",)

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The compile calls whose target is such a wrapper."""
        for call in view.calls:
            name = None if call.target is None else _wrapper(call.target, call.node, view)
            if name is not None:
                message = f"the code of `{name}` itself breaks the graph"
                advice = f"compile the module before it is wrapped: `model.compile()`, then `{name}(model)`"
                yield self.declined_at(view, call.node, message, advice)


def _wrapper(target: ast.expr, call: ast.Call, view: ModuleView) -> str | None:
    """The class of the wrapper that a compile call is given."""
    if isinstance(target, ast.Name):
        holder = view.holder(call)
        stores = [
            n
            for n in view.names(holder, target.id)
            if isinstance(n.ctx, ast.Store) and n.lineno < call.lineno and view.holder(n) is holder
        ]
        if not stores:
            return None
        statement = view.parents.get(max(stores, key=lambda n: n.lineno))
        if not isinstance(statement, ast.Assign):
            return None
        target = statement.value
    if not view.is_value(target, _WRAPPERS) or not isinstance(target, ast.Call):
        return None
    return ast.unparse(target.func).rpartition(".")[2]
