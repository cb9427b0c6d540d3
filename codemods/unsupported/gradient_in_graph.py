"""CF712: gradients that compiled code asks for itself.

## What it does
Finds `torch.autograd.grad`, `torch.autograd.backward` and `loss.backward()` in compiled code.

## Why is this bad
Dynamo traces no backward pass: the graph breaks there (GB9186, GB0123), and what the gradient is computed of runs again
outside of it.

## Example
```python
def forward(self, positions):
    energy = self.energy(positions)
    return energy, -torch.autograd.grad(energy.sum(), positions)[0]
```

## Use instead
```python
def forward(self, positions):
    gradient, energy = torch.func.grad_and_value(lambda p: self.energy(p).sum())(positions)
    return energy, -gradient
```
In a training step, compile what computes the loss, and call `backward()` outside.

## Fix safety
This rule has no fix: the function to differentiate is spread over the code before the call. Newer versions of torch
have `torch._dynamo.config.trace_autograd_ops = True`, which traces the call where the tensor required a gradient before
the compiled code began.

Graph breaks: GB0123, GB9186. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet

_ADVICE = {
    "torch.autograd.grad": "use `torch.func.grad` of a function, or compile what the gradient is computed of",
    "torch.autograd.backward": "compile what computes the loss, and call it outside",
    "Tensor.backward": "compile what computes the loss, and call `backward()` outside",
}


class GradientInGraph(Rule):
    """Gradient that compiled code asks for."""

    code = "CF712"
    name = "gradient-in-graph"
    summary = "torch.autograd.grad or backward() in compiled code"
    gb = ("GB0123", "GB9186")
    hints = ("autograd", "backward")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls that start a backward pass."""
        for node in scope.of(ast.Call):
            name = scope.callee(node) or ""
            method = isinstance(node.func, ast.Attribute) and node.func.attr == "backward"
            if method and isinstance(node.func, ast.Attribute) and scope.value(node.func.value).is_tensor:
                name = "Tensor.backward"
            if name in _ADVICE:
                gb = "GB9186" if name == "torch.autograd.grad" else "GB0123"
                message = f"`{snippet(node)}` starts a backward pass: the graph breaks"
                yield self.declined(scope, node, message, _ADVICE[name], gb=(gb,))
