"""CF706: `sorted` on tensors.

## What it does
Finds the builtin `sorted` over a tensor or a list of tensors in compiled code.

## Why is this bad
Python compares the tensors one by one, and each comparison must be known: the graph breaks (GB0207, GB0059). On a GPU
each waits for the device.

## Example
```python
low, high = sorted([x.min(), y.min()])
```

## Use instead
```python
low, high = torch.stack([x.min(), y.min()]).sort().values
```

## Fix safety
This rule has no fix: with NaN among the values Python's order hangs on where they stand, and `torch.sort` puts NaN
last; tensors of different dtypes cannot be stacked. `min` and `max` of tensors do not break in torch 2.13 and are not
reported.

Graph breaks: GB0207, GB0059. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet


class SortedTensors(Rule):
    """`sorted` on tensors."""

    code = "CF706"
    name = "sorted-tensors"
    summary = "the builtin sorted on tensors"
    gb = ("GB0207", "GB0059")
    hints = ("sorted",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of `sorted` on tensors, without a key."""
        for node in scope.of(ast.Call):
            if scope.callee(node) != "sorted" or not node.args or any(k.arg == "key" for k in node.keywords):
                continue
            value = scope.value(node.args[0])
            if value.is_tensor:
                gb, advice = "GB0059", f"use `{snippet(node.args[0])}.sort().values`"
            elif value.element is not None and value.element.is_tensor:
                gb, advice = "GB0207", "use `torch.stack(...).sort().values`"
            else:
                continue
            message = f"`{snippet(node)}` compares tensors on the host and breaks the graph"
            yield self.declined(scope, node, message, f"{advice}, which puts NaN last", gb=(gb,))
