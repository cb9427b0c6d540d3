"""One-hot vectors of which only the first `k` places are kept: `one_hot(index, max(largest + 1, k))[..., :k]`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.definitions import definition_of
from compilefix.codemods.rule import Scope


@dataclass(frozen=True)
class FirstPlaces:
    """The first places of one-hot vectors.

    node: the whole expression. index: the class numbers. places: how many places are kept. given: the number of
    classes as it is passed. definition: the statement that computed it, where nothing else uses its name.
    """

    node: ast.Subscript
    index: ast.expr
    places: ast.expr
    given: ast.expr
    definition: ast.Assign | None


def first_places(node: ast.Call, scope: Scope) -> FirstPlaces | None:
    """What a call of `one_hot` is part of, where it is given at least as many classes as are kept."""
    outer = scope.parents.get(node)
    if not isinstance(outer, ast.Subscript) or outer.value is not node or not isinstance(outer.ctx, ast.Load):
        return None
    if scope.callee(node) != "torch.nn.functional.one_hot":
        return None
    keywords = {k.arg: k.value for k in node.keywords}
    arguments = dict(zip(("tensor", "num_classes"), node.args, strict=False)) | keywords
    if set(arguments) - {"tensor", "num_classes", "input"} or len(arguments) != 2 or "num_classes" not in arguments:
        return None
    classes = arguments.pop("num_classes")
    (index,) = arguments.values()
    places = _kept(outer.slice)
    if places is None:
        return None
    definition = definition_of(classes, scope.statement(node), scope)
    given = definition.value if definition is not None else classes
    if not _covers(given, places, scope) or not _stays(places, scope):
        return None
    assert isinstance(given, ast.Call)
    if all(scope.value(a).is_(Kind.STATIC, Kind.SIZE) for a in given.args):
        return None  # nothing is read from a tensor
    uses = scope.names(classes.id) if isinstance(classes, ast.Name) else []
    return FirstPlaces(outer, index, places, given, definition if len(uses) == 1 else None)


def _kept(index: ast.expr) -> ast.expr | None:
    """`k` in the index `[..., :k]`."""
    if not isinstance(index, ast.Tuple) or len(index.elts) != 2:
        return None
    first, last = index.elts
    if not isinstance(first, ast.Constant) or first.value is not Ellipsis or not isinstance(last, ast.Slice):
        return None
    return last.upper if last.lower is last.step is None else None


def _covers(classes: ast.expr, places: ast.expr, scope: Scope) -> bool:
    """Whether the number of classes is the larger one of some numbers of which `places` is one."""
    return (
        isinstance(classes, ast.Call)
        and scope.callee(classes) == "max"
        and not classes.keywords
        and len(classes.args) > 1
        and any(ast.dump(a) == ast.dump(places) for a in classes.args)
    )


def _stays(places: ast.expr, scope: Scope) -> bool:
    """Whether the number is the same wherever it stands in the function: a constant, or a name with one value."""
    if isinstance(places, ast.Name):
        given = scope.function.takes(places.id)
        return len(scope.names(places.id, stores=True)) == (0 if given else 1)
    return isinstance(places, ast.Constant)
