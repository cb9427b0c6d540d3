"""The `[tool.compilefix]` table of pyproject.toml."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compilefix.source.errors import InputError, suggestion
from compilefix.source.files import display_path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OLDEST_TORCH = "2.6"
"""The oldest torch that is supported."""

LOGGING_STYLES = ("boundary", "guard", "remove")
"""What may become of prints, log lines and warnings in compiled code; the first is the default."""

NEWEST_TORCH = "2.13"
"""The newest torch that the rules were measured on; the target where nothing else says."""

_AT_LINE = re.compile(r"at line (\d+)")
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.\d+)?(?:[.+a-z].*)?")


class ConfigError(InputError):
    """The configuration cannot be used; the message names the file, the line and the key."""


@dataclass(frozen=True)
class Config:
    """What the configuration says, with the defaults filled in.

    `root` is the folder of the file it was read from, or the folder that stands in for it; patterns and
    `helper_module` are relative to it. `select` and its like hold rule codes or prefixes of them as written; an empty
    `select` means all rules. `target_torch` is `"major.minor"`. `roots` names functions or classes
    (`package.module:qualname`) that are compiled though no call in the code shows it; with `reached`, only what is seen
    to be compiled counts. `logging` is one of
    `LOGGING_STYLES`. `workloads` are by name; those of a list have no other name than themselves. `file` is the file
    that was read, None where the defaults stand alone.
    """

    root: Path
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude: tuple[str, ...] = ()
    assume: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    reached: bool = False
    target_torch: str = NEWEST_TORCH
    helper_module: str | None = None
    logging: str = "boundary"
    workloads: Mapping[str, str] = field(default_factory=dict)
    line_length: int | None = None
    file: Path | None = field(default=None, compare=False)

    def place(self, *keys: str) -> str:
        """`pyproject.toml:12` for a key of the table, for messages about its value; empty without a file."""
        return "" if self.file is None else _place(self.file, *_table_keys(self.file), *keys)


def load(paths: Sequence[Path], explicit: Path | None = None) -> Config:
    """The configuration for `paths`: of the file `explicit`, else the nearest pyproject.toml that has the table.

    The search goes up from the folder that the paths have in common, then up from the working directory. Where there is
    no table, the defaults hold and `root` is the nearest folder with a pyproject.toml or a git repository.

    Raises ConfigError.
    """
    if explicit is not None:
        return _from_file(explicit)
    starts = (_common_folder(paths), Path.cwd())
    for start in starts:
        for folder in (start, *start.parents):
            file = folder / "pyproject.toml"
            if file.is_file():
                document = _read(file)
                tool = document.get("tool", {})
                if isinstance(tool, dict) and "compilefix" in tool:
                    return _from_table(tool["compilefix"], file)
    return Config(root=_project_folder(starts[0]) or Path.cwd(), target_torch=_installed_torch())


def _from_file(file: Path) -> Config:
    document = _read(file)
    tool = document.get("tool", {})
    if isinstance(tool, dict) and "compilefix" in tool:
        return _from_table(tool["compilefix"], file)
    if file.name == "pyproject.toml":
        raise ConfigError(f"{display_path(file)}: has no table [tool.compilefix]")
    return _from_table(document, file)


def _read(file: Path) -> dict[str, Any]:
    try:
        document: dict[str, Any] = tomllib.loads(file.read_bytes().decode("utf-8"))
        return document
    except OSError as error:
        raise ConfigError(f"{display_path(file)}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{display_path(file)}: is not valid utf-8") from error
    except tomllib.TOMLDecodeError as error:
        place = _AT_LINE.search(str(error))
        line = f":{place[1]}" if place else ""
        raise ConfigError(f"{display_path(file)}{line}: is not valid TOML: {error}") from error


def _from_table(table: object, file: Path) -> Config:
    keys = _table_keys(file)
    if not isinstance(table, dict):
        raise ConfigError(f"{_place(file, *keys)}: tool.compilefix must be a table")
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in KEYS:
            raise ConfigError(f"{_place(file, *keys, key)}: unknown key '{key}'{suggestion(key, KEYS)}")
        known = KEYS[key]
        try:
            values[known.field] = known.check(value)
        except _Wrong as problem:
            wanted = problem.args[0] or known.wanted
            raise ConfigError(f"{_place(file, *keys, key)}: '{key}' must be {wanted}, not {_shown(value)}") from None
    values.setdefault("target_torch", _installed_torch())
    return Config(root=file.absolute().parent, file=file, **values)


def _table_keys(file: Path) -> tuple[str, ...]:
    """Where the table stands in the file: a file of its own needs no `[tool.compilefix]`."""
    document = _read(file)
    tool = document.get("tool")
    return ("tool", "compilefix") if isinstance(tool, dict) and "compilefix" in tool else ()


def _place(file: Path, *keys: str) -> str:
    """The file, with the line on which the value of `keys` is set.

    TOML parsers tell no lines, but the first lines of a file are a document of their own wherever a statement ends: the
    statement that sets the value is the one after which it is there.
    """
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    start = 1
    for end in range(1, len(lines) + 1):
        try:
            document: object = tomllib.loads("".join(lines[:end]))
        except tomllib.TOMLDecodeError:
            continue
        for key in keys:
            document = document.get(key) if isinstance(document, dict) else None
        if document is not None:
            return f"{display_path(file)}:{start}"
        start = end + 1
    return display_path(file)


def _shown(value: object) -> str:
    text = json.dumps(value, default=str, ensure_ascii=False)
    return text if len(text) <= 40 else text[:37] + "..."


class _Wrong(Exception):
    """A value of the wrong type; the argument says what it must be where the key's own text is not exact enough."""


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _Wrong("")
    return tuple(value)


def _truth(value: object) -> bool:
    if not isinstance(value, bool):
        raise _Wrong("")
    return value


def _roots(value: object) -> tuple[str, ...]:
    names = _strings(value)
    for name in names:
        module, colon, qualname = name.partition(":")
        if not all(part.isidentifier() for part in (*module.split("."), *(qualname.split(".") if colon else ()))):
            raise _Wrong("a list of names such as 'package.module:Class.forward'")
    return names


def _codes_by_pattern(value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise _Wrong("")
    return {pattern: _strings(codes) for pattern, codes in value.items()}


def _workloads(value: object) -> dict[str, str]:
    table = dict.fromkeys(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else value
    if not isinstance(table, dict):
        raise _Wrong("")
    found = {name: name if spec is None else spec for name, spec in table.items()}
    for spec in found.values():
        place, colon, function = spec.rpartition(":") if isinstance(spec, str) else ("", "", "")
        if not colon or not place or not function.isidentifier():
            raise _Wrong("")
    return found


def _torch_version(value: object) -> str:
    match = _VERSION.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise _Wrong("")
    if (int(match[1]), int(match[2])) < _numbers(OLDEST_TORCH):
        raise _Wrong(f"at least '{OLDEST_TORCH}', the oldest torch that is supported")
    return f"{match[1]}.{match[2]}"


def _dotted_name(value: object) -> str:
    if not isinstance(value, str) or not all(part.isidentifier() for part in value.split(".")):
        raise _Wrong("")
    return value


def _style(value: object) -> str:
    if value not in LOGGING_STYLES:
        raise _Wrong("")
    return str(value)


def _length(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _Wrong("")
    return value


@dataclass(frozen=True)
class Key:
    """A key of the table: the field of Config that it fills, the check of its value, and what is said of it."""

    field: str
    check: Callable[[object], object]
    wanted: str
    summary: str


_LIST = "a list of strings"
KEYS: Mapping[str, Key] = {
    "select": Key("select", _strings, _LIST, "Only these rules: codes or beginnings of codes (CF1), or ALL."),
    "extend-select": Key("extend_select", _strings, _LIST, "These rules besides the ones that are selected."),
    "ignore": Key("ignore", _strings, _LIST, "All but these rules."),
    "per-file-ignores": Key(
        "per_file_ignores",
        _codes_by_pattern,
        "a table of patterns, each with a list of rule codes",
        "Rules that do not run on the files that a pattern matches, as in a .gitignore.",
    ),
    "exclude": Key("exclude", _strings, _LIST, "Files and folders that are left out, as in a .gitignore."),
    "assume": Key("assume", _strings, _LIST, "Assumptions on which fixes may rest."),
    "roots": Key(
        "roots",
        _roots,
        _LIST,
        "Functions or classes (package.module:qualname) that run compiled, though no call shows it.",
    ),
    "reached": Key("reached", _truth, "true or false", "Only what torch.compile, a root or a `forward` leads to."),
    "target-torch": Key(
        "target_torch",
        _torch_version,
        "a version in quotes, such as '2.11'",
        "The torch that the code is for; the installed one by default. Rules for what it does not break are silent.",
    ),
    "helper-module": Key(
        "helper_module",
        _dotted_name,
        "a dotted module name in quotes",
        "The module that carries host effects to the compile boundary, where a fix needs one.",
    ),
    "logging": Key(
        "logging",
        _style,
        "'boundary', 'guard' or 'remove'",
        "What becomes of prints, log lines and warnings: carried out when the compiled call returns, left to code that "
        "runs without compiling, or removed.",
    ),
    "workloads": Key(
        "workloads",
        _workloads,
        "a table of names, each with a workload such as 'path/to/file.py:function', or a list of workloads",
        "What verify runs, by name: path/to/file.py:function (from this folder) or package.module:function.",
    ),
    "line-length": Key(
        "line_length", _length, "a positive number", "How long rewritten lines may be; as in the file by default."
    ),
}
"""The keys of the table."""


def _installed_torch() -> str:
    """The version in the installed torch's metadata, which is there without importing it."""
    try:
        match = _VERSION.fullmatch(importlib.metadata.version("torch"))
    except importlib.metadata.PackageNotFoundError:
        match = None
    if match is None:
        return NEWEST_TORCH
    installed = (int(match[1]), int(match[2]))
    return OLDEST_TORCH if installed < _numbers(OLDEST_TORCH) else f"{match[1]}.{match[2]}"


def _numbers(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)


def _common_folder(paths: Sequence[Path]) -> Path:
    absolute = [path.absolute() for path in paths] or [Path.cwd()]
    try:
        common = Path(os.path.commonpath(absolute))
    except ValueError:  # On different drives.
        return Path.cwd()
    return common if common.is_dir() else common.parent


def _project_folder(start: Path) -> Path | None:
    for folder in (start, *start.parents):
        if (folder / "pyproject.toml").is_file() or (folder / ".git").exists():
            return folder
    return None
