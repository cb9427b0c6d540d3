"""Shares the units of a search among processes."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from compilefix.fixing.search import Entry, Search, UnitResult
from compilefix.source import interpreter

Unit = tuple[str, ...]


def available_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def look_at(search: Search, units: Sequence[Unit], entry: Entry, jobs: int) -> Iterator[UnitResult]:
    """The results of all units, in their order, with at most `jobs` processes.

    The results do not depend on the number of processes. A unit whose process dies is looked at here.
    """
    if jobs <= 1 or len(units) <= 1:
        return (search.unit(names, entry) for names in units)
    return _shared(search, units, entry, min(jobs, len(units)))


@dataclass(frozen=True)
class _Worker:
    process: BaseProcess
    connection: Connection


def _shared(search: Search, units: Sequence[Unit], entry: Entry, jobs: int) -> Iterator[UnitResult]:
    # A forked process has the sources already; elsewhere forking is not safe and they are sent.
    linux = sys.platform == "linux"
    context = multiprocessing.get_context("fork") if linux else multiprocessing.get_context("spawn")
    workers: list[_Worker] = []
    for _ in range(jobs):
        here, there = context.Pipe()
        process = context.Process(target=_serve, args=(there, search, entry), daemon=True)
        process.start()
        there.close()
        workers.append(_Worker(process, here))
    try:
        results = _collect(workers, units)
    finally:
        for worker in workers:
            worker.connection.close()
            worker.process.terminate()
            worker.process.join()
    for position, names in enumerate(units):
        yield results[position] if position in results else search.unit(names, entry)


def _collect(workers: Sequence[_Worker], units: Sequence[Unit]) -> dict[int, UnitResult]:
    """What the workers found, by the position of the unit. Those of workers that died are missing."""
    results: dict[int, UnitResult] = {}
    waiting = list(enumerate(units))[::-1]
    at_work: dict[Connection, int] = {}

    def hand_out(connection: Connection) -> None:
        if waiting:
            position, names = waiting.pop()
            try:
                connection.send(names)
            except OSError:
                return
            at_work[connection] = position

    for worker in workers:
        hand_out(worker.connection)
    while at_work:
        for ready in wait(list(at_work)):
            assert isinstance(ready, Connection)
            position = at_work.pop(ready)
            try:
                results[position] = ready.recv()
            except (EOFError, OSError):
                continue
            hand_out(ready)
    return results


def _serve(connection: Connection, search: Search, entry: Entry) -> None:
    interpreter.prepare()
    try:
        while True:
            connection.send(search.unit(connection.recv(), entry))
    except (EOFError, OSError, KeyboardInterrupt):
        return
