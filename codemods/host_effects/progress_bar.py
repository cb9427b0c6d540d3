"""CF306: a progress bar in compiled code.

## What it does
Finds `tqdm` (and `trange`, and `track` of rich) round what a loop in compiled code goes over, and leaves the bar out.

## Why is this bad
Dynamo cannot trace into the bar and gives up on the loop, and with it on the whole function (GB0008, GB0007). Compiled,
the loop is unrolled: there is no progress to show.

## Example
```python
for layer in tqdm(self.layers, desc="layers"):
    x = layer(x)
```

## Use instead
```python
for layer in self.layers:
    x = layer(x)
```

## Fix safety
Under `progress-hidden`: the loop is the same, and the bar does not appear. Safe where it is switched off
(`disable=True`). Declined where the bar has a name (`bar.set_postfix(...)`), and so is the loop over it, which breaks
the graph again: drop it with what is done to it; where an option of it prints or changes something; and in
`reversed(tqdm(...))`, which goes forward (tqdm 4.70).

Graph breaks: GB0008, GB0007. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_literal

_RANGES = frozenset({"trange", "tnrange"})
_BARS = frozenset({"tqdm", "tqdm_notebook"})
_NAMED = "the bar has a name: drop it with what is done to it"
_PASSED_ON = frozenset({"enumerate", "zip", "list", "tuple", "iter"})


class ProgressBar(Rule):
    """Progress bar in compiled code."""

    code = "CF306"
    name = "progress-bar"
    summary = "progress bar in compiled code"
    gb = ("GB0008", "GB0007")
    hints = ("tqdm", "trange", "track")
    assumptions = ("progress-hidden",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Progress bars that are made in compiled code."""
        for node in scope.of(ast.Call):
            if (is_range := _is_bar(node, scope)) is None:
                continue
            message = f"`{ast.unparse(node.func)}` breaks the graph"
            items = _items(node, is_range)
            options = [a for a in (*node.args, *(k.value for k in node.keywords)) if a is not items]
            seen = next((reason for option in options if (reason := _does(option, scope)) is not None), None)
            if _is_reversed(node, scope):
                reason = "`reversed` of a bar goes forward all the same: put it round what the bar goes over"
                yield self.declined(scope, node, message, reason)
            elif not _is_gone_over(node, scope):
                yield self.declined(scope, node, message, _NAMED)
            elif items is None:
                yield self.declined(scope, node, message, "what the bar goes over is not given by itself")
            elif seen is not None:
                yield self.declined(scope, node, message, seen)
            else:
                off = any(k.arg == "disable" and is_literal(k.value, True) for k in node.keywords)
                edit = scope.edit(node, "range({items})" if is_range else "{items}", items=items)
                reasons = () if off else ("the bar does not appear",)
                yield self.fixed(scope, node, message, Fix((edit,), (), () if off else ("progress-hidden",), reasons))
        for loop in scope.of(ast.For):
            if _is_named_bar(loop.iter, scope):
                message = f"`{snippet(loop.iter)}` is a progress bar, and to go over it breaks the graph again"
                yield self.declined(scope, loop.iter, message, _NAMED)


def _is_bar(node: ast.Call, scope: Scope) -> bool | None:
    """True for a bar over a range of numbers, False for one over anything else, None for other calls."""
    owner, _, name = (scope.callee(node) or "").rpartition(".")
    if owner.partition(".")[0] == "tqdm" and name in _RANGES:
        return True
    if (owner.partition(".")[0] == "tqdm" and name in _BARS) or (owner == "rich.progress" and name == "track"):
        return False
    return None


def _is_named_bar(node: ast.expr, scope: Scope) -> bool:
    """Whether a name stands for bars alone."""
    if not isinstance(node, ast.Name) or node.id in {parameter.arg for parameter in scope.function.parameters}:
        return False
    given = [scope.parents.get(store) for store in scope.names(node.id, stores=True)]
    return bool(given) and all(
        isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.targets[0], ast.Name)
        and _is_bar(statement.value, scope) is not None
        for statement in given
    )


def _items(node: ast.Call, is_range: bool) -> ast.expr | None:
    if node.args:
        one = not is_range or len(node.args) == 1
        return node.args[0] if one and not isinstance(node.args[0], ast.Starred) else None
    return next((k.value for k in node.keywords if k.arg in ("iterable", "sequence")), None)


def _does(option: ast.expr, scope: Scope) -> str | None:
    """What an option of the bar does besides having a value."""
    does = scope.legality.effects.of(option, scope.facts)
    effect = does.mutates or does.host or does.random
    return None if effect is None else f"`{snippet(option)}` would go with the bar: {effect}"


def _is_reversed(node: ast.expr, scope: Scope) -> bool:
    parent = scope.parents.get(node)
    return isinstance(parent, ast.Call) and scope.callee(parent) == "reversed" and parent.args == [node]


def _is_gone_over(node: ast.AST, scope: Scope) -> bool:
    """Whether a loop goes over the bar, and nothing else knows it."""
    parent = scope.parents.get(node)
    while isinstance(parent, ast.Call) and scope.callee(parent) in _PASSED_ON and node in parent.args:
        node, parent = parent, scope.parents.get(parent)
    return isinstance(parent, ast.For | ast.comprehension) and parent.iter is node
