"""Prints, log lines and checks at the compile boundary.

A `print`, a log line or a check that raises ends the graph of a compiled function. `emit` notes it, with its values as
they are at that moment; `boundary` carries out what was noted, in order, when the compiled call has returned or failed:

    model = boundary(torch.compile(model))
    emit(lambda norm: print(f"norm {norm.item():.3f}"), x.norm())  # somewhere in it

Without a boundary round the call, `emit` acts at once. compilefix wrote this file; it is yours to keep.
"""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable
from typing import Any, TypeVar

import torch

HELPER_VERSION = 5  # a file that is there already is used when it has the same version

_NUMBERS = (torch.bool, torch.int64, torch.int32, torch.float64, torch.float32, torch.bfloat16, torch.float16)
_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])
_renamed: dict[int, tuple[types.CodeType, types.CodeType]] = {}


class _Note:
    """An effect that waits, with its values and the note before it. Dynamo would guard on the length of a list."""

    def __init__(self, work: tuple[Any, ...] = (), before: _Note | None = None) -> None:
        self.work, self.before = work, before


class _Noted(threading.local):
    """What stands behind the last note of the compiled call that this thread runs; None while it runs none."""

    def __init__(self) -> None:
        self.call: _Note | None = None


_noted = _Noted()


def emit(effect: Callable[..., Any], *values: Any, raise_if: Any = None) -> None:
    """Call `effect(*values)` when the compiled call that is running ends; at once where none is running.

    The effect gets detached copies of tensors. With `raise_if` it makes an exception, raised where that tensor is true.
    """
    if raise_if is not None:
        effect, values = _raise, (raise_if, effect, *values)
    # Whether torch is compiling says nothing here: behind a graph break it is not, and the order would be lost.
    if (call := _noted.call) is None:
        _named(effect)(*values)
    else:
        call.before = _Note((effect, *[_snapshot(value) for value in values]), call.before)


def boundary(compiled: _Compiled) -> _Compiled:
    """Make a compiled function or module carry out, after each call, what was noted during it.

    A module is changed in place; one that is not compiled stays as it is. A copy or pickle of a compiled module needs a
    `boundary` of its own. An effect that raises ends the rest. What a graph that fails had noted is lost.
    """
    if isinstance(compiled, torch.nn.Module):
        module: Any = compiled
        if hasattr(module, "_orig_mod"):  # what torch.compile(module) returns
            module.forward = _inside(module.forward)
        elif getattr(module, "_compiled_call_impl", None) is not None:  # after module.compile()
            module._compiled_call_impl = _inside(module._compiled_call_impl)
        return compiled
    return _inside(compiled)  # type: ignore[return-value]


def _inside(function: Callable[..., Any]) -> Callable[..., Any]:
    if getattr(function, "_is_boundary", False):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _noted.call is not None:  # inside another compiled call, whose boundary keeps the order
            return function(*args, **kwargs)
        running = _noted.call = _Note(before=_Note())
        try:
            return function(*args, **kwargs)
        finally:
            _noted.call = None
            _carry_out(running.before)

    call._is_boundary = True  # type: ignore[attr-defined]
    return call


def _carry_out(note: Any) -> Any:
    if note.before is not None and note.before.before is None and len(note.work) < 4:
        return _named(note.work[0])(*note.work[1:])  # two numbers are read sooner one by one than together
    works: list[tuple[Any, ...]] = []
    while note.before is not None:
        works.append((_named(note.work[0]), note.work[1:]))
        note = note.before
    several = _several([value for _, values in works for value in values])
    tensors = [tensor for alike in several for tensor in alike]
    numbers: list[Any] = []
    try:
        for index, tensor in enumerate(tensors):
            tensor.item = functools.partial(numbers.__getitem__, index)
        for stack in [torch.stack(alike).reshape(-1) for alike in several]:  # all else is done by now: this waits
            numbers += stack.tolist()
        for effect, values in reversed(works):
            effect(*values)
    finally:
        for tensor in tensors:  # an effect may have kept one, to change it later
            tensor.__dict__.pop("item", None)


def _several(values: list[Any]) -> list[list[Any]]:
    """The single numbers on a device that are read at once, by kind: read one by one, each waits for the device."""
    kinds: dict[Any, list[Any]] = {}
    for value in values:
        if isinstance(value, torch.Tensor) and not value.is_cpu and value.numel() == 1 and value.dtype in _NUMBERS:
            kinds.setdefault((value.device, value.dtype, value.dim()), []).append(value)
    return [alike for alike in kinds.values() if len(alike) > 2]


def _raise(failed: Any, exception: Callable[..., BaseException], *values: Any) -> None:
    if failed.item() if isinstance(failed, torch.Tensor) and failed.numel() == 1 else failed:
        raise exception(*values)


def _snapshot(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)([_snapshot(item) for item in value])
    return {key: _snapshot(item) for key, item in value.items()} if type(value) is dict else value


def _named(effect: Callable[..., Any]) -> Callable[..., Any]:
    """The effect under the name of the function that it stands in, which is the one that log records show."""
    if not isinstance(effect, types.FunctionType) or effect.__closure__:
        return effect
    code = effect.__code__
    if id(code) not in _renamed:  # by identity: the hash of code looks through all of it
        outer = effect.__qualname__.rpartition(".<locals>.")[0].rpartition(".")[2]
        if not outer.isidentifier():
            return effect
        _renamed[id(code)] = code, code.replace(co_name=outer)
    return types.FunctionType(_renamed[id(code)][1], effect.__globals__, None, effect.__defaults__)
