"""What callers pass to parameters of which a function's own code says nothing.

In code without annotations often only a caller knows that an argument is a tensor. A caller seen to pass one is
evidence, no proof: another may pass a number. So such a value is never certain, and has no dtype, rank or shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from compilefix.analysis import values
from compilefix.analysis.values import ANY_LEAF, ANY_MEMORY, NONE, Kind, Value, join, replace
from compilefix.source.index import Class, Function, Project

_TENSOR = values.tensor(certain=False)
_ITEM = values.tensor(certain=False, storage=frozenset({ANY_MEMORY}), leaves=frozenset({ANY_LEAF}))
_MAYBE_TENSOR = frozenset({Kind.TENSOR, Kind.NONE})


class Hints:
    """The parameters that some caller passes a tensor, or a container of tensors; of several callers the first counts.

    What is passed to a method is passed to the methods that override it as well.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._found: dict[Function, dict[str, Value]] = {}
        self._overriding: dict[Function, dict[Function, None]] = {}

    def add(self, function: Function, arguments: Mapping[str, Value]) -> Iterable[Function]:
        """Note the arguments of a call. Gives the functions of which this says more than was known before."""
        unannotated = {p.arg for p in function.parameters if p.annotation is None}
        known = self._found.get(function, {})
        new = {
            name: hint
            for name, value in arguments.items()
            if name in unannotated and name not in known and (hint := _hint(value)) is not None
        }
        if not new:
            return ()
        self._found[function] = known | new
        return (function, *self._overriding.get(function, ()))

    def of(self, function: Function) -> Mapping[str, Value]:
        """What is passed to the function, or to a method that it overrides, by the names of its parameters."""
        found = self._found.get(function, {})
        if function.cls is None or function.parent is not None:
            return found
        name = function.node.name
        if name.startswith("__") and name != "__call__":
            return found
        for base in self._project.ancestors(function.cls)[1:]:
            method = base.methods.get(name) if isinstance(base, Class) else None
            if method is not None:
                self._overriding.setdefault(method, {})[function] = None
                found = self._found.get(method, {}) | found
        return found


def _hint(value: Value) -> Value | None:
    """What an argument says about the parameter, None where that is nothing."""
    if Kind.TENSOR in value.kinds and value.kinds <= _MAYBE_TENSOR:
        return _TENSOR if value.is_tensor else join(_TENSOR, NONE)
    if value.is_(Kind.CONTAINER) and value.element is not None and value.element.is_tensor:
        return replace(values.container(_ITEM, ref="dict" if value.ref == "dict" else None), certain=False)
    return None
