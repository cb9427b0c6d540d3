"""What callers pass to parameters of which a function's own code says nothing, or something else.

In code without annotations often only a caller knows that an argument is a tensor. A caller seen to pass one is
evidence, no proof: another may pass a number. So such a value is never certain, and has no dtype, rank or shape. Where
a caller is seen to pass a number, the parameter may be either, as where it is declared as a number, or as a number or a
tensor, and a caller passes a tensor. Arrays and numbers of NumPy are noted likewise: in compiled code they are tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from compilefix.analysis import values
from compilefix.analysis.annotations import annotated
from compilefix.analysis.leaves import ANY_LEAF
from compilefix.analysis.values import ANY_MEMORY, NONE, Kind, Value, join, replace
from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project

_TENSOR = values.tensor(certain=False)
_NUMBER = replace(values.STATIC, certain=False)
_ITEM = values.tensor(certain=False, storage=frozenset({ANY_MEMORY}), leaves=frozenset({ANY_LEAF}))
_MAYBE_TENSOR = frozenset({Kind.TENSOR, Kind.NONE})
_NAMED_OTHERWISE = re.compile(r"(^|_)(dicts?|kwargs|cfg|config)$")
"""How parameters are called that hold no tensor, whatever a layer seems to give the caller."""


class Hints:
    """The parameters that some caller passes a tensor, an array or a container of tensors; the first caller counts.

    What is passed to a method is passed to the methods that override it as well.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._found: dict[Function, dict[str, Value]] = {}
        self._numbers: dict[Function, set[str]] = {}
        # Whether all tensors that are seen to be passed for a parameter are boolean.
        self._boolean: dict[Function, dict[str, bool]] = {}
        # For each parameter whether what is passed matters; None where its annotation has to be looked at.
        self._takes: dict[Function, dict[str, bool | None]] = {}
        self._overriding: dict[Function, dict[Function, None]] = {}

    def add(self, function: Function, arguments: Mapping[str, Value]) -> Iterable[Function]:
        """Note the arguments of a call. Gives the functions of which this says more than was known before."""
        known = self._found.get(function, {})
        new: dict[str, Value] = {}
        for name, value in arguments.items():
            said = Kind.TENSOR in value.kinds or value.element is not None or value.is_(Kind.NDARRAY)
            if said and name not in known:
                hint = self._hint(value, name, function)
                if hint is not None:
                    new[name] = hint
            if value.is_tensor and (value.dtype == "bool" or function in self._boolean):
                boolean = self._boolean.setdefault(function, {})
                boolean[name] = boolean.get(name, True) and value.dtype == "bool"
        numbers = self._numbers.setdefault(function, set())
        also = {name for name, value in arguments.items() if name not in numbers and _is_passed_number(value)}
        numbers |= also
        if not new and also.isdisjoint(known):
            return ()
        self._found[function] = known | new
        return (function, *self._overriding.get(function, ()))

    def _hint(self, value: Value, name: str, function: Function) -> Value | None:
        """What a value says of the parameter that gets it, None where that is nothing."""
        if function not in self._takes:
            self._takes[function] = {p.arg: p.annotation is None or None for p in function.parameters}
        takes = self._takes[function]
        if Kind.TENSOR in value.kinds and not value.certain and _NAMED_OTHERWISE.search(name):
            return None
        if name not in takes or takes[name] is False:
            return None
        if takes[name] is True:
            return _hint(value)
        if not (value.is_tensor or value.sometimes_tensor):
            return None
        annotation = next(p.annotation for p in function.parameters if p.arg == name)
        declared = annotated(annotation, function.module, self._project)
        if declared.declared or _is_number(declared):
            return _TENSOR
        takes[name] = False
        return None

    def boolean(self, function: Function) -> frozenset[str]:
        """The parameters that callers are seen to pass boolean tensors, and no others."""
        return frozenset(name for name, all_are in self._boolean.get(function, {}).items() if all_are)

    def of(self, function: Function) -> Mapping[str, Value]:
        """What is passed to the function, or to a method that it overrides, by the names of its parameters."""
        found = self._own(function)
        if function.cls is None or function.parent is not None:
            return found
        name = function.node.name
        if name.startswith("__") and name != "__call__":
            return found
        for base in self._project.ancestors(function.cls)[1:]:
            method = base.methods.get(name) if isinstance(base, Class) else None
            if method is not None:
                self._overriding.setdefault(method, {})[function] = None
                found = {**self._own(method), **found}
        return found

    def _own(self, function: Function) -> Mapping[str, Value]:
        found, numbers = self._found.get(function, {}), self._numbers.get(function, ())
        return {name: join(hint, _NUMBER) if name in numbers else hint for name, hint in found.items()}


def _is_passed_number(value: Value) -> bool:
    return value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) and value.dtype in ("int", "float")


def _is_number(declared: Value) -> bool:
    return declared.is_(Kind.STATIC, Kind.NONE) and declared.dtype in ("int", "float")


def _hint(value: Value) -> Value | None:
    """What an argument says about a parameter without annotation."""
    if Kind.TENSOR in value.kinds and value.kinds <= _MAYBE_TENSOR:
        return _TENSOR if value.is_tensor else join(_TENSOR, NONE)
    if value.is_(Kind.NDARRAY) and value.certain:
        return replace(values.NDARRAY, certain=False)
    if value.is_(Kind.CONTAINER) and value.element is not None and value.element.is_tensor:
        return replace(values.container(_ITEM, ref="dict" if value.ref == "dict" else None), certain=False)
    return None
