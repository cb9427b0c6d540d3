"""Loss functions of masked elements, over all elements with the others made to count for nothing."""

from __future__ import annotations

import ast

from compilefix.analysis.legality import Obstacle
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Template, where
from compilefix.source.snippets import snippet

# Losses of two tensors that are zero, with a gradient of zero, where both are zero.
_ZERO_AT_ZERO = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
_OPTIONS = frozenset({"reduction", "beta", "delta"})
_CLASS_OPTIONS = frozenset({"reduction", "ignore_index", "label_smoothing", "weight"})
_IGNORED = -100


def loss_of(node: ast.Call, scope: Scope) -> str | None:
    """The name of a loss function of `torch.nn.functional` that is called with an input and a target."""
    name = scope.callee(node) or ""
    if not name.startswith("torch.nn.functional.") or len(node.args) != 2:
        return None
    short = name.rpartition(".")[2]
    return short if short in _ZERO_AT_ZERO or short == "cross_entropy" else None


def loss_code(node: ast.Call, kind: str, elements: Elements, template: Template) -> str | None:
    """Code for the loss; None, with an obstacle noted, where there is none."""
    options = {k.arg or "": k.value for k in node.keywords}
    allowed = _CLASS_OPTIONS if kind == "cross_entropy" else _OPTIONS
    unknown = [name for name in options if name not in allowed]
    reduction = options.get("reduction")
    mode = reduction.value if isinstance(reduction, ast.Constant) else "mean" if reduction is None else None
    if unknown or mode not in ("mean", "sum"):
        what = f"`{unknown[0]}=`" if unknown else "this `reduction`"
        elements.obstacles.append(Obstacle(f"with {what} the loss over all elements is another"))
        return None
    trees = [elements.take(argument) for argument in node.args]
    if not all(isinstance(tree, ast.Name) and tree.id in elements.bases for tree in trees):
        elements.obstacles.append(Obstacle(f"the arguments of `{snippet(node.func)}` are not both selected elements"))
        return None
    first, second = (elements.atoms[tree.id] for tree in trees if isinstance(tree, ast.Name))
    elements.obstacles.append(
        Obstacle("the elements are added in another order, which changes the rounding", "summation-order")
    )
    if kind == "cross_entropy":
        return _classes(node, first, second, elements, template)
    return _distances(node, mode, first, second, elements, template)


def _distances(
    node: ast.Call, mode: object, first: ast.expr, second: ast.expr, elements: Elements, template: Template
) -> str:
    scope = elements.scope
    one, other = scope.value(first), scope.value(second)
    if one.shape_id is None or one.shape_id != other.shape_id:
        reason = f"`{snippet(second)}` is not proved to have the shape of `{snippet(first)}`"
        elements.obstacles.append(Obstacle(reason, "same-shape-dtype"))
    if one.dtype != "float":
        reason = f"`{snippet(first)}` is not proved to be floating"
        elements.obstacles.append(Obstacle(reason, "same-shape-dtype"))
    over = elements.over(first, template)
    filled = [f"{where(scope)}({over}, {template.use(tensor)}, 0)" for tensor in (first, second)]
    options = [f"{k.arg}={template.use(k.value)}" for k in node.keywords if k.arg != "reduction"]
    arguments = ", ".join([*filled, *options, 'reduction="sum"'])
    code = f"{template.use(node.func)}({arguments})"
    if mode == "sum":
        return code
    mask = scope.value(elements.mask.node)
    whole = (mask.shape_id is not None and mask.shape_id == one.shape_id) or (
        mask.rank is not None and mask.rank == one.rank
    )
    counted = over if isinstance(elements.mask.node, ast.Name) or not whole else f"({over})"
    return f"{code} / {counted}.sum()" if whole else f"{code} / {counted}.expand_as({template.use(first)}).sum()"


def _classes(node: ast.Call, logits: ast.expr, target: ast.expr, elements: Elements, template: Template) -> str | None:
    """The rows that do not count get a target that is ignored, and logits of zero, which have a gradient of zero."""
    scope = elements.scope
    options = {k.arg: k.value for k in node.keywords}
    ignored = scope.value(options["ignore_index"]).const if "ignore_index" in options else None
    if "ignore_index" in options and (ignored is None or not isinstance(ignored.value, int)):
        elements.obstacles.append(Obstacle("the `ignore_index` is not a constant"))
        return None
    index = _IGNORED if ignored is None else int(str(ignored.value))
    if scope.value(target).dtype == "float":
        elements.obstacles.append(Obstacle("the targets are probabilities"))
        return None
    if scope.value(target).dtype is None:
        reason = f"`{snippet(target)}` is not proved to hold class numbers"
        elements.obstacles.append(Obstacle(reason, "same-shape-dtype"))
    mask = scope.value(elements.mask.node)
    if elements.mask.leading or elements.mask.last:
        elements.obstacles.append(Obstacle("the mask does not select rows of logits"))
        return None
    token = template.use(elements.mask.node, operand=True)
    labels = f"{where(scope)}({template.use(elements.mask.node)}, {template.use(target)}, {index})"
    elements.obstacles.append(
        Obstacle(f"`{snippet(logits)}` is not proved to have one dimension more than the mask", "same-shape-dtype")
    )
    scores = f"{where(scope)}({token}[..., None], {template.use(logits)}, 0)"
    if mask.rank != 1:
        scores, labels = f"{scores}.flatten(0, -2)", f"{labels}.flatten()"
    kept = [f"{k.arg}={template.use(k.value)}" for k in node.keywords]
    return f"{template.use(node.func)}({', '.join([scores, labels, *kept])})"
