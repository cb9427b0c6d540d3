"""What the texts of a project's files say without being parsed: where a word stands, who imports or overrides what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from compilefix.source.files import SourceFile

Question = tuple[str, ...]
"""The name of a method of `Texts` and what it was asked."""

# Assignments to attributes as they stand in a text. Patterns that begin with plain text are ten times as fast.
_STORED = re.compile(r"\.(\w+)(?= *=(?!=)|, [^=\n#()]* =(?!=))")
_SET = re.compile(r"setattr\([^,()]+, *[\"'](\w+)[\"']")
_CLASS = re.compile(r"class (\w+)")
_WORD = re.compile(r"\w+")
_DERIVED = re.compile(r"^[ \t]*class\s+(\w+)\s*\(([^)]+)\)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*(?:from|import)\b([^\n(]*(?:\([^)]*\))?)", re.MULTILINE)
_FROM_ALL = re.compile(r"^[ \t]*from[ \t]+(\S+)[ \t]+import[ \t]*\*", re.MULTILINE)
_STAR = "*"
_QUOTES = "\"'"
_SEARCHES = frozenset({"mentioning", "matching"})
"""The questions for which the text of each file is searched."""


def word_start(name: str) -> str:
    """A pattern for a name where a word begins with it.

    One that begins with plain text is searched more than ten times as fast as one that begins with `\\b`.
    """
    return rf"{name}(?<!\w{name})"


class Texts:
    """Questions about a project that the texts of its files answer, each with names of modules in their order.

    What was asked since `begin` is noted with its answer, for who keeps what was found out: it holds while `answer`
    gives the same.
    """

    def __init__(self, files: Mapping[str, SourceFile]) -> None:
        self._files = files
        self._answers: dict[Question, tuple[str, ...]] = {}
        self._asked: set[Question] = set()
        self._inheriting: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, frozenset[str]] = {}
        self._through: dict[str, tuple[str, ...]] = {}
        self._stars: dict[str, tuple[str, ...]] = {}

    def begin(self) -> None:
        """Begin to note anew what is asked. Of the answers only those are kept that take long to find again."""
        self._asked.clear()
        self._answers = {asked: answer for asked, answer in self._answers.items() if asked[0] in _SEARCHES}

    @property
    def asked(self) -> tuple[tuple[Question, tuple[str, ...]], ...]:
        """The questions since `begin`, with their answers."""
        return tuple((question, self._answers[question]) for question in sorted(self._asked))

    def answer(self, question: Question) -> tuple[str, ...]:
        """The answer to a question of `asked`.

        Raises:
            AttributeError, TypeError: it is none.
        """
        if question not in self._answers:
            kind, *words = question
            found: Iterator[str] = getattr(self, f"_{kind}")(*words)
            self._answers[question] = tuple(found)
        self._asked.add(question)
        return self._answers[question]

    def mentioning(self, word: str) -> tuple[str, ...]:
        """The modules in whose text a word stands."""
        return self.answer(("mentioning", word))

    def matching(self, word: str, pattern: str) -> tuple[str, ...]:
        """The modules in whose text a word stands, and a match of a regular expression, for which `^` begins a line."""
        return self.answer(("matching", word, pattern))

    def importing(self, module: str, name: str) -> tuple[str, ...]:
        """The other modules that name something and seem to import it from a module, or import all that it has."""
        return self.answer(("importing", module, name))

    def handing_out(self, module: str, name: str) -> tuple[str, ...]:
        """The packages around a module that may give something of it a name of their own."""
        return self.answer(("handing_out", module, name))

    def overriding(self, cls: str, method: str) -> tuple[str, ...]:
        """The modules with a class that by its name inherits from this one, and with a method of this name."""
        return self.answer(("overriding", cls, method))

    def setting(self, attribute: str, cls: str, module: str) -> tuple[str, ...]:
        """The modules that seem to assign the attribute to an object, not to their own `self`, and know the class.

        The module of the class itself knows it, and those in whose text its name or that of its module stands.
        """
        return self.answer(("setting", attribute, cls, module))

    def _mentioning(self, word: str) -> Iterator[str]:
        return (name for name, file in self._files.items() if word in file.text)

    def _matching(self, word: str, pattern: str) -> Iterator[str]:
        compiled = re.compile(pattern, re.MULTILINE)
        return (name for name in self.mentioning(word) if compiled.search(self._files[name].text) is not None)

    def _importing(self, module: str, name: str) -> Iterator[str]:
        # To look for the name in each text would take longer: few files import a module, or a package as a whole.
        *packages, own = self._files[module].module.split(".")
        if module not in self._through:
            by_package = {other for word in packages for other in self._imports.get(word, ())}
            self._through[module] = tuple(o for o in by_package if f"{own}." in self._files[o].text)
        by_name = (*self._imports.get(own, ()), *(self._imports.get(_STAR, ()) if name in self._starred else ()))
        found = {other for other in by_name if name in self._files[other].text}
        found |= {other for other in self._through[module] if f"{own}.{name}" in self._files[other].text}
        return iter(sorted(found - {module}, key=self._order.__getitem__))

    @cached_property
    def _order(self) -> Mapping[str, int]:
        return {name: number for number, name in enumerate(self._files)}

    @cached_property
    def _imports(self) -> Mapping[str, Sequence[str]]:
        """The modules whose imports name a module or package, by its name; a star stands for all names of a module."""
        modules = {part for file in self._files.values() for part in file.module.split(".")}
        found: dict[str, dict[str, None]] = {}
        for name, file in self._files.items():
            for imported in _IMPORT.findall(file.text):
                words = modules.intersection(_WORD.findall(imported))
                for word in (*words, *((_STAR,) if _STAR in imported else ())):
                    found.setdefault(word, {})[name] = None
        return {word: tuple(names) for word, names in found.items()}

    @cached_property
    def _starred(self) -> str:
        """The texts of all files that import all names of a module: most names stand in none of them."""
        return "\n".join(self._files[name].text for name in self._imports.get(_STAR, ()))

    def _handing_out(self, module: str, name: str) -> Iterator[str]:
        packages = module.split(".")[:-1]
        above = (".".join(packages[:depth]) for depth in range(1, len(packages) + 1))
        return (package for package in above if package in self._files and self._hands_out(package, module, name))

    def _hands_out(self, package: str, module: str, name: str) -> bool:
        text = self._files[package].text
        if _has_word(name, text):
            return True
        if not any(origin == module or self._may_hold(origin, name) for origin in self._taken_whole(package)):
            return False
        own = self._files[module].text
        listed = "__all__" in own
        if not listed:
            return not name.startswith("_")
        return any(f"{before}{name}{behind}" in own for before in _QUOTES for behind in _QUOTES)

    def _taken_whole(self, package: str) -> tuple[str, ...]:
        """The names of the modules from which a package imports all: `from .api import *`."""
        if package not in self._stars:
            origins = []
            for origin in _FROM_ALL.findall(self._files[package].text):
                dots = len(origin) - len(origin.lstrip("."))
                parts = package.split(".")
                above = ".".join(parts[: len(parts) - dots + 1]) if dots else ""
                origins.append(".".join(filter(None, (above, origin.lstrip(".")))))
            self._stars[package] = tuple(origins)
        return self._stars[package]

    def _may_hold(self, origin: str, name: str) -> bool:
        """Whether a module may have a name for who imports all of it; what is not found may."""
        if origin not in self._files:
            return True
        text = self._files[origin].text
        return "import *" in text or _has_word(name, text)

    def _overriding(self, cls: str, method: str) -> Iterator[str]:
        if cls not in self._inheriting:
            self._inheriting[cls] = self._inheriting_from(cls)
        return (name for name in self._inheriting[cls] if f"def {method}(" in self._files[name].text)

    def _inheriting_from(self, cls: str) -> tuple[str, ...]:
        """The modules with a class that inherits from this one, perhaps by way of others."""
        modules: dict[str, None] = {}
        pending, known = [cls], {cls}
        while pending:
            for module, derived in self._derived.get(pending.pop(), ()):
                modules[module] = None
                if derived not in known:
                    known.add(derived)
                    pending.append(derived)
        return tuple(modules)

    @cached_property
    def _derived(self) -> Mapping[str, Sequence[tuple[str, str]]]:
        """The classes that name another one among their bases, each with its module, by the name of this one."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, file in self._files.items():
            for derived, bases in _DERIVED.findall(file.text):
                for word in _WORD.findall(bases):
                    found.setdefault(word, []).append((name, derived))
        return found

    def _setting(self, attribute: str, cls: str, module: str) -> Iterator[str]:
        words = {cls, module.rpartition(".")[2]}
        setters = self._setters.get(attribute, ())
        return (name for name in setters if name == module or not words.isdisjoint(self._words(name)))

    @cached_property
    def _setters(self) -> Mapping[str, Sequence[str]]:
        """The modules that seem to assign an attribute to something else than `self`, by its name."""
        found: dict[str, dict[str, None]] = {}
        for name, file in self._files.items():
            text = file.text
            others = (m for m in _STORED.finditer(text) if text[max(m.start() - 4, 0) : m.start()] != "self")
            for stored in (*others, *_SET.finditer(text)):
                found.setdefault(stored[1], {})[name] = None
        return {attribute: tuple(names) for attribute, names in found.items()}

    def _words(self, name: str) -> frozenset[str]:
        """The names of classes and modules of the project that stand in the text of a module."""
        if name not in self._known:
            # To search for each class in each text would take longer.
            self._known[name] = frozenset(self._names.intersection(_WORD.findall(self._files[name].text)))
        return self._known[name]

    @cached_property
    def _names(self) -> set[str]:
        """The names of all classes and modules, without what they stand in."""
        names = {name.rpartition(".")[2] for name in self._files}
        return names.union(*(_CLASS.findall(file.text) for file in self._files.values()))


def _has_word(word: str, text: str) -> bool:
    """Whether a word stands in a text by itself; to compile a pattern for each word would take longer than to look."""
    place = text.find(word)
    while place >= 0:
        end = place + len(word)
        if not _WORD.match(text[place - 1 : place]) and not _WORD.match(text[end : end + 1]):
            return True
        place = text.find(word, end)
    return False
