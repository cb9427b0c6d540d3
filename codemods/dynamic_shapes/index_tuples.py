"""The places where a mask is true, as an index: `x[torch.where(m)] = 0`, `i, j = m.nonzero(as_tuple=True)`.

The mask as an index means the same, and a write of values to what it selects stays in the graph.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.definitions import reads_of
from compilefix.codemods.dynamic_shapes.index_lists import place_of, unchanged
from compilefix.codemods.dynamic_shapes.mask_dimensions import of_rows
from compilefix.codemods.dynamic_shapes.masks import is_mask
from compilefix.codemods.finding import Edit
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class IndexTuple:
    """The mask, the indices in which its places stand, and the statement that names them, if one does.

    names: one that stands for all indices at once, or one for each dimension: then `uses` holds each index as a whole.
    """

    call: ast.Call
    mask: ast.expr
    uses: tuple[ast.expr, ...]
    statement: ast.Assign | None = None
    names: tuple[str, ...] = ()


def index_tuple(node: ast.Call, scope: Scope) -> IndexTuple | None:
    """What a call that lists the places of a mask, dimension by dimension, is used for, where a mask would do."""
    name = scope.callee(node)
    if name not in ("Tensor.nonzero", "torch.where", "torch.nonzero"):
        return None
    given = list(node.args)
    options = {k.arg: ast.unparse(k.value) for k in node.keywords}
    if name == "Tensor.nonzero" and isinstance(node.func, ast.Attribute):
        given.insert(0, node.func.value)
    elif name == "Tensor.nonzero":
        return None
    if len(given) != 1 or options != ({} if name == "torch.where" else {"as_tuple": "True"}):
        return None
    mask = given[0]
    if not is_mask(mask, scope) or scope.value(mask).rank == 0:
        return None
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.slice is node:
        found = IndexTuple(node, mask, (node,))
    elif isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        named = _named(parent, node, mask, scope)
        if named is None:
            return None
        found = named
    else:
        return None
    return found if found.uses and all(place_of(use, scope) is not None for use in found.uses) else None


def _named(statement: ast.Assign, node: ast.Call, mask: ast.expr, scope: Scope) -> IndexTuple | None:
    """The uses of the places under one name, or under one for each dimension."""
    target = statement.targets[0]
    if isinstance(target, ast.Name):
        reads = reads_of(statement, scope)
        alone = all(isinstance(p := scope.parents.get(r), ast.Subscript) and p.slice is r for r in reads or ())
        return IndexTuple(node, mask, tuple(reads), statement, (target.id,)) if reads and alone else None
    if not isinstance(target, ast.Tuple) or not all(isinstance(e, ast.Name) for e in target.elts):
        return None
    names = [e.id for e in target.elts if isinstance(e, ast.Name)]
    rank = scope.value(mask).rank
    if len(set(names)) < len(names) or (rank is not None and rank != len(names)):
        return None
    uses: list[ast.expr] = []
    for position, name in enumerate(names):
        everywhere = scope.function.places(name)
        loads = scope.names(name)
        if len(everywhere) != len(loads) + 1 or any(n.lineno <= statement.lineno for n in loads):
            return None
        for load in loads:
            index = scope.parents.get(load)
            if len(names) == 1 and not isinstance(index, ast.Tuple):
                uses.append(load)
            elif not isinstance(index, ast.Tuple) or [ast.unparse(e) for e in index.elts[: len(names)]] != names:
                return None
            elif position == 0:
                uses.append(load)
    return IndexTuple(node, mask, tuple(uses), statement, tuple(names))


def tuple_edits(found: IndexTuple, template: Template, scope: Scope) -> list[Edit]:
    """The mask in place of the places; what is not proved is noted in the template."""
    value = scope.value(found.mask)
    if not value.dimensioned:
        reason = f"`{snippet(found.mask)}` is not proved to have a dimension"
        template.refuse([Obstacle(reason, "enough-dimensions")])
    edits: list[Edit] = []
    if found.statement is not None:
        template.refuse(unchanged(found.mask, scope))
        if any(isinstance(a, ast.For | ast.While) for a in scope.ancestors(found.statement)):
            template.refuse([Obstacle("the places are listed in a loop")])
        edits.append(scope.edit(found.statement, f"{found.names[0]} = {{p}}", p=found.mask))
    for use in found.uses:
        place = place_of(use, scope)
        assert place is not None
        tensor = scope.value(place.value)
        same = tensor.shape_id is not None and tensor.shape_id == value.shape_id
        if not same and not of_rows(value, tensor):
            reason = f"`{snippet(place.value)}` is not proved to be as large as `{snippet(found.mask)}`"
            template.refuse([Obstacle(reason, "same-shape-dtype")])
        if found.statement is None:
            edits.append(scope.edit(use, "{p}", p=found.mask))
        elif len(found.names) > 1 and isinstance(place.slice, ast.Tuple):
            rest = place.slice.elts[len(found.names) :]
            parts = {f"r{n}": part for n, part in enumerate(rest)}
            code = ", ".join([found.names[0], *(f"{{{name}}}" for name in parts)])
            edits.append(scope.edit(place, f"{{tensor}}[{code}]", tensor=place.value, **parts))
    return edits
