"""From the logs of a run to its unique break sites and recompiles."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from compilefix.analysis.dynamo_words import named
from compilefix.source.errors import InputError
from compilefix.source.files import display_path
from compilefix.tracing.model import Place, Trace, TracedBreak, TracedRecompile
from compilefix.tracing.payloads import (
    BreakText,
    Guard,
    culprit,
    guard_kind,
    is_foreign,
    read_break,
    read_guards,
)
from compilefix.tracing.records import Damage, Record, read_records

LOG_PREFIX = "dedicated_log_torch_trace_"
_RANK = re.compile(r"rank_(\d+)_")
_TORCH_FOLDER = re.compile(r"(.*[\\/]torch[\\/])_dynamo[\\/]")
_LIMITS = ("recompile limit", "cache limit", "recompile_limit", "cache_size_limit")

CompileId = tuple[object, object, object]


def find_logs(place: Path) -> tuple[Path, ...]:
    """The logs in a file or folder. Raises InputError where there are none."""
    if place.is_file():
        return (place,)
    if not place.is_dir():
        raise InputError(f"{display_path(place)}: no such file or folder")
    files = sorted(path for path in place.rglob("*") if path.is_file())
    # Under their own names, or else whatever looks like a log.
    logs = [path for path in files if path.name.startswith(LOG_PREFIX)]
    logs = logs or [path for path in files if {".log", ".gz"} & set(path.suffixes)]
    if not logs:
        raise InputError(f"{display_path(place)}: holds no logs ({LOG_PREFIX}*) of a run with TORCH_TRACE")
    return tuple(logs)


def read_logs(
    logs: Sequence[Path], ids: Mapping[str, str], progress: Callable[[int, int], None] | None = None
) -> Trace:
    """Read the logs of all ranks. `ids` are the graph-break ids by title; `progress` gets bytes done and in all."""
    sizes = [log.stat().st_size for log in logs]
    run = _Run(ids)
    for index, log in enumerate(logs):
        reading = _Progress(progress, sum(sizes[:index]), sum(sizes))
        damage = Damage()
        shown = display_path(log)
        try:
            run.add(log, read_records(log, damage, reading))
        except OSError as error:
            run.notes.append(f"{shown}: cannot be read: {error.strerror or error}")
            continue
        if damage.truncated:
            run.notes.append(f"{shown}: ends in the middle; what stands before that was read")
        if damage.broken:
            run.notes.append(f"{shown}: {damage.broken} broken records were left out")
        if not damage.records:
            run.notes.append(f"{shown}: holds no records of TORCH_TRACE")
    return run.trace()


@dataclass
class _Progress:
    """Adds up what was read of the logs so far, in bytes."""

    tell: Callable[[int, int], None] | None
    done: int
    total: int

    def __call__(self, size: int) -> None:
        self.done += size
        if self.tell is not None:
            self.tell(self.done, self.total)


@dataclass
class _Site:
    """A break site while it is counted."""

    text: BreakText
    count: int = 0
    frames: set[object] = field(default_factory=set)
    compile_s: float = 0.0
    skipped: bool = False


@dataclass
class _Cause:
    """A recompile cause while it is counted."""

    place: Place
    guard: Guard
    count: int = 0
    frames: set[object] = field(default_factory=set)
    compile_s: float = 0.0
    limit: bool = False


@dataclass
class _Open:
    """A compilation whose end was not seen yet."""

    breaks: dict[tuple[str, int, str], BreakText] = field(default_factory=dict)
    guard: Guard | None = None


@dataclass
class _Log:
    """One file while it is read. `strings` and `functions` are numbered in each file anew."""

    strings: dict[int, str] = field(default_factory=dict)
    functions: dict[object, Place] = field(default_factory=dict)
    open: dict[CompileId, _Open] = field(default_factory=dict)
    rank: int | None = None
    torch_folder: str = ""


class _Run:
    """All logs of a run."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        self.notes: list[str] = []
        self._ids = ids
        self._sites: dict[tuple[str, int, str], _Site] = {}
        self._causes: dict[tuple[str, int, str, str], _Cause] = {}
        self._files: dict[str, None] = {}
        self._functions: dict[Place, None] = {}
        self._ranks: set[object] = set()
        self._torch = ""
        self._frames = 0
        self._compilations = 0
        self._compile_s = 0.0

    def add(self, path: Path, records: Iterable[Record]) -> None:
        found = _RANK.search(path.name)
        log = _Log(rank=int(found[1]) if found else None)
        try:
            for record in records:
                self._take(log, path, record)
        finally:
            # A run that was ended, or a log that was cut off: the breaks are known, the time is not.
            for key, compilation in log.open.items():
                self._close(log, path, key, compilation, {})
            self._frames += len(log.functions)
            self._functions.update(dict.fromkeys(log.functions.values()))
            if log.functions:
                self._ranks.add(path if log.rank is None else log.rank)

    def trace(self) -> Trace:
        breaks = [
            TracedBreak(
                site.text.place,
                site.text.gb,
                site.text.title,
                site.text.reason,
                site.count,
                len(site.frames),
                round(site.compile_s, 6),
                site.skipped,
            )
            for site in self._sites.values()
            if site.text.place is not None
        ]
        recompiles = [
            TracedRecompile(
                c.place, c.guard.text, c.guard.cause, c.count, round(c.compile_s, 6), c.limit, len(c.frames)
            )
            for c in self._causes.values()
        ]
        return Trace(
            tuple(sorted(breaks, key=lambda b: (-b.compile_s, -b.count, b.place.path, b.place.line, b.gb))),
            tuple(sorted(recompiles, key=lambda r: (-r.compile_s, -r.count, r.place.path, r.place.line, r.reason))),
            self._torch,
            len(self._ranks),
            self._frames,
            self._compilations,
            round(self._compile_s, 6),
            tuple(self._files),
            tuple(self._functions),
            tuple(self.notes),
        )

    def _take(self, log: _Log, path: Path, record: Record) -> None:
        data = record.data
        if isinstance(data.get("rank"), int):
            log.rank = data["rank"]
        key = (data.get("compiled_autograd_id"), data.get("frame_id"), data.get("frame_compile_id"))
        if "str" in data:
            text, number = data["str"]
            log.strings[number] = text
            if not log.torch_folder and (found := _TORCH_FOLDER.match(text)):
                log.torch_folder = found[1]
        elif "dynamo_start" in data:
            self._start(log, key, data["dynamo_start"].get("stack") or [])
        elif "compilation_metrics" in data:
            self._close(log, path, key, log.open.pop(key, _Open()), data["compilation_metrics"])
        else:
            self._artifact(log, key, data["artifact"].get("name"), record.payload)

    def _artifact(self, log: _Log, key: CompileId, name: object, payload: str) -> None:
        if name == "torch_version":
            found = re.search(r'"pytorch_version":\s*"([^"]+)"', payload)
            self._torch = found[1] if found else self._torch
        elif name == "dynamo_graph_break_reason":
            text = read_break(payload, log.torch_folder, self._ids)
            place = text.place or log.functions.get(key[:2])
            if place is not None:
                unique = (place.path, place.line, text.gb or text.title)
                log.open.setdefault(key, _Open()).breaks.setdefault(unique, replace(text, place=place))
        elif name == "recompile_reasons":
            guard = culprit(read_guards(payload))
            if guard is not None:
                log.open.setdefault(key, _Open()).guard = guard

    def _start(self, log: _Log, key: CompileId, stack: Sequence[Mapping[str, Any]]) -> None:
        frames = [
            Place(log.strings.get(f.get("filename", -1), ""), f.get("line", 0), 0, f.get("name", "")) for f in stack
        ]
        if frames:
            log.functions[key[:2]] = replace(frames[-1], function=named(frames[-1].function))
        for frame in frames:
            if frame.path and not is_foreign(frame.path, log.torch_folder):
                self._files[frame.path] = None

    def _close(self, log: _Log, path: Path, key: CompileId, compilation: _Open, metrics: Mapping[str, Any]) -> None:
        seconds = float(metrics.get("entire_frame_compile_time_s") or 0.0)
        frame = key[:2]
        if metrics.get("co_filename"):
            function = named(metrics.get("co_name") or "")
            log.functions[frame] = Place(metrics["co_filename"], metrics.get("co_firstlineno") or 0, 0, function)
        failed = str(metrics.get("fail_reason") or "")
        limit = any(words in failed for words in _LIMITS)
        if not limit:
            self._compilations += 1
        self._compile_s += seconds
        # Another kind of failure is an exception of the program's own, which its caller gets.
        if metrics.get("fail_type") == "Unsupported" and not limit and not compilation.breaks:
            self._failed(log, key, compilation, metrics, failed)
        for unique, text in compilation.breaks.items():
            site = self._sites.setdefault(unique, _Site(text))
            site.count += 1
            site.frames.add((path, *frame))
            site.compile_s += seconds
            site.skipped = site.skipped or text.skipped
        place = log.functions.get(frame)
        if compilation.guard is not None and place is not None:
            name = (place.path, place.line, place.function, guard_kind(compilation.guard.text))
            cause = self._causes.setdefault(name, _Cause(place, compilation.guard))
            cause.limit = cause.limit or limit
            # At the limit nothing is compiled any more.
            cause.count += not limit
            cause.frames.add((path, *frame))
            cause.compile_s += seconds

    def _failed(self, log: _Log, key: CompileId, compilation: _Open, metrics: Mapping[str, Any], failed: str) -> None:
        """A function that was given up without a record of a break: the figures of the compilation say why."""
        text = read_break(failed, log.torch_folder, self._ids)
        place = text.place or log.functions.get(key[:2])
        file, line = metrics.get("fail_user_frame_filename"), metrics.get("fail_user_frame_lineno")
        if isinstance(file, str) and isinstance(line, int) and not is_foreign(file, log.torch_folder):
            place = Place(file, line, 0, log.functions[key[:2]].function if key[:2] in log.functions else "")
        if place is not None:
            unique = (place.path, place.line, text.gb or text.title)
            compilation.breaks[unique] = replace(text, place=place, skipped=True)
