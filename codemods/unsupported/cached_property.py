"""CF704: a cached property that is filled in compiled code.

## What it does
Finds reads of a `functools.cached_property` in compiled code.

## Why is this bad
Before Python 3.12 the property takes a lock when it is read for the first time, which Dynamo does not trace: the graph
breaks (GB0142). In any version the value is computed in the first graph and found in later ones, which compiles twice.

## Example
```python
@cached_property
def frequencies(self):
    return torch.arange(self.dim) / self.dim

def forward(self, x):
    return x * self.frequencies
```

## Use instead
```python
def __init__(self, dim):
    ...
    self.register_buffer("frequencies", torch.arange(dim) / dim, persistent=False)
```
or read the property once before the module is compiled.

## Fix safety
This rule has no fix: a buffer moves with the module and a cached tensor does not, and what the property reads may
change before it is read first.

Graph breaks: GB0142. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.index import Class
from compilefix.source.snippets import snippet

_ADVICE = "read it once before compiling, or compute it in `__init__` (a tensor as a buffer with `persistent=False`)"


class CachedProperty(Rule):
    """Cached property that is filled in compiled code."""

    code = "CF704"
    name = "cached-property"
    summary = "a cached property is filled in compiled code"
    gb = ("GB0142",)
    hints = ("self.", ".")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Reads of cached properties, each property once."""
        seen: set[str] = set()
        for node in scope.of(ast.Attribute):
            if node.attr in seen or not isinstance(node.ctx, ast.Load) or not _is_cached(node, scope):
                continue
            seen.add(node.attr)
            message = f"`{snippet(node)}` is a cached property: filling it takes a lock, and the graph breaks"
            yield self.declined(scope, node, message, _ADVICE)


def _is_cached(node: ast.Attribute, scope: Scope) -> bool:
    base = scope.value(node.value)
    if not base.is_(Kind.OBJECT) or base.ref is None:
        return False
    project = scope.legality.inference.project
    cls = project.resolve(base.ref)
    method = project.method(cls, node.attr) if isinstance(cls, Class) else None
    return method is not None and "functools.cached_property" in method.decorators
