"""NumPy's draws of random numbers: which of them break the graph where they are drawn."""

from __future__ import annotations

import ast

from compilefix.analysis.builtin_calls import NUMPY_DRAWS, NUMPY_GENERATORS, draws_one

_NOT_DRAWS = frozenset({"seed", "get_state", "set_state"})


def breaks_when_drawn(node: ast.Call, name: str) -> str | None:
    """The graph-break id of a call of `numpy.random`; None where it is traced, and where it is no draw."""
    if not name.startswith("numpy.random."):
        return None
    if name.rpartition(".")[0] in NUMPY_GENERATORS:
        return "GB0156"
    short = name.removeprefix("numpy.random.")
    if "." in short or short in _NOT_DRAWS or short[:1].isupper():
        return None
    if short == "choice":
        return "GB0033"
    if short not in NUMPY_DRAWS:
        return "GB0294"
    return "GB0033" if draws_one(short, len(node.args), [k.arg for k in node.keywords]) else None
