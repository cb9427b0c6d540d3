"""The records of a structured log, one after the other, in little memory however long the log is.

A record is a line `V0102 03:04:05.678 123 file.py:45] {"kind": ...}`; the lines of its payload follow, each with a tab
in front. This is the format that torch writes to the folder named by TORCH_TRACE.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_WANTED = frozenset({b"str", b"dynamo_start", b"compilation_metrics", b"artifact"})
_ARTIFACTS = (b'"dynamo_graph_break_reason"', b'"recompile_reasons"', b'"torch_version"')
_HEADER = re.compile(rb"[A-Z]\d{4} \d\d:\d\d:\d\d")

_LONGEST_LINE = 64 * 2**20
"""Bytes of a line after which the rest is dropped: the longest ones list the shapes of every node of a graph."""

_LONGEST_PAYLOAD = 2**20
"""Bytes of a payload that are kept; those that are read here end with long tracebacks of no interest."""

_STEP = 8 * 2**20


@dataclass(frozen=True)
class Record:
    """One record: `data` is its JSON, `payload` the text that follows it."""

    data: dict[str, Any]
    payload: str


@dataclass
class Damage:
    """What of a log could not be read."""

    truncated: bool = False
    broken: int = 0
    records: int = 0


def read_records(path: Path, damage: Damage, progress: Callable[[int], None] = lambda _: None) -> Iterator[Record]:
    """The records of the kinds that matter, from a plain or gzip-compressed log. `progress` gets bytes of the file.

    A log that ends in the middle gives what is complete. Raises OSError where the file cannot be read.
    """
    with path.open("rb") as raw:
        compressed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        stream: IO[bytes] | gzip.GzipFile = gzip.GzipFile(fileobj=raw) if compressed else raw
        header: bytes | None = None
        payload: list[bytes] = []
        size = 0
        for line in _lines(stream, raw, damage, progress):
            if line.startswith(b"\t"):
                if header is not None and size < _LONGEST_PAYLOAD:
                    payload.append(line[1:])
                    size += len(line)
                continue
            if header is not None:
                yield from _record(header, payload, damage)
            header, payload, size = None, [], 0
            if _HEADER.match(line):
                damage.records += 1
                header = line if is_wanted(line) else None
        if header is not None:
            yield from _record(header, payload, damage)


def _lines(
    stream: IO[bytes] | gzip.GzipFile, raw: IO[bytes], damage: Damage, progress: Callable[[int], None]
) -> Iterator[bytes]:
    told = since = 0
    while True:
        try:
            line = stream.readline(_LONGEST_LINE)
            if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                damage.broken += 1
                while line and not line.endswith(b"\n"):
                    line = stream.readline(_LONGEST_LINE)
                continue
        except (EOFError, zlib.error, gzip.BadGzipFile):
            damage.truncated = True
            return
        if not line:
            return
        if not line.endswith(b"\n"):
            damage.truncated = True
        since += len(line)
        if since >= _STEP:
            since, place = 0, raw.tell()
            progress(place - told)
            told = place
        yield line


def is_wanted(line: bytes) -> bool:
    """Whether a header line begins a record of a kind that matters."""
    start = line.find(b'{"', 0, 400)
    kind = line[start + 2 : line.find(b'"', start + 2)] if start >= 0 else b""
    return kind in _WANTED and (kind != b"artifact" or any(name in line[start : start + 100] for name in _ARTIFACTS))


def _record(header: bytes, payload: list[bytes], damage: Damage) -> Iterator[Record]:
    try:
        data = json.loads(header[header.index(b'{"') :])
    except ValueError:
        damage.broken += 1
        return
    if isinstance(data, dict):
        yield Record(data, b"".join(payload).decode("utf-8", "replace"))
