"""What is known inside one function and of one class, and how what is known of names is joined."""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from compilefix.analysis import values
from compilefix.analysis.values import NONE, Value, join, replace
from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.project import Project

Env = dict[str, Value]


@dataclass
class FunctionFacts:
    """What is known inside one function.

    values: the value of each expression node, over all ways to reach it.
    env_before: the names before a statement or conditional expression.
    calls: calls into functions of the project.
    constructed: calls that make an object of a class of the project that is no module, with its `__init__`.
    dead: statements and expressions that do not run under `torch.compile`.
    returns: the join of all returned values.
    refs: the dotted name of what each call calls.
    float_only: calls that fail on a tensor that is not floating, with that tensor.
    float_parameters: parameters that every normal run passes to such a call.
    self_assigned: what a run assigns to attributes of `self`.
    hinted: parameters that count as tensors only because a caller passes one.
    """

    function: Function
    values: dict[ast.AST, Value] = field(default_factory=dict)
    env_before: dict[ast.AST, Env] = field(default_factory=dict)
    calls: dict[ast.AST, Function] = field(default_factory=dict)
    constructed: dict[ast.AST, Function] = field(default_factory=dict)
    dead: set[ast.AST] = field(default_factory=set)
    returns: Value = NONE
    refs: dict[ast.AST, str] = field(default_factory=dict)
    float_only: list[tuple[ast.Call, Value]] = field(default_factory=list)
    float_parameters: frozenset[str] = frozenset()
    self_assigned: dict[str, Value] = field(default_factory=dict)
    hinted: frozenset[str] = frozenset()
    live: tuple[ast.AST, ...] | None = None

    def value(self, node: ast.AST) -> Value:
        """The value of an expression; unknown for code that the walk never reached."""
        return self.values.get(node, values.UNKNOWN)

    def callee(self, node: ast.Call) -> str | None:
        """The dotted name of what is called, for example `torch.nn.functional.relu`."""
        return self.refs.get(node)


class ProjectFacts(Protocol):
    """What the walk through one function asks about the rest of the project.

    decided: what tests for being compiled give, as far as that was asked for.
    named: what dotted names stand for, and global_names: what names of modules do, as far as that was asked for.
    """

    project: Project
    decided: dict[ast.expr, bool | None]
    named: dict[str, Value]
    global_names: dict[tuple[Module, str], Value]

    def attribute(self, cls: Class, name: str, reader: Function | None = None) -> Value | None:
        """The attribute that instances of the class have; None where nothing gives them one."""

    def hides_method(self, cls: Class, name: str) -> bool:
        """Whether the class puts something else on its objects under the name of one of its methods."""

    def class_constant(self, cls: Class, name: str) -> Value | None:
        """The number or text that a class has under a name; None where other code may put something else there."""

    def summary(self, function: Function) -> Value:
        """The value that a call of the function returns, for any arguments."""

    def with_sizes(self, function: Function, sizes: frozenset[str]) -> Value:
        """What a call of the function returns that is given integers of shapes for these parameters, and no tensors."""

    def float_parameters(self, function: Function) -> frozenset[str]:
        """The parameters that must be floating tensors with dimensions, or the function fails."""

    def written_in_place(self, function: Function) -> frozenset[str]:
        """The memory that a call of the function writes into in place, by its own names: `param:x` is that of `x`."""

    def reshaped_in_place(self, function: Function) -> frozenset[str]:
        """The memory of the tensors that a call of the function gives another shape or dtype, by its own names."""

    def module_global(self, module: Module, name: str) -> Value | None:
        """The value of a name that a module assigns at its top level."""

    def attribute_of_global(self, storage: Collection[str], ref: str, attr: str) -> Value | None:
        """What the file that makes an object of a class gives it at its top level; None where it gives nothing."""

    def called_with(self, function: Function, arguments: Mapping[str, Value]) -> None:
        """A caller passes these arguments to a function, by the names of its parameters."""

    def hinted(self, function: Function) -> frozenset[str]:
        """The parameters of a function that count as tensors only because a caller passes one."""

    def annotated(self, node: ast.expr | None, module: Module) -> Value:
        """The value that an annotation in a module promises."""

    def counted_keys(self, module: Module) -> frozenset[str]:
        """The keys of dictionaries under which a module gets numbers, by what it does with them."""

    def hints(self, function: Function) -> Mapping[str, Value]:
        """What callers pass to parameters of a function of which its own code says nothing; certain is a call's own."""


def either(place: str, a: Value, b: Value) -> Value:
    """The join of two values. Where they hang on other tensors, on which of them is decided at run time."""
    return join(a, b, f"?{place}")


def join_env(a: Env | None, b: Env | None, place: str, stored: Container[str]) -> Env | None:
    """What holds where two ways meet, at a place of its own; None for a way that does not get there.

    stored: the attributes that the function gives values, or writes into. Of others that are known on one way only, a
    test has told more there than the class says: behind it they are what the class says.
    """
    if a is None or b is None:
        return b if a is None else a
    result: Env = {}
    for name in {**a, **b}:
        if name in a and name in b:
            result[name] = a[name] if a[name] is b[name] else either(place, a[name], b[name])
        elif "." not in name:
            # Bound on one way only: reading it may raise, so nothing that rests on it is certain.
            result[name] = replace(a[name] if name in a else b[name], certain=False)
        elif name in stored:
            result[name] = values.UNKNOWN
    return result


def revisited(old: Value, new: Value) -> Value:
    """The value of an expression that was walked before with other names."""
    if old == new or (old.is_unknown and not new.is_unknown):
        return new
    # The names of the later walk stand for those of the earlier one too.
    return _hanging_as(join(old, new), new)


def _hanging_as(value: Value, other: Value) -> Value:
    """A value with what another one hangs on, and so its items."""
    element, elements = value.element, value.elements
    if element is not None and other.element is not None:
        element = _hanging_as(element, other.element)
    if elements is not None and other.elements is not None:
        elements = tuple(map(_hanging_as, elements, other.elements))
    return replace(value, leaves=other.leaves, element=element, elements=elements)
