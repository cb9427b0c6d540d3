"""The result of a call into the project: the callee's summary, seen from the caller."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from compilefix.analysis.values import ANY_LEAF, ANY_MEMORY, Kind, Value, replace
from compilefix.source.index import Function


def from_summary(
    place: str,
    summary: Value,
    operands: Sequence[Value],
    extra: frozenset[str] = frozenset(),
    arguments: Mapping[str, Value] | None = None,
    *,
    closure: bool = False,
    kept: bool = False,
) -> Value:
    """A callee's result in the caller: its ids and memory tokens are the callee's own and mean nothing here.

    closure: whether the callee is a nested function, which hands out what it found in the functions round it.
    kept: whether another call may get the same tensor.
    """
    tokens = memory_of(summary)
    shared: list[Value] = list(operands)
    if arguments is not None:
        shared = [v for name, v in arguments.items() if f"param:{name}" in tokens]
    held = frozenset(f"self.{place}" for t in tokens if kept or t.startswith(("self.", "global.")))
    held |= tokens if closure else tokens & {ANY_MEMORY}
    storage = frozenset({place}).union(held, *(v.storage for v in shared))
    leaves = extra.union(*(v.leaves for v in operands))

    return _adopted(summary, place, storage, leaves)


def _adopted(value: Value, place: str, storage: frozenset[str], leaves: frozenset[str]) -> Value:
    """A value of the callee under a place in the caller, with what it hangs on there."""
    elements = (
        None
        if value.elements is None
        else tuple(_adopted(v, f"{place}.{i}", storage, leaves) for i, v in enumerate(value.elements))
    )
    # The items of a list of unknown length need not be alike.
    element = None if value.element is None else _apart(_adopted(value.element, f"{place}[]", storage, leaves))
    number_only = value.dtype in ("bool", "int")
    return replace(
        value,
        dtype_id=f"{place} dtype" if value.dtype_id or value.is_tensor else None,
        shape_id="()" if value.rank == 0 else place if value.may_be(Kind.TENSOR) else None,
        storage=storage if not value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) else frozenset(),
        # Of two results one may hand its gradient on and the other not.
        leaves=frozenset() if number_only else leaves | {f"?{place}"},
        elements=elements,
        element=element,
        const=None if value.const is not None and value.const.value is not None else value.const,
    )


def _apart(item: Value) -> Value:
    """One of several items that need not be alike, in shape or in where their gradients go."""
    return replace(item.stripped(), leaves=item.leaves and item.leaves | {ANY_LEAF})


def passed(node: ast.Call, callee: Function, operands: Sequence[Value]) -> Mapping[str, Value] | None:
    """The arguments of a call by the callee's parameters; None where stars or surplus arguments hide which is which."""
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        return None
    bound = callee.cls is not None and callee.parent is None and not callee.is_static
    parameters = [p.arg for p in callee.parameters[1 if bound else 0 :]]
    if len(node.args) > len(parameters):
        return None
    names = [*parameters[: len(node.args)], *(k.arg for k in node.keywords if k.arg is not None)]
    return dict(zip(names, operands, strict=False))


def memory_of(value: Value) -> frozenset[str]:
    """The memory that a value or an item of it may share."""
    parts = [*(value.elements or ()), *([value.element] if value.element is not None else [])]
    return value.storage.union(*(memory_of(p) for p in parts))
