"""Where the helper module of the compile boundary goes: one for all code that runs together.

Lines are carried out in the order in which they were noted, and only within a boundary of the same helper module. So
packages and scripts that lie in one folder and import one another share a helper, in the package that the others
import; `train.py` finds it as it finds `models`.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from compilefix.source.config import Config
from compilefix.source.files import SourceFile

DEFAULT_NAME = "_compile_boundary"
_VERSION = re.compile(r"^HELPER_VERSION = (\d+)\b", re.MULTILINE)
_IMPORTED = re.compile(r"^[ \t]*(?:from|import)[ \t]+(\w+(?:\.\w+)*)(?:[ \t]+import[ \t]+([\w, \t]+))?", re.MULTILINE)
_RELATIVE = re.compile(r"^from[ \t]+\.", re.MULTILINE)
_HIGHEST = 3
"""How many folders without `__init__.py` are looked at for the one that code is imported from."""
_INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Place:
    """A place for the helper: its dotted name, its file, and the folder that this name is imported from.

    One that is `beside` the code is imported from the same folder (`from ._compile_boundary`), whose own name is not
    known.
    """

    module: str
    path: Path
    root: Path
    beside: bool = False


def helper_places(
    users: Iterable[Path], others: Iterable[Path], files: Mapping[Path, SourceFile], config: Config
) -> dict[Path, Place]:
    """The place of the helper, by absolute path, for the files that call it and for those of `others` beside them."""
    layout = _Layout({path.absolute(): file for path, file in files.items()})
    callers = {path.absolute(): _own_place(path.absolute(), config, layout) for path in users}
    own = callers | {path.absolute(): _own_place(path.absolute(), config, layout) for path in others}
    places = dict(callers)
    for root in {place.root for place in callers.values()}:
        beside = {path: _top(path, root) for path, place in own.items() if place.root == root}
        # What is installed in one folder has little to do with each other, and a configured name is one for all.
        alone = root.name in _INSTALLED or config.helper_module is not None
        groups = [{top} for top in set(beside.values())] if alone else _running_together(root, layout)
        for group in groups:
            candidates = {path: callers[path] for path, top in beside.items() if top in group and path in callers}
            if candidates:
                shared = (None if alone else _earlier(candidates, root, layout)) or _best(candidates, root, layout)
                places |= {path: shared for path, top in beside.items() if top in group}
    return places | _of_imported(own, places, layout)


def _of_imported(own: Mapping[Path, Place], places: Mapping[Path, Place], layout: _Layout) -> dict[Path, Place]:
    """The places for scripts in a folder of their own: the helper of a package that they import."""
    packages = {place.module.partition(".")[0]: place for place in places.values() if "." in place.module}
    found: dict[Path, Place] = {}
    for path, place in own.items():
        if "." not in place.module and not place.beside and places.get(path, place) == place:
            named = sorted(packages.keys() & set(layout.named_from(path, place.root)))
            if named:
                found[path] = packages[named[0]]
    return found


class _Layout:
    """The files that are looked at, by absolute path, and what they import."""

    def __init__(self, files: Mapping[Path, SourceFile]) -> None:
        self.files = files
        self._beside: dict[Path, frozenset[str]] = {}
        self._roots: dict[Path, Path] = {}
        self._modules: dict[tuple[Path, str], bool] = {}
        self._inside: dict[Path, bool] = {}

    @cached_property
    def imports(self) -> Mapping[Path, frozenset[str]]:
        """The dotted names that each file imports, or imports something from, without relative ones."""
        return {path: frozenset(_imports(file.text)) for path, file in self.files.items()}

    def imports_from(self, folder: Path, name: str) -> bool:
        """Whether a dotted name, or what is in it, may be imported from a folder.

        What a script imports that lies beside it (`vits.py` in `vits/`) says nothing of the folders above.
        """
        beside = self._imported_beside.get(folder, frozenset())
        return name in self._imported_by_others or name in beside or name in self.imported_in(folder)

    @cached_property
    def _imported_by_others(self) -> frozenset[str]:
        return _with_packages(
            name
            for path, found in self.imports.items()
            for name in found
            if not self._lies_beside(name.split(".")[0], path.parent)
        )

    @cached_property
    def _imported_beside(self) -> Mapping[Path, frozenset[str]]:
        found: dict[Path, set[str]] = {}
        for path, names in self.imports.items():
            found.setdefault(path.parent, set()).update(names)
        return {folder: _with_packages(names) for folder, names in found.items()}

    def named_from(self, path: Path, root: Path) -> Iterator[str]:
        """The first parts of the names that a file may import from a folder."""
        for name in {name.split(".")[0] for name in self.imports[path]}:
            if path.parent == root or not self._lies_beside(name, path.parent):
                yield name

    def runs_inside(self, package: Path) -> bool:
        """Whether what a package holds is run in its folder, as scripts are: the package itself is never named.

        Its modules import what others of them define by their own names (`from zipformer import Zipformer`).
        """
        if package not in self._inside:
            inner = [path for path in self.files if path.parent == package]
            self._inside[package] = (
                not any(_RELATIVE.search(self.files[path].text) for path in inner)
                and not self.imports_from(package.parent, package.name)
                and any(self._defined(name, package) for path in inner for name in self.imports[path])
            )
        return self._inside[package]

    def _defined(self, name: str, folder: Path) -> bool:
        """Whether a dotted name is that of something that a module below a folder defines."""
        source, _, defined = name.rpartition(".")
        text = text_of(folder.joinpath(*source.split(".")).with_suffix(".py"), self.files) if source else None
        return bool(text) and re.search(rf"^(?:(?:class|def)[ \t]+)?{defined}\b", text or "", re.MULTILINE) is not None

    def _lies_beside(self, name: str, folder: Path) -> bool:
        """Whether a module of this name stands in a folder, and is no package."""
        if (folder, name) not in self._modules:
            module = folder / f"{name}.py"
            self._modules[folder, name] = module in self.files or module.is_file()
        return self._modules[folder, name]

    def imported_in(self, folder: Path) -> frozenset[str]:
        """The same of the modules that stand in a folder and are not looked at: a commit hook gets a file alone."""
        if folder not in self._beside:
            texts = [text_of(path, {}) for path in folder.glob("*.py") if path not in self.files]
            self._beside[folder] = _with_packages(name for text in texts for name in _imports(text or ""))
        return self._beside[folder]

    def root(self, outermost: Path) -> Path:
        """The folder that code is imported from, by its outermost package or by itself."""
        if outermost not in self._roots:
            self._roots[outermost] = _imported_from(outermost, self)
        return self._roots[outermost]

    def holds(self, name: str, folder: Path) -> bool:
        """Whether a dotted name is that of a module, or of a folder, below a folder, looked at or not."""
        target = folder.joinpath(*name.split("."))
        module = target.with_name(f"{target.name}.py")
        return module in self.files or module.is_file() or target.is_dir()


def _imports(text: str) -> Iterator[str]:
    for source, names in _IMPORTED.findall(text):
        yield source
        yield from (f"{source}.{name}" for name in re.findall(r"\w+", names))


def _with_packages(names: Iterable[str]) -> frozenset[str]:
    parts = [name.split(".") for name in names]
    return frozenset(".".join(found[:n]) for found in parts for n in range(1, len(found) + 1))


def _running_together(root: Path, layout: _Layout) -> list[set[str]]:
    """The packages and modules of a folder, in groups of those that import one another or are imported together."""
    named: dict[str, set[str]] = {}
    for path in layout.imports:
        if (top := _top(path, root)) is not None:
            named.setdefault(top, set()).update(layout.named_from(path, root))
    groups = {top: frozenset({top}) for top in named}
    for top, others in named.items():
        for name in others & groups.keys():
            if (union := groups[top] | groups[name]) != groups[top]:
                groups |= dict.fromkeys(union, union)
    return [set(group) for group in set(groups.values())]


def _earlier(callers: Iterable[Path], root: Path, layout: _Layout) -> Place | None:
    """The helper that an earlier run has put beside code that calls one now, or into what this imports."""
    imported = {name for path in callers for name in layout.named_from(path, root)}
    tops = sorted(imported.union(filter(None, (_top(path, root) for path in callers))))
    places = [Place(f"{top}.{DEFAULT_NAME}", root / top / f"{DEFAULT_NAME}.py", root) for top in tops]
    places.append(Place(DEFAULT_NAME, root / f"{DEFAULT_NAME}.py", root))
    return next((place for place in places if helper_version(text_of(place.path, layout.files) or "")), None)


def _best(candidates: Mapping[Path, Place], root: Path, layout: _Layout) -> Place:
    """The place in the package that most others import."""
    tops = {place: _top(path, root) for path, place in candidates.items()}
    pairs = {(_top(path, root), name) for path in layout.imports for name in layout.named_from(path, root)}
    imported = Counter(name for top, name in pairs if top not in (None, name))
    calls = Counter(candidates.values())

    return min(tops, key=lambda place: (-imported[tops[place] or ""], -calls[place], place.module))


def _top(path: Path, root: Path) -> str | None:
    """The package or module of a folder that a file belongs to."""
    absolute = path.absolute()
    return absolute.relative_to(root).parts[0].removesuffix(".py") if root in absolute.parents else None


def _own_place(path: Path, config: Config, layout: _Layout) -> Place:
    """The place of a helper for the code of one file by itself."""
    file = layout.files[path]
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
    if (package := _package_above(file, folder if in_package else None, layout.files)) is not None:
        parts, folder, in_package = [package.name], package, True
    if in_package and config.helper_module is None and layout.runs_inside(folder):
        first = path.relative_to(folder).parts[0]
        name = DEFAULT_NAME if first == path.name else f"{first}.{DEFAULT_NAME}"
        return Place(name, folder.joinpath(*name.split(".")).with_suffix(".py"), folder)
    root = layout.root(folder if in_package else path)
    if config.helper_module is not None:
        wanted = config.helper_module.split(".")
        base = folder.parent if in_package and wanted[0] == parts[0] else config.root
        return Place(config.helper_module, base.joinpath(*wanted[:-1], f"{wanted[-1]}.py"), root)
    if root == path.parent and not in_package and _RELATIVE.search(file.text):
        return Place(DEFAULT_NAME, root / f"{DEFAULT_NAME}.py", root, beside=True)
    top = (folder if in_package else path).relative_to(root).parts[0]
    if top == path.name:
        return Place(DEFAULT_NAME, root / f"{DEFAULT_NAME}.py", root)
    return Place(f"{top}.{DEFAULT_NAME}", root / top / f"{DEFAULT_NAME}.py", root)


def _imported_from(outermost: Path, layout: _Layout) -> Path:
    """What holds some code, its outermost package or itself, or a folder above it that it is imported from.

    Folders without an `__init__.py` are imported from as well: others name `ldm.models.diffusion`, or what is in it
    names `ldm`. A module outside of packages that does not run by itself may name another folder beside its own.
    """
    above = list(itertools.takewhile(lambda folder: not _is_package(folder), outermost.parents[1 : _HIGHEST + 1]))
    loose = outermost.suffix == ".py" and "__main__" not in layout.files[outermost].text
    for folder in above:
        inside = outermost.relative_to(folder).with_suffix("").parts
        name = inside[0] if loose else ".".join(inside)
        if layout.imports_from(folder, name):
            return folder
    inner = [path for path in layout.files if outermost in (path, *path.parents)]
    names = frozenset[str]().union(*(layout.imports[path] for path in inner))
    for folder in above:
        own = outermost.relative_to(folder).parts[0]
        for name in names:
            alike = loose or name.split(".")[0] == own
            if alike and layout.holds(name, folder) and not layout.holds(name, outermost.parent):
                return folder
    return outermost.parent


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


def relative_source(path: Path, helper: Path, files: Mapping[Path, SourceFile]) -> str | None:
    """What a file of a package imports the helper of that package from, where the package lies inside of another one.

    Its own name is none to import it by then, with a folder without `__init__.py` between (`uniformer/mmseg/models`):
    nothing says from which folder above. None where others name it, or a file runs by itself.
    """
    path, package = path.absolute(), helper.absolute().parent
    root = package.parent
    between = list(itertools.takewhile(lambda folder: folder != root, path.parents))
    if package not in between or not all(_is_package(folder) for folder in between):
        return None
    if not any(_is_package(folder) for folder in root.parents) or "__main__" in files[path].text:
        return None
    named = re.compile(rf"^[ \t]*(?:from|import)[ \t]+{re.escape(package.name)}\b", re.MULTILINE)
    if any(named.search(file.text) for file in files.values()):
        return None
    return f"{'.' * len(between)}{helper.stem}"


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
