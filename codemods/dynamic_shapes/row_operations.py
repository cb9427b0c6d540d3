"""Operations on the last dimension: they treat each selected row by itself, where a row has a dimension of its own."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope

_REDUCE = frozenset({"sum", "mean", "prod", "amax", "amin", "any", "all", "norm", "vector_norm", "logsumexp"})
_KEEP = frozenset({"softmax", "log_softmax", "normalize", "cumsum"})
DEGREE_ONE = frozenset({"sum", "mean", "amax", "amin", "logsumexp", "norm", "vector_norm"})
"""Reductions of rows whose derivative is finite where all numbers of a row are the same."""
_NORMS = frozenset({"norm", "vector_norm"})
_PLACES = ("torch.", "torch.nn.functional.", "torch.linalg.", "Tensor.")


def row_operation(node: ast.Call, name: str, scope: Scope) -> str | None:
    """What an operation does with the last dimension: "reduced" takes it away, "kept" keeps it; None for others.

    The tensor is the receiver or the first argument; the other arguments are constants.
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
    dim = given[0] if given else keywords.get("dim", keywords.get("axis"))
    const = scope.value(dim).const if dim is not None else None
    if const is None or const.value != -1 or isinstance(const.value, bool):
        return None
    keepdim = keywords.get("keepdim")
    if keepdim is None or (isinstance(keepdim, ast.Constant) and keepdim.value is False):
        return "reduced" if short in _REDUCE else "kept"
    return "kept" if isinstance(keepdim, ast.Constant) and keepdim.value is True else None
