"""CF103: a check of tensor values that raises.

## What it does
Finds `if bad.any(): raise ...`, where the condition is a tensor.

## Why is this bad
Python asks the tensor for its truth, so Dynamo ends the graph at the check (GB0170) though it nearly always passes. On
a GPU the check waits for the device.

## Example
```python
if torch.isnan(x).any():
    raise ValueError("NaN in the input")
```

## Use instead
Check where the input enters the program, outside the compiled function, or let the caller switch the check off.
`torch._assert_async` keeps the check in the graph, but changes the exception to RuntimeError and leaves a CUDA context
that cannot be used any more.

## Fix safety
There is no fix: each rewrite that was measured changes the type of the exception, its text or the moment at which it
is raised.

Graph breaks: GB0170. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import tensor_tests


class TensorValidation(Rule):
    """Validation of tensor values."""

    code = "CF103"
    name = "tensor-validation"
    summary = "check of tensor values that raises"
    gb = ("GB0170",)
    hints = ("raise",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`if` statements on a tensor that only raise."""
        for node in scope.nodes:
            if (
                isinstance(node, ast.If)
                and len(node.body) == 1
                and isinstance(node.body[0], ast.Raise)
                and not node.orelse
            ):
                tests = tensor_tests(node.test, scope)
                if tests:
                    message = f"`{ast.unparse(tests[0])}` is a tensor: the check breaks the graph"
                    reason = "a check must keep its exception's type, text and moment: make it where the input enters, outside the compiled code"
                    yield self.declined(scope, node, message, reason)
