"""Runs the rules over a project and turns their fixes into a PatchSet.

One pass runs all rules over the facts, applies the fixes that do not overlap (inner ones first), and the next pass
looks at the result, until nothing changes. What is reported are the findings of the files as they are on disk.
"""

from __future__ import annotations

import ast
import functools
import gc
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compilefix.codemods.finding import Edit, Finding, Span
from compilefix.codemods.rule import Rule
from compilefix.fixing.always_run import break_inside
from compilefix.fixing.boundary import add_boundary
from compilefix.fixing.cache import Cache
from compilefix.fixing.moved import Kept, given_names, kept_tensors, moved_breaks, reason
from compilefix.fixing.patchset import FileChange, PatchSet
from compilefix.fixing.search import Search, merged, order
from compilefix.fixing.workers import look_at
from compilefix.source.config import Config
from compilefix.source.files import SourceError, SourceFile
from compilefix.source.project import Project
from compilefix.source.unbound import unbound_names

_MAX_PASSES = 12
_NOT_MADE = "the new code cannot be put there, which is a fault of compilefix: please report it"
_UNREADABLE = "LibCST, with which files are rewritten, cannot read this one"
_MAX_RETRIES = 3
_FoundAgain = Callable[[Mapping[Path, SourceFile], Sequence[type[Rule]], frozenset[Path] | None], list[Finding]]
_Rewritten = Callable[[SourceFile, tuple[Finding, ...]], SourceFile | None]


@dataclass(frozen=True)
class Outcome:
    """What a run found: the findings of the files as they are, the changes, and what could not be looked at.

    `taken_back` are the findings whose fix turned out to be none when it was made; they say why.
    """

    findings: tuple[Finding, ...]
    patchset: PatchSet
    errors: tuple[SourceError, ...]
    taken_back: tuple[Finding, ...] = ()


def run(
    files: Sequence[SourceFile],
    config: Config,
    *,
    rules: Sequence[type[Rule]],
    allowed: frozenset[str] | None = frozenset(),
    rewrite: bool = True,
    wanted: Callable[[Finding], bool] = lambda _: True,
    jobs: int = 1,
    cache: Path | None = None,
) -> Outcome:
    """Find and, with `rewrite`, fix.

    `allowed` names the assumptions that a fix may rest on; None allows all. `wanted` filters findings (suppressions,
    one fix alone); a finding that is not wanted is neither reported nor fixed. `jobs` is the most processes that share
    the work, and `cache` the folder where results of earlier runs are kept; neither changes what is found.
    """
    everything, errors = _find(Search(Project(files), rules, config.roots, config.logging), jobs, cache=cache)
    findings = tuple(f for f in everything if wanted(f))
    if not rewrite:
        return Outcome(findings, PatchSet(()), errors)

    def found_again(
        current: Mapping[Path, SourceFile], asked: Sequence[type[Rule]], only: frozenset[Path] | None
    ) -> list[Finding]:
        search = Search(Project(list(current.values())), asked, config.roots, config.logging, only)
        found = [f for f in _find(search, jobs, only=only)[0] if wanted(f)]
        del search
        if not gc.isenabled():  # as on the command line
            # Modules and what they define name each other: each pass would keep a project more.
            gc.collect()
        return found

    @functools.cache  # where fixes are taken back, most files get the same ones again
    def rewritten_once(file: SourceFile, group: tuple[Finding, ...]) -> SourceFile | None:
        return rewritten(file, group, config)

    moved: dict[str, str] = {}
    texts = {file.path.as_posix(): file.text for file in files}
    for retry in range(_MAX_RETRIES + 1):
        made = _made(files, findings, allowed, frozenset(moved), rules, found_again, rewritten_once)
        found = moved_breaks(made.kept, made.left, everything, texts) if retry < _MAX_RETRIES else []
        new = {_key(fix): reason(branch) for fix, branch in found if _key(fix) not in moved}
        if not new:
            break
        moved |= new
    current, applied = made.files, made.applied
    originals = {file.path: file for file in files}
    refused = {f.path for f in findings if _key(f) in made.refused}
    unreadable = {path for path in refused if rewritten(originals[Path(path)], (), config) is None}
    not_made = {_key(f): _UNREADABLE if f.path in unreadable else _NOT_MADE for f in findings}
    reasons = {key: why for key, why in not_made.items() if key in made.refused} | moved
    findings = tuple(replace(f, fix=None, declined=reasons[_key(f)]) if _key(f) in reasons else f for f in findings)
    created: tuple[FileChange, ...] = ()
    helper: str | None = None
    users = [path for path, fixes in applied.items() if any(f.fix is not None and f.fix.boundary for f in fixes)]
    if users:
        completed = add_boundary(current, users, config)
        current, created, helper = dict(completed.files), completed.helpers, completed.module
    changes = tuple(
        FileChange(
            path,
            originals[path].module,
            originals[path].text,
            file.text,
            tuple(sorted(applied.get(path, ()), key=order)),
        )
        for path, file in sorted(current.items())
        if file.text != originals[path].text
    )
    taken_back = tuple(f for f in findings if _key(f) in reasons)
    return Outcome(findings, PatchSet((*changes, *created), helper), errors, taken_back)


@dataclass(frozen=True)
class _Made:
    """The files with all fixes, the fixes by file, what could not be made, and what is left to say of the result."""

    files: dict[Path, SourceFile]
    applied: dict[Path, list[Finding]]
    refused: frozenset[str]
    left: tuple[Finding, ...]
    kept: tuple[Kept, ...]


def _made(
    files: Sequence[SourceFile],
    findings: Iterable[Finding],
    allowed: frozenset[str] | None,
    without: frozenset[str],
    rules: Sequence[type[Rule]],
    found_again: _FoundAgain,
    rewritten_once: _Rewritten,
) -> _Made:
    """Make the fixes pass by pass, but for those `without`; `found_again` looks at the files as they are then.

    After each pass all rules look at the files that changed. What a rule that is `last` says rests on the fixes of all
    others, in other files too: it looks at all files again when these are made.
    """
    current: dict[Path, SourceFile] = {file.path: file for file in files}
    applied: dict[Path, list[Finding]] = {}
    refused: set[str] = set()
    ended: set[str] = set()
    kept_as_tensors: list[Kept] = []
    pending = list(findings)
    renewed = False
    for _ in range(_MAX_PASSES):
        possible, left = _split(pending, lambda f: f.is_allowed(allowed) and _key(f) not in refused | without)
        open_ = [f for f in possible if break_inside(f, left.get(f.path, ())) is None]
        first = [f for f in open_ if f.fix is not None and not f.fix.last and f.path not in ended]
        if not first and applied and not renewed:
            renewed = True
            late = {rule.code: rule for rule in rules if rule.last}
            if any(f.code in late for f in pending):
                pending = [f for f in pending if f.code not in late] + found_again(current, [*late.values()], None)
                continue
        chosen = _choose(first or (f for f in open_ if f.fix is not None and f.fix.last), current)
        if not chosen:
            break
        changed: list[Path] = []
        for path, group in chosen.items():
            done = _apply(current[path], group, rewritten_once, refused)
            if done is not None:
                kept_as_tensors += kept_tensors(done[1], current[path])
                current[path], kept = done
                applied.setdefault(path, []).extend(kept)
                changed.append(path)
                # What only such a fix makes possible would always run what it has kept in the graph.
                ended.update(f.path for f in kept if f.fix is not None and f.fix.last)
        if not changed:
            continue
        again = {path.as_posix() for path in changed}
        pending = found_again(current, rules, frozenset(changed)) + [f for f in pending if f.path not in again]
    return _Made(current, applied, frozenset(refused), tuple(pending), tuple(kept_as_tensors))


def _find(
    search: Search, jobs: int, *, only: frozenset[Path] | None = None, cache: Path | None = None
) -> tuple[tuple[Finding, ...], tuple[SourceError, ...]]:
    """The findings in all files, or in `only` these, and what could not be looked at."""
    kept = Cache(cache, search) if cache is not None else None
    entry = search.entry() if kept is None else kept.entry()
    files = search.project.modules.files
    units = [names for names in search.units if only is None or any(files[name].path in only for name in names)]
    results = {names: found for names in units if kept is not None and (found := kept.load(names, entry)) is not None}
    left = [names for names in units if names not in results]
    for names, result in zip(left, look_at(search, left, entry, jobs), strict=True):
        results[names] = result
        if kept is not None:
            kept.store(names, entry, result)
    findings, errors = merged(entry, (results[names] for names in units))
    if only is not None:
        paths = {path.as_posix() for path in only}
        findings = tuple(f for f in findings if f.path in paths)
    return findings, errors


def _key(finding: Finding) -> str:
    return f"{finding.fingerprint}:{finding.span}"


def _split(
    pending: Iterable[Finding], possible: Callable[[Finding], bool]
) -> tuple[list[Finding], dict[str, list[Finding]]]:
    """The findings that can be fixed now, and by path those that are left as they are."""
    now: list[Finding] = []
    left: dict[str, list[Finding]] = {}
    for finding in pending:
        if possible(finding):
            now.append(finding)
        else:
            left.setdefault(finding.path, []).append(finding)
    return now, left


def _choose(findings: Iterable[Finding], current: Mapping[Path, SourceFile]) -> dict[Path, list[Finding]]:
    """Fixes by file that do not overlap. The innermost goes first: an outer one is judged again on its result.

    But what an exception shows that is carried to the compile boundary stays as it was written: it needs no fix there.
    """
    findings = list(findings)
    whole = {id(finding) for finding in findings if _carries_all(finding, findings)}
    chosen: dict[Path, list[Finding]] = {}
    paths = {file.path.as_posix(): path for path, file in current.items()}
    for finding in sorted(findings, key=lambda f: (f.path, id(f) not in whole, _size(f), f.span, f.code)):
        assert finding.fix is not None
        group = chosen.setdefault(paths[finding.path], [])
        taken = [edit.target for other in group if other.fix is not None for edit in other.fix.edits]
        if any(edit.target.overlaps(span) for edit in finding.fix.edits for span in taken):
            continue
        if not any(_share_a_name(finding, other, current[paths[finding.path]]) for other in group):
            group.append(finding)
    return {path: group for path, group in chosen.items() if group}


def _share_a_name(one: Finding, other: Finding, file: SourceFile) -> bool:
    """Whether two fixes give a new name to two things, one of which is read behind the other's definition.

    Each took a name that was free in the function as it was; the second gets another in the next pass.
    """
    assert one.fix is not None
    assert other.fix is not None
    if one.function != other.function or len(one.fix.edits) == len(other.fix.edits) == 1:
        return False
    shared = given_names(one) & given_names(other)
    # Not as words of the lines: a comment or a text may hold the same word.
    there = [n for n in ast.walk(file.tree) if isinstance(n, ast.Name) and n.id in shared] if shared else []
    for name in shared:
        spans = [_span_of_new_name(name, fix.edits, there) for fix in (one.fix, other.fix)]
        if spans[0] is not None and spans[1] is not None and spans[0].overlaps(spans[1]):
            return True
    return False


def _span_of_new_name(name: str, edits: Iterable[Edit], there: Iterable[ast.Name]) -> Span | None:
    """The stretch from the first to the last place where edits write a name; None where it was there before."""
    word = re.compile(rf"\b{name}\b")
    places = sorted(edit.target for edit in edits if word.search(edit.template))
    if any(n.id == name and at.line <= n.lineno <= at.end_line for at in places for n in there):
        return None
    end = max((at.end_line, at.end_column) for at in places)
    return Span(places[0].line, places[0].column, *end)


def _carries_all(finding: Finding, others: Iterable[Finding]) -> bool:
    """Whether a fix carries an exception to the compile boundary with all that other fixes would change in it."""
    if finding.fix is None or "exception-late" not in finding.fix.assumptions:
        return False
    places = [edit.target for edit in finding.fix.edits]
    inner = [[e.target for e in f.fix.edits] for f in others if f.path == finding.path and f is not finding and f.fix]
    met = [targets for targets in inner if any(target.overlaps(place) for target in targets for place in places)]
    return bool(met) and all(any(place.holds(target) for place in places) for targets in met for target in targets)


def _size(finding: Finding) -> tuple[int, int]:
    assert finding.fix is not None
    lines = max(e.target.end_line - e.target.line for e in finding.fix.edits)
    return lines, max(e.target.end_column - e.target.column for e in finding.fix.edits)


def _apply(
    file: SourceFile, group: Sequence[Finding], rewritten_once: _Rewritten, refused: set[str]
) -> tuple[SourceFile, list[Finding]] | None:
    """The file with a group of fixes applied; where that fails, one at a time, and what cannot be is refused."""
    done = rewritten_once(file, tuple(group))
    if done is not None:
        return done, list(group)
    kept: list[Finding] = []
    for finding in group:
        done = rewritten_once(file, (*kept, finding))
        if done is None:
            refused.add(_key(finding))
        else:
            kept.append(finding)
    done = rewritten_once(file, tuple(kept)) if kept else None
    return (done, kept) if done is not None else None


def rewritten(file: SourceFile, group: Sequence[Finding], config: Config) -> SourceFile | None:
    """The file with these fixes and their imports, None where they cannot be made, or read a name that is not there."""
    # LibCST is slow to import, and most runs rewrite nothing.
    import libcst as cst

    from compilefix.fixing.rewrite import EditError, rewrite

    edits = [edit for finding in group if finding.fix is not None for edit in finding.fix.edits]
    imports = dict.fromkeys(name for finding in group if finding.fix is not None for name in finding.fix.imports)
    try:
        text = rewrite(file.text, edits, list(imports), config.line_length or _line_length(file.text))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
            if _new_names(file.text, text):
                return None
    except (EditError, SyntaxError, cst.ParserSyntaxError, cst.CSTValidationError, RecursionError, ValueError):
        return None  # a form feed where the first block begins is a ValueError
    return replace(file, text=text)


def _new_names(before: str, after: str) -> frozenset[str]:
    """The names that a rewritten module reads, and that it does not have; the helper's is imported at the end."""
    try:
        known = unbound_names(before)
    except SyntaxError:
        return frozenset()  # Python itself refuses the file: nothing runs in it that a fix could break
    return unbound_names(after) - known - {"emit"}


def _line_length(text: str) -> int:
    """How long lines may be: what the file itself does, within reason."""
    longest = max((len(line) for line in text.splitlines() if "http" not in line), default=88)
    return min(max(longest, 79), 120)
