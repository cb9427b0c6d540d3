"""Calls: which function, class or module is called, and what comes back."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from compilefix.analysis import autocast, torch_api, values
from compilefix.analysis.array_namespaces import of_namespace
from compilefix.analysis.builtin_calls import array_method_result
from compilefix.analysis.einops_calls import LAYERS, layer_result
from compilefix.analysis.function_facts import Env
from compilefix.analysis.in_place_functions import translated
from compilefix.analysis.known_calls import method_only_keeps, method_only_reads
from compilefix.analysis.leaves import leaf_of, place_of_item
from compilefix.analysis.module_calls import (
    asks_for_complex,
    gives_itself,
    made_module,
    makes_module,
    module_result,
    takes_only_floats,
)
from compilefix.analysis.named_calls import PERHAPS_ARRAY, NamedCalls, gives_arrays
from compilefix.analysis.narrowing import asked_for_tensors
from compilefix.analysis.operators import element_of, opaque, picked, stored_callable, tensor_attribute
from compilefix.analysis.summaries import filled, from_summary, given_to, gives_all, memory_of, passed
from compilefix.analysis.values import Kind, Value, join, join_all, number, replace
from compilefix.analysis.walk import CHANGES
from compilefix.source.definitions import Class, Function

_SHAPE_METHODS = {
    "size": values.SHAPE,
    "stride": values.container(values.SIZE),
    "dim": values.SIZE,
    "numel": values.SIZE,
    "nelement": values.SIZE,
    "ndimension": values.SIZE,
}
_TENSOR = frozenset({Kind.TENSOR})
_CONTAINERS_TOO = frozenset({"Tensor.add", "Tensor.index", "Tensor.sort", "Tensor.values"})
_REDUCTIONS = frozenset({"sum", "mean", "prod", "std", "var", "argmax", "argmin", "amax", "amin"})


class Calls(NamedCalls):
    """The values of calls."""

    def _call(self, node: ast.Call, env: Env) -> Value:
        super_method = self._super_call(node)
        receiver: Value | None = None
        if super_method is not None:
            callee = replace(values.FUNCTION, ref=super_method.full_name)
        else:
            callee = self.eval(node.func, env)
            if isinstance(node.func, ast.Attribute):
                receiver = self.facts.value(node.func.value)
        args = [self.eval(a.value if isinstance(a, ast.Starred) else a, env) for a in node.args]
        keywords = {k.arg: self.eval(k.value, env) for k in node.keywords}
        name = callee.ref if callee.ref != values.NO_TENSOR else None
        operands = [*args, *keywords.values()]
        if (
            (receiver is None or not receiver.is_tensor or not receiver.certain)
            and of_namespace(node, self.namespaces)
            and not all(value.is_(Kind.STATIC, Kind.SIZE) for value in args)
        ):
            return replace(opaque(self.place(node), operands), kinds=values.ARRAYS, certain=False)
        if (
            name in _CONTAINERS_TOO
            and receiver is not None
            and receiver.kinds > _TENSOR
            and Kind.CONTAINER in receiver.kinds
        ):
            # `config["counts"].values()`: the dictionary may hold tensors, and other dictionaries.
            attr = name.removeprefix("Tensor.")
            other = self._unknown_method(node, attr, replace(receiver, kinds=receiver.kinds - _TENSOR), operands, env)
            return join(self._call_method(node, attr, replace(receiver, kinds=_TENSOR), args, keywords, env), other)
        if Kind.NONE in callee.kinds and callee.kinds - values.NONE.kinds == values.OBJECT:
            callee = callee.without(Kind.NONE)  # None cannot be called
        if name is not None:
            self.facts.refs[node] = name
        if name is not None and callee.kinds == values.OBJECT:
            return self._call_object(node, callee, args, operands, env)
        if name is None and callee.elements and (made := self._one_of(node, callee, args, operands)) is not None:
            self._handed_over(operands, env, self.place(node))
            return made
        if name is None and (given := self._given_by_one_of(node, callee, operands)) is not None:
            # Which of them runs is not known, nor what it does to what it is given.
            held = self._into_unknown(node, operands, env)
            return replace(given, storage=held.storage, leaves=held.leaves)
        if name is None:
            if callee.kinds == values.OBJECT:
                self._one_is_called(node, callee, operands)
            if isinstance(node.func, ast.Attribute) and receiver is not None:
                self._method_of_one(node, node.func.attr, receiver, operands)
                if stored_callable(callee, receiver):
                    held = replace(callee, storage=callee.storage - self.escaped)
                    return self._into_unknown(node, [held, *operands], env)
                return self._unknown_method(node, node.func.attr, receiver, operands, env)
            # What is made inside of this function hands out what it was made with.
            captured = [callee] if callee.kinds == values.FUNCTION.kinds and callee.storage else []
            result = self._into_unknown(node, [*captured, *operands], env)
            return replace(result, kinds=values.OBJECT) if self._makes_record(node.func) else result
        if name.startswith("Tensor.") and receiver is not None:
            return self._call_method(node, name.removeprefix("Tensor."), receiver, args, keywords, env)
        found = self._nested(name) if "<locals>" in name else self.project.resolve(name)
        if isinstance(found, Function):
            return self._call_function(node, found, operands, env)
        if isinstance(found, Class):
            self._handed_over(operands, env, self.place(node))
            self._constructor(node, found, operands)
            if self.project.method(found, "__new__") is not None:
                return opaque(self.place(node), operands)
            return _construct(found, operands, self.place(node))
        if isinstance(found, str):
            return self._call_named(node, found, args, keywords, env)
        return self._into_unknown(node, operands, env)

    def _makes_record(self, func: ast.expr) -> bool:
        """Whether what is called is what `namedtuple("Point", "x y")` gave a name in a module of the project."""
        if not isinstance(func, ast.Name) or func.id in self.locals:
            return False
        head, _, last = (self.module.imported(func.id) or f"{self.module.name}.{func.id}").rpartition(".")
        module = self.project.modules.get(head)
        source = module.assigns.get(last) if module is not None else None
        name = module.qualified(source.func) if module is not None and isinstance(source, ast.Call) else None
        return name in ("collections.namedtuple", "typing.NamedTuple")

    def _nested(self, name: str) -> Function | str:
        """A function that is defined inside another one of this module."""
        return next((f for f in self.module.all_functions if f.full_name == name), name)

    def _super_call(self, node: ast.Call) -> Function | None:
        func = node.func
        if not isinstance(func, ast.Attribute) or not isinstance(func.value, ast.Call):
            return None
        called = func.value.func
        if not isinstance(called, ast.Name) or called.id != "super" or self.function.cls is None:
            return None
        return self.project.method(self.function.cls, func.attr, after=self.function.cls)

    def _call_function(self, node: ast.Call, found: Function, operands: Sequence[Value], env: Env) -> Value:
        self.facts.calls[node] = found
        self._handed_over(operands, env, self.place(node))
        if isinstance(node.func, ast.Attribute) and not self._is_own(node.func):
            holder = self.facts.value(node.func.value)
            if holder.is_(Kind.OBJECT):
                self.changed(holder, None, env, self.place(node))  # the lists that were put into its attributes
        self._written_by(found, node, operands, env)
        if found.cls is not None and self.self_name is not None:
            # A method may assign any attribute.
            own = f"{self.self_name}."
            for key in [k for k in env if k.startswith(own)]:
                del env[key]
        arguments = passed(node, found, operands)
        if arguments:
            self.inference.called_with(found, arguments)
            self.narrow_declared(node, found, arguments, env)
        closure = found.parent is not None
        # What a call gives whose result nobody uses need not be known.
        summary = values.UNKNOWN if node is self.dropped else self._summary(found, arguments)
        if not summary.is_unknown and self._is_own(node.func):
            summary = self._or_instead(summary, found)
        # An item of a list that another method has made is not new either.
        known = (f"{found.qualname}@", "param:", "self.", "global.")
        kept = found.is_memoized or any(not token.startswith(known) for token in memory_of(summary))
        given = given_to(node, found, operands, self.facts)
        func = node.func
        owner = self.facts.value(func.value) if isinstance(func, ast.Attribute) else None
        if owner is not None and not owner.is_(Kind.OBJECT):
            owner = None
        result = from_summary(
            self.place(node), summary, operands, arguments=given, closure=closure, kept=kept, owner=owner
        )
        handed = found.hands_back
        if handed is None or arguments is None or handed not in arguments or node is self.dropped:
            return result
        if self.inference.written_in_place(found):
            return result  # `x.unsqueeze_(0)` gives it another shape
        return _handed_back(arguments[handed], result)

    def _is_own(self, func: ast.expr) -> bool:
        """Whether a method of the object itself is called, which may be of a subclass."""
        return isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id == self.self_name

    def _or_instead(self, summary: Value, method: Function) -> Value:
        """What a method returns, or what a subclass in the same file has in its place returns."""
        for other in self.project.overriding(method):
            instead = self.inference.summary(other)
            uncertain = instead.is_unknown and summary.is_tensor
            summary = replace(summary, certain=False) if uncertain else join(summary, instead)
        return summary

    def _summary(self, found: Function, arguments: Mapping[str, Value] | None) -> Value:
        """What a function returns to this caller: where it passes no tensors, those of other callers do not count."""
        summary = self.inference.summary(found)
        if arguments and any(
            v is not None and v.sometimes_tensor for v in (summary.element, *(summary.elements or ()))
        ):
            asked = (name for name in asked_for_tensors(found) if name in arguments)
            return _without_tensors(summary, {f"param:{name}" for name in asked if arguments[name].is_unknown})
        if Kind.TENSOR in summary.kinds and not summary.is_tensor and arguments:
            asked = (name for name in asked_for_tensors(found) if name in arguments)
            sizes = frozenset(name for name in asked if arguments[name].is_(Kind.SIZE) and arguments[name].certain)
            if sizes:
                return self.inference.with_sizes(found, sizes)
        if summary.certain or Kind.TENSOR not in summary.kinds or not arguments:
            return summary
        leaves = {leaf_of(name) for name in summary.leaves}
        hinted = self.inference.hinted(found)
        from_them = {name for name in hinted if name in leaves or f"param:{name}" in summary.storage}
        guessed = [arguments[name] for name in from_them if name in arguments]
        if not guessed or any(Kind.TENSOR in v.kinds for v in guessed):
            return summary
        return replace(summary, kinds=values.UNKNOWN.kinds, elements=None, element=None)

    def _call_object(
        self, node: ast.Call, callee: Value, args: Sequence[Value], operands: Sequence[Value], env: Env
    ) -> Value:
        assert callee.ref is not None
        path = self.key(node.func) or ast.unparse(node.func)
        extra = frozenset({path})
        cls = self.project.resolve(callee.ref)
        if isinstance(cls, Class):
            self._handed_over(operands, env, self.place(node))
            # What the class itself does round `forward` may give anything.
            own = self.project.method(cls, "__call__") is not None
            module = self.project.is_module_class(cls)
            for name in ("__call__",) if own and not module else ("forward", "__call__"):
                method = self.project.method(cls, name)
                if method is not None:
                    self.facts.calls[node] = method
                    arguments = passed(node, method, operands)
                    if arguments:
                        self.inference.called_with(method, arguments)
                        self.narrow_declared(node, method, arguments, env)
                    summary = values.UNKNOWN if own and name == "forward" else self.inference.summary(method)
                    self._float_arguments(node, method, args)
                    self._written_by(method, node, operands, env)
                    given = given_to(node, method, operands, self.facts)
                    return from_summary(self.place(node), summary, operands, extra, given, owner=callee)
            return opaque(self.place(node), operands)
        self.narrow_arguments(node.args[:1], env)
        if callee.ref == "torch.nn.Sequential" and callee.elements and len(args) == 1:
            result = args[0]
            for position, element in enumerate(callee.elements):
                if not element.is_(Kind.OBJECT) or element.ref is None:
                    return opaque(self.place(node), operands)
                result = self._call_object(node, element, [result], [result], env)
                result = replace(
                    result,
                    dtype_id=f"{result.dtype_id}.{position}",
                    shape_id=f"{result.shape_id}.{position}" if result.shape_id != "()" else "()",
                )
            return replace(result, leaves=result.leaves | extra)
        if callee.ref in LAYERS and args and (args[0].is_tensor or args[0].is_unknown):
            return layer_result(args, self.place(node))
        api = torch_api.module(callee.ref)
        if api is None:
            return opaque(self.place(node), operands)
        if args and args[0].is_tensor and takes_only_floats(callee.ref):
            self.facts.float_only.append((node, args[0]))
        result = module_result(callee.ref, api, args, operands, path, self.place(node))
        if result.dtype_id is None or result.dtype in ("bool", "int"):
            return result
        kind = callee.ref.rpartition(".")[2]
        return replace(result, dtype_id=autocast.of_module(result.dtype_id, kind, self.autocast_region))

    def _constructor(self, node: ast.Call, cls: Class, operands: Sequence[Value]) -> None:
        method = self.project.method(cls, "__init__")
        if method is None:
            # What the constructor of a dataclass runs at its end.
            if (last := self.project.method(cls, "__post_init__")) is not None:
                self.facts.constructed[node] = last
            return
        if arguments := passed(node, method, operands):
            self.inference.called_with(method, arguments)
        if not self.project.is_module_class(cls):
            self.facts.constructed[node] = method

    def _one_of(self, node: ast.Call, callee: Value, args: Sequence[Value], operands: Sequence[Value]) -> Value | None:
        """One of several classes is called: an object of one of them. None where others may be called instead."""
        if callee.kinds not in (values.CLASSES, values.FUNCTION.kinds):
            return None
        made: list[Value] = []
        for value in callee.elements or ():
            found = self.project.resolve(value.ref) if value.ref is not None else None
            if isinstance(found, Class):
                self._constructor(node, found, operands)
                made.append(_construct(found, operands, self.place(node)))
            elif isinstance(found, str) and makes_module(found):
                made.append(made_module(found, node, args, self.place(node)))
            elif isinstance(found, Function) and callee.kinds == values.FUNCTION.kinds:
                # A `partial` gives it the rest, by keywords.
                if arguments := passed(node, found, operands):
                    self.inference.called_with(found, arguments)
                return None
            elif isinstance(found, str) and gives_arrays(found):
                made.append(PERHAPS_ARRAY)
            else:
                return None
        if callee.kinds == values.CLASSES:  # other code may have put another one into the table
            return replace(opaque(self.place(node), operands), kinds=values.OBJECTS, elements=tuple(made))
        return join_all(made)

    def _given_by_one_of(self, node: ast.Call, callee: Value, operands: Sequence[Value]) -> Value | None:
        """The tensor that each of several functions gives of which one is called: `test = a if flat else b`.

        None where one of them gives something else, or others may be called instead.
        """
        if callee.kinds != values.FUNCTION.kinds or len(callee.elements or ()) < 2:
            return None
        given: list[Value] = []
        for value in callee.elements or ():
            found = self.project.resolve(value.ref) if value.ref is not None else None
            if not isinstance(found, Function) or found.cls is not None or found.parent is not None:
                return None
            if (arguments := passed(node, found, operands)) is None or not gives_all(arguments, found):
                return None
            given.append(self._summary(found, arguments))
        result = join_all(given)
        same = replace(values.tensor(dtype=result.dtype, rank=result.rank), certain=result.certain)
        return replace(same, has_dims=result.dimensioned) if result.is_tensor else None

    def _method_of_one(self, node: ast.Call, attr: str, receiver: Value, operands: Sequence[Value]) -> None:
        """A method of an object of one of several classes is called: each may be the one that gets the arguments."""
        if receiver.kinds not in (values.OBJECTS, values.OBJECT) or receiver.ref is not None:
            return
        for value in receiver.elements or ():
            cls = self.project.resolve(value.ref) if value.ref is not None else None
            method = self.project.method(cls, attr) if isinstance(cls, Class) else None
            self._may_be_given(node, method, operands)

    def _one_is_called(self, node: ast.Call, callee: Value, operands: Sequence[Value]) -> None:
        """A module of one of several classes is called: each may be the one that gets the arguments."""
        for value in callee.elements or ():
            cls = self.project.resolve(value.ref) if value.ref is not None else None
            method = self.project.method(cls, "forward") if isinstance(cls, Class) else None
            self._may_be_given(node, method, operands)

    def _may_be_given(self, node: ast.Call, method: Function | None, operands: Sequence[Value]) -> None:
        """Note what one of several methods gets, if the call fits it: with too few arguments it is another one's."""
        arguments = passed(node, method, operands) if method is not None else None
        if method is not None and arguments and gives_all(arguments, method):
            self.inference.called_with(method, arguments)

    def _float_arguments(self, node: ast.Call, method: Function, args: Sequence[Value]) -> None:
        floats = self.inference.float_parameters(method)
        parameters = filled(node, method)
        for arg, parameter in zip(args, parameters, strict=False):
            if parameter.arg in floats and arg.is_tensor:
                self.facts.float_only.append((node, arg))

    def _unknown_method(self, node: ast.Call, attr: str, receiver: Value, operands: Sequence[Value], env: Env) -> Value:
        """A method that neither the API table nor the project tells: of a container, an array, a text, or anything."""
        listed = receiver.is_(Kind.CONTAINER, Kind.NONE) and not receiver.is_(Kind.NONE)
        if attr in CHANGES and (listed or receiver.is_unknown):
            position = {"append": 0, "insert": 1, "setdefault": 1}.get(attr)
            item = operands[position] if position is not None and position < len(operands) else None
            only_moved = attr in ("pop", "remove", "clear", "reverse", "sort")
            self.changed(receiver, receiver.element if only_moved else item, env, self.place(node))
        if receiver.is_(Kind.NDARRAY) and (made := array_method_result(attr)) is not None:
            return replace(made, storage=receiver.storage) if made.is_(Kind.NDARRAY) else made
        if receiver.is_unknown and (told := self._told_by_name(node, attr, receiver, operands, env)) is not None:
            return told
        adds = attr in ("append", "insert", "extend", "add_module", "register_module")
        if adds and receiver.ref in ("torch.nn.ModuleList", "torch.nn.Sequential"):
            for item in operands[-1:]:
                self.put_into(node.func, receiver, element_of(item) if attr == "extend" else item, env)
        if (held := _held(attr, receiver, operands)) is not None:
            if attr not in ("get", "pop", "setdefault"):
                return held
            key = operands[0].const if operands and attr != "pop" else None  # each `pop` gives another one
            return picked(held, self.place(node) if key is None else place_of_item(key.value))
        if attr == "format" or (
            receiver.is_(Kind.STATIC) and attr in ("lower", "upper", "strip", "startswith", "endswith", "split", "join")
        ):
            return values.STATIC
        if receiver.is_unknown or receiver.may_be(Kind.OBJECT):
            self._handed_over(operands, env, self.place(node))
            if not method_only_reads(attr) and not method_only_keeps(attr):
                self.perhaps_written(memory_of(receiver).union(*map(memory_of, operands)), env, self.place(node))
        if gives_itself(receiver, (attr,), self.project) and not asks_for_complex(operands):
            return receiver
        return opaque(self.place(node), [receiver, *operands])

    def _told_by_name(
        self, node: ast.Call, attr: str, receiver: Value, operands: Sequence[Value], env: Env
    ) -> Value | None:
        """What a method of a value of unknown kind gives, where its name leaves little doubt."""
        if attr in _SHAPE_METHODS:
            one = attr in ("size", "stride") and (node.args or node.keywords)
            return values.SIZE if one else _SHAPE_METHODS[attr]
        if receiver.ref == values.NO_TENSOR:
            return None
        bare = attr in torch_api.BARE_TENSOR_METHODS and not node.args and not node.keywords
        if bare or attr in torch_api.TENSOR_ONLY_METHODS:
            api = torch_api.method(attr)
            if api is not None and api.returns == "Tensor":
                owner = replace(receiver, kinds=frozenset({Kind.TENSOR}), certain=receiver.certain and not bare)
                return self._call_method(node, attr, owner, list(operands), {}, env)
        if _reduces(attr, node, operands):
            rank = None if node.args or node.keywords else 0
            return replace(opaque(self.place(node), [receiver]), kinds=values.ARRAYS, rank=rank, certain=False)
        if (
            attr in ("any", "all")  # arrays have these too, and are tensors to Dynamo; of uint8 they give uint8
            or (not node.keywords and len(node.args) == {"abs": 0, "dot": 1}.get(attr, -1))
            or (attr == "norm" and all(v.is_static for v in operands))  # no array has it
        ):
            return replace(opaque(self.place(node), [receiver]), kinds=_TENSOR, certain=False)
        return None

    def _written_by(self, found: Function, node: ast.Call, operands: Sequence[Value], env: Env) -> None:
        """A function of the project was called: what it writes into in place may hang on other tensors now.

        What it gives another shape, dtype or memory in place is not known to be as it was.
        """
        given = values.NOTHING.union(*map(memory_of, operands))
        if found.parent is None and not self.would_hang(given, env):
            return  # to find out what the function writes into means to look at all that it calls
        other = translated(self.inference.reshaped_in_place(found), node, found, operands, self.facts)
        self.reshapes_others(other, given, env)
        into = translated(self.inference.written_in_place(found), node, found, operands, self.facts)
        self.perhaps_written(into, env, self.place(node))

    def _call_method(
        self,
        node: ast.Call,
        attr: str,
        receiver: Value,
        args: Sequence[Value],
        keywords: Mapping[str | None, Value],
        env: Env,
    ) -> Value:
        if attr == "size":
            return values.SIZE if args or keywords else tensor_attribute("shape", receiver, self.place(node))
        if attr in _SHAPE_METHODS:
            return values.SIZE if attr == "stride" and (args or keywords) else _SHAPE_METHODS[attr]
        if attr == "item":
            return number(receiver.dtype, receiver.certain)
        if not receiver.certain and receiver.is_tensor and attr in torch_api.TENSOR_ONLY_METHODS:
            receiver = replace(receiver, certain=True)  # whatever it rested on, nothing else has this method
        if attr == "tolist":
            if receiver.rank == 0:
                return number(receiver.dtype, receiver.certain)
            listed = values.container(number(receiver.dtype, receiver.certain) if receiver.rank == 1 else None)
            return replace(listed, kinds=listed.kinds | {Kind.NUMBER}) if receiver.rank is None else listed
        if attr == "numpy":
            return replace(values.NDARRAY, storage=receiver.storage)
        api = torch_api.method(attr)
        if api is None or attr in ("storage", "untyped_storage"):
            return opaque(self.place(node), [receiver, *args])
        result = self._apply(node, api, [receiver, *args], keywords, attr)
        if api.mutates and isinstance(node.func, ast.Attribute):
            self._now_hangs_on(node, node.func.value, receiver, result, env)
            self._now_shaped(node.func.value, attr, receiver, result, env)
        return result


def _held(attr: str, receiver: Value, operands: Sequence[Value]) -> Value | None:
    """What a list, or something with keys, gives of what it holds."""
    container = receiver.is_(Kind.CONTAINER)
    if container or receiver.ref == "torch.nn.ModuleDict":
        element = receiver.element if receiver.element is not None else values.UNKNOWN
        if attr == "values":
            return replace(values.container(element), storage=receiver.storage)  # shows what is changed later
        if attr == "keys":
            return values.container(values.STATIC)
        if attr == "items":
            pair = values.container(elements=(values.STATIC, element))
            return replace(values.container(pair), storage=receiver.storage)
    if attr in ("get", "pop", "setdefault") and container and receiver.element is not None:
        return join_all((receiver.element, *operands[1:])) if operands[1:] else join(receiver.element, values.NONE)
    return None


def _reduces(attr: str, node: ast.Call, operands: Sequence[Value]) -> bool:
    """Whether a method of something unknown reduces an array to a value, or along one dimension."""
    if attr in ("max", "min"):
        return not node.args and not node.keywords
    return attr in _REDUCTIONS and len(node.args) < 2 and all(v.is_static for v in operands)


def _construct(cls: Class, operands: Sequence[Value], place: str) -> Value:
    return replace(
        values.ANY_OBJECT,
        ref=cls.full_name,
        storage=frozenset({place}).union(*map(memory_of, operands)),
        leaves=values.NOTHING.union(*[v.leaves for v in operands]),
    )


def _handed_back(given: Value, result: Value) -> Value:
    """What a function returns that gives back the very thing that it was given, or fails."""
    if given.is_unknown:
        return result if result.is_tensor else replace(result, kinds=given.kinds, elements=None, element=None)
    return replace(given, storage=given.storage | result.storage, leaves=given.leaves | result.leaves, const=None)


def _without_tensors(container: Value, memory: AbstractSet[str]) -> Value:
    """A container that is returned, where it holds what was given: a tensor only if the function is given one."""

    def given(item: Value) -> Value:
        handed_back = item.sometimes_tensor and not memory.isdisjoint(item.storage)
        return replace(values.UNKNOWN, storage=item.storage, leaves=item.leaves) if handed_back else item

    element = None if container.element is None else given(container.element)
    elements = None if container.elements is None else tuple(map(given, container.elements))
    return replace(container, element=element, elements=elements)
