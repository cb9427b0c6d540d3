"""CF610: counters of a module that are compiled for each value without a flag.

## What it does
Finds a `torch.compile` whose code counts in integers of a module, or of an object that the module holds
(`self.step += 1`, `self.cache.length += x.shape[1]`, see CF602), and switches
`torch._dynamo.config.allow_unspec_int_on_nn_module` on where it is compiled. In a file by itself, where nothing is
compiled, it is switched on behind the imports. The fix is made when no other one is left to make.

## Why is this bad
Each value of such an integer is compiled anew. After eight Dynamo gives up on the function and runs it in eager for
good. With the flag an integer that has changed is a symbol in the graph, as one that is an argument is.

## Example
```python
class KVCache(torch.nn.Module):
    def update(self, keys):
        at = torch.arange(self.size, self.size + keys.shape[1], device=keys.device)
        self.size += keys.shape[1]
        self.keys[:, at] = keys
        return self.keys

model = torch.compile(KVCache())
```

## Use instead
```python
torch._dynamo.config.allow_unspec_int_on_nn_module = True
model = torch.compile(KVCache())
```

## Fix safety
The flag counts for the whole process, and other integers of modules that change become symbols too
(`capture-scalars`). Where the integer picks an item of a list, is a key, ends a `range` or stands in a text, it is
compiled for each value with the flag as without, and where `dynamic=True` is given all integers of all modules would be
symbols at once: nothing is offered. Nor is it where CUDA graphs may be in use (`mode="reduce-overhead"`): each value
would be recorded as another one. Nothing is offered in a package where nothing is compiled: the flag would count for
all the code of whoever imports it.

A cache like the one above, filled by seven calls, was compiled seven times, and twice with the flag; a counter that
weighs a loss nine times and twice (torch 2.13, eager and inductor, 2026-11-25). Four blocks with such a cache, 64 calls
of one token (H100, torch 2.11, once): 14.8 s without the flag and 3.6 s with it, and after that 0.84 and 0.46 ms a
call; with `mode="reduce-overhead"` 11.9 and 3.2 s, but then 0.92 and 3.39 ms.

Graph breaks: none (the recompile limit). torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from compilefix.analysis.regions import CompileSite
from compilefix.codemods.capture_flags import INTEGERS, switched_on
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
from compilefix.codemods.recompiles.counter_attribute import held_counters
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.index import Module
from compilefix.source.snippets import snippet

_REASON = "the flag counts for the whole process, and other integers of modules that change become symbols too"


class IntegerFlag(Rule):
    """Counters of a module that are compiled for each value without a flag."""

    code = "CF610"
    name = "integer-flag"
    summary = "compiled code that counts in integers of a module, without allow_unspec_int_on_nn_module"
    effect = "recompile"
    assumptions = ("capture-scalars",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """The compile calls of this function, where what they compile counts.

        In a file that compiles nothing and is no part of a package, the function itself, where it does.
        """
        if switched_on(INTEGERS, scope):
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
        counted = next(held_counters(scope), None)
        if counted is None:
            return
        statement, target = counted
        message = _message("this file", target)
        refused = _not_enough(list(scopes_reached(library_roots(scope), scope)))
        edit = behind_imports(INTEGERS, scope.function.module)
        if refused is not None:
            yield self.declined(scope, statement, message, refused)
        elif edit is not None:
            yield self.fixed(scope, statement, message, flag_fix(edit, scope.function.module, _REASON))

    def _judge(self, module: Module, site: CompileSite, scope: Scope) -> Iterator[Finding]:
        region = list(scopes_reached([scope.function], scope))
        target = next((target for inner in region for _, target in held_counters(inner)), None)
        if target is None:
            return
        message = _message(f"`{site.label}`", target)
        refused = _unfit(site) or _not_enough(region)
        edit = switch_on(INTEGERS, module, site.node)
        if refused is None and edit is None:
            refused = f"write `torch._dynamo.config.{INTEGERS} = True` where it is compiled"
        if refused is not None or edit is None:
            finding = self.declined(scope, scope.function.node, message, refused or "")
        else:
            finding = self.fixed(scope, scope.function.node, message, flag_fix(edit, module, _REASON))
        place = place_of(module, site.node)
        path, line = module.file.path.as_posix(), module.lines[place.line - 1]
        yield replace(finding, path=path, span=place, source_line=line)


def _message(what: str, target: ast.Attribute) -> str:
    return f"{what} counts in `{snippet(target)}`, which is compiled for each value without `{INTEGERS}`"


def _unfit(site: CompileSite) -> str | None:
    """Why a compile call is left alone: it wants symbols from the start, or CUDA graphs, or may do so."""
    calls = [site.node, *getattr(site.node, "decorator_list", ())]
    given = {k.arg: k.value for call in calls if isinstance(call, ast.Call) for k in call.keywords}
    asked = {name: getattr(value, "value", value) for name, value in given.items()}
    if asked.get("dynamic") not in (None, False):
        return "with `dynamic=` all integers of all modules would be symbols from the start"
    if asked.get("mode") not in (None, "default", "max-autotune-no-cudagraphs") or "options" in asked:
        return "each value may be recorded as another CUDA graph: make it a buffer"
    return None


def _not_enough(region: Sequence[Scope]) -> str | None:
    """Why a counter of this code is compiled for each value with the flag, too."""
    names = {target.attr for inner in region for _, target in held_counters(inner)}
    for inner in region:
        for node in inner.nodes:
            if not isinstance(node, ast.Attribute) or node.attr not in names or not isinstance(node.ctx, ast.Load):
                continue
            use = _fixed_by(node, inner)
            if use is not None:
                return f"the flag is not enough: `{snippet(node)}` {use} in `{inner.function.qualname}`"
    return None


def _fixed_by(node: ast.expr, scope: Scope) -> str | None:
    """What a number is used for that needs it while Dynamo traces."""
    if isinstance(scope.statement(node), ast.Raise):
        return None  # at most once
    child: ast.AST = node
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.Subscript) and child is parent.slice and not scope.value(parent.value).is_tensor:
            return "picks an item, or is a key,"
        if isinstance(parent, ast.Call) and child in parent.args and scope.callee(parent) in ("range", "str"):
            return "ends a `range`, or is a text,"
        if isinstance(parent, ast.JoinedStr):
            return "stands in a text"
        if isinstance(parent, ast.stmt):
            return None
        child = parent
    return None
