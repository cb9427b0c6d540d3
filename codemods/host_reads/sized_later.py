"""Whether torch fails on what is made of a tensor whose size is a number read from a tensor.

The backward passes of running sums, products and the deviation of all elements ask how large their tensors are: the
compilation fails (measured on torch 2.13, also with the `aot_eager` backend; means, norms, variances, sorts and a
deviation along a dimension work). `positions = torch.arange(lengths.max().item())` is followed through names, calls and
what functions of the file return.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial

from compilefix.analysis.summaries import filled
from compilefix.codemods.dynamic_shapes.captured_sizes import made_of, stands_in
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet

_MAX_DEPTH = 3
_RUNNING = frozenset({"prod", "cumsum", "cumprod", "logcumsumexp"})
_DEVIATIONS = frozenset({"std", "std_mean"})


def fails_later(node: ast.expr, scope: Scope) -> str | None:
    """Why what is made of a tensor does not compile; None where nothing is met that fails."""
    return _fails(node, frozenset(), scope, 0, set())


def _fails(
    node: ast.expr | None, names: frozenset[str], scope: Scope, depth: int, seen: set[tuple[Function, str]]
) -> str | None:
    is_made = partial(stands_in, node, made_of(node, scope, names))

    for call in scope.among(ast.Call):
        if _asks_for_sizes(call, scope) and is_made(call):
            return f"line {call.lineno}: the backward pass of `{snippet(call)}` fails where a size is a symbol"
    if depth >= _MAX_DEPTH:
        return None
    for site, callee in scope.facts.calls.items():
        given = _given(site, callee, is_made)
        if given and (callee, ", ".join(sorted(given))) not in seen:
            seen.add((callee, ", ".join(sorted(given))))
            reason = _fails(None, given, scope.in_function(callee), depth + 1, seen)
            if reason is not None:
                return reason
    returned = any(n.value is not None and is_made(n.value) for n in scope.function.of(ast.Return))
    if not returned or (scope.function, "return") in seen:
        return None
    seen.add((scope.function, "return"))
    for caller in scope.function.module.all_functions:
        if scope.function not in scope.legality.inference.facts(caller).calls.values():
            continue
        inner = scope.in_function(caller)
        for call in inner.of(ast.Call):
            if inner.facts.calls.get(call) is scope.function:
                reason = _fails(call, frozenset(), inner, depth + 1, seen)
                if reason is not None:
                    return reason
    return None


def _asks_for_sizes(call: ast.Call, scope: Scope) -> bool:
    """Whether the backward pass of an operation asks how large its operand is, and a gradient may go back there."""
    name = scope.callee(call) or ""
    short = name.rpartition(".")[2]
    value = scope.value(call)
    if name not in (f"torch.{short}", f"Tensor.{short}") or value.dtype in ("int", "bool") or not value.leaves:
        return False
    whole = len(call.args) <= (0 if name.startswith("Tensor.") else 1) and not any(
        k.arg == "dim" for k in call.keywords
    )
    return short in _RUNNING or (short in _DEVIATIONS and whole)


def _given(call: ast.AST, callee: Function, is_made: Callable[[ast.AST], bool]) -> frozenset[str]:
    """The parameters of a function that get what is made of the tensor."""
    if not isinstance(call, ast.Call):
        return frozenset()
    own = [p.arg for p in filled(call, callee)]
    by_place = {own[place] for place, a in enumerate(call.args) if place < len(own) and is_made(a)}
    return frozenset(by_place | {k.arg for k in call.keywords if k.arg is not None and is_made(k.value)})
