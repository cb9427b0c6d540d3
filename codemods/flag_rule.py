"""Rules that switch a flag of Dynamo on where the code that needs it is compiled."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import ClassVar

from compilefix.analysis.compile_sites import CompileSite
from compilefix.analysis.library_roots import is_library_root
from compilefix.analysis.regions import reached_from
from compilefix.codemods.capture_flags import switched_on
from compilefix.codemods.finding import Edit, Finding, Fix, Span
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.definitions import Function
from compilefix.source.module import Module


@dataclass(frozen=True)
class Need:
    """What code needs a flag for, as the message of a finding, and why the flag would not do, if it would not.

    edits: what else must be written, by the file that it stands in. elsewhere: why the flag would not do where that is
    another file than the one that the flag is written to.
    """

    message: str
    refused: str | None
    edits: Mapping[Module, Sequence[Edit]] = field(default_factory=dict)
    elsewhere: str | None = None

    def refused_in(self, module: Module) -> str | None:
        """Why the flag would not do where it is written to a file."""
        return self.refused or (self.elsewhere if set(self.edits) - {module} else None)


class FlagRule(Rule):
    """A rule whose fix is `torch._dynamo.config.<flag> = True`, made when no other one is left to make."""

    flag: ClassVar[str]
    reason: ClassVar[str]
    assumptions = ("capture-scalars",)
    last = True

    @abstractmethod
    def need_here(self, scope: Scope) -> tuple[ast.expr | ast.stmt, Need] | None:
        """What a function needs the flag for, and where it stands: in a file of no package that compiles nothing."""

    @abstractmethod
    def need_of(self, site: CompileSite, region: Sequence[Scope]) -> Need | None:
        """What a compile call needs the flag for, by what it reaches."""

    def fails_elsewhere(self, region: Sequence[Scope]) -> str | None:  # noqa: ARG002 (most flags break nothing)
        """What else is compiled in the project and would fail with the flag, which counts for the whole process."""
        return None

    def find(self, scope: Scope) -> Iterator[Finding]:
        """The compile call of this function, where what it compiles needs the flag.

        In a file that compiles nothing and is no part of a package, the function itself, where it needs the flag.
        """
        if switched_on(self.flag, scope):
            return
        if not scope.compiled.from_compile_call:
            if not _in_package(scope.function.module):
                yield from self._in_file(scope)
            return
        if scope.compiled.callers:
            return
        for module, site in islice(scope.legality.compiled_by(scope.function), 1):
            yield from self._where_compiled(module, site, scope)

    def _in_file(self, scope: Scope) -> Iterator[Finding]:
        found = self.need_here(scope)
        if found is None:
            return
        node, need = found
        module = scope.function.module
        edit = _behind_imports(self.flag, module)
        if (refused := need.refused_in(module)) is not None:
            yield self.declined(scope, node, need.message, refused)
        elif edit is not None:
            yield self.fixed(scope, node, need.message, self._switch(edit, need, module))

    def _where_compiled(self, module: Module, site: CompileSite, scope: Scope) -> Iterator[Finding]:
        region = list(scopes_reached([scope.function], scope))
        need = self.need_of(site, region)
        if need is None:
            return
        if need.refused is None and (reason := self.fails_elsewhere(_compiled_besides(region, scope))) is not None:
            need = replace(need, refused=f"the flag counts for what else is compiled, and would not do for {reason}")
        edit = _before(self.flag, module, site.node)
        if (refused := need.refused_in(module)) is not None:
            finding = self.declined(scope, scope.function.node, need.message, refused)
        elif edit is None:
            reason = f"write `torch._dynamo.config.{self.flag} = True` where it is compiled"
            finding = self.declined(scope, scope.function.node, need.message, reason)
        else:
            fix = self._switch(edit, need, module)
            finding = self.fixed(scope, scope.function.node, need.message, fix, edited=module)
        place = _place_of(module, site.node)
        path, line = module.file.path.as_posix(), module.lines[place.line - 1]
        yield replace(finding, path=path, span=place, source_line=line)

    def _switch(self, edit: Edit, need: Need, module: Module) -> Fix:
        needed = () if module.top_level_imports.get("torch") else ("torch",)
        return Fix((edit, *need.edits.get(module, ())), needed, self.assumptions, (self.reason,), last=True)


def _in_package(module: Module) -> bool:
    """Whether a file is imported by others as a part of a package, also from a folder of it without `__init__.py`."""
    if "." in module.file.module:
        return True
    return any((folder / "__init__.py").is_file() for folder in module.file.path.absolute().parents)


def library_roots(scope: Scope) -> list[Function]:
    """The functions of this file that users of a library may compile."""
    inference = scope.legality.inference
    return [f for f in scope.function.module.all_functions if is_library_root(f, inference)]


def scopes_reached(roots: Iterable[Function], scope: Scope) -> Iterator[Scope]:
    """What functions reach, in the order of names."""
    inference = scope.legality.inference
    for function in sorted(reached_from(roots, inference), key=lambda f: f.qualname):
        compiled = replace(scope.compiled, function=function, facts=inference.facts(function))
        yield Scope(compiled, scope.legality, function.module.file.path.as_posix())


def _compiled_besides(region: Iterable[Scope], scope: Scope) -> list[Scope]:
    """What all compile calls of the project reach, without a region."""
    own = {inner.function for inner in region}
    targets = (target for _, site in scope.legality.compile_sites for target in site.targets)
    return [inner for inner in scopes_reached(targets, scope) if inner.function not in own]


def _behind_imports(name: str, module: Module) -> Edit | None:
    """The flag behind the imports of a file."""
    torch = module.top_level_imports.get("torch") or "torch"
    imports = [s for s in module.file.tree.body if isinstance(s, ast.Import | ast.ImportFrom)]
    text = module.file.segment(imports[-1]) if imports else None
    flag = f"{torch}._dynamo.config.{name} = True"
    return None if text is None else Edit(_place_of(module, imports[-1]), f"{text}\n\n{flag}", (), statement=True)


def _before(name: str, module: Module, node: ast.AST) -> Edit | None:
    """The flag in front of the statement that compiles, or behind the imports where a decorator compiles."""
    torch = module.top_level_imports.get("torch") or "torch"
    flag = f"{torch}._dynamo.config.{name} = True"
    tree = module.file.tree
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return _behind_imports(name, module)
    simple = (ast.Assign, ast.Expr, ast.Return)
    around = [s for s in ast.walk(tree) if isinstance(s, simple) and _encloses(s, node)]
    if not around or around[-1].value is None:
        return None
    statement = around[-1]
    parts = [("value", _place_of(module, around[-1].value))]
    left = "return " if isinstance(statement, ast.Return) else ""
    for index, target in enumerate(statement.targets if isinstance(statement, ast.Assign) else ()):
        parts.append((f"target{index}", _place_of(module, target)))
        left += f"{{target{index}}} = "
    return Edit(_place_of(module, statement), f"{flag}\n{left}{{value}}", tuple(parts), statement=True)


def _encloses(statement: ast.stmt, node: ast.AST) -> bool:
    place = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))
    start, end = (statement.lineno, statement.col_offset), (statement.end_lineno or 0, statement.end_col_offset or 0)
    return start <= place < end


def _place_of(module: Module, node: ast.expr | ast.stmt) -> Span:
    """Where a node stands; of a function only its first line."""
    line, column, end_line, end_column = module.file.span(node)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return Span(line, column, line, len(module.lines[line - 1]))
    return Span(line, column, end_line, end_column)
