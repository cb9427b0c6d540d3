"""The columns that hold a true element, `columns = torch.where(matrix)[1]`, where they are only written to.

A column is listed once for each true element in it. Where every column gets one number, or what another tensor has
there, writing twice is writing once: the mask of the columns that hold any takes the place of the list.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.definitions import reads_of
from compilefix.codemods.dynamic_shapes.index_lists import unchanged
from compilefix.codemods.dynamic_shapes.masks import is_mask
from compilefix.codemods.finding import Edit
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class ColumnList:
    """The call, the tensor whose true places it lists, and the dimension of which the places are kept.

    statement: the one with the call. name: the name of the list. given: the one that gives the name its value.
    uses: where it is read. numbers: whether the tensor may be no mask.
    """

    call: ast.Call
    mask: ast.expr
    dim: int
    statement: ast.Assign
    name: ast.Name
    given: ast.Assign
    uses: tuple[ast.Name, ...]
    numbers: bool


def column_list(node: ast.Call, scope: Scope) -> ColumnList | None:
    """The places along one dimension of a tensor with several, which the code only writes to."""
    mask = _listed(node, scope)
    if mask is None or not scope.value(mask).is_tensor:
        return None
    found = _kept(node, scope)
    if found is None:
        return None
    dim, name, given = found
    rank = scope.value(mask).rank
    if rank is not None and not dim < rank:
        return None
    if rank in (0, 1) or (rank is None and dim == 0):
        return None  # a list of the places of a mask of one dimension
    # A name that is unpacked is given a value once.
    uses = reads_of(given, scope) if given.targets == [name] else scope.names(name.id)
    if not uses or not all(_is_written(use, scope) for use in uses):
        return None
    statement = scope.statement(node)
    assert isinstance(statement, ast.Assign)
    return ColumnList(node, mask, dim, statement, name, given, tuple(uses), not is_mask(mask, scope))


def column_edits(found: ColumnList, template: Template, scope: Scope) -> list[Edit]:
    """The mask under the name of the list; what stands against it is noted in the template."""
    if not found.numbers:
        template.refuse(unchanged(found.mask, scope))
    for use in found.uses:
        written = scope.parents[use]
        assert isinstance(written, ast.Subscript)
        reason = f"`{snippet(written.value)}` is not proved to be as long as dimension {found.dim} of the mask"
        template.refuse([Obstacle(reason, "same-shape-dtype")])
        statement = scope.statement(use)
        if isinstance(statement, ast.Assign) and scope.value(statement.value).leaves:
            reason = f"the gradient of `{snippet(statement.value)}` is added up for every time that a place is listed"
            template.refuse([Obstacle(reason)])
    mask = template.use(found.mask, operand=True)
    if found.numbers:
        mask = f"({mask} != 0)"
    rank = scope.value(found.mask).rank
    columns = f"any(dim={1 - found.dim})" if rank == 2 else f"movedim({found.dim}, 0).flatten(1).any(dim=1)"
    if found.given is found.statement:
        return [scope.edit(found.statement, f"{found.name.id} = {mask}.{columns}", **template.parts)]
    assert isinstance(found.given.value, ast.Subscript)
    pairs = Template()
    code = f"{pairs.use(found.given.value.value)}.{columns}"
    if not found.numbers:
        mask = template.use(found.mask)
    return [scope.edit(found.call, mask, **template.parts), scope.edit(found.given.value, code, **pairs.parts)]


def _listed(node: ast.Call, scope: Scope) -> ast.expr | None:
    """The tensor in `torch.where(m)` or `m.nonzero(as_tuple=True)`, which give a list for each dimension."""
    name = scope.callee(node) or ""
    tuples = [(k.arg, ast.unparse(k.value)) for k in node.keywords] == [("as_tuple", "True")]
    if name == "torch.where" and len(node.args) == 1 and not node.keywords:
        return node.args[0]
    if name == "torch.nonzero" and len(node.args) == 1 and tuples:
        return node.args[0]
    method = name == "Tensor.nonzero" and not node.args and tuples
    return node.func.value if method and isinstance(node.func, ast.Attribute) else None


def _kept(node: ast.Call, scope: Scope) -> tuple[int, ast.Name, ast.Assign] | None:
    """Which of the lists is kept, under which name: `torch.where(m)[1]`, `_, columns = ...`, `pairs[1]`."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node:
        return _named(parent, scope)
    if not isinstance(parent, ast.Assign) or parent.value is not node or len(parent.targets) != 1:
        return None
    target = parent.targets[0]
    if isinstance(target, ast.Tuple):
        names = [item for item in target.elts if isinstance(item, ast.Name)]
        read = [item for item in names if scope.names(item.id)]
        alone = len(names) == len(target.elts) and len(read) == 1 and len(scope.names(read[0].id, stores=True)) == 1
        return (target.elts.index(read[0]), read[0], parent) if alone else None
    pairs = reads_of(parent, scope) if isinstance(target, ast.Name) else None
    only = pairs[0] if pairs and len(pairs) == 1 else None
    around = scope.parents.get(only) if only is not None else None
    return _named(around, scope) if isinstance(around, ast.Subscript) and around.value is only else None


def _named(item: ast.Subscript, scope: Scope) -> tuple[int, ast.Name, ast.Assign] | None:
    """The name that `pairs[1]` is given."""
    index = item.slice.value if isinstance(item.slice, ast.Constant) else None
    statement = scope.parents.get(item)
    if type(index) is not int or index < 0 or not isinstance(statement, ast.Assign) or statement.value is not item:
        return None
    target = statement.targets[0] if len(statement.targets) == 1 else None
    return (index, target, statement) if isinstance(target, ast.Name) else None


def _is_written(use: ast.Name, scope: Scope) -> bool:
    """Whether one number is written to the places, or what another tensor has at the same ones."""
    place, statement = scope.parents.get(use), scope.statement(use)
    if not isinstance(place, ast.Subscript) or place.slice is not use or not scope.value(place.value).is_tensor:
        return False
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target, given = statement.targets[0], statement.value
    if not isinstance(target, ast.Subscript) or ast.dump(target.slice) != ast.dump(place.slice):
        return False
    if place is not target:
        return place is given
    number = scope.value(given)
    copied = isinstance(given, ast.Subscript) and ast.dump(given.slice) == ast.dump(target.slice)
    return copied or number.is_(Kind.STATIC, Kind.SIZE) or number.is_scalar_tensor
