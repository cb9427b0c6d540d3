"""What calls write into: functions of the project, those of torch and Python, and what is not known."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from compilefix.analysis import torch_api
from compilefix.analysis.effects import asks_for_in_place, is_exception
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.infer import Inference
from compilefix.analysis.known_calls import (
    array_method_writes,
    array_result_given,
    method_only_keeps,
    method_only_reads,
    only_reads,
)
from compilefix.analysis.live_code import is_noted
from compilefix.analysis.module_calls import makes_module, makes_new, may_be_switched, switching_in_place
from compilefix.analysis.operators import stored_callable
from compilefix.analysis.summaries import given_to, is_super, memory_of
from compilefix.analysis.values import ANY_MEMORY, LEAKED, OWN, Kind, Value, of_other, replace
from compilefix.analysis.written_memory import (
    ALONE,
    ANY_OUTSIDE,
    NONE,
    NOTHING,
    OUTSIDE,
    PLAIN,
    Writes,
    memory_of_all,
    unknown_call,
    written_memory,
)
from compilefix.source.definitions import Class, Function

_HARMLESS_BASES = ("object", "abc.", "enum.", "typing.", "collections.", "torch.nn.", "dict", "list", "tuple", "str")
_OF_OBJECTS = ("__len__", "__iter__", "__next__", "__getitem__", "__contains__", "__bool__", "__float__", "__int__")


class CallWrites(ABC):
    """Writes of calls."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.project = inference.project

    @abstractmethod
    def of_function(self, function: Function) -> Writes:
        """What a call of a function does, by its own names for memory: `param:x` is what it is given for `x`."""

    def method(self, owner: Value, names: Sequence[str], given: Sequence[Value]) -> Writes:
        """Methods that Python calls for an operator, of an object of a class of the project."""
        cls = self.project.resolve(owner.ref) if owner.ref is not None and owner.may_be(Kind.OBJECT) else None
        if not isinstance(cls, Class):
            return NONE
        does = NONE
        for name in names:
            method = self.project.method(cls, name)
            if method is not None:
                does = does | self.translated(method, owner, None, given)
        return does

    def of_call(self, node: ast.Call, facts: FunctionFacts) -> Writes:
        """What a call does, but for what its arguments do by themselves."""
        if is_noted(node, facts) or is_super(node):
            return NONE
        name = facts.callee(node) or ""
        callee = facts.calls.get(node)
        args = [facts.value(a.value if isinstance(a, ast.Starred) else a) for a in node.args]
        operands = [*args, *(facts.value(k.value) for k in node.keywords)]
        called = facts.value(node.func)
        receiver = facts.value(node.func.value) if isinstance(node.func, ast.Attribute) else None
        if called.is_(Kind.OBJECT) and called.ref == "torch.nn.Sequential" and called.elements:
            return self._chain(called.elements, operands)
        if callee is not None:
            does = self._into_project(node, callee, receiver, operands, facts)
            return does | self.method(called, ("__call__",), operands) if called.is_(Kind.OBJECT) else does
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__call__" and is_super(node.func.value):
            return NONE  # `nn.Module.__call__` runs `forward`, which counts where the object is called
        if name.startswith("Tensor.") and receiver is not None:
            return self._of_method(node, name.removeprefix("Tensor."), receiver, operands, facts)
        found = self.project.resolve(name) if name else ""
        if isinstance(found, Class) and not called.may_be(Kind.OBJECT):
            return self._made(found, operands)
        api = torch_api.function(name)
        if api is not None:
            return self._of_api(node, api, args, operands, facts)
        module = torch_api.module(name)
        if called.is_(Kind.OBJECT) and module is not None:
            switching = switching_in_place(self.project) if may_be_switched(name) else ()
            if called.inplace or facts.function.module.name in switching:
                return Writes(memory_of_all(args[:1] or operands))
            if facts.function.module.mentions("register_forward_"):
                return unknown_call(operands)  # a hook may write into what the module is given
            return Writes(memory_of(called)) if module.mutates_training else NONE
        if called.may_be(Kind.OBJECT) and not called.is_unknown:
            return unknown_call([*operands, called])
        if name == "setattr":
            into = written_memory(args[0]) if args and Kind.TENSOR in args[0].kinds else NOTHING
            return Writes(into, memory_of_all(operands))
        out = [facts.value(k.value) for k in node.keywords if k.arg == "out"]
        out += args[2:] if array_result_given(name) else []
        if makes_module(name) or is_exception(name) or (name and only_reads(name)):
            key = [facts.value(k.value) for k in node.keywords if k.arg == "key"]
            if name and (key or any(v.ref is not None and v.may_be(Kind.OBJECT) for v in operands)):
                return Writes(memory_of_all(out)) | self._read_objects(operands, bool(key))
            return Writes(memory_of_all(out)) if out else NONE
        if receiver is not None and not name and not stored_callable(called, receiver):
            return self._of_method(node, node.func.attr, receiver, operands, facts)  # type: ignore[attr-defined]
        if name in ("exec", "eval"):
            return Writes(frozenset({ANY_MEMORY, LEAKED}), frozenset({ANY_MEMORY}))
        if receiver is not None and stored_callable(called, receiver):
            held = frozenset(t for t in memory_of(called) if t.startswith(OUTSIDE))
            return unknown_call([*operands, replace(called, storage=held), receiver])
        return unknown_call([*operands, called])

    def _read_objects(self, operands: Sequence[Value], calls_back: bool) -> Writes:
        """`len(box)` runs the method of a class of the project, `sorted(ts, key=f)` what it is given."""
        does = unknown_call(operands) if calls_back else NONE
        for value in operands:
            does = does | self.method(value, _OF_OBJECTS, ())
        return does

    def _chain(self, layers: Sequence[Value], operands: Sequence[Value]) -> Writes:
        """The layers of a `Sequential`: each may be given what the first was given."""
        does = NONE
        for layer in layers:
            cls = self.project.resolve(layer.ref) if layer.ref is not None else None
            if layer.elements and layer.ref == "torch.nn.Sequential":
                does = does | self._chain(layer.elements, operands)
            elif isinstance(cls, Class) and (forward := self.project.method(cls, "forward")) is not None:
                does = does | self.translated(forward, layer, None, operands)
            elif layer.ref is None or (api := torch_api.module(layer.ref)) is None or layer.inplace:
                does = does | unknown_call(operands)
            elif makes_new(layer.ref):
                does = does | Writes(memory_of(layer) if api.mutates_training else NOTHING)
                operands = ()
        return does

    def _of_method(
        self, node: ast.Call, attr: str, receiver: Value, operands: Sequence[Value], facts: FunctionFacts
    ) -> Writes:
        """A method of a tensor, or of something that is not known."""
        out = memory_of_all(facts.value(k.value) for k in node.keywords if k.arg == "out")
        api = torch_api.method(attr)
        if receiver.is_tensor and api is not None:
            given = memory_of_all(operands) if attr in ("set_", "map_", "apply_") else NOTHING
            return Writes(written_memory(receiver) | given) if api.mutates else Writes(out) if out else NONE
        if receiver.is_(Kind.NDARRAY):
            return Writes(written_memory(receiver) | out if array_method_writes(attr) else out)
        if api is not None and api.mutates:
            return unknown_call([receiver, *operands])
        named = method_only_keeps(attr) or method_only_reads(attr)
        if named and operands and not receiver.is_(*PLAIN, Kind.CONTAINER, Kind.TENSOR):
            return unknown_call(operands)  # an object may have methods with the names of others
        if method_only_keeps(attr):
            return Writes(keeps=memory_of_all(operands))
        if named or (receiver.is_(*PLAIN, Kind.CONTAINER) and attr != "sort"):
            return Writes(out) if out else NONE
        if receiver.ref is not None and receiver.ref.startswith("logging."):
            return NONE
        return unknown_call([receiver, *operands])

    def _of_api(
        self, node: ast.Call, api: torch_api.Api, args: Sequence[Value], operands: Sequence[Value], facts: FunctionFacts
    ) -> Writes:
        into = memory_of_all(facts.value(k.value) for k in node.keywords if k.arg == "out")
        if api.mutates or asks_for_in_place(node, facts):
            into |= written_memory(args[0]) if args else memory_of_all(operands)
        if api.mutates_training:
            into |= memory_of_all(operands)
        return Writes(into) if into else NONE

    def _made(self, cls: Class, operands: Sequence[Value]) -> Writes:
        """An object of a class of the project: it keeps what it is given."""
        does = Writes(keeps=memory_of_all(operands))
        bases = [b for b in self.project.ancestors(cls) if isinstance(b, str)]
        if self.project.method(cls, "__new__") is not None or not all(
            b.startswith(_HARMLESS_BASES) or is_exception(b) for b in bases
        ):
            return does | unknown_call(operands)
        for name in ("__init__", "__post_init__"):
            method = self.project.method(cls, name)
            if method is not None:
                does = does | self.translated(method, None, None, operands)
        return does

    def _into_project(
        self,
        node: ast.Call,
        callee: Function,
        receiver: Value | None,
        operands: Sequence[Value],
        facts: FunctionFacts,
    ) -> Writes:
        """A call of a function of the project, or of a method, which a class that inherits it may have overridden."""
        does = NONE
        called = facts.value(node.func)
        owner = called if called.is_(Kind.OBJECT) else receiver
        if owner is None or not owner.is_(Kind.OBJECT):
            owner = called if called.is_(Kind.CALLABLE) and called.storage else None
        if callee.parent is not None:
            inner = self.of_function(callee)
            captured = self._captured(callee)
            into = memory_of_all(operands) | captured | {LEAKED} if inner.into else NOTHING
            return Writes(into, memory_of_all(operands) | captured if inner.keeps else NOTHING)
        func = node.func
        fixed = isinstance(func, ast.Attribute) and (is_super(func.value) or facts.value(func.value).is_(Kind.CALLABLE))
        for method in (callee, *(() if fixed else self.project.overriding(callee))):
            does = does | self.translated(method, owner, given_to(node, method, operands, facts), operands)
        return does

    def _captured(self, callee: Function) -> frozenset[str]:
        """The memory that a nested function has from the functions round it."""
        inner, own = self.inference.facts(callee), {p.arg for p in callee.parameters}
        names = (n for n in callee.of(ast.Name) if isinstance(n.ctx, ast.Load) and n.id not in own)
        return memory_of_all(inner.value(n) for n in names)

    def translated(
        self,
        callee: Function,
        owner: Value | None,
        given: Mapping[str, Sequence[Value]] | None,
        operands: Sequence[Value],
    ) -> Writes:
        """What a callee does, by the caller's names. `given` is None where that is not known of the arguments."""
        summary = self.of_function(callee)
        if not summary.into and not summary.keeps:
            return NONE
        into: set[str] = set()
        keeps: set[str] = set()
        for tokens, memory in ((summary.into, into), (summary.keeps, keeps)):
            for token in tokens:
                if token.startswith("param:"):
                    parts = operands if given is None else given.get(token.removeprefix("param:"), ())
                    memory.update(*map(memory_of, parts))
                    if not all(v.is_(*ALONE) for v in parts) or not parts:
                        memory.add(LEAKED)
                    continue
                memory.add(LEAKED)
                if token in (ANY_MEMORY, ANY_OUTSIDE):
                    memory.add(ANY_OUTSIDE)
                    memory.update(*map(memory_of, operands))
                    continue
                of_self = owner is not None and owner.storage == OWN
                if of_self or owner is None:
                    memory.add(token)
                if not of_self:
                    memory |= of_other(frozenset({token}))
                if owner is not None and token != LEAKED:
                    memory |= memory_of(owner) if not of_self else NOTHING
        return Writes(frozenset(into), frozenset(keeps) - {LEAKED, ANY_OUTSIDE})
