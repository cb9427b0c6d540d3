"""The boundary for host effects: the helper module, its import in the files that use it, and the wrapped compile calls.

A fix with `boundary` set leaves code that calls `emit`. What that needs outside the function is put there: a module of
about a hundred lines in the user's own package, `from package._compile_boundary import emit`, and `boundary(...)` round
each `torch.compile` that leads to such code.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compilefix.analysis.infer import Inference
from compilefix.analysis.regions import CompileSite, compile_sites, reached_from
from compilefix.fixing.patchset import FileChange
from compilefix.source.config import Config
from compilefix.source.files import SourceFile
from compilefix.source.index import Function, Module, Project

DEFAULT_NAME = "_compile_boundary"
_VERSION = re.compile(r"^HELPER_VERSION = (\d+)\b", re.MULTILINE)
_OTHER_NAME = "compile_boundary"
_COMPILE = ("torch.compile", "torch.compiler.compile")


@dataclass(frozen=True)
class Helper:
    """A helper module: its dotted name, its file, and the text that the file has, None where there is none yet."""

    module: str
    path: Path
    text: str | None

    @property
    def change(self) -> FileChange | None:
        """What has to be written; None where the file is there already."""
        wanted = helper_text()
        return (
            None
            if self.text is not None and _version(self.text) == _version(wanted)
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
    the files belong to several packages or folders, each gets a helper of its own, and `module` names the one that
    most files use.
    """
    files = dict(current)
    helpers: dict[str, Helper] = {}
    importing: Counter[str] = Counter()
    for path in sorted(users):
        helper = _helper_for(files[path], config, files, helpers)
        importing[helper.module] += 1
        files[path] = _with_import(files[path], f"from {helper.module} import emit")
    main = helpers[importing.most_common(1)[0][0]]
    for path, places in _unwrapped(files, frozenset(helpers)).items():
        helper = _helper_for(files[path], config, files, helpers)
        taken = _local_name(files[path]) != "boundary"
        statement = f"{helper.module} as {_OTHER_NAME}" if taken else f"from {helper.module} import boundary"
        files[path] = _with_import(_inserted(files[path], places), statement)
    changes = tuple(change for helper in helpers.values() if (change := helper.change) is not None)
    # An outdated helper among the analysed files is changed in the place where it stands.
    for change in changes:
        files.pop(change.path, None)
    return Boundary(files, changes, main.module)


# -- the helper module


def _helper_for(
    file: SourceFile, config: Config, files: Mapping[Path, SourceFile], helpers: dict[str, Helper]
) -> Helper:
    name, path = _place(file, config, files)
    number = 1
    while True:
        module = name if number == 1 else f"{name}_{number}"
        target = path if number == 1 else path.with_name(f"{path.stem}_{number}.py")
        if module in helpers and helpers[module].path == target:
            return helpers[module]
        text = _text(target, files)
        # Somebody else's file of the same name is left alone.
        if text is None or _version(text) is not None:
            helpers[module] = Helper(module, target, text)
            return helpers[module]
        number += 1


def _place(file: SourceFile, config: Config, files: Mapping[Path, SourceFile]) -> tuple[str, Path]:
    """The helper's dotted name and its file, for the code in `file`."""
    parts = file.module.split(".")
    is_package = file.path.name == "__init__.py"
    # A folder such as `lm-design` is no package to import from: what it holds is imported by itself.
    while not all(part.isidentifier() for part in (parts if is_package else parts[:-1])):
        parts = parts[1:]
    if not parts:
        return DEFAULT_NAME, file.path.parent / f"{DEFAULT_NAME}.py"
    # The folder of the top package: a package's own folder counts as one level.
    folder = file.path.parents[len(parts) - 1 if is_package else max(len(parts) - 2, 0)]
    in_package = is_package or len(parts) > 1
    if (package := _package_above(file, folder if in_package else None, files)) is not None:
        parts, folder, in_package = [package.name], package, True
    if config.helper_module is not None:
        wanted = config.helper_module.split(".")
        base = folder.parent if in_package and wanted[0] == parts[0] else config.root
        return config.helper_module, base.joinpath(*wanted[:-1], f"{wanted[-1]}.py")
    if in_package:
        return f"{parts[0]}.{DEFAULT_NAME}", folder / f"{DEFAULT_NAME}.py"
    return DEFAULT_NAME, file.path.parent / f"{DEFAULT_NAME}.py"


def _package_above(file: SourceFile, package: Path | None, files: Mapping[Path, SourceFile]) -> Path | None:
    """The top package that a file or its package lies below, with a folder without `__init__.py` between.

    Such a folder is a part of the package, too, where what is in it imports from that package, or is imported through
    it; otherwise it may hold scripts, which find what lies beside them.
    """
    inner = (package or file.path.parent).absolute()
    around = inner.parents if package is not None else (inner, *inner.parents)
    above = next((folder for folder in around if _is_package(folder)), None)
    if above is None:
        return None
    top = next(folder for folder in (above, *above.parents) if not _is_package(folder.parent))
    name = re.escape(top.name)
    # Inside an inner package a relative import says nothing of the outer one.
    sources = rf"{name}[ \t.]" if package is not None else rf"(?:\.|{name}[ \t.])"
    if re.search(rf"^[ \t]*(?:from[ \t]+{sources}|import[ \t]+{name}\b)", file.text, re.MULTILINE):
        return top
    dotted = re.escape(".".join((top.name, *inner.relative_to(top).parts)))
    through = re.compile(rf"^[ \t]*(?:from|import)[ \t]+{dotted}\b", re.MULTILINE)
    within = re.compile(rf"^[ \t]*from[ \t]+\.+(?:\w+\.)*{re.escape(inner.name)}[ \t.]", re.MULTILINE)
    imported = any(
        through.search(other.text) or (top in other.path.absolute().parents and within.search(other.text))
        for other in files.values()
    )
    return top if imported else None


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").is_file()


def _text(path: Path, files: Mapping[Path, SourceFile]) -> str | None:
    if path in files:
        return files[path].text
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None if not path.exists() else ""


def _version(text: str) -> int | None:
    match = _VERSION.search(text)
    return int(match[1]) if match else None


# -- compile calls


def _unwrapped(files: Mapping[Path, SourceFile], helpers: frozenset[str]) -> dict[Path, list[_Insertion]]:
    """Where `boundary` has to be put in, by file."""
    project = Project(list(files.values()))
    inference = Inference(project)
    emitting = {f for module in project.modules.values() for f in module.all_functions if _emits(f, helpers)}
    found: dict[Path, list[_Insertion]] = {}
    for module in project.modules.values():
        if "compile" not in module.file.text:
            continue
        for site in compile_sites(module, inference):
            # A target that is not known may lead there, and a boundary that nothing uses does nothing.
            if site.targets and not emitting & reached_from(site.targets, inference):
                continue
            found.setdefault(module.file.path, []).extend(_insertions(site, module))
    return {path: places for path, places in found.items() if places}


def _emits(function: Function, helpers: frozenset[str]) -> bool:
    if (function.module.imported("emit") or "").rpartition(".")[0] not in helpers:
        return False
    return any(
        isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == "emit"
        for n in ast.walk(function.node)
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


# -- text


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
