"""Names that hold what a mask selects: `selected = x[mask]`, used in one statement that follows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.legality import Obstacle
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet


def definition_of(node: ast.expr, at: ast.stmt, scope: Scope) -> ast.Assign | None:
    """The statement `name = ...` that gave a name its value, where it stands in the same block as `at`, before it.

    The name is assigned nowhere else, except that a parameter may be: `x = x[mask]`.
    """
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return None
    stores = scope.names(node.id, stores=True)
    if len(stores) != 1 or (
        any(p.arg == node.id for p in scope.function.parameters)
        and any(isinstance(a, ast.For | ast.While) for a in scope.ancestors(stores[0]))
    ):
        return None
    statement = scope.parents.get(stores[0])
    if not isinstance(statement, ast.Assign) or statement.targets != [stores[0]]:
        return None
    block = scope.block(at)
    if statement not in block or at not in block or block.index(statement) >= block.index(at):
        return None
    return statement


def unused_then(
    definitions: Sequence[ast.Assign], at: ast.stmt, names: set[str], scope: Scope, *, used: bool = True
) -> Iterator[Obstacle]:
    """Whether the definitions may go when `at` no longer uses them.

    `names`: what the rewritten statement reads in their place. None of it may change between the two. Without `used`
    other uses of what is defined are left to the caller.
    """
    if not definitions:
        return
    inside = {n for statement in (*definitions, at) for n in ast.walk(statement)}
    for definition in definitions if used else ():
        assert isinstance(definition.targets[0], ast.Name)
        name = definition.targets[0].id
        for use in ast.walk(scope.function.node):
            if isinstance(use, ast.Name) and use.id == name and isinstance(use.ctx, ast.Load) and use not in inside:
                position = (use.lineno, use.col_offset)
                if position > (definition.lineno, definition.col_offset) or use not in scope.parents:
                    yield Obstacle(f"`{name}` is used on line {use.lineno} too")
    block = scope.block(at)
    first = min(block.index(d) for d in definitions)
    for statement in block[first : block.index(at)]:
        if statement in definitions:
            continue
        effects = scope.legality.effects.of(statement, scope.facts)
        mentioned = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        stored = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        if effects.mutates is not None or stored & names or (effects.unknown is not None and mentioned & names):
            yield Obstacle(f"`{snippet(statement)}` stands between the selection and its use, and may change it")


def uses_of(statement: ast.Assign, target: ast.Name, scope: Scope) -> list[ast.Name] | None:
    """The places that read what a statement gives a name; None where it is not certain which these are.

    A later statement of the same form may give the name another value: what it stands before, in its own block, reads
    that one.
    """
    everywhere = [n for n in ast.walk(scope.function.node) if isinstance(n, ast.Name) and n.id == target.id]
    stores = sorted((n for n in everywhere if isinstance(n.ctx, ast.Store)), key=lambda n: n.lineno)
    loads = scope.names(target.id)
    if len(stores) + len(loads) != len(everywhere) or any(p.arg == target.id for p in scope.function.parameters):
        return None
    statements = [scope.parents.get(store) for store in stores]
    if not all(isinstance(s, ast.Assign) and s.targets == [n] for s, n in zip(statements, stores, strict=True)):
        return None
    if len(stores) > 1 and any(isinstance(a, ast.For | ast.While) for s in stores for a in scope.ancestors(s)):
        return None
    found: list[ast.Name] = []
    for load in loads:
        line = scope.statement(load).lineno
        before = [s for s in statements if isinstance(s, ast.Assign) and (s.end_lineno or 0) < line]
        if not before:
            return None
        inside = scope.block(before[-1])
        if not any(around in inside for around in (scope.statement(load), *scope.ancestors(load))):
            return None
        if before[-1] is statement:
            found.append(load)
    return found
