"""What a check has to say, as every format takes it: findings with their place and fingerprint, and errors."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from compilefix.codemods.finding import Finding
from compilefix.source.discovery import repository
from compilefix.source.files import SourceError, SourceFile, display_path
from compilefix.source.notebooks import Notebook


@dataclass(frozen=True)
class Place:
    """Where a finding stands, for people and machines: lines and columns from 1, the end column one after the place.

    `cell` is the number of a notebook's cell, in which the lines are counted then.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    cell: int | None = None

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell}:"
        return f"{self.path}:{cell}{self.line}:{self.column}"


@dataclass(frozen=True)
class Entry:
    """A finding with its place and its fingerprint, which is another one for each finding of a report."""

    finding: Finding
    place: Place
    fingerprint: str


@dataclass(frozen=True)
class UnusedSuppression:
    """A comment that silences nothing. `codes` are those of its rules that are not found there, none for all rules."""

    path: str
    line: int
    codes: tuple[str, ...]
    cell: int | None = None

    def __str__(self) -> str:
        cell = "" if self.cell is None else f"cell {self.cell}:"
        what = f"{', '.join(self.codes)} silences" if self.codes else "it silences"
        return f"{self.path}:{cell}{self.line}: unused suppression: {what} nothing here"


@dataclass(frozen=True)
class Report:
    """A whole check. `files` are the sources by the findings' `path`, `known` counts what the baseline left out.

    `allowed` holds the assumptions that a fix may rest on; None allows all.
    """

    entries: tuple[Entry, ...]
    errors: tuple[SourceError, ...] = ()
    files: Mapping[str, SourceFile] = field(default_factory=dict)
    allowed: frozenset[str] | None = frozenset()
    known: int = 0
    unused: tuple[UnusedSuppression, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings alone."""
        return tuple(entry.finding for entry in self.entries)


def entries(findings: Iterable[Finding], files: Mapping[str, SourceFile], root: Path) -> tuple[Entry, ...]:
    """The findings with place and fingerprint.

    The fingerprint holds the rule, the file's path from `root`, the function and the text of the line, and counts the
    findings that have all of these in common: it stays when lines move, and wherever the command is run from.
    """
    seen: Counter[str] = Counter()
    stable: dict[str, str] = {}
    made = []
    for finding in findings:
        text = " ".join(finding.source_line.split())
        if finding.path not in stable:
            stable[finding.path] = _stable_path(finding.path, root)
        key = "\0".join((finding.code, stable[finding.path], finding.function, text))
        seen[key] += 1
        digest = hashlib.sha256(f"{key}\0{seen[key]}".encode(errors="surrogateescape")).hexdigest()[:16]
        made.append(Entry(finding, place(finding, files.get(finding.path)), digest))
    return tuple(made)


def place(finding: Finding, file: SourceFile | None) -> Place:
    """Where a finding stands in the file as people see it."""
    span = finding.span
    cell = file.cell_at(span.line) if isinstance(file, Notebook) else None
    before = 0 if cell is None else cell.line - 1
    return Place(
        display_path(finding.path),
        span.line - before,
        span.column + 1,
        span.end_line - before,
        span.end_column + 1,
        None if cell is None else cell.number,
    )


def repository_path(path: str) -> str:
    """A path as the platforms want it: from the root of the git working tree, where it lies in one."""
    absolute = Path(path).absolute()
    root = repository(Path.cwd())
    return absolute.relative_to(root).as_posix() if root and absolute.is_relative_to(root) else display_path(path)


def _stable_path(path: str, root: Path) -> str:
    absolute, base = Path(path).absolute(), root.absolute()
    return absolute.relative_to(base).as_posix() if absolute.is_relative_to(base) else display_path(path)
