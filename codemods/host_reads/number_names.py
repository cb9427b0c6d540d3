"""The names that a number gets, and which of their uses see it."""

from __future__ import annotations

import ast
import math

from compilefix.analysis.values import Kind
from compilefix.codemods.number_reads import decides, read_of
from compilefix.codemods.rule import Scope

_LISTS = frozenset({"nonzero", "argwhere", "unique", "tolist", "numpy", "bincount"})
"""What gives as many elements as values say, or reads them all."""


def stored_name(statement: ast.Assign | ast.AnnAssign) -> ast.Name | None:
    """The one name that a statement gives a value."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return targets[0] if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def stored_together(node: ast.expr, scope: Scope) -> tuple[ast.Name, ast.Assign] | None:
    """The name that a number gets beside others: `low, high = x.min().item(), x.max().item()`."""
    values = scope.parents.get(node)
    statement = scope.parents.get(values) if isinstance(values, ast.Tuple) else None
    if not isinstance(statement, ast.Assign) or statement.value is not values or len(statement.targets) != 1:
        return None
    names = statement.targets[0]
    if not isinstance(names, ast.Tuple | ast.List) or not isinstance(values, ast.Tuple):
        return None
    if len(names.elts) != len(values.elts) or any(isinstance(e, ast.Starred) for e in (*names.elts, *values.elts)):
        return None
    name = names.elts[values.elts.index(node)]
    return (name, statement) if isinstance(name, ast.Name) else None


def block_that_stores(name: str, stored: ast.Assign | ast.AnnAssign, scope: Scope) -> list[ast.stmt] | None:
    """The block that runs once and holds all assignments of a name, this statement among them."""
    parent = scope.parents.get(stored)
    blocks = [getattr(parent, part, ()) for part in ("body", "orelse", "finalbody")]
    block = next((block for block in blocks if isinstance(block, list) and stored in block), None)
    statements = [scope.statement(store) for store in scope.names(name, stores=True)]
    if block is None or not all(isinstance(s, ast.Assign | ast.AnnAssign) and s in block for s in statements):
        return None
    again = (ast.For, ast.AsyncFor, ast.While, ast.Try)
    if any(isinstance(around, again) for around in scope.ancestors(stored)):
        return None
    return block


def uses_of(
    name: str, stored: ast.Assign | ast.AnnAssign, block: list[ast.stmt], loads: list[ast.Name], scope: Scope
) -> list[ast.Name]:
    """The uses of a name that see what a statement of the block stores in it: those up to the next one that stores."""
    stores = (scope.statement(n) for n in scope.names(name, stores=True))
    after = sorted(block.index(s) for s in stores if block.index(s) > block.index(stored))
    end = (stored.end_lineno or 0, stored.end_col_offset or 0)
    last = block[after[0]] if after else None
    until = (last.end_lineno or 0, last.end_col_offset or 0) if last is not None else (math.inf, 0)
    return [load for load in loads if end <= (load.lineno, load.col_offset) < until]


def chain_around(load: ast.expr, scope: Scope) -> ast.AST:
    """The `if` with its `elif`s, or the conditional expression, that a name is compared in."""
    found: ast.AST = next((a for a in scope.ancestors(load) if isinstance(a, ast.stmt | ast.IfExp)), load)
    while isinstance(around := scope.parents.get(found), ast.If) and around.orelse == [found]:
        found = around
    return found


def breaks(chain: ast.AST, scope: Scope) -> bool:
    """Whether what stands behind a test reads tensors or draws numbers: the `if` would stay, and break the graph."""
    bodies = (*chain.body, *chain.orelse) if isinstance(chain, ast.If) else ()
    inside = {part for statement in bodies for part in ast.walk(statement)}
    names = ((scope.callee(n) or "").rpartition(".")[2] for n in inside if isinstance(n, ast.Call))
    reads = any(read_of(n, scope) is not None for n in inside) or any(name in _LISTS for name in names)
    return reads or any(scope.legality.effects.of(s, scope.facts).random is not None for s in bodies)


def added_up(statement: ast.AugAssign, scope: Scope) -> list[ast.Name] | None:
    """The uses of a name that begins as a fixed number, to which only numbers are added, all before it is read.

    A tensor is changed in place by what is added later, and who has read it would see that.
    """
    target = statement.target
    if not isinstance(target, ast.Name):
        return None
    stores, loads = scope.names(target.id, stores=True), scope.names(target.id)
    begun: list[ast.expr] = []
    adding: list[ast.stmt] = []
    for store in stores:
        stored = scope.parents.get(store)
        if isinstance(stored, ast.AugAssign) and isinstance(stored.op, ast.Add):
            adding += [stored, *(a for a in scope.ancestors(stored) if isinstance(a, ast.For | ast.While))]
            added = scope.value(stored.value)
            if not added.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) or added.dtype in ("bool", "complex"):
                return None
        elif isinstance(stored, ast.Assign) and stored.targets == [store]:
            begun.append(stored.value)
        else:
            return None
    first = scope.value(begun[0]).const if len(begun) == 1 else None
    everywhere = scope.function.places(target.id)
    given = scope.function.takes(target.id)
    if first is None or type(first.value) not in (int, float) or given or len(everywhere) != len(loads) + len(stores):
        return None
    end = max(scope.span(each).end_line for each in adding)
    if not loads or any(load.lineno <= end or decides(load, scope) for load in loads):
        return None
    return list(loads)
