"""Shares the units of a search among processes, where that is worth it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from compilefix.fixing.search import Entry, Search, UnitResult

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
    # A hook looks at a few files in one process: it need not wait for this import.
    from compilefix.fixing.processes import shared

    return shared(search, units, entry, min(jobs, len(units)))
