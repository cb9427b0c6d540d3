"""CF104: a `while` loop on a tensor.

## What it does
Finds `while` loops whose condition is a tensor.

## Why is this bad
Python asks the tensor for its truth before each turn, so Dynamo gives up on the whole function: a break inside a loop
cannot be resumed (GB0170, GB7000).

## Example
```python
while error > tolerance:
    x, error = step(x)
```

## Use instead
A loop with a fixed number of turns, in which finished elements keep their value:
```python
for _ in range(max_steps):
    new_x, new_error = step(x)
    active = error > tolerance
    x = torch.where(active, new_x, x)
    error = torch.where(active, new_error, error)
```

## Fix safety
There is no fix: the number of turns that is enough is not in the code. `torch._higher_order_ops.while_loop` gives a
wrong gradient for zero turns in torch 2.13.

Graph breaks: GB0170, GB7000. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.conditions import tensor_tests
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope


class TensorWhile(Rule):
    """While loop on a tensor."""

    code = "CF104"
    name = "tensor-while"
    summary = "while loop on a tensor"
    gb = ("GB0170", "GB7000")
    hints = ("while",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`while` loops whose test is a tensor."""
        for node in scope.nodes:
            if isinstance(node, ast.While):
                tests = tensor_tests(node.test, scope)
                if tests:
                    message = f"`{ast.unparse(tests[0])}` is a tensor: the loop on it makes Dynamo skip the function"
                    yield self.declined(
                        scope,
                        node.test,
                        message,
                        "the number of turns is not known: give the loop a bound and mask finished elements",
                    )
