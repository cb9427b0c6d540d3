"""Where selected elements themselves are returned, on a way on which nothing is reduced: the selection moves there.

    loss = loss[mask]                      selected = ...
    if reduction == "mean":                if reduction == "mean":
        return loss.mean()                     return torch.where(selected, loss, 0).sum() / selected.sum()
    return loss                            return loss[mask]

Which way is taken is fixed while tracing, so that only who asks for the elements has a graph break.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.codemods.dynamic_shapes.definitions import Part, reads_of, unused_then
from compilefix.codemods.finding import Edit
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.source.tree import names_in


def left_apart(
    definitions: Sequence[ast.Assign], reduced: Sequence[ast.expr], names: set[str], scope: Scope
) -> dict[ast.Name, ast.Assign]:
    """The places that return what the definitions select, on ways on which nothing is reduced.

    names: what the definitions read. None of it may change before a use.
    """
    given = {d.targets[0].id for d in definitions if isinstance(d.targets[0], ast.Name)}
    inside = {n for part in (*definitions, *reduced) for n in ast.walk(part)}
    found: dict[ast.Name, ast.Assign] = {}
    for definition in definitions:
        read = names_in(definition.value)
        target = definition.targets[0]
        if isinstance(definition, Part) or not isinstance(target, ast.Name) or read & (given - {target.id}):
            continue
        others = [use for use in reads_of(definition, scope) or () if use not in inside]
        statements = {scope.statement(use) for use in others}
        # Elsewhere what was selected could be written to, and then be read again.
        returned = len(statements) == len(others) and all(isinstance(s, ast.Return) for s in statements)
        for use in others if returned else ():
            kept = not any(unused_then([definition], scope.statement(use), names, scope, used=False))
            if kept and all(apart(use, node, scope) for node in reduced):
                found[use] = definition
    return found


def moved_selections(left: dict[ast.Name, ast.Assign], scope: Scope) -> Iterator[Edit]:
    """The edits that select where the elements are used."""
    for use, definition in left.items():
        template = Template()
        alone = isinstance(scope.parents.get(use), ast.Return | ast.Assign | ast.Call)
        code = template.use(definition.value, operand=not alone)
        yield scope.edit(use, code, **template.parts)


def apart(one: ast.expr, other: ast.expr, scope: Scope) -> bool:
    """Whether no call of the function reaches both, by conditions that are fixed while tracing."""
    first, second = _path(one, scope), _path(other, scope)
    for level, (a, b) in enumerate(zip(first, second, strict=False)):
        if a is b:
            continue
        around = scope.parents.get(a)
        block = scope.block(a)
        if b not in block:  # the two sides of one `if`
            return isinstance(around, ast.If) and _is_fixed(around, scope)
        earlier = first if block.index(a) < block.index(b) else second
        ways = earlier[level + 1 :]
        return any(isinstance(scope.block(s)[-1], ast.Return | ast.Raise) for s in ways) and all(
            isinstance(s, ast.If) and _is_fixed(s, scope) for s in earlier[level:-1]
        )
    return False


def _path(node: ast.expr, scope: Scope) -> list[ast.stmt]:
    """The statements round an expression, the outermost first."""
    around = [a for a in scope.ancestors(node) if isinstance(a, ast.stmt) and a is not scope.function.node]
    return list(reversed(around))


def _is_fixed(node: ast.If, scope: Scope) -> bool:
    return not is_tensor_test(node.test, scope)
