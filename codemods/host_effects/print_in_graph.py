"""CF301: a `print` in compiled code.

## What it does
Finds `print` in a compiled function and carries it out at the compile boundary: the values are computed where the call
stood, and the line is printed when the compiled call returns.

## Why is this bad
Dynamo cannot put a print into a graph and ends the graph there (GB0059); in a loop it gives up on the whole function
(GB7000). A `.item()` in its text also makes the program wait for the device.

## Example
```python
print(f"norm {x.norm().item():.3f}")
```

## Use instead
```python
emit(lambda x_norm: print(f"norm {x_norm.item():.3f}"), x.norm())
```

`emit` comes from a small helper module that `apply` writes into the project. The compiled callable is wrapped with the
helper's `boundary`, which prints what was noted, in order, when the call returns or fails:
`model = boundary(torch.compile(model))`. Without a boundary, `emit` prints at once.

## Fix safety
Under `log-late`: lines appear with the same text and in the same order, but after the compiled call has ended. When
the running graph itself fails (an index out of range), what it had noted is lost. A number that is only printed
(`loss = total.item()`) becomes the tensor, and is read at the boundary.

Declined where the text could differ: the text of a tensor that may require a gradient (it names its `grad_fn`; print
`x.detach()` or a number), an object that may have changed by then, a file other than `sys.stdout` and `sys.stderr`, an
argument with a side effect, a comprehension over tensor values, a `with` block that redirects the output. Declined
where nothing may be left behind: in an autograd function, and under `torch.utils.checkpoint`, which prints twice.

Graph breaks: GB0059, GB7000. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.host_effects.calls import effects
from compilefix.codemods.host_effects.deferral import deferred, where_to_wrap
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.rule import Rule, Scope


class PrintInGraph(Rule):
    """Print in compiled code."""

    code = "CF301"
    name = "print-in-graph"
    summary = "print in compiled code"
    gb = ("GB0059", "GB7000")
    hints = ("print",)
    assumptions = ("log-late",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """All calls of the builtin `print`."""
        for call in effects(scope, "print"):
            yield self._judge(call, scope)

    def _judge(self, call: ast.Call, scope: Scope) -> Finding:
        message = "`print` breaks the graph"
        try:
            fix = deferred(call, scope)
        except Refused as reason:
            return self.declined(scope, call, message, str(reason))
        return self.fixed(scope, call, message + where_to_wrap(scope), fix)
