"""What a call can change besides its inputs: parameters, buffers, attributes, class attributes and globals, by name.

Objects are followed where the program itself defines their class. What stands in torch, in the standard library and in
installed packages is not the program's own state.
"""

from __future__ import annotations

import copy
import inspect
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import torch

from compilefix.measuring.slots import INTERNAL, Slot, at, cells, is_plain, join, module_slots, optimizer_slots
from compilefix.measuring.snapshot import Node, freeze, same_node, same_tensor
from compilefix.measuring.workload import modules_of, reached, uncompiled

_HERE = str(Path(__file__).resolve().parents[1])
_FOREIGN = (
    _HERE,
    str(Path(torch.__file__).resolve().parent),
    str(Path(sysconfig.get_paths()["stdlib"]).resolve()),
)
_DEPTH = 3


class ProgramState:
    """All that a target can change, looked up anew each time: attributes come and go.

    `served` are files that count as the program's own wherever they are.
    """

    def __init__(self, target: Callable[..., Any], served: frozenset[str] = frozenset()) -> None:
        self.target = target
        self.modules = modules_of(target)
        self._served = served
        self._own: tuple[int, list[ModuleType]] = (0, [])

    def slots(self) -> list[Slot]:
        """Every place, each named once."""
        seen: set[int] = set()
        found: dict[str, Slot] = {}
        for slot in self._all(seen):
            found.setdefault(slot.name, slot)
        return list(found.values())

    def values(self) -> dict[str, Any]:
        """The live value at each place."""
        return {slot.name: slot.value for slot in self.slots()}

    def files(self) -> list[str]:
        """The names of the program's own modules."""
        return [module.__name__ for module in self._own_modules()]

    def defaults(self) -> Iterator[tuple[str, bool | int | float | str]]:
        """The numbers and texts that parameters of the program's own functions have as their defaults, by name."""
        for function in self._own_functions():
            for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
                if isinstance(parameter.default, (bool, int, float, str)):
                    yield f"{function.__module__}.{function.__qualname__}({parameter.name})", parameter.default

    def _own_functions(self) -> Iterator[FunctionType]:
        for module in self._own_modules():
            for value in list(vars(module).values()):
                inside = list(vars(value).values()) if isinstance(value, type) else [value]
                for function in (getattr(item, "__func__", item) for item in inside):
                    if isinstance(function, FunctionType) and function.__module__ == module.__name__:
                        yield function

    def _all(self, seen: set[int]) -> Iterator[Slot]:
        for owner, module in self.modules.items():
            yield from module_slots(owner, module, seen)
        for name, value in reached(self.target):
            if isinstance(value, torch.optim.Optimizer):
                yield from optimizer_slots(name, value, seen)
            elif isinstance(value, torch.Generator):
                yield from at(name, None, name, value)
            elif self._is_followed(value) and not isinstance(value, torch.nn.Module):
                yield from self._object_slots(name, value, seen, 0)
        yield from cells(self.target)
        for module in self._own_modules():
            yield from self._global_slots(module, seen)

    def _global_slots(self, module: ModuleType, seen: set[int]) -> Iterator[Slot]:
        for key, value in list(vars(module).items()):
            name = f"{module.__name__}.{key}"
            if key.startswith("__"):
                continue
            if slots := list(at(name, vars(module), key, value)):
                yield from slots
            elif isinstance(value, type) and value.__module__ == module.__name__:
                for attribute, item in list(vars(value).items()):
                    if not attribute.startswith("__") and attribute not in _ABSTRACT and is_plain(item):
                        yield Slot(f"{name}.{attribute}", value, attribute, item)
            elif isinstance(value, FunctionType) and value.__module__ == module.__name__:
                for attribute, item in list(vars(value).items()):
                    if not attribute.startswith("__") and is_plain(item):
                        yield Slot(f"{name}.{attribute}", vars(value), attribute, item)
            elif isinstance(value, torch.nn.Module):
                yield from module_slots(name, value, seen)
            elif self._is_followed(value):
                yield from self._object_slots(name, value, seen, 0)

    def _object_slots(self, name: str, value: Any, seen: set[int], depth: int) -> Iterator[Slot]:
        # A class with a metaclass of the program's own has a `__dict__` that cannot be written.
        if id(value) in seen or depth > _DEPTH or not isinstance(getattr(value, "__dict__", None), dict):
            return
        seen.add(id(value))
        for key, item in list(vars(value).items()):
            place = f"{name}.{key}" if name else key
            if slots := list(at(place, vars(value), key, item)):
                yield from slots
            elif isinstance(item, torch.optim.Optimizer):
                yield from optimizer_slots(place, item, seen)
            elif isinstance(item, torch.nn.Module):
                yield from module_slots(place, item, seen)
            elif self._is_followed(item):
                yield from self._object_slots(place, item, seen, depth + 1)

    def _own_modules(self) -> list[ModuleType]:
        if self._own[0] != len(sys.modules):
            found = [
                module for name, module in list(sys.modules.items()) if name != "__main__" and self._is_own_file(module)
            ]
            self._own = (len(sys.modules), found)
        return self._own[1]

    def _is_followed(self, value: Any) -> bool:
        return isinstance(value, _TORCH_OBJECTS) or self._is_own(type(value))

    def _is_own(self, kind: type) -> bool:
        module = sys.modules.get(kind.__module__)
        return isinstance(module, ModuleType) and self._is_own_file(module)

    def _is_own_file(self, module: ModuleType) -> bool:
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or module.__name__.partition(".")[0] in ("torch", "compilefix"):
            return False
        if file in self._served:
            return True
        if file.startswith(os.environ.get("TORCHINDUCTOR_CACHE_DIR", _HERE)):
            return False  # compiled code
        return not file.startswith(_FOREIGN) and "site-packages" not in file and "dist-packages" not in file


_ABSTRACT = frozenset({"_abc_impl"})
_TORCH_OBJECTS = (torch.optim.lr_scheduler.LRScheduler, torch.amp.GradScaler)
"""Objects of torch whose attributes calls change."""


class StateWatch:
    """Remembers the state of a program and says what has changed since it last looked."""

    def __init__(self, state: ProgramState) -> None:
        self._state = state
        self._last = {name: _kept(value) for name, value in state.values().items()}
        self.names = tuple(self._last)

    def changes(self) -> dict[str, Node]:
        """The parts of the state that differ from the last look, and that are new; None for those that went away."""
        current = self._state.values()
        changed = {}
        for name, value in current.items():
            if name not in self._last or not _unchanged(self._last[name], value):
                changed[name] = freeze(value)
                self._last[name] = _kept(value)
        for name in [name for name in self._last if name not in current]:
            changed[name] = freeze(None)
            del self._last[name]
        return changed


class Checkpoint:
    """The state at one moment. `restore` brings it back in place, so that aliases and compiled code stay valid."""

    def __init__(self, state: ProgramState) -> None:
        self._state = state
        slots = state.slots()
        self._slots = {slot.name: (slot, _content(slot.value)) for slot in slots}
        # What is no data, such as a cache object that a call makes, is put back or taken out as a whole.
        self._owners = {id(slot.owner): (slot.owner, _others(slot.owner)) for slot in slots}
        self._flags = [(part, part.training) for module in state.modules.values() for part in module.modules()]

    def restore(self) -> None:
        """Puts every value back, takes out what has come since, and drops gradients."""
        for slot in self._state.slots():
            if slot.name not in self._slots and (slot.lazy or id(slot.owner) in self._owners):
                slot.remove()
        for owner, others in self._owners.values():
            if others is not None:
                for key in [key for key in owner if key not in others and not is_plain(owner[key])]:
                    if key not in INTERNAL and not key.startswith("__"):
                        del owner[key]
                owner.update(others)
        for slot, content in self._slots.values():
            slot.put(_refilled(slot.value, content))
        for part, flag in self._flags:
            part.training = flag
        for module in self._state.modules.values():
            module.zero_grad(set_to_none=True)


def _others(owner: Any) -> dict[str, Any] | None:
    """The values of an object's `__dict__` that are no data; None for other owners and for the globals of a file."""
    if not isinstance(owner, dict) or "__builtins__" in owner:
        return None
    return {
        key: value
        for key, value in owner.items()
        if isinstance(key, str) and key not in INTERNAL and not is_plain(value)
    }


def state_keys(modules: Mapping[str, torch.nn.Module]) -> list[str]:
    """What a checkpoint of each module holds: the keys of its `state_dict` as they are, with shape and dtype."""
    found = []
    for owner, module in modules.items():
        for key, value in module.state_dict().items():
            what = f"{tuple(value.shape)} {value.dtype}" if isinstance(value, torch.Tensor) else type(value).__name__
            found.append(f"{owner}.{key}: {what}" if owner else f"{key}: {what}")
    return found


def hooks_of(modules: Mapping[str, torch.nn.Module]) -> list[str]:
    """The hooks of each module, by kind and name of the function."""
    found = []
    for owner, module in modules.items():
        for prefix, part in module.named_modules():
            if uncompiled(part) is not part:
                continue
            for kind in ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"):
                for hook in getattr(part, kind, {}).values():
                    name = getattr(hook, "__qualname__", type(hook).__qualname__)
                    found.append(f"{join(owner, prefix) or 'the module'}: {kind.strip('_').rstrip('s')} {name}")
    return found


def _content(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, (list, set)):
        return type(value)(map(_content, value)) if type(value) in (list, set) else _copy(value)
    if type(value) is dict:
        return {key: _content(item) for key, item in value.items()}
    if type(value) is tuple:
        return tuple(map(_content, value))
    return _copy(value)


def _copy(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # what cannot be copied stays as it is
        return value


def _refilled(value: Any, content: Any) -> Any:
    """The same object with its old content, where it can be refilled; else a copy of the content."""
    if isinstance(value, torch.Tensor):
        with torch.no_grad():
            if value.dtype == content.dtype and value.shape == content.shape and value.is_leaf:
                value.data.copy_(content)
            else:
                value.data = content.clone()
            value.grad = None
        return value
    if type(value) is list:
        value[:] = _content(content)
    elif type(value) in (dict, set):
        value.clear()
        value.update(_content(content))
    else:
        return _content(content)
    return value


def _kept(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    return freeze(value)


def _unchanged(old: Any, value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return isinstance(old, torch.Tensor) and same_tensor(old, value.detach())
    return not isinstance(old, torch.Tensor) and same_node(old, freeze(value))
