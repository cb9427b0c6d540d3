"""CF712: gradients that compiled code asks for itself.

## What it does
Finds `torch.autograd.grad`, `torch.autograd.backward` and `loss.backward()` in compiled code, and optimisers that are
made there, or whose `zero_grad()` is called.

## Why is this bad
Dynamo traces no backward pass: the graph breaks there (GB9186, GB0123), and what the gradient is computed of runs again
outside of it. Nor does it trace what makes an optimiser or resets gradients (GB0008).

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

Where a function makes a tensor, asks for its gradient and computes something of it, the fix is this:
```python
x = x.clone().requires_grad_()                 # x = x.clone()
y = self.f(x)                                  # y, backward = torch.func.vjp(lambda x: self.f(x), x)
g = torch.autograd.grad(y, x, weight)[0]       # with torch.no_grad():
                                               #     gradient = backward(weight)
                                               # g = gradient[0]
```

## Fix safety
The fix needs `gradient-function`, since what is called runs under `torch.func.vjp` then, and `no-gradient`, since the
tensor requires no gradient any more, nor what is computed of it alone. The gradient has a graph of its own only where
`create_graph` asks for one.

Declined for a tensor that comes from outside (an argument whose gradient is asked: that it requires one is decided
elsewhere), for a gradient of several tensors or one that may be None (`allow_unused`), and where the function asks for
another gradient. Declined where the code between writes in place or into an attribute, binds a name that has a value
before, or leaves one behind that is not proved to be a tensor. Newer versions of torch have
`torch._dynamo.config.trace_autograd_ops = True`, which traces the call where the tensor required a gradient before the
compiled code began: CF717 switches it on.

Graph breaks: GB0008, GB0123, GB9186. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.unsupported.local_gradient import local_gradient
from compilefix.source.snippets import snippet

_ADVICE = {
    "torch.autograd.grad": "use `torch.func.grad` of a function, or compile what the gradient is computed of",
    "torch.autograd.backward": "compile what computes the loss, and call it outside",
    "Tensor.backward": "compile what computes the loss, and call `backward()` outside",
    "torch.optim": "make the optimiser once, outside the compiled code",
    "zero_grad": "call it outside the compiled code",
}
_CHECKPOINT = "`torch.utils.checkpoint.checkpoint` with `use_reentrant=False` computes a part again in compiled code"
_IDS = {"torch.autograd.grad": "GB9186", "torch.optim": "GB0008", "zero_grad": "GB0008"}
_BACKWARD_OPTIONS = frozenset({"gradient", "retain_graph", "create_graph", "inputs"})
_NOT_OPTIMISERS = frozenset({"torch.optim.swa_utils", "torch.optim.lr_scheduler"})


class GradientInGraph(Rule):
    """Gradient that compiled code asks for."""

    code = "CF712"
    name = "gradient-in-graph"
    summary = "torch.autograd.grad or backward() in compiled code"
    gb = ("GB0008", "GB0123", "GB9186")
    hints = ("autograd", "backward", "optim", "zero_grad", "grad(")
    assumptions = ("no-gradient", "gradient-function")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls that start a backward pass, make an optimiser or reset the gradients."""
        for node in scope.of(ast.Call):
            name = scope.callee(node) or ""
            if _is_backward(node, scope):
                name = "Tensor.backward"
            elif _makes_optimiser(name):
                name = "torch.optim"
            elif _resets(node, scope):
                name = "zero_grad"
            if name in _ADVICE:
                does = {"torch.optim": "makes an optimiser", "zero_grad": "resets gradients"}
                message = f"`{snippet(node)}` {does.get(name, 'starts a backward pass')}: the graph breaks"
                ids = (_IDS.get(name, "GB0123"),)
                fix = local_gradient(node, scope) if name == "torch.autograd.grad" else None
                if isinstance(fix, Fix):
                    yield self.fixed(scope, node, message, fix, gb=ids)
                else:
                    advice = _CHECKPOINT if _is_checkpoint(scope) else _ADVICE[name]
                    reason = f"{fix}; {advice}" if fix else advice
                    yield self.declined(scope, node, message, reason, gb=ids)


def _is_checkpoint(scope: Scope) -> bool:
    """Whether the function is the backward pass of a checkpoint, which computes again what it takes the gradient of."""
    owner, project = scope.function.cls, scope.legality.inference.project
    if owner is None or scope.function.node.name != "backward" or not project.is_autograd_function(owner):
        return False
    return "torch.enable_grad" in scope.called


def _is_backward(node: ast.Call, scope: Scope) -> bool:
    """Whether `loss.backward()` is called: of a tensor, or of something unknown with nothing but a tensor's options."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "backward":
        return False
    value = scope.value(node.func.value)
    if value.is_tensor:
        return True
    plain = not node.args and all(k.arg in _BACKWARD_OPTIONS for k in node.keywords)
    return plain and value.is_unknown and scope.callee(node) is None


def _makes_optimiser(name: str) -> bool:
    if not name.startswith("torch.optim.") or any(name.startswith(other) for other in _NOT_OPTIMISERS):
        return False
    return name.rpartition(".")[2][:1].isupper()


def _resets(node: ast.Call, scope: Scope) -> bool:
    """Whether an optimiser resets gradients: one made in the function, or an unknown object named like one."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "zero_grad":
        return False
    owner = node.func.value
    if not scope.value(owner).is_unknown:
        return False
    if isinstance(owner, ast.Name):
        statements = (scope.parents.get(store) for store in scope.names(owner.id, stores=True))
        values = [s.value for s in statements if isinstance(s, ast.Assign)]
        if any(isinstance(v, ast.Call) and _makes_optimiser(scope.callee(v) or "") for v in values):
            return True
    return "optim" in snippet(owner).rpartition(".")[2].lower()
