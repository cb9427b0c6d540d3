"""Findings for what a run met and no rule finds in the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from compilefix.codemods.finding import Finding, Span
from compilefix.codemods.traced.traced_break import TracedBreak as BreakRule
from compilefix.codemods.traced.traced_recompile import TracedRecompile as RecompileRule
from compilefix.source.files import SourceFile
from compilefix.tracing.functions import functions_by_line
from compilefix.tracing.match import Match, Matched, is_handed_over
from compilefix.tracing.model import Place, TracedBreak, TracedRecompile


def unfound(matched: Matched, by_path: Mapping[str, SourceFile], left_out: frozenset[str]) -> Iterator[Finding]:
    """The break sites and recompiles without a finding. `by_path` holds the files that were looked at, by full path.

    Breaks with an id in `left_out` are passed over: their rules were not asked.
    """
    for site, match in zip(matched.trace.breaks, matched.breaks, strict=True):
        if match.finding is None and site.gb not in left_out:
            yield from _break(site, match, by_path)
    for recompile, match in zip(matched.trace.recompiles, matched.recompiles, strict=True):
        if match.finding is None and not is_handed_over(recompile):
            yield from _recompile(recompile, match, by_path)


def _break(site: TracedBreak, match: Match, by_path: Mapping[str, SourceFile]) -> Iterator[Finding]:
    file = _file(site.place, by_path)
    if file is not None:
        message = f"{site.title}: met by {_times(site.count, 'compilation')} of the run"
        if site.skipped:
            message += ", and the whole function was left to Python"
        gb = (site.gb,) if site.gb else ()
        text = _line(site.place, file)
        yield BreakRule().met(*_where(site.place, file), message, match.declined or "", gb=gb, source_line=text)


def _recompile(recompile: TracedRecompile, match: Match, by_path: Mapping[str, SourceFile]) -> Iterator[Finding]:
    made = recompile.cause if recompile.cause is not None and _file(recompile.cause, by_path) else recompile.place
    file = _file(made, by_path)
    if file is not None:
        again = f"{_times(recompile.count, 'recompile')} of `{recompile.place.function}` in the run"
        message = f"`{recompile.reason}` failed: {again}"
        if recompile.limit:
            message += ", which was given up at the limit"
        yield RecompileRule().met(*_where(made, file), message, match.declined or "", source_line=_line(made, file))


def _times(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _file(place: Place, by_path: Mapping[str, SourceFile]) -> SourceFile | None:
    """The file of a place, where it was looked at and still reads as it did."""
    file = by_path.get(str(Path(place.path).resolve()))
    if file is None or not 0 < place.line <= len(file.lines):
        return None
    return file if not place.source or _line(place, file).strip() == place.source else None


def _line(place: Place, file: SourceFile) -> str:
    return file.lines[place.line - 1]


def _where(place: Place, file: SourceFile) -> tuple[str, Span, str]:
    """The path, the stretch and the function of a finding at a place."""
    text = _line(place, file)
    start = place.column - 1 if place.column else len(text) - len(text.lstrip())
    function = functions_by_line(file.tree).get(place.line, (0, place.function or "<module>"))[1]
    return file.path.as_posix(), Span(place.line, start, place.line, max(len(text.rstrip()), start)), function
