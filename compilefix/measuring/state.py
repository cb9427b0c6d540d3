"""What a call can change besides its inputs: parameters, buffers, attributes, class attributes and globals, by name.

Objects are followed where the program itself defines their class. What stands in torch, in the standard library and in
installed packages is not the program's own state.
"""

from __future__ import annotations

import copy
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CellType, FunctionType, ModuleType
from typing import Any

import torch

from compilefix.measuring.snapshot import Node, freeze, same_node, same_tensor
from compilefix.measuring.workload import modules_of, reached

_INTERNAL = frozenset((*vars(torch.nn.Module()), "_compiled_call_impl", "training"))
_HERE = str(Path(__file__).resolve().parents[1])
_FOREIGN = (
    _HERE,
    str(Path(torch.__file__).resolve().parent),
    str(Path(sysconfig.get_paths()["stdlib"]).resolve()),
)
_DEPTH = 3
_MOST_ITEMS = 1000


@dataclass(frozen=True)
class Slot:
    """A place that holds a value: a key of a dict, an attribute of an object, or a closure cell.

    `private` says that the name begins with an underscore, so that nobody outside should look at it.
    """

    name: str
    owner: Any
    key: str
    value: Any

    @property
    def private(self) -> bool:
        """Whether any part of the name is private."""
        return any(part.startswith("_") for part in self.name.split("."))

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

    def _all(self, seen: set[int]) -> Iterator[Slot]:
        for owner, module in self.modules.items():
            yield from _module_slots(owner, module, seen)
        for name, value in reached(self.target):
            if isinstance(value, torch.optim.Optimizer):
                yield from _optimizer_slots(name, value, seen)
            elif self._is_own(type(value)) and not isinstance(value, torch.nn.Module):
                yield from self._object_slots(name, value, seen, 0)
        yield from _cells(self.target)
        for module in self._own_modules():
            yield from self._global_slots(module, seen)

    def _global_slots(self, module: ModuleType, seen: set[int]) -> Iterator[Slot]:
        for key, value in list(vars(module).items()):
            name = f"{module.__name__}.{key}"
            if key.startswith("__"):
                continue
            if is_plain(value):
                yield Slot(name, vars(module), key, value)
            elif isinstance(value, type) and value.__module__ == module.__name__:
                for attribute, item in list(vars(value).items()):
                    if not attribute.startswith("__") and attribute not in _ABSTRACT and is_plain(item):
                        yield Slot(f"{name}.{attribute}", value, attribute, item)
            elif isinstance(value, FunctionType) and value.__module__ == module.__name__:
                for attribute, item in list(vars(value).items()):
                    if not attribute.startswith("__") and is_plain(item):
                        yield Slot(f"{name}.{attribute}", vars(value), attribute, item)
            elif isinstance(value, torch.nn.Module):
                yield from _module_slots(name, value, seen)
            elif self._is_own(type(value)):
                yield from self._object_slots(name, value, seen, 0)

    def _object_slots(self, name: str, value: Any, seen: set[int], depth: int) -> Iterator[Slot]:
        # A class with a metaclass of the program's own has a `__dict__` that cannot be written.
        if id(value) in seen or depth > _DEPTH or not isinstance(getattr(value, "__dict__", None), dict):
            return
        seen.add(id(value))
        for key, item in list(vars(value).items()):
            place = f"{name}.{key}" if name else key
            if is_plain(item):
                yield Slot(place, vars(value), key, item)
            elif isinstance(item, torch.optim.Optimizer):
                yield from _optimizer_slots(place, item, seen)
            elif isinstance(item, torch.nn.Module):
                yield from _module_slots(place, item, seen)
            elif self._is_own(type(item)):
                yield from self._object_slots(place, item, seen, depth + 1)

    def _own_modules(self) -> list[ModuleType]:
        if self._own[0] != len(sys.modules):
            found = [
                module for name, module in list(sys.modules.items()) if name != "__main__" and self._is_own_file(module)
            ]
            self._own = (len(sys.modules), found)
        return self._own[1]

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
            if slot.name not in self._slots and id(slot.owner) in self._owners:
                slot.remove()
        for owner, others in self._owners.values():
            if others is not None:
                for key in [key for key in owner if key not in others and not is_plain(owner[key])]:
                    if key not in _INTERNAL and not key.startswith("__"):
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
        if isinstance(key, str) and key not in _INTERNAL and not is_plain(value)
    }


def is_plain(value: Any, depth: int = 0) -> bool:
    """Whether a value is data that can be compared and put back: numbers, text, tensors, and containers of these."""
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, torch.Tensor)):
        return True
    if isinstance(value, (list, tuple, dict, set, frozenset)) and depth < 3 and len(value) <= _MOST_ITEMS:
        items = value.values() if isinstance(value, dict) else value
        return all(is_plain(item, depth + 1) for item in items)
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


def state_keys(modules: Mapping[str, torch.nn.Module]) -> list[str]:
    """What a checkpoint of each module holds: the keys of its `state_dict`, with shape and dtype."""
    found = []
    for owner, module in modules.items():
        for key, value in module.state_dict().items():
            what = f"{tuple(value.shape)} {value.dtype}" if isinstance(value, torch.Tensor) else type(value).__name__
            found.append(f"{join(owner, key)}: {what}")
    return found


def hooks_of(modules: Mapping[str, torch.nn.Module]) -> list[str]:
    """The hooks of each module, by kind and name of the function."""
    found = []
    for owner, module in modules.items():
        for prefix, part in module.named_modules():
            for kind in ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks"):
                for hook in getattr(part, kind, {}).values():
                    name = getattr(hook, "__qualname__", type(hook).__qualname__)
                    found.append(f"{join(owner, prefix) or 'the module'}: {kind.strip('_').rstrip('s')} {name}")
    return found


def join(owner: str, name: str) -> str:
    """Two parts of a dotted name, of which either may be empty."""
    return f"{owner}.{name}" if owner and name else owner or name


def _module_slots(owner: str, module: torch.nn.Module, seen: set[int]) -> Iterator[Slot]:
    for prefix, part in module.named_modules():
        if id(part) in seen:
            continue
        seen.add(id(part))
        place = join(owner, prefix)
        for group in (part._parameters, part._buffers):
            for key, tensor in list(group.items()):
                if tensor is not None:
                    yield Slot(join(place, key), group, key, tensor)
        for key, value in list(vars(part).items()):
            if key not in _INTERNAL and not key.startswith(("_dynamo", "torchdynamo", "_fsdp")) and is_plain(value):
                yield Slot(join(place, key), vars(part), key, value)


def _optimizer_slots(name: str, optimizer: torch.optim.Optimizer, seen: set[int]) -> Iterator[Slot]:
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
                    yield Slot(f"{name}.state[{index}][{number}].{key}", state, key, value)


def _cells(target: Callable[..., Any]) -> Iterator[Slot]:
    function = getattr(target, "__func__", target)
    if not isinstance(function, FunctionType):
        return
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        if is_plain(value):
            yield Slot(f"closure {name}", cell, name, value)


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
