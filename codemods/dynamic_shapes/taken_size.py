"""CF509: the question whether anything was selected.

## What it does
Finds an early return for an empty selection (`if len(rows) == 0: return ...`, `if all(len(x) <= 1 for x in lists):
return ...`) and a block behind `if len(rows) > 0:`, where values decide how many rows there are. What selects them may
stand in a function that is called, or in a caller.

## Why is this bad
With `capture_dynamic_output_shape_ops` the selection stays in the graph, and its size is a symbol. Dynamo cannot guard
on a symbol that depends on values, so the graph ends at the question.

## Example
```python
rows = x[keep]
if len(rows) == 0:
    return x.sum() * 0
return rows.std()
```

## Use instead
```python
rows = x[keep]
if guard_or_false(len(rows) == 0):
    return x.sum() * 0
torch._check(len(rows) != 0)
return rows.std()
```

## Fix safety
The fix helps only with the flags (`capture-scalars`), and the answer is taken for granted (`mask-not-empty`).
`guard_or_false` of torch is false of a symbol, and is what it was of any other number, so that nothing changes outside
of graphs. `torch._check` behind it always holds there; compiled, it raises RuntimeError where nothing was selected
after all. In a loop nothing is taken for granted, since a turn may well select nothing, nor where the values that are
NaN or infinite are counted, and neither is a block that only raises, says something or leaves. Where CF507 does
without the question, this rule is silent.

Graph breaks: none without the flags. torch: 2.8 and newer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.capture_flags import SHAPES, switched_on
from compilefix.codemods.dynamic_shapes.size_decision import SizeDecision, fixed_before
from compilefix.codemods.dynamic_shapes.taken_places import taken_places
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports
from compilefix.source.snippets import snippet

_FLAGS = Obstacle("without the capture flags the graph ends where the rows are selected", "capture-scalars")


class TakenSize(Rule):
    """Question whether anything was selected."""

    code = "CF509"
    name = "taken-size"
    summary = "question whether anything was selected, which breaks the graph where the capture flags are on"
    torch = ">=2.8"  # guard_or_false
    effect = "recompile"
    hints = ("len(", "numel()", "nelement()", ".shape[", ".size(")
    assumptions = ("capture-scalars", "mask-not-empty")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Early returns for empty selections, and blocks for those that are not."""
        for node in scope.of(ast.If):
            template = Template()
            template.refuse([_FLAGS])
            found = taken_places(node, scope, template)
            if found is None or self._answered(node, scope):
                continue
            message = f"`{snippet(node.test)}` asks how many rows values select: with `{SHAPES}` the graph breaks"
            on = switched_on(SHAPES, scope)
            if template.broken is None:
                needed = (*imports(scope), found.imported)
                fix = Fix(found.edits, needed, template.assumptions, template.reasons)
                yield self.fixed(scope, node, message, fix, effect="break" if on else self.effect)
            elif on:
                yield self.declined(scope, node, message, template.broken, effect="break")

    def _answered(self, node: ast.If, scope: Scope) -> bool:
        """Whether another rule does without the question."""
        span = scope.span(node)
        return fixed_before(node.test, scope) or any(
            one.fix is not None and one.span == span for one in scope.found(SizeDecision())
        )
