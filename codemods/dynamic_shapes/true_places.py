"""Lists of the places at which a tensor is true, and what is asked of them: the first, the last, how many there are.

`m.nonzero()` and `torch.where(m)` list them in order. What is listed is a vector of places, or a column of them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Literal

from compilefix.codemods.rule import Scope

_FLAT = ("view(-1)", "reshape(-1)", "flatten()", "flatten(0)", "ravel()", "squeeze(1)", "squeeze(-1)", "squeeze(dim=1)")
_LEAST = frozenset({"min", "amin"})
_LARGEST = frozenset({"max", "amax"})


@dataclass(frozen=True)
class Listed:
    """node: the expression. source: the tensor whose true places it lists. column: whether each is a row of its own.

    loose: whether a single place is no list any more (`squeeze()`).
    """

    node: ast.expr
    source: ast.expr
    column: bool = False
    loose: bool = False


@dataclass(frozen=True)
class Asked:
    """An expression that reads the first, the last or the only place, or how many there are.

    row: whether the place is the one element of a row. number: which place is read, where that is a number of its own.
    """

    node: ast.expr
    what: Literal["first", "last", "only", "count", "numbered"]
    row: bool = False
    number: ast.expr | None = None


def listed_places(node: ast.expr, scope: Scope) -> Listed | None:
    """What an expression lists, in its longest form: `m.nonzero().flatten()`, and not the `m.nonzero()` in it."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inner = listed_places(node.func.value, scope)
        if inner is not None:
            form = ast.unparse(node)[len(ast.unparse(node.func.value)) + 1 :]
            loose = form == "squeeze()"
            if inner.column and (loose or form in _FLAT):
                return Listed(node, inner.source, loose=loose)
            return None
    if isinstance(node, ast.Subscript):
        index = ast.unparse(node.slice).strip("()")
        tuples = _vector(node.value, scope)
        if tuples is not None and tuples[1] and index == "0":
            return Listed(node, tuples[0])
        inner = listed_places(node.value, scope)
        return Listed(node, inner.source) if inner is not None and inner.column and index == ":, 0" else None
    call = _vector(node, scope)
    return Listed(node, call[0], column=True) if call is not None and not call[1] else None


def listing_call(node: ast.AST, scope: Scope) -> tuple[ast.expr, bool] | None:
    """What a call lists the true places of, and whether it gives a tuple with a vector for each dimension."""
    if not isinstance(node, ast.Call):
        return None
    name = scope.callee(node) or ""
    options = {k.arg: ast.unparse(k.value) for k in node.keywords}
    if name in ("torch.nonzero", "torch.where", "torch.argwhere") and len(node.args) == 1:
        source = node.args[0]
    elif name in ("Tensor.nonzero", "Tensor.argwhere") and isinstance(node.func, ast.Attribute) and not node.args:
        source = node.func.value
    else:
        return None
    if not set(options) <= {"as_tuple"} or options.get("as_tuple", "True") not in ("True", "False"):
        return None
    return source, name == "torch.where" or options.get("as_tuple") == "True"


def _vector(node: ast.expr, scope: Scope) -> tuple[ast.expr, bool] | None:
    """The same for a tensor that may have one dimension."""
    call = listing_call(node, scope)
    value = scope.value(call[0]) if call is not None else None
    return call if value is not None and value.is_tensor and value.rank in (None, 1) else None


def asked_of(node: ast.expr, listed: Listed, scope: Scope) -> Asked | None:
    """What the code round a list of places, or round the name of one, asks for; None for another use."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(parent.ctx, ast.Load):
        return _item(parent, listed, scope)
    if isinstance(parent, ast.Call) and node in parent.args and len(parent.args) == 1 and not parent.keywords:
        name = scope.callee(parent) or ""
        if name == "len":
            return Asked(parent, "count") if not listed.loose else None
        module, _, bare = name.rpartition(".")
        return _extreme(parent, bare) if module == "torch" else None
    if not isinstance(parent, ast.Attribute):
        return None
    call = scope.parents.get(parent)
    if parent.attr == "shape" and isinstance(call, ast.Subscript) and ast.unparse(call.slice) == "0":
        return Asked(call, "count") if not listed.loose else None
    if not isinstance(call, ast.Call) or call.func is not parent or call.keywords:
        return None
    if not call.args:
        if parent.attr == "item":
            return Asked(node, "only")
        return Asked(call, "count") if parent.attr == "numel" else _extreme(call, parent.attr)
    counts = parent.attr == "size" and ast.unparse(call.args[0]) == "0" and not listed.loose
    return Asked(call, "count") if counts else None


def _extreme(call: ast.Call, name: str) -> Asked | None:
    """The smallest place is the first, and the largest the last."""
    if name in _LEAST:
        return Asked(call, "first")
    return Asked(call, "last") if name in _LARGEST else None


def _item(node: ast.Subscript, listed: Listed, scope: Scope) -> Asked | None:
    index = ast.unparse(node.slice).strip("()")
    what = {"0": "first", "-1": "last", "0, 0": "first", "-1, 0": "last"}.get(index)
    if what is None and not listed.loose and (isinstance(node.slice, ast.Name) or index.isdecimal()):
        return _numbered(node, listed, scope)
    if what is None or listed.loose or ("," in index) > listed.column:
        return None
    kind: Literal["first", "last"] = "first" if what == "first" else "last"
    if not listed.column or "," in index:
        return Asked(node, kind)
    above = scope.parents.get(node)
    if isinstance(above, ast.Subscript) and above.value is node and isinstance(above.ctx, ast.Load):
        return Asked(above, kind) if ast.unparse(above.slice) == "0" else None
    return Asked(node, kind, row=True)


def _numbered(node: ast.Subscript, listed: Listed, scope: Scope) -> Asked:
    """The place of a number: `places[1]`, `places[k]`; the one element of a row that only `item()` reads is no row."""
    above = scope.parents.get(node)
    if listed.column and isinstance(above, ast.Subscript) and above.value is node and ast.unparse(above.slice) == "0":
        return Asked(above, "numbered", number=node.slice)
    read = isinstance(above, ast.Attribute) and above.attr == "item"
    return Asked(node, "numbered", row=listed.column and not read, number=node.slice)
