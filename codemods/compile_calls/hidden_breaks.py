"""CF808: fullgraph=False, written out, where what is compiled breaks the graph.

## What it does
Finds `torch.compile(..., fullgraph=False)` whose code has findings for graph breaks, and says how many.

## Why is this bad
`fullgraph=False` is what `torch.compile` does anyway. Written out, it was once the way past an error: since then breaks
come and go in silence, and nobody notices the next one.

## Example
```python
model = torch.compile(model, fullgraph=False)
```

## Use instead
Take the breaks away, then write `fullgraph=True`: a new one is an error with its place. It also captures numbers and
sizes that depend on data. On PyTorch 2.13 `torch._dynamo.error_on_graph_break(True)` makes breaks errors without that.

## Fix safety
This rule has no fix: with the breaks still there, `fullgraph=True` raises.

Graph breaks: those of the findings. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from compilefix.analysis.regions import reached_from
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.view import span_of
from compilefix.source.module import Module


class HiddenBreaks(Rule):
    """fullgraph=False, written out, where what is compiled breaks the graph."""

    code = "CF808"
    name = "hidden-breaks"
    summary = "fullgraph=False where what is compiled breaks the graph"

    def find(self, scope: Scope) -> Iterator[Finding]:
        """The compile call of this function, where it says fullgraph=False and there are breaks."""
        if scope.compiled.callers or not scope.compiled.from_compile_call:
            return
        for module, call in _calls(scope):
            option = next((k for k in call.keywords if k.arg == "fullgraph"), None)
            if option is None or not isinstance(option.value, ast.Constant) or option.value.value is not False:
                continue
            breaks = list(_breaks(scope))
            if not breaks:
                return
            count = f"what {len(breaks)} finding{'s say' if len(breaks) > 1 else ' says'}"
            first = min(breaks, key=lambda f: (f.path, f.span))
            message = (
                f"`fullgraph=False` lets {count} pass in silence, the first in `{first.function}`: {first.message}"
            )
            advice = "take the breaks away, then write `fullgraph=True`, so that a new one is an error"
            span = span_of(option, module.lines)
            finding = self.declined(scope, scope.function.node, message, advice)
            yield replace(finding, path=module.file.path.as_posix(), span=span, source_line=module.lines[span.line - 1])
            return


def _calls(scope: Scope) -> Iterator[tuple[Module, ast.Call]]:
    """The calls of torch.compile that are given the function, those of its decorators too."""
    for module, site in scope.legality.compiled_by(scope.function):
        calls = [site.node] if isinstance(site.node, ast.Call) else site.node.decorator_list
        yield from ((module, call) for call in calls if isinstance(call, ast.Call))


def _breaks(scope: Scope) -> Iterator[Finding]:
    """What the other rules find in the compiled code that breaks the graph."""
    # The registry imports all rules, this one too.
    from compilefix.codemods import registry

    inference = scope.legality.inference
    rules = [rule() for rule in registry.load().values() if rule.effect == "break" and rule is not HiddenBreaks]
    for function in reached_from([scope.function], inference):
        compiled = replace(scope.compiled, function=function, facts=inference.facts(function))
        inner = Scope(compiled, scope.legality, function.module.file.path.as_posix())
        for rule in rules:
            yield from (found for found in inner.found(rule) if found.effect == "break")
