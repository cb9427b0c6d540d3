"""Code in which no gradient is recorded, and names that are only computed with there.

A tensor that is selected there requires no gradient, and one that was taken as it is may. Where a name only goes into
operations that give other tensors, which require none there, nobody sees that.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Collection

from compilefix.analysis import torch_api
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function

_CHANGES = frozenset({"no_grad", "inference_mode", "set_grad_enabled"})
_OFF = frozenset({"torch.no_grad", "torch.inference_mode"})
_RECORDS = frozenset({"enable_grad", "set_grad_enabled"})
_KEEP = ("torch.", "contextlib.nullcontext", "contextlib.suppress", "warnings.catch_warnings", "open")
_TELLS_NOTHING = frozenset({"shape", "dtype", "device", "ndim"})
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def is_changed(scope: Scope, at: ast.AST) -> bool:
    """Whether a decorator or a `with` block round a place says whether gradients are recorded."""
    return _region(scope, at) is not None


def records_none(scope: Scope, at: ast.AST) -> bool:
    """Whether it is certain that no gradient is recorded at a place: what is computed there passes none back."""
    region = _region(scope, at)
    if region is None or any(_last_name(scope.callee(call)) in _RECORDS for call in scope.function.of(ast.Call)):
        return False
    inner = list(itertools.takewhile(lambda around: around is not region, scope.ancestors(at)))
    if any(isinstance(around, ast.Lambda) or _may_record(around, scope) for around in inner):
        return False
    if any(_switches(callee, scope, set()) for callee in scope.facts.calls.values()):
        return False
    if isinstance(region, ast.With):
        calls = [item.context_expr for item in region.items if isinstance(item.context_expr, ast.Call)]
        return any(scope.callee(call) in _OFF and not call.args and not call.keywords for call in calls)
    if any(_last_name(name) in _RECORDS for name in scope.function.decorators):
        return False
    given = [d for d in scope.function.node.decorator_list if isinstance(d, ast.Call) and (d.args or d.keywords)]
    named = [_last_name(ast.unparse(call.func)) for call in given]
    return any(name in _OFF and _last_name(name) not in named for name in scope.function.decorators)


def _may_record(around: ast.AST, scope: Scope) -> bool:
    """Whether a `with` block may switch gradients on again: what it enters is not known."""
    items = around.items if isinstance(around, ast.With | ast.AsyncWith) else []
    return not all((scope.callee(item.context_expr) or "").startswith(_KEEP) for item in items)


def _switches(function: Function, scope: Scope, seen: set[Function]) -> bool:
    """Whether a function that is called, or one that it calls, may leave gradients switched on."""
    if function in seen:
        return False
    seen.add(function)
    # As a `with` block or a decorator it would switch back.
    calls = (s.value for s in function.of(ast.Expr) if isinstance(s.value, ast.Call))
    if any(_last_name(ast.unparse(call.func)) == "set_grad_enabled" for call in calls):
        return True
    callees = scope.legality.inference.facts(function).calls.values()
    return any(_switches(callee, scope, seen) for callee in callees)


def is_decorated(scope: Scope, at: ast.AST) -> bool:
    """Whether that is said of the whole function: what it hands out was computed without, or was handed in."""
    names = (_last_name(scope.callee(call)) for call in scope.function.of(ast.Call))
    return _region(scope, at) is scope.function.node and not any(name in _RECORDS for name in names)


def is_only_computed_with(names: Collection[str], scope: Scope, at: ast.AST) -> bool:
    """Whether the names are read, behind a place, only where no gradient is recorded, and to compute with them."""
    region = _region(scope, at)
    if region is None or not names or not all(name.isidentifier() for name in names):
        return False
    again = any(isinstance(around, _LOOPS) for around in scope.ancestors(at))
    end = scope.span(at).end_line
    for use in scope.function.of(ast.Name):
        if use.id not in names or not isinstance(use.ctx, ast.Load):
            continue
        if use not in scope.parents:
            return False  # a nested function, which may run anywhere
        inside = region is scope.function.node or region in scope.ancestors(use)
        if (again or use.lineno > end) and not (inside and _gives_another(use, scope)):
            return False
    return True


def _region(scope: Scope, at: ast.AST) -> ast.AST | None:
    """The function or `with` block that says whether gradients are recorded."""
    for around in scope.ancestors(at):
        items = around.items if isinstance(around, ast.With) else []
        if any(_last_name(scope.callee(item.context_expr)) in _CHANGES for item in items):
            return around
    decorated = any(_last_name(name) in _CHANGES for name in scope.function.decorators)
    return scope.function.node if decorated else None


def _last_name(name: str | None) -> str:
    return (name or "").rpartition(".")[2]


def _gives_another(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is an operand of what gives another tensor, which shows nothing of this one."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Subscript):
        return parent.value is node and isinstance(parent.ctx, ast.Load) and scope.value(parent).is_tensor
    if isinstance(parent, ast.BinOp | ast.UnaryOp):
        # `"%s" % x` shows whether it requires a gradient, and `+x` is the tensor itself.
        shown = isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.UAdd)
        return scope.value(parent).is_tensor and not shown
    if isinstance(parent, ast.Attribute) and parent.attr in _TELLS_NOTHING:
        return True
    call = scope.parents.get(parent) if isinstance(parent, ast.Attribute) else parent
    if not isinstance(call, ast.Call):
        return False
    name = scope.callee(call) or ""
    bare = name.removeprefix("Tensor.")
    api = torch_api.method(bare) if bare != name else torch_api.function(name)
    if api is None or bare.endswith("_") or api.mutates or any(k.arg in ("inplace", "out") for k in call.keywords):
        return False
    if {api.returns, *(api.returns_with_dim or ())} != {"Tensor"}:
        return False
    return not api.maybe_view or _gives_another(call, scope)
