"""In which versions of torch a pattern breaks: `>=2.6`, or `>=2.6,<2.12` where a release has learned to trace it."""

from __future__ import annotations

import operator
import re

_CLAUSE = re.compile(r"(>=|<=|==|<|>)\s*(\d+)\.(\d+)")
_HOLDS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, "<": operator.lt, ">": operator.gt}


def covers(versions: str, target: str) -> bool:
    """Whether `target` ("major.minor") is among the versions.

    >>> covers(">=2.6,<2.12", "2.11"), covers(">=2.6,<2.12", "2.12")
    (True, False)

    Raises ValueError for versions that cannot be read.
    """
    wanted = tuple(map(int, target.split(".")[:2]))
    found = []
    for clause in versions.split(","):
        match = _CLAUSE.fullmatch(clause.strip())
        if match is None:
            raise ValueError(f"{versions!r} does not say in which versions of torch: write '>=2.6' or '>=2.6,<2.12'")
        found.append(_HOLDS[match[1]](wanted, (int(match[2]), int(match[3]))))
    return all(found)
