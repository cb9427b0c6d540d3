"""Runs one model under Dynamo: where it breaks, and which instructions of the source were traced.

Dynamo's tracer executes bytecode one instruction at a time. Each instruction knows the piece of source that it comes
from (Python 3.11 and newer), so a hook on the tracer's step says exactly which expressions ran compiled: not the
function, the branch. Inlined functions and what is resumed after a break pass by there too.
"""

from __future__ import annotations

import copy
import json
import signal
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from accuracy_models import Builder
from torch._dynamo.symbolic_convert import InstructionTranslatorBase

from compilefix.measuring.breaks import BreakCollector

# Where an instruction comes from: line, column, end line, end column. Lines from 1, columns in UTF-8 bytes from 0.
Position = tuple[int, int, int, int]


@contextmanager
def traced_positions() -> Iterator[dict[str, set[Position]]]:
    """The positions of all instructions that Dynamo traces meanwhile, by file."""
    found: dict[str, set[Position]] = {}
    original = InstructionTranslatorBase.step

    def step(translator: Any) -> bool:
        pointer = translator.instruction_pointer
        if pointer is not None:
            place = translator.instructions[pointer].positions
            if place is not None and place.lineno is not None and place.end_col_offset is not None:
                positions = found.setdefault(translator.f_code.co_filename, set())
                positions.add((place.lineno, place.col_offset, place.end_lineno, place.end_col_offset))
        result: bool = original(translator)
        return result

    # The collector looks for the innermost frame of user code; this one is none.
    step.__code__ = step.__code__.replace(co_filename="<traced_positions>")
    InstructionTranslatorBase.step = step
    try:
        yield found
    finally:
        InstructionTranslatorBase.step = original


def observe(build: Builder, seconds: int) -> dict[str, Any]:
    """What Dynamo did with a model in eval and train mode, as JSON: `sites`, `positions`, `modes`, `error`.

    `error` is set where nothing could be measured; an error of one mode stands in `modes`.
    """
    warnings.simplefilter("ignore")
    signal.alarm(seconds)
    try:
        torch.manual_seed(0)
        function, inputs = build()
    except Exception as error:
        return {"error": f"not built: {_short(error)}"}
    modes: dict[str, str] = {}
    sites: dict[tuple[str, int, int], dict[str, Any]] = {}
    skipped: dict[tuple[str, int], dict[str, Any]] = {}
    with traced_positions() as positions:
        for mode in ("eval", "train") if isinstance(function, torch.nn.Module) else ("call",):
            modes[mode], collector = _run(function, inputs, mode)
            for s in collector.break_sites:
                sites[s.path, s.line, s.column] = {
                    "path": s.path,
                    "line": s.line,
                    "column": s.column,
                    "gb": s.gb,
                    "reason": s.reason,
                    "function": s.function,
                }
            for f in collector.skipped_frames:
                skipped[f.path, f.line] = {"path": f.path, "line": f.line, "function": f.function}
    if not any(positions) and all(state != "ran" for state in modes.values()):
        return {"error": next(iter(modes.values()))}
    return {
        "modes": modes,
        "sites": list(sites.values()),
        "skipped": list(skipped.values()),
        "positions": {path: sorted(found) for path, found in positions.items() if not path.startswith("<")},
    }


def _run(function: Any, inputs: list[Any], mode: str) -> tuple[str, BreakCollector]:
    """Call a model compiled: `ran`, or why it did not; and what was collected."""
    if mode != "call":
        function.train(mode == "train")
    error: Exception | None = None
    kept: list[Any] = []
    for given in inputs:
        failed = _attempt(copy.deepcopy(function), given)
        if failed is None:
            kept.append(given)
        error = failed or error
    torch._dynamo.reset()
    with BreakCollector() as collector:
        if not kept:
            return f"fails in eager mode: {_short(error)}", collector
        compiled = torch.compile(copy.deepcopy(function), backend="eager")
        # Another shape is tried once: training differs in its branches, not in what a shape does.
        for given in kept[: 1 if mode == "train" else None]:
            error = _attempt(compiled, given)
            if error is not None:
                return f"fails compiled: {_short(error)}", collector
    return "ran", collector


def _attempt(function: Any, given: Any) -> Exception | None:
    torch.manual_seed(0)
    given = copy.deepcopy(given)
    try:
        if isinstance(given, Mapping):
            function(**given)
        else:
            function(*given)
    except Exception as error:
        return error
    return None


def _short(error: BaseException | None) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:160] if text else ''}"


def save(result: Mapping[str, Any], path: Path) -> None:
    """Write one result."""
    path.write_text(json.dumps(result), encoding="utf-8")
