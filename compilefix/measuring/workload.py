"""Workloads: what a person names on the command line to say which code to run, and with which inputs."""

from __future__ import annotations

import copy
import functools
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from compilefix.measuring.request import WorkloadError, split_spec

Target = Callable[..., Any]


@dataclass(frozen=True)
class InputSet:
    """The arguments of one call."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]

    def copy(self) -> InputSet:
        """Fresh inputs with equal values; memory shared among the inputs stays shared among the copies."""
        memo: dict[int, Any] = {}
        return InputSet(_copied(self.args, memo), _copied(dict(self.kwargs), memo))

    def tensors(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Every tensor in the inputs with the place where it stands."""
        yield from tensors_in(self.args, "args")
        yield from tensors_in(dict(self.kwargs), "kwargs")


@dataclass(frozen=True)
class Workload:
    """A callable and the inputs to run it with, on their device.

    `compiles_itself` says that the workload has compiled what it wants compiled, with what it was given for it.
    """

    target: Target
    input_sets: tuple[InputSet, ...]
    compiles_itself: bool = False


def load(spec: str, device: torch.device, compiler: Callable[[Target], Target] | None = None) -> Workload:
    """Imports the workload, calls its function and puts all of it on `device`.

    `compiler` is what a function with the parameter `compile` is given; by default it changes nothing.

    Raises WorkloadError when the file, the module or the function is missing, when importing or calling it fails, and
    when it returns something else than `(callable, inputs)`.
    """
    place, name = split_spec(spec)
    module = _import_file(Path(place)) if place.endswith(".py") else _import_module(place)
    function = getattr(module, name, None)
    if not callable(function):
        raise WorkloadError(f"{place} has no function {name!r}")
    parameters = inspect.signature(function).parameters
    takes_device, takes_compile = "device" in parameters, "compile" in parameters
    arguments: dict[str, Any] = {"device": device} if takes_device else {}
    if takes_compile:
        arguments["compile"] = compiler or (lambda target: target)
    try:
        returned = function(**arguments)
    except Exception as error:
        raise WorkloadError(f"{spec} raised {type(error).__name__}: {error}") from error
    if not isinstance(returned, tuple) or len(returned) != 2 or not callable(returned[0]):
        raise WorkloadError(f"{spec} must return (callable, inputs), not {_described(returned)}")
    target, inputs = returned
    input_sets = _input_sets(spec, inputs)
    if not takes_device:
        for owner in modules_of(target).values():
            owner.to(device)
        input_sets = tuple(_moved_set(item, device) for item in input_sets)
    return Workload(target, input_sets, takes_compile)


def modules_of(target: Target) -> dict[str, torch.nn.Module]:
    """The modules that a callable works with, by a stable name: itself, what it is bound to, closes over or names.

    Found in the callable itself, `__self__`, `functools.partial` parts, closure cells, defaults and the globals that
    its code mentions. A module that only another function reaches is not found. What `torch.compile` made of a module
    counts as that module, so that a program has the same names compiled and not.
    """
    return {label: uncompiled(module) for label, module in checkpointed(target).items()}


def checkpointed(target: Target) -> dict[str, torch.nn.Module]:
    """The same modules as somebody would save them: the compiled form, where the program holds nothing else of one."""
    held = [(label, module) for name, value in reached(target) for label, module in _modules_in(name, value)]
    found: dict[str, torch.nn.Module] = {}
    for label, module in held:
        plain = uncompiled(module)
        if not any(plain is uncompiled(known) for known in found.values()):
            found[label] = plain if any(plain is other for _, other in held) else module
    return found


def uncompiled(module: torch.nn.Module) -> torch.nn.Module:
    """The module that `torch.compile` was given, if this is what it made of one."""
    inner = vars(module).get("_modules", {}).get("_orig_mod")
    return inner if isinstance(inner, torch.nn.Module) else module


def tensors_in(value: Any, place: str) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor in nested tuples, lists and dicts, with its place."""
    if isinstance(value, torch.Tensor):
        yield place, value
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from tensors_in(item, f"{place}[{index}]")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from tensors_in(item, f"{place}[{key!r}]")


def _import_module(name: str) -> ModuleType:
    _prefer(Path.cwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            raise WorkloadError(f"there is no module {name!r}") from error
        raise WorkloadError(f"importing {name} failed: {error}") from error
    except Exception as error:
        raise WorkloadError(f"importing {name} failed: {type(error).__name__}: {error}") from error


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise WorkloadError(f"there is no file {path}")
    path = path.resolve()
    root, parts = path.parent, [path.stem]
    while (root / "__init__.py").exists():
        parts.insert(0, root.name)
        root = root.parent
    if parts[-1] == "__init__":
        parts.pop()
    _prefer(Path.cwd())
    _prefer(root)
    module = _import_module_at(".".join(parts), path)
    origin = getattr(module, "__file__", None)
    if origin is None or Path(origin).resolve() != path:
        raise WorkloadError(
            f"importing {path} as {'.'.join(parts)!r} gave another module of that name; rename the file"
        )
    return module


def _import_module_at(name: str, path: Path) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise WorkloadError(f"importing {path} failed: {type(error).__name__}: {error}") from error


def _prefer(folder: Path) -> None:
    text = str(folder)
    if text in sys.path:
        sys.path.remove(text)
    sys.path.insert(0, text)


def _input_sets(spec: str, inputs: Any) -> tuple[InputSet, ...]:
    items = inputs if isinstance(inputs, list) else [inputs]
    if not items:
        raise WorkloadError(f"{spec} returned no input set")
    found = []
    for item in items:
        if isinstance(item, tuple):
            found.append(InputSet(item, {}))
        elif isinstance(item, Mapping):
            found.append(InputSet((), dict(item)))
        else:
            raise WorkloadError(
                f"{spec}: an input set is a tuple of arguments or a dict of keyword arguments, not {_described(item)}"
            )
    return tuple(found)


def _described(value: Any) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}: ({', '.join(type(item).__name__ for item in value)})"
    return f"a {type(value).__name__}"


def _moved_set(item: InputSet, device: torch.device) -> InputSet:
    def move(tensor: torch.Tensor) -> torch.Tensor:
        moved = tensor.detach().to(device)
        return moved.requires_grad_(tensor.requires_grad)

    memo: dict[int, Any] = {}
    return InputSet(mapped(item.args, move, memo), mapped(dict(item.kwargs), move, memo))


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    shared: dict[int, Any] = {}

    def clone(tensor: torch.Tensor) -> torch.Tensor:
        # deepcopy keeps strides and, with one memo for all, the memory that several inputs share.
        twin: torch.Tensor = copy.deepcopy(tensor.detach(), shared)
        return twin.requires_grad_(tensor.requires_grad)

    return mapped(value, clone, memo)


def mapped(value: Any, change: Callable[[torch.Tensor], torch.Tensor], memo: dict[int, Any]) -> Any:
    """The value with every tensor in nested tuples, lists and dicts changed; what else is in it is copied."""
    if id(value) in memo:
        return memo[id(value)]
    result: Any
    if isinstance(value, torch.Tensor):
        result = change(value)
    elif isinstance(value, tuple):
        items = [mapped(item, change, memo) for item in value]
        result = type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    elif isinstance(value, list):
        result = [mapped(item, change, memo) for item in value]
    elif type(value) is dict:
        result = {key: mapped(item, change, memo) for key, item in value.items()}
    elif isinstance(value, torch.nn.Module):
        result = value
    else:
        try:
            result = copy.deepcopy(value)
        except Exception:  # an input that cannot be copied (a lock, a stream) is shared by all calls
            result = value
    memo[id(value)] = result
    return result


def reached(target: Target) -> Iterator[tuple[str, Any]]:
    """What a callable holds or names: itself, its parts, its closure and the globals that its code mentions."""
    yield "", target
    if isinstance(target, functools.partial):
        yield from reached(target.func)
        for index, item in enumerate(target.args):
            yield f"argument {index}", item
        yield from target.keywords.items()
        return
    if inspect.ismethod(target):
        yield "self", target.__self__
        target = target.__func__
    target = inspect.unwrap(target)
    if not inspect.isfunction(target):
        return
    for name, cell in zip(target.__code__.co_freevars, target.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # the cell is still empty
            continue
    for name in target.__code__.co_names:
        if name in target.__globals__:
            yield name, target.__globals__[name]
    arguments = target.__code__.co_varnames[: target.__code__.co_argcount]
    yield from zip(reversed(arguments), reversed(target.__defaults__ or ()), strict=False)


def _modules_in(name: str, value: Any) -> Iterator[tuple[str, torch.nn.Module]]:
    if isinstance(value, torch.nn.Module):
        yield name, value
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            if isinstance(item, torch.nn.Module):
                yield f"{name}[{index}]", item
    elif not isinstance(value, (type, ModuleType)) and hasattr(value, "__dict__"):
        for key, item in vars(value).items():
            if isinstance(item, torch.nn.Module):
                yield f"{name}.{key}" if name else key, item
