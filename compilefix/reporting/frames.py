"""Code frames: the lines that a finding is about, with the place underlined."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from compilefix.codemods.finding import Span

_MOST_LINES = 4


@dataclass(frozen=True)
class Frame:
    """Numbered source lines; `marker` is the text that underlines `marked`, the index of the line with the place."""

    lines: tuple[tuple[int, str], ...]
    marked: int
    marker: str
    cut: bool

    @property
    def gutter(self) -> int:
        """The width of the line numbers."""
        return len(str(self.lines[-1][0])) if self.lines else 1


def frame(lines: Sequence[str], span: Span, before: int = 0) -> Frame:
    """The frame for `span` in a file of `lines`; of a long statement the first lines only.

    `before` is the number of lines that are not counted, those above a notebook's cell.
    """
    last = min(span.end_line, span.line + _MOST_LINES - 1, len(lines))
    shown = tuple((number - before, printable(lines[number - 1])) for number in range(span.line, last + 1))
    first = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
    end = span.end_column if span.end_line == span.line else len(first.rstrip())
    before_it, under = first[: span.column], first[span.column : max(end, span.column + 1)]
    marker = "\t".join(" " * _width(part) for part in before_it.split("\t"))
    return Frame(shown, 0, marker + "^" * max(1, _width(under)), cut=last < span.end_line)


def printable(text: str) -> str:
    """`text` without the control characters that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(c if c == "\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _width(text: str) -> int:
    """How many columns a terminal shows a text in."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
