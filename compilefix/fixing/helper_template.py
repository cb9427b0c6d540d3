"""Prints, log lines and checks at the compile boundary. compilefix wrote this file; it is yours to keep.

A `print`, a log line or a check that raises ends the graph of a compiled function. `emit` notes it, with its values as
they are at that moment; `boundary` carries out what was noted, in order, when the compiled call has returned or failed:

    model = boundary(torch.compile(model))
    emit(lambda norm: print(f"norm {norm.item():.3f}"), x.norm())  # somewhere in it
"""

from __future__ import annotations

import functools
import threading
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar

import torch

HELPER_VERSION = 9  # a file that is there already is used when it has the same version

_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])


class _Note:
    """What waits in one graph; and the note before: a longer list is guarded."""

    def __init__(self, before: Any = None) -> None:
        self.before = before
        # Each effect with its check and its values; the numbers among these, by kind; which these are.
        self.works, self.rooms, self.numbers = [], {}, []  # type: ignore[var-annotated]


class _Noted(threading.local):
    def __init__(self) -> None:
        self.call: _Note | None = None  # of the compiled call that this thread runs; the last note stands behind it


_COPIED = (set, OrderedDict, getattr(getattr(torch.storage, "np", None), "ndarray", set))  # NumPy may be missing
_noted, _start, _traces, _renamed = _Noted(), _Note(), weakref.WeakSet[Any](), dict[Any, Any]()
_ROOM = 64  # for numbers in one tensor


def emit(effect: Callable[..., Any], *values: Any, raise_if: Any = None) -> None:
    """Call `effect(*values)` when the compiled call that runs ends, else now; where `raise_if`, raise its result."""
    failed = raise_if.detach().ne(0).float() if isinstance(raise_if, torch.Tensor) and not raise_if.dim() else raise_if
    # Whether torch is compiling says nothing here: behind a graph break it is not, and the order would be lost.
    if (call := _noted.call) is None:
        _act(_named(effect), failed, *values)
        return
    if _first_in_graph() or call.before.before is None:
        call.before = _Note(call.before)
    note, work = call.before, [effect]
    for value in (failed, *values):  # numbers share a tensor, filled by one kernel: each read waits for the device
        if type(value) is torch.Tensor and not (value.is_cpu or value.dim() or value.dtype.itemsize == 1):
            part, place = divmod(len(note.numbers), _ROOM)
            kind = f"{value.dtype} {value.device} {part}"
            note.rooms[kind] = note.rooms.get(kind, value.new_zeros(_ROOM)).select_scatter(value.detach(), 0, place)
            note.numbers.append((len(note.works), len(work), kind, place))
            value = None
        work.append(_copied(value))
    note.works.append(work)


def _first_in_graph() -> bool:
    """Whether the graph that is traced has no note yet: asked while tracing, no guard. Outside of one all are first."""
    trace = torch._guards.TracingContext.try_get() or _Note()
    return trace not in _traces and _traces.add(trace) is None  # type: ignore[func-returns-value]


def boundary(compiled: _Compiled) -> _Compiled:
    """Make a compiled function, or a module in place, carry out after each call what was noted during it.

    One that is not compiled stays as it is; a copy or pickle needs its own. What a graph that fails had noted is lost.
    """
    torch.compiler.assume_constant_result(_first_in_graph)
    if isinstance(compiled, torch.nn.Module):
        name = "forward" if hasattr(compiled, "_orig_mod") else "_compiled_call_impl"  # that is of module.compile()
        if getattr(compiled, name, None) is not None:
            setattr(compiled, name, boundary(getattr(compiled, name)))
        return compiled

    @functools.wraps(compiled)
    def call(*args: Any, **kwargs: Any) -> Any:
        if _noted.call is not None:  # inside another compiled call, whose boundary keeps the order
            return compiled(*args, **kwargs)
        running = _noted.call = _Note(_start)
        try:
            return compiled(*args, **kwargs)
        finally:
            _noted.call = None
            _carry_out(running.before)

    return call  # type: ignore[return-value]


def _carry_out(note: Any) -> None:
    works, rooms, tensors = [], [], []  # type: ignore[var-annotated]
    while note is not _start:
        rooms += (read := {kind: (room, []) for kind, room in note.rooms.items()}).values()  # type: ignore[var-annotated]
        for work, position, kind, place in note.numbers:
            room, numbers = read[kind]
            value = item = functools.partial(numbers.__getitem__, place)
            if position > 1:  # whether a check failed is asked for as it is
                tensors.append(value := room[place])
                value.item = item
            note.works[work][position] = value
        works[:0] = [(_named(effect), *rest) for effect, *rest in note.works]
        note = note.before
    try:
        for room, numbers in rooms:
            numbers += room.tolist()  # all else is done by now: this waits for the device
        for work in works:  # one that raises ends the rest
            _act(*work)
    finally:
        for tensor in tensors:  # an effect may have kept one, to change it later
            tensor.__dict__.pop("item", None)


def _act(effect: Callable[..., Any], failed: Any, *values: Any) -> None:
    failed = failed.item() if isinstance(failed, torch.Tensor) and failed.numel() == 1 else failed
    if failed is None:
        effect(*values)
    elif failed() if isinstance(failed, functools.partial) else failed:
        raise effect(*values)


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)([_copied(item) for item in value])
    made = {key: _copied(item) for key, item in value.items()} if type(value) is dict else value
    return made.copy() if type(made) in _COPIED else made


def _named(effect: Callable[..., Any]) -> Callable[..., Any]:
    """The effect under the name of the function that it stands in, which is the one that log records show."""
    if not isinstance(effect, types.FunctionType) or effect.__closure__ or effect.__kwdefaults__:
        return effect
    code, key = effect.__code__, (id(effect.__code__), id(effect.__globals__))  # the hash of code looks through it
    if key not in _renamed:
        outer = effect.__qualname__.rpartition(".<locals>.")[0].rpartition(".")[2]
        name = outer if outer.isidentifier() else code.co_name
        _renamed[key] = code, types.FunctionType(code.replace(co_name=name), effect.__globals__)
    given, named = effect.__defaults__, _renamed[key][1]
    return types.FunctionType(named.__code__, named.__globals__, None, given) if given else named
