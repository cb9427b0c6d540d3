"""CF802: torch.compile is called again and again for the same thing.

## What it does
Finds `torch.compile` in a loop whose turns all compile the same thing in the same way, and in the `forward` of a
module.

## Why is this bad
Dynamo keeps the compiled code with the function, so that the second call compiles nothing; but it makes a new wrapper
and looks everything up again. On PyTorch 2.13 a call took 1.1 ms more that way for a small module, and 0.1 ms for a
function. A backend that is made anew each time (`backend=lambda ...`, `backend=make()`) is another backend to Dynamo:
each call is compiled (`BACKEND_MATCH failure`), until it gives up on the function after eight times.

## Example
```python
for batch in loader:
    step = torch.compile(model)
    loss = step(batch)
```

## Use instead
```python
step = torch.compile(model)
for batch in loader:
    loss = step(batch)
```

In a module, compile in `__init__`, or decorate the function.

## Fix safety
This rule has no fix: moved in front of the loop, the call runs where the loop runs no turn, too.

Not reported: a loop over the modules to compile or over ways to compile them, a call that a branch guards, and a loop
that resets Dynamo.

Graph breaks: none. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.compile_calls.places import Loop, is_expected_to_fail, loop_around
from compilefix.codemods.finding import Finding
from compilefix.codemods.module_rule import CompileCall, ModuleRule, ModuleView
from compilefix.source.snippets import snippet
from compilefix.source.tree import walk

_PER_CALL = frozenset({"forward", "__call__", "training_step", "validation_step", "test_step", "predict_step"})
_RESETS = ("torch._dynamo.reset", "torch.compiler.reset", "torch._dynamo.reset_code_caches")
_COST = "the compiled code is kept, but each call makes a wrapper anew and looks it up, which takes up to a millisecond"
_COST_BACKEND = "each time is another backend to Dynamo, which compiles anew: `BACKEND_MATCH failure`"


class CompilePerCall(ModuleRule):
    """torch.compile is called again and again for the same thing."""

    code = "CF802"
    name = "compile-per-call"
    summary = "torch.compile in a loop or in forward"
    effect = "slow"
    hints = ("compile",)

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The compile calls that run many times for the same target."""
        for call in view.calls:
            if is_expected_to_fail(call.node, view):
                continue
            loop = loop_around(call.node, view)
            if loop is not None and _is_same_each_turn(call, loop, view):
                yield self._judge(call, "in each turn of the loop", "compile it once, in front of the loop", view)
            elif loop is None and _is_in_forward(call, view):
                advice = "compile it once, in `__init__`, or decorate the function"
                yield self._judge(call, "in each call of the module", advice, view)

    def _judge(self, call: CompileCall, when: str, advice: str, view: ModuleView) -> Finding:
        what = "a function" if call.target is None else f"`{snippet(call.target)}`"
        backend = call.option("backend")
        anew = isinstance(backend, ast.Lambda | ast.Call)
        message = f"{what} is given to `torch.compile` {when}: {_COST_BACKEND if anew else _COST}"
        return self.declined_at(view, call.node, message, advice, effect="recompile" if anew else "slow")


def _is_same_each_turn(call: CompileCall, loop: Loop, view: ModuleView) -> bool:
    if call.target is None or not isinstance(call.target, ast.Name | ast.Attribute):
        return False
    inside = [part for statement in loop.body for part in walk(statement)]
    if isinstance(loop, ast.For | ast.AsyncFor):
        inside += walk(loop.target)
    given = [n for n in walk(call.node) if isinstance(n, ast.Name | ast.Attribute)]
    read = {ast.unparse(n) for n in given}
    changed = {
        ast.unparse(n)
        for n in inside
        if isinstance(n, ast.Name | ast.Attribute | ast.Subscript) and isinstance(n.ctx, ast.Store | ast.Del)
    }
    # `self.model = torch.compile(self.model)` wraps it once more at each turn; what else is stored is another thing.
    if any(name == stored or name.startswith((f"{stored}.", f"{stored}[")) for name in read for stored in changed):
        return False
    if any(isinstance(n, ast.Break | ast.Return | ast.Yield) for n in inside):
        return False
    names = {view.module.qualified(n) for n in inside if isinstance(n, ast.Attribute)}
    return not names & set(_RESETS)


def _is_in_forward(call: CompileCall, view: ModuleView) -> bool:
    holder = view.holder(call.node)
    if not isinstance(holder, ast.FunctionDef) or holder.name not in _PER_CALL:
        return False
    if not isinstance(view.parents.get(holder), ast.ClassDef):
        return False
    branches = ast.If | ast.IfExp | ast.ExceptHandler | ast.BoolOp | ast.Try
    for above in view.ancestors(call.node):
        if above is holder:
            # After `if self.compiled: return`, what follows runs once.
            return not any(isinstance(n, ast.Return) for s in holder.body for n in _before(s, call.node))
        if isinstance(above, branches):
            return False
    return False


def _before(statement: ast.stmt, node: ast.AST) -> list[ast.AST]:
    return walk(statement) if (statement.end_lineno or 0) < getattr(node, "lineno", 0) else []
