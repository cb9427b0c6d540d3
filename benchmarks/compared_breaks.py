"""Where the graph broke before and after fixes: what went, what stayed in code that was changed, and what is new.

A line of the code as written is known in the fixed code by the difference of the two files. What breaks anywhere in a
block of changed lines is in the place of what broke there before.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, order=True)
class Site:
    """A line that breaks the graph; what is known of it is that of the first test that met it."""

    path: str
    line: int
    text: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.text}"


@dataclass(frozen=True)
class Compared:
    """The sites by what became of them; those that stayed in changed code with what breaks there now."""

    gone: tuple[Site, ...]
    as_written: tuple[Site, ...]
    changed: tuple[tuple[Site, tuple[Site, ...]], ...]
    new_in_changed: tuple[Site, ...]
    new_as_written: tuple[Site, ...]


def sites(records: Iterable[Mapping[str, Any]]) -> list[Site]:
    """All places where some tests met a break."""
    found = {
        Site(path, line, f"{function}: {source}  [{gb} {reason[:200]}] ({record['test']})")
        for record in sorted(records, key=lambda record: str(record["test"]))
        for path, line, gb, reason, function, source in record["sites"]
    }
    return sorted(found)


def compare(before: Sequence[Site], after: Sequence[Site], folders: tuple[Path, Path]) -> Compared:
    """The sites as written, and those with fixes, of the packages in the two folders."""
    gone, as_written, changed, new_in_changed, new_as_written = [], [], [], [], []
    for path in sorted({site.path for site in (*before, *after)}):
        for same, there, here in _blocks(folders[0] / path, folders[1] / path):
            old = [site for site in before if site.path == path and site.line in there]
            new = [site for site in after if site.path == path and site.line in here]
            if same:
                lines = {site.line - here.start for site in new}
                known = {site.line - there.start for site in old}
                as_written += [site for site in old if site.line - there.start in lines]
                gone += [site for site in old if site.line - there.start not in lines]
                new_as_written += [site for site in new if site.line - here.start not in known]
            elif old and new:
                changed += [(site, tuple(new)) for site in old]
            else:
                gone += old
                new_in_changed += new
    return Compared(tuple(gone), tuple(as_written), tuple(changed), tuple(new_in_changed), tuple(new_as_written))


def _blocks(before: Path, after: Path) -> list[tuple[bool, range, range]]:
    """Whether lines are the same, and which they are in both files."""
    texts = [path.read_text("utf-8", "replace").splitlines() if path.is_file() else [] for path in (before, after)]
    matcher = difflib.SequenceMatcher(None, *texts, autojunk=False)
    return [(kind == "equal", range(a + 1, b + 1), range(c + 1, d + 1)) for kind, a, b, c, d in matcher.get_opcodes()]
