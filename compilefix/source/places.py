"""Which module of a project an import means, where the dotted name alone does not say it."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from compilefix.source.files import SourceFile

_OUTSIDE = sys.stdlib_module_names | {"torch", "numpy"}
_MOST_FOLDERS = 8
_UNSEEN = ("import *", "__getattr__", "globals()", "lazy", "Lazy")
"""What stands in files that may have names which are not written there."""


def named(files: Sequence[SourceFile]) -> dict[str, SourceFile]:
    """The files under names of their own: two of one dotted name, in folders that are no packages, are two modules."""
    found: dict[str, SourceFile] = {}
    for file in files:
        name = file.module
        if name in found:
            name = f"{name}@{file.path.with_suffix('').as_posix().replace('.', '-')}"
        found[name] = file
    return found


class Places:
    """The modules of a project by the files they stand in.

    A folder without `__init__.py` is part of the name under which its modules are imported (`models.net`), and is not
    part of theirs (`net`), since it may also hold scripts, which import what stands beside them. Of several modules of
    one name the one that stands beside the importing file is meant, or in a folder round it.
    """

    def __init__(self, files: Mapping[str, SourceFile]) -> None:
        self._files = files
        self._paths = {import_path(file): name for name, file in files.items()}
        holding = {file.path.absolute().parent for file in files.values()}
        self._folders = {folder.as_posix() for inner in holding for folder in (inner, *inner.parents)}
        self._parts = {PurePath(place).name for place in (*self._paths, *self._folders)}
        several = Counter(file.module for file in files.values())
        self._several = frozenset(module for module, number in several.items() if number > 1)
        self._ending: dict[str, list[str]] = {}
        for place in self._paths:
            self._ending.setdefault(place.rpartition("/")[2], []).append(place)

    def imported(self, dotted: str, file: SourceFile) -> str:
        """The dotted name of what an absolute import in a file names."""
        parts = dotted.split(".")
        if parts[0] not in self._parts or parts[0] in _OUTSIDE:
            return dotted
        known = next((n for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in self._files), 0)
        name = ".".join(parts[:known])
        if known and name not in self._several:
            folder = import_path(self._files[name])
            if known == len(parts) or f"{folder}/{parts[known]}" not in self._folders:
                return dotted
            return self._below(folder, parts[known:]) or dotted
        around = [folder.as_posix() for folder in file.path.absolute().parents][:_MOST_FOLDERS]
        found = (self._below(folder, parts, at_least=1) for folder in around)
        unknown = f"?.{dotted}" if known else dotted  # which of several is meant, nothing says
        # A file that is called like the package that it imports, `gradio.py`, does not mean itself.
        others = (name for name in found if name is not None and self._files.get(name) is not file)
        return next((name for name in others if self._has(name, parts[0])), None) or self._only(parts) or unknown

    def relative(self, parts: Sequence[str], level: int, file: SourceFile) -> str | None:
        """The dotted name of what a relative import in a file names; None where no file stands there."""
        folders = file.path.absolute().parents
        return self._below(folders[level - 1].as_posix(), parts) if level <= len(folders) else None

    def anywhere(self, dotted: str) -> str | None:
        """The same for a name that is written out behind `import models.net`, if it leads to one module alone."""
        parts = dotted.split(".")
        return None if parts[0] not in self._parts or parts[0] in _OUTSIDE else self._only(parts)

    def _has(self, dotted: str, first: str) -> bool:
        """Whether the file that a dotted name leads to knows the next part of it, and imports no package of its name.

        One that does not is not what is meant: `from numba import cuda` in `kernels/numba/loss.py`.
        """
        head, rest = dotted, ""
        while head not in self._files:
            head, _, rest = head.rpartition(".")
        text = self._files[head].text
        if re.search(rf"^\s*import {first}\b(?!\.)", text, re.MULTILINE):
            return False
        return not rest or any(way in text for way in _UNSEEN) or re.search(rf"\b{rest}\b", text) is not None

    def _below(self, folder: str, parts: Sequence[str], *, at_least: int = 0) -> str | None:
        """What the longest part of a dotted name leads to from a folder, with the rest behind it."""
        for number in range(len(parts), at_least - 1, -1):
            name = self._paths.get("/".join([folder, *parts[:number]]))
            if name is not None:
                return ".".join([name, *parts[number:]])
        return None

    def _only(self, parts: Sequence[str]) -> str | None:
        """The same from any folder, where just one file stands there: `models.net` of `src/models/net.py`."""
        for number in range(len(parts), 1, -1):
            ending = "/" + "/".join(parts[:number])
            found = [place for place in self._ending.get(parts[number - 1], ()) if place.endswith(ending)]
            if found:
                return ".".join([self._paths[found[0]], *parts[number:]]) if len(found) == 1 else None
        return None


def import_path(file: SourceFile) -> str:
    """The path that an import of the file spells: without the suffix, and that of the folder for a package."""
    path = file.path.absolute()
    return (path.parent if path.name == "__init__.py" else path.with_suffix("")).as_posix()
