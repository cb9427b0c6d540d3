"""CF604: a module that keeps a size as an integer.

## What it does
Finds `self.length = x.shape[1]` in compiled code of an `nn.Module` that reads `self.length` before, and dicts of a
module whose keys are sizes: caches of masks and position tables, as a rule.

## Why is this bad
Integers of modules are constants to Dynamo, and so are the keys of a dict. What could be compiled for all sizes is
compiled for each size anew (`self.length == 128`); after eight times Dynamo gives up on the function and runs it in
eager for good.

## Example
```python
def forward(self, x):
    if x.shape[1] > self.length:
        self.length = x.shape[1]
        self.positions = torch.arange(self.length)
    return x + self.positions[: x.shape[1]]
```

## Use instead
```python
def forward(self, x):
    if self.positions is None or x.shape[1] > self.positions.shape[0]:
        self.positions = torch.arange(x.shape[1])
    return x + self.positions[: x.shape[1]]
```

The size of a tensor may stay a symbol. On PyTorch 2.13, with twelve growing sizes, the first form gave up after eight
compilations, the second was compiled three times, and twice where the table is computed at each call.

A dict (`if key not in self.cache: self.cache[key] = ...`, or `if key in self.cache: return self.cache[key]`) goes: the
value is computed at each call. Of a table of positions by height and width this compiled 3 graphs for 6 calls instead
of 5 (torch 2.13, 2026-11-25), and a compiled graph computes it in one kernel.

## Fix safety
The dict goes under `computed-again`: what is kept is the same when it is computed again, and both ways out return it.
Declined where something else looks at the dict, where the value hangs on a parameter, on a module or on the values of
an argument, and where computing it draws, prints or writes; `branches-total` where that is not known.

So goes an answer that is returned again (`if self.mask is not None and self.mask.shape[0] >= n: return
self.mask[:n, :n]`), where nothing else uses it, and the question whether a kept table fits (`if length != self.length
or self.table.device != x.device:`), whose block runs at each call. Where a longer table would do (`if length >
self.length:`), each row of it must be computed by itself, of `torch.arange(length)` or as part of a mask, and only as
many rows be read as were asked for (`self.table[:length]`). Declined for what is named above, where the table begins
as another one than None, and where a place reads what is kept that may be reached without the question, or reads the
kept size. Other kept integers have no fix: who else reads them, and what the checkpoint holds, stands outside the
function.

Graph breaks: GB0039. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.callers import callers
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.recompiles.kept_answer import KeptAnswer, answered_at_each_call, kept_answer
from compilefix.codemods.recompiles.kept_table import computed_at_each_call, kept_table
from compilefix.codemods.recompiles.size_cache import calls_unknown, computed_each_time, size_cache
from compilefix.codemods.recompiles.sizes import definition_of, is_likely_compiled, is_size
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of

_ADVICE = "compare with the size of the kept tensor (`self.table.shape[0]`), or compute the value at each call"


class KeptSize(Rule):
    """Module that keeps a size as an integer."""

    code = "CF604"
    name = "kept-size"
    summary = "size of a tensor kept as an integer or key of a module"
    gb = ("GB0039",)
    effect = "recompile"
    hints = ("self.",)
    assumptions = ("computed-again", "branches-total")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Attributes and dict entries of `self` that are given sizes and read by the next call."""
        if not is_likely_compiled(scope) or not _is_method_of_module(scope):
            return
        seen: set[str] = set()
        for guard in scope.of(ast.If):
            answer = kept_answer(guard, scope)
            if answer is not None:
                seen.update(f"self.{name}" for name in answer.kept)
                yield self._answer(answer, scope)
        for node in scope.of(ast.Assign):
            for target in node.targets:
                if not isinstance(target, ast.Attribute | ast.Subscript):
                    continue
                text = ast.unparse(target)
                if text in seen:
                    continue
                sized = _own(target, scope) and (is_size(node.value, scope) or _is_given(node.value, scope))
                if sized and _is_read_first(target, node, scope):
                    seen.add(text)
                    yield self._table(text, node, scope)
                elif isinstance(target, ast.Subscript) and _is_cache(target, scope):
                    seen.add(text)
                    yield self._cache(target, node, scope)

    def _answer(self, answer: KeptAnswer, scope: Scope) -> Finding:
        names = ", ".join(f"`self.{name}`" for name in sorted(answer.kept))
        message = f"{names}: filled by a call, so that the next one is compiled anew, and so is one with another size"
        found = answered_at_each_call(answer, scope)
        if isinstance(found, str):
            return self.declined(scope, answer.guard, message, f"{found}; compute it at each call, or before the calls")
        rows = ", and a row of it not to depend on how many there are" if answer.grows else ""
        reason = f"what is kept is taken to be the same when it is computed again{rows}"
        return self.fixed(scope, answer.guard, message, Fix(found, (), ("computed-again",), (reason,)))

    def _table(self, text: str, node: ast.Assign, scope: Scope) -> Finding:
        message = f"`{text}` is a constant to Dynamo: each new size is another value, and compiled anew"
        table = kept_table(node, scope)
        found = _ADVICE if table is None else computed_at_each_call(table, scope)
        if isinstance(found, str):
            return self.declined(scope, node, message, found if table is None else f"{found}; {_ADVICE}")
        rows = ", and a row of it not to depend on how many there are" if table is not None and table.grows else ""
        reason = f"what is kept is taken to be the same when it is computed again{rows}"
        return self.fixed(scope, node, message, Fix(found, (), ("computed-again",), (reason,)))

    def _cache(self, target: ast.Subscript, node: ast.Assign, scope: Scope) -> Finding:
        container = snippet(target.value)
        message = f"the keys of `{container}` are constants to Dynamo: each new size is compiled anew"
        cache = size_cache(node, scope)
        found = _ADVICE if cache is None else computed_each_time(cache, scope)
        if cache is None or isinstance(found, str):
            return self.declined(scope, node, message, found if isinstance(found, str) else _ADVICE)
        reason = f"what `{container}` keeps is taken to be the same when it is computed again"
        unknown = calls_unknown(cache, scope)
        if unknown is None:
            return self.fixed(scope, node, message, Fix(found, (), ("computed-again",), (reason,)))
        reasons = (reason, f"computed at each call, it calls what cannot be judged: {unknown}")
        return self.fixed(scope, node, message, Fix(found, (), ("computed-again", "branches-total"), reasons))


def _is_method_of_module(scope: Scope) -> bool:
    function = scope.function
    return (
        function.cls is not None
        and function.parent is None
        and bool(function.parameters)
        and scope.legality.inference.project.is_module_class(function.cls)
    )


def _own(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is an attribute of the instance."""
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == scope.function.parameters[0].arg
    )


def _is_read_first(target: ast.expr, statement: ast.Assign, scope: Scope) -> bool:
    """Whether a call reads what an earlier one has stored, and stores something else where that does not fit.

    What is stored under another condition (`if self.table is None`) is stored once.
    """
    text = ast.unparse(target)
    branches = [above for above in scope.ancestors(statement) if isinstance(above, ast.If)]
    if branches:
        return any(ast.unparse(n) == text for n in ast.walk(branches[0].test) if isinstance(n, ast.Attribute))
    return any(
        isinstance(n.ctx, ast.Load) and ast.unparse(n) == text and n.lineno < statement.lineno
        for n in scope.of(ast.Attribute)
    )


def _is_cache(target: ast.Subscript, scope: Scope) -> bool:
    """Whether it is a dict of the instance in which sizes are looked for: `key in self.cache`."""
    if not _own(target.value, scope) or not _holds_number(target.slice, scope):
        return False
    container, key = ast.unparse(target.value), ast.unparse(target.slice)
    return any(_looks_up(node, container, key) for node in scope.nodes)


def _holds_number(key: ast.expr, scope: Scope) -> bool:
    """Whether a key is made of sizes, or of integers that each call is given."""
    given = definition_of(key, scope)
    parts = elements_of(given)
    if isinstance(given, ast.JoinedStr):
        parts = [part.value for part in given.values if isinstance(part, ast.FormattedValue)]
        return any(is_size(part, scope) or isinstance(part, ast.Name) for part in parts)
    return any(is_size(part, scope) or _is_given(part, scope) for part in parts)


def _is_given(node: ast.expr, scope: Scope) -> bool:
    """Whether it is an integer among the parameters, or one that is given a size."""
    names = [parameter.arg for parameter in scope.function.parameters]
    if not isinstance(node, ast.Name) or node.id not in names:
        return False
    value = scope.value(node)
    if value.is_(Kind.STATIC, Kind.SIZE):
        return value.dtype == "int"
    return any(is_size(given, inner) for given, inner in _arguments(names.index(node.id) - 1, scope))


def _arguments(position: int, scope: Scope) -> Iterator[tuple[ast.expr, Scope]]:
    """What calls in this file give a method at a position, `self` not counted."""
    for caller in callers(scope):
        inner = scope.in_function(caller)
        for call in caller.of(ast.Call):
            if inner.facts.calls.get(call) in scope.stands_for and len(call.args) > position >= 0:
                yield call.args[position], inner


def _looks_up(node: ast.AST, container: str, key: str) -> bool:
    if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        where = ast.unparse(node.comparators[0]).removesuffix(".keys()")
        return ast.unparse(node.left) == key and where == container
    if isinstance(node, ast.Call) and node.args and ast.unparse(node.func) == f"{container}.get":
        return ast.unparse(node.args[0]) == key
    return False
