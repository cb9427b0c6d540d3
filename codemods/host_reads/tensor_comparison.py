"""CF204: a comparison of tensors that gives a Python bool.

## What it does
Finds `torch.equal`, `torch.allclose` and `torch.is_nonzero`, as functions and methods.

## Why is this bad
They return a Python bool and not a tensor, so the values must be there while Dynamo traces: the graph ends at the call
(GB0033), and on a GPU the program waits for the device.

## Example
```python
if torch.equal(x, y):
    y = x
```

## Use instead
A tensor, which stays in the graph:
```python
y = torch.where((x == y).all(), x, y)
```

## Fix safety
There is no fix: `torch.equal` is also False for tensors of other shapes, for which `==` broadcasts or raises, and what
is done with the bool decides what can take its place.

Graph breaks: GB0033. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet

_ADVICE = {
    "equal": "compare with `(a == b).all()`, which stays a tensor, where the shapes are known to be equal",
    "allclose": "compare with `torch.isclose(a, b).all()`, which stays a tensor",
    "is_nonzero": "compare with `t != 0`, which stays a tensor",
}


class TensorComparison(Rule):
    """Comparison of tensors that gives a Python bool."""

    code = "CF204"
    name = "tensor-comparison"
    summary = "comparison of tensors that returns a Python bool"
    gb = ("GB0033",)
    hints = ("equal(", "allclose(", "is_nonzero(")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls by the name of what is called."""
        for node in scope.nodes:
            if not isinstance(node, ast.Call):
                continue
            owner, _, name = (scope.callee(node) or "").rpartition(".")
            if name in _ADVICE and owner in ("torch", "Tensor"):
                message = f"`{snippet(node)}` needs the tensors' values for a Python bool: the graph breaks"
                yield self.declined(scope, node, message, _ADVICE[name])
