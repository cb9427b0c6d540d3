"""The error for what a person can put right."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(Exception):
    """Something that the user gave cannot be used. The message is one line; the commands print it and exit with 2."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """`"; did you mean 'x'?"` for the known word nearest to `word`, or an empty string."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""
