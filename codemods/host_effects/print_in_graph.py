"""CF301: a `print` in compiled code.

## What it does
Finds `print` in a compiled function, and what writes to the standard streams like it (`sys.stdout.write`, `tqdm.write`,
`pprint`), and carries it out at the compile boundary: the values are computed where the call stood, and the line is
printed when the compiled call returns. A call of a function that prints each text once (behind `functools.lru_cache`,
or with a note of what was printed) is carried out as a whole.

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

Where another line of the function cannot be moved, or one in a function that is known to run in the same compiled call,
it comes first: then the fix needs `text-order` too.

The text of a tensor that may require a gradient names its `grad_fn`, or says that it is a parameter; what is noted is
detached and does not (`gradient-text`; printing `x.detach()` or a number needs no assumption).

Declined where the text could differ otherwise: an object that may have changed by then, a file other than `sys.stdout`
and `sys.stderr`, an argument with a side effect, a part that stands there twice and does something each time, what
changes while the line is made, a view of a dictionary, a comprehension over tensor values, a `with` block here or in a
caller that redirects the output, a function that sets the level of a logger. Declined where nothing may be left behind:
in an autograd function, and under `torch.utils.checkpoint`, which prints twice.

With `logging = "guard"` in the configuration the line stands behind `if not torch.compiler.is_compiling():` instead,
with `logging = "remove"` it goes; both under `log-dropped`.

Graph breaks: GB0059, GB7000, GB0156. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.host_effects.calls import effects
from compilefix.codemods.host_effects.host_call import HostCallRule
from compilefix.codemods.rule import Scope


class PrintInGraph(HostCallRule):
    """Print in compiled code."""

    code = "CF301"
    name = "print-in-graph"
    summary = "print in compiled code"
    gb = ("GB0059", "GB7000", "GB0156")
    hints = ("print", "write", "flush", "echo", "once")
    assumptions = ("log-late", "text-order", "gradient-text", "log-dropped")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of `print` and of what writes to the standard streams like it."""
        for call in effects(scope, "print"):
            yield self.judge(call, call, scope, f"`{ast.unparse(call.func)}` breaks the graph", gb=_ids(call, scope))


def _ids(call: ast.Call, scope: Scope) -> tuple[str, ...]:
    name = scope.callee(call) or ""
    return ("GB0156",) if name.startswith("sys.") else ("GB0059", "GB7000")
