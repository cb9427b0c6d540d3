"""What was read from the logs of a run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A place in a source file: lines and columns from 1, column 0 where it is not known.

    `source` is the line without its indentation, from which the column counts until the file was looked at.
    """

    path: str
    line: int
    column: int = 0
    function: str = ""
    source: str = ""


@dataclass(frozen=True)
class TracedBreak:
    """A unique place where graphs broke. `gb` is empty where torch gave no id.

    `count` is the number of compilations that met the break, over all ranks, and `frames` that of the functions, or
    parts of functions, that were compiled. `compile_s` is the time in seconds that these compilations took; `skipped`
    says that at least once the whole function was left to Python.
    """

    place: Place
    gb: str
    title: str
    reason: str
    count: int
    frames: int
    compile_s: float
    skipped: bool


@dataclass(frozen=True)
class TracedRecompile:
    """A guard that failed, in one function. Guards that differ in numbers only count as one; `reason` shows the first.

    `place` is where the function starts, `cause` the line that made the guard, None where torch does not tell.
    `count` is the number of compilations that it led to, `compile_s` their time in seconds, `frames` the number of
    functions or parts of functions. `limit` says that the function was given up in the end, because it was compiled
    too often. `part` is the line at which the part of the function starts that was compiled again, 0 for the whole.
    """

    place: Place
    reason: str
    cause: Place | None
    count: int
    compile_s: float
    limit: bool
    frames: int = 1
    part: int = 0


@dataclass(frozen=True)
class Trace:
    """A whole run. `ranks` counts the processes that compiled something, `frames` the functions or parts of functions.

    `files` are the source files of the program that were seen on the way to compiled code, `functions` the places of
    what was compiled. `notes` say what could not be read.
    """

    breaks: tuple[TracedBreak, ...] = ()
    recompiles: tuple[TracedRecompile, ...] = ()
    torch: str = ""
    ranks: int = 0
    frames: int = 0
    compilations: int = 0
    compile_s: float = 0.0
    files: tuple[str, ...] = ()
    functions: tuple[Place, ...] = ()
    notes: tuple[str, ...] = ()
