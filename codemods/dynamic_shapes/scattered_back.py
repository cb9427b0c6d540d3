"""Selected rows that are computed with and put back into a copy: `h = h.masked_scatter(m[..., None], layer(h[m]))`.

`masked_scatter` puts what it is given, in order, where its mask is true: there the rows came from.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Value
from compilefix.codemods.dynamic_shapes.definitions import mask_kept, unused_then
from compilefix.codemods.dynamic_shapes.flat_rows import laid_flat
from compilefix.codemods.dynamic_shapes.masks import Mask, has_place, is_same
from compilefix.codemods.dynamic_shapes.reductions import first_mask, takes_lines
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in


@dataclass(frozen=True)
class ScatteredBack:
    """The call, the tensor that is copied, the mask as it is given, the new rows, and the mask that selected them."""

    call: ast.Call
    tensor: ast.expr
    given: ast.expr
    rows: ast.expr
    mask: Mask


def scattered_back(node: ast.AST, scope: Scope) -> ScatteredBack | None:
    """The form in which selected rows are put back into a copy of the tensor; None for anything else."""
    if not isinstance(node, ast.Call) or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    name = scope.callee(node)
    arguments = list(node.args)
    if name == "Tensor.masked_scatter" and isinstance(node.func, ast.Attribute):
        arguments.insert(0, node.func.value)
    elif name != "torch.masked_scatter":
        return None
    if len(arguments) != 3:
        return None
    tensor, given, rows = arguments
    while isinstance(rows, ast.Call) and (flat := laid_flat(rows, scope, columns=False)) is not None:
        rows = flat[0]  # its elements are taken in order
    mask = first_mask(rows, scope.statement(node), scope)
    if mask is None or mask.broadcast or mask.leading or mask.last or not _is_laid_over(given, mask.node):
        return None
    return ScatteredBack(node, tensor, given, rows, mask)


def _is_laid_over(given: ast.expr, mask: ast.expr) -> bool:
    """Whether a mask is another one, perhaps with one dimension more behind its own."""
    if is_same(given, mask) or is_same(_without_last(given), mask):
        return True
    func = mask.func if isinstance(mask, ast.Call) and not mask.keywords else None
    squeezed = isinstance(func, ast.Attribute) and func.attr == "squeeze" and isinstance(mask, ast.Call)
    last = squeezed and isinstance(mask, ast.Call) and [ast.unparse(a) for a in mask.args] == ["-1"]
    return last and isinstance(func, ast.Attribute) and is_same(func.value, given)


def _without_last(mask: ast.expr) -> ast.expr:
    """What has one dimension less: `m` for `m.unsqueeze(-1)` and `m[..., None]`, also behind `~`."""
    if isinstance(mask, ast.UnaryOp):
        return ast.UnaryOp(mask.op, _without_last(mask.operand))
    if isinstance(mask, ast.Subscript):
        return mask.value if ast.unparse(mask.slice) in ("(..., None)", "..., None") else mask
    func = mask.func if isinstance(mask, ast.Call) and not mask.keywords else None
    added = isinstance(func, ast.Attribute) and func.attr == "unsqueeze" and isinstance(mask, ast.Call)
    behind = added and isinstance(mask, ast.Call) and [ast.unparse(a) for a in mask.args] == ["-1"]
    return func.value if behind and isinstance(func, ast.Attribute) else mask


def selected_code(found: ScatteredBack, template: Template, scope: Scope) -> tuple[str, Elements] | None:
    """Code that computes with all rows and selects; None, or obstacles in the template, where there is none."""
    at = scope.statement(found.call)
    elements = Elements(found.mask, scope, at, places=True)
    tree = elements.take(found.rows)
    if tree is None or not elements.bases:
        template.refuse(elements.obstacles)
        return None
    value = elements.judge(tree)
    elements.obstacles.extend(_fits(found, value, elements))
    moved = names_in(*(d.value for d in elements.definitions))
    moved |= names_in(*elements.placed.values())
    elements.obstacles.extend(unused_then(elements.definitions, at, moved, scope))
    elements.obstacles.extend(mask_kept(elements.definitions, found.mask.node, found.call))
    over = template.use(found.given)
    code = elements.code(tree, template, elements.replaced(tree, value, over, template))
    elements.once()
    if (elements.hoists or elements.before or elements.named) and not takes_lines(found.call, scope):
        elements.obstacles.append(Obstacle(f"give `{snippet(found.call)}` a name: it takes several steps"))
    template.refuse(elements.obstacles)
    return f"{where(scope)}({over}, {code}, {template.use(found.tensor)})", elements


def _fits(found: ScatteredBack, value: Value, elements: Elements) -> Iterator[Obstacle]:
    """Whether the mask, and what is made of all rows, have the shape and dtype of the tensor."""
    scope = elements.scope
    tensor = scope.value(found.tensor)
    shown = snippet(found.tensor)
    for part in (found.tensor, found.given):
        if not scope.legality.effects.of(part, scope.facts).repeatable or not has_place(found.tensor, scope):
            yield Obstacle(f"give `{snippet(part)}` a name")
    if value.dtype is not None and tensor.dtype is not None and value.dtype != tensor.dtype:
        yield Obstacle(f"the new values are {value.dtype} and `{shown}` is {tensor.dtype}")
    elif value.dtype_id is None or value.dtype_id != tensor.dtype_id:
        yield Obstacle(f"the new values are not proved to have the dtype of `{shown}`", "same-shape-dtype")
    shape = scope.value(found.given).shape_id
    if tensor.shape_id is None or tensor.shape_id != shape or tensor.shape_id != value.shape_id:
        reason = f"`{snippet(found.given)}`, or what is computed, is not proved to have the shape of `{shown}`"
        yield Obstacle(reason, "same-shape-dtype")
