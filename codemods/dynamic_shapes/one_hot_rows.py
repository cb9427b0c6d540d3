"""One row of each that a one-hot mask selects, as an index along the dimension of the classes.

    best = x[F.one_hot(score.argmax(-1), num_classes=4) > 0.5, :]     # (..., 4, features) becomes (rows, features)

A one-hot vector has one place, so that the result has one row for each index.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of

_TESTS: dict[type[ast.cmpop], frozenset[float]] = {
    ast.Gt: frozenset({0, 0.5}),
    ast.NotEq: frozenset({0}),
    ast.Eq: frozenset({1}),
}
_EXTREMES = frozenset({"argmax", "argmin"})


@dataclass(frozen=True)
class OneHotRows:
    """node: the selection. tensor: what is selected from. index: the classes. dims: code for their dimensions."""

    node: ast.Subscript
    tensor: ast.expr
    index: ast.expr
    dims: str


def one_hot_rows(node: ast.Subscript, scope: Scope) -> OneHotRows | None:
    """The selection by a one-hot mask that an index begins with, from a tensor that has a name."""
    parts = elements_of(node.slice)
    named = isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name)
    if not parts or not named or not all(map(_is_full, parts[1:])):
        return None
    index = _classes(parts[0], scope)
    dims = _dimensions(index, scope) if index is not None else None
    if index is None or dims is None or not scope.value(node.value).is_tensor:
        return None
    return OneHotRows(node, node.value, index, dims)


def rows_code(found: OneHotRows, template: Template, scope: Scope) -> str:
    """The code that takes the rows; what is not proved is noted."""
    tensor = template.use(found.tensor)
    reason = f"an index in `{snippet(found.index)}` may be negative or too large, for which `one_hot` raises"
    template.refuse([Obstacle(reason, "index-in-range")])
    reason = f"`{snippet(found.tensor)}` is not proved to have a row for each class of each index"
    template.refuse([Obstacle(reason, "same-shape-dtype")])
    dims = found.dims if isinstance(found.index, ast.Name) else f"({found.dims})"
    aligned = f"{template.use(found.index, operand=True)}[(...,) + (None,) * ({tensor}.dim() - {dims})]"
    # Dynamo compiles `take_along_dim` again for each new size of the other dimensions.
    rows = f"{tensor}.gather({found.dims}, {aligned}.expand_as({tensor}.narrow({found.dims}, 0, 1)))"
    follows = scope.parents.get(found.node)
    reshaped = isinstance(follows, ast.Attribute) and follows.attr == "reshape"
    return rows if reshaped else f"{rows}.flatten(0, {found.dims})"


def _classes(mask: ast.expr, scope: Scope) -> ast.expr | None:
    """The index of `one_hot(index, n) > 0.5`, `one_hot(index, n).bool()`."""
    if isinstance(mask, ast.Compare) and len(mask.ops) == 1:
        number = scope.value(mask.comparators[0]).const
        if number is None or number.value not in _TESTS.get(type(mask.ops[0]), ()):
            return None
        call = mask.left
    elif isinstance(mask, ast.Call) and isinstance(mask.func, ast.Attribute):
        to = mask.func.attr == "to" and [ast.unparse(a) for a in mask.args] == ["torch.bool"]
        if mask.keywords or not (to or (mask.func.attr == "bool" and not mask.args)):
            return None
        call = mask.func.value
    else:
        return None
    if not isinstance(call, ast.Call) or scope.callee(call) != "torch.nn.functional.one_hot" or not call.args:
        return None
    classes = call.args[1] if len(call.args) == 2 else next((k.value for k in call.keywords), None)
    const = scope.value(classes).const if classes is not None else None
    if classes is None or (const is not None and const.value == -1) or len(call.args) + len(call.keywords) != 2:
        return None
    return call.args[0]


def _dimensions(index: ast.expr, scope: Scope) -> str | None:
    """Code for the number of dimensions of `index`, or of `x.argmax(-1)`."""
    if isinstance(index, ast.Name):
        return f"{index.id}.dim()" if scope.value(index).is_tensor else None
    if not isinstance(index, ast.Call) or not isinstance(index.func, ast.Attribute):
        return None
    owner, _, name = (scope.callee(index) or "").rpartition(".")
    given = list(index.args)
    source = given.pop(0) if owner == "torch" and given else index.func.value
    dims = [*given, *(k.value for k in index.keywords if k.arg == "dim")]
    if name not in _EXTREMES or owner not in ("torch", "Tensor") or not isinstance(source, ast.Name):
        return None
    if len(dims) != 1 or len(given) + len(index.keywords) != 1:
        return None
    number = scope.value(dims[0]).const  # without one it may be None, and then all elements are one row
    return f"{source.id}.dim() - 1" if number is not None and isinstance(number.value, int) else None


def _is_full(part: ast.expr) -> bool:
    full = isinstance(part, ast.Slice) and part.lower is part.upper is part.step is None
    return full or (isinstance(part, ast.Constant) and part.value is Ellipsis)
