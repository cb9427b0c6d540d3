"""A changed file as two columns: the lines before and after side by side, with the break sites on them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from compilefix.fixing.patchset import FileChange
from compilefix.measuring.request import BreakSite
from compilefix.source.files import display_path

CONTEXT = 3

Kind = Literal["same", "removed", "added", "changed", "gap"]


@dataclass(frozen=True)
class Side:
    """A line of one file: its number from 1, its text, and the break sites that stand on it."""

    number: int
    text: str
    breaks: tuple[BreakSite, ...] = ()


@dataclass(frozen=True)
class Row:
    """A line of the table. A gap stands for lines that are left out."""

    kind: Kind
    left: Side | None = None
    right: Side | None = None


@dataclass(frozen=True)
class ChangedFile:
    """A file with the rows that matter: what changed, what breaks, and a few lines around both."""

    path: str
    rows: tuple[Row, ...]
    added: int
    removed: int
    new: bool


def side_by_side(change: FileChange, before: Iterable[BreakSite], after: Iterable[BreakSite]) -> ChangedFile:
    """The two columns of a change, with the break sites of both arms that stand in this file."""
    path = change.path.resolve()
    old, new = (change.before or "").splitlines(), change.after.splitlines()
    rows = list(_rows(old, new, _by_line(before, path), _by_line(after, path)))
    return ChangedFile(
        display_path(change.path),
        tuple(_without_the_rest(rows)),
        added=sum(row.right is not None for row in rows if row.kind != "same"),
        removed=sum(row.left is not None for row in rows if row.kind != "same"),
        new=change.before is None,
    )


def _by_line(sites: Iterable[BreakSite], path: Path) -> Mapping[int, tuple[BreakSite, ...]]:
    found: dict[int, tuple[BreakSite, ...]] = {}
    for site in sites:
        if Path(site.path).resolve() == path:
            found[site.line] = (*found.get(site.line, ()), site)
    return found


def _rows(
    old: Sequence[str],
    new: Sequence[str],
    before: Mapping[int, tuple[BreakSite, ...]],
    after: Mapping[int, tuple[BreakSite, ...]],
) -> Iterator[Row]:
    def left(index: int) -> Side:
        return Side(index + 1, old[index], before.get(index + 1, ()))

    def right(index: int) -> Side:
        return Side(index + 1, new[index], after.get(index + 1, ()))

    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        both = min(b - a, d - c)
        for step in range(both):
            yield Row("same" if tag == "equal" else "changed", left(a + step), right(c + step))
        yield from (Row("removed", left(index)) for index in range(a + both, b))
        yield from (Row("added", None, right(index)) for index in range(c + both, d))


def _without_the_rest(rows: Sequence[Row]) -> Iterator[Row]:
    wanted: set[int] = set()
    for index, row in enumerate(rows):
        if row.kind != "same" or _breaks(row):
            wanted.update(range(index - CONTEXT, index + CONTEXT + 1))
    skipped = False
    for index, row in enumerate(rows):
        if index not in wanted:
            skipped = True
            continue
        if skipped:
            yield Row("gap")
            skipped = False
        yield row
    if skipped and wanted:
        yield Row("gap")


def _breaks(row: Row) -> bool:
    return any(side is not None and side.breaks for side in (row.left, row.right))
