"""A loop that adds up a tensor along one of its dimensions, and the sum that it stands for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.recompiles.sizes import definition_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_whole
from compilefix.source.tree import elements_of


@dataclass(frozen=True)
class Sum:
    """`total = total + x[:, t]` in a loop over `t`: the name that adds up, the tensor, and its dimension."""

    total: ast.Name
    tensor: ast.Name
    dimension: int
    in_place: bool


def sum_in(node: ast.For, scope: Scope) -> Sum | None:
    """The sum that a loop is, None for any other loop."""
    if len(node.body) != 1 or node.orelse or not isinstance(node.target, ast.Name):
        return None
    added = _added(node.body[0])
    if added is None:
        return None
    total, term, in_place = added
    if isinstance(node.iter, ast.Name):
        is_row = isinstance(term, ast.Name) and term.id == node.target.id
        return Sum(total, node.iter, 0, in_place) if is_row else None
    if (
        not isinstance(term, ast.Subscript)
        or not isinstance(term.value, ast.Name)
        or not isinstance(node.iter, ast.Call)
    ):
        return None
    dimension = dimension_of(term.slice, node.target.id)
    head = node.iter
    if dimension is None or scope.callee(head) != "range" or len(head.args) != 1 or head.keywords:
        return None
    if not is_length(head.args[0], term.value, dimension, scope):
        return None
    return Sum(total, term.value, dimension, in_place)


def written(node: ast.For, found: Sum, scope: Scope, template: Template) -> str:
    """The statement that takes the place of the loop; what speaks against it goes to the template."""
    template.refuse(_obstacles(node, found, scope))
    total, tensor = template.use(found.total), template.use(found.tensor)
    # Without the dtype, autocast would give another one.
    summed = f"{tensor}.sum({found.dimension}, dtype={tensor}.dtype)"
    return f"{total} += {summed}" if found.in_place else f"{total} = {total} + {summed}"


def _added(statement: ast.stmt) -> tuple[ast.Name, ast.expr, bool] | None:
    """The name and the term of `total += term` and `total = total + term`."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return (statement.target, statement.value, True) if isinstance(statement.target, ast.Name) else None
    if (
        not isinstance(statement, ast.Assign)
        or len(statement.targets) != 1
        or not isinstance(statement.value, ast.BinOp)
    ):
        return None
    target, value = statement.targets[0], statement.value
    same = isinstance(target, ast.Name) and isinstance(value.left, ast.Name) and value.left.id == target.id
    return (
        (target, value.right, False)
        if isinstance(target, ast.Name) and same and isinstance(value.op, ast.Add)
        else None
    )


def dimension_of(index: ast.expr, counter: str) -> int | None:
    """The dimension that `x[t]`, `x[:, t]` or `x[:, t, :]` counts through."""
    parts = elements_of(index)
    counted = [i for i, part in enumerate(parts) if isinstance(part, ast.Name) and part.id == counter]
    whole = all(is_whole(part) for i, part in enumerate(parts) if i not in counted)
    return counted[0] if len(counted) == 1 and whole else None


def is_length(size: ast.expr, tensor: ast.Name, dimension: int, scope: Scope) -> bool:
    """Whether a number is the size of this dimension of the tensor."""
    size = definition_of(size, scope)
    texts = {f"{tensor.id}.shape[{dimension}]", f"{tensor.id}.size({dimension})", f"{tensor.id}.size()[{dimension}]"}
    if dimension == 0:
        texts.add(f"len({tensor.id})")
    if isinstance(size, ast.Name):
        stores = scope.names(size.id, stores=True)
        parent = scope.parents.get(stores[0]) if len(stores) == 1 else None
        assign = scope.parents.get(parent) if isinstance(parent, ast.Tuple | ast.List) else None
        if not isinstance(parent, ast.Tuple | ast.List) or not isinstance(assign, ast.Assign):
            return False
        place = parent.elts.index(stores[0])
        starred = any(isinstance(e, ast.Starred) for e in parent.elts[:place])
        whole = {f"{tensor.id}.shape", f"{tensor.id}.size()"}
        return not starred and place == dimension and ast.unparse(assign.value) in whole
    return ast.unparse(size) in texts


def _obstacles(node: ast.For, found: Sum, scope: Scope) -> Iterator[Obstacle]:
    assert isinstance(node.target, ast.Name)
    if found.total.id == found.tensor.id:
        yield Obstacle("the tensor changes in each turn")
    if live_after(node.target.id, node, scope):
        yield Obstacle(f"`{node.target.id}` is read after the loop")
    tensor = scope.value(found.tensor)
    if not tensor.is_tensor or not tensor.certain or tensor.dtype not in ("float", "int"):
        yield Obstacle(f"`{found.tensor.id}` is not proved to be a tensor of numbers: booleans add up to integers")
    before = scope.facts.env_before.get(node, {}).get(found.total.id)
    number = before is not None and before.const is not None and type(before.const.value) in (int, float)
    same = (
        before is not None and before.is_tensor and before.dtype_id is not None and before.dtype_id == tensor.dtype_id
    )
    if not number and (found.in_place or not same):
        yield Obstacle(
            f"`{found.total.id}` is not proved to be a number, or a tensor of the same dtype, before the loop"
        )
    yield Obstacle(f"`{snippet(node.iter)}` may run no turn, or the dimension may be missing", "dimension-not-empty")
    yield Obstacle("a sum adds in another order", "summation-order")
