"""Methods whose name promises a Python number."""

from __future__ import annotations

from compilefix.source.definitions import Function


def number_promised(function: Function) -> str | None:
    """Why a method must give a Python number and no tensor; None where its name promises none."""
    name = function.node.name
    if function.cls is None:
        return None
    if name in _ASKED_BY_PYTHON:
        return f"Python asks `{name}` for a number or a truth, and a tensor is none"
    if name in _ASKED_OF_TENSORS:
        return f"`{name}()` is how a tensor is asked for a Python number, and who calls it here expects one too"
    return None


_ASKED_BY_PYTHON = frozenset(
    {
        "__bool__",
        "__complex__",
        "__contains__",
        "__eq__",
        "__float__",
        "__ge__",
        "__gt__",
        "__hash__",
        "__index__",
        "__int__",
        "__le__",
        "__len__",
        "__length_hint__",
        "__lt__",
        "__ne__",
    }
)
_ASKED_OF_TENSORS = frozenset({"item", "tolist", "numpy"})
