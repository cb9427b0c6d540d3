"""CF303: `warnings.warn` in compiled code.

## What it does
Finds `warnings.warn` in a compiled function and carries it out at the compile boundary.

## Why is this bad
Dynamo cannot trace into `warnings` and ends the graph there (GB0007), on every call, though the warning is shown once.

## Example
```python
if x.shape[1] > self.max_length:
    warnings.warn(f"{x.shape[1]} tokens are more than the model was trained on")
```

## Use instead
```python
if x.shape[1] > self.max_length:
    emit(lambda x_shape_1: warnings.warn(f"{x_shape_1} tokens are more than the model was trained on"), x.shape[1])
```

`emit` comes from a small helper module that `apply` writes into the project; see CF301.

## Fix safety
Under `log-late`: the warning appears after the compiled call has ended. It is given from the same file and line, so the
place that is shown and the filters that show a warning once per place stay the same. A filter that turns warnings into
errors raises at the boundary, after the compiled call has finished.

A `stacklevel` names a caller, which is gone at the boundary: it is left out under `caller-place`, and the warning then
names its own line, by which filters judge it: a `DeprecationWarning` that was shown for the main program is hidden, and
one that was shown once for each caller is shown once. `logging = "guard"` and `"remove"` in the configuration work as
for CF301.

Declined inside `warnings.catch_warnings`, with `source=`, and in the cases that CF301 declines.

Graph breaks: GB0007. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.host_effects.calls import effects
from compilefix.codemods.host_effects.host_call import HostCallRule
from compilefix.codemods.rule import Scope


class WarningInGraph(HostCallRule):
    """Warning in compiled code."""

    code = "CF303"
    name = "warning-in-graph"
    summary = "warning in compiled code"
    gb = ("GB0007",)
    hints = ("warn",)
    assumptions = ("log-late", "text-order", "gradient-text", "log-dropped", "caller-place")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """All calls of `warnings.warn`."""
        for call in effects(scope, "warn"):
            yield self.judge(call, call, scope, f"`{ast.unparse(call.func)}` breaks the graph")
