"""Functions and classes of a project, with what their own text says of them."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from compilefix.source.tree import by_class, walk

if TYPE_CHECKING:
    from compilefix.source.module import Module

_Node = TypeVar("_Node", bound=ast.AST)
_PROPERTIES = frozenset({"property", "cached_property", "lazy_property"})
_KEEPS_RESULTS = frozenset({"lru_cache", "cache", "cached_property", "lazy_property"})
_NAMES_TORCH = re.compile(r"\btorch\.|\bTensor\b")
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
        return by_class(self.nodes)

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

    @cached_property
    def attributes(self) -> frozenset[str]:
        """The names of the attributes that stand in the function."""
        return frozenset(node.attr for node in self.of(ast.Attribute))

    def places(self, name: str) -> Sequence[ast.Name]:
        """The places where a variable stands, those in nested functions and in dead code too, in source order."""
        return [node for node in self.of(ast.Name) if node.id == name]

    def loads(self, name: str) -> Sequence[ast.Name]:
        """Those of `places` that read the variable."""
        return [node for node in self.places(name) if isinstance(node.ctx, ast.Load)]

    def names(self, name: str, lines: Sequence[int]) -> bool:
        """Whether a variable or an attribute of a name stands in the function; its text does in `lines` of the file."""
        first = min(node.lineno for node in (self.node, *self.node.decorator_list))
        place = bisect_left(lines, first)
        if place == len(lines) or lines[place] > (self.node.end_lineno or first):
            return False
        for variable in self.of(ast.Name):
            if variable.id == name:
                return True
        return any(node.attr == name for node in self.of(ast.Attribute))

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

    @cached_property
    def imported(self) -> frozenset[str]:
        """The names that imports within the function give values."""
        imports: list[ast.Import | ast.ImportFrom] = [*self.of(ast.Import), *self.of(ast.ImportFrom)]
        return frozenset(alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names)

    def takes(self, name: str) -> bool:
        """Whether one of `parameters` has this name."""
        return any(parameter.arg == name for parameter in self.parameters)


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
        return f"{self.module.name}.{self.qualname if is_named else self.name_with_line}"

    @property
    def name_with_line(self) -> str:
        """A name that no other class of the file takes."""
        return f"{self.qualname}@{self.node.lineno}"

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


def _gives_name(node: ast.stmt) -> bool:
    return isinstance(node, ast.Return) and isinstance(node.value, ast.Name)


def _is_none(test: ast.expr, name: str) -> bool:
    """Whether a test is `name is None`."""
    return ast.unparse(test) == f"{name} is None"
