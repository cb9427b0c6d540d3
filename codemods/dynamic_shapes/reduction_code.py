"""The code that makes one number of all elements, with those that a mask does not select made to count for nothing."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from compilefix.analysis import torch_api
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Value
from compilefix.codemods.dynamic_shapes.counts import count_uses, deciding_branch
from compilefix.codemods.dynamic_shapes.element_calls import CONVERSIONS, ELEMENT_LOSSES, ROWS
from compilefix.codemods.dynamic_shapes.losses import loss_code
from compilefix.codemods.dynamic_shapes.masks import boolean
from compilefix.codemods.dynamic_shapes.reductions import COUNTS, Reduction, countable, spread_of, takes_lines
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name, where
from compilefix.source.snippets import snippet


def reduction_code(found: Reduction, elements: Elements, template: Template) -> str | None:
    """Code for a reduction over all elements; None, with an obstacle noted, where there is none."""
    scope = elements.scope
    if found.kind in COUNTS:
        elements.obstacles.extend(deciding_branch(found.node, scope))
        unproved = boolean(found.mask.node, scope)
        if found.counted and unproved:  # what is not zero is listed, whatever the numbers are
            elements.obstacles[:] = [obstacle for obstacle in elements.obstacles if obstacle not in unproved]
            elements.obstacles.extend(count_uses(found.node, scope, raised=True))
            return f"{torch_name(scope)}.count_nonzero({template.use(found.mask.node)})"
        elements.obstacles.extend(count_uses(found.node, scope, raised=True))
        if found.mask.broadcast:
            if _taken(found, elements) is None:
                return None
            return _count("", elements.atoms[elements.bases[0]], elements, template)
        if found.counted or found.kind in ("len", "shape", "size"):
            if not found.counted:
                if _taken(found, elements) is None:
                    return None
                elements.must_fit(elements.atoms[elements.bases[0]])
            if unproved:  # a list of rows to take raises here, and its sum would be no count
                return f"{where(scope)}({template.use(found.mask.node)}, 1, 0).sum()"
            return f"{template.use(found.mask.node, operand=True)}.sum()"
    if found.loss is not None:
        return loss_code(found.loss, elements, template)
    elements.places = found.kind in _WITH_PLACES and not found.rows and not elements.kept
    tree = _taken(found, elements)
    if tree is None:
        return None
    value = elements.judge(tree)
    plain = list(_as_large(tree, elements))
    first = elements.atoms[plain[0] if plain else elements.bases[0]]
    if found.kind == "bincount":
        return _histogram(found, tree, value, elements, template)
    rows = bool(elements.row_bases)
    if _adds_dimensions(tree, elements) if rows else not plain:
        return _named(found, tree, value, elements, template)
    over = template.use(elements.mask.node) if rows else elements.over(first, template)
    for text in elements.bases:
        one, other = scope.value(first), scope.value(elements.atoms[text])
        if text != ast.unparse(first) and (one.shape_id is None or one.shape_id != other.shape_id):
            part = _is_part(first, elements.atoms[text]) or _is_part(elements.atoms[text], first)
            kind = "has another shape than" if part else "is not proved to have the shape of"
            reason = f"`{text}` {kind} `{snippet(first)}`"
            elements.obstacles.append(Obstacle(reason, None if part else "same-shape-dtype"))
    if found.kind in COUNTS and rows:
        return f"{template.use(elements.mask.node, operand=True)}.sum()"
    if found.kind in COUNTS:
        bare = isinstance(elements.mask.node, ast.Name) or "(" in over or "[" in over
        code = over if bare else template.use(elements.mask.node, operand=True)
        return f"{code}.expand_as({template.use(first)}).sum()"
    replaced = elements.replaced(tree, value, over, template)
    code = elements.code(tree, template, replaced)
    return _reduced(found, code, value, over, first, elements, template)


def _is_part(node: ast.expr, of: ast.expr) -> bool:
    """Whether an expression is a stretch of another one: both sides of a choice cannot have one shape then."""
    return isinstance(node, ast.Subscript) and ast.dump(node.value) == ast.dump(of)


def _taken(found: Reduction, elements: Elements) -> ast.expr | None:
    """The tree for what is reduced; None where no selected elements stand in it, but only a number made of them."""
    tree = elements.take(found.source)
    if tree is not None and not elements.bases:
        elements.obstacles.append(Obstacle(f"`{snippet(found.source)}` is one number made of the selected elements"))
        return None
    return tree


def _as_large(tree: ast.expr, elements: Elements) -> Iterator[str]:
    """The bases with as many dimensions, and as long ones, as what is made of them: element by element."""
    if isinstance(tree, ast.Name):
        if tree.id in elements.bases and tree.id not in elements.row_bases:
            yield tree.id
    elif isinstance(tree, ast.IfExp):
        if any(_as_large(tree.orelse, elements)):  # then they have one shape, or it is assumed
            yield from _as_large(tree.body, elements)
    elif isinstance(tree, ast.BinOp | ast.UnaryOp | ast.Compare):
        for part in ast.iter_child_nodes(tree):
            if isinstance(part, ast.expr):
                yield from _as_large(part, elements)
    elif isinstance(tree, ast.Call):
        name = elements.scope.callee(tree) or ""
        short = name.rpartition(".")[2]
        method = name.startswith("Tensor.")
        api = torch_api.method(short) if method else torch_api.function(name)
        if (api is not None and api.pointwise) or short in _AS_LARGE or name in ELEMENT_LOSSES:
            own = [tree.func.value] if method and isinstance(tree.func, ast.Attribute) else []
            for part in (*own, *tree.args, *(k.value for k in tree.keywords)):
                yield from _as_large(part, elements)


_WITH_PLACES = frozenset({"sum", "mean", "max", "min", "any", "all"})
_AS_LARGE = CONVERSIONS | {"softmax", "log_softmax", "normalize", "cumsum"}


def _adds_dimensions(tree: ast.expr, elements: Elements) -> bool:
    """Whether what is made of rows may have another number of dimensions than the mask."""
    if any(obstacle.assumption == ROWS for obstacle in elements.obstacles):
        return True
    calls = (n for n in elements.outside_rows(tree) if isinstance(n, ast.Call | ast.Subscript))
    return any(
        isinstance(n, ast.Subscript)
        or (elements.scope.callee(n) or "").rpartition(".")[2] == "unsqueeze"
        or any(k.arg == "keepdim" for k in n.keywords)
        for n in calls
    )


def _named(found: Reduction, tree: ast.expr, value: Value, elements: Elements, template: Template) -> str | None:
    """What is made of all elements gets a name: only then can the mask be laid over it."""
    mask = found.mask
    plain = not (mask.leading or mask.last or mask.broadcast) and isinstance(mask.node, ast.Name)
    if not takes_lines(found.node, elements.scope) or not plain or found.kind in COUNTS:
        elements.obstacles.append(Obstacle("the size of what is made of the selected elements is not known"))
        return None
    assert isinstance(mask.node, ast.Name)
    name = free_name("values", elements.scope)
    replaced = elements.replaced(tree, value, template.use(mask.node), template)
    if replaced:
        elements.obstacles.append(Obstacle("the derivative may not be finite for elements that are not selected"))
        return None
    elements.named.append(f"{name} = {elements.code(tree, template, replaced)}")
    over = f"{mask.node.id}[(...,) + (None,) * ({name}.dim() - {mask.node.id}.dim())]"
    elements.over_codes.append(over)
    reason = f"`{mask.node.id}` is not proved to have the first dimensions of what is made of all elements"
    elements.obstacles.append(Obstacle(reason, "same-shape-dtype"))
    return _reduced(found, name, value, over, ast.Name(name, ast.Load()), elements, template)


def _histogram(found: Reduction, tree: ast.expr, value: Value, elements: Elements, template: Template) -> str | None:
    """Each selected element adds one to the number of its class, and the others add nothing to that of class zero."""
    scope, mask = elements.scope, elements.mask
    keywords = {k.arg: k.value for k in found.node.keywords} if isinstance(found.node, ast.Call) else {}
    length = keywords.get("minlength")
    if length is None or mask.leading or mask.last or mask.broadcast or elements.row_bases or value.dtype == "float":
        elements.obstacles.append(Obstacle("the classes are not counted one by one"))
        return None
    for text in elements.bases:
        shape = scope.value(elements.atoms[text]).shape_id
        if shape is None or shape != scope.value(mask.node).shape_id:
            reason = f"`{snippet(mask.node)}` is not proved to have the shape of `{text}`"
            elements.obstacles.append(Obstacle(reason, "same-shape-dtype"))
    elements.obstacles.extend(countable(found.source, length, replace(value, rank=1)))
    torch, kept = torch_name(scope), template.use(mask.node, operand=True)
    index = f"{where(scope)}({template.use(mask.node)}, {elements.code(tree, template, {})}, 0)"
    index += ".flatten()" if value.dtype_id == "int64" else ".flatten().long()"
    device = template.use(elements.atoms[elements.bases[0]], operand=True)
    counts = f"{torch}.zeros({template.use(length)}, dtype={torch}.int64, device={device}.device)"
    return f"{counts}.scatter_add_(0, {index}, {kept}.flatten().long())"


def _reduced(
    found: Reduction, code: str, value: Value, over: str, first: ast.expr, elements: Elements, template: Template
) -> str | None:
    kind = found.kind
    select = f"{where(elements.scope)}({over}, {code}, {{fill}})"
    if kind in ("any", "all"):
        fill = str(kind == "all") if value.dtype == "bool" else str(int(kind == "all"))
        return f"{select.replace('{fill}', fill)}.{kind}()"
    if kind in ("max", "min"):
        if value.dtype != "float":
            reason = f"`{snippet(first)}` is not proved to be floating: no number is below all of its dtype's"
            whole = value.dtype is not None or _as_size(found.node, elements.scope)
            elements.obstacles.append(Obstacle(reason, None if whole else "same-shape-dtype"))
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
    if kind in ("std", "var"):
        return _spread(found, code, value, select, _count(over, first, elements, template), elements)
    if found.rows or (elements.row_bases and not elements.named):
        return f"{total} / {template.use(found.mask.node, operand=True)}.sum()"
    return f"{total} / {_count(over, first, elements, template)}"


def _as_size(node: ast.expr, scope: Scope) -> bool:
    """Whether a number stands where sizes do, so that it is a whole one: in `view` and `zeros`, as a slice's bound."""
    child: ast.AST = node
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Tuple | ast.List):
        child, parent = parent, scope.parents.get(parent)
    if isinstance(parent, ast.Slice):
        return True
    if not isinstance(parent, ast.Call) or child not in parent.args:
        return False
    return (scope.callee(parent) or ast.unparse(parent.func)).rpartition(".")[2].removeprefix("new_") in _SIZED


_SIZED = frozenset(
    {
        "view",
        "reshape",
        "expand",
        "repeat",
        "range",
        "arange",
        "zeros",
        "ones",
        "empty",
        "rand",
        "randn",
        "eye",
        "sample",
        "rsample",
    }
)


def _spread(found: Reduction, code: str, value: Value, select: str, count: str, elements: Elements) -> str | None:
    """The variance or standard deviation: the mean gets a name before it."""
    if elements.row_bases or elements.named or not isinstance(found.node, ast.Call):
        elements.obstacles.append(Obstacle(f"`{snippet(found.node)}` is not made of the elements one by one"))
        return None
    if value.dtype == "complex":
        elements.obstacles.append(Obstacle("the variance of complex numbers is real"))
    spread = spread_of(found.node, elements.scope)
    assert spread is not None
    short, _, less = spread
    elements.obstacles.append(Obstacle(f"`{short}` warns of fewer than two elements", "mask-not-empty"))
    if short == "std" and value.leaves:
        reason = f"`{snippet(found.node)}` has a gradient of zero where all elements are equal, and a root has none"
        elements.obstacles.append(Obstacle(reason, "finite-derivative"))
    mean = free_name("mean", elements.scope)
    elements.before.append(f"{mean} = {select.replace('{fill}', '0')}.sum() / {count}")
    away = select.replace(f", {code}, ", f", {code} - {mean}, ", 1).replace("{fill}", "0")
    degrees = f"({count} - 1).clamp(min=0)" if less else count
    variance = f"{away}.square().sum() / {degrees}"
    if short == "var":
        return variance
    name = free_name("variance", elements.scope)
    elements.before.append(f"{name} = {variance}")
    return f"{name}.sqrt()"


def _count(over: str, tensor: ast.expr, elements: Elements, template: Template) -> str:
    """Code for the number of selected elements of a tensor."""
    scope, mask = elements.scope, elements.mask
    if mask.broadcast:
        both = f"{template.use(mask.node)}, {template.use(tensor)}"
        return f"{torch_name(scope)}.broadcast_tensors({both})[0].sum()"
    if elements.named:
        return f"{over}.expand_as({ast.unparse(tensor)}).sum()"
    same = scope.value(mask.node).shape_id
    whole = same is not None and same == scope.value(tensor).shape_id
    rank = scope.value(mask.node).rank
    whole = whole or (rank is not None and rank == scope.value(tensor).rank)
    code = over if isinstance(mask.node, ast.Name) or "(" in over else template.use(mask.node, operand=True)
    return f"{code}.sum()" if whole else f"{code}.expand_as({template.use(tensor, operand=True)}).sum()"
