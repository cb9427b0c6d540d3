"""The processes that look at units of a search at the same time."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from compilefix.fixing.search import Entry, Search, UnitResult
from compilefix.source import interpreter


@dataclass(frozen=True)
class _Worker:
    process: BaseProcess
    connection: Connection


def shared(search: Search, units: Sequence[tuple[str, ...]], entry: Entry, jobs: int) -> Iterator[UnitResult]:
    """The results of all units, in their order. A unit whose process dies is looked at here."""
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


def _collect(workers: Sequence[_Worker], units: Sequence[tuple[str, ...]]) -> dict[int, UnitResult]:
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
