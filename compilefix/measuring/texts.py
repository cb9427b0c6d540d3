"""Compares what two calls said: printed text, log records and warnings, with their order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compilefix.measuring.leaves import Leaf
from compilefix.measuring.verdict_model import Aspect, worst

# How far a printed fraction may be off, relative to its value and at least to one.
PRINTED = 1e-4
_NUMBER = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")


def said(left: Mapping[str, Any], right: Mapping[str, Any], skip_stderr: bool) -> Iterator[Leaf]:
    """Compares two transcripts; without standard error where torch itself may have written to it."""
    for channel in ("stdout", "stderr"):
        # While it compiles, torch itself may write to standard error.
        if channel == "stderr" and skip_stderr:
            continue
        status = _words(left[channel], right[channel])
        yield Leaf(channel, status, text="" if status == "equal" else _first_line(left[channel], right[channel]))
    status = _records(left["records"], right["records"])
    text = "" if status == "equal" else _first_record(left["records"], right["records"])
    yield Leaf("log records and warnings", status, text=text)


def _words(left: str, right: str) -> Aspect:
    if left == right:
        return "equal"
    if _NUMBER.sub("#", left) != _NUMBER.sub("#", right):
        return "different"
    # The same words with other digits: a printed value that was rounded in another way.
    pairs = zip(_NUMBER.findall(left), _NUMBER.findall(right), strict=True)
    return (
        "close" if all(abs(float(a) - float(b)) <= PRINTED * max(1.0, abs(float(a))) for a, b in pairs) else "different"
    )


def _records(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> Aspect:
    if len(left) != len(right):
        return "different"
    return worst(
        _words(one[2], two[2]) if (*one[:2], one[3]) == (*two[:2], two[3]) else "different"
        for one, two in zip(left, right, strict=True)
    )


def _first_line(left: str, right: str) -> str:
    """Names the first line that is different; only where there is none, the first of other digits."""
    one, two = left.splitlines(), right.splitlines()
    pairs = [(one[index : index + 1], two[index : index + 1]) for index in range(max(len(one), len(two)))]
    unlike = [index for index, (a, b) in enumerate(pairs) if a != b]
    for index in sorted(unlike, key=lambda at: bool(pairs[at][0] and pairs[at][1] and _alike(*pairs[at]))):
        a, b = pairs[index]
        return f"line {index + 1}: {a[0] if a else 'nothing'!r} in the original, {b[0] if b else 'nothing'!r} after"
    return "the line ends differ"


def _alike(left: Sequence[str], right: Sequence[str]) -> bool:
    return _words(left[0], right[0]) == "close"


def _first_record(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]]) -> str:
    pairs = [(left[index : index + 1], right[index : index + 1]) for index in range(max(len(left), len(right)))]
    unlike = [index for index, (a, b) in enumerate(pairs) if a != b]
    for index in sorted(unlike, key=lambda at: _records(*pairs[at]) == "close"):
        a, b = pairs[index]
        if a and b and a[0][:3] == b[0][:3]:
            return f"record {index + 1} comes at another place among the printed lines: {a[0][2]!r}"
        return f"record {index + 1}: {_record(a)} in the original, {_record(b)} in the patched code"
    return ""


def _record(found: Sequence[Sequence[Any]]) -> str:
    return f"{found[0][0]} {found[0][1]}: {found[0][2]!r}" if found else "nothing"
