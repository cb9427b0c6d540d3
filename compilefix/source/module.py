"""One file of a project: the functions, classes and imports that it defines, and what a name means in it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from compilefix.source.definitions import Class, Function
from compilefix.source.files import SourceError, SourceFile
from compilefix.source.places import Places
from compilefix.source.syntax import is_literal
from compilefix.source.torch_names import public_name
from compilefix.source.tree import SIMPLE_STATEMENTS, children, walk

# The builtins in whose place `from module import *` puts something else.
_STAR_BUILTINS = {
    "math": frozenset({"pow"}),
    "numpy": frozenset({"abs", "all", "any", "bool", "divmod", "max", "min", "pow", "round", "sum"}),
    "operator": frozenset({"abs", "pow"}),
    "os": frozenset({"open"}),
    "torch": frozenset(
        {"abs", "all", "any", "bool", "compile", "complex", "float", "int", "max", "min", "pow", "range", "round"}
        | {"sum"}
    ),
}


class Module:
    """One file of the project and the names that it defines at its top level. One that is no Python defines nothing."""

    def __init__(self, name: str, file: SourceFile, given: Callable[[str, str], str | None], places: Places) -> None:
        parsed = file.parsed()
        self._given = given
        self._places = places
        self.file = file
        self.error = parsed if isinstance(parsed, SourceError) else None
        self.tree = ast.Module([], []) if isinstance(parsed, SourceError) else parsed
        self.name = name
        self.imports: dict[str, str] = {}
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}
        self.assigns: dict[str, ast.expr] = {}
        self._assigned: dict[str, list[ast.expr]] = {}
        self.attributes_given: dict[str, list[tuple[str, ast.expr]]] = {}
        """What the file gives its globals at its top level, by attribute: `DEFAULTS.rng = ...`."""
        self.all_functions: list[Function] = []
        self._blocks: dict[str, list[Sequence[ast.stmt]]] = {}
        self._changing: dict[str, bool] = {}
        self._mentions: dict[str, bool] = {}
        # The modules that all names are taken of, the last one first: of several with a name the last counts.
        self.stars: list[str] = []
        self._collect(self.tree.body, None)
        for node in _imports(self.tree):
            self._import(node)

    def forget(self) -> None:
        """Let go of all that the module defines."""
        self.tree = ast.Module([], [])
        for cls in self.classes.values():
            cls.methods.clear()  # type: ignore[attr-defined]
            cls.__dict__.pop("other_methods", None)
        for names in (self.functions, self.classes, self.assigns, self._assigned):
            names.clear()
        self.all_functions.clear()

    def _collect(self, body: Sequence[ast.stmt], cls: Class | None) -> None:
        for node in body:
            if cls is None and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                self._blocks.setdefault(node.name, []).append(body)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._function(node, cls, None)
            elif isinstance(node, ast.ClassDef):
                self._class(node, cls.qualname + "." if cls else "")
            elif isinstance(node, ast.If | ast.Try | ast.With):
                for block in ("body", "orelse", "finalbody"):
                    self._collect(getattr(node, block, []), cls)
                for handler in getattr(node, "handlers", []):
                    self._collect(handler.body, cls)
            elif cls is None:
                self._assign(node)

    def _assign(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.assigns[target.id] = node.value
                    self._assigned.setdefault(target.id, []).append(node.value)
                elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                    self.attributes_given.setdefault(target.attr, []).append((target.value.id, node.value))
                elif isinstance(target, ast.Tuple):
                    for part in target.elts:
                        if isinstance(part, ast.Name):
                            self._assigned.setdefault(part.id, []).append(part)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            self.assigns[node.target.id] = node.value
            self._assigned.setdefault(node.target.id, []).append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            for value in self._assigned.get(node.target.id, ())[:1]:
                self._assigned[node.target.id].append(ast.BinOp(value, node.op, node.value))

    def all_given(self, name: str) -> Sequence[ast.expr]:
        """All that the file gives a global, in its functions too (`global SCALE`): a name where that is not known."""
        given = self._assigned.get(name, [])
        if name in self.imports and not all(is_literal(value, None) for value in given):
            given = [*given, ast.Name(name, ast.Load())]  # where it cannot be imported, the file gives it another value
        if name not in self._shared:
            return given
        found = list(given)
        for function in self.all_functions:
            if any(name in node.names for node in function.of(ast.Global)):
                stores = function.stores.get(name, [])
                values = [node.value for node in function.of(ast.Assign) for t in node.targets if t in stores]
                added = [node for node in function.of(ast.AugAssign) if node.target in stores]
                values += [ast.BinOp(first, node.op, node.value) for node in added for first in given[:1]]
                found += values if len(values) == len(stores) else stores
        return found

    @cached_property
    def set_elsewhere(self) -> frozenset[str]:
        """The full names of what the file gives another value in what it imports: `settings.SCALE = 2.0`."""
        stores = (n for n in walk(self.tree) if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load))
        return frozenset(name for node in stores if (name := self.qualified(node)) is not None)

    @cached_property
    def stores(self) -> Counter[str]:
        """How often the file gives each name a value or deletes it, in functions too."""
        return Counter(n.id for n in walk(self.tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load))

    @cached_property
    def _shared(self) -> frozenset[str]:
        """The globals that functions of the file may assign to."""
        functions = self.all_functions if "global " in self.file.text else []
        return frozenset(name for function in functions for node in function.of(ast.Global) for name in node.names)

    def _class(self, node: ast.ClassDef, prefix: str) -> None:
        methods: dict[str, Function] = {}
        cls = Class(prefix + node.name, node, self, methods)
        known = self.classes.get(cls.qualname)
        if known is None or not prefix:
            self.classes[cls.qualname] = cls
        if known is not None:
            hidden = cls if prefix else known
            self.classes[hidden.name_with_line] = hidden
        self._collect(node.body, cls)

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, cls: Class | None, parent: Function | None
    ) -> None:
        prefix = parent.qualname + ".<locals>." if parent else cls.qualname + "." if cls else ""
        function = Function(prefix + node.name, node, self, cls, parent)
        self.all_functions.append(function)
        if parent is None and cls is not None:
            # A property's setter comes under the same name: the getter is what an attribute read runs.
            if not (node.name in cls.methods and any(d.endswith(".setter") for d in function.decorators)):
                cls.methods[node.name] = function  # type: ignore[index]
        elif parent is None:
            self.functions[node.name] = function
        for inner in _nested(node.body):
            if isinstance(inner, ast.ClassDef):
                continue
            self._function(inner, cls, function)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                found = self._places.imported(alias.name, self.file)
                if alias.asname:
                    self.imports[alias.asname] = found
                    continue
                top = alias.name.partition(".")[0]
                self.imports.setdefault(top, found if alias.name == top else top)
            return
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(self._source(node))
            else:
                self.imports.setdefault(alias.asname or alias.name, self._source(node, alias.name))

    def _source(self, node: ast.ImportFrom, *name: str) -> str:
        """The dotted name of what is imported from somewhere, or of that module itself."""
        parts = [*(node.module.split(".") if node.module else ()), *name]
        if not node.level:
            return self._places.imported(".".join(parts), self.file)
        found = self._places.relative(parts, node.level, self.file)
        package = self.file.module.split(".")
        drop = node.level - (1 if self.file.path.name == "__init__.py" else 0)
        return found or ".".join([*(package[: len(package) - drop] if drop else package), *parts])

    def imported(self, name: str) -> str | None:
        """The dotted name that an import binds to a name, one by `import *` too; None where no import is known to."""
        found = self.imports.get(name)
        if found is None and self.stars and not self._defines(name):
            found = next((given for star in self.stars if (given := self._given(star, name))), None)
            found = found or in_place_of_builtin(name, self.stars)
        return found

    def _defines(self, name: str) -> bool:
        return name in self.functions or name in self.classes or name in self.assigns

    def exported(self, name: str) -> str | None:
        """The dotted name of what `import *` takes from here under a name, None where there is no such name.

        Those in `__all__` are taken, without it all that have no underscore before them. What the module has by
        `import *` itself is left out.
        """
        listed = self.assigns.get("__all__")
        if isinstance(listed, ast.List | ast.Tuple):
            public = any(isinstance(item, ast.Constant) and item.value == name for item in listed.elts)
        else:
            public = not name.startswith("_")
        if not public:
            return None
        return self.imports.get(name) or (f"{self.name}.{name}" if self._defines(name) else None)

    def changes_items(self, attribute: str) -> bool:
        """Whether something in the module seems to change a list or dict that is an attribute of this name."""
        known = self._changing.get(attribute)
        if known is None:
            pattern = rf"\.{attribute}(\.[a-z]+\(|\[[^\n]*\] *[-+*/]?=[^=]| *[+*]=)"
            known = self._changing[attribute] = re.search(pattern, self.file.text) is not None
        return known

    def keeps_tuples(self, attribute: str) -> bool:
        """Whether all that the module assigns to attributes of this name is a tuple, item by item, or None.

        Unlike those of a list, nobody changes its items. What a class has under that name stands for no such tuple.
        """
        return self._kept.get(attribute, False)

    @cached_property
    def _kept(self) -> Mapping[str, bool]:
        """For each attribute that something is assigned to whether it is nothing but tuples and None."""
        kept: dict[str, bool] = {}
        plain: set[ast.expr] = set()
        nodes = walk(self.tree)
        for node in nodes:
            if isinstance(node, ast.Assign) and _is_tuple_or_none(node.value):
                plain.update(node.targets)
        for node in nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                kept[node.attr] = kept.get(node.attr, True) and node in plain
            elif isinstance(node, ast.ClassDef):
                kept.update(dict.fromkeys(_given_in(node), False))
        return kept

    def is_one_of_several(self, name: str) -> bool:
        """Whether a function or class is defined in several blocks, of which one runs: `try` and `except ImportError`.

        In one block the last definition counts. What is imported under its name may come in its place too.
        """
        blocks = self._blocks.get(name, [])
        inside = any(block is not self.tree.body for block in blocks)
        return inside and (any(block is not blocks[0] for block in blocks) or name in self.imports)

    @cached_property
    def packages(self) -> frozenset[str]:
        """The packages that something is imported from."""
        return frozenset(name.partition(".")[0] for name in self.imports.values())

    def mentions(self, word: str) -> bool:
        """Whether a word stands in the text of the module."""
        known = self._mentions.get(word)
        if known is None:
            known = self._mentions[word] = word in self.file.text
        return known

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the file as `ast` counts them."""
        return self.file.text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", " ").split("\n")

    def naming(self, name: str) -> list[Function]:
        """The functions of the file in which a variable or an attribute of a name stands."""
        # The text says where to look: to go through the nodes of each function would take several times as long.
        lines = self._lines_with(name)
        return [function for function in self.all_functions if lines and function.names(name, lines)]

    def _lines_with(self, name: str) -> list[int]:
        """The numbers of the lines in which a name stands."""
        text = self.file.text
        if "\r" in text:
            return [number for number, line in enumerate(self.lines, 1) if name in line]
        found: list[int] = []
        number, start, place = 1, 0, text.find(name)
        while place >= 0:
            number += text.count("\n", start, place)
            found.append(number)
            start = text.find("\n", place)
            place = text.find(name, start) if start >= 0 else -1
        return found

    @cached_property
    def names_outside(self) -> frozenset[str]:
        """The variables and attributes that the file names where it runs when it is imported, in no function."""
        found: set[str] = set()
        pending: list[ast.AST] = list(self.tree.body)
        while pending:
            node = pending.pop()
            if isinstance(node, ast.Name | ast.Attribute):
                found.add(node.id if isinstance(node, ast.Name) else node.attr)
            defines = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            pending.extend(node.decorator_list if defines else children(node))  # type: ignore[attr-defined]
        return frozenset(found)

    @cached_property
    def top_level_imports(self) -> dict[str, str]:
        """Imported modules and names that are bound when the file has been imported: dotted name to local name."""
        return _bound(self.tree.body)

    @cached_property
    def top_level_names(self) -> frozenset[str]:
        """The local names that imports at the top level of the file bind, relative ones among them."""
        imports = (node for node in self.tree.body if isinstance(node, ast.Import | ast.ImportFrom))
        return frozenset(alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names)

    @cached_property
    def guarded_imports(self) -> dict[str, str]:
        """The same for imports in an `if` or `try`: who runs code on tensors has torch, where the file asks for it."""
        pending, inside = [*self.tree.body], list[ast.stmt]()
        while pending:
            node = pending.pop()
            typing = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
            if isinstance(node, ast.If | ast.Try) and not typing:
                pending += (*node.body, *node.orelse)
                inside += (*node.body, *node.orelse)
        return {
            module: name
            for module, name in _bound(inside).items()
            if self.imports.get(name) == module and ast.unparse(self.assigns.get(name, ast.Constant(None))) == "None"
        }

    def qualified(self, node: ast.expr) -> str | None:
        """The dotted name that a name or attribute chain stands for in this module, None for anything else."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return None
        head = node.id
        if (imported := self.imported(head)) is not None:
            head = imported
        elif head in self.functions or head in self.classes:
            head = f"{self.name}.{head}"
        return public_name(".".join([head, *reversed(parts)]))


def in_place_of_builtin(name: str, stars: Iterable[str]) -> str | None:
    """What `import *` of modules outside the project puts in the place of a builtin, as a dotted name."""
    return next((f"{star}.{name}" for star in stars if name in _STAR_BUILTINS.get(star, ())), None)


def _bound(body: Iterable[ast.stmt]) -> dict[str, str]:
    """What imports among statements bind: dotted name to local name."""
    bound: dict[str, str] = {}
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.asname:
                    bound.setdefault(alias.name, alias.asname)
                else:
                    bound.setdefault(alias.name.partition(".")[0], alias.name.partition(".")[0])
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                bound.setdefault(f"{node.module}.{alias.name}", alias.asname or alias.name)
    return bound


def _imports(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        kind = node.__class__
        if kind is ast.Import or kind is ast.ImportFrom:
            yield node  # type: ignore[misc]
        elif kind not in SIMPLE_STATEMENTS:
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                pending.extend(getattr(node, name, None) or ())


def _nested(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node
        elif node.__class__ not in SIMPLE_STATEMENTS and not isinstance(node, ast.ClassDef):
            pending[:0] = [
                child for child in children(node) if isinstance(child, (ast.stmt, ast.ExceptHandler, ast.match_case))
            ]


def _is_tuple_or_none(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return not any(isinstance(item, ast.Starred) for item in node.elts)
    return isinstance(node, ast.Constant) and node.value is None


def _given_in(cls: ast.ClassDef) -> Iterator[str]:
    """The names that the body of a class gives a value, other than None."""
    for statement in cls.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(statement, ast.Assign | ast.AnnAssign) and is_literal(statement.value, None):
            continue
        declares = isinstance(statement, ast.AnnAssign) and statement.value is None
        stores = () if declares else ast.walk(statement)
        yield from (node.id for node in stores if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
