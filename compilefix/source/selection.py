"""Which rules run, and on which files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pathspec

from compilefix.source.config import Config
from compilefix.source.errors import InputError, suggestion


class SelectionError(InputError):
    """A rule code or prefix that names no rule."""


@dataclass(frozen=True)
class RuleSelection:
    """The codes that run; `per_file_ignores` takes codes away from files that a pattern (from `root`) matches.

    `reached` leaves out what stands apart.
    """

    codes: frozenset[str]
    root: Path = Path()
    per_file_ignores: tuple[tuple[str, frozenset[str]], ...] = ()
    reached: bool = False

    def __contains__(self, code: object) -> bool:
        return code in self.codes

    def for_file(self, path: Path) -> frozenset[str]:
        """The codes that run on one file."""
        codes = self.codes
        for pattern, ignored in self.per_file_ignores:
            if _matches(pattern, path, self.root):
                codes -= ignored
        return codes


def choose(
    config: Config,
    known: Collection[str],
    *,
    select: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    reached: bool = False,
) -> RuleSelection:
    """Combine the configuration with the command line, whose values the keywords hold.

    A value is a code or the beginning of one (`CF1`), or `ALL`. Where a rule is both selected and ignored, the longer
    value wins, and `ignore` wins a tie. A `select` on the command line starts afresh: the configuration's `select`,
    `extend-select` and `ignore` do not count then.

    Raises SelectionError for a value that fits no code in `known`, with the place of it in the configuration.
    """

    def configured(key: str, values: Sequence[str], *inner: str) -> list[str]:
        try:
            return [_prefix(value, known) for value in values]
        except SelectionError as error:
            raise SelectionError(
                f"{config.place(key, *inner)}: '{key}': {error}" if config.file else str(error)
            ) from None

    def given(values: Sequence[str]) -> list[str]:
        return [_prefix(value, known) for value in values]

    chosen = [*configured("select", config.select or ("ALL",)), *configured("extend-select", config.extend_select)]
    ignored = configured("ignore", config.ignore)
    if select:
        chosen, ignored = given(select), []
    chosen += given(extend_select)
    ignored += given(ignore)
    codes = frozenset(code for code in known if _strength(code, chosen) > _strength(code, ignored))
    per_file = tuple(
        (
            pattern,
            frozenset(code for code in known if _strength(code, configured("per-file-ignores", values, pattern)) >= 0),
        )
        for pattern, values in config.per_file_ignores.items()
    )
    return RuleSelection(codes, config.root, per_file, reached or config.reached)


def _prefix(value: str, known: Collection[str]) -> str:
    prefix = "" if value.upper() == "ALL" else value.upper()
    if known and not any(code.startswith(prefix) for code in known):
        raise SelectionError(f"unknown rule '{value}'{suggestion(prefix, known)} (`compilefix rules` lists them)")
    return prefix


def _strength(code: str, prefixes: Sequence[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def _matches(pattern: str, path: Path, root: Path) -> bool:
    absolute = path.absolute()
    if not absolute.is_relative_to(root.absolute()):
        return False
    return _spec(pattern).match_file(absolute.relative_to(root.absolute()).as_posix())


@lru_cache(maxsize=256)
def _spec(pattern: str) -> pathspec.GitIgnoreSpec:
    return pathspec.GitIgnoreSpec.from_lines([pattern])
