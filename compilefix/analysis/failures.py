"""Handlers of what fails in a graph: Dynamo gives up at the failure itself, and Python runs what stands in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.source.definitions import Function
from compilefix.source.tree import walk

_ANY = frozenset({"Exception", "BaseException"})
_OF_TENSORS = frozenset({"RuntimeError", "MemoryError", "OSError", "IOError", "OutOfMemoryError", "LinAlgError"})
"""What operations on tensors and files raise. Dynamo traces handlers of what Python code raises, as a KeyError."""
_PROBES = (ast.Raise, ast.Assert, ast.Yield, ast.Await)


def failure_handlers(function: Function) -> Iterator[ast.ExceptHandler]:
    """The handlers that run only where an operation failed, and not for what the code under them raises or looks up."""
    for node in function.of(ast.Try):
        body = [part for statement in node.body for part in walk(statement)]
        calls = any(isinstance(part, ast.Call) for part in body)
        raises = any(isinstance(part, _PROBES) for part in body)
        for handler in node.handlers:
            caught = set(_caught(handler))
            if not raises and (caught <= _OF_TENSORS or (calls and caught <= _OF_TENSORS | _ANY)):
                yield handler


def _caught(handler: ast.ExceptHandler) -> Iterator[str]:
    if handler.type is None:
        yield "BaseException"
        return
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    yield from (ast.unparse(kind).rpartition(".")[2] for kind in kinds)
