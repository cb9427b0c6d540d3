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
from collections.abc import Sequence

from compilefix.analysis.compile_sites import CompileSite
from compilefix.codemods.capture_flags import INTEGERS
from compilefix.codemods.flag_rule import FlagRule, Need, library_roots, scopes_reached
from compilefix.codemods.recompiles.counter_attribute import held_counters
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet


class IntegerFlag(FlagRule):
    """Counters of a module that are compiled for each value without a flag."""

    code = "CF610"
    name = "integer-flag"
    summary = "compiled code that counts in integers of a module, without allow_unspec_int_on_nn_module"
    effect = "recompile"
    flag = INTEGERS
    reason = "the flag counts for the whole process, and other integers of modules that change become symbols too"

    def need_here(self, scope: Scope) -> tuple[ast.stmt, Need] | None:
        """The first statement that counts, and what of the file is compiled for each value all the same."""
        counted = next(held_counters(scope), None)
        if counted is None:
            return None
        statement, target = counted
        refused = _not_enough(list(scopes_reached(library_roots(scope), scope)))
        return statement, Need(_message("this file", target), refused)

    def need_of(self, site: CompileSite, region: Sequence[Scope]) -> Need | None:
        """What compiled code counts in."""
        target = next((target for inner in region for _, target in held_counters(inner)), None)
        if target is None:
            return None
        return Need(_message(f"`{site.label}`", target), _unfit(site) or _not_enough(region))


def _message(what: str, target: ast.Attribute) -> str:
    return f"{what} counts in `{snippet(target)}`, which is compiled for each value without `{INTEGERS}`"


def _unfit(site: CompileSite) -> str | None:
    """Why a compile call is left alone: it wants symbols from the start, or CUDA graphs, or may do so."""
    calls = [site.node, *getattr(site.node, "decorator_list", ())]
    given = {k.arg: k.value for call in calls if isinstance(call, ast.Call) for k in call.keywords}
    asked = {name: getattr(value, "value", value) for name, value in given.items()}
    if asked.get("dynamic") not in (None, False):
        return "with `dynamic=` all integers of all modules would be symbols from the start"
    plain = asked.get("mode") in (None, "default", "max-autotune-no-cudagraphs")
    if not plain or asked.get("backend") == "cudagraphs" or not {"options", None}.isdisjoint(asked):
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
