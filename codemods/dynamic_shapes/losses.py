"""Loss functions and modules on masked elements, over all elements with the others made to count for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name, where
from compilefix.source.definitions import Class
from compilefix.source.module import Module
from compilefix.source.project import Project
from compilefix.source.snippets import snippet
from compilefix.source.tree import statements, walk

_FUNCTIONAL = "torch.nn.functional."
# Losses of two tensors that are zero, with a gradient of zero, where both are zero.
_ZERO_AT_ZERO = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
# Losses that are not: by the number for which their derivative is finite, whatever the target.
_HARMLESS = {"binary_cross_entropy": "0.5", "binary_cross_entropy_with_logits": "0"}
_CLASSES = frozenset({"cross_entropy", "nll_loss"})
_OPTIONS = {
    **dict.fromkeys(_ZERO_AT_ZERO, frozenset({"reduction", "beta", "delta"})),
    **dict.fromkeys(_HARMLESS, frozenset({"reduction"})),
    **dict.fromkeys(_CLASSES, frozenset({"reduction", "ignore_index", "label_smoothing", "weight"})),
}
LOSSES = frozenset(_OPTIONS)
"""The losses of masked elements that are written for all elements, by their names in `torch.nn.functional`."""
_MODULES = {
    "torch.nn.MSELoss": "mse_loss",
    "torch.nn.L1Loss": "l1_loss",
    "torch.nn.SmoothL1Loss": "smooth_l1_loss",
    "torch.nn.HuberLoss": "huber_loss",
    "torch.nn.BCELoss": "binary_cross_entropy",
    "torch.nn.BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
    "torch.nn.CrossEntropyLoss": "cross_entropy",
    "torch.nn.NLLLoss": "nll_loss",
}
_IGNORED = -100
_CASTS = frozenset(f"Tensor.{name}" for name in ("to", "type", "float", "double", "half", "bfloat16", "long", "int"))
"""They give each element another dtype, which fails for none and has a derivative of one."""


@dataclass(frozen=True)
class Loss:
    """A call of a loss function or module.

    kind: the name in `torch.nn.functional`. source, target: the two tensors. options: the other arguments, of a module
    those that it was made with. module: whether a module is called, and not a function.
    """

    node: ast.Call
    kind: str
    source: ast.expr
    target: ast.expr
    options: Mapping[str, ast.expr]
    module: bool


def loss_of(node: ast.Call, scope: Scope) -> Loss | None:
    """The loss that a call computes; None for another call, and for one whose options are not in sight."""
    name = scope.callee(node) or ""
    kind, made = name.removeprefix(_FUNCTIONAL), None
    if name in _MODULES and scope.value(node.func).is_(Kind.OBJECT):
        kind = _MODULES[name]
        made = _maker(node.func, name, scope)
        if made is None or made.args or any(k.arg is None for k in made.keywords):
            return None
    elif not name.startswith(_FUNCTIONAL) or kind not in _OPTIONS:
        return None
    given = dict(zip(("input", "target"), node.args, strict=False)) | {k.arg or "": k.value for k in node.keywords}
    source, target = given.pop("input", None), given.pop("target", None)
    if source is None or target is None or len(node.args) > 2 or (made is not None and given):
        return None
    if made is not None:
        given = {k.arg or "": k.value for k in made.keywords}
    elif isinstance(reduction := given.get("reduction"), ast.Constant) and reduction.value == "none":
        return None  # one number for each element
    return Loss(node, kind, source, target, given, made is not None)


def _maker(func: ast.expr, name: str, scope: Scope) -> ast.Call | None:
    """The call that made a module, where it is in sight and no other one can have."""
    if isinstance(func, ast.Name):
        stores = scope.names(func.id, stores=True)
        statements = [scope.parents.get(s) for s in stores]
        if len(statements) != 1 or scope.function.takes(func.id):
            return None
        made = statements[0].value if isinstance(statements[0], ast.Assign) else None
    elif isinstance(func, ast.Attribute) and ast.unparse(func.value) == "self" and scope.function.cls is not None:
        assigned = list(islice(_assignments(scope.function.cls, func.attr, scope), 2))
        made = assigned[0].value if len(assigned) == 1 else None
    else:
        made = func
    if not isinstance(made, ast.Call) or name.rpartition(".")[2] != ast.unparse(made.func).rpartition(".")[2]:
        return None
    return made


def _assignments(cls: Class, attribute: str, scope: Scope) -> Iterator[ast.Assign | ast.AugAssign | ast.AnnAssign]:
    """Where the project assigns an attribute, except to instances of classes that have nothing to do with this one."""
    project = scope.legality.inference.project
    modules = project.modules
    # Few of the files that mention `.loss` assign it, and only those need to be parsed: a `=` follows in its line, or,
    # in a target of several lines, a comma or a bracket after it.
    assigned = rf"\.{attribute}\b(?:[^\n]*=|\s*,\s*\n|\s*\n\s*[)\]]|\s*\\)"
    for name in modules.texts.matching(f".{attribute}", assigned):
        module = modules[name]
        for node in statements(module.tree):
            if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                owners = [owner for target in targets for owner in _owners(target, attribute)]
                if owners and not (all(map(_is_self, owners)) and _apart(node, module, cls, project)):
                    yield node


def _owners(target: ast.expr, attribute: str) -> Iterator[ast.expr]:
    """What an assignment gives the attribute to."""
    yield from (t.value for t in walk(target) if isinstance(t, ast.Attribute) and t.attr == attribute)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _apart(node: ast.stmt, module: Module, cls: Class, project: Project) -> bool:
    """Whether a statement stands in a class that has nothing to do with this one, so that `self` is something else."""
    holders = [c for c in module.classes.values() if c.node.lineno <= node.lineno <= (c.node.end_lineno or 0)]
    return any(not _related(holder, cls, project) for holder in holders)


def _related(one: Class, other: Class, project: Project) -> bool:
    return one is other or one in project.ancestors(other) or other in project.ancestors(one)


def loss_code(loss: Loss, elements: Elements, template: Template) -> str | None:
    """Code for the loss; None, with an obstacle noted, where there is none."""
    unknown = [name for name, value in loss.options.items() if not _allowed(loss, name, value)]
    reduction = loss.options.get("reduction")
    mode = reduction.value if isinstance(reduction, ast.Constant) else "mean" if reduction is None else None
    if unknown or mode not in ("mean", "sum"):
        what = f"`{unknown[0]}=`" if unknown else "this `reduction`"
        elements.obstacles.append(Obstacle(f"with {what} the loss over all elements is another"))
        return None
    trees = []
    for argument in (loss.source, loss.target):
        elements.flat = argument is loss.source if loss.kind in _CLASSES else None
        trees.append(elements.take(argument))
    elements.flat = None
    sides = [side for tree in trees if (side := _side(tree, elements)) is not None]
    if len(sides) != len(trees):
        reason = f"the arguments of `{snippet(loss.node.func)}` are not both selected elements"
        elements.obstacles.append(Obstacle(reason))
        return None
    first, second = (elements.behind(tree) if tree is not None else {} for tree in trees)
    if max(first.values(), default=0) > min(second.values(), default=0):
        # The elements are counted by those of the first argument.
        elements.obstacles.append(Obstacle(f"`{snippet(loss.node)}` computes with pairs of the selected elements"))
        return None
    if not elements.aligned([tree for tree in trees if tree is not None], loss.node):
        return None
    elements.obstacles.append(
        Obstacle("the elements are added in another order, which changes the rounding", "summation-order")
    )
    if loss.kind in _CLASSES:
        return _classes(loss, sides, elements, template)
    return _distances(loss, mode, sides, elements, template)


@dataclass(frozen=True)
class _Side:
    """One argument of a loss: the tensor that the mask selects from, and what is made of it for all elements.

    value: what is known of the argument. plain: whether the tensor is used as it is. computed: whether more is done
    than to give it another dtype, so that the derivative may not be finite.
    """

    base: ast.expr
    tree: ast.expr
    value: Value
    plain: bool = False
    computed: bool = False

    def code(self, elements: Elements, template: Template, over: str | None = None) -> str:
        """The code for all elements. over: code for the mask, for a harmless number in place of the others."""
        if self.plain:
            return elements.code(self.tree, template, {})
        replaced: Mapping[str, str] = {}
        if self.computed and over is not None:
            replaced = elements.replaced(self.tree, self.value, over, template)
        elif self.computed:
            elements.obstacles.extend(elements.underivable(self.tree, self.value))
        return elements.code(self.tree, template, replaced)


def _side(tree: ast.expr | None, elements: Elements) -> _Side | None:
    """What stands on one side of a loss: selected elements of one tensor, or what is computed of each of them."""
    if tree is None:
        return None
    if isinstance(tree, ast.Call):
        elements.evaluate(tree)  # what is called in it is known then
    inner = tree
    while isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
        if (elements.scope.callee(inner) or "") not in _CASTS:
            break
        inner = inner.func.value
    if isinstance(inner, ast.Name) and inner.id in elements.bases:
        base = elements.atoms[inner.id]
        if inner is tree:
            return _Side(base, tree, elements.scope.value(base), plain=True)
        return _Side(base, tree, elements.judge(tree))
    return _computed(tree, elements)


def _computed(tree: ast.expr, elements: Elements) -> _Side | None:
    """What is computed of the selected elements of one tensor, and of numbers: it has their shape."""
    scope = elements.scope
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in elements.atoms}
    bases = sorted(used.intersection(elements.bases))
    numbers = (scope.value(elements.atoms[name]) for name in used.difference(bases))
    if len(bases) != 1 or not all(v.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) or v.ref is not None for v in numbers):
        return None
    return _Side(elements.atoms[bases[0]], tree, elements.judge(tree), computed=True)


def _allowed(loss: Loss, name: str, value: ast.expr) -> bool:
    # What a module was made with stands elsewhere: only a constant can be written here again, and a module of class
    # numbers is called itself.
    elsewhere = loss.module and loss.kind not in _CLASSES and not isinstance(value, ast.Constant)
    return name in _OPTIONS[loss.kind] and not elsewhere


def _distances(loss: Loss, mode: object, sides: Sequence[_Side], elements: Elements, template: Template) -> str:
    scope = elements.scope
    first, second = (side.base for side in sides)
    one, other = scope.value(first), scope.value(second)
    if one.shape_id is None or one.shape_id != other.shape_id:
        reason = f"`{snippet(second)}` is not proved to have the shape of `{snippet(first)}`"
        elements.obstacles.append(Obstacle(reason, "same-shape-dtype"))
    if sides[0].value.dtype != "float":
        reason = f"`{snippet(first)}` is not proved to be floating"
        elements.obstacles.append(Obstacle(reason, "same-shape-dtype"))
    over = elements.over(first, template)
    fills = (_HARMLESS.get(loss.kind, "0"), "0")
    filled = [
        f"{where(scope)}({over}, {side.code(elements, template, over)}, {fill})"
        for side, fill in zip(sides, fills, strict=True)
    ]
    options = [
        f"{name}={ast.unparse(value) if loss.module else template.use(value)}"
        for name, value in loss.options.items()
        if name != "reduction"
    ]
    function = f"{torch_name(scope)}.nn.functional.{loss.kind}" if loss.module else template.use(loss.node.func)
    single = loss.kind in _HARMLESS
    arguments = ", ".join([*filled, *options, 'reduction="none"' if single else 'reduction="sum"'])
    code = f"{function}({arguments})"
    if single:
        code = f"{where(scope)}({over}, {code}, 0).sum()"
    if mode == "sum":
        return code
    if elements.mask.broadcast:
        both = f"{template.use(elements.mask.node)}, {template.use(first)}"
        return f"{code} / {torch_name(scope)}.broadcast_tensors({both})[0].sum()"
    mask = scope.value(elements.mask.node)
    whole = (mask.shape_id is not None and mask.shape_id == one.shape_id) or (
        mask.rank is not None and mask.rank == one.rank
    )
    counted = over if isinstance(elements.mask.node, ast.Name) or not whole else f"({over})"
    return f"{code} / {counted}.sum()" if whole else f"{code} / {counted}.expand_as({template.use(first)}).sum()"


def _classes(loss: Loss, sides: Sequence[_Side], elements: Elements, template: Template) -> str | None:
    """The rows that do not count get a target that is ignored, and logits of zero, which have a gradient of zero."""
    scope = elements.scope
    logits, target = (side.base for side in sides)
    labels_value = sides[1].value
    given = loss.options.get("ignore_index")
    index = _IGNORED if given is None else _integer(given, loss, scope)
    if index is None:
        elements.obstacles.append(Obstacle("the `ignore_index` is not a constant"))
        return None
    if labels_value.dtype == "float":
        elements.obstacles.append(Obstacle("the targets are probabilities"))
        return None
    if labels_value.dtype_id != "int64":
        reason = f"`{snippet(target)}` is not proved to be int64"
        elements.obstacles.append(Obstacle(reason, "same-shape-dtype"))
    mask = scope.value(elements.mask.node)
    if elements.mask.leading or elements.mask.last or elements.mask.broadcast:
        elements.obstacles.append(Obstacle("the mask does not select rows of logits"))
        return None
    token = template.use(elements.mask.node, operand=True)
    labels = f"{where(scope)}({template.use(elements.mask.node)}, {sides[1].code(elements, template)}, {index})"
    elements.obstacles.append(
        Obstacle(f"`{snippet(logits)}` is not proved to have one dimension more than the mask", "same-shape-dtype")
    )
    scores = f"{where(scope)}({token}[..., None], {sides[0].code(elements, template)}, 0)"
    if mask.rank != 1:
        scores, labels = f"{scores}.flatten(0, -2)", f"{labels}.flatten()"
    kept = [] if loss.module else [f"{name}={template.use(value)}" for name, value in loss.options.items()]
    return f"{template.use(loss.node.func)}({', '.join([scores, labels, *kept])})"


def _integer(node: ast.expr, loss: Loss, scope: Scope) -> int | None:
    """The constant integer that an expression is; what a module was made with stands in another function."""
    if not loss.module:
        const = scope.value(node).const
        return const.value if const is not None and isinstance(const.value, int) else None
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None
