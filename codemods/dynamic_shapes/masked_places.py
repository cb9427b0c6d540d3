"""Writes to the places that a mask leaves of an index: `table[index[mask]] = values[mask]`.

What is not selected goes to a row in front of the others, which is dropped again. So nothing has a size that depends on
values. An index that counts from the end (`-1`) does so in the longer tensor too; only one below zero by exactly its
length finds the row in front, where it was out of range.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.definitions import definition_of, mask_kept, unused_then
from compilefix.codemods.dynamic_shapes.masks import Mask, boolean, has_place, same_mask, whole_mask
from compilefix.codemods.names import free_name
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name, where
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target
from compilefix.source.tree import names_in


@dataclass(frozen=True)
class MaskedPlaces:
    """The statement, the tensor that is written, the index, the mask, and what is put in the places.

    values: a tensor of which the mask selects, or a number. definitions: earlier statements `name = index[mask]`.
    """

    statement: ast.Assign
    tensor: ast.expr
    index: ast.expr
    mask: Mask
    values: ast.expr
    definitions: tuple[ast.Assign, ...]


_Selected = tuple[ast.Subscript, Mask, tuple[ast.Assign, ...]]


def masked_places(node: ast.Assign | ast.AugAssign, scope: Scope) -> MaskedPlaces | None:
    """A statement that writes where a masked index points."""
    target = single_target(node)
    if not isinstance(node, ast.Assign) or not isinstance(target, ast.Subscript):
        return None
    if not scope.value(target.value).is_tensor:
        return None
    found = _selection(target.slice, node, scope)
    if found is None or scope.value(found[0].value).dtype not in ("int", None):
        return None
    index, mask, definitions = found
    number = scope.value(node.value)
    if number.is_(Kind.STATIC, Kind.SIZE) and number.dtype in ("bool", "int", "float"):
        return MaskedPlaces(node, target.value, index.value, mask, node.value, definitions)
    given = _selection(node.value, node, scope)
    if given is None or not same_mask(given[1], mask):
        return None
    return MaskedPlaces(node, target.value, index.value, mask, given[0].value, (*definitions, *given[2]))


def _selection(node: ast.expr, at: ast.stmt, scope: Scope) -> _Selected | None:
    """What a mask selects, or the name that it has: `index[mask]`."""
    definition = definition_of(node, at, scope)
    selected = node if definition is None else definition.value
    if not isinstance(selected, ast.Subscript) or not scope.value(selected.value).is_tensor:
        return None
    mask = whole_mask(selected, scope)
    if mask is None or mask.leading or mask.last:
        return None
    return selected, mask, () if definition is None else (definition,)


def code_of_places(found: MaskedPlaces, template: Template, scope: Scope) -> str:
    """The statement that writes all places; what stands against it is noted in the template."""
    template.refuse(list(_obstacles(found, scope)))
    torch, tensor = torch_name(scope), template.use(found.tensor)
    mask, index = template.use(found.mask.node), template.use(found.index)
    value = scope.value(found.values)
    values = template.use(found.values)
    if not value.is_tensor:
        values = f"{torch}.full((), {values}, dtype={tensor}.dtype, device={tensor}.device)"
    places = free_name("places", scope)
    longer = free_name("longer", scope, [places])
    one = "1" if scope.value(found.tensor).rank == 1 else f"(1, *{tensor}.shape[1:])"
    return "\n".join(
        [
            f"{places} = {where(scope)}({mask}, {index} + ({index} >= 0), 0)",
            f"{longer} = {torch}.cat([{tensor}.new_zeros({one}), {tensor}])",
            f"{tensor}.copy_({longer}.index_put(({places},), {values})[1:])",
        ]
    )


def _obstacles(found: MaskedPlaces, scope: Scope) -> Iterator[Obstacle]:
    tensor, index, mask = (scope.value(node) for node in (found.tensor, found.index, found.mask.node))
    for node in (found.tensor, found.index):
        if not has_place(node, scope):
            yield Obstacle(f"`{snippet(node)}` is neither a name nor an item at a fixed place")
        elif not scope.value(node).certain:
            yield Obstacle(f"`{snippet(node)}` is not proved to be a tensor", "is-tensor")
    if overlaps(found.tensor, scope):
        yield Obstacle(f"elements of `{snippet(found.tensor)}` may share memory: `copy_` refuses to write them")
    yield from boolean(found.mask.node, scope)
    yield from scope.recomputed(found.mask.node, set(ast.walk(found.statement)))
    does = scope.legality.effects.of(found.mask.node, scope.facts)
    for reason in (does.random, does.mutates, does.unknown):
        if reason is not None:
            yield Obstacle(f"the mask is not free of effects: {reason}")
    if index.dtype_id not in ("int64", "int32"):
        reason = f"`{snippet(found.index)}` is not proved to hold integers: of booleans it would be a mask itself"
        yield Obstacle(reason, "same-shape-dtype")
    if mask.shape_id is None or mask.shape_id != index.shape_id:
        reason = f"`{snippet(found.mask.node)}` is not proved to have the shape of `{snippet(found.index)}`"
        yield Obstacle(reason, "same-shape-dtype")
    values = scope.value(found.values)
    alike = values.shape_id is not None and values.shape_id == mask.shape_id and tensor.rank == 1
    if values.is_tensor and not alike:
        reason = f"`{snippet(found.values)}` is not proved to have what fits one place for each element of the mask"
        yield Obstacle(reason, "same-shape-dtype")
    reason = f"an index in `{snippet(found.index)}` may be out of range, which raises"
    yield Obstacle(reason, "index-in-range")
    moved = names_in(*(d.value for d in found.definitions))
    yield from unused_then(found.definitions, found.statement, moved, scope)
    yield from mask_kept(found.definitions, found.mask.node, found.statement)
