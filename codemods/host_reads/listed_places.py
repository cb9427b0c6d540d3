"""Lists of places that only index tensors: `rows = places.tolist()` and `x[rows]`, where `x[places]` does the same.

row, column = torch.where(mask)                      row, column = torch.where(mask)
rows = row.tolist()                                  y = x[row] * w[row, column, None]
y = x[rows] * w[rows, column.tolist(), None]

In `rows, columns = row.tolist(), column.tolist()` the names stay, and stand for the tensors.
"""

from __future__ import annotations

import ast

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.ragged_sizes import selection_of
from compilefix.codemods.finding import Edit, Fix
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template

_LISTS_PLACES = frozenset({"torch.where", "torch.nonzero", "Tensor.nonzero", "torch.argwhere", "Tensor.argwhere"})


def indexing_fix(node: ast.Call, source: ast.expr, scope: Scope) -> Fix | None:
    """The fix for `source.tolist()` where the list is nothing but an index; None where it is more than that."""
    if not isinstance(source, ast.Name) or not _is_fresh(source, scope):
        return None
    template = Template()
    reason = f"`{source.id}` may be on another device than what it indexes, which a list of numbers is not"
    template.refuse([Obstacle(reason, "number-to-tensor")])
    name = template.use(source)
    if _indexes(node, scope):
        return Fix((scope.edit(node, name, **template.parts),), (), template.assumptions, template.reasons)
    statement = scope.statement(node)
    target = _target(node, statement)
    loads = scope.names(target.id) if target is not None else []
    if target is None or not loads or not _is_alone(target.id, loads, scope):
        return None
    if not all(_indexes(load, scope) for load in loads):
        return None
    given = scope.statement(scope.names(source.id, stores=True)[0])
    block = scope.block(statement)
    if given not in block or any(scope.statement(load).lineno < statement.lineno for load in loads):
        return None
    inside = {part for one in block for part in ast.walk(one)}
    if not inside.issuperset(loads):
        return None
    if isinstance(statement, ast.Assign) and statement.value is node:
        edits: list[Edit] = [scope.edit(statement, "" if len(block) > 1 else "pass")]
        edits += [scope.edit(load, name, **template.parts) for load in loads]
    else:
        edits = [scope.edit(node, name, **template.parts)]
    return Fix(tuple(edits), (), template.assumptions, template.reasons)


def _target(node: ast.Call, statement: ast.stmt) -> ast.Name | None:
    """The name that a statement gives the result of a call, alone or beside others."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target: ast.expr | None = statement.targets[0]
    value = statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        plain = not any(isinstance(part, ast.Starred) for part in (*target.elts, *value.elts))
        target = target.elts[value.elts.index(node)] if plain and node in value.elts else None
    elif value is not node:
        return None
    return target if isinstance(target, ast.Name) else None


def _is_alone(name: str, loads: list[ast.Name], scope: Scope) -> bool:
    """Whether a name has one value, and no nested function reads it."""
    given = scope.function.takes(name)
    every = scope.function.places(name)
    return not given and len(scope.names(name, stores=True)) == 1 and len(every) == len(loads) + 1


def _is_fresh(source: ast.Name, scope: Scope) -> bool:
    """Whether a name holds places that torch has just listed, in one dimension, and that nobody writes into."""
    value = scope.value(source)
    if value.rank != 1 or not value.certain or len(scope.names(source.id, stores=True)) != 1:
        return False
    selection = selection_of(source, scope)
    made = selection if selection is not None else _unpacked_from(source, scope)
    if not isinstance(made, ast.Call) or scope.callee(made) not in _LISTS_PLACES:
        return False
    if scope.callee(made) == "torch.where" and len(made.args) != 1:
        return False
    return next(iter(scope.legality.memory.writers(value.storage, {source.id}, scope.facts)), None) is None


def _unpacked_from(source: ast.Name, scope: Scope) -> ast.expr | None:
    """The call in `rows, columns = torch.where(mask)`."""
    statement = scope.statement(scope.names(source.id, stores=True)[0])
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    return statement.value if isinstance(target, ast.Tuple) and source.id in map(ast.unparse, target.elts) else None


def _indexes(load: ast.expr, scope: Scope) -> bool:
    """Whether a place reads a list as an index of a tensor, or a part of one."""
    index, parent = load, scope.parents.get(load)
    if isinstance(parent, ast.Tuple):
        index, parent = parent, scope.parents.get(parent)
    if not isinstance(parent, ast.Subscript) or parent.slice is not index or isinstance(parent.ctx, ast.Del):
        return False
    whole = scope.value(parent.value)
    return whole.is_tensor and whole.certain
