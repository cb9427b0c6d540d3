"""Layers that torch fails to compile for tensors of unknown size, and whether such a tensor gets to one.

Measured on torch 2.13 with inductor on a CPU, with `capture_dynamic_output_shape_ops` and `capture_scalar_outputs`: a
convolution in two dimensions fails in its first call, multi-head attention in training or with the sequence first. In
one and three dimensions convolutions work, and so do linear, recurrent, normalising and pooling layers.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis.values import Value
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_LAYERS = ("Conv2d", "ConvTranspose2d", "MultiheadAttention", "Transformer")
_FUNCTIONS = frozenset({"conv2d", "conv_transpose2d", "multi_head_attention_forward"})


def failing_layer(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """Why a result of unknown size fails in a layer behind it; None where it gets to no layer that is known to fail.

    region: all that is compiled together with `scope`, and itself.
    """
    others = [inner for inner in region if inner.function is not scope.function]
    holders = _holders(node, scope)
    elsewhere = next((layer for inner in others if (layer := _first_layer(inner)) is not None), None)
    for use in (node, *holders):
        for parent in scope.ancestors(use):
            if isinstance(parent, ast.Call):
                if _fails(parent, scope):
                    return _reason(parent)
                if elsewhere is not None and scope.facts.calls.get(parent) is not None:
                    return _reason(elsewhere)
            elif isinstance(parent, ast.stmt):
                if elsewhere is not None and _leaves(parent, scope, others):
                    return _reason(elsewhere)
                break
    return None


def _holders(node: ast.expr, scope: Scope) -> list[ast.Name]:
    """The places that read a name which may hold the result, or something made of it."""
    names: set[str] = {"self"}
    reads: dict[ast.Name, None] = {}
    parameters = {parameter.arg for parameter in scope.function.parameters}
    uses: list[ast.expr] = [node]
    while uses:
        statement = scope.statement(uses.pop())
        for name in _targets(statement) - names:
            names.add(name)
            if not scope.names(name, stores=True) and name not in parameters:
                continue  # a module of the file, as `torch`
            # In front of the result too: a loop may come back there.
            loop = next((a for a in scope.ancestors(statement) if isinstance(a, ast.For | ast.While)), None)
            first = (loop or statement).lineno
            found = [load for load in scope.names(name) if load.lineno >= first]
            reads.update(dict.fromkeys(found))
            uses += found
    return list(reads)


def _targets(statement: ast.stmt) -> set[str]:
    """The names that a statement gives a value, or writes into."""
    if isinstance(statement, ast.For):
        targets: list[ast.expr] = [statement.target]
    elif isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr):
        targets = [statement.value.func] if isinstance(statement.value, ast.Call) else []
    else:
        targets = []
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def _leaves(statement: ast.stmt, scope: Scope, others: Sequence[Scope]) -> bool:
    """Whether a statement hands what it has to other code that is compiled: to a caller, or in an attribute."""
    if isinstance(statement, ast.Return):
        return any(scope.function in inner.facts.calls.values() for inner in others)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(target, ast.Attribute | ast.Subscript) for target in targets)


def _first_layer(scope: Scope) -> ast.Call | None:
    return next((call for call in scope.of(ast.Call) if _fails(call, scope)), None)


def _fails(call: ast.Call, scope: Scope) -> bool:
    ref = scope.callee(call) or ""
    if ref.startswith("torch.") and ref.rpartition(".")[2] in _FUNCTIONS:
        return True
    return _holds_layer(scope.value(call.func)) and not ref.startswith("torch.nn.functional.")


def _holds_layer(value: Value) -> bool:
    ref = value.ref or ""
    if ref.startswith("torch.nn.") and any(part in ref.rpartition(".")[2] for part in _LAYERS):
        return True
    parts = (*(value.elements or ()), *((value.element,) if value.element is not None else ()))
    return ref.endswith(".Sequential") and any(map(_holds_layer, parts))


def _reason(layer: ast.Call) -> str:
    kind = "a convolution in two dimensions or multi-head attention"
    return f"line {layer.lineno}: `{snippet(layer)}` is {kind}, which fails to compile where a size is a symbol"
