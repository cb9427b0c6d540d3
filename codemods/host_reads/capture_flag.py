"""CF205: numbers that stay in the graph only with a flag.

## What it does
Finds a `torch.compile` whose code reads numbers from tensors as sizes of new tensors, as results, or for arithmetic
that no other rule rewrites, one by one or as a list (`x.split(counts.tolist())`), and switches
`torch._dynamo.config.capture_scalar_outputs` on where it is compiled. In a file by itself, where nothing is compiled,
it is switched on behind the imports. The fix is made when no other one is left to make.

## Why is this bad
Each such read ends the graph (GB0124, GB0033), and on a GPU the program waits for the device. With the flag the number
is a symbol in the graph. It still waits for the device, once the size is needed.

## Example
```python
def forward(x, index):
    return x.new_zeros(int(index.max()) + 1).scatter_add(0, index, x)

model = torch.compile(forward)
```

## Use instead
```python
torch._dynamo.config.capture_scalar_outputs = True
model = torch.compile(forward)
```

## Fix safety
The flag counts for the whole process, and what is compiled with it is compiled in another way (`capture-scalars`). A
number that bounds a slice or picks an item of a list makes the compilation fail with the flag on, and so does one that
is a size of what a convolution in two dimensions or multi-head attention is given: nothing is offered where the
compiled code has one of these, or asks a number for its truth; the finding names it. A list must hold integers, by the
dtype of its tensor or as the sizes of parts, since one of floats breaks the graph with the flag as without; where the
code asks for the size of such a part, or takes its running sum or standard deviation, nothing is offered. A slice up to
the sum of such a list compiles with torch 2.13, and not with 2.11 (inductor, on an H200). In a file
where nothing is compiled that is all its code, with what it calls and where it returns the number to. Nothing is
offered in a package where nothing is compiled: the flag would count for all the code of whoever imports it.

What it brings is little on a CPU: a pooling like the one above, called with eight numbers of rows in turn, took 17, 19
and 106 us of processor time per call with the flag for 3, 1,000 and 100,000 values, 31, 34 and 105 us without it, and
7, 8 and 121 us not compiled (torch 2.13, inductor, one thread, 2026-11-21). It compiled one graph instead of three.

Graph breaks: GB0033, GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from compilefix.analysis.regions import (
    CompileSite,
    is_library_root,
    reached_from,
)
from compilefix.analysis.values import Kind
from compilefix.codemods.callers import callers
from compilefix.codemods.capture_flags import SCALARS, switched_on
from compilefix.codemods.finding import Edit, Finding, Fix, Span
from compilefix.codemods.host_reads.captured import holds_integers, is_list, not_captured
from compilefix.codemods.host_reads.implicit_read import ImplicitRead
from compilefix.codemods.host_reads.number_arithmetic import NumberArithmetic, reads
from compilefix.codemods.host_reads.number_helpers import only_reads
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import read_of
from compilefix.codemods.unknown_rows import failing_layer
from compilefix.source.index import Function, Module
from compilefix.source.snippets import snippet

_REASON = "the flag counts for the whole process, and the compiled code gets symbols in place of numbers"


class CaptureFlag(Rule):
    """Numbers that stay in the graph only with a flag."""

    code = "CF205"
    name = "capture-flag"
    summary = "compiled code that reads sizes or results from tensors, without capture_scalar_outputs"
    gb = ("GB0033", "GB0124")
    assumptions = ("capture-scalars",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """The compile calls of this function, where what they compile reads numbers.

        In a file that compiles nothing and is no part of a package, the function itself, where it reads some.
        """
        if switched_on(SCALARS, scope):
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
        """The first number that only the flag keeps in the graph, where it keeps all of the file there."""
        found = (node for node in _numbers(scope) if _is_wanted(node, scope) and not _is_for_nobody(node, scope))
        wanted = next((node for node in found if not_captured(node, scope) is None), None)
        if wanted is None:
            return
        message = f"only `{SCALARS}` keeps `{snippet(wanted)}` in the graph"
        region = list(scopes_reached(library_roots(scope), scope))
        for inner in region:
            for node in _numbers(inner, every=True):
                reason = not_captured(node, inner) or _fails_behind(node, inner, region)
                if reason is not None:
                    words = f"the flag would not do for `{snippet(node)}` in `{inner.function.qualname}`: {reason}"
                    yield self.declined(scope, wanted, message, words)
                    return
        edit = behind_imports(SCALARS, scope.function.module)
        if edit is not None:
            yield self.fixed(scope, wanted, message, flag_fix(edit, scope.function.module, _REASON))

    def _judge(self, module: Module, site: CompileSite, scope: Scope) -> Iterator[Finding]:
        wanted: list[str] = []
        refused: str | None = None
        region = list(scopes_reached([scope.function], scope))
        for inner in region:
            function = inner.function
            for node in _numbers(inner):
                reason = not_captured(node, inner) or _fails_behind(node, inner, region)
                refused = refused or (
                    None if reason is None else f"`{snippet(node)}` in `{function.qualname}`: {reason}"
                )
                if _is_wanted(node, inner):
                    wanted.append(snippet(node))
        if not wanted:
            return
        place = place_of(module, site.node)
        message = f"`{site.label}` reads {_count(wanted)}, which only `{SCALARS}` keeps in the graph"
        if refused is not None:
            finding = self.declined(scope, scope.function.node, message, f"the flag is not enough: {refused}")
        else:
            edit = switch_on(SCALARS, module, site.node)
            if edit is None:
                reason = f"write `torch._dynamo.config.{SCALARS} = True` where it is compiled"
                finding = self.declined(scope, scope.function.node, message, reason)
            else:
                finding = self.fixed(scope, scope.function.node, message, flag_fix(edit, module, _REASON))
        path = module.file.path.as_posix()
        line = module.lines[place.line - 1]
        yield replace(finding, path=path, span=place, source_line=line)


def _fails_behind(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """Why a tensor with this number as a size fails in a layer; a float is no size."""
    return None if scope.value(node).dtype == "float" else failing_layer(node, scope, region)


def _numbers(scope: Scope, *, every: bool = False) -> Iterator[ast.expr]:
    """The reads for which no other rule has a fix, or all of them."""
    rule = NumberArithmetic()
    for node, source in reads(scope):
        if every or rule.judge(node, source, scope).fix is None:
            yield node
    spans = {f.span for f in scope.found(ImplicitRead()) if every or f.fix is None}
    for part in scope.nodes:
        if not isinstance(part, ast.expr) or not spans or scope.span(part) not in spans:
            continue
        if scope.value(part).may_be(Kind.TENSOR) or (is_list(part, scope) and not _of_floats(part, scope)):
            yield part


def _of_floats(node: ast.expr, scope: Scope) -> bool:
    """Whether a list is one of floats, which breaks the graph with the flag as without."""
    read = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
    return scope.value(read).dtype not in ("int", None)


def _is_wanted(node: ast.expr, scope: Scope) -> bool:
    """Whether the flag is certain to help: of a list of unknown dtype it is known only that it does no harm."""
    return not is_list(node, scope) or holds_integers(node, scope)


def _is_for_nobody(node: ast.expr, scope: Scope) -> bool:
    """Whether a function only reads the number in its argument, and is called no more."""
    source = read_of(node, scope)
    if source is None or not isinstance(node, ast.Call) or scope.compiled.callers:
        return False
    return only_reads(node, source, scope.function) and next(callers(scope), None) is None


def _count(wanted: list[str]) -> str:
    return f"`{wanted[0]}`" if len(wanted) == 1 else f"`{wanted[0]}` and {len(wanted) - 1} more numbers"


def from_compile_call(scope: Scope) -> bool:
    """Whether a function is reached from a `torch.compile` in the project."""
    return "compile" in scope.compiled.root


def in_package(module: Module) -> bool:
    """Whether a file is imported by others as a part of a package."""
    return "." in module.name or module.file.path.name == "__init__.py"


def library_roots(scope: Scope) -> list[Function]:
    """The functions of this file that users of a library may compile."""
    inference = scope.legality.inference
    return [f for f in scope.function.module.all_functions if is_library_root(f, inference)]


def scopes_reached(roots: Iterable[Function], scope: Scope) -> Iterator[Scope]:
    """What functions reach, in the order of names."""
    inference = scope.legality.inference
    for function in sorted(reached_from(roots, inference), key=lambda f: f.qualname):
        compiled = replace(scope.compiled, function=function, facts=inference.facts(function))
        yield Scope(compiled, scope.legality, function.module.file.path.as_posix())


def flag_fix(edit: Edit, module: Module, reason: str) -> Fix:
    """The fix that switches a flag on, once no other one is left to make."""
    needed = () if module.top_level_imports.get("torch") else ("torch",)
    return Fix((edit,), needed, ("capture-scalars",), (reason,), last=True)


def behind_imports(name: str, module: Module) -> Edit | None:
    """The flag behind the imports of a file."""
    torch = module.top_level_imports.get("torch") or "torch"
    imports = [s for s in module.file.tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
    text = module.file.segment(imports[-1]) if imports else None
    flag = f"{torch}._dynamo.config.{name} = True"
    return None if text is None else Edit(place_of(module, imports[-1]), f"{text}\n\n{flag}", (), statement=True)


def switch_on(name: str, module: Module, node: ast.AST) -> Edit | None:
    """The flag in front of the statement that compiles, or behind the imports where a decorator compiles."""
    torch = module.top_level_imports.get("torch") or "torch"
    flag = f"{torch}._dynamo.config.{name} = True"
    tree = module.file.tree
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return behind_imports(name, module)
    simple = (ast.Assign, ast.Expr, ast.Return)
    around = [s for s in ast.walk(tree) if isinstance(s, simple) and _encloses(s, node)]
    if not around or around[-1].value is None:
        return None
    statement = around[-1]
    parts = [("value", place_of(module, around[-1].value))]
    left = "return " if isinstance(statement, ast.Return) else ""
    for index, target in enumerate(statement.targets if isinstance(statement, ast.Assign) else ()):
        parts.append((f"target{index}", place_of(module, target)))
        left += f"{{target{index}}} = "
    return Edit(place_of(module, statement), f"{flag}\n{left}{{value}}", tuple(parts), statement=True)


def _encloses(statement: ast.stmt, node: ast.AST) -> bool:
    place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    start, end = (statement.lineno, statement.col_offset), (statement.end_lineno or 0, statement.end_col_offset or 0)
    return start <= place < end


def place_of(module: Module, node: ast.expr | ast.stmt) -> Span:
    """Where a node stands; of a function only its first line."""
    line, column, end_line, end_column = module.file.span(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return Span(line, column, line, len(module.lines[line - 1]))
    return Span(line, column, end_line, end_column)
