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

Declined with a `stacklevel` other than 1: it names a caller, which is gone at the boundary. Declined inside
`warnings.catch_warnings`, and in the cases that CF301 declines.

Graph breaks: GB0007. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.host_effects.calls import effects
from compilefix.codemods.host_effects.deferral import deferred, where_to_wrap
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.rule import Rule, Scope


class WarningInGraph(Rule):
    """Warning in compiled code."""

    code = "CF303"
    name = "warning-in-graph"
    summary = "warning in compiled code"
    gb = ("GB0007",)
    hints = ("warn",)
    assumptions = ("log-late",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """All calls of `warnings.warn`."""
        for call in effects(scope, "warn"):
            yield self._judge(call, scope)

    def _judge(self, call: ast.Call, scope: Scope) -> Finding:
        message = "`warnings.warn` breaks the graph"
        try:
            fix = deferred(call, scope)
        except Refused as reason:
            return self.declined(scope, call, message, str(reason))
        return self.fixed(scope, call, message + where_to_wrap(scope), fix)
