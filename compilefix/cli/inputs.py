"""From the options of a command to what the engine takes: the files, the rules and the allowed assumptions."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from compilefix.codemods import registry
from compilefix.codemods.assumptions import ASSUMPTIONS
from compilefix.codemods.finding import Finding, Span
from compilefix.codemods.rule import Rule
from compilefix.fixing import engine
from compilefix.source import suppressions
from compilefix.source.config import Config
from compilefix.source.config import load as load_config
from compilefix.source.discovery import discover
from compilefix.source.errors import InputError, suggestion
from compilefix.source.files import SourceError, SourceFile, display_path, read
from compilefix.source.selection import RuleSelection, choose


@dataclass(frozen=True)
class Request:
    """The options that say what to look at and which fixes may be made, as given on the command line."""

    paths: Sequence[Path]
    select: Sequence[str] = ()
    extend_select: Sequence[str] = ()
    ignore: Sequence[str] = ()
    assume: Sequence[str] = ()
    unsafe_fixes: bool = False
    exclude: Sequence[str] = ()
    force_exclude: bool = False
    config: Path | None = None


@dataclass(frozen=True)
class Inputs:
    """What a request comes to. `errors` are the files that cannot be looked at; the others go on without them."""

    config: Config
    files: tuple[SourceFile, ...]
    errors: tuple[SourceError, ...]
    selection: RuleSelection
    rules: tuple[type[Rule], ...]
    allowed: frozenset[str] | None

    @cached_property
    def by_path(self) -> Mapping[str, SourceFile]:
        """The files by the `path` that their findings have."""
        return {file.path.as_posix(): file for file in self.files}

    def run(self, *, rewrite: bool, only: Finding | None = None) -> engine.Outcome:
        """Let the engine look, and fix where `rewrite` says so; with `only`, this one finding and nothing else."""
        wanted = Wanted(self.by_path, self.selection)
        return engine.run(
            self.files,
            self.config,
            rules=self.rules,
            allowed=self.allowed,
            rewrite=rewrite,
            wanted=wanted
            if only is None
            else lambda finding: finding.fingerprint == only.fingerprint and finding.span == only.span,
        )


def gather(request: Request) -> Inputs:
    """Read the configuration and the files. Says on stderr which folders hold nothing. Raises InputError."""
    paths = list(request.paths) or [Path()]
    config = load_config(paths, request.config)
    rules = registry.load()
    selection = choose(
        config,
        rules,
        select=request.select,
        extend_select=request.extend_select,
        ignore=request.ignore,
    )
    allowed = None if request.unsafe_fixes else frozenset(_assumptions((*config.assume, *request.assume)))
    discovery = discover(paths, config.root, (*config.exclude, *request.exclude), request.force_exclude)
    for folder in discovery.empty:
        print(f"{display_path(folder)}: no Python files found", file=sys.stderr)
    files: list[SourceFile] = []
    errors = list(discovery.errors)
    for path in discovery.files:
        result = read(path)
        if isinstance(result, SourceError):
            errors.append(result)
        else:
            files.append(result)
    chosen = tuple(rule for code, rule in rules.items() if code in selection)
    return Inputs(config, tuple(files), tuple(errors), selection, chosen, allowed)


def print_errors(errors: Sequence[SourceError]) -> None:
    """Name on stderr what could not be done, a line each."""
    for error in errors:
        print(error, file=sys.stderr)


class Wanted:
    """Whether a finding counts: the rule runs on its file, and no comment silences it."""

    def __init__(self, files: Mapping[str, SourceFile], selection: RuleSelection) -> None:
        self._files = files
        self._selection = selection
        self._codes: dict[str, frozenset[str]] = {}
        self._comments: dict[str, suppressions.Suppressions] = {}
        self._silenced: set[str] = set()

    def __call__(self, finding: Finding) -> bool:
        """Decide for one finding, of the file as it is on disk or of a text that fixes have changed already."""
        path = finding.path
        file = self._files[path]
        if path not in self._codes:
            self._codes[path] = self._selection.for_file(file.path)
            self._comments[path] = suppressions.parse(file.text)
        if finding.code not in self._codes[path]:
            return False
        comments = self._comments[path]
        if not comments.lines and comments.file is None:
            return True
        if _is_original(finding, file):
            lines = _statement_lines(file.tree, finding.span)
            if comments.covers(finding.code, *lines):
                self._silenced.add(finding.fingerprint)
                return False
            return True
        # Fixes above have moved the line: what was silenced there stays so, and the comment is on the line still.
        if finding.fingerprint in self._silenced:
            return False
        return not (
            comments.covers(finding.code) or suppressions.parse_line(finding.source_line).covers(finding.code, 1)
        )


def _is_original(finding: Finding, file: SourceFile) -> bool:
    line = finding.span.line
    return line <= len(file.lines) and file.lines[line - 1] == finding.source_line


def _statement_lines(tree: ast.Module, span: Span) -> tuple[int, ...]:
    """The line of the place, and the first and the last line of its statement (of its head, if it has a body)."""
    body: Sequence[ast.stmt] = tree.body
    lines = {span.line}
    while True:
        around = [s for s in body if s.lineno <= span.line <= (s.end_lineno or s.lineno)]
        if not around:
            return tuple(sorted(lines))
        statement = around[-1]
        inner = [child for child in ast.walk(statement) if isinstance(child, ast.stmt) and child is not statement]
        head_end = min((child.lineno for child in inner), default=(statement.end_lineno or statement.lineno) + 1) - 1
        if span.line <= max(head_end, statement.lineno):
            return tuple(sorted(lines | {statement.lineno, max(head_end, statement.lineno)}))
        body = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)]
        for part in ast.iter_child_nodes(statement):
            if isinstance(part, ast.ExceptHandler | ast.match_case):
                body = [*body, *part.body]


def _assumptions(names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in ASSUMPTIONS:
            raise InputError(
                f"unknown assumption '{name}'{suggestion(name, ASSUMPTIONS)} (known: {', '.join(ASSUMPTIONS)})"
            )
    return names
