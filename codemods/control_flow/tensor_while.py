"""CF104: a loop that a tensor ends.

## What it does
Finds `while` loops whose condition is a tensor, and `for` loops with `if condition: break` on a tensor. A `for` loop
has a bound: it becomes one that runs all its turns and keeps what it had once it has ended.

## Why is this bad
Python asks the tensor for its truth at each turn, so Dynamo gives up on the whole function: a break inside a loop
cannot be resumed (GB0170, GB7000).

## Example
```python
for _ in range(10):
    x = x - step(x)
    if (x - target).norm() < 1e-3:
        break
```

## Use instead
```python
done = torch.zeros((), dtype=torch.bool, device=x.device)
for _ in range(10):
    x = torch.where(done, x, x - step(x))
    done = done | ((x - target).norm() < 1e-3)
```

## Fix safety
The fix needs the assumption `bounded-loop`: all turns are computed, which costs time where the loop used to end early.
Four small layers of eight turns, of which one input in two ended some early, ran 4.1 times as fast in `reduce-overhead`
on an H200, and 0.8 times as fast in the default mode, where launches are what takes time (torch 2.11, 2026-11-23).
What a turn computes must not be able to fail or write, and is selected under the conditions of CF101. `total += step`
makes a new tensor, where nothing else holds the memory. Several ends, counters, `a, b = f(x)`, an `else`, and ways that
Python values decide may stand in the loop. A name that the turns of a `range` give its first value keeps it from the
second turn on. What is said at the end under a flag (`if verbose: print(...)`) stays: with the flag the loop ends as it
did, and breaks the graph.
A turn that draws random numbers draws them always (`rng-stream`). For a `while` loop there is no fix: the number of
turns that is enough is not in the code.
`torch._higher_order_ops.while_loop` gives a wrong gradient for zero turns in torch 2.13.

Graph breaks: GB0170, GB7000. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.conditions import tensor_tests, tensor_words
from compilefix.codemods.control_flow.masked_loop import ends_loop, masked_loop
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import Template, imports
from compilefix.source.snippets import snippet


class TensorWhile(Rule):
    """Loop that a tensor ends."""

    code = "CF104"
    name = "tensor-while"
    summary = "while loop on a tensor, or for loop that a tensor ends"
    gb = ("GB0170", "GB7000")
    hints = ("while", "break")
    assumptions = (
        "bounded-loop",
        "branches-total",
        "condition-one-element",
        "enough-dimensions",
        "same-shape-dtype",
        "finite-derivative",
        "gradient-zeros",
        "no-aliasing",
        "number-to-tensor",
        "float32-rounding",
        "math-errors",
        "no-recompute",
        "rng-stream",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`while` loops whose test is a tensor, and `for` loops with a way out on one."""
        for node in scope.nodes:
            if isinstance(node, ast.While):
                tests = tensor_tests(node.test, scope)
                if tests:
                    words = tensor_words(tests[0], scope)
                    message = f"`{ast.unparse(tests[0])}` {words}: the loop on it makes Dynamo skip the function"
                    yield self.declined(
                        scope,
                        node.test,
                        message,
                        "the number of turns is not known: give the loop a bound and mask finished elements",
                    )
            elif isinstance(node, ast.If) and ends_loop(node, scope):
                yield self._ended(node, scope)

    def _ended(self, node: ast.If, scope: Scope) -> Finding:
        message = f"`{snippet(node.test)}` ends a loop on a tensor, and makes Dynamo skip the function"
        loop = scope.parents[node]
        assert isinstance(loop, ast.For)
        template = Template()
        code = masked_loop(loop, scope, template)
        if code is None or template.broken is not None:
            return self.declined(scope, node, message, template.broken or "the turns cannot be masked")
        edit = scope.edit(loop, code, **template.parts)
        return self.fixed(
            scope, node, message, Fix((edit, *template.edits), imports(scope), template.assumptions, template.reasons)
        )
