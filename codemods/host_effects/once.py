"""Functions that write each line once: behind `functools.lru_cache`, or with a note of what was written.

Dynamo ignores the cache, and guards on the note: such a call is carried out at the boundary as a whole.
"""

from __future__ import annotations

import ast
import re
from typing import Literal

from compilefix.source.definitions import Function
from compilefix.source.module import Module
from compilefix.source.syntax import last_name

_CACHES = ("functools.lru_cache", "functools.cache", "lru_cache", "cache")
_KINDS: dict[str, Literal["print", "log", "warn"]] = {"print": "print", "warnings.warn": "warn"}
_LOGGER_NAME = re.compile(r"_?(?:[a-z]+_)?(?:logger|log)", re.IGNORECASE)
LEVELS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "fatal", "log"})
"""The methods of a logger that write a record."""


def named_like_a_logger(node: ast.expr) -> bool:
    """Whether a name or attribute is called what people call loggers."""
    return _LOGGER_NAME.fullmatch(last_name(node)) is not None


def is_cached(function: Function) -> bool:
    """Whether the function runs once for the same arguments."""
    return any(decorator in _CACHES for decorator in function.decorators)


def once_function(function: Function) -> Literal["print", "log", "warn"] | None:
    """What a function writes that does nothing but write, and that only once for the same arguments."""
    if function.cls is not None or function.parent is not None:
        return None
    kinds: list[Literal["print", "log", "warn"]] = []
    notes = False
    for node in _statements(function.node.body):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            kind = _kind(node.value, function.module)
            if kind is not None:
                kinds.append(kind)
            elif _notes(node.value, function.module):
                notes = True
            else:
                return None
        elif isinstance(node, ast.Assign):
            if not all(_is_note(target, function) for target in node.targets):
                return None
            notes = True
        elif isinstance(node, ast.Return):
            if node.value is not None and not isinstance(node.value, ast.Constant):
                return None
        elif not _is_quiet(node):
            return None
    return kinds[0] if kinds and (notes or is_cached(function)) else None


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for statement in body:
        found.append(statement)
        if isinstance(statement, ast.If):
            found += _statements([*statement.body, *statement.orelse])
    return found


def _kind(call: ast.Call, module: Module) -> Literal["print", "log", "warn"] | None:
    name = module.qualified(call.func) or ""
    if name in _KINDS:
        return _KINDS[name]
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in LEVELS:
        return None
    return "log" if name.startswith("logging.") or named_like_a_logger(call.func.value) else None


def _notes(call: ast.Call, module: Module) -> bool:
    """`_seen.add(text)`, where `_seen` is a name of the module."""
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and func.attr in ("add", "append")
        and isinstance(func.value, ast.Name)
        and func.value.id in module.assigns
    )


def _is_note(target: ast.expr, function: Function) -> bool:
    if isinstance(target, ast.Name):
        return any(target.id in statement.names for statement in function.of(ast.Global))
    return isinstance(target, ast.Subscript) and (
        isinstance(target.value, ast.Name) and target.value.id in function.module.assigns
    )


def _is_quiet(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.If):
        return not any(isinstance(part, ast.NamedExpr | ast.Await | ast.Yield) for part in ast.walk(node.test))
    return isinstance(node, ast.Global | ast.Pass)
