"""The findings of a project, looked for in one unit of files after the other.

A unit is a stretch of the sorted files. Each is looked at with facts of its own, so that what is found depends on the
files alone, not on how many processes share the work or in what order they come to it, and so that the memory needed
is that of a unit. What all units need to know, the functions that `torch.compile` is given, is looked for first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from compilefix.analysis.array_namespaces import works_without_torch
from compilefix.analysis.host_code import is_name_of_tests
from compilefix.analysis.infer import Inference
from compilefix.analysis.legality import Legality
from compilefix.analysis.library_roots import is_library_root
from compilefix.analysis.regions import (
    CompiledFunction,
    FunctionKey,
    compiled_from,
    entry_points,
    function_key,
    leads_from_a_forward,
    library_functions,
    makes_pictures_on_the_way,
)
from compilefix.codemods.arrays_too import kept_for_arrays
from compilefix.codemods.dynamic_shapes.kept_breaks import kept_by_flag
from compilefix.codemods.finding import Finding, Span
from compilefix.codemods.hint_words import HintWords
from compilefix.codemods.misplaced_results import in_right_places
from compilefix.codemods.module_rule import ModuleRule, ModuleView
from compilefix.codemods.outer_names import kept_for_others
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.told_at_reads import at_their_reads
from compilefix.codemods.tried import handled
from compilefix.fixing.always_run import without_new_breaks
from compilefix.fixing.skipped_loops import without_skipped_loops
from compilefix.fixing.surroundings import Surroundings
from compilefix.source.config import LOGGING_STYLES
from compilefix.source.files import SourceError
from compilefix.source.module import Module
from compilefix.source.modules import NOTHING_USED, Used
from compilefix.source.project import Project

UNIT_CHARACTERS = 4_800_000
"""How much source a unit holds: some two hundred files.

Smaller units look at shared code more often, larger ones need more memory, about 90 bytes for a character."""

KEPT_CHARACTERS = 3_000_000
"""How much source stays parsed from one unit to the next."""


@dataclass(frozen=True)
class Reached:
    """A function that runs compiled, the way to it, and what was found in it, None where another unit looks.

    `calls` are what it calls compiled, where no `forward` was seen to lead to it: it may be called from another unit.
    """

    key: FunctionKey
    path: tuple[str, ...]
    findings: tuple[Finding, ...] | None
    calls: tuple[FunctionKey, ...] = ()


@dataclass(frozen=True)
class Entry:
    """What `torch.compile` and the configured roots reach, and whether the project counts as a library as well."""

    reached: tuple[Reached, ...]
    library: bool
    errors: tuple[SourceError, ...]
    used: Used = NOTHING_USED


@dataclass(frozen=True)
class UnitResult:
    """What was found from one unit. `outside` are findings in code that does not run compiled."""

    reached: tuple[Reached, ...]
    errors: tuple[SourceError, ...]
    used: Used = NOTHING_USED
    outside: tuple[Finding, ...] = ()


class Search:
    """Looks for findings in a project, or in `only` these files of it."""

    def __init__(
        self,
        project: Project,
        rules: Sequence[type[Rule]],
        roots: Sequence[str],
        logging: str = LOGGING_STYLES[0],
        only: Collection[Path] | None = None,
    ) -> None:
        self.project = project
        self._only = None if only is None else frozenset(path.as_posix() for path in only)
        self.units = units(project)
        self.codes = tuple(rule.code for rule in rules)
        self.roots = tuple(roots)
        self.logging = logging
        every = [rule() for rule in rules]
        self._rules = [rule for rule in every if not isinstance(rule, ModuleRule)]
        self._module_rules = [rule for rule in every if isinstance(rule, ModuleRule)]

    def entry(self) -> Entry:
        """Look at what `torch.compile` and the configured roots reach."""
        modules = self.project.modules
        modules.begin()
        inference = Inference(self.project)
        found = entry_points(inference, self.roots)
        judge = _Judge(inference, self._rules, self.logging)
        reached = tuple(self._look(judge, compiled) for compiled in compiled_from(found, inference))
        used = modules.used
        self.project.trim(KEPT_CHARACTERS)
        return Entry(reached, found.library, judge.errors, used)

    def unit(self, names: Sequence[str], entry: Entry) -> UnitResult:
        """Look at one unit; `entry` is what `entry` gave."""
        modules = self.project.modules
        modules.begin()
        outside, deep = self._outside(names)
        if not entry.library:
            return UnitResult((), (*self._unreadable(names), *deep), modules.used, outside)
        inference = Inference(self.project)
        judge = _Judge(inference, self._rules, self.logging)
        own = {modules.files[name].path.as_posix() for name in names}
        known = {reached.key for reached in entry.reached}
        found = tuple(
            self._look(judge, compiled)
            if function_key(compiled.function)[0] in own or not is_library_root(compiled.function, inference)
            else Reached(function_key(compiled.function), compiled.reached_by, None)
            for compiled in library_functions(inference, names, known)
        )
        used = modules.used
        errors = (*self._unreadable(names), *deep, *judge.errors)
        self.project.trim(KEPT_CHARACTERS, frozenset(names))
        return UnitResult(found, errors, used, outside)

    def _look(self, judge: _Judge, compiled: CompiledFunction) -> Reached:
        key = function_key(compiled.function)
        if self._only is not None and key[0] not in self._only:
            return Reached(key, compiled.reached_by, (), _calls(compiled))
        return judge.look(compiled)

    def _outside(self, names: Sequence[str]) -> tuple[tuple[Finding, ...], tuple[SourceError, ...]]:
        """What the rules about whole modules find, and what could not be looked at."""
        found: list[Finding] = []
        deep: list[SourceError] = []
        for name in names:
            text = self.project.modules.files[name].text
            rules = [rule for rule in self._module_rules if rule.may_find(text)]
            if not rules:
                continue
            view = ModuleView(self.project.modules[name], self.project)
            try:
                for rule in rules:
                    found.extend(rule.find_in_module(view))
            except RecursionError:
                deep.append(_deep(view.path, "the module", 1))
        return tuple(found), tuple(deep)

    def _unreadable(self, names: Sequence[str]) -> tuple[SourceError, ...]:
        """What is no Python. After the rest: what has been parsed is not parsed again."""
        return tuple(error for name in names if (error := self.project.modules.error(name)) is not None)


def units(project: Project) -> tuple[tuple[str, ...], ...]:
    """The modules of a project in stretches of `UNIT_CHARACTERS`."""
    found: list[tuple[str, ...]] = []
    names: list[str] = []
    size = 0
    for name, file in project.modules.files.items():
        names.append(name)
        size += len(file.text)
        if size >= UNIT_CHARACTERS:
            found.append(tuple(names))
            names, size = [], 0
    return (*found, tuple(names)) if names else tuple(found)


def merged(entry: Entry, results: Iterable[UnitResult]) -> tuple[tuple[Finding, ...], tuple[SourceError, ...]]:
    """The findings of all units in order, each once with the shortest way to it, and the errors."""
    known = {reached.key for reached in entry.reached}
    found: dict[FunctionKey, tuple[Finding, ...]] = {r.key: r.findings or () for r in entry.reached}
    ways: dict[FunctionKey, tuple[str, ...]] = {r.key: r.path for r in entry.reached}
    own: dict[FunctionKey, Reached] = {}
    errors = dict.fromkeys(entry.errors)
    outside: list[Finding] = []
    for result in results:
        errors.update(dict.fromkeys(result.errors))
        outside.extend(result.outside)
        for reached in result.reached:
            if reached.key in known:
                continue
            if reached.findings is not None:
                found.setdefault(reached.key, reached.findings)
            if reached.findings is not None and not leads_from_a_forward(reached.path[0]):
                own.setdefault(reached.key, reached)
            way = ways.get(reached.key)
            if way is None or _order_of_way(reached.path) < _order_of_way(way):
                ways[reached.key] = reached.path
    _lead_on(ways, own)
    findings: dict[Finding, None] = {}
    seen = {k for k, way in ways.items() if leads_from_a_forward(way[0]) and not makes_pictures_on_the_way(way)}
    # Of a file by itself in which nothing is seen to be compiled somebody compiles the functions.
    paths = {path for path, _, _ in found}
    told = bool(seen) or len(paths) > 1
    several = len(paths.union(f.path for group in (*found.values(), outside) for f in group)) > 1
    for key, group in found.items():
        way, apart = ways[key], told and key not in seen
        for finding in group:
            # What compiled code needs may be told where it is compiled, and that may be in a test.
            tested = several and is_name_of_tests(Path(finding.path).stem)
            findings[replace(finding, reached_by=way, apart=apart or tested)] = None
    outside = [replace(f, apart=several and is_name_of_tests(Path(f.path).stem)) for f in outside]
    return tuple(sorted((*findings, *outside), key=order)), tuple(
        sorted(errors, key=lambda e: (e.path, e.line or 0, e.message))
    )


_NOT_FOR_TORCH = "the function works on arrays of other libraries too, and its file imports nothing of torch"


def order(finding: Finding) -> tuple[str, Span, str]:
    """Findings stand in the order of their places."""
    return (finding.path, finding.span, finding.code)


def _lead_on(ways: dict[FunctionKey, tuple[str, ...]], own: Mapping[FunctionKey, Reached]) -> None:
    """Add the ways that go on in another unit: that one does not see who calls its functions.

    own: what each unit says of functions that it saw no `forward` lead to.
    """
    pending = deque(key for key, way in ways.items() if key in own and leads_from_a_forward(way[0]))
    while pending:
        key = pending.popleft()
        for callee in own[key].calls:
            if callee in own and not leads_from_a_forward(ways[callee][0]):
                ways[callee] = (*ways[key], callee[1])
                pending.append(callee)


def _order_of_way(path: tuple[str, ...]) -> tuple[bool, int, tuple[str, ...]]:
    # A way from the forward of a module says more than that the function can be called by itself.
    return (not path[0].endswith(".forward"), len(path), path)


class _Judge:
    """Runs the rules over functions."""

    def __init__(self, inference: Inference, rules: Sequence[Rule], logging: str) -> None:
        self._inference = inference
        self._legality = Legality(inference)
        self._hint_words = HintWords(rules)
        self._logging = logging
        self._too_deep: list[SourceError] = []
        self._around: tuple[Module, Surroundings] | None = None

    @property
    def errors(self) -> tuple[SourceError, ...]:
        """What could not be looked at."""
        deep = [_deep(f.module.file.path.as_posix(), f.qualname, f.node.lineno) for f in self._inference.too_deep]
        return (*self._too_deep, *deep)

    def look(self, compiled: CompiledFunction) -> Reached:
        """The findings in one function."""
        path, qualname, line = key = function_key(compiled.function)
        scope = Scope(compiled, self._legality, path, self._logging)
        try:
            found = without_skipped_loops(tuple(self._findings(scope)), scope, self._findings)
            if any(finding.fix is not None for finding in found):
                found = without_new_breaks(
                    [self._judged(finding, scope) for finding in found], partial(kept_by_flag, scope=scope)
                )
                found = tuple(kept_for_arrays(in_right_places(finding, scope), scope) for finding in found)
                found = tuple(kept_for_others(finding, scope) for finding in found)
                if works_without_torch(compiled.function):
                    found = tuple(replace(f, fix=None, declined=_NOT_FOR_TORCH) if f.fix else f for f in found)
            return Reached(key, compiled.reached_by, at_their_reads(found, scope), _calls(compiled))
        except RecursionError:
            self._too_deep.append(_deep(path, qualname, line))
            return Reached(key, compiled.reached_by, (), _calls(compiled))

    def _judged(self, finding: Finding, scope: Scope) -> Finding:
        """The finding, declined where its fix does not fit to what stands round it in the file that it is made in."""
        if finding.path == scope.path:
            return handled(self._surroundings(scope.function.module).judged(finding), scope)
        modules = self._inference.project.modules
        names = (name for name, file in modules.files.items() if file.path.as_posix() == finding.path)
        return next((self._surroundings(modules[name]).judged(finding) for name in names), finding)

    def _surroundings(self, module: Module) -> Surroundings:
        # Functions come module by module.
        if self._around is None or self._around[0] is not module:
            self._around = module, Surroundings(module)
        return self._around[1]

    def _findings(self, scope: Scope) -> Iterator[Finding]:
        node, module = scope.function.node, scope.function.module
        text = "\n".join((*module.lines[node.lineno - 1 : node.end_lineno], ""))
        for rule in self._hint_words.rules(text):
            yield from scope.found(rule)


def _calls(compiled: CompiledFunction) -> tuple[FunctionKey, ...]:
    return () if leads_from_a_forward(compiled.root) else tuple(dict.fromkeys(map(function_key, compiled.calls)))


def _deep(path: str, function: str, line: int) -> SourceError:
    return SourceError(path, f"{function} is nested too deeply to be looked at", line)
