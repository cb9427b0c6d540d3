"""Keeps what was found in a unit for the next run, as long as nothing that it rests on has changed."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import compilefix
from compilefix import codemods
from compilefix.analysis.regions import FunctionKey
from compilefix.codemods.finding import Edit, Finding, Fix, Span
from compilefix.fixing.search import Entry, Reached, Search, UnitResult
from compilefix.source.files import SourceError
from compilefix.source.modules import Used

FOLDER = ".compilefix_cache"
_MOST_ENTRIES = 1000


class Cache:
    """The results of earlier runs in a folder, one file for each unit.

    A result is taken only if the program, the rules, the names of all files, and the texts of the files that it rests
    on are what they were. A folder that cannot be written, or a file in it that is damaged, is as good as none.
    """

    def __init__(self, folder: Path, search: Search) -> None:
        self._folder = folder
        self._search = search
        self._modules = search.project.modules
        self._hashes: dict[str, str] = {}

    def entry(self) -> Entry:
        """`Search.entry`, from an earlier run where that holds."""
        kept = self._load("entry", ())
        if kept is not None:
            return Entry(_reached(kept["reached"]), kept["library"], _errors(kept["errors"]))
        entry = self._search.entry()
        content = {"reached": _plain(entry.reached), "library": entry.library, "errors": _plain(entry.errors)}
        self._store("entry", (), entry.used, content)
        return entry

    def load(self, names: Sequence[str], entry: Entry) -> UnitResult | None:
        """The result of a unit in an earlier run; None where it has to be looked at."""
        kept = self._load(_known(entry), names)
        if kept is None:
            return None
        return UnitResult(
            _reached(kept["reached"]), _errors(kept["errors"]), outside=tuple(map(_finding, kept["outside"]))
        )

    def store(self, names: Sequence[str], entry: Entry, result: UnitResult) -> None:
        """Keep the result of a unit."""
        content = {
            "reached": _plain(result.reached),
            "errors": _plain(result.errors),
            "outside": _plain(result.outside),
        }
        self._store(_known(entry), names, result.used, content)

    def _load(self, kind: str, names: Sequence[str]) -> dict[str, Any] | None:
        try:
            kept = json.loads(self._path(kind, names).read_text(encoding="utf-8"))
            if kept["key"] != self._key(kind, names):
                return None
            if kept["sources"] == self._sources:
                return kept["content"]  # type: ignore[no-any-return]
            if any(self._hash(name) != digest for name, digest in kept["modules"].items()):
                return None
            if any(list(self._modules.texts.answer(tuple(asked))) != answer for asked, answer in kept["answers"]):
                return None
            return kept["content"]  # type: ignore[no-any-return]
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _store(self, kind: str, names: Sequence[str], used: Used, content: dict[str, Any]) -> None:
        document = {
            "key": self._key(kind, names),
            "sources": self._sources,
            "modules": {name: self._hash(name) for name in used.modules},
            "answers": used.answers,
            "content": content,
        }
        with contextlib.suppress(OSError):
            self._prepare()
            path = self._path(kind, names)
            handle, temporary = tempfile.mkstemp(dir=self._folder, suffix=".part")
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(document, stream)
            Path(temporary).replace(path)

    def _prepare(self) -> None:
        if not self._folder.is_dir():
            self._folder.mkdir()
            (self._folder / ".gitignore").write_text("*\n", encoding="utf-8")
            (self._folder / "CACHEDIR.TAG").write_text(
                "Signature: 8a477f597d28d172789f06886806bc55\n# Results of compilefix; can be deleted at any time.\n",
                encoding="utf-8",
            )
        entries = sorted(self._folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for path in entries[: max(0, len(entries) - _MOST_ENTRIES)]:
            path.unlink(missing_ok=True)

    def _path(self, kind: str, names: Sequence[str]) -> Path:
        first = names[0] if names else ""
        where = self._modules.files[first].path.absolute().as_posix() if first else ""
        return self._folder / f"{_digest([kind == 'entry', where, first, sorted(self._rules)])}.json"

    def _key(self, kind: str, names: Sequence[str]) -> str:
        return _digest([self._project, kind, [[name, self._hash(name)] for name in names]])

    @cached_property
    def _rules(self) -> Sequence[str]:
        return [*self._search.codes, *self._search.roots, self._search.logging]

    @cached_property
    def _project(self) -> str:
        """What every result rests on: the program, the rules, and which files there are."""
        files = [[name, file.path.as_posix()] for name, file in self._modules.files.items()]
        return _digest([_program(), sys.version, self._rules, files])

    @cached_property
    def _sources(self) -> str:
        """All texts: where none has changed, what a result rests on need not be looked for."""
        return _digest([self._hash(name) for name in self._modules.files])

    def _hash(self, name: str) -> str:
        if name not in self._hashes:
            text = self._modules.files[name].text
            self._hashes[name] = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        return self._hashes[name]


def _known(entry: Entry) -> str:
    return _digest([entry.library, sorted(reached.key for reached in entry.reached)])


def _program() -> list[list[object]]:
    """The files of compilefix itself: a result of another version is not taken."""

    def files() -> Iterator[list[object]]:
        for folder in (*compilefix.__path__, *codemods.__path__):  # the rules of a checkout stand beside the package
            for path in sorted(Path(folder).rglob("*")):
                if path.suffix in (".py", ".json"):
                    status = path.stat()
                    yield [path.name, status.st_size, status.st_mtime_ns]

    return list(files())


def _digest(content: object) -> str:
    return hashlib.blake2b(json.dumps(content).encode(), digest_size=16).hexdigest()


def _plain(items: Sequence[Reached] | Sequence[SourceError] | Sequence[Finding]) -> list[dict[str, Any]]:
    return [dataclasses.asdict(item) for item in items]


def _errors(items: Sequence[dict[str, Any]]) -> tuple[SourceError, ...]:
    return tuple(SourceError(**item) for item in items)


def _reached(items: Sequence[dict[str, Any]]) -> tuple[Reached, ...]:
    return tuple(
        Reached(
            _key(item["key"]),
            tuple(item["path"]),
            None if item["findings"] is None else tuple(map(_finding, item["findings"])),
            tuple(map(_key, item["calls"])),
        )
        for item in items
    )


def _key(item: Sequence[Any]) -> FunctionKey:
    path, name, line = item
    return path, name, line


def _finding(item: dict[str, Any]) -> Finding:
    fix = item["fix"]
    changes = {
        "span": Span(**item["span"]),
        "reached_by": tuple(item["reached_by"]),
        "gb": tuple(item["gb"]),
        "fix": None if fix is None else _fix(fix),
    }
    return Finding(**{**item, **changes})


def _fix(item: dict[str, Any]) -> Fix:
    lists = {name: tuple(item[name]) for name in ("imports", "assumptions", "reasons")}
    lists |= {name: tuple(Span(**span) for span in item[name]) for name in ("always", "captured")}
    return Fix(**{**item, **lists, "edits": tuple(map(_edit, item["edits"]))})


def _edit(item: dict[str, Any]) -> Edit:
    parts = tuple((name, Span(**span)) for name, span in item["parts"])
    return Edit(Span(**item["target"]), item["template"], parts, item["statement"])
