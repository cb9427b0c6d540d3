"""CF506: results of unknown size that stay in the graph only with a flag.

## What it does
Finds a `torch.compile` whose code needs a result of a size that depends on values (`x[mask]`, `nonzero`, `unique`, ...)
in a way that no other rule rewrites, and switches `torch._dynamo.config.capture_dynamic_output_shape_ops` on where it
is compiled. In a file by itself, where nothing is compiled, it is switched on behind the imports. The fix is made when
no other one is left to make.

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
Where the code asks a size that depends on values for its truth, goes through such a result in a loop, takes the
standard deviation or the running sum of one, or gives it to a convolution in two dimensions or multi-head attention,
the flag is not enough or makes the compilation fail: nothing is offered, and the finding names the place. In a file
where nothing is compiled that is all its code, with what it calls. Nothing is offered in a package where nothing is
compiled: the flag would count for all the code of whoever imports it. The flag does not help `one_hot` without a number
of classes, nor `bincount` with `minlength`.

Graph breaks: GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from compilefix.analysis.regions import CompileSite
from compilefix.codemods.capture_flags import SHAPES, switched_on
from compilefix.codemods.dynamic_shapes.captured_sizes import not_captured
from compilefix.codemods.dynamic_shapes.data_dependent_shape import DataDependentShape
from compilefix.codemods.finding import Finding
from compilefix.codemods.host_reads.capture_flag import (
    behind_imports,
    flag_fix,
    from_compile_call,
    in_package,
    library_roots,
    place_of,
    scopes_reached,
    switch_on,
)
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.unknown_rows import failing_layer
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
        """The compile calls of this function, where what they compile has results of unknown size.

        In a file that compiles nothing and is no part of a package, the function itself, where it has some.
        """
        if switched_on(SHAPES, scope):
            return
        if not from_compile_call(scope):
            if not in_package(scope.function.module):
                yield from self._in_file(scope)
            return
        if scope.compiled.callers:
            return
        for module, site in islice(scope.legality.compiled_by(scope.function), 1):
            yield from self._judge(module, site, scope)

    def _in_file(self, scope: Scope) -> Iterator[Finding]:
        """The first result that only the flag keeps in the graph, where it keeps all of the file there."""
        wanted = next((node for node in _results(scope) if not_captured(node, scope) is None), None)
        if wanted is None:
            return
        message = f"the size of `{snippet(wanted)}` depends on values; only `{SHAPES}` keeps it"
        region = list(scopes_reached(library_roots(scope), scope))
        for inner in region:
            for node in _results(inner):
                reason = not_captured(node, inner) or failing_layer(node, inner, region)
                if reason is not None:
                    words = f"the flag would not do for `{snippet(node)}` in `{inner.function.qualname}`: {reason}"
                    yield self.declined(scope, wanted, message, words)
                    return
        edit = behind_imports(SHAPES, scope.function.module)
        if edit is not None:
            yield self.fixed(scope, wanted, message, flag_fix(edit, scope.function.module, _REASON))

    def _judge(self, module: Module, site: CompileSite, scope: Scope) -> Iterator[Finding]:
        wanted: list[str] = []
        refused: str | None = None
        region = list(scopes_reached([scope.function], scope))
        for inner in region:
            function = inner.function
            for node in _results(inner):
                reason = not_captured(node, inner) or failing_layer(node, inner, region)
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
            finding = self.fixed(scope, scope.function.node, message, flag_fix(edit, module, _REASON))
        place = place_of(module, site.node)
        path, line = module.file.path.as_posix(), module.lines[place.line - 1]
        yield replace(finding, path=path, span=place, source_line=line)


def _results(scope: Scope) -> Iterator[ast.expr]:
    """The operations for which no other rule has a fix."""
    spans = {f.span for f in scope.found(DataDependentShape()) if "GB0033" not in f.gb}
    for node in scope.nodes:
        if isinstance(node, ast.Call | ast.Subscript) and spans and scope.span(node) in spans:
            yield node
