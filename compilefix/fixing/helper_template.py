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
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, cat

HELPER_VERSION = 8  # a file that is there already is used when it has the same version

_Compiled = TypeVar("_Compiled", bound=Callable[..., Any])


class _Note:
    """What waits in one graph, numbers by kind and then the effects; and the note before: a longer list is guarded."""

    def __init__(self, before: Any = None) -> None:
        self.before = before
        self.works: list[Any] = [{}]


class _Noted(threading.local):
    """What stands behind the last note of the compiled call that this thread runs; None while it runs none."""

    def __init__(self) -> None:
        self.call: _Note | None = None


_COPIED = (set, OrderedDict, getattr(getattr(torch.storage, "np", None), "ndarray", set))  # NumPy may be missing
_noted, _start, _traces, _renamed = _Noted(), _Note(), weakref.WeakSet[Any](), dict[int, Any]()


def emit(effect: Callable[..., Any], *values: Any, raise_if: Any = None) -> None:
    """Call `effect(*values)` when the compiled call that runs ends, else now; where `raise_if`, raise its result."""
    if raise_if is not None:
        failed = raise_if.detach().ne(0).float() if isinstance(raise_if, Tensor) and not raise_if.dim() else raise_if
        values = (failed, *values)
    # Whether torch is compiling says nothing here: behind a graph break it is not, and the order would be lost.
    if (call := _noted.call) is None:
        _act(_named(effect), raise_if is not None, values)
        return
    if _first_in_graph() or call.before.before is None:
        call.before = _Note(call.before)
    numbers, kept = call.before.works[0], []
    for value in values:  # more than two numbers go into one tensor: to read each of them would wait for the device
        kind = None
        if type(value) is Tensor and not (value.is_cpu or value.dim() or value.dtype.itemsize == 1):
            kind = f"{value.dtype} {value.device}"
            (several := numbers.setdefault(kind, [])).append(value.detach().clone())
            if len(several) > 2 or several[0].dim():
                numbers[kind] = [cat([each.reshape(-1) for each in several])]
        kept.append((kind, None if kind else _copied(value)))
    call.before.works.append((effect, raise_if is not None, kept))


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
    works, together, tensors, numbers = [], [], [], []  # type: ignore[var-annotated]
    while note is not _start:
        kinds, *noted = note.works
        for kind, several in kinds.items():
            if several[0].dim():
                together += several
                kinds[kind] = list(several[0].unbind())
                tensors += kinds[kind]
        works[:0] = [(_named(f), check, [kinds[k].pop(0) if k else x for k, x in kept]) for f, check, kept in noted]
        note = note.before
    try:
        for index, tensor in enumerate(tensors):
            tensor.item = functools.partial(numbers.__getitem__, index)
        for several in together:
            numbers += several.tolist()  # all else is done by now: this waits for the device
        for work in works:  # one that raises ends the rest
            _act(*work)
    finally:
        for tensor in tensors:  # an effect may have kept one, to change it later
            tensor.__dict__.pop("item", None)


def _act(effect: Callable[..., Any], checks: bool, values: Sequence[Any]) -> None:
    if not checks:
        effect(*values)
    elif values[0].item() if isinstance(values[0], Tensor) and values[0].numel() == 1 else values[0]:
        raise effect(*values[1:])


def _copied(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)([_copied(item) for item in value])
    made = {key: _copied(item) for key, item in value.items()} if type(value) is dict else value
    return made.copy() if type(made) in _COPIED else made


def _named(effect: Callable[..., Any]) -> Callable[..., Any]:
    """The effect under the name of the function that it stands in, which is the one that log records show."""
    if not isinstance(effect, types.FunctionType) or effect.__closure__ or effect.__kwdefaults__:
        return effect
    code = effect.__code__
    if id(code) not in _renamed:  # by identity: the hash of code looks through all of it
        outer = effect.__qualname__.rpartition(".<locals>.")[0].rpartition(".")[2]
        _renamed[id(code)] = code, code.replace(co_name=outer) if outer.isidentifier() else code
    return types.FunctionType(_renamed[id(code)][1], effect.__globals__, None, effect.__defaults__)
