"""The boundary for host effects: the helper module, its import in the files that use it, and the wrapped compile calls.

A fix with `boundary` set leaves code that calls `emit`. What that needs outside the function is put there: a module of
about a hundred lines in the user's own package, `from package._compile_boundary import emit`, and `boundary(...)` round
each `torch.compile` that leads to such code.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compilefix.analysis.compile_sites import CompileSite, compile_sites
from compilefix.analysis.infer import Inference
from compilefix.analysis.regions import reached_from
from compilefix.fixing.helper_place import Place, helper_places, helper_version, relative_source, text_of
from compilefix.fixing.patchset import FileChange
from compilefix.source.config import Config
from compilefix.source.definitions import Function
from compilefix.source.files import SourceFile
from compilefix.source.module import Module
from compilefix.source.project import Project

_OTHER_NAME = "compile_boundary"
_NOWHERE = Place("", Path(), Path())
_COMPILE = ("torch.compile", "torch.compiler.compile")


@dataclass(frozen=True)
class Helper:
    """A helper module: its dotted name, its file, and the text that the file has, None where there is none yet."""

    module: str
    path: Path
    text: str | None
    beside: bool = False

    @property
    def source(self) -> str:
        """What it is imported from; a `beside` one from the folder of the code itself, whose name is not known."""
        return f".{self.module}" if self.beside else self.module

    @property
    def change(self) -> FileChange | None:
        """What has to be written; None where the file is there already."""
        wanted = helper_text()
        return (
            None
            if self.text is not None and helper_version(self.text) == helper_version(wanted)
            else FileChange(self.path, self.module, self.text, wanted)
        )


@dataclass(frozen=True)
class Boundary:
    """What the boundary adds to a set of fixes: the files as they become, new files, and the helper's module name."""

    files: Mapping[Path, SourceFile]
    helpers: tuple[FileChange, ...]
    module: str


def helper_text() -> str:
    """The source of the helper module."""
    return Path(__file__).with_name("helper_template.py").read_text(encoding="utf-8")


def add_boundary(current: Mapping[Path, SourceFile], users: Iterable[Path], config: Config) -> Boundary:
    """Complete a set of fixes of which some use the boundary.

    `current` holds all files as the fixes leave them; `users` are the files with a fix that uses the boundary. Where
    these have nothing to do with each other, each gets a helper of its own, and `module` names the one that most use.
    """
    files, users = dict(current), sorted(users)
    compiling = [path for path, file in files.items() if "compile" in file.text]
    places = helper_places(users, compiling, files, config)
    helpers: dict[Place, Helper] = {}
    absolute = {path.absolute(): file for path, file in files.items()}
    for path in users:
        place = places[path.absolute()]
        helpers[place] = helpers.get(place) or _helper_at(place, files)
        source = relative_source(path, helpers[place].path, absolute) or helpers[place].source
        files[path] = _with_import(files[path], f"from {source} import emit")
    found = {path: helper for path in files if (helper := helpers.get(places.get(path.absolute(), _NOWHERE)))}
    for path, (helper, insertions) in _unwrapped(files, found, list(helpers.values())).items():
        taken = _local_name(files[path]) != "boundary"
        statement = f"{helper.module} as {_OTHER_NAME}" if taken else f"from {helper.source} import boundary"
        files[path] = _with_import(_inserted(files[path], insertions), statement)
    changes = tuple(change for helper in helpers.values() if (change := helper.change) is not None)
    # An outdated helper among the analysed files is changed in the place where it stands.
    replaced = {change.path for change in changes}
    files = {path: file for path, file in files.items() if path.absolute() not in replaced}
    main = Counter(helpers[places[path.absolute()]].module for path in users).most_common(1)[0][0]
    return Boundary(files, changes, main)


def _helper_at(place: Place, files: Mapping[Path, SourceFile]) -> Helper:
    """The helper at a place, or at the next one with a number: somebody else's file of the same name is left alone."""
    for number in itertools.count(1):
        end = "" if number == 1 else f"_{number}"
        target = place.path.with_name(f"{place.path.stem}{end}.py")
        text = text_of(target, files)
        if text is None or helper_version(text) is not None:
            return Helper(f"{place.module}{end}", target, text, place.beside)
    raise AssertionError


def _unwrapped(
    files: Mapping[Path, SourceFile], found: Mapping[Path, Helper], helpers: Sequence[Helper]
) -> dict[Path, tuple[Helper, list[_Insertion]]]:
    """Where `boundary` has to be put in, by file, and of which helper: that of the code behind the compile calls.

    `found` tells the helper of each file that has one. Where the calls of a file lead to code of several, it is the
    one of the most.
    """
    project = Project(list(files.values()))
    inference = Inference(project)
    emitting: dict[Function, Helper] = {}
    for module in project.modules.values():
        if (helper := _imports_from(module, found, helpers)) is not None:
            emitting |= {f: helper for f in module.all_functions if _emits(f)}
    places: dict[Path, dict[Helper, list[_Insertion]]] = {}
    for module in project.modules.values():
        if "compile" not in module.file.text:
            continue
        for site in compile_sites(module, inference):
            used = Counter(emitting[f] for f in reached_from(site.targets, inference) if f in emitting)
            helper = used.most_common(1)[0][0] if used else None
            if not site.targets:
                # What is not known may lead there, and a boundary that nothing uses does nothing.
                helper = found.get(module.file.path) or next((h for h in helpers if _names(h, module)), None)
            if helper is None or not _can_import(module.file, helper):
                continue
            if insertions := _insertions(site, module):
                places.setdefault(module.file.path, {}).setdefault(helper, []).extend(insertions)
    return {path: max(of_helper.items(), key=lambda item: len(item[1])) for path, of_helper in places.items()}


def _imports_from(module: Module, found: Mapping[Path, Helper], helpers: Sequence[Helper]) -> Helper | None:
    """The helper that a module has `emit` from, which an earlier run may have put there."""
    name = (module.imported("emit") or "").rpartition(".")[0]
    own = found.get(module.file.path)
    if own is not None and name in (own.module, f"{module.name.rpartition('.')[0]}.{own.module}".lstrip(".")):
        return own
    return next((helper for helper in helpers if helper.module == name), None)


def _can_import(file: SourceFile, helper: Helper) -> bool:
    """Whether a file can import a helper: one beside the code only where it stands there, and by that name."""
    return not helper.beside or (helper.path.parent == file.path.absolute().parent and _local_name(file) == "boundary")


def _emits(function: Function) -> bool:
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "emit"
        for n in ast.walk(function.node)
    )


def _names(helper: Helper, module: Module) -> bool:
    """Whether a module imports the package that a helper stands in."""
    package, _, inner = helper.module.partition(".")
    return (
        bool(inner)
        and re.search(rf"^[ \t]*(?:from|import)[ \t]+{package}\b", module.file.text, re.MULTILINE) is not None
    )


@dataclass(frozen=True)
class _Insertion:
    """A text to put in before a place: line from 1, column in UTF-8 bytes."""

    line: int
    column: int
    text: str


def _insertions(site: CompileSite, module: Module) -> list[_Insertion]:
    node = site.node
    name = _local_name(module.file)
    if isinstance(node, ast.Call):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        if site.in_place:
            return _line_after(node, name, module)
        if _is_wrapped(node, module):
            return []
        return [
            _Insertion(node.lineno, node.col_offset, f"{name}("),
            _Insertion(node.end_lineno, node.end_col_offset, ")"),
        ]
    decorators = node.decorator_list
    if any(_names_boundary(d) for d in decorators):
        return []
    place = next((d for d in decorators if _compiles(d, module)), decorators[0])
    line = module.lines[place.lineno - 1]
    indent = line[: len(line) - len(line.lstrip())]
    return [_Insertion(place.lineno, 0, f"{indent}@{name}\n")]


def _line_after(call: ast.Call, name: str, module: Module) -> list[_Insertion]:
    """`boundary(model)` on a line of its own after `model.compile()`, which returns nothing to wrap."""
    assert isinstance(call.func, ast.Attribute)
    receiver = ast.unparse(call.func.value)
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call) or node.lineno < call.lineno or not _names_boundary(node.func):
            continue
        if [ast.unparse(argument) for argument in node.args] == [receiver]:
            return []
    line, last = module.lines[call.lineno - 1], module.lines[(call.end_lineno or call.lineno) - 1]
    indent = line[: len(line) - len(line.lstrip())]
    if line[len(indent) :].partition("(")[0] != ast.unparse(call.func):
        return []
    return [_Insertion(call.end_lineno or call.lineno, len(last.encode()), f"\n{indent}{name}({receiver})")]


def _is_wrapped(call: ast.Call, module: Module) -> bool:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and call in node.args and _names_boundary(node.func):
            return True
    return False


def _names_boundary(node: ast.expr) -> bool:
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name == "boundary"


def _local_name(file: SourceFile) -> str:
    """What `boundary` is called in a file: its own name, unless the file uses that for something else."""
    for node in ast.walk(file.tree):
        stored = isinstance(node, ast.Name) and node.id == "boundary" and not isinstance(node.ctx, ast.Load)
        defined = isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == "boundary"
        if stored or defined or (isinstance(node, ast.arg) and node.arg == "boundary"):
            return f"{_OTHER_NAME}.boundary"
    return "boundary"


def _compiles(decorator: ast.expr, module: Module) -> bool:
    names = [n for n in ast.walk(decorator) if isinstance(n, ast.Name | ast.Attribute)]
    if isinstance(decorator, ast.Name) and decorator.id in module.assigns:
        names += [n for n in ast.walk(module.assigns[decorator.id]) if isinstance(n, ast.Name | ast.Attribute)]
    return any(module.qualified(n) in _COMPILE for n in names)


def _inserted(file: SourceFile, places: Sequence[_Insertion]) -> SourceFile:
    lines = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", file.text)
    newline = "\r\n" if "\r\n" in file.text else "\n"
    for place in sorted(set(places), key=lambda p: (p.line, p.column), reverse=True):
        line = lines[place.line - 1].encode()
        text = place.text.replace("\n", newline).encode()
        lines[place.line - 1] = (line[: place.column] + text + line[place.column :]).decode()
    return replace(file, text="".join(lines))


def _with_import(file: SourceFile, statement: str) -> SourceFile:
    # LibCST is slow to import, and most runs need no boundary.
    from compilefix.fixing.rewrite import rewrite

    return replace(file, text=rewrite(file.text, [], [statement], 120))
