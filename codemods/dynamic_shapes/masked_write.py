"""CF502: masked elements that are read, computed with and written back.

## What it does
Finds `x[mask] = f(x[mask])` and `x[mask] += value`, and computes `f` for all elements and selects with `torch.where`.
`x[mask] = value` reads nothing and is compiled as it is.

## Why is this bad
What is read has as many elements as the mask has true values. Dynamo cannot know how many while it traces, so the graph
ends there (GB0036), and on a GPU the program waits for the device.

## Example
```python
angle[angle < 0] += 2 * math.pi
y[positive] = (-1 / x[positive]).exp()
```

## Use instead
```python
angle.copy_(torch.where(angle < 0, angle + 2 * math.pi, angle))
safe = torch.where(positive, x, 1.0)
y = torch.where(positive, (-1 / safe).exp(), y)
```

## Fix safety
`f` must treat each element by itself. Safe where it is proved that the mask has the tensor's shape, that `f` cannot
fail for the other elements, and that it keeps the dtype. Where the derivative of `f` is not finite for every value, the
other elements are replaced by a number for which it is, so that no gradient becomes NaN. The tensor is written in place
(`copy_`), so that views and arguments see it; a tensor that the function made itself and that nobody else holds is
bound anew. A tensor that shares memory with itself (`expand`) is not covered: writing to it is deprecated.

A layer (`x[mask] = layer(x[mask])`) is given all rows under the assumption `all-rows`. The gradient of one number that
is used for all elements (`x[mask] *= scale`) is summed over more zeros: the last bit may differ. With fewer dimensions
than the tensor a mask is broadcast; where it does not fit the tensor, the index raises and the selection may not
(`same-shape-dtype`).

Graph breaks: GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis import torch_api
from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.dynamic_shapes.definitions import unused_then
from compilefix.codemods.dynamic_shapes.masks import whole_mask
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import Template, imports, where
from compilefix.source.snippets import snippet


class MaskedWrite(Rule):
    """Masked elements read and written back."""

    code = "CF502"
    name = "masked-write"
    summary = "masked elements that are read, computed with and written back"
    gb = ("GB0036",)
    assumptions = ("same-shape-dtype", "branches-total", "finite-derivative", "no-aliasing", "all-rows")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Writes to masked elements whose new values are made of masked elements."""
        for node in scope.nodes:
            if isinstance(node, ast.Assign | ast.AugAssign):
                target = written(node, scope)
                if target is not None:
                    yield self._judge(node, target, scope)

    def _judge(self, node: ast.Assign | ast.AugAssign, target: ast.Subscript, scope: Scope) -> Finding:
        mask = whole_mask(target, scope)
        assert mask is not None
        message = f"`{snippet(target)}` is read, and has as many elements as `{snippet(mask.node)}` has true values"
        elements = Elements(mask, scope, node)
        template = Template()
        lines = _rewritten(node, target, elements, template)
        template.refuse(elements.obstacles)
        if not lines or template.broken is not None:
            reason = template.broken or "the new values are not computed element by element"
            return self.declined(scope, node, message, reason)
        edits = elements.edits(node, lines, template)
        return self.fixed(scope, node, message, Fix(edits, imports(scope), template.assumptions, template.reasons))


def written(node: ast.Assign | ast.AugAssign, scope: Scope) -> ast.Subscript | None:
    """The masked elements that a statement writes, where it reads masked elements for it."""
    target = node.target if isinstance(node, ast.AugAssign) else node.targets[0] if len(node.targets) == 1 else None
    if not isinstance(target, ast.Subscript):
        return None
    mask = whole_mask(target, scope)
    if mask is None:
        return None
    reads = isinstance(node, ast.AugAssign) or Elements(mask, scope, node).selects(node.value)
    return target if reads else None


def _rewritten(
    node: ast.Assign | ast.AugAssign, target: ast.Subscript, elements: Elements, template: Template
) -> list[str]:
    """The statements to write; none, with an obstacle noted, where there are none."""
    scope = elements.scope
    tensor = target.value
    if not isinstance(tensor, ast.Name | ast.Attribute):
        elements.obstacles.append(Obstacle(f"`{snippet(tensor)}` is not a name"))
        return []
    whole: ast.expr = ast.copy_location(ast.Subscript(tensor, target.slice, ast.Load()), target)
    tree = elements.take(node.value)
    if tree is None:
        return []
    name = ast.unparse(tensor)
    if isinstance(node, ast.AugAssign):
        old = elements.take(whole)
        assert old is not None
        tree = ast.copy_location(ast.BinOp(old, node.op, tree), old)
    value = elements.judge(tree)
    elements.obstacles.extend(_types(tensor, value, elements))
    names = {n.id for atom in elements.atoms.values() for n in ast.walk(atom) if isinstance(n, ast.Name)}
    names |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    elements.obstacles.extend(unused_then(elements.definitions, node, names, scope))
    over = elements.over(tensor, template)
    replaced = elements.replaced(tree, value, over, template)
    if value.leaves:
        others = [elements.atoms[t] for t in elements.atoms if t != name and t not in replaced]
        elements.obstacles.extend(scope.legality.saved(others, node, scope.facts))
    own = only_holder(tensor, node, scope)
    if not own and name in elements.bases and name not in replaced and value.leaves and not _linear(tree, elements):
        # The backward pass may need the old elements, which are overwritten.
        replaced[name] = f"{name}.clone()"
    code = elements.code(tree, template, replaced)
    select = f"{where(scope)}({over}, {code}, {name})"
    lines, select = elements.hoisted(select)
    return [*lines, f"{name} = {select}" if own else f"{name}.copy_({select})"]


def _types(tensor: ast.expr, value: Value, elements: Elements) -> Iterator[Obstacle]:
    """Whether the new values have the dtype of the tensor, and what they are made of its shape."""
    scope = elements.scope
    before = scope.value(tensor)
    if value.dtype is not None and before.dtype is not None and value.dtype != before.dtype:
        yield Obstacle(f"the new values are {value.dtype} and `{snippet(tensor)}` is {before.dtype}")
    elif value.dtype_id is None or value.dtype_id != before.dtype_id:
        yield Obstacle(f"the new values are not proved to have the dtype of `{snippet(tensor)}`", "same-shape-dtype")
    for text in elements.bases:
        base = elements.atoms[text]
        if text != ast.unparse(tensor) and (before.shape_id is None or scope.value(base).shape_id != before.shape_id):
            yield Obstacle(
                f"`{snippet(base)}` is not proved to have the shape of `{snippet(tensor)}`", "same-shape-dtype"
            )


def _linear(tree: ast.expr, elements: Elements) -> bool:
    """Whether the backward pass needs no operand: sums, and products with numbers."""
    if isinstance(tree, ast.Name):
        return True
    if isinstance(tree, ast.UnaryOp):
        return _linear(tree.operand, elements)
    if not isinstance(tree, ast.BinOp) or not _linear(tree.left, elements) or not _linear(tree.right, elements):
        return False
    if isinstance(tree.op, ast.Add | ast.Sub):
        return True
    numbers = {text for text, v in elements.values().items() if v.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)}
    right = isinstance(tree.right, ast.Name) and tree.right.id in numbers
    left = isinstance(tree.left, ast.Name) and tree.left.id in numbers
    return (right and isinstance(tree.op, ast.Mult | ast.Div)) or (left and isinstance(tree.op, ast.Mult))


def only_holder(tensor: ast.expr, at: ast.stmt, scope: Scope) -> bool:
    """Whether a name holds a tensor that the function made itself, and that nothing else can reach."""
    if not isinstance(tensor, ast.Name):
        return False
    value = scope.value(tensor)
    if not value.storage or any(t.startswith(("param:", "self.", "global.")) for t in value.storage):
        return False
    if any(p.arg == tensor.id for p in scope.function.parameters):
        return False
    if scope.function.decorators or any(isinstance(a, ast.With) for a in scope.ancestors(at)):
        return False  # gradients may be switched off here, and a new tensor would lose the one that it has
    everywhere = [n for n in ast.walk(scope.function.node) if isinstance(n, ast.Name) and n.id == tensor.id]
    if len(everywhere) != len(scope.names(tensor.id)) + len(scope.names(tensor.id, stores=True)):
        return False  # a nested function knows it
    stores = [scope.parents.get(n) for n in scope.names(tensor.id, stores=True)]
    if not all(isinstance(s, ast.Assign) and isinstance(s.value, ast.Call | ast.BinOp) for s in stores):
        return False
    if not all(_keeps_to_itself(n, scope) for n in scope.names(tensor.id)):
        return False
    env = scope.facts.env_before.get(at, {})
    return not any(name != tensor.id and held(other) & value.storage for name, other in env.items())


def held(value: Value) -> frozenset[str]:
    """The memory that a value or something in it may share."""
    parts = [*(value.elements or ()), *([value.element] if value.element is not None else [])]
    return value.storage.union(*(held(part) for part in parts))


def _keeps_to_itself(use: ast.expr, scope: Scope) -> bool:
    """Whether a use of a tensor leaves no other way to reach it: arithmetic, indexing, torch's functions, a return."""
    parent = scope.parents.get(use)
    if isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Compare | ast.AugAssign | ast.Return):
        return True
    if isinstance(parent, ast.Subscript):
        return isinstance(parent.ctx, ast.Store) or parent.value is not use or _stays(parent, use, scope)
    if isinstance(parent, ast.Attribute):
        call = scope.parents.get(parent)
        if isinstance(call, ast.Call) and call.func is parent:
            return (scope.callee(call) or "").startswith("Tensor.") and _stays(call, use, scope)
        return parent.attr in ("shape", "dtype", "device", "ndim")
    if isinstance(parent, ast.Call) and use in parent.args:
        name = scope.callee(parent) or ""
        known = torch_api.function(name) is not None or name.startswith("Tensor.")
        return known and _stays(parent, use, scope)
    return False


def _stays(made: ast.expr, use: ast.expr, scope: Scope) -> bool:
    """Whether what is made of a tensor is another tensor, or is itself only used so that nothing keeps it."""
    if not scope.value(made).storage & scope.value(use).storage:
        return True
    parent = scope.parents.get(made)
    bound = isinstance(parent, ast.Assign) and all(isinstance(t, ast.Name) for t in parent.targets)
    return bound or isinstance(parent, ast.Expr) or _keeps_to_itself(made, scope)
