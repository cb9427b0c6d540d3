"""CF104: a loop that a tensor ends.

## What it does
Finds `while` loops whose condition is a tensor, and loops with `if condition: break` (or `return`) on a tensor. A loop
that has a bound becomes one that runs all its turns and keeps what it had once it has ended. A `for` loop has one, and
so has a `while` loop that also compares a counter (`while error > tolerance and turn < 20`).

## Why is this bad
Python asks the tensor for its truth at each turn. A break inside a loop cannot be resumed, so Dynamo gives up on the
whole function (GB0170, GB7000). Where one tensor is the test of a `while` loop that stands in no other it can: each
turn is a graph, and twelve turns ran thirteen of them (torch 2.13).

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
Twenty turns of Sinkhorn's algorithm in each of four layers (`while error > tolerance and turn < 20`) took 10.6 ms by
call as written and 2.7 ms with the fix, 0.68 ms in `reduce-overhead`; a training step 19.5, 6.6 and 1.15 ms. Its one
graph took about a minute to compile. Twelve turns of conjugate gradients in each of two layers took 7.0 ms by call and
1.8 ms with the fix, a training step 26.9 and 6.5 ms (torch 2.11, 2026-11-24); 0.52 and 1.23 ms in `reduce-overhead`.
What a turn computes must not be able to fail or write, and is selected under the conditions of CF101. `total += step`
makes a new tensor, where nothing else holds the memory. Several ends, counters, `a, b = f(x)`, an `else`, ways that
Python values decide, loops over containers, and ends that Python decides (`while True:` with `if turn >= turns: break`)
may stand in the loop, and an end within `if early_stop:`. A name that the turns of a `range` give its first value keeps
it from the second turn on. At its end a loop may give names a last value (`x = new`, `settled = True` where only the
truth of that is asked for later: `number-to-tensor`), or return what becomes the names that the `return` right behind
it returns. What is said under flags (`if self.verbose: print(...)`) stays, at the end and on the way: with one of them
the loop ends as it did, and breaks the graph. The flags must be such that the loop leaves them as they are.
Where a `while` loop begins with an infinite `error`, and the tolerance is a float argument that is infinite too in a
later call, torch 2.13 finds one greater than the other under `torch.compile`, and one turn is computed.
A turn that draws random numbers draws them always (`rng-stream`).

A `while` loop without a counter becomes `torch.while_loop` where Dynamo traces, and stays as it is elsewhere: it ends
where it ended, also on a GPU without a look at the tensor from Python. That is so where no gradient flows through what
the turns change (masks, counts, comparisons): the gradient of `torch.while_loop` is wrong for zero turns in torch 2.13.
A turn must only give tensors new values, by operations that stay in the graph for certain, since what cannot be traced
in there is an error. Shapes and dtypes that a turn changes are one, too (`same-shape-dtype`). Tried with torch 2.6 and
2.13. For other loops without a counter, and for one whose counter is read later, there is no fix: the number of turns
that is enough is not in the code, or the end is.

Graph breaks: GB0170, GB7000. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.control_flow.graph_loop import graph_loop
from compilefix.codemods.control_flow.loop_ends import Loop, end_of
from compilefix.codemods.control_flow.masked_loop import masked_loop
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import tensor_tests, tensor_words
from compilefix.codemods.torch_name import imports
from compilefix.source.snippets import snippet


def _resumes(loop: ast.While, scope: Scope) -> bool:
    """Whether Dynamo goes on behind the test of each turn: one tensor, in no other loop, and nothing else breaks.

    Where the test reads a number, or asks anything beside the tensor, and where a turn breaks or asks another one, it
    skips the function (graphs that ran were counted for each, torch 2.13).
    """
    alone = scope.value(loop.test).is_tensor and not isinstance(loop.test, ast.BoolOp)
    if not alone or any(isinstance(around, Loop | ast.Try) for around in scope.ancestors(loop)):
        return False
    parts = [part for statement in loop.body for part in ast.walk(statement)]
    tests = (part.test for part in parts if isinstance(part, ast.If | ast.IfExp | ast.While | ast.Assert))
    reads = (isinstance(part, ast.Call) and scope.callee(part) in _BREAKS for part in parts)
    return not (any(reads) or any(tensor_tests(test, scope) for test in tests))


_SKIPS = "makes Dynamo skip the function"
_BREAKS = frozenset({"Tensor.item", "Tensor.tolist", "Tensor.numpy", "float", "int", "bool", "print"})


class TensorWhile(Rule):
    """Loop that a tensor ends."""

    code = "CF104"
    name = "tensor-while"
    summary = "while loop on a tensor, or for loop that a tensor ends"
    gb = ("GB0170", "GB7000")
    hints = ("while", "for ")
    by_hand = "give the loop a bound and mask finished elements, or run it outside the compiled code"
    assumptions = (
        "bounded-loop",
        "branches-total",
        "is-tensor",
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
        """`while` loops whose test is a tensor, and loops with a way out on one."""
        for node in scope.among(ast.While, ast.If):
            if isinstance(node, ast.While):
                tests = tensor_tests(node.test, scope)
                if tests:
                    words = tensor_words(tests[0], scope)
                    costs = "breaks the graph in each turn" if _resumes(node, scope) else _SKIPS
                    message = f"`{ast.unparse(tests[0])}` {words}: the loop on it {costs}"
                    yield self._judged(node, node.test, message, scope)
            elif isinstance(node, ast.If) and (end := end_of(node, scope)) is not None:
                loop = scope.parents[node]
                assert isinstance(loop, Loop)
                message = f"`{snippet(end.node.test)}` ends a loop on a tensor, and {_SKIPS}"
                yield self._judged(loop, end.node, message, scope)

    def _judged(self, loop: Loop, node: ast.AST, message: str, scope: Scope) -> Finding:
        template = Template()
        code = masked_loop(loop, scope, template)
        if (code is None or template.broken is not None) and isinstance(loop, ast.While):
            unbounded = Template()
            in_graph = graph_loop(loop, scope, unbounded)
            if in_graph is not None and unbounded.broken is None:
                code, template = in_graph, unbounded
            elif template.broken is not None and unbounded.broken is not None:
                reason = f"{template.broken}; as `torch.while_loop`: {unbounded.broken}"
                return self.obstructed(scope, node, message, reason)
        if code is None or template.broken is not None:
            return self.obstructed(scope, node, message, template.broken or "the turns cannot be masked")
        edit = scope.edit(loop, code, **template.parts)
        return self.fixed(
            scope, node, message, Fix((edit, *template.edits), imports(scope), template.assumptions, template.reasons)
        )
