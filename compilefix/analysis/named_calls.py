"""Calls of functions by their full names: those of Python, NumPy and torch, and what is known of others."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from compilefix.analysis import autocast, torch_api, values
from compilefix.analysis.annotations import annotated
from compilefix.analysis.binding import Binding
from compilefix.analysis.builtin_calls import BUILTINS, builtin_result, generator_of, math_result, numpy_result
from compilefix.analysis.einops_calls import LAYERS, einops_result
from compilefix.analysis.foreach_calls import foreach_result, is_foreach
from compilefix.analysis.function_facts import Env
from compilefix.analysis.known_calls import only_reads
from compilefix.analysis.legacy_calls import LEGACY_CONSTRUCTORS, legacy_tensor
from compilefix.analysis.module_calls import asks_for_complex, made_module, makes_module
from compilefix.analysis.operators import opaque
from compilefix.analysis.summaries import from_summary, memory_of
from compilefix.analysis.torch_call import RESHAPES_IN_PLACE, TorchCall
from compilefix.analysis.torch_results import FLOAT_ONLY_FUNCTIONS, torch_result
from compilefix.analysis.values import Kind, Value, join, join_all, replace
from compilefix.source.definitions import Class

_RECURRENT = re.compile(r"rnn|lstm|gru", re.IGNORECASE)
_OF_ARRAYS = ("scipy.", "sklearn.", "skimage.", "cv2.", "networkx.", "pandas.")
# What of these libraries gives an `int` of Python, and neither an array nor a number of NumPy.
_PYTHON_NUMBERS = frozenset(
    {"scipy.fft.next_fast_len", "scipy.fft.prev_fast_len", "scipy.fftpack.next_fast_len"}
    | {f"networkx.{name}" for name in ("number_of_nodes", "number_of_edges", "number_connected_components")}
)
PERHAPS_ARRAY = replace(values.NDARRAY, certain=False)
_OBJECTS = {name: name for name in ("open", "random.Random", "torch.Generator", "torch.finfo", "torch.iinfo")}
_OBJECTS |= {"logging.getLogger": "logging.Logger"}
_FIXED = frozenset(
    {"torch.is_grad_enabled", "torch.is_autocast_enabled", "torch.cuda.is_available", "torch.get_default_dtype"}
    | {"torch.device"}
)


class NamedCalls(Binding):
    """The values of calls of named functions, and what a call of something unknown may do."""

    def _call_named(
        self, node: ast.Call, name: str, args: Sequence[Value], keywords: Mapping[str | None, Value], env: Env
    ) -> Value:
        operands = [*args, *keywords.values()]
        if (found := self._call_python(node, name, args, keywords, env)) is not None:
            return found
        if name in FLOAT_ONLY_FUNCTIONS and args and args[0].is_tensor:
            # These take no tensor without dimensions either.
            self.facts.float_only.append((node, args[0]))
        if name in LEGACY_CONSTRUCTORS:
            return legacy_tensor(name, node, args, operands, self.place(node))
        api = torch_api.function(name)
        if api is not None:
            return self._call_torch(node, name, api, args, keywords, env)
        if is_foreach(name):
            return foreach_result(name, args, operands, self.place(node))
        if name.startswith("Tensor."):
            return self._into_unknown(node, operands, env)
        weights = "_weight" in keywords or asks_for_complex(keywords.values())  # integers or complex numbers, perhaps
        if makes_module(name) and not weights:
            return made_module(name, node, self._named_layers(name, node) or args, self.place(node))
        moved = einops_result(name, args, keywords, self.place(node))
        if moved is not None:
            return moved
        if name in LAYERS:
            return Value(frozenset({Kind.OBJECT}), ref=name)
        if name == "typing.cast" and len(node.args) == 2:
            declared = annotated(node.args[0], self.module, self.project)
            given = args[1]
            known = not given.is_unknown or declared.is_unknown
            return given if known else replace(declared, storage=given.storage, leaves=given.leaves)
        if name in ("copy.deepcopy", "copy.copy") and len(args) == 1 and args[0].is_tensor:
            made = self._into_unknown(node, operands, env)
            copied = values.tensor(certain=False, dtype=args[0].dtype, rank=args[0].rank)
            return replace(copied, storage=made.storage, leaves=made.leaves)
        if name in _OBJECTS:
            return Value(frozenset({Kind.OBJECT}), ref=_OBJECTS[name])
        if name.endswith(".apply"):
            cls = self.project.resolve(name.removesuffix(".apply"))
            if isinstance(cls, Class) and self.project.is_autograd_function(cls):
                forward = self.project.method(cls, "forward")
                if forward is not None:
                    self.facts.calls[node] = forward
                    return from_summary(self.place(node), self.inference.summary(forward), operands)
        if name in _FIXED:
            return values.STATIC
        result = self._into_unknown(node, operands, env)
        if name in _PYTHON_NUMBERS:
            return replace(values.STATIC, dtype="int")
        return replace(PERHAPS_ARRAY, storage=result.storage) if gives_arrays(name) else result

    def _call_python(
        self, node: ast.Call, name: str, args: Sequence[Value], keywords: Mapping[str | None, Value], env: Env
    ) -> Value | None:
        """What a function gives that comes with Python, or with NumPy; None for another one."""
        operands = [*args, *keywords.values()]
        if name == "dict":
            return _made_dict(args, keywords, opaque(self.place(node), operands))
        if name == "functools.partial" and None not in keywords and _is_named_function(args):
            given = opaque(self.place(node), operands)
            return replace(values.FUNCTION, elements=(args[0],), storage=given.storage, leaves=given.leaves)
        if name in ("eval", "exec", "globals", "locals", "vars"):
            return values.UNKNOWN
        if name == "setattr":
            self.escapes(operands)
        if name == "getattr" and (found := self._named_attribute(node, args, env)) is not None:
            return found
        if name in BUILTINS:
            return builtin_result(name, args, self.place(node))
        if name.startswith("math."):
            return math_result(name, args)
        if (kind := generator_of(name)) is not None:
            return Value(frozenset({Kind.OBJECT}), ref=kind)
        return _of_numpy(name, args, keywords) if name.startswith("numpy.") else None

    def _call_torch(
        self,
        node: ast.Call,
        name: str,
        api: torch_api.Api,
        args: Sequence[Value],
        keywords: Mapping[str | None, Value],
        env: Env,
    ) -> Value:
        """What a function of torch gives, and what the call says of its arguments."""
        if api.dtype != "arg" and name not in torch_api.NO_TENSOR_FIRST:
            self.narrow_arguments(node.args[:1], env)
            args = [
                self.facts.value(a)
                if isinstance(a, ast.Name) and i == 0 and env.get(a.id) is not None and env[a.id].is_tensor
                else v
                for i, (a, v) in enumerate(zip(node.args, args, strict=False))
            ] + list(args[len(node.args) :])
            if node.args and isinstance(node.args[0], ast.Name) and node.args[0].id in env:
                args = [env[node.args[0].id], *args[1:]]
        result = self._apply(node, api, args, keywords, name)
        self._written(node, env)
        if api.mutates and node.args and args:
            self._now_hangs_on(node, node.args[0], args[0], result, env)
            self._now_shaped(node.args[0], name, args[0], result, env)
        return result

    def _apply(
        self, node: ast.Call, api: torch_api.Api, args: Sequence[Value], keywords: Mapping[str | None, Value], name: str
    ) -> Value:
        call = TorchCall(name, api, args, keywords, node.args, self.place(node))
        result = torch_result(call)
        if result.dtype_id is None or result.dtype in ("bool", "int") or api.mutates or "dtype" in keywords:
            return result
        return replace(result, dtype_id=autocast.of_operation(result.dtype_id, call.bare, self.autocast_region))

    def _written(self, node: ast.Call, env: Env) -> None:
        """`torch.add(x, 1, out=s)` gives `s` another shape where it does not fit."""
        for keyword in node.keywords:
            key = self.key(keyword.value) if keyword.arg == "out" else None
            if key is not None and key in env and env[key].is_tensor:
                old = env[key]
                self.reshapes_others(old.storage, frozenset(), env)
                env[key] = replace(old, rank=None, has_dims=False, shape_id=self.place(node))

    def _named_attribute(self, node: ast.Call, args: Sequence[Value], env: Env) -> Value | None:
        """`getattr(self, "scale", None)` of an object of the project; None where that says nothing."""
        if len(args) not in (2, 3) or node.keywords or args[0].ref is None:
            return None
        if args[0].ref == "torch.nn" and _RECURRENT.search(f"{ast.unparse(node.args[1])} {self._made_for(node)}"):
            # `getattr(nn, rnn_type)`: another class of torch may be named, too.
            classes = (replace(values.FUNCTION, ref=f"torch.nn.{name}") for name in ("LSTM", "GRU", "RNN"))
            return replace(values.UNKNOWN, kinds=values.CLASSES, elements=tuple(classes))
        if not args[0].is_(Kind.OBJECT):
            return None
        attr = args[1].const.value if args[1].const is not None else None
        if not isinstance(attr, str) or not isinstance(self.project.resolve(args[0].ref), Class):
            return None
        read = ast.copy_location(ast.Attribute(node.args[0], attr, ast.Load()), node)
        found = self.eval(read, env)
        if found.is_unknown:
            return None
        return join(found, args[2]) if len(args) == 3 else found

    def _made_for(self, maker: ast.Call) -> str:
        """What the object of a class found by name is kept as: `self.rnn` of `self.rnn = getattr(nn, name)(3, 4)`."""
        for statement in self.function.of(ast.Assign):
            if isinstance(statement.value, ast.Call) and statement.value.func is maker:
                return ast.unparse(statement.targets[0])
        return ""

    def _named_layers(self, name: str, node: ast.Call) -> Sequence[Value]:
        """The layers of `Sequential(OrderedDict([("first", layer), ...]))`, in the order in which they are called.

        Nothing where another may be put in the place of one: `self.layers.first = nn.Identity()`.
        """
        given = node.args[0] if name.endswith(".Sequential") and len(node.args) == 1 else None
        if not isinstance(given, ast.Call) or self.module.qualified(given.func) != "collections.OrderedDict":
            return ()
        pairs = given.args[0].elts if len(given.args) == 1 and isinstance(given.args[0], ast.List | ast.Tuple) else ()
        layers = {
            pair.elts[0].value: pair.elts[1]
            for pair in pairs
            if isinstance(pair, ast.Tuple) and len(pair.elts) == 2 and isinstance(pair.elts[0], ast.Constant)
        }
        own = self.function.cls.node.name if self.function.cls is not None else self.function.node.name
        setting = self.project.modules.texts.setting
        if len(layers) != len(pairs) or given.keywords or any(setting(str(n), own, self.module.name) for n in layers):
            return ()
        return [self.facts.value(layer) for layer in layers.values()]

    def _into_unknown(self, node: ast.Call, operands: Sequence[Value], env: Env) -> Value:
        """A call of which nothing is known: it may change the lists that it is given, and keep the tensors."""
        self._handed_over(operands, env, self.place(node))
        noted = isinstance(node.func, ast.Name) and node.func.id == "emit"  # a line that goes to the boundary
        if not noted and not only_reads(self.facts.refs.get(node, "")):
            callee = self.facts.value(node.func)  # a bound method has its object
            self.perhaps_written(memory_of(callee).union(*map(memory_of, operands)), env, self.place(node))
        return opaque(self.place(node), operands)

    def _handed_over(self, operands: Sequence[Value], env: Env, place: str) -> None:
        self.escapes(operands)
        for value in operands:
            if value.kinds == values.CONTAINER:
                self.changed(value, None, env, place)

    def _now_hangs_on(self, node: ast.Call, written: ast.expr, value: Value, result: Value, env: Env) -> None:
        """A function of torch has written into a tensor: its gradient goes where that of the result does."""
        if not result.leaves <= value.leaves:
            self.hangs_on(value, result.leaves - value.leaves, env, self.place(node), self.key(written))

    def _now_shaped(self, written: ast.expr, name: str, value: Value, result: Value, env: Env) -> None:
        """A function of torch may have given a tensor another shape in place: `y.unsqueeze_(0)`."""
        if name.rpartition(".")[2] not in RESHAPES_IN_PLACE or not value.is_tensor:
            return
        self.reshapes_others(value.storage, result.storage, env)
        key = self.key(written)
        if key is not None and key in env:
            env[key] = result if result.is_tensor else values.UNKNOWN


def _of_numpy(name: str, args: Sequence[Value], keywords: Mapping[str | None, Value]) -> Value:
    """What a function of NumPy gives, which may lie in the memory of what it is given."""
    found = numpy_result(name, args, keywords)
    shared = values.NOTHING.union(*[v.storage for v in (*args, *keywords.values())])
    if found.element is not None and shared:
        found = replace(found, element=replace(found.element, storage=shared))
    return replace(found, storage=shared) if found.is_(Kind.NDARRAY, Kind.CONTAINER) and shared else found


def _made_dict(args: Sequence[Value], keywords: Mapping[str | None, Value], unknown: Value) -> Value:
    """The dictionary that `dict(...)` makes, which in part may be `unknown`."""
    hidden = [unknown] if args or None in keywords else []
    parts = [*hidden, *(value for key, value in keywords.items() if key is not None)]
    made = values.container(join_all(parts) if parts else None, ref="dict")
    return replace(made, storage=unknown.storage, leaves=unknown.leaves)


def _is_named_function(args: Sequence[Value]) -> bool:
    """Whether a function that has a name is all that is given."""
    return len(args) == 1 and args[0].kinds == values.FUNCTION.kinds and args[0].ref is not None


def gives_arrays(name: str) -> bool:
    """Whether a function of a library makes no tensor of one: some of `scipy.special` give what they are given."""
    return name.startswith(_OF_ARRAYS) and not name.startswith("scipy.special.")
