"""Operations on the last dimension: they treat each selected row by itself, where a row has a dimension of its own."""

from __future__ import annotations

import ast
from collections.abc import Callable

from compilefix.analysis.values import Const
from compilefix.codemods.rule import Scope

_REDUCE = frozenset({"sum", "mean", "prod", "amax", "amin", "any", "all", "norm", "vector_norm", "logsumexp"})
_REDUCE |= frozenset({"argmax", "argmin"})
_KEEP = frozenset({"softmax", "log_softmax", "normalize", "cumsum"})
DEGREE_ONE = frozenset({"sum", "mean", "amax", "amin", "logsumexp", "norm", "vector_norm"})
"""Reductions of rows whose derivative is finite where all numbers of a row are the same."""
_NORMS = frozenset({"norm", "vector_norm"})
_ALONG = {
    "gather": 0, "take_along_dim": 1, "cumsum": 0, "cumprod": 0, "logcumsumexp": 0, "cat": 0, "concat": 0, "stack": 0,
    "chunk": 1, "split": 1, "unbind": 0, "sort": 0, "argsort": 0, "argmax": 0, "argmin": 0, "max": 0, "min": 0,
    "sum": 0, "mean": 0, "prod": 0, "amax": 0, "amin": 0, "any": 0, "all": 0, "logsumexp": 0, "softmax": 0,
    "log_softmax": 0, "unsqueeze": 0, "squeeze": 0, "flip": 0, "topk": 1, "norm": 1, "vector_norm": 1,
}  # fmt: skip
"""Operations along one dimension: the position of the dimension behind the tensor."""
_LAST_BY_DEFAULT = frozenset({"sort", "argsort", "topk"})
_PLACES = ("torch.", "torch.nn.functional.", "torch.linalg.", "Tensor.")


def row_operation(node: ast.Call, name: str, scope: Scope) -> str | None:
    """What an operation does with the last dimension: "reduced" takes it away, "kept" keeps it; None for others.

    The tensor is the receiver or the first argument; the other arguments are constants. One on the second dimension is
    told too: that is the last one of rows that a mask selected, where they have one dimension.
    """
    place, _, short = name.rpartition(".")
    if f"{place}." not in _PLACES or short not in _REDUCE | _KEEP:
        return None
    given = list(node.args if place == "Tensor" else node.args[1:])
    keywords = {k.arg: k.value for k in node.keywords}
    own = {"p", "ord", "eps"} if short in _NORMS | {"normalize"} else set()
    if not set(keywords) <= {"dim", "axis", "keepdim"} | own:
        return None
    if short in _NORMS | {"normalize"} and given:
        given.pop(0)  # which norm
    if len(given) > 1 or (given and {"dim", "axis"} & set(keywords)):
        return None
    dim = dimension(node, name)
    const = scope.value(dim).const if dim is not None else None
    if const is None or const.value not in (-1, 1) or isinstance(const.value, bool):
        return None
    keepdim = keywords.get("keepdim")
    if keepdim is None or (isinstance(keepdim, ast.Constant) and keepdim.value is False):
        return "reduced" if short in _REDUCE else "kept"
    return "kept" if isinstance(keepdim, ast.Constant) and keepdim.value is True else None


def dimension(node: ast.Call, name: str) -> ast.expr | None:
    """The dimension that such an operation is told to go along."""
    place, _, short = name.rpartition(".")
    given = list(node.args if place == "Tensor" else node.args[1:])
    if short in _NORMS | {"normalize"}:
        given = given[1:]  # which norm
    keywords = {k.arg: k.value for k in node.keywords}
    return given[0] if given else keywords.get("dim", keywords.get("axis"))


def along_last(node: ast.Call, name: str, const: Callable[[ast.expr], Const | None]) -> bool:
    """Whether an operation goes along the last dimension of what it is given, and touches no other.

    `const` tells the constant that an expression is proved to be.
    """
    place, _, short = name.rpartition(".")
    if f"{place}." not in _PLACES:
        return False
    given = list(node.args if place == "Tensor" else node.args[1:])
    keywords = {k.arg: k.value for k in node.keywords}
    if short == "pad":
        widths = given[0] if given else keywords.get("pad")
        mode = given[1] if len(given) > 1 else keywords.get("mode")
        known = const(mode) if mode is not None else Const("constant")
        one = isinstance(widths, ast.Tuple | ast.List) and len(widths.elts) == 2
        return one and known == Const("constant")
    if short == "searchsorted":
        return "sorter" not in keywords
    if short not in _ALONG or "out" in keywords:
        return False
    position = _ALONG[short]
    dim = given[position] if len(given) > position else keywords.get("dim", keywords.get("axis", keywords.get("dims")))
    if dim is None:
        return short in _LAST_BY_DEFAULT
    known = const(dim)
    return known is not None and known.value == -1 and not isinstance(known.value, bool)
