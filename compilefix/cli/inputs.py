"""From the options of a command to what the engine takes: the files, the rules and the allowed assumptions."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from compilefix.cli.wanted import Wanted
from compilefix.codemods import registry
from compilefix.codemods.assumptions import ASSUMPTIONS
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule
from compilefix.codemods.versions import covers
from compilefix.fixing import engine
from compilefix.fixing.cache import FOLDER
from compilefix.fixing.workers import available_processors
from compilefix.source.config import Config
from compilefix.source.config import load as load_config
from compilefix.source.discovery import discover, is_excluded
from compilefix.source.errors import InputError, suggestion
from compilefix.source.files import SourceError, SourceFile, display_path, read
from compilefix.source.git import changed_since
from compilefix.source.notebooks import parse_any
from compilefix.source.places import import_path
from compilefix.source.selection import RuleSelection, choose

STDIN = Path("-")
"""The path that stands for the standard input."""

SMALLEST_PROJECT = 1_000_000
"""Characters of source below which no results are kept for later: to look again takes about a second."""


@dataclass(frozen=True)
class Request:
    """The options that say what to look at and which fixes may be made, as given on the command line.

    `content` is what the path - stands for, where that is not the standard input: the text that an editor holds.
    """

    paths: Sequence[Path]
    select: Sequence[str] = ()
    extend_select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    reached: bool = False
    assume: Sequence[str] = ()
    unsafe_fixes: bool = False
    exclude: Sequence[str] = ()
    force_exclude: bool = False
    config: Path | None = None
    since: str | None = None
    stdin_filename: Path | None = None
    content: bytes | None = None
    jobs: int | None = None
    cache: bool = False


@dataclass(frozen=True)
class Inputs:
    """What a request comes to. `errors` are the files that cannot be looked at; the others go on without them.

    `whole` says that folders were given and nothing was left out of them: what other files say of these is known.
    `stdin` is what was read from the standard input, None where nothing was.
    """

    config: Config
    files: tuple[SourceFile, ...]
    errors: tuple[SourceError, ...]
    selection: RuleSelection
    rules: tuple[type[Rule], ...]
    allowed: frozenset[str] | None
    whole: bool = False
    stdin: bytes | None = None
    jobs: int = 1
    cache: Path | None = None

    @cached_property
    def by_path(self) -> Mapping[str, SourceFile]:
        """The files by the `path` that their findings have."""
        return {file.path.as_posix(): file for file in self.files}

    def wanted(self) -> Wanted:
        """The filter for findings that configuration and comments make."""
        return Wanted(self.by_path, self.selection)

    def run(
        self,
        *,
        rewrite: bool,
        only: Finding | None = None,
        wanted: Callable[[Finding], bool] | None = None,
        files: Sequence[SourceFile] | None = None,
    ) -> engine.Outcome:
        """Let the engine look, and fix where `rewrite` says so; with `only`, this one finding and nothing else.

        `wanted` takes the place of the usual filter, `files` that of the files as they are on disk.
        """
        if only is not None:
            chosen = (only.fingerprint, only.span)
            wanted = lambda finding: (finding.fingerprint, finding.span) == chosen  # noqa: E731
        return engine.run(
            self.files if files is None else files,
            self.config,
            rules=self.rules,
            allowed=self.allowed,
            rewrite=rewrite,
            wanted=wanted or self.wanted(),
            jobs=self.jobs,
            cache=self.cache,
        )


def gather(request: Request) -> Inputs:
    """Read the configuration and the files. Says on stderr which folders hold nothing. Raises InputError."""
    paths = list(request.paths) or [Path()]
    from_stdin = STDIN in paths
    if from_stdin and (len(paths) > 1 or request.since is not None):
        raise InputError("- stands for the standard input, and goes with no other path and not with --since")
    if request.stdin_filename is not None and not from_stdin:
        raise InputError("--stdin-filename goes with the path - only")
    name = request.stdin_filename or Path("<stdin>")
    config = load_config([name.absolute().parent] if from_stdin else paths, request.config)
    rules = registry.load()
    selection = choose(
        config,
        rules,
        select=request.select,
        extend_select=request.extend_select,
        ignore=request.ignore,
        reached=request.reached,
    )
    assumed = (*_assumptions(config.assume, config.place("assume")), *_assumptions(request.assume))
    allowed = None if request.unsafe_fixes else frozenset(assumed)
    exclude = (*config.exclude, *request.exclude)
    files: list[SourceFile] = []
    errors: list[SourceError] = []
    stdin: bytes | None = None
    results: Iterable[SourceFile | SourceError]
    if from_stdin:
        stdin = sys.stdin.buffer.read() if request.content is None else request.content
        left_out = request.force_exclude and is_excluded(name, config.root, exclude)
        results = () if left_out else (parse_any(name, stdin),)
    else:
        found = _discover(request, paths, config, exclude, errors)
        results = map(read, found)
    for result in results:
        if isinstance(result, SourceError):
            errors.append(result)
        else:
            files.append(result)
    whole = not from_stdin and request.since is None and all(path.is_dir() for path in paths)
    root = config.root.absolute()
    _check_roots(config, files, whole and any(root.is_relative_to(path.absolute()) for path in paths))
    silent = {code for code, rule in rules.items() if not covers(rule.torch, config.target_torch)}
    selection = replace(selection, codes=selection.codes - silent)
    chosen = tuple(rule for code, rule in rules.items() if code in selection)
    jobs = request.jobs or available_processors()
    large = sum(len(file.text) for file in files) >= SMALLEST_PROJECT
    cache = config.root / FOLDER if request.cache and large and not from_stdin else None
    return Inputs(config, tuple(files), tuple(errors), selection, chosen, allowed, whole, stdin, jobs, cache)


def _discover(
    request: Request, paths: Sequence[Path], config: Config, exclude: Sequence[str], errors: list[SourceError]
) -> Sequence[Path]:
    discovery = discover(paths, config.root, exclude, request.force_exclude)
    errors.extend(discovery.errors)
    for folder in discovery.empty:
        print(f"{display_path(folder)}: no Python files found", file=sys.stderr)
    if request.since is None:
        return discovery.files
    changed = changed_since(request.since, Path.cwd())
    return [path for path in discovery.files if Path(os.path.realpath(path)) in changed]


def _check_roots(config: Config, files: Sequence[SourceFile], everything: bool) -> None:
    """Refuse a root that its module does not have: it would be looked for in vain, without a word.

    Where `everything` is looked at, a module that is not there is named.
    """
    for root in config.roots:
        module, _, qualname = root.partition(":")
        name, ending = qualname.partition(".")[0], "/" + module.replace(".", "/")
        there = [file for file in files if import_path(file).endswith(ending)]
        sure = everything or any(file.module == module for file in there)
        if there and sure and name and not any(re.search(rf"\b{re.escape(name)}\b", file.text) for file in there):
            raise InputError(f"{config.place('roots')}: 'roots': {display_path(there[0].path)} has no {name}")
        if everything and not there:
            print(f"{config.place('roots')}: 'roots': there is no module {module}", file=sys.stderr)


def print_errors(errors: Sequence[SourceError]) -> None:
    """Name on stderr what could not be done, a line each."""
    for error in errors:
        print(error, file=sys.stderr)


def _assumptions(names: Sequence[str], place: str = "") -> Sequence[str]:
    for name in names:
        if name not in ASSUMPTIONS:
            where = f"{place}: 'assume': " if place else ""
            raise InputError(
                f"{where}unknown assumption '{name}'{suggestion(name, ASSUMPTIONS)} (known: {', '.join(ASSUMPTIONS)})"
            )
    return names
