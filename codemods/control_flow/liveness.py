"""Which names are read after a statement, and which are free."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope


def live_after(name: str, node: ast.stmt, scope: Scope) -> bool:
    """Whether the name may be read after the statement, in a later turn of a loop or by a nested function."""
    in_loop = any(isinstance(a, ast.For | ast.While) for a in scope.ancestors(node))
    live = set(scope.nodes)
    for use in scope.function.nodes:
        if isinstance(use, ast.Global | ast.Nonlocal) and name in use.names:
            return True
        if not (isinstance(use, ast.Name) and use.id == name and isinstance(use.ctx, ast.Load)):
            continue
        if inside(use, node):
            if in_loop and _before_its_value(use, node):
                return True
        elif use not in live or in_loop or use.lineno > (node.end_lineno or 0):
            return True  # a use that is not live stands in a nested function, which may be called at any time
    return False


def _before_its_value(use: ast.Name, node: ast.stmt) -> bool:
    """Whether a use in the statement may see the value that an earlier turn gave the name."""
    stores = [
        n.lineno for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == use.id and isinstance(n.ctx, ast.Store)
    ]
    return not stores or use.lineno <= min(stores)


def inside(use: ast.expr, node: ast.AST) -> bool:
    """Whether a node stands on the lines of another one."""
    start, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return start <= use.lineno <= end


def free_name(wanted: str, scope: Scope) -> str:
    """A name that the function does not use yet."""
    taken = {n.id for n in scope.function.nodes if isinstance(n, ast.Name)} | {a.arg for a in scope.function.parameters}
    name, count = wanted, 2
    while name in taken:
        name, count = f"{wanted}_{count}", count + 1
    return name
