"""Ends what a worker has started, also what has left its process group: nothing is to run on after a measurement.

A process that detaches itself (a new session, a parent that has ended) is known by the worker's mark in its
environment, which children inherit, or because it was below the worker in the tree of processes while that still stood.
Where there is no /proc, the process group is all that is known.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MARK = "COMPILEFIX_WORKER"
"""The environment variable that holds the mark of a worker, in the worker and in all that it starts."""

_PROC = Path("/proc")
_ROUNDS = 20


@dataclass(frozen=True)
class Process:
    """A running process. A number alone would not do, for the system uses it again: `started` is its start time.

    Its parent and its session change while it runs (the end of the parent gives it another), so they are not what tells
    it from others.
    """

    pid: int
    started: int
    parent: int = field(compare=False)
    session: int = field(compare=False)


def end_all(worker: int, mark: str) -> None:
    """Kills the worker, its session and everything that it started, until nothing is left of it."""
    known = _below({worker}, tuple(_running()))
    _kill_group(worker)
    for _ in range(_ROUNDS):
        running = tuple(_running())
        known |= {one for one in running if one.session == worker or _has_mark(one.pid, mark)}
        known |= _below({one.pid for one in known.intersection(running)}, running)
        alive = known.intersection(running)
        if not alive:
            return
        for one in alive:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(one.pid, signal.SIGKILL)
        # What is being killed may just have started something.
        time.sleep(0.01)


def _kill_group(worker: int) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(worker, signal.SIGKILL)


def _below(parents: set[int], running: tuple[Process, ...]) -> set[Process]:
    found: set[Process] = set()
    while more := {one for one in running if one.parent in parents and one not in found}:
        found |= more
        parents = {one.pid for one in more}
    return found


def _running() -> Iterator[Process]:
    """The processes of this machine that are not dead already; none where there is no /proc."""
    if not _PROC.is_dir():
        return
    for folder in _PROC.iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name, in parentheses, may hold spaces and parentheses of its own.
                fields = (folder / "stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
                if fields[0] not in ("Z", "X"):
                    yield Process(int(folder.name), int(fields[19]), parent=int(fields[1]), session=int(fields[3]))


def _has_mark(pid: int, mark: str) -> bool:
    with contextlib.suppress(OSError):
        variables = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        return f"{MARK}={mark}".encode() in variables
    return False
