"""Where the helper module of the compile boundary goes: one for all code that runs together.

Lines are carried out in the order in which they were noted, and only within a boundary of the same helper module. So
packages and scripts that lie in one folder and import one another share a helper, in the package that the others
import; `train.py` finds it as it finds `models`.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from compilefix.source.config import Config
from compilefix.source.files import SourceFile

DEFAULT_NAME = "_compile_boundary"
_VERSION = re.compile(r"^HELPER_VERSION = (\d+)\b", re.MULTILINE)
_IMPORTED = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+)", re.MULTILINE)
_DOTTED = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+(?:\.\w+)*)", re.MULTILINE)
_HIGHEST = 3
"""How many folders without `__init__.py` are looked at for the one that code is imported from."""
_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Place:
    """A place for the helper: its dotted name, its file, and the folder that this name is imported from."""

    module: str
    path: Path
    root: Path


def helper_places(
    users: Iterable[Path], others: Iterable[Path], files: Mapping[Path, SourceFile], config: Config
) -> dict[Path, Place]:
    """The place of the helper, by absolute path, for the files that call it and for those of `others` beside them."""
    files = {path.absolute(): file for path, file in files.items()}
    callers = {path.absolute(): own_place(files[path.absolute()], config, files) for path in users}
    own = callers | {path.absolute(): own_place(files[path.absolute()], config, files) for path in others}
    places = dict(callers)
    for root in {place.root for place in callers.values()}:
        beside = {path: _top(path, root) for path, place in own.items() if place.root == root}
        # What is installed in one folder has little to do with each other, and a configured name is one for all.
        alone = root.name in _INSTALLED or config.helper_module is not None
        groups = [{top} for top in set(beside.values())] if alone else _running_together(root, files)
        for group in groups:
            candidates = {path: callers[path] for path, top in beside.items() if top in group and path in callers}
            if candidates:
                shared = _best(candidates, root, files)
                places |= {path: shared for path, top in beside.items() if top in group}
    return places


def _running_together(root: Path, files: Mapping[Path, SourceFile]) -> list[set[str]]:
    """The packages and modules of a folder, in groups of those that import one another or are imported together."""
    texts: dict[str, list[str]] = {}
    for path, file in files.items():
        if (top := _top(path, root)) is not None:
            texts.setdefault(top, []).append(file.text)
    groups = {top: frozenset({top}) for top in texts}
    for top, own in texts.items():
        for name in {name for text in own for name in _IMPORTED.findall(text)} & groups.keys():
            if (union := groups[top] | groups[name]) != groups[top]:
                groups |= dict.fromkeys(union, union)
    return [set(group) for group in set(groups.values())]


def _best(candidates: Mapping[Path, Place], root: Path, files: Mapping[Path, SourceFile]) -> Place:
    """A helper that is there already; else the place in the package that most others import."""
    names = {place: _top(path, root) for path, place in candidates.items()}
    imports = Counter[str | None]()
    for top, name in {
        (_top(path, root), name) for path, file in files.items() for name in _IMPORTED.findall(file.text)
    }:
        imports[name] += top is not None and top != name
    calls = Counter(candidates.values())
    return min(
        names,
        key=lambda place: (
            helper_version(text_of(place.path, files) or "") is None,
            -imports[names[place]],
            -calls[place],
            place.module,
        ),
    )


def _top(path: Path, root: Path) -> str | None:
    """The package or module of a folder that a file belongs to."""
    absolute = path.absolute()
    return absolute.relative_to(root).parts[0].removesuffix(".py") if root in absolute.parents else None


def own_place(file: SourceFile, config: Config, files: Mapping[Path, SourceFile]) -> Place:
    """The place of a helper for the code of one file, whatever else there is."""
    path = file.path.absolute()
    parts = file.module.split(".")
    is_package = path.name == "__init__.py"
    # A folder such as `lm-design` is no package to import from: what it holds is imported by itself.
    while not all(part.isidentifier() for part in (parts if is_package else parts[:-1])):
        parts = parts[1:]
    if not parts:
        return Place(DEFAULT_NAME, path.parent / f"{DEFAULT_NAME}.py", path.parent)
    # The folder of the top package: a package's own folder counts as one level.
    folder = path.parents[len(parts) - 1 if is_package else max(len(parts) - 2, 0)]
    in_package = is_package or len(parts) > 1
    if (package := _package_above(file, folder if in_package else None, files)) is not None:
        parts, folder, in_package = [package.name], package, True
    root = folder.parent if in_package else _imported_from(file, files)
    if config.helper_module is not None:
        wanted = config.helper_module.split(".")
        base = root if in_package and wanted[0] == parts[0] else config.root
        return Place(config.helper_module, base.joinpath(*wanted[:-1], f"{wanted[-1]}.py"), root)
    if in_package:
        return Place(f"{parts[0]}.{DEFAULT_NAME}", folder / f"{DEFAULT_NAME}.py", root)
    return Place(DEFAULT_NAME, root / f"{DEFAULT_NAME}.py", root)


def _imported_from(file: SourceFile, files: Mapping[Path, SourceFile]) -> Path:
    """The folder that a file outside of packages is imported from: its own, or one above it that imports name.

    `models/net.py` without an `__init__.py` beside it imports `layers.attention`, which lies beside `models`, or is
    imported as `models.net`.
    """
    path = file.path.absolute()
    above = list(itertools.takewhile(lambda folder: not _is_package(folder), path.parents[1 : _HIGHEST + 1]))
    names = set(_DOTTED.findall(file.text))
    for folder in above:
        if any(_is_there(name, folder, files) and not _is_there(name, path.parent, files) for name in names):
            return folder
    dotted = [".".join(path.relative_to(folder).with_suffix("").parts) for folder in above]
    wanted = dict(zip(dotted, above, strict=True))
    for other in files.values():
        if other is not file and path.stem in other.text:
            for name in _DOTTED.findall(other.text):
                if name in wanted:
                    return wanted[name]
    return path.parent


def _is_there(name: str, folder: Path, files: Mapping[Path, SourceFile]) -> bool:
    """Whether a dotted name is that of a module, or of a folder with one, below a folder."""
    target = folder.joinpath(*name.split("."))
    return target.with_name(f"{target.name}.py") in files or any(target in path.parents for path in files)


def _package_above(file: SourceFile, package: Path | None, files: Mapping[Path, SourceFile]) -> Path | None:
    """The top package that a file or its package lies below, with a folder without `__init__.py` between.

    Such a folder is a part of the package, too, where what is in it imports from that package, or is imported through
    it; otherwise it may hold scripts, which find what lies beside them.
    """
    inner = (package or file.path.parent).absolute()
    around = inner.parents if package is not None else (inner, *inner.parents)
    above = next((folder for folder in around if _is_package(folder)), None)
    if above is None:
        return None
    top = next(folder for folder in (above, *above.parents) if not _is_package(folder.parent))
    name = re.escape(top.name)
    # Inside an inner package a relative import says nothing of the outer one.
    sources = rf"{name}[ \t.]" if package is not None else rf"(?:\.|{name}[ \t.])"
    if re.search(rf"^[ \t]*(?:from[ \t]+{sources}|import[ \t]+{name}\b)", file.text, re.MULTILINE):
        return top
    dotted = re.escape(".".join((top.name, *inner.relative_to(top).parts)))
    through = re.compile(rf"^[ \t]*(?:from|import)[ \t]+{dotted}\b", re.MULTILINE)
    within = re.compile(rf"^[ \t]*from[ \t]+\.+(?:\w+\.)*{re.escape(inner.name)}[ \t.]", re.MULTILINE)
    imported = any(
        through.search(other.text) or (top in other.path.absolute().parents and within.search(other.text))
        for other in files.values()
    )
    return top if imported else None


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def text_of(path: Path, files: Mapping[Path, SourceFile]) -> str | None:
    """The text of a file as it is, or will be; None where there is none."""
    if path in files:
        return files[path].text
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None if not path.exists() else ""


def helper_version(text: str) -> int | None:
    """The version of the helper whose text this is; None where it is something else."""
    match = _VERSION.search(text)
    return int(match[1]) if match else None
