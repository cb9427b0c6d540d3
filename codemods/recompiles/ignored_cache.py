"""CF609: a cached function in compiled code.

## What it does
Finds functions under `functools.lru_cache` or `functools.cache` that compiled code calls, and that make a tensor.

## Why is this bad
Dynamo does not look into the cache: it says so in a warning (`Dynamo ignores the cache wrapper and directly traces the
wrapped function`), and what the function computes becomes part of the graph. The table that was to be made once is
made at each call. On PyTorch 2.13 the cache has no hit and no miss afterwards, and no recompile is due to it: called
with sizes, the function is compiled twice, like any other.

## Example
```python
@lru_cache
def positions(length, width):
    return torch.arange(length)[:, None] / 10000 ** (torch.arange(width) / width)

class Model(nn.Module):
    def forward(self, x):
        return x + positions(x.shape[1], x.shape[2]).sin()
```

## Use instead
```python
class Model(nn.Module):
    def __init__(self, longest, width):
        super().__init__()
        self.register_buffer("positions", positions(longest, width).sin(), persistent=False)

    def forward(self, x):
        return x + self.positions[: x.shape[1]]
```

Or make the table where the compiled code is called, and pass it.

## Fix safety
This rule has no fix: the longest table that is needed, its device and its dtype are not in the function.

Not reported: cached functions whose results are numbers or texts. They are computed while tracing.

Graph breaks: none. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.recompiles.sizes import is_likely_compiled
from compilefix.codemods.rule import Rule, Scope

_CACHES = ("functools.lru_cache", "functools.cache")
_ADVICE = "make the table once, as a buffer in `__init__`, or where the compiled code is called, and pass it"


class IgnoredCache(Rule):
    """Cached function in compiled code."""

    code = "CF609"
    name = "ignored-cache"
    summary = "function under lru_cache that makes a tensor, in compiled code"
    effect = "slow"
    hints = ("return",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """The function itself, where it is cached, called by compiled code, and returns a tensor that it makes."""
        if not set(scope.function.decorators) & set(_CACHES) or not scope.compiled.callers:
            return
        if not is_likely_compiled(scope):
            return
        returned = [node.value for node in scope.of(ast.Return) if node.value is not None]
        if not any(_holds_tensor(value, scope) for value in returned):
            return
        message = (
            f"Dynamo does not look into the cache of `{scope.function.node.name}`: what it makes is made at each call"
        )
        where = next(d for d in scope.function.node.decorator_list if "cache" in ast.unparse(d))
        yield self.declined(scope, where, message, _ADVICE)


def _holds_tensor(node: ast.expr, scope: Scope) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple | ast.List) else [node]
    return any((value := scope.value(part)).is_tensor and value.certain for part in parts)
