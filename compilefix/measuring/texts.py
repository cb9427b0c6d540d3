"""Compares what two calls said: printed text, log records and warnings, with their order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from compilefix.measuring.leaves import Leaf
from compilefix.measuring.verdict_model import Aspect, worst

PRINTED = 1e-4
"""How far a printed fraction may be off, relative to its value and at least to one."""
_NUMBER = re.compile(r"-?\d+\.\d+(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Rounding:
    """How printed numbers may differ beyond `PRINTED`.

    `last_digit` allows one in the last digit that is printed, `relative` a share of the value: compiled code rounds at
    other places, and the values of half precision lie that far apart.
    """

    last_digit: bool = False
    relative: float = 0.0


def said(
    left: Mapping[str, Any], right: Mapping[str, Any], rounding: Rounding, compiling: bool = False
) -> Iterator[Leaf]:
    """Compares two transcripts. `compiling`: torch itself may have written to standard error while it compiled."""
    for channel in ("stdout",) if compiling else ("stdout", "stderr"):
        status = _words(left[channel], right[channel], rounding)
        text = "" if status == "equal" else _first_line(left[channel], right[channel], rounding)
        yield Leaf(channel, status, text=text)
    status = _records(left["records"], right["records"], rounding)
    text = "" if status == "equal" else _first_record(left["records"], right["records"], rounding)
    yield Leaf("log records and warnings", status, text=text)


def _words(left: str, right: str, rounding: Rounding) -> Aspect:
    if left == right:
        return "equal"
    if _NUMBER.sub("#", left) != _NUMBER.sub("#", right):
        return "different"
    # The same words with other digits: a printed value that was rounded in another way.
    pairs = zip(_NUMBER.findall(left), _NUMBER.findall(right), strict=True)
    return "close" if all(_near(one, two, rounding) for one, two in pairs) else "different"


def _near(left: str, right: str, rounding: Rounding) -> bool:
    one, two = Decimal(left), Decimal(right)
    allowed = max(Decimal(PRINTED) * max(Decimal(1), abs(one)), Decimal(rounding.relative) * abs(one))
    if rounding.last_digit:
        # 0.2499 and 0.2501 are 0.2 and 0.3 with one digit.
        allowed = max(allowed, Decimal((0, (1,), max(_exponent(one), _exponent(two)))))
    return abs(one - two) <= allowed


def _exponent(number: Decimal) -> int:
    exponent = number.as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def _records(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]], rounding: Rounding) -> Aspect:
    if len(left) != len(right):
        return "different"
    return worst(
        _words(one[2], two[2], rounding) if (*one[:2], one[3]) == (*two[:2], two[3]) else "different"
        for one, two in zip(left, right, strict=True)
    )


def _first_line(left: str, right: str, rounding: Rounding) -> str:
    """Names the first line that is different; only where there is none, the first of other digits."""
    one, two = left.splitlines(), right.splitlines()
    pairs = [(one[index : index + 1], two[index : index + 1]) for index in range(max(len(one), len(two)))]
    unlike = [index for index, (a, b) in enumerate(pairs) if a != b]
    for index in sorted(
        unlike, key=lambda at: _words("".join(pairs[at][0]), "".join(pairs[at][1]), rounding) == "close"
    ):
        a, b = pairs[index]
        return f"line {index + 1}: {a[0] if a else 'nothing'!r} in the original, {b[0] if b else 'nothing'!r} after"
    return "the line ends differ"


def _first_record(left: Sequence[Sequence[Any]], right: Sequence[Sequence[Any]], rounding: Rounding) -> str:
    pairs = [(left[index : index + 1], right[index : index + 1]) for index in range(max(len(left), len(right)))]
    unlike = [index for index, (a, b) in enumerate(pairs) if a != b]
    for index in sorted(unlike, key=lambda at: _records(*pairs[at], rounding) == "close"):
        a, b = pairs[index]
        if a and b and a[0][:3] == b[0][:3]:
            return f"record {index + 1} comes at another place among the printed lines: {a[0][2]!r}"
        return f"record {index + 1}: {_record(a)} in the original, {_record(b)} in the patched code"
    return ""


def _record(found: Sequence[Sequence[Any]]) -> str:
    return f"{found[0][0]} {found[0][1]}: {found[0][2]!r}" if found else "nothing"
