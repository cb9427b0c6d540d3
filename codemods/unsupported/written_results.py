"""What a method gives, where something writes into it: code that calls it, in a file, and what that calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import last_name

_FILLS = frozenset({"append", "extend", "insert", "update", "setdefault", "pop", "popitem", "remove", "clear", "sort"})
_MANY_MODULES = 20


def written_result(name: str, scope: Scope) -> str | None:
    """A place that writes into what calls of `.name(...)` give, by the names that it has there."""
    modules = scope.legality.inference.project.modules
    calling = {scope.function.module.name, *modules.texts.matching(f".{name}", rf"\.{name}\s*\(")}
    if len(calling) > _MANY_MODULES:
        return f"`{name}` stands in too many files to tell whether something writes into what it gives"
    for module in sorted(calling):
        for function in modules[module].all_functions:
            calls = {c for c in function.of(ast.Call) if isinstance(c.func, ast.Attribute) and c.func.attr == name}
            if calls and (written := _written_by(function, calls, scope)) is not None:
                return f"`{snippet(written)}` is written into"
    return None


def _written_by(function: Function, calls: set[ast.Call], scope: Scope) -> ast.expr | None:
    names = _names_of(function, calls)

    def holds(node: ast.expr) -> bool:
        parts = ast.walk(node)
        return any(part in calls or (isinstance(part, ast.Name) and part.id in names) for part in parts)

    written = (node for part in function.nodes for node in _owners(part, function, scope))
    return next((node for node in written if holds(node)), None)


def _names_of(function: Function, calls: set[ast.Call]) -> set[str]:
    """The names under which a function knows what the calls give, or a part of it."""
    given = [(target, n.value) for n in function.of(ast.Assign) for target in n.targets]
    given += [(n.target, n.value) for n in function.of(ast.AnnAssign) if n.value is not None]
    given += [(n.target, n.value) for n in function.of(ast.NamedExpr)]
    given += [(n.target, n.iter) for n in function.of(ast.For)]
    names: set[str] = set()
    for _ in range(3):  # `kept = table` may stand before `table = ...` in a loop
        for target, value in given:
            if any(part in calls or (isinstance(part, ast.Name) and part.id in names) for part in _same(value)):
                names.update(part.id for part in ast.walk(target) if isinstance(part, ast.Name))
    return names


def _same(value: ast.expr) -> Iterator[ast.expr]:
    """What a value may share its memory with: itself, what it is picked or viewed from, and what it collects."""
    yield value
    if isinstance(value, ast.Subscript | ast.Attribute | ast.Starred):
        yield from _same(value.value)
    elif isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        yield from _same(value.func.value)
    elif isinstance(value, ast.Tuple | ast.List):
        for item in value.elts:
            yield from _same(item)
    elif isinstance(value, ast.IfExp):
        yield from (*_same(value.body), *_same(value.orelse))
    elif isinstance(value, ast.BoolOp):
        for item in value.values:
            yield from _same(item)


def _owners(node: ast.AST, function: Function, scope: Scope) -> Iterator[ast.expr]:
    """What a node writes into, if it writes into something."""
    if isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Subscript | ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            yield node.value
    elif isinstance(node, ast.keyword):
        if node.arg == "out":
            yield node.value
    elif isinstance(node, ast.Call):
        called = last_name(node.func)
        in_place = called.endswith("_") and not called.startswith("_")
        if isinstance(node.func, ast.Attribute) and (in_place or called in _FILLS):
            yield node.func.value
        callee = scope.legality.inference.facts(function).calls.get(node)
        writes = callee is not None and scope.legality.effects.of_function(callee).mutates is not None
        if in_place or writes or any(k.arg == "inplace" for k in node.keywords):
            yield from (*node.args, *(k.value for k in node.keywords))
