"""CF304: a file or a collector of metrics that is written in compiled code.

## What it does
Finds writes to opened files (`self.file.write`), to collectors of metrics (`writer.add_scalar`, `wandb.log`,
`mlflow.log_metric`) and numbers read from tensors that are stored on the module (`self.metrics["loss"] = loss.item()`)
or added to one there (`self.total += loss.item()`), and carries them out at the compile boundary, with the values as
they were where the call stood.

## Why is this bad
Dynamo cannot trace into a file or a writer and ends the graph there (GB0156, GB0007, GB0059); reading the number ends
it too (GB0124), and makes the program wait for the device.

## Example
```python
self.writer.add_scalar("norm", x.norm().item(), self.step)
self.metrics["loss"] = loss.item()
```

## Use instead
```python
emit(lambda writer, x_norm, step: writer.add_scalar("norm", x_norm.item(), step), self.writer, x.norm(), self.step)
emit(lambda self, loss: self.metrics.__setitem__("loss", loss.item()), self, loss)
```

`emit` comes from a small helper module that `apply` writes into the project; see CF301.

## Fix safety
Under `log-late`: the same is written in the same order, after the compiled call has ended. What is stored on the module
rests on `state-late`: nobody reads it before the call has returned. With `logging = "guard"` or `"remove"` in the
configuration, writes to files and collectors of metrics are treated like log lines; numbers on the module are not.

Declined in the cases that CF301 declines, where code of the same call reads the attribute, and where it may store
another value there later; and for `append` and `update` where the attribute is passed in. What is added to must hold a
Python number by all that the project stores in it.

Graph breaks: GB0156, GB0007, GB0059, GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.host_effects.calls import effects
from compilefix.codemods.host_effects.deferral import where_to_wrap
from compilefix.codemods.host_effects.host_call import HostCallRule
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.host_effects.stored import deferred_store, stores
from compilefix.codemods.rule import Scope


class WriterInGraph(HostCallRule):
    """File or collector of metrics written in compiled code."""

    code = "CF304"
    name = "writer-in-graph"
    summary = "file or metrics written in compiled code"
    gb = ("GB0156", "GB0007", "GB0059", "GB0124")
    hints = ("write", "flush", ".add_", "wandb", "mlflow", "item", "tolist", "float", "int", "bool")
    assumptions = ("log-late", "text-order", "gradient-text", "log-dropped", "state-late")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Writes to files and collectors of metrics, and numbers read from tensors that are stored on the module."""
        for call in effects(scope, "write"):
            yield self.judge(call, call, scope, f"`{ast.unparse(call.func)}` breaks the graph", gb=self.gb[:3])
        for statement in stores(scope):
            message = f"`{scope.file.segment(statement)}` reads a tensor's value on the host and breaks the graph"
            try:
                fix = deferred_store(statement, scope)
            except Refused as reason:
                yield self.declined(scope, statement, message, str(reason), gb=("GB0124",))
            else:
                yield self.fixed(scope, statement, message + where_to_wrap(scope), fix, gb=("GB0124",))
