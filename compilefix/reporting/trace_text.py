"""A trace as text, the most expensive sites first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from compilefix.reporting.frames import printable
from compilefix.reporting.summary import count
from compilefix.source.files import display_path
from compilefix.tracing.match import Match, Matched
from compilefix.tracing.model import Place, TracedBreak, TracedRecompile


def lines(matched: Matched, allowed: frozenset[str] | None) -> Iterator[str]:
    """The report. `allowed` holds the assumptions that a fix may rest on; None allows all."""
    trace = matched.trace
    met = sum(site.count for site in trace.breaks)
    if trace.breaks:
        yield f"Graph breaks: {count(len(trace.breaks), 'site')}, met in {count(met, 'compilation')}"
        for site, found in zip(trace.breaks, matched.breaks, strict=True):
            yield ""
            yield from map(printable, _break_lines(site, found, allowed))
        yield ""
    if trace.recompiles:
        times = sum(recompile.count for recompile in trace.recompiles)
        yield f"Recompiles: {count(len(trace.recompiles), 'cause')}, {count(times, 'compilation')}"
        for recompile, found in zip(trace.recompiles, matched.recompiles, strict=True):
            yield ""
            yield from map(printable, _recompile_lines(recompile, found, allowed))
        yield ""
    yield from _closing(matched, allowed)


def _break_lines(site: TracedBreak, found: Match, allowed: frozenset[str] | None) -> Iterator[str]:
    title = f"{site.gb} {site.title}".strip()
    yield f"{_shown(site.place)}: {title}"
    if site.place.source:
        yield f"    {site.place.source}"
    left = ", a function left to Python" if site.skipped else ""
    yield f"    {_times(site.count)} in {count(site.frames, 'frame')}, {site.compile_s:.2f} s of compiling{left}"
    yield f"    {_remedy(found, allowed)}"


def _recompile_lines(recompile: TracedRecompile, found: Match, allowed: frozenset[str] | None) -> Iterator[str]:
    yield f"{_shown(recompile.place)}: {recompile.reason}"
    if recompile.cause is not None and recompile.cause.source:
        yield f"    {display_path(recompile.cause.path)}:{recompile.cause.line}: {recompile.cause.source}"
    given_up = "; then compiled too often and left to Python" if recompile.limit else ""
    parts = f" in {count(recompile.frames, 'frame')}" if recompile.frames > 1 else ""
    yield f"    {_times(recompile.count)}{parts}, {recompile.compile_s:.2f} s of compiling{given_up}"
    yield f"    {_remedy(found, allowed)}"


def _remedy(found: Match, allowed: frozenset[str] | None) -> str:
    finding = found.finding
    if finding is None:
        return f"no rule: {found.declined}"
    if finding.fix is None:
        return f"{finding.code}, no fix: {found.declined}"
    if finding.is_allowed(allowed):
        return f"{finding.code} fixes it"
    missing = sorted(set(finding.fix.assumptions) - (allowed or frozenset()))
    return f"{finding.code} fixes it with --assume {','.join(missing)}"


def _closing(matched: Matched, allowed: frozenset[str] | None) -> Iterator[str]:
    trace = matched.trace
    if not trace.compilations:
        yield "Nothing was compiled."
        return
    ranks = f" in {trace.ranks} processes" if trace.ranks > 1 else ""
    yield (
        f"{count(trace.compilations, 'compilation')} of {count(trace.frames, 'frame')}{ranks}, "
        f"{trace.compile_s:.2f} s{f', torch {trace.torch}' if trace.torch else ''}."
    )
    if not (trace.breaks or trace.recompiles):
        yield "No graph break, no recompile."
        return
    found = {f.fingerprint: f for m in (*matched.breaks, *matched.recompiles) if (f := m.finding) is not None}
    usable = [f for f in found.values() if f.is_allowed(allowed)]
    more = sum(f.fix is not None for f in found.values()) - len(usable)
    yield f"{count(len(usable), 'fix', 'fixes')} with `compilefix apply`, {more} more with assumptions."


def _shown(place: Place) -> str:
    column = f":{place.column}" if place.column else ""
    name = f" in {place.function}" if place.function else ""
    return f"{display_path(Path(place.path))}:{place.line}{column}{name}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
