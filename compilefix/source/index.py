"""The index over all modules of a project: classes, functions and imports, and what a dotted name stands for."""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from compilefix.source.files import SourceError, SourceFile
from compilefix.source.places import Places, named
from compilefix.source.texts import Question, Texts
from compilefix.source.torch_names import public_name
from compilefix.source.tree import SIMPLE_STATEMENTS, children, walk

_Node = TypeVar("_Node", bound=ast.AST)

_PROPERTIES = frozenset({"property", "cached_property", "lazy_property"})
_KEEPS_RESULTS = frozenset({"lru_cache", "cache", "cached_property", "lazy_property"})
_NAMES_TORCH = re.compile(r"\btorch\.|\bTensor\b")
_DEFINED = r"(?<=\n)(?:(?:async )?def|class) {name}\b|(?<=\n){name}(?: *=|:)"
# Where a name may be bound at the top level of a module: defined, assigned, imported, or in a line of imported names.
_BOUND = (
    r"^\s*(?:(?:async\s+)?def|class)\s+{name}\b|(?:^|[;=])\s*{name}\s*(?::[^=\n]*)?=(?!=)"
    r"|^\s*(?:from\s.*)?import\b.*\b{name}\b|^[\s\w,]*\b{name}\b[\s\w,]*\)?\s*(?:#.*)?$"
)

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
_MANY_MODULES = 20
_CONSTANT = re.compile(r"(True|False|None|-?[\d.]\S*|'[^']*'|\"[^\"]*\")(\s*#.*)?")


def _in_place_of_builtin(name: str, stars: Iterable[str]) -> str | None:
    """What `import *` of modules outside the project puts in the place of a builtin, as a dotted name."""
    return next((f"{star}.{name}" for star in stars if name in _STAR_BUILTINS.get(star, ())), None)


@dataclass(frozen=True, eq=False)
class Function:
    """A function, method or nested function of the project."""

    qualname: str
    node: ast.FunctionDef | ast.AsyncFunctionDef
    module: Module
    cls: Class | None = None
    parent: Function | None = None

    @property
    def full_name(self) -> str:
        """Dotted name with the module."""
        if self.parent is not None:
            return f"{self.parent.full_name}.<locals>.{self.node.name}"
        return f"{self.module.name if self.cls is None else self.cls.full_name}.{self.node.name}"

    @cached_property
    def decorators(self) -> tuple[str, ...]:
        """Qualified names of the decorators; for a decorator call the name of what is called."""
        targets = (d.func if isinstance(d, ast.Call) else d for d in self.node.decorator_list)
        return tuple(name for t in targets if (name := self.module.qualified(t)) is not None)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the function, nested functions included: walking the tree again and again is what costs."""
        return tuple(walk(self.node))

    @cached_property
    def _by_class(self) -> Mapping[type[ast.AST], list[ast.AST]]:
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in self.nodes:
            found.setdefault(node.__class__, []).append(node)
        return found

    def of(self, kind: type[_Node]) -> Sequence[_Node]:
        """Those of `nodes` that are of one class, in source order."""
        return self._by_class.get(kind, ())  # type: ignore[return-value]

    @cached_property
    def stores(self) -> Mapping[str, list[ast.Name]]:
        """The places where each name gets a value or is deleted, those in nested functions too, in source order."""
        found: dict[str, list[ast.Name]] = {}
        for node in self.of(ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(node)
        return found

    def names(self, name: str, lines: Sequence[int]) -> bool:
        """Whether a variable or an attribute of a name stands in the function; its text does in `lines` of the file."""
        first = min(node.lineno for node in (self.node, *self.node.decorator_list))
        place = bisect_left(lines, first)
        if place == len(lines) or lines[place] > (self.node.end_lineno or first):
            return False
        return any(node.id == name for node in self.of(ast.Name)) or any(
            node.attr == name for node in self.of(ast.Attribute)
        )

    @cached_property
    def called_names(self) -> frozenset[str]:
        """The dotted names of what the function calls, of imported names and attributes: `torch.save`."""
        functions = [node.func for node in self.of(ast.Call)]
        plain = {self.module.imports.get(func.id) for func in functions if isinstance(func, ast.Name)}
        dotted = {self.module.qualified(func) for func in functions if not isinstance(func, ast.Name)}
        return frozenset(name for name in plain | dotted if name)

    @cached_property
    def bound(self) -> frozenset[str]:
        """The names that are parameters or get a value in the function, or in one nested in it."""
        return frozenset((*self.stores, *(a.arg for a in self.of(ast.arg))))

    @cached_property
    def is_static(self) -> bool:
        """Whether the method gets neither the instance nor the class."""
        return "staticmethod" in self.decorators

    @cached_property
    def is_property(self) -> bool:
        """Whether reading the attribute runs the method."""
        return any(d.rpartition(".")[2] in _PROPERTIES for d in self.decorators)

    @cached_property
    def kept_defaults(self) -> frozenset[str]:
        """The parameters with a default that is made once and is no constant: `def f(x, seen=[])`."""
        args = self.node.args
        positional = [*args.posonlyargs, *args.args]
        pairs = [*zip(reversed(positional), reversed(args.defaults), strict=False)]
        pairs += [(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults, strict=True) if d is not None]
        return frozenset(arg.arg for arg, default in pairs if not self._is_plain(default))

    def _is_plain(self, default: ast.expr) -> bool:
        """Whether a default is a number, a text, a function, a class or a part of a module: it keeps no tensor."""
        if isinstance(default, ast.Name):
            if self.parent is not None and default.id in self.parent.bound:
                return False
            made = self.module.assigns.get(default.id)  # None for a function, a class or what is imported
            return made is None or (not isinstance(made, ast.Name) and self._is_plain(made))
        if isinstance(default, ast.Tuple):
            return all(map(self._is_plain, default.elts))
        if isinstance(default, ast.UnaryOp):
            return self._is_plain(default.operand)
        if isinstance(default, ast.BinOp):
            return self._is_plain(default.left) and self._is_plain(default.right)
        return isinstance(default, ast.Constant | ast.Attribute | ast.Lambda)

    @cached_property
    def is_memoized(self) -> bool:
        """Whether what a call returned is kept, and returned again."""
        return any(d.rpartition(".")[2] in _KEEPS_RESULTS for d in self.decorators)

    @cached_property
    def hands_back(self) -> str | None:
        """The parameter that every call returns as it came in, as checks do: `return x` in all ways out; else None.

        A `return None` is let pass where the parameter itself is tested for it: `if x is None: return None`.
        """
        node = self.node
        if isinstance(node, ast.AsyncFunctionDef) or not set(self.decorators) <= {"staticmethod", "classmethod"}:
            return None
        returns = self.of(ast.Return)
        name = node.body[-1].value.id if _gives_name(node.body[-1]) else None  # type: ignore[attr-defined]
        if name is None or name in self.stores or name not in {a.arg for a in self.parameters}:
            return None
        if any(found is not node for kind in _CLOSED_OR_YIELDS for found in self.of(kind)):
            return None
        none = {id(r) for test in self.of(ast.If) if _is_none(test.test, name) for r in test.body}
        same = all((_gives_name(r) and r.value.id == name) or id(r) in none for r in returns)  # type: ignore[union-attr]
        return name if same else None

    @cached_property
    def parameters(self) -> tuple[ast.arg, ...]:
        """All parameters in order, `*args` and `**kwargs` left out."""
        args = self.node.args
        return (*args.posonlyargs, *args.args, *args.kwonlyargs)


_CLOSED_OR_YIELDS: tuple[type[ast.AST], ...] = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.Lambda,
    ast.ClassDef,
    ast.Yield,
    ast.YieldFrom,
    ast.Global,
    ast.Nonlocal,
)


def _gives_name(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Name)


def _is_none(test: ast.expr, name: str) -> bool:
    """Whether a test is `name is None`."""
    return ast.unparse(test) == f"{name} is None"


@dataclass(frozen=True, eq=False)
class Class:
    """A class of the project with its own methods; `bases` are qualified names."""

    qualname: str
    node: ast.ClassDef
    module: Module
    methods: Mapping[str, Function] = field(default_factory=dict)

    @property
    def full_name(self) -> str:
        """Dotted name with the module, and with the line where another class of the file has the name now."""
        is_named = self.module.classes.get(self.qualname) is self
        return f"{self.module.name}.{self.qualname if is_named else _with_line(self)}"

    @cached_property
    def other_methods(self) -> Mapping[str, tuple[Function, ...]]:
        """Further definitions of methods, of which one in another block may run: `if` and `else` in the class."""
        found: dict[str, tuple[Function, ...]] = {}
        for function in self.module.all_functions:
            if function.cls is not self or function.parent is not None:
                continue
            name = function.node.name
            of_one = any(d.endswith((".setter", ".deleter", ".getter", "overload")) for d in function.decorators)
            if self.methods.get(name) is not function and not of_one:
                found[name] = (*found.get(name, ()), function)
        return found

    @cached_property
    def names_torch(self) -> bool:
        """Whether the text of the class has a use of torch or of its tensors."""
        lines = self.module.lines[self.node.lineno - 1 : self.node.end_lineno]
        return _NAMES_TORCH.search("\n".join(lines)) is not None

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """Qualified names of the base classes, as far as they are names."""
        nodes = (b.value if isinstance(b, ast.Subscript) else b for b in self.node.bases)
        return tuple(name for b in nodes if (name := self.module.qualified(b)) is not None)


def _with_line(cls: Class) -> str:
    """A name for a class that has no name of its own in its file, as another one took it."""
    return f"{cls.qualname}@{cls.node.lineno}"


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
        for names in (self.functions, self.classes, self.assigns):
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
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            self.assigns[node.target.id] = node.value

    def _class(self, node: ast.ClassDef, prefix: str) -> None:
        methods: dict[str, Function] = {}
        cls = Class(prefix + node.name, node, self, methods)
        known = self.classes.get(cls.qualname)
        if known is None or not prefix:
            self.classes[cls.qualname] = cls
        if known is not None:
            hidden = cls if prefix else known
            self.classes[_with_line(hidden)] = hidden
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
            found = found or _in_place_of_builtin(name, self.stars)
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
        lines = [number for number, line in enumerate(self.lines, 1) if name in line] if name in self.file.text else []
        return [function for function in self.all_functions if lines and function.names(name, lines)]

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


@dataclass(frozen=True)
class Used:
    """What something that was found out rests on, besides the names of all modules.

    modules: the modules that were asked for. answers: what was asked of the texts of all files, with the answers.
    """

    modules: tuple[str, ...] = ()
    answers: tuple[tuple[Question, tuple[str, ...]], ...] = ()


NOTHING_USED = Used()


class Modules(Mapping[str, Module]):
    """The modules of a project by dotted name. Each is parsed when it is asked for, and kept until `trim`."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self.files = named(files)
        self.places = Places(self.files)
        self.texts = Texts(self.files)
        self._asked: set[str] = set()
        self._computed: dict[str, dict[tuple[str, ...], bool]] = {}
        self._parsed: dict[str, Module] = {}
        self._uses: Counter[str] = Counter()
        self._given: dict[tuple[str, str], str | None] = {}
        self._takes: dict[str, tuple[str, ...]] = {}

    def __getitem__(self, name: str) -> Module:
        module = self._parsed.get(name)
        if module is None:
            module = self._parsed[name] = Module(name, self.files[name], self.given, self.places)
        self._asked.add(name)
        return module

    def given(self, source: str, name: str) -> str | None:
        """What `from source import *` binds to a name, as a dotted name; None where it binds nothing, or is unknown.

        Packages take hundreds of modules in this way: only those in whose text the name may be bound are parsed.
        """
        key = source, name
        taken = self._taken(source)
        if key not in self._given:
            # The names of builtins stand everywhere: that an import hands one on to `import *` is left out.
            pattern = _DEFINED if hasattr(builtins, name) else _BOUND
            bound = re.compile(pattern.format(name=re.escape(name)), re.MULTILINE)
            # What a module has by `import *` itself it hands on, but for names with an underscore.
            handed = taken[:1] if name.startswith("_") else taken
            likely = (m for m in handed if any(map(bound.search, _lines_with(name, self.files[m].text))))
            found = next((given for m in likely if (given := self[m].exported(name)) is not None), None)
            stars = (star for m in taken if "import *" in self.files[m].text for star in self[m].stars)
            self._given[key] = found or _in_place_of_builtin(name, stars)
        self._asked.update(taken)
        return self._given[key]

    def _taken(self, source: str) -> tuple[str, ...]:
        """A module and those that it takes all names of, and these in turn; the names of the last count."""
        known = self._takes.get(source)
        if known is None:
            found: dict[str, None] = {}
            pending = [source]
            while pending:
                module = pending.pop()
                if module not in found and module in self.files:
                    found[module] = None
                    if "import *" in self.files[module].text:
                        pending.extend(reversed(self[module].stars))
            known = self._takes[source] = tuple(found)
        return known

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __contains__(self, name: object) -> bool:
        return name in self.files

    def begin(self) -> None:
        """Start to note anew what is used."""
        self._uses.update(self._asked)
        self._asked.clear()
        self.texts.begin()

    @property
    def used(self) -> Used:
        """What was used since `begin`."""
        return Used(tuple(sorted(self._asked)), self.texts.asked)

    def setting_computed(self, attribute: str, cls: str, module: str) -> bool:
        """Whether one of these modules gives the attribute something else than a constant."""
        setters = self.texts.setting(attribute, cls, module)
        self._asked.update(setters)
        if setters not in self._computed.setdefault(attribute, {}):
            stored = re.compile(rf"(?<!self)\.{attribute} *(?:=(?!=) *(.*)|,)")
            given = (found[1] or "" for name in setters for found in stored.finditer(self.files[name].text))
            self._computed[attribute][setters] = not all(map(_CONSTANT.fullmatch, given))
        return self._computed[attribute][setters]

    def error(self, name: str) -> SourceError | None:
        """Why the text of a module is no Python; None where it is."""
        module = self._parsed.get(name)
        if module is not None:
            return module.error
        parsed = self.files[name].parsed()
        return parsed if isinstance(parsed, SourceError) else None

    def trim(self, characters: int, done: Container[str] = ()) -> None:
        """Forget modules until the kept sources have that length at most.

        First go those in `done`, which are not likely to be used again, then those that were used the least often, by
        how many times `begin` was called before they were asked for. A module that is asked for again is another
        object: nothing that was found out about the old one may be used with it.
        """
        kept = sum(len(module.file.text) for module in self._parsed.values())
        for name in sorted(self._parsed, key=lambda name: (name not in done, self._uses[name], name)):
            if kept <= characters:
                break
            module = self._parsed.pop(name)
            kept -= len(module.file.text)
            # Functions and their module hold each other; while the collector is off, only this frees them.
            module.forget()


class Project:
    """All modules, by dotted name."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self.modules = Modules(files)
        self._resolved: dict[str, Function | Class | Module | str] = {}
        self._ancestors: dict[Class, tuple[Class | str, ...]] = {}

    def trim(self, characters: int, done: Container[str] = ()) -> None:
        """Forget modules that are not in use, and what they define, as `Modules.trim` says."""
        self._resolved.clear()
        self._ancestors.clear()
        self.modules.trim(characters, done)

    def resolve(self, name: str) -> Function | Class | Module | str:
        """What a dotted name stands for: something of the project, followed through re-exports, else a dotted name."""
        found = self._resolved.get(name)
        if found is None:
            found = self._resolve(name)
            if isinstance(found, str) and (elsewhere := self.modules.places.anywhere(found)) is not None:
                found = self._resolve(elsewhere)
            self._resolved[name] = found
        return found

    def alternatives(self, name: str) -> tuple[Function, ...]:
        """The functions of which one stands under a dotted name, where they are defined in several blocks."""
        found = self.resolve(name)
        head, _, last = found.rpartition(".") if isinstance(found, str) else ("", "", "")
        module = self.modules.get(head)
        if module is None or not module.is_one_of_several(last):
            return ()
        return tuple(function for function in module.all_functions if function.qualname == last)

    def _resolve(self, name: str) -> Function | Class | Module | str:
        seen: set[str] = set()
        while name not in seen:
            seen.add(name)
            head, _, tail = name.rpartition(".")
            if name in self.modules:
                # `from .act import act` in a package: its `act` is the function, and no longer the module. Of all names
                # that `import *` takes, only those of that module are looked at: a package may take them of hundreds.
                package = self.modules.get(head)
                given = package.imports.get(tail) if package is not None else None
                if given is None and package is not None and name in package.stars:
                    given = self.modules[name].exported(tail)
                if given is None or given in seen or not given.startswith(f"{name}."):
                    return self.modules[name]
                name = given
                continue
            rest = [tail]
            while head and head not in self.modules:
                head, _, part = head.rpartition(".")
                rest.insert(0, part)
            if not head:
                return name
            module = self.modules[head]
            first = rest[0]
            dotted = ".".join(rest)
            if module.is_one_of_several(first):
                return name
            if len(rest) == 1 and first in module.functions:
                return module.functions[first]
            if dotted in module.classes:
                return module.classes[dotted]
            if len(rest) >= 2 and ".".join(rest[:-1]) in module.classes:
                found = self.method(module.classes[".".join(rest[:-1])], rest[-1])
                return found if found is not None else name
            imported = module.imported(first)
            if imported is not None:
                name = ".".join([imported, *rest[1:]])
            elif first in module.assigns and (alias := module.qualified(module.assigns[first])) is not None:
                name = ".".join([alias, *rest[1:]])
        return name

    def ancestors(self, cls: Class) -> tuple[Class | str, ...]:
        """The class and its bases, each once and before its own bases; bases outside the project as dotted names."""
        known = self._ancestors.get(cls)
        if known is not None:
            return known
        # To resolve the base of `class nn(nn.Module)` the class itself is asked for what it has.
        self._ancestors[cls] = (cls,)
        found: list[Class | str] = []
        for name in cls.bases:
            base = self.resolve(name)
            found += self.ancestors(base) if isinstance(base, Class) else [base if isinstance(base, str) else name]
        # One that several of them inherit comes behind all of these.
        inherited = [*dict.fromkeys(reversed([c for c in found if c is not cls]))]
        self._ancestors[cls] = (cls, *reversed(inherited))
        return self._ancestors[cls]

    def method(self, cls: Class, name: str, *, after: Class | None = None) -> Function | None:
        """The method that an instance of the class runs; with `after`, the one that `super()` in `after` means."""
        chain = self.ancestors(cls)
        if after is not None:
            chain = chain[chain.index(after) + 1 :] if after in chain else ()
        for item in chain:
            if isinstance(item, Class) and name in item.methods:
                return item.methods[name]
        return None

    def overriding(self, method: Function) -> Iterator[Function]:
        """The methods that stand in the place of a method: in subclasses of the same file, those of other bases too.

        So do other definitions of it in its class.
        """
        if method.cls is not None and method.parent is None:
            yield from self._overriding_in(method.module, method.cls, method)

    def overriding_anywhere(self, method: Function) -> Iterator[Function | None]:
        """The methods that stand in the place of a method in any subclass; None where these stand in too many files."""
        cls = method.cls
        if cls is None or method.parent is not None:
            return
        yield from self._overriding_in(method.module, cls, method)
        others = [m for m in self.modules.texts.overriding(cls.node.name, method.node.name) if m != method.module.name]
        if len(others) > _MANY_MODULES:
            yield None
            return
        for module in others:
            yield from self._overriding_in(self.modules[module], cls, method)

    def _overriding_in(self, module: Module, cls: Class, method: Function) -> Iterator[Function]:
        if module is cls.module:
            yield from cls.other_methods.get(method.node.name, ())
        classes = (c for c in module.classes.values() if c is not cls and cls in self.ancestors(c))
        found = dict.fromkeys(self.method(c, method.node.name) for c in classes)
        yield from (other for other in found if other is not None and other is not method)

    def is_module_class(self, cls: Class) -> bool:
        """Whether the class is an `nn.Module`: by its bases, or, where these are unknown, by having `forward`."""
        chain = self.ancestors(cls)
        if any(isinstance(c, str) and (c.endswith(_MODULE_BASES) or c.startswith("torch.nn.")) for c in chain):
            return True
        bases = (c for c in chain if isinstance(c, str))
        unknown = any(c.partition(".")[0] not in _PLAIN_BASES and not c.startswith(_NO_MODULES) for c in bases)
        return unknown and "forward" in cls.methods

    def is_autograd_function(self, cls: Class) -> bool:
        """Whether the class defines a custom derivative."""
        names = (
            "torch.autograd.Function",
            "torch.autograd.function.Function",
            "torch.autograd.function.once_differentiable",
        )
        return any(c in names for c in self.ancestors(cls))


_NO_MODULES = ("torch.distributions.", "torch.optim.", "torch.utils.data.")
"""What the names of classes of torch begin with that are no modules, whatever `forward` their subclasses have."""
_MODULE_BASES = (".LightningModule",)
"""Bases of other packages that are modules."""
_PLAIN_BASES = frozenset(
    {"object", "abc", "enum", "typing", "Exception", "collections", "dataclasses"}
    | {"sklearn", "mxnet", "jax", "flax", "haiku", "equinox", "tensorflow", "keras", "paddle", "mindspore", "chainer"}
)
"""What begins the names of bases whose classes are no modules of torch, whatever `forward` they have."""


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


def _lines_with(name: str, text: str) -> Iterator[str]:
    """The lines of a text in which a name stands, each with the newline before it."""
    place = text.find(name)
    while place >= 0:
        start, end = text.rfind("\n", 0, place), text.find("\n", place)
        end = len(text) if end < 0 else end
        yield text[max(start, 0) : end]
        place = text.find(name, end)


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
