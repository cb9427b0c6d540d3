"""Handlers of errors round what breaks the graph: they work because of the break.

An operation in a graph raises when the graph runs, and Dynamo does not look for a handler then. As long as something in
the body of a `try` breaks the graph, all of it runs in eager, and the handler catches what it is there for.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import replace

from compilefix.analysis import torch_api
from compilefix.analysis.values import Kind
from compilefix.codemods.callers import around, calls_of
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_OF_OPERATIONS = frozenset({"Exception", "BaseException", "RuntimeError"})


def handled(finding: Finding, scope: Scope) -> Finding:
    """The finding, declined where its fix would take the break from a `try` that needs it."""
    if finding.fix is None or finding.effect != "break":
        return finding
    failing = _handled_operation(finding, scope)
    if failing is None:
        return finding
    reason = f"a handler catches the error of `{failing}`, which in a graph is raised past it"
    return replace(finding, fix=None, declined=reason)


def _handled_operation(finding: Finding, scope: Scope) -> str | None:
    for node in scope.of(ast.Try):
        if _catches(node) and any(scope.span(statement).holds(finding.span) for statement in node.body):
            found = _failing(node.body, scope)
            if found is not None:
                return found
    return _failing(scope.function.node.body, scope) if _is_tried(scope) else None


def _catches(node: ast.Try) -> bool:
    """Whether a handler catches errors of operations: a general one, or one of which that is not known."""
    kinds = [handler.type for handler in node.handlers]
    listed = [k for kind in kinds for k in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]
    return any(kind is None or _of_operations(ast.unparse(kind).rpartition(".")[2]) for kind in listed)


def _of_operations(name: str) -> bool:
    return name in _OF_OPERATIONS or not hasattr(builtins, name)


def _failing(body: Sequence[ast.stmt], scope: Scope) -> str | None:
    """The text of an operation on tensors that may fail, by its values or by the shapes that it is given."""
    inside = {id(part) for statement in body for part in ast.walk(statement)}
    live = scope.among(ast.Call, ast.BinOp)
    return next((snippet(node) for node in live if id(node) in inside and _may_fail(node, scope)), None)


def _may_fail(node: ast.AST, scope: Scope) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    name = scope.callee(node) or ""
    method = name.startswith("Tensor.")
    api = torch_api.method(name.removeprefix("Tensor.")) if method else torch_api.function(name)
    if api is None:
        return isinstance(node, ast.Call) and scope.value(node).is_(Kind.TENSOR)
    return api.kind() == "Tensor" and not (api.total and api.pointwise)


def _is_tried(scope: Scope) -> bool:
    """Whether compiled code calls the function in a `try` that catches the errors of operations."""
    tries = (outer for caller, call in calls_of(scope) for outer in around(call, caller, ast.Try))
    return any(isinstance(outer, ast.Try) and _catches(outer) for outer in tries)
