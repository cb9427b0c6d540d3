"""Runs a program as it is and as rewritten, and says in words where the two differ."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from compilefix.codemods import registry
from compilefix.fixing.boundary import helper_text
from compilefix.fixing.engine import Outcome, run
from compilefix.fixing.helper_place import DEFAULT_NAME
from compilefix.measuring.breaks import BreakCollector
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

Program = Callable[..., Any]
"""`workload` of a module: returns a callable and a list of tuples of arguments."""

_numbers = itertools.count()


def rewritten(path: Path, text: str, allowed: frozenset[str] | None = frozenset()) -> Outcome:
    """What the engine makes of one file with all rules."""
    file = SourceFile(path, path.stem.partition(".")[0], text)
    return run([file], Config(root=path.parent), rules=list(registry.load().values()), allowed=allowed)


def after(outcome: Outcome, text: str) -> str:
    """The text of the only file of a run, rewritten or not; a helper that the fixes create does not count."""
    return next((change.after for change in outcome.patchset if change.before is not None), text)


def helper() -> ModuleType:
    """The helper module for host effects, as rewritten code imports it."""
    module = sys.modules.get(DEFAULT_NAME)
    if module is None:
        module = ModuleType(DEFAULT_NAME)
        sys.modules[DEFAULT_NAME] = module
        exec(compile(helper_text(), f"<{DEFAULT_NAME}>", "exec"), module.__dict__)
    return module


def load(path: Path) -> ModuleType:
    """Import a file under a name of its own, so that two versions live side by side."""
    helper()
    name = f"compilefix_program_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # it stays there: Dynamo imports the module of a function that TorchScript compiled
    spec.loader.exec_module(module)
    return module


def execute(text: str, name: str) -> dict[str, Any]:
    """Run a module's text without a file: quicker, for programs that are not compiled."""
    space: dict[str, Any] = {"__name__": name}
    exec(compile(text, f"<{name}>", "exec"), space)
    return space


@dataclass(frozen=True)
class Observation:
    """All that one call showed: each part can differ on its own."""

    outputs: Any
    aliasing: Any
    gradients: Any
    mutation: Any
    exceptions: Any
    stdout: str
    random: Any


PARTS = tuple(Observation.__dataclass_fields__)


def observe(
    workload: Program, *, compile_with: Callable[[Any], Any] | None = None, calls: int = 2
) -> list[Observation]:
    """What each input set shows, called several times in a row on the same callable and arguments."""
    return list(_observations(workload, compile_with, calls))


def _observations(
    workload: Program, compile_with: Callable[[Any], Any] | None, calls: int = 2
) -> Iterator[Observation]:
    _seed(0)
    function, inputs = workload()
    called = function if compile_with is None else compile_with(function)
    return (_observe(function, called, arguments) for arguments in inputs for _ in range(calls))


def _observe(owner: Any, called: Any, arguments: Sequence[Any]) -> Observation:
    named = {f"argument {i}": a for i, a in enumerate(arguments)} | _state(owner)
    leaves = [t for t in _tensors(named) if t.is_leaf and t.requires_grad]
    for leaf in leaves:
        leaf.grad = None
    _seed(1)
    error: Any = None
    result: Any = None
    shares: Any = []
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            result = called(*arguments)
            shares = _shares(result, named)
            # Copied now: the backward pass may not be possible, and later writes must not show.
            outputs = freeze(result)
            roots = [t for t in _tensors(result) if t.requires_grad and t.numel() > 0]
            if roots:
                weights = [
                    torch.linspace(0.5, 1.5, t.numel(), dtype=torch.float64).reshape(t.shape).to(t.dtype) for t in roots
                ]
                torch.autograd.backward(roots, weights)
        except Exception as caught:
            error = (type(caught).__name__, str(caught))
            outputs = None
    return Observation(
        outputs=outputs,
        aliasing=shares,
        # A gradient of zero that is added on the way makes 0.0 of -0.0: no optimiser tells the two apart.
        gradients=[None if t.grad is None else freeze(t.grad + 0) for t in leaves],
        mutation=freeze(named),
        exceptions=error,
        stdout=printed.getvalue(),
        random=torch.rand(1).item(),
    )


def _seed(number: int) -> None:
    # Unlike `torch.manual_seed`, which keeps the whole stack for each device that might still be started.
    torch.default_generator.manual_seed(number)


def _state(owner: Any) -> dict[str, Any]:
    owner = getattr(owner, "__self__", owner)
    if not isinstance(owner, torch.nn.Module):
        return {}
    found: dict[str, Any] = dict(owner.named_parameters())
    found |= dict(owner.named_buffers())
    plain = {
        k: v
        for k, v in vars(owner).items()
        if not k.startswith("_") and isinstance(v, torch.Tensor | int | float | str | list | tuple)
    }
    return found | plain


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _tensors(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _tensors(item)


def _shares(result: Any, named: dict[str, Any]) -> list[tuple[int, str, bool]]:
    """Which returned tensors share memory with what: a later write would show there."""
    known = [(f"{name}[{i}]", t) for name, value in named.items() for i, t in enumerate(_tensors(value))]
    found = []
    outputs = list(_tensors(result))
    for position, tensor in enumerate(outputs):
        for name, other in [*known, *((f"output {i}", t) for i, t in enumerate(outputs[:position]))]:
            if (
                tensor.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()
                and tensor.untyped_storage().nbytes()
            ):
                found.append((position, name, tensor is other))
    return found


def freeze(value: Any) -> Any:
    """A value that compares by type, dtype, shape and bits; NaN equals NaN."""
    if isinstance(value, torch.Tensor):
        plain = value.detach().clone().contiguous().reshape(-1)
        numbers = [
            _bits(n)
            for n in plain.to(
                torch.complex128 if plain.is_complex() else torch.float64 if plain.is_floating_point() else torch.int64
            ).tolist()
        ]
        return (str(value.dtype), tuple(value.shape), value.requires_grad, numbers)
    if isinstance(value, list | tuple):
        return (type(value).__name__, [freeze(v) for v in value])
    if isinstance(value, dict):
        return {k: freeze(v) for k, v in value.items()}
    if isinstance(value, float):
        return ("float", _bits(value))
    return (type(value).__name__, value) if isinstance(value, bool | int | str | None) else type(value).__name__


def _bits(number: Any) -> str:
    # repr tells -0.0 from 0.0, and every NaN is the same.
    return repr(number)


def differences(
    left: Sequence[Observation], right: Sequence[Observation], excused: frozenset[str] = frozenset()
) -> list[str]:
    """Where two runs differ, in words; `excused` names parts that need not agree."""
    found = [f"{len(left)} observations and {len(right)}"] if len(left) != len(right) else []
    for index, (a, b) in enumerate(zip(left, right, strict=False)):
        for part in PARTS:
            if part not in excused and getattr(a, part) != getattr(b, part):
                found.append(f"call {index}: {part}: {getattr(a, part)!r} became {getattr(b, part)!r}")
    return found


@dataclass(frozen=True)
class Compiled:
    """What compiling showed: the unique break sites, the number of graphs that ran, and each call."""

    sites: frozenset[tuple[int, int]]
    graphs: int
    observations: list[Observation]


def compiled(workload: Program, *, up_to_a_break: bool = False, backend: str = "eager") -> Compiled:
    """Run a compiled workload, and count; up to the first call that breaks, if so wanted."""
    torch._dynamo.reset()
    seen: list[Observation] = []
    with BreakCollector() as collector:
        boundary = helper().boundary
        for one in _observations(workload, lambda f: boundary(torch.compile(f, backend=backend))):
            seen.append(one)
            if up_to_a_break and collector.break_sites:
                break
    torch._dynamo.reset()
    return Compiled(frozenset((s.line, s.column) for s in collector.break_sites), collector.graph_runs, seen)
