"""From the paths on the command line to the Python files and notebooks they stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pathspec

from compilefix.source.errors import InputError
from compilefix.source.files import NOTEBOOK_SUFFIX, SourceError, display_path

DEFAULT_EXCLUDES = frozenset(
    {
        ".bzr",
        ".direnv",
        ".eggs",
        ".git",
        ".hg",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".pytest_cache",
        ".ruff_cache",
        ".svn",
        ".tox",
        ".venv",
        "__pycache__",
        "__pypackages__",
        "node_modules",
        "site-packages",
        "venv",
    }
)
"""Folders that are not walked into. One that is named on the command line itself is."""

_SUFFIXES = (".py", NOTEBOOK_SUFFIX)
OUTPUT_FOLDERS = frozenset({"build", "dist"})
"""Folders of build output; a package may bear the name too, so those with `__init__.py` are walked."""


@dataclass(frozen=True)
class Discovery:
    """The files found, sorted, each once; the paths that could not be read; the folders without a Python file."""

    files: tuple[Path, ...]
    errors: tuple[SourceError, ...] = ()
    empty: tuple[Path, ...] = ()


def discover(paths: Sequence[Path], root: Path, exclude: Sequence[str] = (), force_exclude: bool = False) -> Discovery:
    """Find the Python files that `paths` stand for.

    A file that is named is taken whatever its name, unless `force_exclude` holds it to the exclusions too. A folder is
    walked for `*.py` and notebooks, less the default exclusions, the `exclude` patterns (as in a .gitignore in `root`),
    and, inside a git repository, what its .gitignore files name. A folder that is itself ignored (an installed package
    in a virtual environment, say) was named on purpose and is walked without them. Links to folders are not followed.

    Raises InputError for a pattern in `exclude` that is not one.
    """
    excluded = _Patterns(root.absolute(), exclude)
    found: dict[str, Path] = {}
    folders: dict[Path, str] = {}
    errors: list[SourceError] = []
    empty: list[Path] = []
    for path in paths:
        if path.is_dir():
            if force_exclude and _forced_out(path, root, excluded):
                continue
            files = list(_walk(path, excluded, errors))
            if not files:
                empty.append(path)
        elif path.exists():
            files = [] if force_exclude and _forced_out(path, root, excluded) else [path]
        else:
            errors.append(SourceError(display_path(path), "no such file or folder"))
            continue
        for file in files:
            found.setdefault(_real_path(file, folders), file)
    return Discovery(tuple(sorted(found.values())), tuple(errors), tuple(empty))


def _real_path(file: Path, folders: dict[Path, str]) -> str:
    """Where a file stands when all links are followed; `folders` keeps that of the folders."""
    if file.is_symlink():
        return os.path.realpath(file)
    folder = file.parent
    if folder not in folders:
        folders[folder] = os.path.realpath(folder)
    return f"{folders[folder]}{os.sep}{file.name}"


def is_excluded(path: Path, root: Path, exclude: Sequence[str] = ()) -> bool:
    """Whether a file that is named would be left out with `force_exclude`. Raises InputError as `discover` does."""
    return _forced_out(path, root, _Patterns(root.absolute(), exclude))


def repository(path: Path) -> Path | None:
    """The root of the git working tree that `path` lies in, if any."""
    absolute = path.absolute()
    for folder in (absolute, *absolute.parents):
        if (folder / ".git").exists():
            return folder
    return None


class _Patterns:
    """The lines of one ignore file, matched against what lies below its folder."""

    def __init__(self, folder: Path, lines: Sequence[str]) -> None:
        self.folder = folder
        try:
            self._spec = pathspec.GitIgnoreSpec.from_lines(lines) if lines else None
        except ValueError as error:
            raise InputError(f"exclude: {error}") from error

    def verdict(self, path: Path, is_folder: bool) -> bool | None:
        """True for ignored, False for taken back with `!`, None where no line applies."""
        if self._spec is None or not path.is_relative_to(self.folder) or path == self.folder:
            return None
        name = path.relative_to(self.folder).as_posix()
        return self._spec.check_file(name + "/" if is_folder else name).include


def _walk(top: Path, excluded: _Patterns, errors: list[SourceError]) -> Iterator[Path]:
    start = top.absolute()
    specs: dict[Path, tuple[_Patterns, ...]] = {}
    in_repository = repository(start) is not None
    above = _gitignores_above(start)
    if _ignored_on_the_way(start, above):
        above, in_repository = (), False

    def failed(error: OSError) -> None:
        errors.append(SourceError(display_path(error.filename), f"cannot be read: {error.strerror}"))

    for name, folders, files in os.walk(top, onerror=failed):
        folder = Path(name)
        absolute = folder.absolute()
        inherited = above if absolute == start else specs[absolute.parent]
        if (folder / ".git").exists() and absolute != start:
            inherited = ()
        if in_repository and (folder / ".gitignore").is_file():
            inherited = (*inherited, _read_gitignore(folder / ".gitignore", absolute))
        specs[absolute] = inherited
        folders[:] = [
            child
            for child in sorted(folders)
            if not _skipped_by_default(folder / child)
            and not _ignored(absolute / child, True, inherited)
            and not excluded.verdict(absolute / child, True)
        ]
        for child in files:
            path = folder / child
            if (
                child.endswith(_SUFFIXES)
                and not _ignored(absolute / child, False, inherited)
                and not excluded.verdict(absolute / child, False)
                and (path.is_file() or not path.is_symlink())
            ):
                yield path


def _skipped_by_default(folder: Path) -> bool:
    if folder.name in OUTPUT_FOLDERS:
        return not (folder / "__init__.py").exists()
    try:
        return folder.name in DEFAULT_EXCLUDES or (folder / "pyvenv.cfg").exists()
    except PermissionError:
        return False  # the walk into it says so


def _ignored(path: Path, is_folder: bool, specs: Sequence[_Patterns]) -> bool:
    """The nearest ignore file that says anything about the path decides, as in git."""
    for spec in reversed(specs):
        verdict = spec.verdict(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def _ignored_on_the_way(start: Path, specs: Sequence[_Patterns]) -> bool:
    on_the_way = [start, *start.parents]
    return any(_ignored(folder, True, specs) for folder in on_the_way)


def _gitignores_above(start: Path) -> tuple[_Patterns, ...]:
    root = repository(start)
    if root is None:
        return ()
    chain = [folder for folder in (*reversed(start.parents), start) if folder.is_relative_to(root)]
    files = [(root / ".git" / "info" / "exclude", root)]
    files += [(folder / ".gitignore", folder) for folder in chain if folder != start]
    return tuple(_read_gitignore(file, folder) for file, folder in files if file.is_file())


def _read_gitignore(file: Path, folder: Path) -> _Patterns:
    try:
        lines = file.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
        return _Patterns(folder, lines)
    except (OSError, InputError):
        # Git itself goes on without an ignore file that it cannot use.
        return _Patterns(folder, ())


def _forced_out(path: Path, root: Path, excluded: _Patterns) -> bool:
    absolute = Path(os.path.normpath(path.absolute()))
    base = root.absolute()
    if not absolute.is_relative_to(base):
        return False
    on_the_way = [p for p in (*reversed(absolute.parents), absolute) if p != base and p.is_relative_to(base)]
    return any(
        bool(excluded.verdict(step, step.is_dir())) or (step.is_dir() and _skipped_by_default(step))
        for step in on_the_way
    )
