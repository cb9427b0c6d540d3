"""Prints, log lines and checks at the compile boundary.

A `print`, a log line or a check that raises ends the graph of a compiled function. `emit` notes it, with its values as
they are at that moment; `boundary` carries out what was noted, in order, when the compiled call has returned or failed:

    model = boundary(torch.compile(model))

    def forward(self, x):
        emit(lambda norm: print(f"norm {norm.item():.3f}"), x.norm())

Without a boundary round the call, `emit` acts at once. This file, written by compilefix, needs nothing but torch.
"""

from __future__ import annotations

import functools
import threading
import types
from collections.abc import Callable
from typing import Any, TypeVar

import torch

HELPER_VERSION = 2
"""compilefix uses a file that is there already when it has the same version."""

_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])


class _Note:
    """An effect that waits, with its values and the note before it."""

    def __init__(self, effect: Any = None, values: Any = (), before: _Note | None = None) -> None:
        self.effect, self.values, self.before = effect, values, before


class _Call:
    """A compiled call that is running: its last note. Where a graph break is left, Dynamo would guard on a list."""

    def __init__(self) -> None:
        self.last = _Note()


class _Noted(threading.local):
    """The compiled call that this thread runs; None while it runs none."""

    def __init__(self) -> None:
        self.call: _Call | None = None


_noted = _Noted()


def emit(effect: Callable[..., Any], *values: Any, raise_if: Any = None) -> None:
    """Call `effect(*values)` when the compiled call that is running ends; at once where none is running.

    The effect gets tensors, also those in lists, tuples and dicts, as they are now: detached copies. With `raise_if` it
    makes an exception, which is raised where that tensor is true.
    """
    if raise_if is not None:
        effect, values = _raise, (raise_if, effect, *values)
    # Whether torch is compiling says nothing here: behind a graph break it is not, and the order would be lost.
    call = _noted.call
    if call is None:
        _named(effect)(*values)
    else:
        call.last = _Note(effect, [_snapshot(value) for value in values], call.last)


def boundary(compiled: _Compiled) -> _Compiled:
    """Make a compiled function or module carry out, after each call, what was noted during it.

    A module is changed in place and stays the object that it is; one that is not compiled stays as it is. A copy or
    pickle of a compiled module needs a `boundary` of its own. An effect that raises ends the rest, as it would have
    ended the function. When the running graph itself fails (an index out of range), what it had noted is lost.
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
        if _noted.call is not None:
            return function(*args, **kwargs)  # inside another compiled call, whose boundary keeps the order
        running = _noted.call = _Call()
        try:
            return function(*args, **kwargs)
        finally:
            _noted.call = None
            _carry_out(running.last)

    call._is_boundary = True  # type: ignore[attr-defined]
    return call


def _carry_out(note: _Note) -> None:
    notes = []
    while note.before is not None:
        notes.append(note)
        note = note.before
    # Asked together, the checks wait for the device once.
    checks = [n for n in notes if n.effect is _raise and isinstance(n.values[0], torch.Tensor)]
    checks = [n for n in checks if n.values[0].numel() == 1 and n.values[0].device == checks[0].values[0].device]
    if len(checks) > 1 and not torch.stack([n.values[0].reshape(()) != 0 for n in checks]).any():
        for n in checks:
            n.values[0] = False
    for note in reversed(notes):
        _named(note.effect)(*note.values)


def _raise(failed: Any, exception: Callable[..., BaseException], *values: Any) -> None:
    if failed:
        raise exception(*values)


def _snapshot(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) is list:
        return [_snapshot(item) for item in value]
    if type(value) is tuple:
        return tuple([_snapshot(item) for item in value])
    if type(value) is dict:
        return {key: _snapshot(item) for key, item in value.items()}
    return value


def _named(effect: Callable[..., Any]) -> Callable[..., Any]:
    """The effect under the name of the function that it stands in, which is the one that log records show."""
    if not isinstance(effect, types.FunctionType) or effect.__closure__:
        return effect
    code = _renamed(effect.__code__, effect.__qualname__)
    return effect if code is None else types.FunctionType(code, effect.__globals__, code.co_name, effect.__defaults__)


@functools.lru_cache(maxsize=4096)
def _renamed(code: types.CodeType, qualname: str) -> types.CodeType | None:
    outer = qualname.rpartition(".<locals>.")[0].rpartition(".")[2]
    return code.replace(co_name=outer) if outer.isidentifier() else None
