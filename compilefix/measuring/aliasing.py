"""Which memory the results of a call share: with its inputs, with the state of the program, with one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from compilefix.measuring.workload import tensors_in


def shared_memory(
    outputs: Iterable[tuple[str, torch.Tensor]], inputs: Iterable[tuple[str, torch.Tensor]], state: Mapping[str, Any]
) -> dict[str, list[str]]:
    """By place of an output tensor, the sorted places of what shares its memory.

    Outputs that share with nothing are not in it. Of several outputs that share, each names those that come before it.
    """
    owners: dict[int, list[str]] = {}
    for place, tensor in (*inputs, *_tensors(state)):
        _own(owners, tensor, place)
    found = {}
    for place, tensor in outputs:
        address = _address(tensor)
        if address is not None:
            if address in owners:
                found[place] = sorted(owners[address])
            _own(owners, tensor, place)
    return found


def _own(owners: dict[int, list[str]], tensor: torch.Tensor, place: str) -> None:
    address = _address(tensor)
    if address is not None:
        owners.setdefault(address, []).append(place)


def _tensors(state: Mapping[str, Any]) -> Iterator[tuple[str, torch.Tensor]]:
    for name, value in state.items():
        yield from tensors_in(value, name)


def _address(tensor: torch.Tensor) -> int | None:
    """Where the storage lies; None for what has none (sparse tensors) or is empty."""
    try:
        storage = tensor.untyped_storage()
        return storage.data_ptr() or None
    except (NotImplementedError, RuntimeError):
        return None
