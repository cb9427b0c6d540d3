"""What a dotted name stands for in a project: a class, a function, a module, or something from outside."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from compilefix.source.definitions import Class, Function
from compilefix.source.files import SourceFile
from compilefix.source.module import Module
from compilefix.source.modules import Modules

_MANY_MODULES = 20
_NO_MODULES = ("torch.distributions.", "torch.optim.", "torch.utils.data.")
"""What the names of classes of torch begin with that are no modules, whatever `forward` their subclasses have."""
_MODULE_BASES = (".LightningModule",)
"""Bases of other packages that are modules."""
_PLAIN_BASES = frozenset(
    {"object", "abc", "enum", "typing", "Exception", "collections", "dataclasses"}
    | {"sklearn", "mxnet", "jax", "flax", "haiku", "equinox", "tensorflow", "keras", "paddle", "mindspore", "chainer"}
    | {"mlx", "tinygrad", "oneflow", "jittor", "megengine"}
)
"""What begins the names of bases whose classes are no modules of torch, whatever `forward` they have."""
_MOST_STEPS = 64


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
        asked = name
        while name not in seen:
            if len(seen) > _MOST_STEPS:
                return asked  # a file that is called like a package takes something of that: it leads back to itself
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
