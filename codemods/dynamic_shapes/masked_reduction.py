"""CF503: one number made of the elements that a mask selects.

## What it does
Finds sums, means, maxima, counts and losses over masked elements (`x[mask].mean()`, `x.masked_select(mask).sum()`,
`len(mask.nonzero())`, `F.mse_loss(a[mask], b[mask])`, also with loss modules) and computes them over all elements, with
the others replaced by what does not count.

## Why is this bad
`x[mask]` has as many elements as the mask has true values. Dynamo cannot know how many while it traces, so the graph
ends there (GB0036), although the result has a fixed shape; on a GPU the program waits for the device.

## Example
```python
loss = per_token[mask].mean()
loss = F.cross_entropy(logits[mask], target[mask])
count = mask.nonzero().shape[0]
```

## Use instead
```python
loss = torch.where(mask, per_token, 0).sum() / mask.sum()
loss = F.cross_entropy(torch.where(mask[..., None], logits, 0), torch.where(mask, target, -100))
count = mask.sum()
```

## Fix safety
`any`, `all` and sums of integers are exact, and so is the mean of nothing, which is NaN both ways. A sum or mean of
floats adds zeros between the elements, which changes the order and so the rounding (`summation-order`); in half
precision the sum can overflow where the mean does not. The maximum of nothing is an error, and becomes minus infinity
(`mask-not-empty`). A count was a Python number and becomes a tensor (`number-to-tensor`); beside a half precision
tensor a GPU rounds it first (`float32-rounding`). What is computed of the elements before they are reduced must treat
each by itself, see CF502; where the mask is not proved to have the tensor's shape the fix needs `same-shape-dtype`.
Elements that are not selected may be NaN or inf: they are replaced before anything is computed whose derivative is not
finite for them.

Graph breaks: GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Value
from compilefix.codemods.dynamic_shapes.counts import count_uses, indices_of
from compilefix.codemods.dynamic_shapes.definitions import definition_of, unused_then
from compilefix.codemods.dynamic_shapes.losses import Loss, loss_code, loss_of
from compilefix.codemods.dynamic_shapes.masks import Mask, masked_select_of, whole_mask
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import Template, imports, torch_name, where
from compilefix.source.snippets import snippet

_REDUCTIONS = frozenset({"sum", "mean", "max", "min", "any", "all"})
_ROW_REDUCTIONS = frozenset({"sum", "mean"})
_COUNTS = frozenset({"numel", "nelement", "len", "shape", "size", "__len__"})


@dataclass(frozen=True)
class Reduction:
    """What makes one number of masked elements.

    node: the whole expression. kind: "sum", "len", "mse_loss", ... source: the masked elements (of a loss, the first
    argument), or for a count the mask itself where it stands in `nonzero`. rows: whether it reduces over the selected
    rows only: `x[m].mean(0)`. loss: the loss that it computes, if it does.
    """

    node: ast.expr
    kind: str
    source: ast.expr
    mask: Mask
    counted: bool = False
    rows: bool = False
    loss: Loss | None = None


class MaskedReduction(Rule):
    """Reduction of masked elements."""

    code = "CF503"
    name = "masked-reduction"
    summary = "sum, mean, count or loss over the elements that a mask selects"
    gb = ("GB0036",)
    assumptions = (
        "same-shape-dtype",
        "branches-total",
        "finite-derivative",
        "summation-order",
        "mask-not-empty",
        "number-to-tensor",
        "float32-rounding",
        "all-rows",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Reductions of masked elements."""
        for found in reductions(scope):
            finding = self._judge(found, scope)
            if finding.fix is not None or found.counted or found.mask.index in set(ast.walk(found.node)):
                yield finding  # else the graph breaks where the elements are selected, and CF501 says so there

    def _judge(self, found: Reduction, scope: Scope) -> Finding:
        statement = scope.statement(found.node)
        elements = Elements(found.mask, scope, statement)
        template = Template()
        message = (
            f"`{snippet(found.node)}` is made of as many elements as `{snippet(found.mask.node)}` has true values: "
            "the graph breaks"
        )
        code = _code(found, elements, template)
        elements.once()
        names = {n.id for atom in elements.atoms.values() for n in ast.walk(atom) if isinstance(n, ast.Name)}
        names |= {n.id for n in ast.walk(found.mask.index) if isinstance(n, ast.Name)}
        elements.obstacles.extend(unused_then(elements.definitions, statement, names, scope))
        template.refuse(elements.obstacles)
        if code is None or template.broken is not None:
            reason = template.broken or "what is reduced is not computed element by element"
            return self.declined(scope, found.node, message, reason)
        edits = _edits(found.node, code, elements, template)
        return self.fixed(
            scope, found.node, message, Fix(edits, imports(scope), template.assumptions, template.reasons)
        )


def _edits(node: ast.expr, code: str, elements: Elements, template: Template) -> tuple[Edit, ...]:
    """The replacement of a whole statement where the expression is all that it computes, else of the expression."""
    scope = elements.scope
    statement = scope.parents.get(node)
    if isinstance(statement, ast.Return) or (
        isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)
    ):
        lines, code = elements.hoisted(code)
        head = "return" if isinstance(statement, ast.Return) else f"{ast.unparse(statement.targets[0])} ="
        return elements.edits(statement, [*lines, f"{head} {code}"], template)
    added = isinstance(statement, ast.BinOp) and isinstance(statement.op, ast.Add | ast.Sub)
    if isinstance(statement, ast.BinOp | ast.Attribute) and not added and " / " in code:
        code = f"({code})"
    return elements.edits(node, [code], template)


def reductions(scope: Scope) -> Iterator[Reduction]:
    """The reductions of masked elements in a function, each once."""
    for node in scope.nodes:
        found = _reduction(node, scope) if isinstance(node, ast.Call | ast.Subscript) else None
        if found is not None:
            yield found


def _reduction(node: ast.Call | ast.Subscript, scope: Scope) -> Reduction | None:
    if isinstance(node, ast.Subscript):
        shape = node.value
        first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
        if isinstance(shape, ast.Attribute) and shape.attr == "shape" and first:
            return _of(node, "shape", shape.value, scope)
        return None
    name = scope.callee(node) or ""
    loss = loss_of(node, scope)
    if loss is not None:
        found = _of(node, loss.kind, loss.source, scope)
        return None if found is None else replace(found, loss=loss)
    if name == "len" and len(node.args) == 1 and not node.keywords:
        return _of(node, "len", node.args[0], scope)
    if (
        name.startswith("Tensor.")
        and isinstance(node.func, ast.Attribute)
        and [k.arg for k in node.keywords]
        in (
            [],
            ["dim"],
        )
    ):
        short = node.func.attr
        given = [*node.args, *(k.value for k in node.keywords)]
        first = len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value == 0
        if short in _ROW_REDUCTIONS and first:
            return _of(node, short, node.func.value, scope, rows=True)
        if (short == "size" and first) or (short in _REDUCTIONS | _COUNTS and short != "size" and not given):
            return _of(node, short, node.func.value, scope)
    if name.startswith("torch.") and len(node.args) == 1 and not node.keywords:
        short = name.removeprefix("torch.")
        if short in _REDUCTIONS | {"numel"}:
            return _of(node, short, node.args[0], scope)
    return None


def _of(node: ast.expr, kind: str, source: ast.expr, scope: Scope, *, rows: bool = False) -> Reduction | None:
    """The reduction of `source`, where that holds masked elements."""
    if kind in _COUNTS:
        mask = indices_of(source, scope)
        if mask is not None:
            elements_of = kind in ("numel", "nelement")
            # `nonzero` of a matrix has two numbers for each element.
            if not elements_of or scope.value(mask).rank == 1 or isinstance(source, ast.Subscript):
                return Reduction(node, kind, mask, Mask(mask, mask), counted=True)
            return None
    at = scope.statement(node)
    mask_node = first_mask(source, at, scope)
    if mask_node is None:
        return None
    if mask_node.broadcast:
        return Reduction(node, kind, source, mask_node)  # what is selected has one dimension
    if kind in ("len", "shape", "size") and not isinstance(source, ast.Subscript | ast.Name):
        return None
    if kind in ("len", "shape", "size") and mask_node.leading:
        return None
    if rows and (mask_node.leading or mask_node.last):
        return None
    return Reduction(node, kind, source, mask_node, rows=rows)


def first_mask(node: ast.expr, at: ast.stmt, scope: Scope, depth: int = 0) -> Mask | None:
    """The mask of the first masked elements in an expression, or in a definition that it uses.

    Not looked into: what another reduction stands round, and indices.
    """
    if isinstance(node, ast.Subscript):
        mask = whole_mask(node, scope)
        return mask if mask is not None else None
    if isinstance(node, ast.Name):
        definition = definition_of(node, at, scope) if depth < 4 else None
        return first_mask(definition.value, definition, scope, depth + 1) if definition is not None else None
    selected = masked_select_of(node, scope)
    if selected is not None:
        return selected[1]
    if isinstance(node, ast.Call) and _reduces(node, scope):
        return None
    for child in ast.iter_child_nodes(node):
        inner = child.value if isinstance(child, ast.keyword) else child
        if isinstance(inner, ast.expr):
            found = first_mask(inner, at, scope, depth)
            if found is not None:
                return found
    return None


def _reduces(node: ast.Call, scope: Scope) -> bool:
    return (scope.callee(node) or "").rpartition(".")[2] in _REDUCTIONS | _COUNTS


def _code(found: Reduction, elements: Elements, template: Template) -> str | None:
    scope = elements.scope
    if found.kind in _COUNTS:
        elements.obstacles.extend(count_uses(found.node, scope))
        if found.mask.broadcast:
            if elements.take(found.source) is None:
                return None
            return count("", elements.atoms[elements.bases[0]], elements, template)
        if found.counted or found.kind in ("len", "shape", "size"):
            if not found.counted and elements.take(found.source) is None:
                return None
            return f"{template.use(found.mask.node, operand=True)}.sum()"
    if found.loss is not None:
        return loss_code(found.loss, elements, template)
    tree = elements.take(found.source)
    if tree is None:
        return None
    value = elements.judge(tree)
    first = elements.atoms[elements.bases[0]]
    over = elements.over(first, template)
    for text in elements.bases[1:]:
        one, other = scope.value(first), scope.value(elements.atoms[text])
        if one.shape_id is None or one.shape_id != other.shape_id:
            reason = f"`{text}` is not proved to have the shape of `{snippet(first)}`"
            elements.obstacles.append(Obstacle(reason, "same-shape-dtype"))
    if found.kind in _COUNTS:
        return f"{over}.expand_as({template.use(first)}).sum()"
    replaced = elements.replaced(tree, value, over, template)
    code = elements.code(tree, template, replaced)
    return _reduced(found, code, value, over, first, elements, template)


def _reduced(
    found: Reduction, code: str, value: Value, over: str, first: ast.expr, elements: Elements, template: Template
) -> str:
    kind = found.kind
    select = f"{where(elements.scope)}({over}, {code}, {{fill}})"
    if kind in ("any", "all"):
        fill = str(kind == "all") if value.dtype == "bool" else str(int(kind == "all"))
        return f"{select.replace('{fill}', fill)}.{kind}()"
    if kind in ("max", "min"):
        if value.dtype != "float":
            elements.obstacles.append(
                Obstacle(f"`{snippet(first)}` is not proved to be floating: no number is below all of its dtype's")
            )
        elements.obstacles.append(Obstacle("an empty selection raises, and would give infinity", "mask-not-empty"))
        infinity = 'float("-inf")' if kind == "max" else 'float("inf")'
        return f"{select.replace('{fill}', infinity)}.{kind}()"
    dims = ""
    if found.rows:
        one = elements.scope.value(found.mask.node).rank == 1
        dims = "0" if one else f"dim=tuple(range({template.use(found.mask.node, operand=True)}.dim()))"
    total = f"{select.replace('{fill}', '0')}.sum({dims})"
    if value.dtype not in ("bool", "int"):
        elements.obstacles.append(
            Obstacle(
                "the elements are added in another order: rounding, and in half precision overflow", "summation-order"
            )
        )
    if kind == "sum":
        return total
    if value.dtype in ("bool", "int"):
        elements.obstacles.append(Obstacle("the mean of integers is an error"))
    elif value.dtype is None:
        elements.obstacles.append(
            Obstacle(
                "the mean of integers is an error, and what is averaged is not proved to be floating",
                "same-shape-dtype",
            )
        )
    if found.rows:
        return f"{total} / {template.use(found.mask.node, operand=True)}.sum()"
    return f"{total} / {count(over, first, elements, template)}"


def count(over: str, tensor: ast.expr, elements: Elements, template: Template) -> str:
    """Code for the number of selected elements of a tensor."""
    scope, mask = elements.scope, elements.mask
    if mask.broadcast:
        both = f"{template.use(mask.node)}, {template.use(tensor)}"
        return f"{torch_name(scope)}.broadcast_tensors({both})[0].sum()"
    same = scope.value(mask.node).shape_id
    whole = same is not None and same == scope.value(tensor).shape_id
    rank = scope.value(mask.node).rank
    whole = whole or (rank is not None and rank == scope.value(tensor).rank)
    code = over if isinstance(mask.node, ast.Name) or "(" in over else template.use(mask.node, operand=True)
    return f"{code}.sum()" if whole else f"{code}.expand_as({template.use(tensor, operand=True)}).sum()"
