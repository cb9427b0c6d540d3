"""The attributes of a class: what `__init__` and the other methods assign to `self`, and annotations.

Each attribute is looked at when it is asked for, and only the methods that assign it are walked for it: a base class of
a large library has hundreds of methods, and few of its attributes matter to a model.
"""

from __future__ import annotations

import ast
import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeVar

from compilefix.analysis import values
from compilefix.analysis.annotations import annotated
from compilefix.analysis.leaves import ANY_LEAF
from compilefix.analysis.module_calls import gives_itself, switched_in_place, switching_in_place
from compilefix.analysis.registered import registered
from compilefix.analysis.values import Kind, Value, join, replace, static
from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.project import Project

_T = TypeVar("_T")


class Walker(Protocol):
    """What walks methods."""

    project: Project

    def assigned(self, method: Function) -> Mapping[str, Value]:
        """What a run of the method assigns to attributes of `self`."""

    @property
    def depth(self) -> int:
        """How many functions are being looked at, each for the sake of the one before."""

    def doubt(self, depth: int) -> None:
        """Keep no facts of the functions from `depth` on."""

    def settle(self) -> None:
        """Forget what was in doubt."""


_ANY = "*"
_REPLACED = frozenset({Kind.TENSOR, Kind.OBJECT})
_HOLDS_LAYERS = frozenset({Kind.OBJECT, Kind.CONTAINER})
_Item = tuple[Class, str] | Function


class Attributes:
    """The attributes of all classes, computed when asked for and kept.

    Looking for one attribute may need another, and in the end the one that is being looked for, or the method that is
    being walked. Such a read gives an unknown value, and what was found out with it is kept only until the outermost
    look ends.
    """

    def __init__(self, walker: Walker) -> None:
        # The walker holds this object: a cycle would keep all its facts alive.
        self._walker: Walker = weakref.proxy(walker)
        self._kept: dict[_Item, object] = {}
        self._passing: dict[_Item, object] = {}
        self._looking: dict[_Item, int] = {}
        self._doubtful: dict[_Item, _Item] = {}
        self._assigners: dict[Class, Sequence[tuple[Function, frozenset[str]]]] = {}
        self._declared: dict[Class, Mapping[str, Value]] = {}
        self._heirs: dict[Module, Mapping[Class, Sequence[Class]]] = {}

    def of(self, cls: Class, name: str, reader: Function | None = None) -> Value | None:
        """The attribute that instances of the class have; None where nothing gives them one.

        The methods of a class run for the classes of its module that inherit it, too, and other code of the project
        may have put something else there. A `reader`, which reads it of its own object, runs for those alone that have
        no method in its place.
        """
        found = self._of_class(cls, name)
        if found is None or found.is_unknown:
            return found
        for other in self._inheriting(cls):
            sets = self._methods(other, name) or name in self._declarations(other)
            if sets and (reader is None or self._runs_for(reader, other)):
                value = self._of_class(other, name)
                found = values.UNKNOWN if value is None else _owned(join(found, value), name)
        if found.kinds & _REPLACED and self._walker.project.modules.texts.setting(name, cls.node.name, cls.module.name):
            if not found.is_tensor:
                return replace(values.UNKNOWN, storage=found.storage)
            return _owned(replace(found, dtype=None, rank=None, has_dims=False), name)
        if found.kinds & _HOLDS_LAYERS and (switching := switching_in_place(self._walker.project)):
            knowing = self._walker.project.modules.texts.setting("inplace", cls.node.name, cls.module.name)
            if not set(switching).isdisjoint(knowing):
                return switched_in_place(found)
        if found.dtype in ("int", "float") and self._walker.project.modules.setting_computed(
            name, cls.node.name, cls.module.name
        ):
            return replace(found, dtype=None, const=None, certain=False)  # `attention.scale = scale`, perhaps a tensor
        return found

    def of_the_class(self, cls: Class, name: str) -> Value | None:
        """The number or text that a class has under a name; None where other code may put something else there."""
        for base in self._walker.project.ancestors(cls):
            if not isinstance(base, Class) or self._methods(base, name):
                return None
            if (found := self._declarations(base).get(name)) is not None:
                changed = self._walker.project.modules.texts.setting(name, cls.node.name, cls.module.name)
                if changed or not found.is_(Kind.STATIC):
                    return None
                return replace(found, dtype=None)  # the member of an enumeration is no number
        return None

    def hides_method(self, cls: Class, name: str) -> bool:
        """Whether the class puts something else on its objects under the name of one of its methods.

        The method itself in another guise is not something else: `self.step = torch.compile(self.step)`.
        """
        for base in self._walker.project.ancestors(cls):
            for method in self._methods(base, name) if isinstance(base, Class) else ():
                own = f"{method.parameters[0].arg}.{name}" if method.parameters else ""
                for statement in method.of(ast.Assign):
                    stored = any(isinstance(t, ast.Attribute) and ast.unparse(t) == own for t in statement.targets)
                    if stored and own not in (ast.unparse(n) for n in ast.walk(statement.value)):
                        return True
        return False

    def _inheriting(self, cls: Class) -> Sequence[Class]:
        """The classes of its module that inherit a class."""
        if cls.module not in self._heirs:
            heirs: dict[Class, list[Class]] = {}
            for other in cls.module.classes.values():
                for base in self._walker.project.ancestors(other)[1:]:
                    if isinstance(base, Class):
                        heirs.setdefault(base, []).append(other)
            self._heirs[cls.module] = heirs
        return self._heirs[cls.module].get(cls, ())

    def _runs_for(self, method: Function, cls: Class) -> bool:
        """Whether a method may run for the objects of a class that inherits that of the method.

        It does where nothing stands in its place there, and where a method there calls what it stands in the place of.
        """
        if method.cls is None or method.parent is not None:
            return True
        name = method.node.name
        if self._walker.project.method(cls, name) is method:
            return True
        between = (base for base in self._walker.project.ancestors(cls) if isinstance(base, Class))
        methods = (m for base in between if base is not method.cls for m in base.methods.values())
        return any(_asks_another(node, name) for m in methods for node in m.of(ast.Attribute))

    def _of_class(self, cls: Class, name: str) -> Value | None:
        """What a class and its bases give their instances."""
        item = cls, name
        unknown: Value | None = values.UNKNOWN
        return self._look(item, lambda: self._find(cls, name), unknown)

    def _look(self, item: _Item, find: Callable[[], _T], cut: _T) -> _T:
        if item in self._kept:
            return self._kept[item]  # type: ignore[return-value]
        if item in self._passing:
            # What is found with this rests on half of the truth too.
            self._doubt(self._doubtful[item])
            return self._passing[item]  # type: ignore[return-value]
        if item in self._looking:
            self._doubt(item)
            return cut
        self._looking[item] = self._walker.depth
        try:
            found = find()
        finally:
            del self._looking[item]
        (self._passing if item in self._doubtful else self._kept)[item] = found
        if not self._looking:
            self._passing.clear()
            self._doubtful.clear()
            self._walker.settle()
        return found

    def _doubt(self, item: _Item) -> None:
        """What is looked for since the look for an item began rests on what was unknown of that item."""
        looking = list(self._looking)
        if not looking:
            return
        since = looking.index(item) if item in self._looking else 0
        for other in looking[since + 1 :]:
            before = self._doubtful.get(other)
            if before is None or (before in self._looking and looking.index(before) > since):
                self._doubtful[other] = looking[since]
        self._walker.doubt(self._looking[looking[since]])

    def _find(self, cls: Class, name: str) -> Value | None:
        found: Value | None = None
        for base in self._walker.project.ancestors(cls)[1:]:
            if isinstance(base, Class) and (found := self._of_class(base, name)) is not None:
                break
        found = self._declarations(cls).get(name, found)
        for method in self._methods(cls, name):
            if found is not None and found.is_tensor and _only_augmented(method, name):
                continue  # `+=` writes into the tensor, which stays what it is
            made = _made_of_itself(method, name) if found is not None else frozenset()
            if made and found is not None and (moved := self._moved(found, made)) is not None:
                found = _owned(moved, name)
                continue
            assigned = self._look(method, partial(self._walker.assigned, method), None)
            if assigned is None:
                return values.UNKNOWN
            if name not in assigned:
                continue
            value = _owned(assigned[name], name)
            if method is cls.methods.get("__init__"):
                if self._walker.project.is_module_class(cls):
                    value = _number_of_python(value)
                # A declared tensor (`scale: Tensor` over register_buffer) says more than what is assigned.
                guessed = value.is_tensor and not value.certain and found is not None and found.is_tensor
                found = found if found is not None and (value.is_unknown or guessed) else value
            else:
                if value.is_unknown and name in _registered_names(cls.methods.get("__init__")):
                    value = replace(value, kinds=frozenset({Kind.TENSOR}), certain=False)  # or assigning it fails
                found = value if found is None else _owned(join(found, value), name)
        return found

    def _moved(self, found: Value, methods: Collection[str]) -> Value | None:
        """What becomes of an attribute that takes what its own methods give: `self.x = self.x.to(device)`, `x[1:]`.

        Of a tensor another tensor is made, and a module gives itself. Asking for the attribute would say nothing: it is
        just being looked for. None where the methods may give something else.
        """
        if found.is_tensor:
            tensors = _GIVES_TENSOR.issuperset(methods)
            return replace(found, dtype=None, rank=None, has_dims=False, shape_id=None) if tensors else None
        return found if gives_itself(found, methods, self._walker.project) else None

    def _declarations(self, cls: Class) -> Mapping[str, Value]:
        if cls not in self._declared:
            found: dict[str, Value] = {}
            for node in cls.node.body:
                if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                    value = annotated(node.annotation, cls.module, self._walker.project)
                    if isinstance(node.value, ast.Constant) and node.value.value is None and not value.is_unknown:
                        value = join(value, values.NONE)  # `loss: Tensor = None` in a dataclass
                    found[node.target.id] = _owned(value, node.target.id)
                elif isinstance(node, ast.Assign) and (number := _written_out(node.value)) is not None:
                    found.update((target.id, number) for target in node.targets if isinstance(target, ast.Name))
            self._declared[cls] = found
        return self._declared[cls]

    def _methods(self, cls: Class, name: str) -> Sequence[Function]:
        """The methods that may assign the attribute, `__init__` first."""
        if cls not in self._assigners:
            methods = sorted(cls.methods.values(), key=lambda m: m.node.name != "__init__")
            self._assigners[cls] = [(m, names) for m in methods if (names := _assigned_names(m))]
        return [method for method, names in self._assigners[cls] if name in names or _ANY in names]


def _written_out(node: ast.expr) -> Value | None:
    """The value of a constant, or of what is computed of numbers that stand there, such as `-1` and `10 ** -4`."""
    if isinstance(node, ast.Constant):
        return replace(static(node.value), const=None)  # type: ignore[arg-type]
    if isinstance(node, ast.UnaryOp):
        return _written_out(node.operand)
    if isinstance(node, ast.BinOp):
        parts = _written_out(node.left), _written_out(node.right)
        return values.STATIC if all(part is not None and part.is_(Kind.STATIC) for part in parts) else None
    return None


def _registered_names(init: Function | None) -> frozenset[str]:
    """The buffers and parameters that `__init__` registers on all ways: a module takes no other values for them."""
    if init is None or not init.parameters:
        return frozenset()
    return _registered_in(init.node.body, init.parameters[0].arg)


def _asks_another(node: ast.Attribute, name: str) -> bool:
    """Whether a method is asked of a base, and not of the object: `super().forward`, `Base.forward`."""
    return node.attr == name and not (isinstance(node.value, ast.Name) and node.value.id == "self")


def _registered_in(body: Sequence[ast.stmt], instance: str) -> frozenset[str]:
    """What statements register whatever they decide: in both branches of an `if`, too."""
    names: set[str] = set()
    for statement in body:
        if isinstance(statement, ast.If):
            names |= _registered_in(statement.body, instance) & _registered_in(statement.orelse, instance)
        found = registered(statement.value) if isinstance(statement, ast.Expr) else None
        if found is None or not (isinstance(found.owner, ast.Name) and found.owner.id == instance):
            continue
        if isinstance(found.name, ast.Constant) and isinstance(found.name.value, str):
            names.add(found.name.value)
    return frozenset(names)


_GIVES_TENSOR = frozenset(
    {"to", "cuda", "cpu", "clone", "detach", "contiguous", "float", "double", "half", "bfloat16", "long", "int", "bool"}
    | {"reshape", "view", "flatten", "squeeze", "unsqueeze", "transpose", "permute", "expand", "repeat", "clamp", "t"}
    | {"__getitem__"}
)
"""Methods of tensors that give a tensor, whatever they are called with."""


def _made_of_itself(method: Function, name: str) -> frozenset[str]:
    """The methods of an attribute whose results a method assigns to it, where it assigns nothing else to it."""
    stores = sum(isinstance(n.ctx, ast.Store) and n.attr == name for n in method.of(ast.Attribute))
    found: list[str] = []
    for statement in method.of(ast.Assign):
        target, value = statement.targets[0], statement.value
        if len(statement.targets) > 1 or not (isinstance(target, ast.Attribute) and target.attr == name):
            continue
        called = value.func if isinstance(value, ast.Call) else None
        own = ast.unparse(target)
        if isinstance(called, ast.Attribute) and ast.unparse(called.value) == own:
            found.append(called.attr)
        elif isinstance(value, ast.Subscript) and ast.unparse(value.value) == own:
            found.append("__getitem__")
    return frozenset(found) if len(found) == stores and not _registers(method) else frozenset()


def _only_augmented(method: Function, name: str) -> bool:
    """Whether a method gives the attribute no other object, but for `+=` and the like."""
    stores = sum(isinstance(n.ctx, ast.Store) and n.attr == name for n in method.of(ast.Attribute))
    targets = (n.target for n in method.of(ast.AugAssign))
    augmented = sum(isinstance(t, ast.Attribute) and t.attr == name for t in targets)
    return stores == augmented and not _registers(method)


def _registers(method: Function) -> bool:
    """Whether a method registers buffers or parameters."""
    return any(registered(node) is not None for node in method.of(ast.Call))


def _assigned_names(method: Function) -> frozenset[str]:
    """The attributes of its first argument that a method may assign."""
    if not method.parameters:
        return frozenset()
    instance = method.parameters[0].arg
    names = {
        node.attr
        for node in method.of(ast.Attribute)
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == instance
    }
    for node in method.of(ast.Call):
        if (found := registered(node)) is not None:
            known = isinstance(found.name, ast.Constant) and isinstance(found.name.value, str)
            names.add(found.name.value if known else _ANY)  # type: ignore[union-attr]
    return frozenset(names)


def _owned(value: Value, name: str) -> Value:
    """The value as an attribute: outside callers can reach its memory, and another call may have replaced it."""
    leaves = (
        frozenset({f"self.{name}"})
        if value.may_be(Kind.TENSOR) and value.dtype not in ("bool", "int")
        else values.NOTHING
    )
    return replace(
        value,
        origin=True,
        dtype_id=None,
        shape_id=value.shape_id if value.has_one_element else None,
        storage=frozenset({f"self.{name}"}),
        leaves=leaves,
        element=value.element and _held(value.element),
        elements=value.elements and tuple(map(_held, value.elements)),
    )


def _number_of_python(value: Value) -> Value:
    """A number that a module is made with: `int(size)`, `t.item()`. Modules are not made in compiled code."""
    cast = value.is_unknown and value.dtype in ("bool", "int", "float") and Kind.TENSOR not in value.kinds
    return Value(frozenset({Kind.STATIC}), dtype=value.dtype) if cast or value.is_(Kind.NUMBER) else value


def _held(item: Value) -> Value:
    """An item of a list or dict that is an attribute: which tensor it is, and whose gradient it gets, is not known."""
    if item.element is not None or item.elements:
        inner = item.elements and tuple(map(_held, item.elements))
        item = replace(item, element=item.element and _held(item.element), elements=inner)
    if not item.may_be(Kind.TENSOR) or item.dtype in ("bool", "int"):
        return item
    return replace(item, leaves=item.leaves | {ANY_LEAF})
