"""What callers pass to parameters of which a function's own code says nothing, or something else.

In code without annotations often only a caller knows that an argument is a tensor. A caller seen to pass one is
evidence, no proof: another may pass a number. So such a value is never certain, and has no dtype, rank or shape. A
parameter declared as a number, or as a number or a tensor, may be either where a caller passes a tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from compilefix.analysis import values
from compilefix.analysis.annotations import annotated
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
        annotations = {p.arg: p.annotation for p in function.parameters}
        known = self._found.get(function, {})
        new = {
            name: hint
            for name, value in arguments.items()
            if name in annotations
            and name not in known
            and (hint := self._hint(value, annotations[name], function)) is not None
        }
        if not new:
            return ()
        self._found[function] = known | new
        return (function, *self._overriding.get(function, ()))

    def _hint(self, value: Value, annotation: ast.expr | None, function: Function) -> Value | None:
        if annotation is None:
            return _hint(value)
        if not (value.is_tensor or value.sometimes_tensor):
            return None
        declared = annotated(annotation, function.module, self._project)
        return _TENSOR if declared.declared or _is_number(declared) else None

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


def _is_number(declared: Value) -> bool:
    return declared.is_(Kind.STATIC, Kind.NONE) and declared.dtype in ("int", "float")


def _hint(value: Value) -> Value | None:
    """What an argument says about the parameter, None where that is nothing."""
    if Kind.TENSOR in value.kinds and value.kinds <= _MAYBE_TENSOR:
        return _TENSOR if value.is_tensor else join(_TENSOR, NONE)
    if value.is_(Kind.CONTAINER) and value.element is not None and value.element.is_tensor:
        return replace(values.container(_ITEM, ref="dict" if value.ref == "dict" else None), certain=False)
    return None
