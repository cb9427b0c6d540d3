"""A trace as a document for machines. Fields may be added in later versions, never renamed."""

from __future__ import annotations

from typing import Any

from compilefix.source.files import display_path
from compilefix.tracing.match import Match, Matched
from compilefix.tracing.model import Place, TracedBreak, TracedRecompile

VERSION = 1


def document(matched: Matched) -> dict[str, Any]:
    """The trace as plain data: times in seconds, lines and columns from 1, column 0 where it is not known."""
    trace = matched.trace
    return {
        "version": VERSION,
        "break_sites": [_break(site, found) for site, found in zip(trace.breaks, matched.breaks, strict=True)],
        "recompiles": [_recompile(r, found) for r, found in zip(trace.recompiles, matched.recompiles, strict=True)],
        "torch": trace.torch,
        "ranks": trace.ranks,
        "frames": trace.frames,
        "compilations": trace.compilations,
        "compile_s": trace.compile_s,
        "functions": [
            {"path": display_path(place.path), "line": place.line, "function": place.function}
            for place in trace.functions
        ],
        "notes": list(trace.notes),
    }


def _break(site: TracedBreak, found: Match) -> dict[str, Any]:
    return {
        **_place(site.place),
        "gb": site.gb,
        "title": site.title,
        "reason": site.reason,
        "count": site.count,
        "frames": site.frames,
        "compile_s": site.compile_s,
        "skipped": site.skipped,
        **_match(found),
    }


def _recompile(recompile: TracedRecompile, found: Match) -> dict[str, Any]:
    return {
        "path": display_path(recompile.place.path),
        "line": recompile.place.line,
        "part": recompile.part,
        "function": recompile.place.function,
        "reason": recompile.reason,
        "count": recompile.count,
        "frames": recompile.frames,
        "compile_s": recompile.compile_s,
        "limit": recompile.limit,
        "cause": None if recompile.cause is None else _place(recompile.cause),
        **_match(found),
    }


def _place(place: Place) -> dict[str, Any]:
    return {
        "path": display_path(place.path),
        "line": place.line,
        "column": place.column,
        "function": place.function,
        "source": place.source,
    }


def _match(found: Match) -> dict[str, Any]:
    fix = None if found.finding is None else found.finding.fix
    return {
        "code": None if found.finding is None else found.finding.code,
        "declined": found.declined,
        "fix": None
        if fix is None
        else {"applicability": "safe" if fix.safe else "unsafe", "assumptions": list(fix.assumptions)},
    }
