"""The modules of a project, parsed when they are asked for, with a note of what was asked."""

from __future__ import annotations

import builtins
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from compilefix.source.files import SourceError, SourceFile
from compilefix.source.module import Module, in_place_of_builtin
from compilefix.source.places import Places, named
from compilefix.source.texts import Question, Texts

_DEFINED = r"(?<=\n)(?:(?:async )?def|class) {name}\b|(?<=\n){name}(?: *=|:)"
# Where a name may be bound at the top level of a module: defined, assigned, imported, or in a line of imported names.
_BOUND = (
    r"^\s*(?:(?:async\s+)?def|class)\s+{name}\b|(?:^|[;=])\s*{name}\s*(?::[^=\n]*)?=(?!=)"
    r"|^\s*(?:from\s.*)?import\b.*\b{name}\b|^[\s\w,]*\b{name}\b[\s\w,]*\)?\s*(?:#.*)?$"
)
_CONSTANT = re.compile(r"(True|False|None|-?[\d.]\S*|'[^']*'|\"[^\"]*\")(\s*#.*)?")


@dataclass(frozen=True)
class Used:
    """What something that was found out rests on, besides the names of all modules.

    modules: the modules that were asked for. answers: what was asked of the texts of all files, with the answers.
    """

    modules: tuple[str, ...] = ()
    answers: tuple[tuple[Question, tuple[str, ...]], ...] = ()


NOTHING_USED = Used()


class Modules(Mapping[str, Module]):
    """The modules of a project by dotted name. Each is parsed when it is asked for, and kept until `trim`."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self.files = named(files)
        self.places = Places(self.files)
        self.texts = Texts(self.files)
        self._asked: set[str] = set()
        self._computed: dict[str, dict[tuple[str, ...], bool]] = {}
        self._parsed: dict[str, Module] = {}
        self._uses: Counter[str] = Counter()
        self._given: dict[tuple[str, str], str | None] = {}
        self._takes: dict[str, tuple[str, ...]] = {}

    def __getitem__(self, name: str) -> Module:
        module = self._parsed.get(name)
        if module is None:
            module = self._parsed[name] = Module(name, self.files[name], self.given, self.places)
        self._asked.add(name)
        return module

    def given(self, source: str, name: str) -> str | None:
        """What `from source import *` binds to a name, as a dotted name; None where it binds nothing, or is unknown.

        Packages take hundreds of modules in this way: only those in whose text the name may be bound are parsed.
        """
        key = source, name
        taken = self._taken(source)
        if key not in self._given:
            # The names of builtins stand everywhere: that an import hands one on to `import *` is left out.
            pattern = _DEFINED if hasattr(builtins, name) else _BOUND
            bound = re.compile(pattern.format(name=re.escape(name)), re.MULTILINE)
            # What a module has by `import *` itself it hands on, but for names with an underscore.
            handed = taken[:1] if name.startswith("_") else taken
            likely = (m for m in handed if any(map(bound.search, _lines_with(name, self.files[m].text))))
            found = next((given for m in likely if (given := self[m].exported(name)) is not None), None)
            stars = (star for m in taken if "import *" in self.files[m].text for star in self[m].stars)
            self._given[key] = found or in_place_of_builtin(name, stars)
        self._asked.update(taken)
        return self._given[key]

    def _taken(self, source: str) -> tuple[str, ...]:
        """A module and those that it takes all names of, and these in turn; the names of the last count."""
        known = self._takes.get(source)
        if known is None:
            found: dict[str, None] = {}
            pending = [source]
            while pending:
                module = pending.pop()
                if module not in found and module in self.files:
                    found[module] = None
                    if "import *" in self.files[module].text:
                        pending.extend(reversed(self[module].stars))
            known = self._takes[source] = tuple(found)
        return known

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __contains__(self, name: object) -> bool:
        return name in self.files

    def begin(self) -> None:
        """Start to note anew what is used."""
        self._uses.update(self._asked)
        self._asked.clear()
        self.texts.begin()

    @property
    def used(self) -> Used:
        """What was used since `begin`."""
        return Used(tuple(sorted(self._asked)), self.texts.asked)

    def setting_computed(self, attribute: str, cls: str, module: str) -> bool:
        """Whether one of these modules gives the attribute something else than a constant."""
        setters = self.texts.setting(attribute, cls, module)
        self._asked.update(setters)
        if setters not in self._computed.setdefault(attribute, {}):
            stored = re.compile(rf"(?<!self)\.{attribute} *(?:=(?!=) *(.*)|,)")
            given = (found[1] or "" for name in setters for found in stored.finditer(self.files[name].text))
            self._computed[attribute][setters] = not all(map(_CONSTANT.fullmatch, given))
        return self._computed[attribute][setters]

    def error(self, name: str) -> SourceError | None:
        """Why the text of a module is no Python; None where it is."""
        module = self._parsed.get(name)
        if module is not None:
            return module.error
        parsed = self.files[name].parsed()
        return parsed if isinstance(parsed, SourceError) else None

    def trim(self, characters: int, done: Container[str] = ()) -> None:
        """Forget modules until the kept sources have that length at most.

        First go those in `done`, which are not likely to be used again, then those that were used the least often, by
        how many times `begin` was called before they were asked for. A module that is asked for again is another
        object: nothing that was found out about the old one may be used with it.
        """
        kept = sum(len(module.file.text) for module in self._parsed.values())
        for name in sorted(self._parsed, key=lambda name: (name not in done, self._uses[name], name)):
            if kept <= characters:
                break
            module = self._parsed.pop(name)
            kept -= len(module.file.text)
            # Functions and their module hold each other; while the collector is off, only this frees them.
            module.forget()


def _lines_with(name: str, text: str) -> Iterator[str]:
    """The lines of a text in which a name stands, each with the newline before it."""
    place = text.find(name)
    while place >= 0:
        start, end = text.rfind("\n", 0, place), text.find("\n", place)
        end = len(text) if end < 0 else end
        yield text[max(start, 0) : end]
        place = text.find(name, end)
