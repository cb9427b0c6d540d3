"""CF506: results of unknown size that stay in the graph only with a flag.

## What it does
Finds a `torch.compile` whose code needs a result of a size that depends on values (`x[mask]`, `nonzero`, `unique`, ...)
in a way that no other rule rewrites, and switches `torch._dynamo.config.capture_dynamic_output_shape_ops` on where it
is compiled.

## Why is this bad
The graph ends at each such operation (GB0036). With the flag the size is a symbol in the graph. On a GPU the program
still waits for the device there.

## Example
```python
def forward(edges, keep):
    return edges[:, keep]

model = torch.compile(forward)
```

## Use instead
```python
torch._dynamo.config.capture_dynamic_output_shape_ops = True
model = torch.compile(forward)
```

## Fix safety
The flag counts for the whole process, and what is compiled with it is compiled in another way (`capture-scalars`).
Where the code asks a size that depends on values for its truth, goes through such a result in a loop, or takes the
standard deviation or the running sum of one, the flag is not enough or makes the compilation fail: nothing is offered,
and the finding names the place. The flag does not help `one_hot` without a number of classes, nor `bincount` with
`minlength`.

Graph breaks: GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from compilefix.analysis.regions import CompiledFunction, CompileSite, compile_sites, modules_with_compile, reached_from
from compilefix.codemods.dynamic_shapes.captured_sizes import SHAPES, not_captured, switched_on
from compilefix.codemods.dynamic_shapes.data_dependent_shape import DataDependentShape
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.host_reads.capture_flag import place_of, switch_on
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.index import Module
from compilefix.source.snippets import snippet

_REASON = "the flag counts for the whole process, and the compiled code gets tensors with symbols for sizes"


class CaptureShapes(Rule):
    """Results of unknown size that stay in the graph only with a flag."""

    code = "CF506"
    name = "capture-shapes"
    summary = "compiled code with results of unknown size, without capture_dynamic_output_shape_ops"
    gb = ("GB0036",)
    assumptions = ("capture-scalars",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """The compile calls of this function, where what they compile has results of unknown size."""
        if len(scope.compiled.reached_by) != 1 or "compile" not in scope.compiled.reached_by[0]:
            return
        modules = scope.legality.inference.project.modules
        if switched_on(scope):
            return
        for name in modules_with_compile(scope.legality.inference.project):
            module = modules[name]
            for site in compile_sites(module, scope.legality.inference):
                if scope.function in site.targets:
                    yield from self._judge(module, site, scope)
                    return

    def _judge(self, module: Module, site: CompileSite, scope: Scope) -> Iterator[Finding]:
        inference = scope.legality.inference
        wanted: list[str] = []
        refused: str | None = None
        for function in sorted(reached_from([scope.function], inference), key=lambda f: f.qualname):
            compiled = CompiledFunction(function, inference.facts(function), scope.compiled.reached_by)
            inner = Scope(compiled, scope.legality, function.module.file.path.as_posix())
            for node in _results(inner):
                reason = not_captured(node, inner)
                if reason is not None:
                    refused = refused or f"`{snippet(node)}` in `{function.qualname}`: {reason}"
                wanted.append(snippet(node))
        if not wanted:
            return
        more = f" and {len(wanted) - 1} more" if len(wanted) > 1 else ""
        message = f"`{site.label}`: the size of `{wanted[0]}`{more} depends on values; only `{SHAPES}` keeps it"
        edit = switch_on(SHAPES, module, site.node)
        if refused is not None:
            finding = self.declined(scope, scope.function.node, message, f"the flag is not enough: {refused}")
        elif edit is None:
            reason = f"write `torch._dynamo.config.{SHAPES} = True` where it is compiled"
            finding = self.declined(scope, scope.function.node, message, reason)
        else:
            needed = () if module.top_level_imports.get("torch") else ("torch",)
            fix = Fix((edit,), needed, self.assumptions, (_REASON,))
            finding = self.fixed(scope, scope.function.node, message, fix)
        place = place_of(module, site.node)
        path, line = module.file.path.as_posix(), module.lines[place.line - 1]
        yield replace(finding, path=path, span=place, source_line=line)


def _results(scope: Scope) -> Iterator[ast.expr]:
    """The operations for which no other rule has a fix."""
    spans = {f.span for f in DataDependentShape().find(scope) if "GB0033" not in f.gb}
    for node in scope.nodes:
        if isinstance(node, ast.Call | ast.Subscript) and spans and scope.span(node) in spans:
            yield node
