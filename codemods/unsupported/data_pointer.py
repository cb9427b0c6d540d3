"""CF710: tensors compared by the place of their memory.

## What it does
Finds comparisons of `t.data_ptr()` in compiled code.

## Why is this bad
The place is known only when the graph runs: Dynamo breaks the graph at the comparison (GB5976). In compiled code it
says little: the compiler decides what shares memory.

## Example
```python
if y.data_ptr() == x.data_ptr():
    y = y.clone()
```

## Use instead
```python
if y is x:
    y = y.clone()
```
or `y = y.clone()` always.

## Fix safety
This rule has no fix: two tensors can begin at the same place and be different objects (a view and its base).

Graph breaks: GB5976. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet

_ADVICE = "ask whether it is the same object (`a is b`), or do in both cases what the comparison decides"


class DataPointer(Rule):
    """Tensors compared by the place of their memory."""

    code = "CF710"
    name = "data-pointer"
    summary = "tensors compared by data_ptr()"
    gb = ("GB5976",)
    hints = ("data_ptr",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Comparisons of which a side is `data_ptr()`."""
        for node in scope.of(ast.Compare):
            if any(_is_pointer(side) for side in (node.left, *node.comparators)):
                yield self.declined(scope, node, f"`{snippet(node)}` breaks the graph", _ADVICE)


def _is_pointer(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "data_ptr"
        and not node.args
    )
