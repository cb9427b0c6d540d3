"""CF302: a log line in compiled code.

## What it does
Finds calls of a logger (`logger.info`, `self.logger.debug`, `logging.warning`, `logger.warning_once`; those of loguru,
absl and structlog too, and of objects that are called like loggers) in a compiled function and carries them out at the
compile boundary: the values are computed where the call stood, and the record is made when the compiled call returns.
`if logger.isEnabledFor(logging.DEBUG):` round lines of that logger and level goes away: the level is asked at the
boundary.

## Why is this bad
Dynamo ends the graph at the call (GB0291; GB4841 for the functions of the `logging` module), also when the level is
switched off: `logger.debug` costs nothing in eager code and a graph break in compiled code. So does
`logger.isEnabledFor`. With a tensor among the arguments, Dynamo goes on to trace into `logging` and breaks there again.

## Example
```python
logger.info("layer %d norm %.1f", self.index, x.norm().item())
```

## Use instead
```python
emit(lambda index, x_norm: logger.info("layer %d norm %.1f", index, x_norm.item()), self.index, x.norm())
```

`emit` comes from a small helper module that `apply` writes into the project. The compiled callable is wrapped with the
helper's `boundary`, which makes the records, in order, when the call returns or fails:
`model = boundary(torch.compile(model))`. Without a boundary, `emit` acts at once.

## Fix safety
Under `log-late`: the records have the same level, text, file and function and come in the same order, but after the
compiled call has ended; their time is the later one. Levels and filters are asked at the boundary. The values are
computed on every call, whether or not the level is on. When the running graph itself fails (an index out of range),
what it had noted is lost. A number that is only logged (`loss = total.item()`) becomes the tensor, and is read at the
boundary.

`stacklevel` names a caller, which is gone at the boundary: it is left out under `caller-place`. A function that logs
each text once (behind `functools.lru_cache`, which Dynamo ignores, or with a note of what was logged) is carried out as
a whole. `logging = "guard"` and `"remove"` in the configuration work as for CF301.

Declined: `logger.exception` and `exc_info` (the exception is gone at the boundary), `stack_info`, and the cases that
CF301 declines.

Graph breaks: GB0291, GB4841. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.host_effects.calls import effects
from compilefix.codemods.host_effects.host_call import HostCallRule
from compilefix.codemods.host_effects.levels import level_guard
from compilefix.codemods.rule import Scope

_LEVEL_TESTS = ("logging.Logger.isEnabledFor", "logging.Logger.getEffectiveLevel")


class LoggingInGraph(HostCallRule):
    """Log line in compiled code."""

    code = "CF302"
    name = "logging-in-graph"
    summary = "log line in compiled code"
    gb = ("GB0291", "GB4841")
    hints = ("log", "LOG", "warn")
    assumptions = ("log-late", "text-order", "gradient-text", "log-dropped", "caller-place")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of loggers and of the functions of `logging`, and questions for a logger's level."""
        for call in effects(scope, "log"):
            yield self._judge(call, scope)
        for node in scope.of(ast.Call):
            if scope.callee(node) in _LEVEL_TESTS:
                yield self._judge_test(node, scope)

    def _judge_test(self, node: ast.Call, scope: Scope) -> Finding:
        message = f"`{ast.unparse(node)}` breaks the graph"
        reason = (
            "it guards more than lines of its own logger and level: drop the test, or make it outside the compiled code"
        )
        guard = level_guard(node, scope)
        if guard is None or guard.test is not node:
            return self.declined(scope, node, message, reason, gb=("GB0291",))
        first = guard.body[0]
        assert isinstance(first, ast.Expr)
        assert isinstance(first.value, ast.Call)
        return self.judge(node, first.value, scope, message, gb=("GB0291",))

    def _judge(self, call: ast.Call, scope: Scope) -> Finding:
        gb = ("GB4841",) if (scope.callee(call) or "").count(".") == 1 else ("GB0291",)
        message = f"`{ast.unparse(call.func)}` breaks the graph, even with its level switched off"
        return self.judge(call, call, scope, message, gb=gb)
