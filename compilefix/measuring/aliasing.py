"""What the results of a call share: with its inputs, with the state of the program, with one another.

Tensors share memory, lists, dicts and sets are the same object: whoever changes one of them changes the other.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import torch

Owners = dict[tuple[str, int], list[str]]


def shared(outputs: Any, inputs: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, list[str]]:
    """By place of a tensor or container in the outputs, the sorted places of what shares it.

    What shares with nothing is not in it. Of several outputs that share, each names those that come before it.
    """
    owners: Owners = {}
    for name, value in (*inputs.items(), *state.items()):
        for place, item in _changeable(value, name):
            _own(owners, item, place)
    found = {}
    for place, item in _changeable(outputs, "output"):
        identity = _identity(item)
        if identity in owners:
            found[place] = sorted(owners[identity])
        _own(owners, item, place)
    return found


def _own(owners: Owners, item: Any, place: str) -> None:
    identity = _identity(item)
    if identity is not None:
        owners.setdefault(identity, []).append(place)


def _changeable(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Every tensor, list, dict and set in nested values, also in dataclasses, with its place."""
    if isinstance(value, (torch.Tensor, set)):
        yield place, value
    elif isinstance(value, (list, tuple)):
        if isinstance(value, list):
            yield place, value
        for index, item in enumerate(value):
            yield from _changeable(item, f"{place}[{index}]")
    elif isinstance(value, Mapping):
        if isinstance(value, dict):
            yield place, value
        for key, item in value.items():
            yield from _changeable(item, f"{place}[{key!r}]")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            yield from _changeable(getattr(value, field.name, None), f"{place}[{field.name!r}]")


def _identity(item: Any) -> tuple[str, int] | None:
    """The object, or where a tensor's storage lies; None for a tensor that has none (sparse) or an empty one."""
    if not isinstance(item, torch.Tensor):
        return "object", id(item)
    try:
        address = item.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):
        return None
    return ("storage", address) if address else None
