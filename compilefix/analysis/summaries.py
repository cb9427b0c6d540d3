"""The result of a call into the project: the callee's summary, seen from the caller."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping, Sequence

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.leaves import ANY_LEAF, perhaps, settled
from compilefix.analysis.values import (
    ANY_MEMORY,
    ANY_OTHER,
    ANY_OWN,
    LEAKED,
    NOTHING,
    OWN,
    UNKNOWN,
    Kind,
    Value,
    replace,
)
from compilefix.source.definitions import Function


def from_summary(
    place: str,
    summary: Value,
    operands: Sequence[Value],
    extra: frozenset[str] = frozenset(),
    arguments: Mapping[str, Sequence[Value]] | None = None,
    *,
    closure: bool = False,
    kept: bool = False,
    owner: Value | None = None,
) -> Value:
    """A callee's result in the caller: its ids and memory tokens are the callee's own and mean nothing here.

    closure: whether the callee is a nested function, which hands out what it found in the functions round it.
    kept: whether another call may get the same tensor.
    owner: the object whose method is called; None where that is not known.
    """

    def storage_of(tokens: frozenset[str]) -> frozenset[str]:
        shared: list[Value] = list(operands)
        if arguments is not None:
            shared = [v for name, parts in arguments.items() if f"param:{name}" in tokens for v in parts]
        own = outside = False
        for token in tokens:
            if token.startswith("self."):
                own = True
            elif token.startswith("global."):
                outside = True
        held = {place}
        if own or outside or (kept and tokens):
            held.add(f"self.{place}")
        held |= tokens if closure else tokens & _ANYTHING
        if own:
            held |= {ANY_OWN} if owner is None or owner.storage == OWN else {ANY_OTHER} | owner.storage
        return frozenset(held.union(*[v.storage for v in shared]))

    def leaves_of(leaves: frozenset[str]) -> frozenset[str]:
        given = [arguments[name] for name in leaves if name in arguments] if arguments else []
        single = [parts[0] for parts in given if len(parts) == 1 and not parts[0].is_(Kind.CONTAINER)]
        sure = extra.union(*[v.leaves for v in single])
        # Of two results one may hand its gradient on and the other not.
        return settled(sure | perhaps(NOTHING.union(*[v.leaves for v in operands]), f"?{place}") | {f"?{place}"})

    return _adopted(summary, place, storage_of, leaves_of)


_ANYTHING = frozenset({ANY_MEMORY, LEAKED})


def _adopted(
    value: Value,
    place: str,
    storage_of: Callable[[frozenset[str]], frozenset[str]],
    leaves_of: Callable[[frozenset[str]], frozenset[str]],
) -> Value:
    """A value of the callee under a place in the caller, with what it hangs on there."""
    elements = (
        None
        if value.elements is None
        else tuple(_adopted(v, f"{place}.{i}", storage_of, leaves_of) for i, v in enumerate(value.elements))
    )
    # The items of a list of unknown length need not be alike.
    element = None if value.element is None else _apart(_adopted(value.element, f"{place}[]", storage_of, leaves_of))
    number_only = value.dtype in ("bool", "int")
    plain = value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)
    return replace(
        value,
        dtype_id=f"{place} dtype" if value.dtype_id or value.is_tensor else None,
        shape_id=value.shape_id if value.has_one_element else place if value.may_be(Kind.TENSOR) else None,
        storage=storage_of(memory_of(value)) if not plain else frozenset(),
        leaves=NOTHING if number_only else leaves_of(value.leaves),
        elements=elements,
        element=element,
        const=None if value.const is not None and value.const.value is not None else value.const,
    )


def _apart(item: Value) -> Value:
    """One of several items that need not be alike, in shape or in where their gradients go."""
    return replace(item.stripped(), leaves=item.leaves and item.leaves | {ANY_LEAF})


def passed(node: ast.Call, callee: Function, operands: Sequence[Value]) -> Mapping[str, Value] | None:
    """The arguments of a call by the callee's parameters; None where stars or surplus arguments hide which is which."""
    for argument in node.args:
        if argument.__class__ is ast.Starred:
            return None
    parameters = [p.arg for p in filled(node, callee)]
    if len(node.args) > len(parameters):
        return None
    names = parameters[: len(node.args)]
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in parameters:
            return None
        names.append(keyword.arg)
    return dict(zip(names, operands, strict=False))


def filled(node: ast.Call, callee: Function) -> Sequence[ast.arg]:
    """The parameters that the arguments of a call are for: without the instance, or the context of an `apply`."""
    bound = callee.cls is not None and callee.parent is None and not callee.is_static
    # With a `setup_context` of its own the `forward` takes the arguments alone.
    context = applies(node, callee) and callee.cls is not None and "setup_context" not in callee.cls.methods
    return callee.parameters[1 if bound or context else 0 :]


def applies(node: ast.Call, callee: Function) -> bool:
    """Whether a call runs the `forward` of an autograd function by its `apply`, under whatever name that has."""
    if callee.cls is None or callee.node.name != "forward" or not callee.is_static:
        return False
    if isinstance(node.func, ast.Attribute) and node.func.attr == "forward":
        return False
    first = callee.parameters[0].arg if callee.parameters else ""
    return first == "ctx" or any(base.endswith("Function") for base in callee.cls.bases)


def gives_all(given: Collection[str], callee: Function) -> bool:
    """Whether the arguments of a call, by their names, are all that a callee cannot do without."""
    own = callee.node.args
    bound = callee.cls is not None and callee.parent is None and not callee.is_static
    positions = [*own.posonlyargs, *own.args]
    needed = positions[int(bound) : len(positions) - len(own.defaults)]
    needed += [a for a, default in zip(own.kwonlyargs, own.kw_defaults, strict=True) if default is None]
    return all(parameter.arg in given for parameter in needed)


def given_to(
    node: ast.Call, callee: Function, operands: Sequence[Value], facts: FunctionFacts
) -> Mapping[str, Sequence[Value]] | None:
    """What each parameter of a callee may be given, `*args` and `**kwargs` too; None where that is not known.

    operands: the values of the positional arguments and of the keyword arguments, in this order.
    """
    func, own = node.func, callee.node.args
    # `Base.forward(self, x)` and `Function.apply(x)` have one argument more, or less, than the parameters say.
    owner = func.value if isinstance(func, ast.Attribute) and not is_super(func.value) else None
    applied = isinstance(func, ast.Attribute) and func.attr == "apply"
    if owner is not None and (applied or facts.value(owner).may_be(Kind.CALLABLE)):
        return None
    bound = callee.cls is not None and callee.parent is None and not callee.is_static
    positions = [a.arg for a in (*own.posonlyargs, *own.args)][1 if bound else 0 :]
    rest = [own.vararg.arg] if own.vararg is not None else []
    more = [own.kwarg.arg] if own.kwarg is not None else []
    named = {a.arg for a in callee.parameters}
    given: dict[str, list[Value]] = {}
    hidden = False
    for index, (argument, value) in enumerate(zip(node.args, operands, strict=False)):
        hidden = hidden or isinstance(argument, ast.Starred)
        for name in [*positions[index:], *rest] if hidden else positions[index : index + 1] or rest:
            given.setdefault(name, []).append(value)
    keywords = list(zip(node.keywords, operands[len(node.args) :], strict=False))
    for keyword, value in keywords:
        if keyword.arg is not None:
            for name in [keyword.arg] if keyword.arg in named else more:
                given.setdefault(name, []).append(value)
    sure = set() if hidden else set(given)
    for keyword, value in keywords:
        if keyword.arg is None:  # what has been given already is not given again
            for name in [*(named - sure), *more]:
                given.setdefault(name, []).append(value)
    for name in callee.kept_defaults - set(given):
        given[name] = [UNKNOWN]
    return given


def is_super(node: ast.expr) -> bool:
    """Whether an expression is `super()`."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def memory_of(value: Value) -> frozenset[str]:
    """The memory that a value or an item of it may share."""
    if value.elements is None and value.element is None:
        return value.storage
    parts = [*(value.elements or ()), *([value.element] if value.element is not None else [])]
    return value.storage.union(*map(memory_of, parts))
