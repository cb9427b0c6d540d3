"""The inverse of a permutation of dimensions, `np.argsort(order)`, which `sorted` gives in Python.

back = list(np.argsort(order))        back = sorted(range(len(order)), key=order.__getitem__)
return x.permute(back)                return x.permute(back)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Fix
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

_ASSUMED = "static-shape-values"
_OTHERS = frozenset({"dict", "set", "frozenset"})


@dataclass(frozen=True)
class SortedPlaces:
    """The expression that lists the places, what is sorted, `tuple` where that is made, and whether it gets a name.

    same: whether Python integers are listed before, too: by `tolist`.
    """

    node: ast.expr
    ordered: ast.Name | ast.Attribute
    made: str
    same: bool


def sorted_places(node: ast.expr, scope: Scope) -> SortedPlaces | None:
    """What torch is given as dimensions, where it is the order of a Python list: itself, or by the name that it has."""
    if any(scope.local_name(name) or scope.names(name, stores=True) for name in ("sorted", "range", "len")):
        return None
    if not isinstance(node, ast.Name):
        return _listed(node, scope)
    given = scope.only_value(node.id)
    return None if given is None else _listed(given, scope)


def _listed(node: ast.expr, scope: Scope) -> SortedPlaces | None:
    """`list(np.argsort(order))`, `tuple(...)`, `np.argsort(order).tolist()`, and `np.argsort(order)` behind a star."""
    if not isinstance(node, ast.Call):
        return None
    name = scope.callee(node) or ""
    if name in ("list", "tuple") and len(node.args) == 1 and not node.keywords:
        ordered = _argsort(node.args[0], scope)
        return SortedPlaces(node, ordered, name, same=False) if ordered is not None else None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "tolist" and not node.args:
        ordered = _argsort(node.func.value, scope)
        return SortedPlaces(node, ordered, "list", same=True) if ordered is not None else None
    ordered = _argsort(node, scope) if isinstance(scope.parents.get(node), ast.Starred) else None
    return SortedPlaces(node, ordered, "list", same=False) if ordered is not None else None


def _argsort(node: ast.expr, scope: Scope) -> ast.Name | ast.Attribute | None:
    """What `np.argsort` is given, if it may be a list or tuple of integers and can be read twice."""
    if not isinstance(node, ast.Call) or scope.callee(node) != "numpy.argsort" or len(node.args) != 1 or node.keywords:
        return None
    ordered = node.args[0]
    if not isinstance(ordered, ast.Name | ast.Attribute):
        return None
    value = scope.value(ordered)
    plain = value.is_unknown or (value.is_(Kind.CONTAINER) and value.ref not in _OTHERS)
    return ordered if plain else None


def sorted_fix(found: SortedPlaces, scope: Scope) -> Fix | str:
    """The places in order, with what is not proved of the numbers; or why they cannot be written so."""
    template, shown = Template(), snippet(found.ordered)
    template.refuse(scope.legality.computed_again(found.ordered, scope.facts))
    if template.broken is not None:
        return template.broken
    if not _is_written_out(found.ordered, scope):
        reason = f"`{shown}` is not proved to be a list of integers in which none stands twice"
        template.refuse([Obstacle(reason, _ASSUMED)])
    if not found.same and not isinstance(scope.parents.get(found.node), ast.Call | ast.Starred):
        template.refuse([Obstacle(f"`{snippet(found.node)}` holds NumPy's integers, which become Python's", _ASSUMED)])
    ordered = template.use(found.ordered)
    code = f"sorted(range(len({ordered})), key={ordered}.__getitem__)"
    code = f"tuple({code})" if found.made == "tuple" else code
    return Fix((scope.edit(found.node, code, **template.parts),), (), template.assumptions, template.reasons)


def _is_written_out(ordered: ast.expr, scope: Scope) -> bool:
    """Whether it is a tuple of different integers, as it stands in the code."""
    made = scope.only_value(ordered.id) if isinstance(ordered, ast.Name) else None
    given = (parameter.arg for parameter in scope.function.parameters)
    if not isinstance(made, ast.Tuple) or (isinstance(ordered, ast.Name) and ordered.id in given):
        return False
    known = [item.value for item in made.elts if isinstance(item, ast.Constant) and type(item.value) is int]
    return len(set(known)) == len(made.elts)
