"""Which findings a real run has confirmed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule
from compilefix.fixing.search import order
from compilefix.source.errors import InputError
from compilefix.source.files import SourceFile, display_path
from compilefix.tracing.collect import find_logs, read_logs
from compilefix.tracing.functions import folded, functions_by_line
from compilefix.tracing.match import located, match
from compilefix.tracing.model import Place, Trace, TracedBreak, TracedRecompile
from compilefix.tracing.unfound import unfound


def load_trace(path: Path, ids: Mapping[str, str]) -> Trace:
    """The trace in a report that `compilefix trace --json` wrote, or in a file or folder of logs.

    Raises InputError for anything else.
    """
    if path.suffix == ".json" and path.is_file():
        try:
            return _from_report(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{display_path(path)}: is no report of `compilefix trace --json`") from error
    return read_logs(find_logs(path), ids)


def confirmed(
    findings: Sequence[Finding],
    trace: Trace,
    files: Collection[SourceFile],
    rules: Mapping[str, type[Rule]],
    folder: Path,
    *,
    left_out: Collection[str] | None = None,
) -> tuple[Finding, ...]:
    """The findings with `confirmed` set: True where the run met it, False where the run compiled its function and did
    not, None where it did not compile the function by itself, so that nothing is known. What it compiled stands `apart`
    no longer.

    With `left_out`, the codes of rules that were not asked, what the run met without a finding is added as findings.
    """
    by_path = {str(file.path.resolve()): file for file in files}

    def tree(path: str) -> Any:
        file = by_path.get(str(Path(path).resolve()))
        return None if file is None else file.tree

    here = folded(located(trace, folder), tree)
    matched = match(here, findings, files, rules)
    met = {id(m.finding) for m in (*matched.breaks, *matched.recompiles) if m.finding is not None}
    compiled = _first_lines(here.functions, by_path)
    lines = {path: functions_by_line(file.tree) for path, file in by_path.items()}

    def mark(finding: Finding) -> bool | None:
        path = str(Path(finding.path).resolve())
        first = lines.get(path, {}).get(finding.span.line, (0, ""))[0]
        return True if id(finding) in met else False if (path, first) in compiled else None

    known = [(finding, mark(finding)) for finding in findings]
    marked = [replace(f, confirmed=seen, apart=f.apart and seen is None) for f, seen in known]
    if left_out is not None:
        ids = frozenset(gb for code in left_out for gb in rules[code].gb)
        marked += unfound(matched, by_path, ids)
    return tuple(sorted(marked, key=order))


def _first_lines(functions: Sequence[Place], by_path: Mapping[str, SourceFile]) -> set[tuple[str, int]]:
    """Where the compiled functions start, the parts of functions put down to the whole ones."""
    lines = {path: functions_by_line(file.tree) for path, file in by_path.items()}
    found = set()
    for place in functions:
        path = str(Path(place.path).resolve())
        found.add((path, lines.get(path, {}).get(place.line, (place.line, ""))[0]))
    return found


def _from_report(document: Mapping[str, Any]) -> Trace:
    return Trace(
        tuple(
            TracedBreak(
                _place(s),
                s["gb"],
                s["title"],
                s["reason"],
                s["count"],
                s["frames"],
                s["compile_s"],
                s["skipped"],
            )
            for s in document["break_sites"]
        ),
        tuple(
            TracedRecompile(
                Place(r["path"], r["line"], 0, r["function"]),
                r["reason"],
                None if r["cause"] is None else _place(r["cause"]),
                r["count"],
                r["compile_s"],
                r["limit"],
                r["frames"],
                r["part"],
            )
            for r in document["recompiles"]
        ),
        document["torch"],
        document["ranks"],
        document["frames"],
        document["compilations"],
        document["compile_s"],
        functions=tuple(Place(f["path"], f["line"], 0, f["function"]) for f in document["functions"]),
    )


def _place(data: Mapping[str, Any]) -> Place:
    return Place(data["path"], data["line"], data["column"], data["function"], data["source"])
