"""Which rule takes care of what a run met, and why none does where that is so."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule
from compilefix.source.files import SourceFile, display_path, read
from compilefix.tracing.model import Place, Trace, TracedBreak, TracedRecompile

_LOOP = "GB7000"
_SIZES, _CONSTANTS = "CF607", "CF608"
_EQUALS = re.compile(r"(?:L\[')?(?P<name>\w+)(?:'\])? == ")
_HANDED_OVER = re.compile(r"(?:L\[')?___stack\d+(?:'\])? ==")

_ADVICE: Sequence[tuple[str, str]] = (
    (
        r"size mismatch|stride mismatch|rank mismatch|\.size\(\)|\.shape\b|\bs\d+\b",
        "the shape of a tensor changed: batches of one size (`drop_last=True`, padding), `torch._dynamo.mark_dynamic` "
        "or `dynamic=True`",
    ),
    (
        r"requires_grad mismatch.*(?:parameter|_parameters)|_parameters\[.*requires_grad mismatch",
        "parameters are frozen or unfrozen between calls: each combination is compiled, so change them all at once",
    ),
    (
        r"requires_grad mismatch",
        "a tensor needs a gradient in some calls and not in others: each of both is compiled once",
    ),
    (r"dtype mismatch", "a tensor has another dtype in some calls: cast it before the compiled call"),
    (r"device mismatch", "a tensor is on another device in some calls"),
    (
        r"GLOBAL_STATE|___check_global_state|grad_mode|autocast",
        "grad mode, autocast or another global setting differs between calls: each setting is compiled once",
    ),
    (
        r"\.training\b",
        "the module changed between training and evaluation: each of both is compiled once, and each combination where "
        "its parts are switched one by one",
    ),
    (
        r"\.p == ",
        "the probability of a dropout is a constant in the graph: change it a few times only, or multiply by a mask "
        "that is drawn from a tensor",
    ),
    (
        r"== -?(?:\d+\.\d*|\d*\.\d+)(?:e[+-]?\d+)?$|== (?:inf|nan)",
        "a Python float is a constant in the graph: pass a tensor",
    ),
    (r"== -?\d+$", "a Python integer is a constant in the graph: pass a tensor, or keep it constant"),
    (r"== ['\"]", "a string is a constant in the graph: each value is compiled once"),
    (r"\blen\(|length", "a list or dict has another length: keep its length fixed"),
    (
        r"___check_(?:type|obj)_id|_id\(|\bid\b",
        "another object or type was passed: keep the same objects between calls",
    ),
)


@dataclass(frozen=True)
class Match:
    """A finding for what a run met, or the reason why there is none."""

    finding: Finding | None
    declined: str | None


@dataclass(frozen=True)
class Matched:
    """A trace with a match for each of its break sites and recompiles, in their order."""

    trace: Trace
    breaks: tuple[Match, ...]
    recompiles: tuple[Match, ...]


def located(trace: Trace, folder: Path) -> Trace:
    """The trace with the files of this machine: of a run elsewhere, the files below `folder` that end the same way.

    A path for which there is no file here, or whose file reads differently at every traced line, stays as it is.
    """
    lines: dict[str, list[Place]] = {}
    for place in _places(trace):
        lines.setdefault(place.path, []).append(place)
    for path in (*trace.files, *(place.path for place in trace.functions)):
        lines.setdefault(path, [])
    here = {path: _located(path, places, folder) for path, places in lines.items()}
    texts = {path: _text_lines(Path(path)) for path in here.values()}

    def moved(place: Place) -> Place:
        known = here.get(place.path)
        if known is not None:
            return _with_column(replace(place, path=known), texts[known])
        # Guards name the last folder and the file only.
        full = [other for other in here if other.endswith(f"/{place.path}")]
        return replace(place, path=here[full[0]]) if len(full) == 1 else place

    return replace(
        trace,
        breaks=tuple(replace(site, place=moved(site.place)) for site in trace.breaks),
        recompiles=tuple(
            replace(r, place=moved(r.place), cause=None if r.cause is None else moved(r.cause))
            for r in trace.recompiles
        ),
        functions=tuple(moved(place) for place in trace.functions),
        files=tuple(dict.fromkeys(here[path] for path in trace.files)),
    )


def files_to_check(trace: Trace) -> tuple[Path, ...]:
    """The files that have to be looked at: those with a break or recompile, and the program's own on the way there."""
    sites = dict.fromkeys(place.path for place in _places(trace))
    own = (path for path in trace.files if not re.search(r"[\\/](?:site|dist)-packages[\\/]", path))
    return tuple(
        path for name in dict.fromkeys((*sites, *own)) if (path := Path(name)).suffix == ".py" and path.is_file()
    )


def match(
    trace: Trace, findings: Sequence[Finding], files: Collection[SourceFile], rules: Mapping[str, type[Rule]]
) -> Matched:
    """Match what the run met with what `check` finds in the same files."""
    by_file: dict[str, list[Finding]] = {}
    for finding in findings:
        by_file.setdefault(_real(finding.path), []).append(finding)
    known = {_real(file.path): file for file in files}
    breaks = tuple(_match_break(site, by_file, known, rules) for site in trace.breaks)
    return Matched(
        trace,
        breaks,
        tuple(
            _fallout(recompile, trace, breaks) or _match_recompile(recompile, by_file) for recompile in trace.recompiles
        ),
    )


def _match_break(
    site: TracedBreak,
    by_file: Mapping[str, Sequence[Finding]],
    known: Mapping[str, SourceFile],
    rules: Mapping[str, type[Rule]],
) -> Match:
    place = site.place
    file = known.get(_real(place.path))
    if file is None:
        return Match(None, f"{display_path(place.path)} is not here or cannot be read")
    if place.source and not _reads(file.lines, place):
        return Match(None, f"{display_path(place.path)} has changed since: line {place.line} reads differently")
    in_file = by_file.get(_real(place.path), ())
    on_line = [f for f in in_file if f.span.line <= place.line <= _last_line(f, file)]
    groups = (
        [f for f in on_line if site.gb in f.gb],
        # The fix of a finding elsewhere begins to rewrite here.
        [f for f in in_file if site.gb in f.gb and f.fix and place.line in (e.target.line for e in f.fix.edits)],
        # Where the id says nothing of the cause, a finding on the very line is it.
        [f for f in on_line if f.span.line == place.line and f.effect == "break" and site.gb in ("", _LOOP)],
    )
    for group in groups:
        if group:
            finding = min(group, key=lambda f: _distance(f, place))
            return Match(finding, finding.declined)
    covering = [code for code, rule in rules.items() if site.gb in rule.gb] if site.gb else []
    if covering:
        verbs = ("know", "find") if len(covering) > 1 else ("knows", "finds")
        return Match(None, f"{', '.join(covering)} {verbs[0]} {site.gb}, but {verbs[1]} nothing to say about this line")
    return Match(None, f"no rule covers {site.gb or 'this reason'}")


def is_handed_over(recompile: TracedRecompile) -> bool:
    """Whether the guard is on a value that a graph break handed to the rest of the function."""
    return _HANDED_OVER.match(recompile.reason) is not None


def _fallout(recompile: TracedRecompile, trace: Trace, breaks: Sequence[Match]) -> Match | None:
    """What takes care of a guard on a value that a graph break handed to the rest of the function: what fixes that."""
    if not is_handed_over(recompile):
        return None
    for site, found in zip(trace.breaks, breaks, strict=True):
        if (site.place.path, site.place.line) == (recompile.place.path, recompile.part):
            place = f"{display_path(site.place.path)}:{site.place.line}"
            if found.finding is not None and found.finding.fix is not None:
                return Match(found.finding, None)
            return Match(found.finding, f"goes away with the graph break at {place}")
    return None


def _match_recompile(recompile: TracedRecompile, by_file: Mapping[str, Sequence[Finding]]) -> Match:
    place = recompile.cause
    if place is not None:
        findings = [
            f
            for f in by_file.get(_real(place.path), ())
            if f.effect == "recompile" and f.span.line <= place.line <= f.span.end_line
        ]
        if findings:
            finding = min(findings, key=lambda f: _distance(f, place))
            return Match(finding, finding.declined)
    caused = _at_the_caller(recompile, [f for found in by_file.values() for f in found])
    if caused is not None:
        return Match(caused, caused.declined)
    advice = next((text for pattern, text in _ADVICE if re.search(pattern, recompile.reason)), None)
    return Match(None, advice or "no rule covers this guard")


def _at_the_caller(recompile: TracedRecompile, findings: Sequence[Finding]) -> Finding | None:
    """The one finding about what callers vary that fits a guard: the size of batches, or a constant by its name."""
    if "size mismatch at index 0" in recompile.reason:
        fitting = [f for f in findings if f.code == _SIZES]
    else:
        equals = _EQUALS.match(recompile.reason)
        said = "" if equals is None else f"`{equals['name']}` is a constant"
        fitting = [f for f in findings if said and f.code == _CONSTANTS and said in f.message]
    return fitting[0] if len(fitting) == 1 else None


def _last_line(finding: Finding, file: SourceFile) -> int:
    """The last line that a finding is about: of a statement with a body, the last line of its head."""
    for node in ast.walk(file.tree):
        body = getattr(node, "body", None)
        if (
            isinstance(node, ast.stmt)
            and isinstance(body, list)
            and body
            and file.span(node)
            == (finding.span.line, finding.span.column, finding.span.end_line, finding.span.end_column)
        ):
            return max(finding.span.line, int(body[0].lineno) - 1)
    return finding.span.end_line


def _distance(finding: Finding, place: Place) -> tuple[int, int, int, int]:
    """How far a finding is from a place: the same line and column first, then the smallest stretch of text."""
    span = finding.span
    column = abs(span.column + 1 - place.column) if place.column else 0
    return (abs(span.line - place.line), column, span.end_line - span.line, span.end_column - span.column)


def _places(trace: Trace) -> list[Place]:
    """The places whose files are named in full."""
    causes = (recompile.cause for recompile in trace.recompiles if recompile.cause is not None)
    places = (*(site.place for site in trace.breaks), *(recompile.place for recompile in trace.recompiles), *causes)
    return [place for place in places if re.match(r"/|\w:[\\/]", place.path)]


def _located(path: str, places: Sequence[Place], folder: Path) -> str:
    if Path(path).is_file():
        return path
    parts = re.split(r"[\\/]", path)
    for start in range(1, len(parts)):
        candidate = folder.joinpath(*parts[start:])
        if not candidate.is_file():
            continue
        shown = [place for place in places if place.source]
        lines = _text_lines(candidate)
        if not shown or any(_reads(lines, place) for place in shown):
            return str(candidate)
    return path


def _with_column(place: Place, lines: Sequence[str]) -> Place:
    """The column in the file: torch shows lines without their indentation."""
    if not place.column or not _reads(lines, place):
        return replace(place, column=0)
    line = lines[place.line - 1]
    return replace(place, column=place.column + len(line) - len(line.lstrip()))


def _text_lines(path: Path) -> Sequence[str]:
    source = read(path) if path.suffix == ".py" else None
    return source.lines if isinstance(source, SourceFile) else ()


def _reads(lines: Sequence[str], place: Place) -> bool:
    return 0 < place.line <= len(lines) and lines[place.line - 1].strip() == place.source.strip()


def _real(path: Path | str) -> str:
    return str(Path(path).resolve())
