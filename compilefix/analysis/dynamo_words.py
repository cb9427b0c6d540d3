"""How Dynamo words what it logs of breaks and recompiles: patterns for all who read such texts, with torch or without.

The texts are those of torch 2.6 to 2.13.
"""

from __future__ import annotations

import re

BREAK_PLACE = re.compile(
    r"Graph break(?:\s*\([^)]*\))?:? (?:in user code |from user code )?at (?P<path>.+):(?P<line>\d+)"
)
"""The first line of a text about a graph break."""

REASON = re.compile(r"(?:Graph Break )?Reason:\s*(?P<reason>.+)")
"""The line with the title of a graph break."""

STACK_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
"""A frame of a traceback."""

_RESUMED = re.compile(r"torch_dynamo_resume_in_(?P<function>.+)_at_\d+")
_FRAME_ID = re.compile(r"^\[?(?:!?\d+/)?\d+/\d+(?:_\d+)?\]?: ")
_PAGE = re.compile(r"/gb(\d{4})\.html")


def named(function: str) -> str:
    """The function as it is written: after a break Dynamo goes on in functions that it names after it."""
    while found := _RESUMED.fullmatch(function):
        function = found["function"]
    return function


def without_frame_id(reason: str) -> str:
    """A reason for a recompile without the number of the compilation whose guard failed, `0/1: `."""
    return _FRAME_ID.sub("", reason)


def id_in(text: str) -> str:
    """The graph-break id whose page a text names, empty where it names none."""
    found = _PAGE.search(text)
    return f"GB{found[1]}" if found else ""
