"""CF711: `torch.autograd.Variable` in compiled code.

## What it does
Finds `Variable(t)` of PyTorch before 0.4, and writes `t.detach()`, or `t` where that makes a tensor which requires no
gradient.

## Why is this bad
Tensors and variables are one since then, and the old class is not traced: the graph breaks (GB0007).

## Example
```python
eye = Variable(torch.eye(3), requires_grad=False).to(x.device)
```

## Use instead
```python
eye = torch.eye(3).to(x.device)
```

## Fix safety
Safe for a tensor: a variable shares its memory, and no gradient flows through it. No fix with `requires_grad=True`,
which makes a leaf of its own (see CF702), and where it is not known that it is made of a tensor.

Graph breaks: GB0007. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

_NAMES = ("torch.autograd.Variable", "torch.autograd.variable.Variable")


class LegacyVariable(Rule):
    """Variable of old PyTorch."""

    code = "CF711"
    name = "legacy-variable"
    summary = "torch.autograd.Variable in compiled code"
    gb = ("GB0007",)
    hints = ("Variable",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of the old class."""
        for node in scope.of(ast.Call):
            if scope.callee(node) not in _NAMES or not node.args:
                continue
            message = f"`{snippet(node)}` is of PyTorch before 0.4 and not traced: the graph breaks"
            reason = _refused(node, scope)
            if reason is not None:
                yield self.declined(scope, node, message, reason)
                continue
            template = Template()
            new = _is_new(node.args[0], scope)
            code = template.use(node.args[0]) if new else f"{template.use(node.args[0], operand=True)}.detach()"
            yield self.fixed(scope, node, message, Fix((scope.edit(node, code, **template.parts),)))


def _refused(node: ast.Call, scope: Scope) -> str | None:
    """Why a variable is not just a detached tensor."""
    options = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
    if any(keyword.arg == "volatile" for keyword in node.keywords):
        return "`volatile` does nothing but warn: leave out `Variable`, and use `torch.no_grad()` where it was set"
    named = {keyword.arg for keyword in node.keywords} <= {"requires_grad"} and len(options) <= 1
    if not named or not all(isinstance(o, ast.Constant) and o.value is False for o in options):
        return "it may require a gradient: make it before the code is compiled"
    value = scope.value(node.args[0])
    if not value.is_tensor or not value.certain:
        return f"`{snippet(node.args[0])}` is not proved to be a tensor; of one, use `.detach()`"
    return None


def _is_new(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression makes a tensor of its own, which requires no gradient: nothing is there to detach from."""
    value = scope.value(node)
    made = isinstance(node, ast.Call) and (scope.callee(node) or "").startswith(("torch.", "Tensor."))
    if not made or not value.storage or value.leaves:
        return False
    inside = [part for part in ast.walk(node) if isinstance(part, ast.expr) and part is not node]
    return not any(scope.value(part).storage & value.storage for part in inside)
