"""Whether a number read from a tensor can stay in the graph as a symbol, with `capture_scalar_outputs`.

Measured on torch 2.13 with inductor, forward and backward: sizes of new tensors, arithmetic and results work. A number
that bounds a slice or picks an item of a list makes the compilation fail, one that is asked for its truth breaks again.
"""

from __future__ import annotations

import ast

from compilefix.analysis.regions import CompiledFunction
from compilefix.analysis.values import Kind
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.host_reads.number_sinks import in_log
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import decides
from compilefix.source.index import Function
from compilefix.source.snippets import snippet

CAPTURE = (
    "pass the number in from outside the compiled code, or set `torch._dynamo.config.capture_scalar_outputs = True` "
    "where it is compiled"
)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv)
_FUNCTIONS = frozenset({"int", "float", "min", "max", "abs", "math.sqrt"})
_NEW_TENSORS = frozenset(
    {
        "zeros",
        "ones",
        "empty",
        "full",
        "arange",
        "rand",
        "randn",
        "eye",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
    }
)
_MAX_DEPTH = 3


def not_captured(node: ast.expr, scope: Scope) -> str | None:
    """Why the number, or the tensor in the place of one, cannot stay in the graph; None where it can."""
    return _not_captured(node, scope, 0, set())


def _not_captured(node: ast.expr, scope: Scope, depth: int, seen: set[tuple[Function, str]]) -> str | None:
    """As `not_captured`. Names that were `seen` are followed once: `n = min(n, 4)` gives a name what it had."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        for target in targets:
            if isinstance(target, ast.Name):
                reason = _name(target.id, scope, depth, seen)
                if reason is not None:
                    return reason
            elif not isinstance(target, ast.Attribute | ast.Subscript):
                return f"`{snippet(parent)}` unpacks it"
        return None
    if isinstance(parent, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops):
        return None
    if decides(node, scope):
        return f"`{snippet(parent)}` decides on it"
    if integer_place(node, scope) is not None:
        return _size(node, scope)
    if in_log(node, scope):
        return "it is printed or logged"
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, _OPERATORS):
        if any(_is_text(operand, scope) for operand in (parent.left, parent.right)):
            return _used(node, parent)
        other = scope.value(parent.right if parent.left is node else parent.left)
        if other.may_be(Kind.TENSOR):
            return None
        numbers = other.is_(Kind.NUMBER, Kind.SIZE, Kind.STATIC) and other.dtype in ("int", "float", "bool")
        return _not_captured(parent, scope, depth, seen) if numbers else _used(node, parent)
    if isinstance(parent, ast.IfExp) and parent.test is not node:
        return _not_captured(parent, scope, depth, seen)
    if isinstance(parent, ast.Return):
        return _returned(scope, depth, seen)
    if isinstance(parent, ast.Tuple | ast.List | ast.Dict) and not isinstance(scope.parents.get(parent), ast.Subscript):
        return None if isinstance(parent, ast.Dict) or _is_result(parent, scope) else _in_size(parent, scope)
    if isinstance(parent, ast.Call | ast.keyword):
        call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        return _call(node, call, scope, depth, seen) if isinstance(call, ast.Call) else _used(node, parent)
    return _used(node, parent)


def _is_text(node: ast.expr, scope: Scope) -> bool:
    const = scope.value(node).const
    return const is not None and isinstance(const.value, str | bytes)


def _used(node: ast.expr, parent: ast.AST | None) -> str:
    return f"line {node.lineno}: it is used in `{snippet(parent)}`"


def _returned(scope: Scope, depth: int, seen: set[tuple[Function, str]]) -> str | None:
    """As `not_captured`, of the calls in this file that a number is returned to."""
    function = scope.compiled.function
    if (function, "return") in seen or depth >= _MAX_DEPTH:
        return None if (function, "return") in seen else f"`{function.qualname}` returns it"
    seen.add((function, "return"))
    for caller in function.module.all_functions:
        facts = scope.legality.inference.facts(caller)
        inner = Scope(CompiledFunction(caller, facts, scope.compiled.reached_by), scope.legality, scope.path)
        for call in (c for c in inner.of(ast.Call) if facts.calls.get(c) is function):
            reason = _not_captured(call, inner, depth + 1, seen)
            if reason is not None:
                return reason
    return None


def _in_size(node: ast.expr, scope: Scope) -> str | None:
    """As `not_captured`, of a tuple or list that a number is put in: it may be the size of new tensors."""
    whole: ast.expr = node
    while isinstance(above := scope.parents.get(whole), ast.BinOp) and isinstance(above.op, ast.Add):
        whole = above
    parent = scope.parents.get(whole)
    places = [whole]
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        places = list(scope.names(name)) if len(scope.names(name, stores=True)) == 1 else []
    for place in places:
        call = scope.parents.get(place)
        if not isinstance(call, ast.Call) or call.func is place or not _makes_new(call, scope):
            return _used(node, call or parent)
    return None if places else _used(node, parent)


def _makes_new(call: ast.Call, scope: Scope) -> bool:
    name = scope.callee(call) or ""
    bare = name.rpartition(".")[2]
    return name in (f"torch.{bare}", f"Tensor.{bare}") and bare in _NEW_TENSORS


def _is_result(node: ast.AST, scope: Scope) -> bool:
    while isinstance(node, ast.Tuple | ast.Dict | ast.List):
        node = scope.parents[node]
    return isinstance(node, ast.Return)


def _name(name: str, scope: Scope, depth: int, seen: set[tuple[Function, str]]) -> str | None:
    followed = (scope.compiled.function, name)
    if followed in seen:
        return None
    seen.add(followed)
    for load in scope.names(name):
        reason = _not_captured(load, scope, depth, seen)
        if reason is not None:
            return reason
    return None


def _size(node: ast.expr, scope: Scope) -> str | None:
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.Slice):
            return f"`{snippet(node)}` bounds a slice, which inductor compiles only with `torch._check` on both ends"
        if isinstance(parent, ast.Call):
            known = _makes_new(parent, scope)
            return None if known else f"`{snippet(parent)}` is not known to take a size that is no Python integer"
    return _used(node, scope.parents.get(node))


def _call(node: ast.expr, call: ast.Call, scope: Scope, depth: int, seen: set[tuple[Function, str]]) -> str | None:
    if (scope.callee(call) or "") in _FUNCTIONS:
        return _not_captured(call, scope, depth, seen)
    callee = scope.facts.calls.get(call)
    if callee is None or depth >= _MAX_DEPTH or any(isinstance(a, ast.Starred) for a in call.args):
        return _used(node, call)
    parameters = callee.parameters[0 if callee.cls is None or callee.is_static else 1 :]
    keyword = next((k.arg for k in call.keywords if k.value is node), None)
    position = call.args.index(node) if node in call.args else len(parameters)
    name = keyword or (parameters[position].arg if position < len(parameters) else None)
    if name is None:
        return _used(node, call)
    facts = scope.legality.inference.facts(callee)
    inner = Scope(CompiledFunction(callee, facts, scope.compiled.reached_by), scope.legality, scope.path)
    return _name(name, inner, depth + 1, seen)
