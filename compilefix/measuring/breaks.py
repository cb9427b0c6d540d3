"""Collects what Dynamo could not keep in one graph, by unique place in the user's source.

Dynamo's counters are not enough: they miss functions that are skipped because of a break in a loop, and on torch 2.11
`counters["graph_break"]` read 0 for a tensor `if` that split a graph. `torch._dynamo.explain` has the same holes. So
the collector listens where Dynamo itself reports: the `log_graph_break` method, the "graph_breaks" artifact loggers
(the only source where that method is missing, and the source for skipped functions), and the "recompiles" artifact
logger. All of these are private, so each is looked for before it is used.
"""

from __future__ import annotations

import functools
import json
import linecache
import logging
import os
import re
import sys
import sysconfig
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any

import torch

from compilefix.analysis.dynamo_words import BREAK_PLACE, REASON, STACK_FRAME, id_in, named, without_frame_id
from compilefix.measuring.request import BreakSite, FrameEvent

if TYPE_CHECKING:
    from typing_extensions import Self

_TORCH = str(Path(torch.__file__).resolve().parent)
_HERE = str(Path(__file__).resolve().parents[1])
_STDLIB = str(Path(sysconfig.get_paths()["stdlib"]).resolve())

_BREAK_LOGGERS = ("torch._dynamo.convert_frame", "torch._dynamo.symbolic_convert", "torch._dynamo.exc")
_RECOMPILE_LOGGER = "torch._dynamo.guards"

_RECOMPILE = re.compile(r"Recompiling function (?P<function>\S+) in (?P<path>.+):(?P<line>\d+)")
_SKIPPED = re.compile(r"skip tracing the frame (?P<function>\S+) \((?P<path>.+?):? line (?P<line>\d+)\)")
_LIMIT = re.compile(r"function: '(?P<function>\S+) \((?P<path>.+):(?P<line>\d+)\)'")

Place = tuple[str, int, int, str]


class BreakCollector:
    """Listens while code is compiled. Use it as a context manager round everything that may compile.

    `graph_runs` counts the compiled graphs that ran, `compile_s` is the wall time spent compiling, in seconds, or None
    when this torch offers no hook for it.
    """

    def __init__(self) -> None:
        self.graph_runs = 0
        self.compilations = 0
        self.compile_s: float | None = None
        self.notes: list[str] = []
        self._sites: dict[tuple[str, int, int], tuple[str, str, int, str]] = {}
        self._recompiles: dict[tuple[str, int, str, str], int] = {}
        self._skipped: dict[tuple[str, int, str, str], int] = {}
        self._undo: list[Callable[[], None]] = []
        self._gb = _registry()

    def __enter__(self) -> Self:
        hooked = self._hook_log_graph_break()
        self._hook_skipped_loops()
        self._listen(hooked)
        self._count_graphs()
        self._time_compilation()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._undo:
            self._undo.pop()()

    @property
    def break_sites(self) -> tuple[BreakSite, ...]:
        """The unique places, by file and line."""
        found: list[BreakSite] = []
        # From the largest column down: a break whose column is not known belongs to the known one on its line.
        for (path, line, column), (gb, reason, count, function) in sorted(self._sites.items(), reverse=True):
            last = found[-1] if found else None
            if column == 0 and last is not None and (last.path, last.line) == (path, line):
                found[-1] = replace(last, count=last.count + count)
            else:
                source = linecache.getline(path, line).strip()
                found.append(BreakSite(path, line, column, gb, reason, count, function, source))
        return tuple(reversed(found))

    @property
    def recompiles(self) -> tuple[FrameEvent, ...]:
        """Functions that were compiled again, with the guards that failed."""
        return _events(self._recompiles)

    @property
    def skipped_frames(self) -> tuple[FrameEvent, ...]:
        """Functions that Dynamo gave up on and left to Python."""
        return _events(self._skipped)

    def _hook_log_graph_break(self) -> bool:
        from torch._dynamo import symbolic_convert

        owner = getattr(symbolic_convert, "InstructionTranslatorBase", None)
        original = getattr(owner, "log_graph_break", None)
        if owner is None or original is None:
            return False

        @functools.wraps(original)
        def log_graph_break(translator: Any, *args: Any, **kwargs: Any) -> Any:
            values = [*args, *kwargs.values()]
            error = next((value for value in values if isinstance(value, BaseException)), None) or sys.exc_info()[1]
            if not getattr(error, "logged", False):
                reason = kwargs.get("reason") or next((value for value in args if isinstance(value, str)), "")
                stack = next((value for value in values if isinstance(value, traceback.StackSummary)), None)
                self._add_break(error, str(reason), stack, translator)
                if "Skipping the function" in reason:
                    code = translator.f_code
                    self._add_skip(code.co_filename, code.co_firstlineno, code.co_name, self._headline(error, reason))
            return original(translator, *args, **kwargs)

        owner.log_graph_break = log_graph_break
        self._undo.append(lambda: setattr(owner, "log_graph_break", original))
        return True

    def _hook_skipped_loops(self) -> None:
        """In torch 2.6 to 2.8 a break in a loop skips the function by an exception that only an INFO line tells of."""
        from torch._dynamo import exc

        skipping = getattr(exc, "SkipFrame", None)
        if skipping is None:
            return
        original = skipping.__init__

        @functools.wraps(original)
        def made(error: BaseException, *args: Any, **kwargs: Any) -> None:
            original(error, *args, **kwargs)
            code = getattr(sys._getframe(1).f_locals.get("self"), "f_code", None)
            if code is not None and "graph break in a for/while loop" in str(error):
                cause = sys.exc_info()[1] or error
                self._add_skip(code.co_filename, code.co_firstlineno, code.co_name, self._headline(cause, str(error)))

        skipping.__init__ = made
        self._undo.append(lambda: setattr(skipping, "__init__", original))

    def _listen(self, hooked: bool) -> None:
        try:
            torch._logging.set_logs(graph_breaks=True, recompiles=True)
        except (AttributeError, ValueError) as error:
            self.notes.append(f"this torch has no artifact logs for breaks and recompiles ({error})")
            return
        self._undo.append(lambda: torch._logging.set_logs())

        def on_break(record: logging.LogRecord) -> None:
            # symbolic_convert's records tell again what the hook has seen; convert_frame's are about skipped functions
            if not (hooked and "symbolic_convert" in record.name):
                self._add_logged_break(record)

        for name in _BREAK_LOGGERS:
            self._attach(f"{name}.__graph_breaks", on_break)
        self._attach(f"{_RECOMPILE_LOGGER}.__recompiles", self._add_recompile)
        self._attach("torch._dynamo.convert_frame", self._add_limit, alone=False)

    def _attach(self, name: str, listener: Callable[[logging.LogRecord], None], alone: bool = True) -> None:
        logger = logging.getLogger(name)
        handler = _Listener(listener)
        before, propagated = list(logger.handlers), logger.propagate
        logger.handlers = [handler] if alone else [*before, handler]
        logger.propagate = not alone and propagated

        def restore() -> None:
            logger.handlers = [item for item in before if item in logger.handlers or alone]
            logger.propagate = propagated

        self._undo.append(restore)

    def _count_graphs(self) -> None:
        from torch._dynamo import output_graph

        owner = getattr(output_graph, "OutputGraph", None)
        original = getattr(owner, "call_user_compiler", None)
        if owner is None or original is None:
            self.notes.append("graphs were not counted: this torch has no OutputGraph.call_user_compiler")
            return

        # Here every backend, mode and inner torch.compile passes by; a wrapped backend would not carry `mode`.
        @functools.wraps(original)
        def call_user_compiler(graph: Any, *args: Any, **kwargs: Any) -> Any:
            self.compilations += 1
            compiled = original(graph, *args, **kwargs)

            @functools.wraps(compiled, updated=())
            def counted(*values: Any, **named: Any) -> Any:
                self.graph_runs += 1
                return compiled(*values, **named)

            return counted

        owner.call_user_compiler = call_user_compiler
        self._undo.append(lambda: setattr(owner, "call_user_compiler", original))

    def _time_compilation(self) -> None:
        try:
            from torch._dynamo.callback import callback_handler
        except ImportError:
            return
        started: list[float] = []

        def start(*_: Any) -> None:
            started.append(time.perf_counter())

        def end(*_: Any) -> None:
            if started:
                self.compile_s = (self.compile_s or 0.0) + time.perf_counter() - started.pop()

        self.compile_s = 0.0
        callback_handler.register_start_callback(start)
        callback_handler.register_end_callback(end)
        self._undo.append(lambda: callback_handler.remove_start_callback(start))
        self._undo.append(lambda: callback_handler.remove_end_callback(end))

    def _add_break(
        self,
        error: BaseException | None,
        reason: str,
        stack: Iterable[traceback.FrameSummary] | None,
        translator: Any = None,
    ) -> None:
        frames = list(getattr(error, "real_stack", None) or stack or ())
        if not frames and translator is not None:
            frames = list(_traced_stack())
        place = _user_place(frames)
        if place is not None:
            place = _with_column(place, translator)
            self._add_site(place, self._gb_of(error, reason), self._headline(error, reason))

    def _add_site(self, place: Place, gb: str, reason: str) -> None:
        path, line, column, function = (*place[:3], named(place[3]))
        known = self._sites.get((path, line, column))
        count = 1 if known is None else known[2] + 1
        self._sites[path, line, column] = (
            (gb, reason, count, function) if known is None else (*known[:2], count, known[3])
        )

    def _add_logged_break(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        error = record.exc_info[1] if record.exc_info else None
        if skipped := _SKIPPED.search(message):
            path, line = skipped["path"], int(skipped["line"])
            self._add_skip(path, line, skipped["function"], self._headline(error, message))
        if getattr(error, "real_stack", None):
            self._add_break(error, str(error), None)
        elif place := _logged_place(message):
            found = REASON.search(message)
            reason = found["reason"] if found else message
            self._add_site(place, self._gb_of(error, reason), self._headline(error, reason))

    def _add_recompile(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if found := _RECOMPILE.search(message):
            reasons = [line.strip().removeprefix("- ") for line in message.splitlines()[1:]]
            reason = next((without_frame_id(line) for line in reasons if line and "triggered by" not in line), "")
            key = (found["path"], int(found["line"]), named(found["function"]), reason)
            self._recompiles[key] = self._recompiles.get(key, 0) + 1

    def _add_limit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if "recompile_limit" in message or "cache_size_limit" in message:
            if found := _LIMIT.search(message):
                self._add_skip(found["path"], int(found["line"]), found["function"], "the recompile limit was reached")
            else:
                self.notes.append(message.splitlines()[0])

    def _add_skip(self, path: str, line: int, function: str, reason: str) -> None:
        key = (path, line, named(function), reason)
        self._skipped[key] = self._skipped.get(key, 0) + 1

    def _gb_of(self, error: BaseException | None, reason: str) -> str:
        # A break in a loop is reported as "graph break in loop", with the message of its cause in front.
        first = (lines[0] if (lines := str(text or "").splitlines()) else "" for text in (error, reason))
        for text in (*first, getattr(error, "gb_type", None), reason):
            if isinstance(text, str) and text.strip() in self._gb:
                return self._gb[text.strip()]
        return id_in(f"{error}\n{reason}")

    def _headline(self, error: BaseException | None, reason: str) -> str:
        lines = [line.strip() for line in (str(error) if error is not None else reason).splitlines() if line.strip()]
        first = lines[0] if lines else getattr(error, "gb_type", None) or type(error).__name__
        explained = next((line.removeprefix("Explanation: ") for line in lines if line.startswith("Explanation: ")), "")
        return f"{first}: {explained}" if explained else str(first)


class _Listener(logging.Handler):
    """Hands records on; a failure to read one must not stop a compilation."""

    def __init__(self, listener: Callable[[logging.LogRecord], None]) -> None:
        super().__init__()
        self._listener = listener

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._listener(record)
        except Exception:
            self.handleError(record)


def _registry() -> dict[str, str]:
    """Graph break types and their ids, from the file that newer versions of torch ship."""
    path = Path(_TORCH, "_dynamo", "graph_break_registry.json")
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {item["Gb_type"]: gb for gb, items in entries.items() for item in items if "Gb_type" in item}


def _traced_stack() -> Iterable[traceback.FrameSummary]:
    """Where in the user's code Dynamo is: torch 2.9 and 2.10 hand on no stack where a tensor decides a branch."""
    extract = getattr(getattr(torch._guards, "TracingContext", None), "extract_stack", None)
    return extract() if extract is not None else ()


def _user_place(frames: list[traceback.FrameSummary]) -> Place | None:
    for frame in reversed(frames):
        if not _is_foreign(frame.filename):
            return frame.filename, frame.lineno or 0, _column(frame.filename, frame.lineno, _colno(frame)), frame.name
    # Dynamo was at work in a library function called by a frame that had broken before: look who called it.
    current: FrameType | None = sys._getframe(1)
    while current is not None:
        code = current.f_code
        if not _is_foreign(code.co_filename):
            return code.co_filename, current.f_lineno, _frame_column(current), code.co_name
        current = current.f_back
    if frames:
        last = frames[-1]
        return last.filename, last.lineno or 0, _column(last.filename, last.lineno, _colno(last)), last.name
    return None


def _with_column(place: Place, translator: Any) -> Place:
    """The place with the column of the instruction being translated, where the stack has none (torch 2.11)."""
    path, line, column, function = place
    code, instruction = getattr(translator, "f_code", None), getattr(translator, "current_instruction", None)
    positions = getattr(instruction, "positions", None)
    if column or positions is None or code is None or (code.co_filename, positions.lineno) != (path, line):
        return place
    return path, line, _column(path, line, positions.col_offset), function


def _is_foreign(filename: str) -> bool:
    if filename.startswith("<"):
        return True
    # Whole folders: `torch` is also how torchmetrics and torch_geometric begin.
    if filename.startswith((f"{_TORCH}{os.sep}", f"{_HERE}{os.sep}")):
        return True
    if "site-packages" in filename or "dist-packages" in filename:
        return False
    return filename.startswith(f"{_STDLIB}{os.sep}")


def _colno(frame: traceback.FrameSummary) -> int | None:
    return getattr(frame, "colno", None)  # Python 3.11 and newer


def _frame_column(frame: FrameType) -> int:
    positions = getattr(frame.f_code, "co_positions", None)  # Python 3.11 and newer
    if positions is None:
        return 0
    for index, (_, _, start, _) in enumerate(positions()):
        if index == frame.f_lasti // 2:
            return _column(frame.f_code.co_filename, frame.f_lineno, start)
    return 0


def _column(filename: str, line: int | None, offset: int | None) -> int:
    """The column from 1 in characters for an offset in UTF-8 bytes."""
    if offset is None or line is None:
        return 0
    text = linecache.getline(filename, line)
    return len(text.encode("utf-8")[:offset].decode("utf-8", "ignore")) + 1 if text else offset + 1


def _logged_place(message: str) -> Place | None:
    frames = [(m["path"], int(m["line"]), m["function"]) for m in STACK_FRAME.finditer(message)]
    for path, line, function in reversed(frames):
        if not _is_foreign(path):
            return path, line, 0, function
    if found := BREAK_PLACE.search(message):
        return found["path"], int(found["line"]), 0, ""
    return None


def _events(found: dict[tuple[str, int, str, str], int]) -> tuple[FrameEvent, ...]:
    return tuple(
        FrameEvent(path, line, function, reason, count)
        for (path, line, function, reason), count in sorted(found.items())
    )
