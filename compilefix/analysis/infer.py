"""Flow-sensitive abstract interpretation of one function: the value of every expression in it.

Statements are walked in order with an environment from names to values; the branches of an `if` are joined and a loop
is walked twice. Calls into the project use the callee's summary, calls into torch the API table.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compilefix.analysis import torch_api, values
from compilefix.analysis.annotations import annotated, is_tensor_type
from compilefix.analysis.values import NONE, Const, Kind, Value, join, join_all, number, static, tensor
from compilefix.source.index import Class, Function, Module, Project

Env = dict[str, Value]

_SHAPE_METHODS = {
    "size": values.SHAPE,
    "dim": values.SIZE,
    "numel": values.SIZE,
    "nelement": values.SIZE,
    "ndimension": values.SIZE,
}
_CASTS = {"float": "float", "int": "int", "bool": "bool", "complex": "complex"}
_MOVES_DIMENSIONS = frozenset({"movedim", "moveaxis", "transpose", "swapaxes", "swapdims", "t", "permute"})
_KEEPS_SHAPE = frozenset(
    {
        "softmax",
        "log_softmax",
        "softmin",
        "cumsum",
        "cumprod",
        "flip",
        "roll",
        "layer_norm",
        "rms_norm",
        "group_norm",
        "batch_norm",
        "instance_norm",
        "normalize",
        "contiguous",
        "clone",
        "detach",
        "fliplr",
        "flipud",
        "tril",
        "triu",
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "rand_like",
        "randn_like",
        "to",
        "float",
        "double",
        "half",
        "bfloat16",
        "int",
        "long",
        "bool",
        "type",
        "type_as",
        "dropout",
        "masked_fill",
        "nan_to_num",
        "scatter",
        "scatter_add",
        "index_add",
        "index_copy",
        "index_fill",
        "masked_scatter",
        "clamp",
        "clip",
    }
)
_RESHAPES_IN_PLACE = frozenset(
    {
        "unsqueeze_",
        "squeeze_",
        "t_",
        "transpose_",
        "swapaxes_",
        "swapdims_",
        "resize_",
        "resize_as_",
        "set_",
        "as_strided_",
    }
)
_SIZED = frozenset(
    {"view", "reshape", "expand", "broadcast_to", "repeat", "new_zeros", "new_ones", "new_full", "new_empty"}
)
_NEW_RESULT = (
    "Linear",
    "Conv",
    "Norm",
    "Pool",
    "Attention",
    "Embedding",
    "Softmax",
    "GELU",
    "Sigmoid",
    "Tanh",
    "Softplus",
    "Upsample",
    "LSTM",
    "GRU",
    "RNN",
    "Loss",
)
_FLOAT_ONLY = (
    "Linear",
    "Conv",
    "LayerNorm",
    "BatchNorm",
    "GroupNorm",
    "InstanceNorm",
    "RMSNorm",
    "MultiheadAttention",
    "LSTM",
    "GRU",
)
_FLOAT_ONLY_FUNCTIONS = frozenset(
    f"torch.nn.functional.{name}"
    for name in (
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "layer_norm",
        "batch_norm",
        "group_norm",
        "scaled_dot_product_attention",
    )
)
_DIM_SECOND = frozenset(
    {
        "sum",
        "nansum",
        "mean",
        "nanmean",
        "prod",
        "max",
        "min",
        "amax",
        "amin",
        "any",
        "all",
        "argmax",
        "argmin",
        "logsumexp",
        "median",
        "nanmedian",
        "mode",
        "count_nonzero",
    }
)
INPLACE_MODULES = frozenset(
    {
        "ReLU",
        "ReLU6",
        "SiLU",
        "Mish",
        "Hardswish",
        "Hardsigmoid",
        "Hardtanh",
        "LeakyReLU",
        "ELU",
        "CELU",
        "SELU",
        "RReLU",
        "Threshold",
        "Dropout",
        "Dropout1d",
        "Dropout2d",
        "Dropout3d",
        "AlphaDropout",
        "FeatureAlphaDropout",
    }
)

_NUMERIC_BUILTINS = frozenset({"abs", "round", "min", "max", "sum", "pow", "divmod"})
_COMPILING = frozenset(
    {
        "torch.compiler.is_compiling",
        "torch._dynamo.is_compiling",
        "torch.compiler.is_dynamo_compiling",
        "torch._dynamo.external_utils.is_compiling",
    }
)
_NOT_COMPILED = frozenset(
    {"torch.jit.is_scripting", "torch.jit.is_tracing", "torch.onnx.is_in_onnx_export", "typing.TYPE_CHECKING"}
)
_MAX_DEPTH = 24


@dataclass
class FunctionFacts:
    """What is known inside one function.

    values: the value of each expression node, over all ways to reach it.
    env_before: the names before a statement or conditional expression.
    calls: calls into functions of the project.
    dead: statements that do not run under `torch.compile`.
    returns: the join of all returned values.
    refs: the dotted name of what each call calls.
    float_only: calls that fail on a tensor that is not floating, with that tensor.
    float_parameters: parameters that every normal run passes to such a call.
    """

    function: Function
    values: dict[ast.AST, Value] = field(default_factory=dict)
    env_before: dict[ast.AST, Env] = field(default_factory=dict)
    calls: dict[ast.AST, Function] = field(default_factory=dict)
    dead: set[ast.AST] = field(default_factory=set)
    returns: Value = NONE
    refs: dict[ast.AST, str] = field(default_factory=dict)
    float_only: list[tuple[ast.Call, Value]] = field(default_factory=list)
    float_parameters: frozenset[str] = frozenset()
    live: tuple[ast.AST, ...] | None = None

    def value(self, node: ast.AST) -> Value:
        """The value of an expression; unknown for code that the walk never reached."""
        return self.values.get(node, values.UNKNOWN)

    def callee(self, node: ast.Call) -> str | None:
        """The dotted name of what is called, for example `torch.nn.functional.relu`."""
        return self.refs.get(node)


class ClassFacts:
    """The attributes of a class: what `__init__` and the other methods assign to `self`, and annotations."""

    def __init__(self, cls: Class) -> None:
        self.cls = cls
        self.attributes: dict[str, Value] = {}


class Inference:
    """Facts of all functions of a project, computed when asked for and kept."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._facts: dict[Function, FunctionFacts] = {}
        self._classes: dict[Class, ClassFacts] = {}
        self._active: list[Function] = []
        self._globals: dict[tuple[str, str], Value] = {}
        self.too_deep: list[Function] = []

    def facts(self, function: Function) -> FunctionFacts:
        """The facts of a function."""
        known = self._facts.get(function)
        if known is None:
            known = self._interpret(function)
            self._facts[function] = known
        return known

    def summary(self, function: Function) -> Value:
        """The value that a call of the function returns, for any arguments; unknown for a recursive call."""
        if function in self._active or len(self._active) > _MAX_DEPTH:
            return values.UNKNOWN if function.node.returns is None else self._declared(function)
        returns = self.facts(function).returns
        declared = self._declared(function)
        if returns.is_unknown and not declared.is_unknown:
            return declared
        return returns

    def float_parameters(self, function: Function) -> frozenset[str]:
        """The parameters that must be floating tensors with dimensions, or the function fails."""
        known = self._facts.get(function)
        return known.float_parameters if known is not None else frozenset()

    def _declared(self, function: Function) -> Value:
        return annotated(function.node.returns, function.module, self.project)

    def _interpret(self, function: Function) -> FunctionFacts:
        self._active.append(function)
        depth = len(self._active)
        try:
            outer: Mapping[str, Value] = {}
            if function.parent is not None and function.parent not in self._active:
                outer = self.facts(function.parent).env_before.get(function.node, {})
            facts = Interpreter(self, function, outer).run()
            floats = _float_parameters(facts)
            if floats:
                facts = Interpreter(self, function, outer, floats).run()
                facts.float_parameters = floats
            return facts
        except RecursionError:
            # An expression thousands of levels deep: nothing is known of the function, and the rest goes on.
            self.too_deep.append(function)
            return FunctionFacts(function, dead=set(function.node.body), returns=values.UNKNOWN)
        finally:
            del self._active[depth - 1 :]

    def class_facts(self, cls: Class) -> ClassFacts:
        """The attributes that instances of the class have."""
        known = self._classes.get(cls)
        if known is None:
            known = ClassFacts(cls)
            self._classes[cls] = known
            self._fill(known)
        return known

    def _fill(self, facts: ClassFacts) -> None:
        cls = facts.cls
        for base in reversed(self.project.ancestors(cls)[1:]):
            if isinstance(base, Class):
                facts.attributes.update(self.class_facts(base).attributes)
        for node in cls.node.body:
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                value = annotated(node.annotation, cls.module, self.project)
                facts.attributes[node.target.id] = self._owned(value, node.target.id)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        facts.attributes[target.id] = replace(static(node.value.value), const=None)  # type: ignore[arg-type]
        init = cls.methods.get("__init__")
        ordered = ([init] if init else []) + [m for n, m in cls.methods.items() if n != "__init__"]
        for method in ordered:
            if not any(_assigns_self(method)):
                continue
            assigned = self._self_assignments(method)
            for name, value in assigned.items():
                value = self._owned(value, name)
                if method is init:
                    # A declared tensor (`scale: Tensor` over register_buffer) says more than what is assigned.
                    old = facts.attributes.get(name)
                    facts.attributes[name] = old if value.is_unknown and old is not None else value
                elif name in facts.attributes:
                    facts.attributes[name] = self._owned(join(facts.attributes[name], value), name)
                else:
                    facts.attributes[name] = value

    def _self_assignments(self, method: Function) -> Mapping[str, Value]:
        if method in self._active:
            return {}
        self._active.append(method)
        try:
            interpreter = Interpreter(self, method, {})
            interpreter.run()
            return interpreter.self_assigned
        finally:
            self._active.pop()

    def _owned(self, value: Value, name: str) -> Value:
        """The value as an attribute: outside callers can reach its memory, and another call may have replaced it."""
        leaves = (
            frozenset({f"self.{name}"})
            if value.may_be(Kind.TENSOR) and value.dtype not in ("bool", "int")
            else frozenset[str]()
        )
        return replace(
            value,
            origin=True,
            dtype_id=None,
            shape_id=None if value.rank != 0 else "()",
            storage=frozenset({f"self.{name}"}),
            leaves=leaves,
        )

    def module_global(self, module: Module, name: str) -> Value | None:
        """The value of a name that a module assigns at its top level."""
        if name not in module.assigns:
            return None
        key = (module.name, name)
        if key not in self._globals:
            self._globals[key] = values.UNKNOWN
            self._globals[key] = _global_value(module.assigns[name], module, self)
        return self._globals[key]


def _global_value(node: ast.expr, module: Module, inference: Inference) -> Value:
    if isinstance(node, ast.Constant):
        value = node.value
        return values.STATIC if value is Ellipsis else static(value)
    if isinstance(node, ast.Call):
        name = module.qualified(node.func)
        if name is None:
            return values.UNKNOWN
        found = inference.project.resolve(name)
        if isinstance(found, Class):
            return Value(frozenset({Kind.OBJECT}), ref=found.full_name)
        if isinstance(found, str):
            if found == "logging.getLogger" or found.endswith(".get_logger"):
                return Value(frozenset({Kind.OBJECT}), ref="logging.Logger")
            api = torch_api.function(found)
            if api is not None and api.returns == "Tensor":
                return tensor(storage=frozenset({f"global.{module.name}"}))
        return values.UNKNOWN
    if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
        return values.container()
    if isinstance(node, ast.UnaryOp | ast.BinOp):
        return (
            values.STATIC
            if all(
                isinstance(n, ast.Constant | ast.operator | ast.unaryop | ast.BinOp | ast.UnaryOp)
                for n in ast.walk(node)
            )
            else values.UNKNOWN
        )
    return values.UNKNOWN


def _assigns_self(method: Function) -> list[ast.AST]:
    return [
        n
        for n in method.nodes
        if (isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
        or (
            isinstance(n, ast.Call)
            and isinstance(n.func, ast.Attribute)
            and n.func.attr in ("register_buffer", "register_parameter")
        )
    ]


class Interpreter:
    """One walk through one function."""

    def __init__(
        self, inference: Inference, function: Function, outer: Mapping[str, Value], floats: frozenset[str] = frozenset()
    ) -> None:
        self.floats = floats
        self.inference = inference
        self.project = inference.project
        self.function = function
        self.module = function.module
        self.facts = FunctionFacts(function)
        self.outer = outer
        self.self_assigned: dict[str, Value] = {}
        self.self_name = self._self_name()
        self.returned: list[Value] = []
        self.loop_exits: list[list[Env]] = []
        self.grad_modes = 0
        self.reshaped: set[str] = set()
        self.unstable = _rebound_elsewhere(function)

    def _self_name(self) -> str | None:
        owner: Function | None = self.function
        while owner is not None and owner.parent is not None:
            owner = owner.parent
        if owner is None or owner.cls is None or owner.is_static or not owner.parameters:
            return None
        return owner.parameters[0].arg

    def run(self) -> FunctionFacts:
        env = self._parameters()
        end = self.block(self.function.node.body, env)
        if end is not None:
            self.returned.append(values.NONE)
        if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in self.function.nodes):
            self.facts.returns = values.UNKNOWN
        else:
            self.facts.returns = join_all(self.returned)
        return self.facts

    # -- parameters

    def _parameters(self) -> Env:
        env: Env = dict(self.outer)
        node = self.function.node
        args = node.args
        defaults: dict[str, ast.expr] = {}
        positional = [*args.posonlyargs, *args.args]
        for arg, default in zip(reversed(positional), reversed(args.defaults), strict=False):
            defaults[arg.arg] = default
        for arg, kw_default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            if kw_default is not None:
                defaults[arg.arg] = kw_default
        evidence = Evidence(self.function, self.inference)
        for index, arg in enumerate(self.function.parameters):
            if (
                index == 0
                and self.function.parent is None
                and self.function.cls is not None
                and not self.function.is_static
            ):
                env[arg.arg] = Value(frozenset({Kind.OBJECT}), ref=self.function.cls.full_name)
                continue
            env[arg.arg] = self._parameter(arg, defaults.get(arg.arg), evidence)
        if args.vararg:
            env[args.vararg.arg] = values.container(annotated(args.vararg.annotation, self.module, self.project))
        if args.kwarg:
            env[args.kwarg.arg] = values.container(
                annotated(args.kwarg.annotation, self.module, self.project), ref="dict"
            )
        return env

    def _parameter(self, arg: ast.arg, default: ast.expr | None, evidence: Evidence) -> Value:
        value = annotated(arg.annotation, self.module, self.project)
        default_value = self._default(default)
        if value.is_unknown and arg.annotation is None:
            kind = evidence.of(arg.arg)
            if kind is not None:
                value = kind
            elif default_value is not None and default_value.is_(Kind.STATIC) and default_value.dtype in ("bool",):
                value = replace(default_value, const=None)
        if default_value is not None and default_value.kinds == values.NONE.kinds and not value.is_unknown:
            value = join(value, values.NONE)
        if value.may_be(Kind.TENSOR) and not value.is_unknown:
            name = f"{self.function.qualname}.{arg.arg}"
            if arg.arg in self.floats and value.is_tensor:
                value = replace(value, dtype=value.dtype or "float", has_dims=True)
            value = replace(
                value,
                origin=True,
                dtype_id=f"dtype of {name}",
                shape_id="()" if value.rank == 0 else f"shape of {name}",
                storage=frozenset({f"param:{arg.arg}"}),
                leaves=frozenset() if value.dtype in ("bool", "int") else frozenset({arg.arg}),
            )
        elif value.is_unknown or value.is_(Kind.CONTAINER, Kind.NONE):
            value = replace(value, storage=frozenset({f"param:{arg.arg}"}), leaves=frozenset({arg.arg}))
        return value

    def _default(self, node: ast.expr | None) -> Value | None:
        if isinstance(node, ast.Constant) and node.value is not Ellipsis:
            return static(node.value)
        return None

    # -- statements

    def block(self, body: Sequence[ast.stmt], env: Env | None) -> Env | None:
        """Walk statements; None when the end of the block is not reached."""
        for index, node in enumerate(body):
            if env is None:
                return None
            env = self.statement(node, env)
            if env is None:
                self.facts.dead.update(body[index + 1 :])
        return env

    def statement(self, node: ast.stmt, env: Env) -> Env | None:
        self.facts.env_before[node] = dict(env)
        handler = _STATEMENTS.get(type(node))
        if handler is not None:
            return handler(self, node, env)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child, env)
        return env

    def _expr_statement(self, node: ast.Expr, env: Env) -> Env | None:
        value = self.eval(node.value, env)
        self._registered(node.value)
        for key in self.reshaped & set(env):
            env[key] = value if value.is_tensor else values.UNKNOWN
        self.reshaped.clear()
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Attribute):
            call = node.value.func
            if call.attr == "append" and isinstance(call.value, ast.Name) and node.value.args:
                name, item = call.value.id, self.facts.value(node.value.args[0])
                old = env.get(name)
                if old is not None and old.is_(Kind.CONTAINER):
                    element = item if old.element is None else join(old.element, item)
                    env[name] = replace(old, element=element.stripped(), elements=None, leaves=old.leaves | item.leaves)
        return env

    def _registered(self, node: ast.expr) -> None:
        """`self.register_buffer("scale", tensor)` makes an attribute."""
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or len(node.args) < 2:
            return
        name, owner = self.facts.value(node.args[0]).const, node.func.value
        if (
            node.func.attr not in ("register_buffer", "register_parameter")
            or name is None
            or not isinstance(name.value, str)
        ):
            return
        if isinstance(owner, ast.Name) and owner.id == self.self_name:
            value = self.facts.value(node.args[1])
            self.self_assigned[name.value] = (
                replace(value, leaves=frozenset()) if node.func.attr == "register_buffer" else value
            )

    def _assign(self, node: ast.Assign, env: Env) -> Env | None:
        value = self.eval(node.value, env)
        self._narrow_rank(node, env)
        for target in node.targets:
            self.bind(target, value, env)
        return env

    def _narrow_rank(self, node: ast.Assign, env: Env) -> None:
        """`b, c, h, w = x.shape` fails unless `x` has four dimensions."""
        target, shape = node.targets[0], node.value
        if (
            isinstance(shape, ast.Call)
            and isinstance(shape.func, ast.Attribute)
            and shape.func.attr == "size"
            and not shape.args
        ):
            owner: ast.expr = shape.func.value
        elif isinstance(shape, ast.Attribute) and shape.attr == "shape":
            owner = shape.value
        else:
            return
        key = self._key(owner)
        if isinstance(target, ast.Tuple | ast.List) and key is not None and key in env and env[key].is_tensor:
            starred = sum(isinstance(t, ast.Starred) for t in target.elts)
            if starred == 0:
                env[key] = replace(env[key], rank=len(target.elts))
            elif len(target.elts) > 1:
                env[key] = replace(env[key], has_dims=True)

    def _ann_assign(self, node: ast.AnnAssign, env: Env) -> Env | None:
        declared = annotated(node.annotation, self.module, self.project)
        value = self.eval(node.value, env) if node.value is not None else values.UNKNOWN
        self.bind(node.target, declared if value.is_unknown else value, env)
        return env

    def _aug_assign(self, node: ast.AugAssign, env: Env) -> Env | None:
        load = _as_load(node.target)
        old = self.eval(load, env)
        self.facts.values[node.target] = old
        right = self.eval(node.value, env)
        value = self._binary(node.op, old, right, node)
        if old.is_tensor:
            # `+=` on a tensor writes into it: dtype, shape and memory stay.
            value = replace(old, leaves=old.leaves | right.leaves)
        self.bind(node.target, value, env)
        return env

    def bind(self, target: ast.expr, value: Value, env: Env) -> None:
        """Give a target its value."""
        if isinstance(target, ast.Name):
            env[target.id] = values.UNKNOWN if target.id in self.unstable else value
            self.facts.values[target] = value
        elif isinstance(target, ast.Tuple | ast.List):
            parts = self._unpack(value, len(target.elts), target)
            for item, part in zip(target.elts, parts, strict=True):
                self.bind(
                    item.value if isinstance(item, ast.Starred) else item,
                    values.container(part) if isinstance(item, ast.Starred) else part,
                    env,
                )
        elif isinstance(target, ast.Attribute):
            owner = self.eval(target.value, env)
            self.facts.values[target] = value
            if target.attr == "data" and owner.is_tensor and (key := self._key(target.value)) is not None:
                env[key] = replace(
                    owner, rank=None, has_dims=False, shape_id=self._fresh(target), dtype=None, dtype_id=None
                )
            if isinstance(target.value, ast.Name) and target.value.id == self.self_name:
                env[f"{self.self_name}.{target.attr}"] = value
                old = self.self_assigned.get(target.attr)
                if old is not None and value.kinds == values.NONE.kinds and not old.is_unknown:
                    value = join(old, value)
                elif old is not None:
                    value = join(old, value)
                self.self_assigned[target.attr] = value
        elif isinstance(target, ast.Subscript):
            base = self.eval(target.value, env)
            self.eval(target.slice, env)
            self.facts.values[target] = value
            if isinstance(target.value, ast.Name) and base.is_(Kind.CONTAINER):
                element = value if base.element is None else join(base.element, value)
                env[target.value.id] = replace(base, element=element.stripped(), elements=None)
            elif isinstance(target.value, ast.Name) and base.is_tensor:
                env[target.value.id] = replace(base, leaves=base.leaves | value.leaves)

    def _unpack(self, value: Value, count: int, target: ast.expr) -> Sequence[Value]:
        if value.elements is not None and len(value.elements) == count:
            return value.elements
        if value.is_(Kind.CONTAINER) and value.element is not None:
            return [value.element] * count
        if value.is_tensor:
            element = tensor(
                dtype=value.dtype,
                dtype_id=value.dtype_id,
                rank=None if value.rank is None else value.rank - 1,
                certain=value.certain,
                shape_id=self._fresh(target),
                storage=value.storage,
                leaves=value.leaves,
            )
            return [element] * count
        return [replace(values.UNKNOWN, storage=value.storage, leaves=value.leaves)] * count

    def _if(self, node: ast.If, env: Env) -> Env | None:
        self.eval(node.test, env)
        decided = self._compile_time(node.test)
        then_env, else_env = self.narrow(node.test, env, True), self.narrow(node.test, env, False)
        if decided is False:
            self._kill(node.body)
            return self.block(node.orelse, else_env)
        if decided is True:
            self._kill(node.orelse)
            return self.block(node.body, then_env)
        after_then = self.block(node.body, then_env)
        after_else = self.block(node.orelse, else_env)
        return _join_env(after_then, after_else)

    def _compile_time(self, test: ast.expr) -> bool | None:
        """What a test for being compiled gives in compiled code; None for any other test."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            inner = self._compile_time(test.operand)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            parts = [self._compile_time(v) for v in test.values]
            stop = isinstance(test.op, ast.Or)
            if stop in parts:
                return stop
            return None if None in parts else not stop
        name = self.module.qualified(test.func if isinstance(test, ast.Call) else test)
        if name is None:
            return None
        found = self.project.resolve(name)
        target = found if isinstance(found, str) else name
        return True if target in _COMPILING else False if target in _NOT_COMPILED else None

    def _kill(self, body: Sequence[ast.stmt]) -> None:
        self.facts.dead.update(body)

    def _for(self, node: ast.For | ast.AsyncFor, env: Env) -> Env | None:
        iterable = self.eval(node.iter, env)
        return self._loop(node, env, lambda e: self.bind(node.target, self._element(iterable, node.iter), e))

    def _while(self, node: ast.While, env: Env) -> Env | None:
        return self._loop(node, env, lambda e: self.eval(node.test, e) and None)

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, env: Env, enter: Callable[[Env], None]) -> Env | None:
        entry: Env = dict(env)
        state: Env = dict(env)
        self.loop_exits.append([])
        for _ in range(3):
            inside = dict(state)
            enter(inside)
            end = self.block(node.body, inside)
            merged = dict(state)
            if end is not None:
                for name, value in end.items():
                    if name not in entry:
                        merged[name] = value.stripped()
                    elif entry[name] is not value:
                        merged[name] = _either(name, state[name], value.stripped()) if state[name] != value else value
            if merged == state:
                break
            state = merged
        result: Env | None = state
        for exit_env in self.loop_exits.pop():
            result = _join_env(result, exit_env)
        if node.orelse and result is not None:
            result = self.block(node.orelse, result)
        return result

    def _break(self, node: ast.stmt, env: Env) -> Env | None:
        if self.loop_exits:
            self.loop_exits[-1].append({k: v.stripped() for k, v in env.items()})
        return None

    def _with(self, node: ast.With | ast.AsyncWith, env: Env) -> Env | None:
        entered = self.grad_modes
        for item in node.items:
            value = self.eval(item.context_expr, env)
            called = self.facts.refs.get(item.context_expr, "")
            if called.rpartition(".")[2] in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"):
                self.grad_modes += 1
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value if value.is_(Kind.OBJECT) else values.UNKNOWN, env)
        after = self.block(node.body, env)
        self.grad_modes = entered
        return after

    def _try(self, node: ast.Try, env: Env) -> Env | None:
        start = dict(env)
        after = self.block(node.body, dict(env))
        if after is not None and node.orelse:
            after = self.block(node.orelse, after)
        result = after
        # A handler starts anywhere in the body: nothing assigned there is sure.
        touched = {
            n.id for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        for handler in node.handlers:
            state = {k: (values.UNKNOWN if k in touched else v) for k, v in start.items()}
            if handler.name:
                state[handler.name] = values.UNKNOWN
            result = _join_env(result, self.block(handler.body, state))
        if node.finalbody:
            state = result if result is not None else dict(start)
            end = self.block(node.finalbody, state)
            result = end if result is not None else None
        return result

    def _return(self, node: ast.Return, env: Env) -> Env | None:
        self.returned.append(self.eval(node.value, env) if node.value is not None else values.NONE)
        return None

    def _raise(self, node: ast.Raise, env: Env) -> Env | None:
        for part in (node.exc, node.cause):
            if part is not None:
                self.eval(part, env)
        return None

    def _assert(self, node: ast.Assert, env: Env) -> Env | None:
        self.eval(node.test, env)
        if node.msg is not None:
            self.eval(node.msg, env)
        env.update(self.narrow(node.test, env, True))
        return env

    def _function_def(self, node: ast.FunctionDef | ast.AsyncFunctionDef, env: Env) -> Env | None:
        for inner in self.module.all_functions:
            if inner.node is node:
                env[node.name] = Value(frozenset({Kind.CALLABLE}), ref=f"{inner.full_name}")
                break
        return env

    def _class_def(self, node: ast.ClassDef, env: Env) -> Env | None:
        env[node.name] = Value(frozenset({Kind.CALLABLE}))
        return env

    def _delete(self, node: ast.Delete, env: Env) -> Env | None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                env.pop(target.id, None)
        return env

    def _match(self, node: ast.Match, env: Env) -> Env | None:
        self.eval(node.subject, env)
        result: Env | None = dict(env)
        for case in node.cases:
            state = dict(env)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None)
                if isinstance(name, str):
                    state[name] = values.UNKNOWN
            if case.guard is not None:
                self.eval(case.guard, state)
            result = _join_env(result, self.block(case.body, state))
        return result

    # -- narrowing

    def narrow(self, test: ast.expr, env: Env, truth: bool) -> Env:
        """The environment in which a test had this outcome."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            return self.narrow(test.operand, env, not truth)
        if isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) == truth:
                for part in test.values:
                    env = self.narrow(part, env, truth)
            return dict(env)
        result = dict(env)
        key = self._key(test.left) if isinstance(test, ast.Compare) else None
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and key is not None:
            right = test.comparators[0]
            if isinstance(right, ast.Constant) and right.value is None and isinstance(test.ops[0], ast.Is | ast.IsNot):
                is_none = isinstance(test.ops[0], ast.Is) == truth
                value = self.facts.value(test.left)
                result[key] = values.NONE if is_none else value.without(Kind.NONE)
        elif (
            isinstance(test, ast.Compare)
            and len(test.ops) == 1
            and isinstance(test.left, ast.Attribute)
            and test.left.attr == "dtype"
        ):
            self._narrow_dtype(
                test.left.value,
                test.comparators[0],
                result,
                isinstance(test.ops[0], ast.Eq) == truth and isinstance(test.ops[0], ast.Eq | ast.NotEq),
            )
        elif isinstance(test, ast.Call) and self.module.qualified(test.func) in (
            "isinstance",
            "torch.is_tensor",
            "torch.overrides.is_tensor_like",
        ):
            self._narrow_isinstance(test, result, truth)
        elif (
            truth
            and isinstance(test, ast.Call)
            and isinstance(test.func, ast.Attribute)
            and test.func.attr == "is_floating_point"
        ):
            owner = self._key(test.func.value)
            value = self.facts.value(test.func.value)
            if owner is not None and value.is_tensor:
                result[owner] = replace(value, dtype="float")
        elif truth and (key := self._key(test)) is not None:
            result[key] = self.facts.value(test).without(Kind.NONE)
        return result

    def _narrow_dtype(self, node: ast.expr, dtype: ast.expr, env: Env, equal: bool) -> None:
        key, ref = self._key(node), self.facts.value(dtype).ref
        value = self.facts.value(node)
        exact = torch_api.dtype_name(ref) if ref is not None else None
        if equal and key is not None and exact is not None and value.is_tensor:
            env[key] = replace(value, dtype=_dtype_class(exact), dtype_id=exact)

    def _narrow_isinstance(self, test: ast.Call, env: Env, truth: bool) -> None:
        key = self._key(test.args[0]) if test.args else None
        if key is None:
            return
        if len(test.args) > 1:
            types = test.args[1].elts if isinstance(test.args[1], ast.Tuple) else [test.args[1]]
            names = [self.module.qualified(t) or "" for t in types]
        else:
            names = ["torch.Tensor"]
        old = self.facts.value(test.args[0])
        tensors = [is_tensor_type(n) for n in names]
        if truth and all(tensors):
            env[key] = (
                replace(old, kinds=frozenset({Kind.TENSOR}), certain=True)
                if old.may_be(Kind.TENSOR)
                else tensor(storage=old.storage, leaves=old.leaves)
            )
            if old.is_unknown and old.shape_id is None and key in self._parameter_names():
                env[key] = replace(
                    env[key],
                    shape_id=f"shape of {self.function.qualname}.{key}",
                    dtype_id=f"dtype of {self.function.qualname}.{key}",
                )
        elif truth:
            known = join_all(annotated(t, self.module, self.project) for t in types)
            env[key] = (
                replace(known, storage=old.storage, leaves=old.leaves)
                if not known.is_unknown
                else old.without(Kind.NONE)
            )
        elif any(tensors):
            env[key] = old.without(Kind.TENSOR)

    def _parameter_names(self) -> set[str]:
        return {a.arg for a in self.function.parameters}

    def _key(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.NamedExpr):
            return node.target.id
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self.self_name:
            return f"{self.self_name}.{node.attr}"
        return None

    # -- expressions

    def eval(self, node: ast.expr, env: Env) -> Value:
        """The value of an expression, which is also kept for the rules."""
        handler = _EXPRESSIONS.get(type(node))
        if handler is not None:
            value = handler(self, node, env)
        else:
            for child in ast.iter_child_nodes(node):
                if isinstance(child, ast.expr):
                    self.eval(child, env)
            value = values.UNKNOWN
        if self.grad_modes and isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call) and value.leaves:
            # Whether gradients are recorded here is not the same as outside.
            value = replace(value, leaves=value.leaves | {f"?{self._fresh(node)}"})
        old = self.facts.values.get(node)
        self.facts.values[node] = value if old is None else _revisited(old, value)
        return value

    def _fresh(self, node: ast.AST) -> str:
        return f"{self.function.qualname}@{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}:{getattr(node, 'end_col_offset', 0)}"

    def _constant(self, node: ast.Constant, env: Env) -> Value:
        return values.STATIC if node.value is Ellipsis else static(node.value)

    def _name(self, node: ast.Name, env: Env) -> Value:
        if node.id in env:
            return env[node.id]
        qualified = self.module.qualified(node)
        value = self.inference.module_global(self.module, node.id)
        if value is not None:
            return value
        return self._named(qualified) if qualified is not None else values.UNKNOWN

    def _named(self, name: str) -> Value:
        found = self.project.resolve(name)
        if isinstance(found, Function | Class):
            return Value(frozenset({Kind.CALLABLE}), ref=found.full_name)
        if isinstance(found, Module):
            return Value(frozenset({Kind.CALLABLE}), ref=found.name)
        head, _, last = found.rpartition(".")
        if head in self.project.modules:
            value = self.inference.module_global(self.project.modules[head], last)
            if value is not None:
                return value
        if torch_api.is_dtype(found) or found in (
            "math.pi",
            "math.e",
            "math.inf",
            "math.nan",
            "numpy.pi",
            "numpy.inf",
            "torch.inf",
            "torch.pi",
        ):
            return replace(values.STATIC, ref=found)
        return Value(frozenset({Kind.CALLABLE}), ref=found)

    def _attribute(self, node: ast.Attribute, env: Env) -> Value:
        key = self._key(node)
        if key is not None and key in env:
            self.eval(node.value, env)
            return env[key]
        base = self.eval(node.value, env)
        if base.may_be(Kind.TENSOR) and not base.is_unknown:
            return self._tensor_attribute(node.attr, base, node)
        if base.is_(Kind.CALLABLE) and base.ref is not None:
            return self._named(f"{base.ref}.{node.attr}")
        if base.is_(Kind.OBJECT, Kind.NONE) and base.ref is not None:
            return self._object_attribute(base.ref, node.attr)
        if node.attr == "shape":
            return values.SHAPE
        if node.attr in ("dtype", "device", "ndim", "training", "requires_grad"):
            return values.STATIC
        return replace(values.UNKNOWN, storage=base.storage, leaves=base.leaves)

    def _tensor_attribute(self, attr: str, base: Value, node: ast.AST) -> Value:
        if attr == "shape":
            elements = (values.SIZE,) * base.rank if base.rank is not None else None
            return replace(values.SHAPE, elements=elements)
        if attr in ("ndim", "itemsize", "nbytes"):
            return values.SIZE
        api = torch_api.method(attr)
        if api is not None and api.attribute:
            if api.returns == "Tensor":
                same = attr in ("data", "grad", "real", "imag")
                transposed = self._fresh(node) if base.rank != 0 else "()"
                return replace(
                    base,
                    shape_id=base.shape_id if same else transposed,
                    leaves=frozenset() if attr in ("data", "grad") else base.leaves,
                    kinds=base.kinds | values.NONE.kinds if attr == "grad" else base.kinds,
                )
            return values.STATIC
        return Value(frozenset({Kind.CALLABLE}), ref=f"Tensor.{attr}")

    def _object_attribute(self, ref: str, attr: str) -> Value:
        cls = self.project.resolve(ref)
        if isinstance(cls, Class):
            attributes = self.inference.class_facts(cls).attributes
            method = self.project.method(cls, attr)
            if method is not None:
                if method.is_property:
                    return replace(self.inference.summary(method), shape_id=None, dtype_id=None, const=None)
                return Value(frozenset({Kind.CALLABLE}), ref=method.full_name)
            if attr in attributes:
                return attributes[attr]
            if attr == "training":
                return Value(frozenset({Kind.STATIC}), dtype="bool")
            return values.UNKNOWN
        if ref == "logging.Logger":
            return Value(frozenset({Kind.CALLABLE}), ref=f"logging.Logger.{attr}")
        if ref == "torch.finfo":
            return Value(frozenset({Kind.STATIC}), dtype="int" if attr == "bits" else "float")
        if ref == "torch.iinfo":
            return Value(frozenset({Kind.STATIC}), dtype="int")
        if ref.startswith("torch.nn."):
            if attr in ("weight", "bias"):
                value = tensor(dtype="float", storage=frozenset({f"self.{attr}"}), leaves=frozenset({f"{ref}.{attr}"}))
                return join(value, values.NONE) if attr == "bias" else value
            if attr == "training":
                return Value(frozenset({Kind.STATIC}), dtype="bool")
            return values.UNKNOWN if attr not in ("forward", "__call__") else Value(frozenset({Kind.OBJECT}), ref=ref)
        return Value(frozenset({Kind.CALLABLE}), ref=f"{ref}.{attr}")

    def _element(self, value: Value, node: ast.expr) -> Value:
        """One item of an iterable."""
        if value.is_(Kind.CONTAINER):
            return (
                value.element
                if value.element is not None
                else replace(values.UNKNOWN, storage=value.storage, leaves=value.leaves)
            )
        if value.is_tensor:
            rank = None if value.rank is None else value.rank - 1
            return tensor(
                dtype=value.dtype,
                dtype_id=value.dtype_id,
                rank=rank,
                certain=value.certain,
                storage=value.storage,
                leaves=value.leaves,
            )
        if value.is_(Kind.OBJECT) and value.element is not None:
            return value.element
        return replace(values.UNKNOWN, storage=value.storage, leaves=value.leaves)

    def _subscript(self, node: ast.Subscript, env: Env) -> Value:
        base = self.eval(node.value, env)
        index = self.eval(node.slice, env)
        if (
            isinstance(node.value, ast.Attribute)
            and node.value.attr == "shape"
            and index.is_(Kind.STATIC)
            and index.dtype == "int"
        ):
            key = self._key(node.value.value)
            if key is not None and key in env and env[key].is_tensor and env[key].rank is None:
                env[key] = replace(env[key], has_dims=True)
        if base.is_tensor or (base.may_be(Kind.TENSOR) and not base.is_unknown):
            return self._index_tensor(node, base, index)
        if base.is_(Kind.CONTAINER):
            if isinstance(node.slice, ast.Slice):
                return replace(base, elements=None)
            if base.elements is not None and index.const is not None and isinstance(index.const.value, int):
                position = index.const.value
                if -len(base.elements) <= position < len(base.elements):
                    return base.elements[position]
            return (
                base.element
                if base.element is not None
                else replace(values.UNKNOWN, storage=base.storage, leaves=base.leaves)
            )
        if base.is_(Kind.OBJECT) and base.element is not None and not isinstance(node.slice, ast.Slice):
            return base.element
        if base.is_(Kind.NDARRAY):
            return base
        return replace(values.UNKNOWN, storage=base.storage, leaves=base.leaves)

    def _index_tensor(self, node: ast.Subscript, base: Value, index: Value) -> Value:
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        rank = base.rank
        copied = False
        for part in parts:
            value = self.facts.value(part)
            if isinstance(part, ast.Slice):
                continue
            if isinstance(part, ast.Constant) and part.value is None:
                rank = None if rank is None else rank + 1
            elif value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) and value.dtype == "int":
                rank = None if rank is None else rank - 1
            elif isinstance(part, ast.Constant) and part.value is Ellipsis:
                continue
            else:
                rank, copied = None, value.may_be(Kind.TENSOR) or copied
        storage = base.storage if not copied else base.storage | {self._fresh(node)}
        return tensor(
            dtype=base.dtype,
            dtype_id=base.dtype_id,
            rank=rank,
            shape_id=self._fresh(node),
            certain=base.certain,
            storage=storage,
            leaves=base.leaves,
        )

    def _slice(self, node: ast.Slice, env: Env) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.eval(part, env)
        return values.STATIC

    def _bin_op(self, node: ast.BinOp, env: Env) -> Value:
        return self._binary(node.op, self.eval(node.left, env), self.eval(node.right, env), node)

    def _binary(self, op: ast.operator, left: Value, right: Value, node: ast.AST) -> Value:
        if isinstance(op, ast.MatMult) and (left.is_tensor or right.is_tensor):
            dtype = left.dtype if left.dtype == right.dtype else None
            return tensor(
                dtype=dtype,
                dtype_id=f"dtype {self._fresh(node)}",
                shape_id=self._fresh(node),
                certain=left.certain or right.certain,
                storage=frozenset({self._fresh(node)}),
                leaves=left.leaves | right.leaves,
            )
        if left.may_be(Kind.TENSOR) and not left.is_unknown or right.may_be(Kind.TENSOR) and not right.is_unknown:
            divides = isinstance(op, ast.Div)
            return self._elementwise([left, right], node, "float" if divides else "promote")
        pair = (left, right)
        if any(v.is_unknown for v in pair):
            return replace(values.UNKNOWN, storage=left.storage | right.storage, leaves=left.leaves | right.leaves)
        if any(v.is_(Kind.NDARRAY) for v in pair):
            return values.NDARRAY
        if any(v.is_(Kind.CONTAINER) for v in pair):
            element = (
                join_all(v.element for v in pair if v.element is not None) if any(v.element for v in pair) else None
            )
            elements = None
            if isinstance(op, ast.Add) and left.elements is not None and right.elements is not None:
                elements = left.elements + right.elements
            return values.container(element, elements, ref=left.ref if left.ref == right.ref else None)
        if all(v.is_(Kind.NUMBER, Kind.STATIC, Kind.SIZE) for v in pair):
            dtype = "float" if isinstance(op, ast.Div) else _promote(left.dtype, right.dtype)
            if any(v.is_(Kind.NUMBER) for v in pair):
                return number(dtype, left.certain and right.certain)
            if any(v.is_(Kind.SIZE) for v in pair) and not any(v.dtype is None for v in pair):
                return replace(values.SIZE, dtype=dtype)
            return replace(values.STATIC, dtype=dtype, const=_fold(op, left.const, right.const))
        return values.UNKNOWN

    def _elementwise(self, operands: Sequence[Value], node: ast.AST, rule: str) -> Value:
        """The result of a pointwise operation with broadcasting; `rule` is the dtype rule of the API table."""
        tensors = [v for v in operands if v.may_be(Kind.TENSOR) and not v.is_unknown]
        unknown = [v for v in operands if v.is_unknown or v.is_(Kind.NDARRAY)]
        ranked = [v.rank for v in tensors]
        rank = (
            None
            if unknown or None in ranked or any(not v.is_tensor for v in tensors)
            else max((r for r in ranked if r is not None), default=None)
        )
        certain = any(v.certain and v.is_tensor for v in tensors)
        big = [v for v in tensors if v.rank != 0]
        shape_id: str | None = None
        ids = {v.shape_id for v in big}
        if not unknown and all(v.is_tensor for v in tensors):
            if len(ids) == 1:
                shape_id = next(iter(ids))
            if shape_id is None:
                shape_id = self._fresh(node)
        dtype, dtype_id = _pointwise_dtype(operands, tensors, big, rule, bool(unknown))
        dtype_id = dtype_id or f"dtype {self._fresh(node)}"
        leaves = frozenset[str]().union(*(v.leaves for v in operands))
        kinds = (
            frozenset({Kind.TENSOR})
            if any(v.is_tensor for v in tensors) or not tensors
            else tensors[0].kinds - values.NONE.kinds
        )
        has_dims = any(v.is_tensor and v.dimensioned for v in tensors)
        result = tensor(
            dtype=dtype,
            dtype_id=dtype_id,
            rank=rank,
            shape_id=shape_id,
            has_dims=has_dims,
            certain=certain,
            storage=frozenset({self._fresh(node)}),
            leaves=leaves,
        )
        return replace(
            result,
            kinds=kinds if kinds <= frozenset({Kind.TENSOR, Kind.NUMBER, Kind.STATIC, Kind.SIZE}) else result.kinds,
        )

    def _unary_op(self, node: ast.UnaryOp, env: Env) -> Value:
        value = self.eval(node.operand, env)
        if isinstance(node.op, ast.Not):
            if value.may_be(Kind.TENSOR) and not value.is_unknown or value.is_(Kind.NUMBER):
                return number("bool", value.certain)
            return Value(frozenset({Kind.STATIC}), dtype="bool") if not value.is_unknown else values.UNKNOWN
        if value.is_tensor:
            return replace(value, storage=frozenset({self._fresh(node)}))
        if value.const is not None and isinstance(value.const.value, int | float) and isinstance(node.op, ast.USub):
            return static(-value.const.value)
        return replace(value, const=None)

    def _bool_op(self, node: ast.BoolOp, env: Env) -> Value:
        result: Value | None = None
        state = dict(env)
        for part in node.values:
            value = self.eval(part, state)
            state = self.narrow(part, state, isinstance(node.op, ast.And))
            result = value if result is None else join(result, value)
        assert result is not None
        return result

    def _compare(self, node: ast.Compare, env: Env) -> Value:
        operands = [self.eval(node.left, env), *(self.eval(c, env) for c in node.comparators)]
        if any(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            return Value(frozenset({Kind.STATIC}), dtype="bool")
        if any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
            reads = (
                operands[0].is_tensor
                or operands[-1].is_tensor
                or (operands[-1].element is not None and operands[-1].element.is_tensor)
            )
            if reads or any(v.is_(Kind.NUMBER) for v in operands):
                return number("bool", all(v.certain for v in operands))
            return (
                Value(frozenset({Kind.STATIC}), dtype="bool")
                if not any(v.is_unknown for v in operands)
                else values.UNKNOWN
            )
        if any(v.may_be(Kind.TENSOR) and not v.is_unknown for v in operands):
            if len(node.ops) > 1:
                return number("bool", all(v.certain for v in operands))
            return self._elementwise(operands, node, "bool")
        if any(v.is_unknown for v in operands):
            return values.UNKNOWN
        if any(v.is_(Kind.NDARRAY) for v in operands):
            return values.NDARRAY
        if any(v.is_(Kind.NUMBER) for v in operands):
            return number("bool", all(v.certain for v in operands))
        if any(v.is_(Kind.SIZE) for v in operands):
            return replace(values.SIZE, dtype="bool")
        return Value(frozenset({Kind.STATIC}), dtype="bool")

    def _if_exp(self, node: ast.IfExp, env: Env) -> Value:
        self.facts.env_before[node] = dict(env)
        self.eval(node.test, env)
        body = self.eval(node.body, self.narrow(node.test, env, True))
        orelse = self.eval(node.orelse, self.narrow(node.test, env, False))
        decided = self._compile_time(node.test)
        if decided is not None:
            return body if decided else orelse
        return _either(self._fresh(node), body, orelse)

    def _named_expr(self, node: ast.NamedExpr, env: Env) -> Value:
        value = self.eval(node.value, env)
        self.bind(node.target, value, env)
        return value

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set, env: Env) -> Value:
        parts = []
        starred = False
        for item in node.elts:
            if isinstance(item, ast.Starred):
                starred = True
                parts.append(self._element(self.eval(item.value, env), item.value))
            else:
                parts.append(self.eval(item, env))
        joined = values.container(
            join_all(parts) if parts else None, None if starred or isinstance(node, ast.Set) else tuple(parts)
        )
        return replace(
            joined,
            storage=frozenset[str]().union(*(p.storage for p in parts)),
            leaves=frozenset[str]().union(*(p.leaves for p in parts)),
        )

    def _dict(self, node: ast.Dict, env: Env) -> Value:
        for key in node.keys:
            if key is not None:
                self.eval(key, env)
        parts = [self.eval(v, env) for v in node.values]
        return values.container(join_all(parts) if parts else None, ref="dict")

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, env: Env) -> Value:
        inner = dict(env)
        for generator in node.generators:
            iterable = self.eval(generator.iter, inner)
            self.bind(generator.target, self._element(iterable, generator.iter), inner)
            for test in generator.ifs:
                self.eval(test, inner)
                inner = self.narrow(test, inner, True)
        if isinstance(node, ast.DictComp):
            self.eval(node.key, inner)
            return values.container(self.eval(node.value, inner).stripped(), ref="dict")
        return values.container(self.eval(node.elt, inner).stripped())

    def _lambda(self, node: ast.Lambda, env: Env) -> Value:
        inner = dict(env)
        for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            inner[arg.arg] = values.UNKNOWN
        self.eval(node.body, inner)
        return Value(frozenset({Kind.CALLABLE}))

    def _joined_str(self, node: ast.JoinedStr, env: Env) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.eval(part.value, env)
        return values.STATIC

    # -- calls

    def _call(self, node: ast.Call, env: Env) -> Value:
        super_method = self._super_call(node)
        receiver: Value | None = None
        if super_method is not None:
            callee = Value(frozenset({Kind.CALLABLE}), ref=super_method.full_name)
        else:
            callee = self.eval(node.func, env)
            if isinstance(node.func, ast.Attribute):
                receiver = self.facts.value(node.func.value)
        args = [self.eval(a.value if isinstance(a, ast.Starred) else a, env) for a in node.args]
        keywords = {k.arg: self.eval(k.value, env) for k in node.keywords}
        name = callee.ref
        if name is not None:
            self.facts.refs[node] = name
        operands = [*args, *keywords.values()]
        if callee.is_(Kind.OBJECT) and name is not None:
            return self._call_object(node, callee, args, operands, env)
        if name is None:
            if isinstance(node.func, ast.Attribute) and receiver is not None:
                return self._unknown_method(node, node.func.attr, receiver, operands)
            return self._opaque(node, operands)
        if name.startswith("Tensor.") and receiver is not None:
            return self._call_method(node, name.removeprefix("Tensor."), receiver, args, keywords)
        found = self.project.resolve(name)
        if isinstance(found, Function):
            return self._call_function(node, found, operands, env)
        if isinstance(found, Class):
            return self._construct(found, operands)
        if isinstance(found, str):
            return self._call_named(node, found, args, keywords, env)
        return self._opaque(node, operands)

    def _super_call(self, node: ast.Call) -> Function | None:
        func = node.func
        if not (
            isinstance(func, ast.Attribute)
            and isinstance(func.value, ast.Call)
            and isinstance(func.value.func, ast.Name)
        ):
            return None
        if func.value.func.id != "super" or self.function.cls is None:
            return None
        return self.project.method(self.function.cls, func.attr, after=self.function.cls)

    def _opaque(self, node: ast.AST, operands: Sequence[Value]) -> Value:
        storage = frozenset({self._fresh(node)}).union(*(v.storage for v in operands))
        return replace(
            values.UNKNOWN,
            storage=storage,
            leaves=frozenset({f"?{self._fresh(node)}"}).union(*(v.leaves for v in operands)),
        )

    def _call_function(self, node: ast.Call, found: Function, operands: Sequence[Value], env: Env) -> Value:
        self.facts.calls[node] = found
        if found.cls is not None and self.self_name is not None:
            # A method may assign any attribute.
            for key in [k for k in env if k.startswith(f"{self.self_name}.")]:
                del env[key]
        return self._from_summary(node, self.inference.summary(found), operands, passed=_passed(node, found, operands))

    def _float_arguments(self, node: ast.Call, method: Function, args: Sequence[Value]) -> None:
        floats = self.inference.float_parameters(method)
        parameters = method.parameters[0 if method.cls is None or method.is_static else 1 :]
        for arg, parameter in zip(args, parameters, strict=False):
            if parameter.arg in floats and arg.is_tensor:
                self.facts.float_only.append((node, arg))

    def _from_summary(
        self,
        node: ast.AST,
        summary: Value,
        operands: Sequence[Value],
        extra: frozenset[str] = frozenset(),
        passed: Mapping[str, Value] | None = None,
    ) -> Value:
        """A callee's result in the caller: its ids and memory tokens are the callee's own and mean nothing here."""
        shared: list[Value] = list(operands)
        held: frozenset[str] = frozenset()
        if passed is not None:
            tokens = _all_storage(summary)
            shared = [v for name, v in passed.items() if f"param:{name}" in tokens]
            held = frozenset(f"self.{self._fresh(node)}" for t in tokens if t.startswith(("self.", "global.")))
        storage = frozenset({self._fresh(node)}).union(held, *(v.storage for v in shared))
        leaves = extra | frozenset({f"?{self._fresh(node)}"}).union(*(v.leaves for v in operands))

        def adopt(value: Value, position: str) -> Value:
            elements = (
                None
                if value.elements is None
                else tuple(adopt(v, f"{position}.{i}") for i, v in enumerate(value.elements))
            )
            element = None if value.element is None else adopt(value.element, f"{position}[]")
            number_only = value.dtype in ("bool", "int")
            return replace(
                value,
                dtype_id=f"{position} dtype" if value.dtype_id or value.is_tensor else None,
                shape_id="()" if value.rank == 0 else f"{position}" if value.may_be(Kind.TENSOR) else None,
                storage=storage if not value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) else frozenset(),
                leaves=frozenset() if number_only else leaves,
                elements=elements,
                element=element,
                const=None if value.const is not None and value.const.value is not None else value.const,
            )

        return adopt(summary, self._fresh(node))

    def _construct(self, cls: Class, operands: Sequence[Value]) -> Value:
        return Value(
            frozenset({Kind.OBJECT}), ref=cls.full_name, leaves=frozenset[str]().union(*(v.leaves for v in operands))
        )

    def _call_object(
        self, node: ast.Call, callee: Value, args: Sequence[Value], operands: Sequence[Value], env: Env
    ) -> Value:
        assert callee.ref is not None
        path = self._key(node.func) or ast.unparse(node.func)
        extra = frozenset({path})
        cls = self.project.resolve(callee.ref)
        if isinstance(cls, Class):
            for name in ("forward", "__call__"):
                method = self.project.method(cls, name)
                if method is not None:
                    self.facts.calls[node] = method
                    summary = self.inference.summary(method)
                    self._float_arguments(node, method, args)
                    return self._from_summary(node, summary, operands, extra, passed=_passed(node, method, operands))
            return self._opaque(node, operands)
        self._narrow_arguments(node.args[:1], env)
        if callee.ref == "torch.nn.Sequential" and callee.elements and len(args) == 1:
            result = args[0]
            for position, element in enumerate(callee.elements):
                if not element.is_(Kind.OBJECT) or element.ref is None:
                    return self._opaque(node, operands)
                result = self._call_object(node, element, [result], [result], env)
                result = replace(
                    result,
                    dtype_id=f"{result.dtype_id}.{position}",
                    shape_id=f"{result.shape_id}.{position}" if result.shape_id != "()" else "()",
                )
            return replace(result, leaves=result.leaves | extra)
        api = torch_api.module(callee.ref)
        if api is None:
            return self._opaque(node, operands)
        leaves = extra.union(*(v.leaves for v in operands))
        kind = callee.ref.rpartition(".")[2]
        makes_new = any(part in kind for part in _NEW_RESULT)
        storage = (
            frozenset({self._fresh(node)})
            if makes_new
            else frozenset({self._fresh(node)}).union(*(v.storage for v in operands))
        )
        first = args[0] if args else values.UNKNOWN
        same = api.pointwise or api.dtype == "same" and api.rank == "same"
        if any(part in kind for part in _FLOAT_ONLY) and first.is_tensor:
            self.facts.float_only.append((node, first))
        result = tensor(
            dtype=first.dtype if api.dtype == "same" and first.dtype is not None else "float",
            dtype_id=(first.dtype_id if same and first.is_tensor else None) or f"{self._fresh(node)} dtype",
            rank=first.rank if api.rank == "same" else 0 if api.rank == "0" else None,
            shape_id=(first.shape_id if api.rank == "same" and (api.pointwise or "Norm" in kind) else None)
            or self._fresh(node),
            has_dims=any(part in kind for part in _FLOAT_ONLY)
            or "Embedding" in kind
            or api.rank == "same"
            and first.is_tensor
            and first.dimensioned,
            storage=storage,
            leaves=leaves,
        )
        return self._shaped(api.returns, result)

    def _shaped(self, returns: str | Sequence[object], result: Value) -> Value:
        if returns == "Tensor":
            return result
        if isinstance(returns, list | tuple):
            parts = tuple(
                self._shaped(
                    r,
                    replace(
                        result,
                        shape_id=f"{result.shape_id}.{i}",
                        dtype_id=None,
                        rank=None,
                        dtype=result.dtype if i == 0 else None,
                    ),
                )
                if isinstance(r, str | list | tuple)
                else values.UNKNOWN
                for i, r in enumerate(returns)
            )
            return replace(values.container(elements=parts), storage=result.storage, leaves=result.leaves)
        if returns == "list":
            return replace(
                values.container(replace(result, shape_id=None, rank=result.rank)),
                storage=result.storage,
                leaves=result.leaves,
            )
        if returns in ("int", "float", "bool", "number"):
            return values.STATIC
        if returns == "size":
            return values.SHAPE
        if returns == "None":
            return values.NONE
        if returns in ("str", "dtype", "device", "layout"):
            return values.STATIC
        return replace(values.UNKNOWN, storage=result.storage, leaves=result.leaves)

    def _unknown_method(self, node: ast.Call, attr: str, receiver: Value, operands: Sequence[Value]) -> Value:
        """A method of a value of unknown kind: some names leave little doubt."""
        if attr in _SHAPE_METHODS and receiver.is_unknown:
            result = _SHAPE_METHODS[attr]
            return values.SIZE if attr == "size" and (node.args or node.keywords) else result
        if receiver.is_unknown and attr in torch_api.TENSOR_ONLY_METHODS:
            api = torch_api.method(attr)
            if api is not None and api.returns == "Tensor":
                return self._call_method(
                    node, attr, replace(receiver, kinds=frozenset({Kind.TENSOR})), list(operands), {}
                )
        if attr in ("items", "values", "keys") and receiver.is_(Kind.CONTAINER):
            element = receiver.element if receiver.element is not None else values.UNKNOWN
            return values.container(
                element
                if attr == "values"
                else values.STATIC
                if attr == "keys"
                else values.container(elements=(values.STATIC, element))
            )
        if attr in ("get", "pop", "setdefault") and receiver.is_(Kind.CONTAINER) and receiver.element is not None:
            return join(receiver.element, values.NONE)
        if (
            attr == "format"
            or receiver.is_(Kind.STATIC)
            and attr in ("lower", "upper", "strip", "startswith", "endswith", "split", "join")
        ):
            return values.STATIC
        return self._opaque(node, [receiver, *operands])

    def _call_method(
        self, node: ast.Call, attr: str, receiver: Value, args: Sequence[Value], keywords: Mapping[str | None, Value]
    ) -> Value:
        if attr == "size":
            return values.SIZE if args or keywords else self._tensor_attribute("shape", receiver, node)
        if attr in _SHAPE_METHODS:
            return _SHAPE_METHODS[attr]
        if attr == "item":
            return number(receiver.dtype, receiver.certain)
        if attr == "tolist":
            if receiver.rank == 0:
                return number(receiver.dtype, receiver.certain)
            listed = values.container(number(receiver.dtype, receiver.certain) if receiver.rank == 1 else None)
            return replace(listed, kinds=listed.kinds | {Kind.NUMBER}) if receiver.rank is None else listed
        if attr == "numpy":
            return values.NDARRAY
        api = torch_api.method(attr)
        if api is None:
            return self._opaque(node, [receiver, *args])
        return self._apply(node, api, [receiver, *args], keywords, attr)

    def _call_named(
        self, node: ast.Call, name: str, args: Sequence[Value], keywords: Mapping[str | None, Value], env: Env
    ) -> Value:
        operands = [*args, *keywords.values()]
        if name in _BUILTINS:
            return self._call_builtin(node, name, args, env)
        if name.startswith("math."):
            return self._call_math(name, args)
        if name.startswith("numpy."):
            return self._call_numpy(name, args)
        if name in _FLOAT_ONLY_FUNCTIONS and args and args[0].is_tensor:
            # These take no tensor without dimensions either.
            self.facts.float_only.append((node, args[0]))
        api = torch_api.function(name)
        if api is not None:
            if api.dtype != "arg":
                self._narrow_arguments(node.args[:1], env)
                args = [
                    self.facts.value(a)
                    if isinstance(a, ast.Name) and i == 0 and env.get(a.id) is not None and env[a.id].is_tensor
                    else v
                    for i, (a, v) in enumerate(zip(node.args, args, strict=False))
                ] + list(args[len(node.args) :])
                if node.args and isinstance(node.args[0], ast.Name) and node.args[0].id in env:
                    args = [env[node.args[0].id], *args[1:]]
            return self._apply(node, api, args, keywords, name)
        if name.startswith("Tensor."):
            return self._opaque(node, operands)
        if torch_api.module(name) is not None or name.startswith("torch.nn.") and name.rpartition(".")[2][:1].isupper():
            element = None
            if name.endswith((".Sequential", ".ModuleList")):
                element = self._module_elements(args)
            elif name.endswith(".Parameter"):
                source = args[0] if args else values.UNKNOWN
                return tensor(
                    dtype="float",
                    rank=source.rank if source.is_tensor else None,
                    storage=frozenset({self._fresh(node)}),
                )
            known = (
                None
                if any(isinstance(a, ast.Starred) for a in node.args) or not name.endswith(".Sequential")
                else tuple(args)
            )
            inplace = any(
                k.arg == "inplace" and not (isinstance(k.value, ast.Constant) and k.value.value is False)
                for k in node.keywords
            )
            inplace = (
                inplace
                or name.rpartition(".")[2] in INPLACE_MODULES
                and any(v.const is None or v.const.value is True for v in args)
            )
            return Value(frozenset({Kind.OBJECT}), ref=name, element=element, elements=known, inplace=inplace)
        if name == "logging.getLogger":
            return Value(frozenset({Kind.OBJECT}), ref="logging.Logger")
        if name.endswith(".apply"):
            cls = self.project.resolve(name.removesuffix(".apply"))
            if isinstance(cls, Class) and self.project.is_autograd_function(cls):
                forward = self.project.method(cls, "forward")
                if forward is not None:
                    self.facts.calls[node] = forward
                    return self._from_summary(node, self.inference.summary(forward), operands)
        if name in ("torch.finfo", "torch.iinfo"):
            return Value(frozenset({Kind.OBJECT}), ref=name)
        if name in (
            "torch.is_grad_enabled",
            "torch.is_autocast_enabled",
            "torch.cuda.is_available",
            "torch.get_default_dtype",
            "torch.device",
        ):
            return values.STATIC
        return self._opaque(node, operands)

    def _module_elements(self, args: Sequence[Value]) -> Value | None:
        parts: list[Value] = []
        for value in args:
            if value.is_(Kind.CONTAINER):
                if value.element is not None:
                    parts.append(value.element)
            else:
                parts.append(value)
        return join_all(parts) if parts else None

    def _call_builtin(self, node: ast.Call, name: str, args: Sequence[Value], env: Env) -> Value:
        first = args[0] if args else values.UNKNOWN
        tensors = [v for v in args if v.may_be(Kind.TENSOR) and not v.is_unknown]
        certain = all(v.certain for v in tensors)
        if name in _CASTS:
            if first.is_tensor or first.is_(Kind.NUMBER) or tensors and first is tensors[0]:
                return number(_CASTS[name], certain)
            if first.is_(Kind.SIZE):
                return replace(values.SIZE, dtype=_CASTS[name])
            return (
                Value(frozenset({Kind.STATIC}), dtype=_CASTS[name])
                if not first.is_unknown
                else replace(values.UNKNOWN, dtype=_CASTS[name])
            )
        if name == "len":
            return values.SIZE
        if name in ("isinstance", "hasattr", "callable", "issubclass"):
            return Value(frozenset({Kind.STATIC}), dtype="bool")
        if name in _NUMERIC_BUILTINS:
            if len(args) == 1 and first.is_(Kind.CONTAINER) and first.element is not None:
                return replace(
                    first.element,
                    shape_id=None if name != "sum" else first.element.shape_id,
                    storage=first.element.storage | {self._fresh(node)},
                )
            if tensors:
                if name == "abs":
                    return self._elementwise(args, node, "same")
                return self._elementwise(args, node, "promote")
            if any(v.is_unknown for v in args):
                return values.UNKNOWN
            if any(v.is_(Kind.NUMBER) for v in args):
                return number("int" if name == "round" and len(args) == 1 else _promote(*(v.dtype for v in args)))
            if any(v.is_(Kind.SIZE) for v in args):
                return replace(values.SIZE, dtype=_promote(*(v.dtype for v in args)))
            dtype = "int" if name == "round" and len(args) == 1 else _promote(*(v.dtype for v in args))
            return Value(frozenset({Kind.STATIC}), dtype=dtype)
        if name in ("any", "all"):
            element = first.element if first.is_(Kind.CONTAINER) else None
            if element is not None and (element.is_tensor or element.is_(Kind.NUMBER)) or first.is_tensor:
                return number("bool", certain)
            return (
                Value(frozenset({Kind.STATIC}), dtype="bool")
                if element is not None and element.is_static
                else values.UNKNOWN
            )
        if name == "range":
            source = join_all(args) if args else values.UNKNOWN
            return values.container(
                replace(values.SIZE, const=None)
                if source.is_static
                else number("int")
                if source.is_(Kind.NUMBER, Kind.TENSOR, Kind.STATIC, Kind.SIZE)
                else replace(values.UNKNOWN, dtype="int")
            )
        if name == "enumerate":
            return values.container(values.container(elements=(values.SIZE, self._element(first, node))))
        if name == "zip":
            return values.container(values.container(elements=tuple(self._element(v, node) for v in args)))
        if name in ("list", "tuple", "reversed", "sorted", "set", "iter"):
            if first.is_(Kind.CONTAINER):
                return replace(first, elements=None if name in ("reversed", "sorted", "set") else first.elements)
            return values.container(self._element(first, node)) if args else values.container()
        if name == "getattr":
            return replace(values.UNKNOWN, storage=first.storage, leaves=first.leaves)
        if name in ("print", "setattr"):
            return values.NONE
        if name == "dict":
            return values.container(ref="dict")
        return values.STATIC if name in ("str", "repr", "type", "id", "format", "hash") else values.UNKNOWN

    def _call_math(self, name: str, args: Sequence[Value]) -> Value:
        dtype = (
            "int"
            if name in ("math.ceil", "math.floor", "math.trunc", "math.comb", "math.factorial", "math.gcd")
            else "bool"
            if name.startswith("math.is")
            else "float"
        )
        if any(v.is_tensor or v.is_(Kind.NUMBER) for v in args):
            return number(dtype, all(v.certain for v in args))
        if any(v.is_unknown for v in args):
            return replace(values.UNKNOWN, dtype=dtype)
        sized = name in ("math.prod", "math.ceil", "math.floor") and any(v.is_(Kind.SIZE, Kind.CONTAINER) for v in args)
        return replace(values.SIZE, dtype="int") if sized else Value(frozenset({Kind.STATIC}), dtype=dtype)

    def _call_numpy(self, name: str, args: Sequence[Value]) -> Value:
        if args and all(v.is_(Kind.STATIC, Kind.SIZE) for v in args) and not name.startswith("numpy.random."):
            return replace(values.STATIC, dtype="float", ref="numpy")
        return values.NDARRAY

    def _narrow_arguments(self, nodes: Sequence[ast.expr], env: Env) -> None:
        """torch's functions and modules take tensors: a name passed to one is a tensor from then on."""
        for node in nodes:
            key = self._key(node)
            value = self.facts.value(node)
            if key is not None and value.is_unknown:
                if isinstance(node, ast.Attribute):
                    continue
                is_parameter = (
                    key in self._parameter_names() and key in env and env[key].storage == frozenset({f"param:{key}"})
                )
                name = f"{self.function.qualname}.{key}" if is_parameter else self._fresh(node)
                env[key] = replace(
                    value, kinds=frozenset({Kind.TENSOR}), dtype_id=f"dtype of {name}", shape_id=f"shape of {name}"
                )

    def _apply(
        self, node: ast.Call, api: torch_api.Api, args: Sequence[Value], keywords: Mapping[str | None, Value], name: str
    ) -> Value:
        """The result of a torch function or method by its entry in the API table."""
        operands = [*args, *keywords.values()]
        first = args[0] if args else next(iter(keywords.values()), values.UNKNOWN)
        if name in ("torch.cat", "torch.stack", "torch.concat") and first.is_(Kind.CONTAINER):
            first = first.element if first.element is not None else values.UNKNOWN
            first = first.stripped()
        dim_given = len(args) > 1 or "dim" in keywords or "axis" in keywords
        certain = first.certain if first.is_tensor else True
        returns = api.returns
        if (
            api.returns_with_dim is not None
            and dim_given
            and not (len(args) > 1 and args[1].is_tensor and "dim" not in keywords)
        ):
            returns = api.returns_with_dim
        binary = (
            api.returns_with_dim is not None
            and len(args) > 1
            and args[1].may_be(Kind.TENSOR)
            and not args[1].is_unknown
        )
        if api.host and returns != "Tensor":
            return number({"bool": "bool", "int": "int", "float": "float"}.get(str(returns)), certain)
        storage = frozenset({self._fresh(node)})
        if api.view or api.mutates:
            storage = first.storage
        elif api.maybe_view:
            storage = storage | first.storage
        bare = name.rpartition(".")[2]
        leaves = (
            frozenset()
            if not api.differentiable
            or bare in ("detach", "detach_")
            or bare.endswith("_like")
            or bare.startswith("new_")
            or api.dtype == "arg"
            and name not in ("torch.tensor", "torch.as_tensor")
            else frozenset[str]().union(*(v.leaves for v in operands))
        )
        if api.dtype in ("promote", "promote_float", "bool") and api.pointwise or binary or api.rank == "broadcast":
            rule = {"promote_float": "float", "bool": "bool"}.get(api.dtype, "promote")
            result = self._elementwise(operands, node, rule)
            if bare in ("complex", "polar"):
                result = replace(result, dtype="complex", dtype_id=f"complex {self._fresh(node)}")
            return replace(
                result,
                certain=True if name.startswith("torch.") else certain,
                leaves=leaves if result.dtype not in ("bool", "int") else frozenset(),
                storage=storage if not api.pointwise or api.mutates else result.storage,
            )
        rank = self._rank(api, node, name, first, args, keywords, dim_given)
        same_shape = (
            api.rank == "same"
            and not first.is_unknown
            and (api.pointwise and bare not in _MOVES_DIMENSIONS or bare in _KEEPS_SHAPE)
        )
        dtype, dtype_id = self._dtype(api, first, node, keywords, args, name)
        result = tensor(
            dtype=dtype,
            dtype_id=dtype_id or f"dtype {self._fresh(node)}",
            rank=rank,
            shape_id=first.shape_id if same_shape and first.is_tensor else self._fresh(node),
            has_dims=first.is_tensor and (same_shape or api.rank == "+1") and first.dimensioned,
            certain=True if name.startswith("torch.") else certain,
            storage=storage,
            leaves=leaves,
        )
        if api.mutates and name.endswith("_") and first.is_tensor:
            result = replace(first, leaves=first.leaves | leaves)
            if bare in _RESHAPES_IN_PLACE:
                result = replace(result, rank=None, has_dims=False, shape_id=self._fresh(node))
                if isinstance(node.func, ast.Attribute) and (key := self._key(node.func.value)) is not None:
                    self.reshaped.add(key)
        return self._shaped(returns, result)

    def _rank(
        self,
        api: torch_api.Api,
        node: ast.Call,
        name: str,
        first: Value,
        args: Sequence[Value],
        keywords: Mapping[str | None, Value],
        dim_given: bool,
    ) -> int | None:
        rank = first.rank if first.is_tensor else None
        if name.rpartition(".")[2] in ("take", "searchsorted"):
            return None  # they have the rank of the index, of the second argument
        if api.rank == "same":
            return rank
        if name in ("torch.tensor", "torch.as_tensor", "new_tensor") and len(args) > (name == "new_tensor"):
            data = args[1] if name == "new_tensor" else args[0]
            number_given = data.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) and data.dtype in ("bool", "int", "float")
            return 0 if number_given else data.rank if data.is_tensor else None
        if api.rank in ("0", "1", "2"):
            return int(api.rank)
        if api.rank == "loss":
            return None if "reduction" in keywords else 0
        if api.rank in ("reduce", "reduce_or_broadcast"):
            if not dim_given:
                return 0
            dim = keywords.get("dim", args[1] if len(args) > 1 else values.UNKNOWN)
            keep = keywords.get("keepdim", args[2] if len(args) > 2 else static(False))
            if len(args) > 1 and name.rpartition(".")[2] not in _DIM_SECOND:
                return None  # `norm(2)`, `std(False)`: what comes second is no dimension
            if dim.elements == ():
                return 0 if keep.const is not None and keep.const.value is False else rank
            if dim.kinds == values.NONE.kinds and keep.const is not None and keep.const.value is False:
                return 0
            if rank is not None and keep.const is not None and keep.const.value is True:
                return rank
            if (
                rank is not None
                and dim.is_(Kind.STATIC)
                and dim.dtype == "int"
                and keep.const is not None
                and keep.const.value is False
            ):
                return max(rank - 1, 0)
            if rank is not None and dim.elements is not None and keep.const is not None and keep.const.value is False:
                return max(rank - len(dim.elements), 0)
            return None
        if api.rank == "+1":
            return None if rank is None else rank + 1
        if api.rank == "-1":
            return None if rank is None else rank - 1
        if (
            name.rpartition(".")[2] in ("squeeze", "flatten")
            or api.rank == "unknown"
            and name.rpartition(".")[2] not in _SIZED
        ):
            return None
        if api.rank == "arg" or api.rank == "unknown":
            is_method = not name.startswith("torch.") or name.rpartition(".")[2] in _SIZED
            sizes = args[1:] if is_method else args
            if sizes and sizes[0].is_(Kind.CONTAINER):
                return None if sizes[0].elements is None else len(sizes[0].elements)
            starred = any(isinstance(a, ast.Starred) for a in node.args)
            if len(sizes) == 1 and not sizes[0].is_(Kind.SIZE, Kind.NUMBER) and sizes[0].dtype != "int":
                return None  # it may be a tuple, or a dtype
            return (
                len(sizes)
                if sizes
                and not starred
                and all(s.is_(Kind.SIZE, Kind.STATIC, Kind.NUMBER) or s.is_unknown for s in sizes)
                else None
            )
        return None

    def _dtype(
        self,
        api: torch_api.Api,
        first: Value,
        node: ast.Call,
        keywords: Mapping[str | None, Value],
        args: Sequence[Value],
        name: str,
    ) -> tuple[str | None, str | None]:
        """Class and id of the result's dtype."""
        given = keywords.get("dtype")
        if given is None and name in ("to", "type") and len(args) > 1:
            given = next((v for v in args[1:] if v.ref is not None and torch_api.is_dtype(v.ref)), None)
            if (
                given is None
                and name == "to"
                and any(v.is_unknown or v.is_tensor or v.is_(Kind.STATIC) for v in args[1:])
            ):
                if len(args) == 2 and args[1].is_tensor:
                    return args[1].dtype, args[1].dtype_id
                # `.to(device)` keeps the dtype, `.to(dtype)` does not: a static value of unknown sort may be either.
                return (first.dtype if _is_device(node.args) else None), (
                    first.dtype_id if _is_device(node.args) else None
                )
        if given is not None and given.kinds != values.NONE.kinds:
            exact = torch_api.dtype_name(given.ref) if given.ref is not None else None
            return (_dtype_class(exact), exact) if exact is not None else (None, None)
        rule = api.dtype
        bare = name.rpartition(".")[2]
        if bare in ("any", "all") and first.dtype not in ("bool", "float"):
            return None, None  # uint8 gives uint8
        if (
            rule == "same"
            or name == "view"
            and all(v.is_(Kind.SIZE, Kind.STATIC, Kind.CONTAINER, Kind.NUMBER) and v.ref is None for v in args[1:])
        ):
            return first.dtype, first.dtype_id
        if api.rank == "loss":
            return "float", None
        if rule == "float":
            return "float", first.dtype_id if first.dtype == "float" else None
        if rule == "bool":
            return "bool", "bool"
        if rule == "sum":
            return (
                (first.dtype, first.dtype_id)
                if first.dtype == "float"
                else ("int", "int64")
                if first.dtype in ("bool", "int")
                else (None, None)
            )
        if rule == "numeric":
            return (first.dtype, first.dtype_id) if first.dtype in ("float", "int") else (None, None)
        if rule in ("arg", "unknown"):
            if rule == "arg" and name in (
                "torch.zeros",
                "torch.ones",
                "torch.rand",
                "torch.randn",
                "torch.empty",
                "torch.linspace",
            ):
                return "float", "default"
            if name in ("torch.tensor", "torch.as_tensor") and first.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER):
                return first.dtype, {"float": "default", "int": "int64", "bool": "bool"}.get(first.dtype or "")
            return None, None
        if rule == "arg_or_same":
            return first.dtype, first.dtype_id
        if rule == "promote":
            return _pointwise_dtype(
                [first, *args[1:]],
                [v for v in args if v.is_tensor],
                [v for v in args if v.is_tensor and v.rank != 0],
                "promote",
                False,
            )
        return _dtype_class(rule), rule if rule is not None and _dtype_class(rule) is not None else None


class Evidence:
    """What the uses of a parameter without annotation say of it: methods that only tensors have, arguments of torch."""

    def __init__(self, function: Function, inference: Inference) -> None:
        self._proof: set[str] = set()
        self._hint: set[str] = set()
        self._function = function
        names = {a.arg for a in function.parameters if a.annotation is None}
        module = function.module
        for node in function.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in names:
                if node.attr in torch_api.TENSOR_ONLY_METHODS:
                    self._proof.add(node.value.id)
                elif node.attr in ("shape", "size", "device", "dtype"):
                    self._hint.add(node.value.id)
            elif (
                isinstance(node, ast.Call)
                and node.args
                and isinstance(node.args[0], ast.Name)
                and node.args[0].id in names
            ):
                called = module.qualified(node.func)
                if called is None:
                    continue
                api = torch_api.function(called)
                if api is not None and api.dtype not in ("arg", "unknown") and api.returns == "Tensor":
                    self._proof.add(node.args[0].id)
                elif called.startswith("self.") and called.count(".") == 1 and function.node.name == "forward":
                    self._hint.add(node.args[0].id)

    def of(self, name: str) -> Value | None:
        """A tensor, certain or not; None without evidence."""
        if name in self._proof:
            return tensor()
        if name in self._hint:
            return tensor(certain=False)
        return None


def _passed(node: ast.Call, callee: Function, operands: Sequence[Value]) -> Mapping[str, Value] | None:
    """The arguments of a call by the callee's parameters; None where stars or surplus arguments hide which is which."""
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        return None
    parameters = [p.arg for p in callee.parameters[0 if callee.cls is None or callee.is_static else 1 :]]
    if len(node.args) > len(parameters):
        return None
    names = [*parameters[: len(node.args)], *(k.arg for k in node.keywords if k.arg is not None)]
    return dict(zip(names, operands, strict=False))


def _all_storage(value: Value) -> frozenset[str]:
    parts = [*(value.elements or ()), *([value.element] if value.element is not None else [])]
    return value.storage.union(*(_all_storage(p) for p in parts))


def _float_parameters(facts: FunctionFacts) -> frozenset[str]:
    """Parameters of unknown dtype that are passed, on every run that ends normally, to what takes only floats.

    Between the start and that call the name may only have been given values that follow the parameter's own dtype, so
    that a tensor that is not floating would fail there.
    """
    function = facts.function
    found: set[str] = set()
    always = {n: statement.lineno for statement in function.node.body for n in _unconditional(statement)}
    for parameter in function.parameters:
        name = parameter.arg
        for node, _ in facts.float_only:
            argument = node.args[0] if node.args else None
            if node not in always or not isinstance(argument, ast.Name) or argument.id != name:
                continue
            if any(isinstance(n, ast.Return | ast.Yield) and n.lineno < node.lineno for n in function.nodes):
                continue
            stores = [
                n
                for n in function.nodes
                if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) and n.lineno < always[node]
            ]
            if all(_follows(facts.value(s), name) for s in stores):
                found.add(name)
    return frozenset(found)


def _follows(value: Value, name: str) -> bool:
    return (
        value.is_tensor
        and value.dtype is None
        and bool(value.leaves)
        and not any(leaf.startswith("?") for leaf in value.leaves)
        and name in value.leaves
    )


def _unconditional(statement: ast.stmt) -> Iterator[ast.AST]:
    """Nodes that are evaluated whenever the statement is reached and nothing raises."""
    if isinstance(statement, ast.With):
        for item in statement.items:
            yield from ast.walk(item)
        for inner in statement.body:
            yield from _unconditional(inner)
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return):
        pending: list[ast.AST] = [statement]
        while pending:
            node = pending.pop()
            yield node
            if isinstance(node, ast.IfExp):
                pending.append(node.test)
            elif isinstance(node, ast.BoolOp):
                pending.append(node.values[0])
            elif not isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
                pending.extend(ast.iter_child_nodes(node))


def _either(place: str, a: Value, b: Value) -> Value:
    """The join of two values of a name. Where they hang on other tensors, on which of them is decided at run time."""
    result = join(a, b)
    return result if a.leaves == b.leaves else replace(result, leaves=result.leaves | {f"?either {place}"})


def _rebound_elsewhere(function: Function) -> frozenset[str]:
    """Names that a nested function or a global statement may give another value at any call."""
    names: set[str] = set()
    for node in function.nodes:
        if isinstance(node, ast.Nonlocal | ast.Global):
            names.update(node.names)
    return frozenset(names)


def _join_env(a: Env | None, b: Env | None) -> Env | None:
    if a is None or b is None:
        return b if a is None else a
    result: Env = {}
    for name in {**a, **b}:
        if name in a and name in b:
            result[name] = a[name] if a[name] is b[name] else _either(name, a[name], b[name])
        else:
            # Bound on one way only: reading it may raise, so nothing that rests on it is certain.
            only = a[name] if name in a else b[name]
            result[name] = replace(only, certain=False) if "." not in name else values.UNKNOWN
    return result


def _revisited(old: Value, new: Value) -> Value:
    return new if old == new or old.is_unknown and not new.is_unknown else join(old, new)


def _as_load(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name):
        return ast.copy_location(ast.Name(node.id, ast.Load()), node)
    if isinstance(node, ast.Attribute):
        return ast.copy_location(ast.Attribute(node.value, node.attr, ast.Load()), node)
    if isinstance(node, ast.Subscript):
        return ast.copy_location(ast.Subscript(node.value, node.slice, ast.Load()), node)
    return node


def _promote(*dtypes: str | None) -> str | None:
    order = ("bool", "int", "float", "complex")
    if not dtypes or any(d is None for d in dtypes):
        return None
    highest = max(order.index(d) for d in dtypes if d is not None)
    return "int" if len(dtypes) > 1 and highest == 0 else order[highest]


def _pointwise_dtype(
    operands: Sequence[Value], tensors: Sequence[Value], big: Sequence[Value], rule: str, unknown: bool
) -> tuple[str | None, str | None]:
    if rule == "bool":
        return "bool", "bool"
    if unknown or not tensors:
        return (
            "float"
            if rule == "float" and not unknown and all(t.dtype in ("float", "int", "bool") for t in tensors)
            else None
        ), None
    group = list(big) or list(tensors)
    scalars = [v for v in operands if v.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)]
    small = [v for v in tensors if v.rank == 0 and big]
    dtypes = {v.dtype for v in group}
    dtype = next(iter(dtypes)) if len(dtypes) == 1 else _promote(*(v.dtype for v in group))
    ids = {v.dtype_id for v in group}
    same_id = next(iter(ids)) if len(ids) == 1 else None
    others = [v.dtype for v in (*scalars, *small)]
    if rule == "same":
        return dtype, same_id
    if dtype == "float":
        # Python numbers and tensors without dimension do not widen a floating tensor that has dimensions.
        return ("float", same_id) if all(o in ("bool", "int", "float") for o in others) else (None, None)
    if rule == "float":
        return ("float", None) if dtype in ("int", "bool") else ("float" if dtype == "float" else None, None)
    if dtype == "int" and all(o in ("bool", "int") for o in others):
        return "int", same_id
    if dtype in ("int", "bool") and "float" in others:
        return "float", None
    if dtype == "bool":
        return ("bool", "bool") if not others else (None, None)
    if dtype is None and same_id is not None and not others:
        return None, same_id
    return None, None


def _fold(op: ast.operator, left: Const | None, right: Const | None) -> Const | None:
    if (
        left is None
        or right is None
        or not isinstance(left.value, int | float)
        or not isinstance(right.value, int | float)
    ):
        return None
    a, b = left.value, right.value
    try:
        if isinstance(op, ast.Add):
            return Const(a + b)
        if isinstance(op, ast.Sub):
            return Const(a - b)
        if isinstance(op, ast.Mult):
            return Const(a * b)
        if isinstance(op, ast.Div):
            return Const(a / b)
    except (ArithmeticError, ValueError):
        return None
    return None


def _dtype_class(exact: str | None) -> str | None:
    if exact is None:
        return None
    if exact in ("bool",):
        return "bool"
    if exact.startswith(("float", "bfloat", "half", "double")):
        return "float"
    if exact.startswith(("complex", "cfloat", "cdouble")):
        return "complex"
    if exact.startswith(("int", "uint", "long", "short")):
        return "int"
    return None


def _is_device(nodes: Sequence[ast.expr]) -> bool:
    """Whether the argument of `.to()` is written as a device: `x.device`, `device`, `"cuda"`."""
    if not nodes:
        return False
    node = nodes[0]
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    text = ast.unparse(node)
    return text.rpartition(".")[2].strip("_").endswith("device")


_BUILTINS = frozenset(
    {
        *_CASTS,
        *_NUMERIC_BUILTINS,
        "len",
        "isinstance",
        "hasattr",
        "callable",
        "issubclass",
        "any",
        "all",
        "range",
        "enumerate",
        "zip",
        "list",
        "tuple",
        "reversed",
        "sorted",
        "set",
        "iter",
        "getattr",
        "print",
        "setattr",
        "dict",
        "str",
        "repr",
        "type",
        "id",
        "format",
        "hash",
    }
)

_STATEMENTS: dict[type[ast.stmt], Callable[..., Env | None]] = {
    ast.Expr: Interpreter._expr_statement,
    ast.Assign: Interpreter._assign,
    ast.AnnAssign: Interpreter._ann_assign,
    ast.AugAssign: Interpreter._aug_assign,
    ast.If: Interpreter._if,
    ast.For: Interpreter._for,
    ast.AsyncFor: Interpreter._for,
    ast.While: Interpreter._while,
    ast.With: Interpreter._with,
    ast.AsyncWith: Interpreter._with,
    ast.Try: Interpreter._try,
    ast.Return: Interpreter._return,
    ast.Raise: Interpreter._raise,
    ast.Assert: Interpreter._assert,
    ast.Break: Interpreter._break,
    ast.Continue: Interpreter._break,
    ast.FunctionDef: Interpreter._function_def,
    ast.AsyncFunctionDef: Interpreter._function_def,
    ast.ClassDef: Interpreter._class_def,
    ast.Delete: Interpreter._delete,
    ast.Match: Interpreter._match,
}
if hasattr(ast, "TryStar"):
    _STATEMENTS[ast.TryStar] = Interpreter._try

_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: Interpreter._constant,
    ast.Name: Interpreter._name,
    ast.Attribute: Interpreter._attribute,
    ast.Subscript: Interpreter._subscript,
    ast.Slice: Interpreter._slice,
    ast.BinOp: Interpreter._bin_op,
    ast.UnaryOp: Interpreter._unary_op,
    ast.BoolOp: Interpreter._bool_op,
    ast.Compare: Interpreter._compare,
    ast.IfExp: Interpreter._if_exp,
    ast.NamedExpr: Interpreter._named_expr,
    ast.Tuple: Interpreter._sequence,
    ast.List: Interpreter._sequence,
    ast.Set: Interpreter._sequence,
    ast.Dict: Interpreter._dict,
    ast.ListComp: Interpreter._comprehension,
    ast.SetComp: Interpreter._comprehension,
    ast.GeneratorExp: Interpreter._comprehension,
    ast.DictComp: Interpreter._comprehension,
    ast.Lambda: Interpreter._lambda,
    ast.JoinedStr: Interpreter._joined_str,
    ast.Call: Interpreter._call,
}
