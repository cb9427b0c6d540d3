"""CF305: a timer in compiled code.

## What it does
Finds readings of the clock (`time.time()`, `time.perf_counter()`, ...) in compiled code, and removes those that nobody
looks at: the variable is only used for other variables that nobody uses.

## Why is this bad
Dynamo cannot put the clock into a graph and ends the graph there (GB0007). What stands between two readings is not
timed anyway: on a GPU the work is only queued when the second reading is made.

## Example
```python
start = time.perf_counter()
y = self.layer(x)
elapsed = time.perf_counter() - start
return y
```

## Use instead
```python
y = self.layer(x)
return y
```

## Fix safety
Safe: a reading has no effect, and its value goes nowhere. Declined where the time is shown, stored or returned:
measure around the compiled call then, with a synchronization of the device before each reading. With `logging =
"remove"` in the configuration the lines that show a time go first, and then the timer.

Graph breaks: GB0007. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.tree import names_in, walk

_CLOCKS = frozenset({"time", "perf_counter", "monotonic", "process_time", "thread_time"})
_SEES_NAMES = frozenset({"locals", "vars", "dir", "eval", "exec"})
_ADVICE = "measure around the compiled call, with a synchronization of the device before each reading"


class DeadTimer(Rule):
    """Timer in compiled code."""

    code = "CF305"
    name = "timer-in-graph"
    summary = "reading of the clock in compiled code"
    gb = ("GB0007",)
    hints = ("time", "perf_counter", "monotonic")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Readings of the clock that run compiled."""
        dead = _dead(scope)
        for node in scope.of(ast.Call):
            if not _reads_clock(node, scope):
                continue
            statement = scope.statement(node)
            message = f"`{ast.unparse(node)}` breaks the graph"
            if isinstance(statement, ast.Expr) and statement.value is node:
                yield self.fixed(scope, node, message, Fix((scope.edit(statement, ""),)))
            elif isinstance(statement, ast.Assign) and statement in dead:
                edits = tuple(scope.edit(other, "") for other in _with_uses(statement, dead))
                yield self.fixed(scope, node, message, Fix(edits))
            else:
                yield self.declined(scope, node, message, f"the time is used; {_ADVICE}")


def _reads_clock(node: ast.AST, scope: Scope) -> bool:
    if not isinstance(node, ast.Call) or node.args or node.keywords:
        return False
    owner, _, name = (scope.callee(node) or "").rpartition(".")
    return owner == "time" and name.removesuffix("_ns") in _CLOCKS


def _dead(scope: Scope) -> list[ast.Assign]:
    """Assignments of times to names that are used for other such names at most."""
    if any(scope.callee(call) in _SEES_NAMES for call in scope.of(ast.Call)):
        return []
    timers = _timers(scope)
    while True:
        inside = {id(node) for statement in timers for node in walk(statement)}
        kept = [
            s
            for s in timers
            if all(id(use) in inside for use in scope.function.loads(_name(s)))
            and all(any(store is t.targets[0] for t in timers) for store in scope.function.stores.get(_name(s), ()))
        ]
        if len(kept) == len(timers):
            return kept
        timers = kept


def _timers(scope: Scope) -> list[ast.Assign]:
    """Assignments to a name that do nothing but compute a time from clocks, constants and other such names."""
    shared = {name for statement in scope.function.of(ast.Global) for name in statement.names}
    shared |= {name for statement in scope.function.of(ast.Nonlocal) for name in statement.names}
    plain = [
        s
        for s in scope.of(ast.Assign)
        if len(s.targets) == 1 and isinstance(s.targets[0], ast.Name) and s.targets[0].id not in shared
    ]
    found: list[ast.Assign] = []
    while True:
        names = {_name(s) for s in found}
        more = [s for s in plain if s not in found and _is_time(s.value, names, scope)]
        if not more:
            return found
        found += more


def _is_time(node: ast.expr, names: set[str], scope: Scope) -> bool:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        sides = (node.left, node.right)
        constant = [isinstance(side, ast.Constant) and isinstance(side.value, int | float) for side in sides]
        return not all(constant) and all(c or _is_time(s, names, scope) for c, s in zip(constant, sides, strict=True))
    # A name that may have no value raises an error, which must stay.
    known = isinstance(node, ast.Name) and node.id in names and scope.value(node).certain
    return _reads_clock(node, scope) or known


def _name(statement: ast.Assign) -> str:
    target = statement.targets[0]
    assert isinstance(target, ast.Name)
    return target.id


def _with_uses(statement: ast.Assign, dead: list[ast.Assign]) -> list[ast.Assign]:
    """A dead assignment with the dead assignments that read its name, which go with it."""
    found = [statement]
    for item in found:
        name = _name(item)
        for other in dead:
            reads = name in names_in(other)
            if other not in found and reads:
                found.append(other)
    return found
