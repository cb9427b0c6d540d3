"""Where a program keeps state: named places that hold plain data, or an object whose state can be read and set."""

from __future__ import annotations

import io
import os
import random
import stat
import sys
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import CellType, FunctionType
from typing import Any

import torch

from compilefix.measuring.workload import uncompiled

INTERNAL = frozenset((*vars(torch.nn.Module()), "_compiled_call_impl", "training"))
"""Attributes that every module has, which are looked at by other means."""
_MOST_ITEMS = 1000
_STREAMS = 2
"""The last file descriptor of the standard streams."""


@dataclass(frozen=True)
class Slot:
    """A place that holds a value: a key of a dict, an attribute of an object, or a closure cell.

    `is_buffer` says that it is a buffer of a module, `lazy` that an optimizer makes it when it first needs it.
    """

    name: str
    owner: Any
    key: str
    value: Any
    is_buffer: bool = False
    lazy: bool = False

    def put(self, value: Any) -> None:
        """Makes the place hold another value."""
        if isinstance(self.owner, dict):
            self.owner[self.key] = value
        elif isinstance(self.owner, CellType):
            self.owner.cell_contents = value
        else:
            setattr(self.owner, self.key, value)

    def remove(self) -> None:
        """Empties the place."""
        if isinstance(self.owner, dict):
            self.owner.pop(self.key, None)
        elif not isinstance(self.owner, CellType):
            delattr(self.owner, self.key)


@dataclass(frozen=True)
class _Stateful(Slot):
    """The state of an object that is no plain data itself: a source of random numbers, a queue, an open file."""

    held: Any = None

    def put(self, value: Any) -> None:
        """Sets the object's state."""
        if isinstance(self.held, torch.Generator):
            self.held.set_state(value)
        elif isinstance(self.held, random.Random):
            self.held.setstate(value)
        elif isinstance(self.held, deque):
            self.held.clear()
            self.held.extend(value)
        elif isinstance(self.held, io.IOBase):
            self.held.seek(value)
            self.held.truncate()
        else:
            getattr(self.held, "bit_generator", self.held).state = value

    def remove(self) -> None:
        """Leaves it: what holds the object goes."""


def at(name: str, owner: Any, key: str, value: Any) -> Iterator[Slot]:
    """The slot for a value that stands somewhere, if it is data or has state that can be read."""
    if is_plain(value):
        yield Slot(name, owner, key, value)
    elif (state := _state_of(value)) is not None:
        yield _Stateful(name, owner, key, state, held=value)


def _state_of(value: Any) -> Any:
    if isinstance(value, torch.Generator):
        return value.get_state()
    if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
        return value.getstate()
    if isinstance(value, deque) and is_plain(list(value)):
        return list(value)
    if isinstance(value, io.IOBase):
        return _written(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.random.Generator):
        return value.bit_generator.state
    return None


def _written(file: io.IOBase) -> int | None:
    """How far a file on disk has been written; None for other files, and for the standard streams."""
    try:
        regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        return file.tell() if regular and file.writable() and file.fileno() > _STREAMS else None
    except (OSError, ValueError):
        return None


def is_plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is data that can be compared and put back: numbers, text, tensors, and containers of these."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, torch.Tensor)):
        return True
    if isinstance(value, (list, tuple, dict, set, frozenset)) and depth < 3 and len(value) <= _MOST_ITEMS:
        items = value.values() if isinstance(value, dict) else value
        return all(is_plain(item, depth + 1) for item in items)
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


def module_slots(owner: str, module: torch.nn.Module, seen: set[int]) -> Iterator[Slot]:
    """The parameters, buffers and attributes of a module and its parts."""
    for prefix, part in module.named_modules():
        if id(part) in seen or uncompiled(part) is not part:
            continue
        seen.add(id(part))
        place = join(owner, prefix)
        for group in (part._parameters, part._buffers):
            for key, tensor in list(group.items()):
                if tensor is not None:
                    yield Slot(join(place, key), group, key, tensor, is_buffer=group is part._buffers)
        for key, value in list(vars(part).items()):
            if key not in INTERNAL and not key.startswith(("_dynamo", "torchdynamo", "_fsdp")):
                yield from at(join(place, key), vars(part), key, value)


def optimizer_slots(name: str, optimizer: torch.optim.Optimizer, seen: set[int]) -> Iterator[Slot]:
    """The settings of an optimizer and what it keeps for each parameter."""
    if id(optimizer) in seen:
        return
    seen.add(id(optimizer))
    for index, group in enumerate(optimizer.param_groups):
        for key, value in list(group.items()):
            if key != "params" and is_plain(value):
                yield Slot(f"{name}.param_groups[{index}].{key}", group, key, value)
        for number, parameter in enumerate(group["params"]):
            state = optimizer.state.get(parameter)
            for key, value in list((state or {}).items()):
                if state is not None and is_plain(value):
                    yield Slot(f"{name}.state[{index}][{number}].{key}", state, key, value, lazy=True)


def cells(target: Callable[..., Any]) -> Iterator[Slot]:
    """What a function closes over."""
    function = getattr(target, "__func__", target)
    if not isinstance(function, FunctionType):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        yield from at(f"closure {name}", cell, name, value)


def join(owner: str, name: str) -> str:
    """Two parts of a dotted name, of which either may be empty; what `torch.compile` puts in between is left out."""
    name = as_written(name)
    return f"{owner}.{name}" if owner and name else owner or name


def as_written(name: str) -> str:
    """The name of a parameter or key without the parts that `torch.compile` adds to it.

    >>> as_written("_orig_mod.blocks.0._orig_mod.weight")
    'blocks.0.weight'
    """
    return ".".join(part for part in name.split(".") if part != "_orig_mod")
