"""What evaluating an expression or calling a function does besides giving a value."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from compilefix.analysis import torch_api
from compilefix.analysis.decorated import unknown_decorator
from compilefix.analysis.given_constants import constants_of, left_out
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.legacy_calls import LEGACY_CONSTRUCTORS
from compilefix.analysis.live_code import is_noted, live_nodes
from compilefix.analysis.module_calls import makes_new, may_be_switched, switching_in_place
from compilefix.analysis.run_by_python import special_methods
from compilefix.analysis.summaries import passed
from compilefix.analysis.unseen import changes_container, changes_own_list, is_own, said_sometimes, writes_own_memory
from compilefix.analysis.values import Kind, Value
from compilefix.source.definitions import Class, Function
from compilefix.source.operators import SYMBOLS
from compilefix.source.tree import elements_of

_PURE_BUILTINS = frozenset(
    {
        "len",
        "isinstance",
        "hasattr",
        "callable",
        "issubclass",
        "any",
        "all",
        "range",
        "slice",
        "enumerate",
        "zip",
        "list",
        "tuple",
        "reversed",
        "sorted",
        "set",
        "dict",
        "str",
        "repr",
        "type",
        "id",
        "format",
        "hash",
        "getattr",
        "min",
        "max",
        "abs",
        "round",
        "sum",
        "float",
        "int",
        "bool",
        "complex",
        "pow",
        "torch.finfo",
        "torch.iinfo",
        "torch.device",
        "torch.is_grad_enabled",
    }
)
_PURE_TEXT_METHODS = frozenset({"join", "lower", "replace", "split", "startswith", "endswith", "strip", "upper"})
_CHAIN = "torch.nn.Sequential"
_READS = frozenset({"tolist", "item"})
"""What no tensor or array does more by than be read, whatever else of it is not known."""
_READING_BUILTINS = frozenset({"float", "int", "bool", "complex"})
_RAISING_BUILTINS = frozenset({"min", "max", "getattr", "pow"})


@dataclass(frozen=True)
class Effects:
    """What a piece of code may do. Each is None, or the reason: which operation does it, in words for a message.

    random: draws random numbers. mutates: writes into a tensor, an attribute, a global or a container.
    host: prints, logs, or reads a tensor's value. always: the part of `host` that is more than a log line or warning
    which a called function writes under a condition. raises: may raise for some tensor values. checks: the part of
    `raises` that a called function is written to do: an exception for what a test of tensors finds.
    unknown: calls something that the analysis knows nothing of.
    """

    random: str | None = None
    mutates: str | None = None
    host: str | None = None
    always: str | None = None
    raises: str | None = None
    unknown: str | None = None
    checks: str | None = None

    def __or__(self, other: Effects) -> Effects:
        return Effects(
            self.random or other.random,
            self.mutates or other.mutates,
            self.host or other.host,
            self.always or other.always,
            self.raises or other.raises,
            self.unknown or other.unknown,
            self.checks or other.checks,
        )

    @property
    def repeatable(self) -> bool:
        """Whether the code may run once more: it gives the same value, and nothing else happens."""
        return not (self.random or self.mutates or self.host or self.unknown)


PURE = Effects()


_WAY = re.compile(r"((?:the property )?`[^`]*`)(?:, by way of ((?:the property )?`[^`]*`))?: ")


def _reached(text: str, effects: Effects) -> Effects:
    """The effects of what is called as `text`: of a longer way the first and the last step are named."""

    def reason(inner: str) -> str:
        way = _WAY.match(inner)
        return f"{text}: {inner}" if way is None else f"{text}, by way of {way[2] or way[1]}: {inner[way.end() :]}"

    return replace(effects, **{k: reason(v) for k, v in vars(effects).items() if v is not None})


def _value_check(node: ast.AST, facts: FunctionFacts) -> Effects:
    """The exception that a function raises where a test of tensors, or of numbers read from them, says so."""
    if isinstance(node, ast.Call) and node.keywords and is_noted(node, facts):
        return Effects(checks=f"`{ast.unparse(node).splitlines()[0]}`")  # at the boundary now
    if not isinstance(node, ast.If | ast.Assert) or not facts.value(node.test).kinds & _READ:
        return PURE
    raised = [node] if isinstance(node, ast.Assert) else [s for s in node.body if isinstance(s, ast.Raise)]
    return Effects(checks=f"`{ast.unparse(raised[0]).splitlines()[0]}`") if raised else PURE


_READ = frozenset({Kind.TENSOR, Kind.NUMBER})


def _on_host(reason: str, raises: str | None = None) -> Effects:
    return Effects(host=reason, always=reason, raises=raises)


class EffectAnalysis:
    """Effects of expressions, and summaries of the project's functions."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self._summaries: dict[Function, Effects] = {}
        self._calls: dict[tuple[Function, frozenset[tuple[str, str | None, int | None, bool]], str], Effects] = {}

    def of(self, node: ast.AST, facts: FunctionFacts) -> Effects:
        """The effects of evaluating an expression."""
        result = PURE
        for part in ast.walk(node):
            result = result | self._of_node(part, facts)
        return result

    def of_function(self, function: Function) -> Effects:
        """The effects that a call of a function may have."""
        if function not in self._summaries:
            self._summaries[function] = Effects(unknown=f"the recursive call of `{function.qualname}`")
            self._summaries[function] = self._of_body(function, self.inference.facts(function))
        return self._summaries[function]

    def _of_body(self, function: Function, facts: FunctionFacts, unused: frozenset[ast.AST] = frozenset()) -> Effects:
        result = PURE
        for node in live_nodes(facts):
            if node in unused:
                continue
            result = result | self._seen_by_caller(node, self._of_node(node, facts), facts, unused)
            result = result | _value_check(node, facts)
        if (decorator := unknown_decorator(function)) is not None:
            result = result | Effects(unknown=f"what `@{decorator}` does is not known")
        return result

    def _in_call(self, node: ast.Call, callee: Function, facts: FunctionFacts) -> Effects:
        """The effects of a function in a call, whose constants leave some of it out.

        Where it writes, what it is passed tells that the memory is its own.
        """
        does = self.of_function(callee)
        constants = constants_of(node, callee) if does != PURE else {}
        unused = left_out(callee, constants)
        operands = [facts.value(a) for a in (*node.args, *(k.value for k in node.keywords))]
        given = passed(node, callee, operands) if does.mutates is not None else None
        tensors = {name: v for name, v in (given or {}).items() if v.is_tensor and v.certain}
        if not tensors and not unused:
            return does
        seen = frozenset((name, v.dtype, v.rank, v.has_dims) for name, v in tensors.items())
        key = callee, seen, repr(sorted(constants.items())) if unused else ""
        if key not in self._calls:
            self._calls[key] = does
            own = self.inference.in_call(callee, tensors) if tensors else self.inference.facts(callee)
            self._calls[key] = self._of_body(callee, own, unused)
        return self._calls[key]

    def _seen_by_caller(
        self, node: ast.AST, does: Effects, facts: FunctionFacts, decided: frozenset[ast.AST] = frozenset()
    ) -> Effects:
        """What of a node's effects is one outside the function: a write into memory that the call made is none."""
        if does.mutates is not None and isinstance(node, ast.Call) and changes_own_list(node, facts):
            does = replace(does, mutates=None)
        elif does.mutates is not None and writes_own_memory(node, facts, self.inference.project):
            does = replace(does, mutates=None, raises=does.raises or f"{does.mutates} may not fit")
        if does.always is not None and isinstance(node, ast.Call) and said_sometimes(node, facts, decided):
            does = replace(does, always=None)
        return does

    def _of_node(self, node: ast.AST, facts: FunctionFacts) -> Effects:
        result = self._by_itself(node, facts)
        for operand, names in special_methods(node):
            value, project = facts.value(operand), self.inference.project
            cls = project.resolve(value.ref) if value.is_(Kind.OBJECT) and value.ref is not None else None
            for name in names if isinstance(cls, Class) else ():
                method = project.method(cls, name) if isinstance(cls, Class) else None
                if method is not None:
                    result = result | _reached(f"`{method.qualname}`", self.of_function(method))
        return result

    def _by_itself(self, node: ast.AST, facts: FunctionFacts) -> Effects:
        if isinstance(node, ast.Call):
            return self._of_call(node, facts)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            return self._of_attribute(node, facts)
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            return Effects(mutates=f"the assignment to `{ast.unparse(node)}`")
        if isinstance(node, ast.AugAssign) and not facts.value(node.target).is_(
            Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE
        ):
            return Effects(mutates=f"`{ast.unparse(node.target)} {SYMBOLS[type(node.op)]}=` writes in place")
        if isinstance(
            node, ast.Global | ast.Nonlocal | ast.Delete | ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr
        ):
            return Effects(mutates=f"`{ast.unparse(node)}`")
        if isinstance(node, ast.Raise | ast.Assert):
            return Effects(raises=f"`{ast.unparse(node).splitlines()[0]}`")
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            return self._of_subscript(node, facts)
        if isinstance(node, ast.BinOp):
            return self._of_operator(node, facts)
        return PURE

    def _of_attribute(self, node: ast.Attribute, facts: FunctionFacts) -> Effects:
        """Reading a property runs its getter."""
        base = facts.value(node.value)
        cls = self.inference.project.resolve(base.ref) if base.ref is not None and base.may_be(Kind.OBJECT) else None
        if isinstance(cls, Class):
            method = self.inference.project.method(cls, node.attr)
            if method is not None and method.is_property:
                effects = self.of_function(method)
                for other in self._instead(node, method, facts):
                    effects = effects | self._of_override(other, node.attr)
                return _reached(f"the property `{ast.unparse(node)}`", effects)
        return PURE

    def _of_subscript(self, node: ast.Subscript, facts: FunctionFacts) -> Effects:
        index = facts.value(node.slice)
        parts = elements_of(node.slice)
        if all(
            isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and (p.value is None or p.value is Ellipsis))
            for p in parts
        ):
            return PURE
        if facts.value(node.value).is_(Kind.CONTAINER, Kind.OBJECT) and index.const is not None:
            return PURE
        base = facts.value(node.value)
        mask = index.is_tensor and index.certain and index.dtype == "bool" and index.shape_id is not None
        if mask and base.is_tensor and base.certain and base.shape_id == index.shape_id:
            return PURE
        return Effects(raises=f"the index `{ast.unparse(node)}` may be out of range")

    def _of_operator(self, node: ast.BinOp, facts: FunctionFacts) -> Effects:
        left, right = facts.value(node.left), facts.value(node.right)
        if isinstance(node.op, ast.MatMult):
            return PURE
        scalars = not (left.is_tensor or right.is_tensor)
        if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod):
            if right.const is not None and right.const.value != 0:
                return PURE
            if scalars or not (left.dtype == "float" or right.dtype == "float" or isinstance(node.op, ast.Div)):
                return Effects(raises=f"`{ast.unparse(node)}` may divide by zero")
        if isinstance(node.op, ast.Pow) and scalars:
            return Effects(raises=f"`{ast.unparse(node)}` may overflow")
        return PURE

    def _of_call(self, node: ast.Call, facts: FunctionFacts) -> Effects:
        callee = facts.calls.get(node)
        name = facts.refs.get(node)
        text = ast.unparse(node.func)
        if name == _CHAIN and facts.value(node.func).is_(Kind.OBJECT):
            return self._of_chain(facts.value(node.func), text, node, facts)[0]
        if callee is not None:
            does = _reached(f"`{text}`", self._in_call(node, callee, facts))
            for method in self._instead(node.func, callee, facts):
                run = "an override" if method is None else f"`{method.qualname}`"
                does = does | _reached(f"{run}, which `{text}` may run", self._of_override(method, callee.node.name))
            return does
        if is_noted(node, facts):
            return _on_host(f"`{text}`", f"`{text}`" if node.keywords else None)
        if _moves_iterator(node, name):
            return Effects(
                mutates=f"`{ast.unparse(node)}` moves an iterator on", raises=f"`{text}` may raise StopIteration"
            )
        if changes_container(node, facts):
            fails = not text.endswith((".append", ".clear", ".reverse"))
            return Effects(mutates=f"`{text}` changes a container", raises=f"`{text}` may fail" if fails else None)
        if name is None and _is_method_of_text(node.func):
            return Effects(raises=f"`{text}` may raise")
        if name is None and isinstance(node.func, ast.Attribute) and node.func.attr in _READS and not node.args:
            return Effects(host=f"`{text}` reads values", raises=f"`{text}` may raise")
        if name is None:
            written = isinstance(node.func, ast.Attribute) and torch_api.method(node.func.attr)
            writes = f"`{text}` writes in place" if written and written.mutates else None
            return Effects(random=_drawn(node.func, text), mutates=writes, unknown=f"`{text}` is not known")
        if name in ("print", "input", "open") or name.startswith(("logging.", "warnings.", "sys.", "time.", "os.")):
            return _on_host(f"`{text}`")
        if name.startswith("Tensor."):
            api = torch_api.method(name.removeprefix("Tensor."))
            metadata = name.removeprefix("Tensor.") in (
                "size",
                "dim",
                "numel",
                "nelement",
                "ndimension",
                "stride",
                "element_size",
                "get_device",
            )
            return PURE if metadata else self._of_api(api, text, node, facts)
        api = torch_api.function(name)
        if api is not None:
            return self._of_api(api, text, node, facts)
        module = torch_api.module(name)
        if module is not None and facts.value(node.func).is_(Kind.OBJECT):
            return self._of_layer(facts.value(node.func), module, text, node, facts)
        if name in ("torch.finfo", "torch.iinfo") and not self._fits(
            node, "float" if name == "torch.finfo" else "int", facts
        ):
            return Effects(raises=f"`{ast.unparse(node)}` raises for other dtypes")
        if name in LEGACY_CONSTRUCTORS and facts.value(node).is_tensor:
            return Effects(raises=None if _holds_numbers(node) else f"`{ast.unparse(node)}` may raise")
        if name in _READING_BUILTINS and any(_is_tensor(facts.value(a)) for a in node.args):
            return _on_host(f"`{text}` reads the tensor's value")
        if name in _PURE_BUILTINS:
            called = next((k.value for k in node.keywords if k.arg == "key"), None)
            if called is not None and not isinstance(called, ast.Lambda | ast.Constant):  # whose code stands here
                return Effects(unknown=f"`{ast.unparse(called)}` is not known")
            return Effects(raises=f"`{text}` may raise") if name in _RAISING_BUILTINS and len(node.args) == 1 else PURE
        if name.startswith("math."):
            return Effects(raises=f"`{text}` may raise a domain error")
        if name.startswith("numpy."):
            return Effects(random=f"`{text}`") if ".random." in name else _on_host(f"`{text}`")
        if name.startswith(("random.", "secrets.")):
            return Effects(random=f"`{text}`")
        made = self.inference.project.resolve(name)
        if is_exception(name) or (isinstance(made, Class) and self._plain_exception(made)):
            return PURE
        if isinstance(made, Class):
            return Effects(unknown=f"making a `{text}` is not known to be without effect")
        return Effects(random=_drawn(node.func, text), unknown=f"`{text}` is not known")

    def _of_layer(self, layer: Value, api: torch_api.Api, text: str, node: ast.Call, facts: FunctionFacts) -> Effects:
        effects = self._of_api(api, text, node, facts)
        switching = switching_in_place(self.inference.project) if may_be_switched(layer.ref or "") else ()
        if layer.inplace or facts.function.module.name in switching:
            effects = replace(effects, mutates=f"`{text}` writes in place")
        elif facts.function.module.mentions("register_forward_"):
            effects = replace(effects, unknown=f"a hook of `{text}` may have effects")
        elif api.mutates_training:
            effects = replace(effects, mutates=f"`{text}` updates running statistics in training")
        draws = api.random_training or api.random
        return replace(effects, random=f"`{text}` draws random numbers in training" if draws else None)

    def _of_chain(
        self, chain: Value, text: str, node: ast.Call, facts: FunctionFacts, *, fresh: bool = False
    ) -> tuple[Effects, bool]:
        """The effects of an `nn.Sequential`, and whether what its last layer is given, or gives, is a new tensor.

        What writes in place behind a layer that makes a new tensor writes into that one alone.
        """
        layers = chain.elements or ((chain.element,) if chain.element is not None else ())
        if not layers:
            return Effects(unknown=f"the layers of `{text}` are not known"), False
        does = PURE
        for layer in layers:
            cls = self.inference.project.resolve(layer.ref) if layer.ref is not None else None
            forward = self.inference.project.method(cls, "forward") if isinstance(cls, Class) else None
            if layer.ref == _CHAIN or layer.may_be(Kind.CONTAINER):
                inner, fresh = self._of_chain(layer, text, node, facts, fresh=fresh)
                does = does | inner
            elif forward is not None:
                does, fresh = does | _reached(f"`{text}`", self.of_function(forward)), False
            elif layer.is_(Kind.OBJECT) and layer.ref is not None and (api := torch_api.module(layer.ref)) is not None:
                own = self._of_layer(layer, api, text, node, facts)
                does = does | (replace(own, mutates=None) if fresh and not api.mutates_training else own)
                fresh = fresh or makes_new(layer.ref)
            else:
                does, fresh = does | Effects(unknown=f"the layers of `{text}` are not all known"), False
        return does, fresh

    def _of_override(self, method: Function | None, name: str) -> Effects:
        if method is None:
            return Effects(unknown=f"too many files override `{name}` to look at all")
        return self.of_function(method)

    def _instead(self, node: ast.expr, method: Function, facts: FunctionFacts) -> Iterator[Function | None]:
        """The methods of subclasses that run where code names one of its own object: `self.step(x)`, `self.size`."""
        around = facts.function
        if around.cls is None or around.is_static or not around.parameters:
            return
        own = node.value if isinstance(node, ast.Attribute) else None
        if isinstance(own, ast.Name) and own.id == around.parameters[0].arg:
            yield from self.inference.project.overriding_anywhere(method)

    def _plain_exception(self, cls: Class) -> bool:
        """Whether a class of the project is an exception that does nothing of its own when it is made."""
        ancestors = self.inference.project.ancestors(cls)
        own = {"__init__", "__new__", "__init_subclass__"}
        return all(
            not own & set(base.methods) if isinstance(base, Class) else is_exception(base) for base in ancestors
        ) and any(isinstance(base, str) for base in ancestors)

    def _fits(self, node: ast.Call, dtype: str, facts: FunctionFacts) -> bool:
        """Whether `torch.finfo(x.dtype)` is asked for a dtype of the right class."""
        argument = node.args[0] if node.args else None
        if isinstance(argument, ast.Attribute) and argument.attr == "dtype" and facts.value(argument.value).is_tensor:
            return facts.value(argument.value).dtype == dtype
        return argument is not None and facts.value(argument).ref is not None

    def _of_api(self, api: torch_api.Api | None, text: str, node: ast.Call, facts: FunctionFacts) -> Effects:
        if api is None:
            return Effects(unknown=f"`{text}` is not in the table of the torch API")
        writes = api.mutates or api.mutates_training or any(k.arg == "out" for k in node.keywords)
        writes = writes or asks_for_in_place(node, facts)
        draws = api.random or (
            api.random_training
            and not any(
                k.arg == "training" and isinstance(k.value, ast.Constant) and k.value.value is False
                for k in node.keywords
            )
        )
        reads = f"`{text}` reads the tensor's value" if api.host and not _is_new_array(node, facts) else None
        return Effects(
            random=f"`{text}` draws random numbers" if draws else None,
            mutates=f"`{text}` writes in place" if writes else None,
            host=reads,
            always=reads,
            raises=None if api.total else f"`{text}` may raise for some values",
        )


def _is_new_array(node: ast.Call, facts: FunctionFacts) -> bool:
    """Whether a call is `torch.zeros(3).numpy()`: the array of a tensor that holds nothing of other tensors yet."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr != "numpy" or node.args or node.keywords:
        return False
    made = node.func.value
    if not isinstance(made, ast.Call) or any(k.arg in ("device", "requires_grad", None) for k in made.keywords):
        return False
    return facts.callee(made) in ("torch.zeros", "torch.ones") and is_own(made, facts)


def _is_method_of_text(node: ast.expr) -> bool:
    """Whether it is a method of a written text that gives another one: `", ".join`."""
    text = node.value if isinstance(node, ast.Attribute) and node.attr in _PURE_TEXT_METHODS else None
    return isinstance(text, ast.JoinedStr) or (isinstance(text, ast.Constant) and isinstance(text.value, str))


def _drawn(function: ast.expr, text: str) -> str | None:
    """What a method that is not seen does by its name: `Normal(mean, scale).sample()`, `generator.normal(n)`."""
    draws = isinstance(function, ast.Attribute) and function.attr in _DRAWING_METHODS
    return f"`{text}` draws random numbers" if draws else None


_DRAWING_METHODS = frozenset(
    {
        *("sample", "rsample", "sample_n", "rsample_n", "rsample_with_log_prob", "sample_and_log_prob"),
        *("rand", "randn", "randint", "randperm", "random", "uniform", "normal", "standard_normal", "choice"),
        *("shuffle", "permutation", "multinomial", "bernoulli", "integers"),
    }
)


def _moves_iterator(node: ast.Call, name: str | None) -> bool:
    """Whether a call takes the next item of something that others read too, as `next(iter(x))` does not."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "__next__":
        return True
    return name == "next" and bool(node.args) and isinstance(node.args[0], ast.Name | ast.Attribute | ast.Subscript)


def _holds_numbers(node: ast.Call) -> bool:
    """Whether a tensor is made of a list of numbers that stand there."""
    listed = node.args[0] if len(node.args) == 1 else None
    return isinstance(listed, ast.List | ast.Tuple) and all(isinstance(e, ast.Constant) for e in listed.elts)


def is_exception(name: str) -> bool:
    """Whether a class of exceptions is built into Python under a name."""
    found = getattr(builtins, name, None)
    return isinstance(found, type) and issubclass(found, BaseException)


def asks_for_in_place(node: ast.Call, facts: FunctionFacts) -> bool:
    """Whether a call of a function of torch may write into its first argument because it is told to."""
    place = torch_api.INPLACE_AT.get(facts.callee(node) or "")
    told = [k.value for k in node.keywords if k.arg == "inplace"]
    if place is not None:
        spread = [a for a in node.args[1:] if isinstance(a, ast.Starred)]
        told += [*node.args[place : place + 1], *spread, *(k.value for k in node.keywords if k.arg is None)]
    return any(not isinstance(value, ast.Constant) or bool(value.value) for value in told)


def _is_tensor(value: Value) -> bool:
    return value.may_be(Kind.TENSOR) and not value.is_unknown
