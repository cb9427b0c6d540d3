"""Settings of the Python interpreter for a run over many files."""

from __future__ import annotations

import atexit
import gc
import sys

RECURSION_LIMIT = 6000
"""Functions are interpreted inside each other, some twenty deep, and each level takes dozens of frames."""


def prepare() -> None:
    """Set the interpreter of this process up.

    The cyclic collector stays off: syntax trees hold no cycles, and going through millions of live nodes took half the
    time of a large check. Nor does it go through them when Python ends, which runs it though it is off.
    """
    gc.disable()
    sys.setrecursionlimit(max(sys.getrecursionlimit(), RECURSION_LIMIT))
    atexit.register(gc.freeze)
