"""Which expressions cannot fail, whatever the shapes and dtypes of the tensors in them: only what is known not to.

Errors that hang on the values of a tensor stand in the effects (`raises`). Here it is about shapes, dtypes and kinds:
an operation of a branch that was not taken may refuse the tensors that the other branch was meant for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from compilefix.analysis import torch_api
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.live_code import live_nodes
from compilefix.analysis.values import Kind, Value
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of

_ANY_DTYPE = frozenset(
    {
        "where",
        "isnan",
        "isinf",
        "isfinite",
        "eq",
        "ne",
        "masked_fill",
        "nan_to_num",
        "add",
        "mul",
        "zeros_like",
        "ones_like",
        "clone",
        "detach",
        "float",
        "half",
        "double",
        "bool",
        "int",
        "long",
        "to",
        "any",
        "all",
        "view",
        "reshape",
        "logical_and",
        "logical_or",
        "logical_not",
        "logical_xor",
    }
)
_ANY_SHAPE = frozenset(
    {
        "clone",
        "detach",
        "contiguous",
        "zeros_like",
        "ones_like",
        "full_like",
        "empty_like",
        "rand_like",
        "randn_like",
        "float",
        "double",
        "half",
        "bfloat16",
        "bool",
        "int",
        "long",
        "to",
        "type_as",
        "dropout",
        "sum",
        "any",
        "all",
        "count_nonzero",
        "norm",
        "mean",
        "cpu",
        "data",
        "requires_grad_",
        "flatten",
        "nansum",
        "prod",
        "numel",
        "nelement",
        "dim",
        "ndimension",
        "element_size",
    }
)
_FLOAT_ONLY = frozenset({"mean", "norm", "dropout", "rand_like", "randn_like"})
_PARTIAL = frozenset({"mT", "mH", "H", "T", "imag"})
_READS = frozenset({"float", "int", "bool", "complex", "round", "range", "any", "all", "sum", "min", "max", "divmod"})
_ITERATES = frozenset({"list", "tuple", "enumerate", "zip", "reversed", "sorted", "set", "iter", "len", "dict"})
_TENSOR_SECOND = frozenset(
    {
        *("masked_fill", "masked_fill_", "masked_scatter", "masked_scatter_", "logical_and", "logical_or"),
        *("logical_xor", "maximum", "minimum", "fmax", "fmin", "atan2", "arctan2", "hypot", "logaddexp"),
    }
)
"""These take no number in the place of their second tensor."""
_FLOATS_ONLY = frozenset(
    {
        *("addcdiv", "celu", "elu", "frac", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "heaviside"),
        *("hypot", "igamma", "igammac", "leaky_relu", "lerp", "logaddexp", "logaddexp2", "mish", "nextafter", "relu6"),
        *("round", "selu", "silu", "softplus", "softshrink", "logsigmoid", "tanhshrink", "rrelu"),
    }
)
"""These refuse integers, or some of their dtypes (measured on torch 2.13)."""
_INTEGER_MODULES = frozenset({"Identity", "ReLU", "Threshold"})
"""These take what is not floating."""
_FILLS = {"full_like": 1, "masked_fill": 2, "index_fill": 3, "new_full": 2, "fill": 1, "nan_to_num": 1}
"""The place of the number that is to fit into the dtype of what comes first."""
_BOUNDS = {
    **dict.fromkeys(("clamp", "clip", "hardtanh"), (1, 2)),
    **dict.fromkeys(("clamp_min", "clamp_max", "hardshrink", "softshrink", "logit"), (1,)),
    "threshold": (2,),
    **dict.fromkeys(("add", "sub", "subtract", "rsub"), ()),
}
_BOUNDS_BY_NAME = frozenset({"min", "max", "min_val", "max_val", "lambd", "eps", "value", "alpha"})
"""Where functions take a number that is to fit, too: with half precision they raise for a larger one (measured on
torch 2.13, and not for the numbers of `leaky_relu`, `elu`, `lerp`, `addcmul` or arithmetic)."""
_CHAIN = "torch.nn.Sequential"
_SUBTRACTIONS = frozenset({"sub", "sub_", "subtract", "subtract_", "rsub"})
_UNORDERED = frozenset({Kind.CONTAINER, Kind.OBJECT, Kind.CALLABLE})
_NUMERIC = (Kind.TENSOR, Kind.NUMBER, Kind.STATIC, Kind.SIZE)


class Totality:
    """Answers for one project."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self._functions: dict[Function, str | None] = {}

    def doubts(self, node: ast.expr, facts: FunctionFacts) -> Iterator[str]:
        """Why evaluating the expression may fail for some shapes or dtypes, in words."""
        return self._of_nodes(ast.walk(node), facts)

    def _of_nodes(self, nodes: Iterable[ast.AST], facts: FunctionFacts) -> Iterator[str]:
        for part in nodes:
            if isinstance(part, ast.UnaryOp):
                yield from _unary(part, facts)
            elif isinstance(part, ast.BinOp):
                yield from _binary(part, facts)
            elif isinstance(part, ast.Compare):
                yield from _compared(part, facts)
                yield from _agree(part, [part.left, *part.comparators], facts)
                if len(part.ops) > 1:
                    yield from _decides(part.comparators[:1], facts)
            elif isinstance(part, ast.BoolOp):
                yield from _decides(part.values[:-1], facts)
            elif isinstance(part, ast.IfExp):
                yield from _decides([part.test], facts)
            elif isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load):
                yield from _subscript(part, facts)
            elif isinstance(part, ast.Call):
                yield from self._call(part, facts)
            elif isinstance(part, ast.comprehension | ast.Starred):
                source = facts.value(part.iter if isinstance(part, ast.comprehension) else part.value)
                if not source.is_(Kind.CONTAINER) and not (source.is_tensor and source.dimensioned):
                    yield "what is iterated over may have no items"
            elif (
                isinstance(part, ast.Attribute)
                and part.attr in _PARTIAL
                and facts.value(part.value).may_be(Kind.TENSOR)
            ):
                yield f"`{snippet(part)}` fails for some tensors"

    def _call(self, part: ast.Call, facts: FunctionFacts) -> Iterator[str]:
        callee = facts.calls.get(part)
        if callee is not None:
            doubt = self._of_function(callee)
            if doubt is not None:
                yield f"`{snippet(part.func)}`: {doubt}"
            return
        name = facts.callee(part) or ""
        bare = name.rpartition(".")[2]
        operands = [*part.args, *(k.value for k in part.keywords)]
        value = facts.value(part.func)
        if value.is_(Kind.OBJECT):
            module = torch_api.module(name)
            if (module is not None and not module.pointwise) or (name == _CHAIN and not _all_pointwise(value)):
                yield f"`{snippet(part)}` may not fit the other side's shapes"
            elif bare not in _INTEGER_MODULES and any(facts.value(o).dtype != "float" for o in operands[:1]):
                yield _dtype_doubt(part)
            return
        if name in ("sum", "min", "max") and any(facts.value(o).is_(Kind.CONTAINER) for o in operands):
            yield f"`{snippet(part)}` may have no items, or such that do not fit"
            return
        if name in _READS | _ITERATES and any(facts.value(o).may_be(Kind.TENSOR) for o in operands):
            one = all(facts.value(o).is_scalar_tensor or not facts.value(o).may_be(Kind.TENSOR) for o in operands)
            many = all(facts.value(o).dimensioned or not facts.value(o).may_be(Kind.TENSOR) for o in operands)
            if not (one if name in _READS else many):
                yield f"`{snippet(part)}` fails for some shapes"
            return
        if name in _ITERATES - {"dict"} and not all(facts.value(o).is_(Kind.CONTAINER, Kind.TENSOR) for o in operands):
            yield f"`{snippet(part)}` may get something without items"
        if name == "abs" and not all(facts.value(o).is_(*_NUMERIC) for o in operands):
            yield f"`{snippet(part)}` may get something else than a tensor or a number"
        api = torch_api.function(name) or torch_api.method(name.removeprefix("Tensor."))
        if api is None:
            return
        if name.startswith("Tensor.") and isinstance(part.func, ast.Attribute):
            operands.insert(0, part.func.value)
            wanted = operands if bare in ("type_as", "view_as", "expand_as", "reshape_as") else operands[:1]
            for operand in wanted:
                if not facts.value(operand).is_tensor:
                    yield f"`{snippet(operand)}` is not proved to be a tensor"
            if bare == "to" and any(_may_be_number(facts.value(o)) for o in operands[1:2]):
                yield f"`{snippet(part)}` names a device by its number"
        elif _fails_on_numbers(name, api) and operands and not facts.value(operands[0]).is_tensor:
            yield f"`{snippet(operands[0])}` is not proved to be a tensor"
        for operand in operands[1:2] if bare in _TENSOR_SECOND else ():
            if not facts.value(operand).is_tensor:
                yield f"`{snippet(operand)}` is not proved to be a tensor"
        for operand in operands:
            value = facts.value(operand)
            if (
                value.is_unknown
                or (api.pointwise and value.may_be(Kind.CONTAINER))
                or (value.may_be(Kind.NONE) and not isinstance(operand, ast.Constant))
            ):
                yield f"`{snippet(operand)}` is not proved to be a tensor or a number"
        yield from _fills(bare, part, operands, facts)
        if bare == "where":
            condition = operands[1 if name.startswith("Tensor.") else 0] if len(operands) > 1 else None
            if condition is not None and facts.value(condition).dtype != "bool":
                yield f"`{snippet(condition)}` is not proved to be of dtype bool"
        if api.pointwise:
            yield from _dtype_allowed(part, operands, facts)
            yield from _agree(part, operands, facts)
        elif bare not in _ANY_SHAPE or (len(operands) > 1 and api.rank in ("0", "reduce")):
            yield f"`{snippet(part)}` may not fit the other side's shapes"
        elif bare in _FLOAT_ONLY and facts.value(operands[0]).dtype != "float":
            yield _dtype_doubt(part)

    def _of_function(self, function: Function) -> str | None:
        """Why a call of a function of the project may fail for some shapes; None where it cannot."""
        if function not in self._functions:
            self._functions[function] = "a recursive call"
            facts = self.inference.facts(function)
            self._functions[function] = next(self._of_body(list(live_nodes(facts)), facts), None)
        return self._functions[function]

    def _of_body(self, nodes: Sequence[ast.AST], facts: FunctionFacts) -> Iterator[str]:
        for node in nodes:
            if isinstance(node, ast.For | ast.AsyncFor | ast.While | ast.Match | ast.With | ast.AsyncWith):
                yield f"the {type(node).__name__.lower()} in line {node.lineno} may fail"
            elif isinstance(node, ast.If):
                yield from _decides([node.test], facts)
            elif isinstance(node, ast.Tuple | ast.List | ast.Starred) and isinstance(node.ctx, ast.Store):
                yield f"`{snippet(node)}` may get another number of values"
        yield from self._of_nodes(nodes, facts)


def _may_be_number(value: Value) -> bool:
    """Whether something else than a tensor, a dtype or a device may stand there."""
    if value.is_tensor:
        return False
    return value.dtype is not None or bool(value.kinds & {Kind.TENSOR, Kind.NUMBER, Kind.SIZE})


def _fails_on_numbers(name: str, api: torch_api.Api) -> bool:
    """Whether a function wants a tensor first."""
    return name.startswith("torch.") and api.dtype != "arg" and name not in torch_api.NO_TENSOR_FIRST


def _fills(name: str, part: ast.Call, operands: Sequence[ast.expr], facts: FunctionFacts) -> Iterator[str]:
    """torch raises where a number does not fit into the dtype of the tensor that it is put into."""
    place = _FILLS.get(name)
    if not operands or (place is None and name not in _BOUNDS):
        return
    into = facts.value(operands[0])
    if place is None:
        given = len(operands) - len(part.keywords)
        numbers = [k.value for k in part.keywords if k.arg in _BOUNDS_BY_NAME]
        numbers += [operands[index] for index in _BOUNDS[name] if index < given]
        numbers = [node for node in numbers if not facts.value(node).is_tensor]
    else:
        numbers = [k.value for k in part.keywords if k.arg in ("fill_value", "value", "nan", "posinf", "neginf")]
        if not numbers:
            numbers = list(operands[place:] if name == "nan_to_num" else operands[place : place + 1])
    for node in numbers:
        if into.dtype != "bool" and not fits(into, node, facts):
            yield f"`{snippet(node)}` may not fit into the dtype of `{snippet(operands[0])}`"


def fits(into: Value, node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether every dtype that a tensor may have holds a number: a method that fills with another one raises."""
    value = facts.value(node)
    if value.is_(Kind.NONE) or value.dtype == "bool":
        return True
    if value.is_tensor:
        return value.dtype_id is not None and value.dtype_id == into.dtype_id
    number = value.const.value if value.const is not None else None
    if isinstance(number, int | float):
        largest = _LARGEST.get(into.dtype_id or "")
        if largest is not None and abs(number) <= largest:
            return True
        if into.dtype == "float":
            return number != number or abs(number) in (float("inf"), 0) or abs(number) <= _LARGEST_HALF
        return 0 <= number <= 127
    return into.dtype == "float" and _within_limits(node, into, facts)


def _within_limits(node: ast.expr, into: Value, facts: FunctionFacts) -> bool:
    """Whether a number is a limit of the own dtype, or made smaller from one: `torch.finfo(x.dtype).max - 1000`.

    The limits of another tensor's dtype may be larger than what this one holds.
    """
    if isinstance(node, ast.Name):
        stores = [n for n in facts.function.of(ast.Name) if n.id == node.id and not isinstance(n.ctx, ast.Load)]
        given = [s.value for s in facts.function.of(ast.Assign) if len(s.targets) == 1 and s.targets[0] in stores]
        return 0 < len(stores) == len(given) and all(_within_limits(value, into, facts) for value in given)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _within_limits(node.operand, into, facts)
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
        number = node.right.value
        if not isinstance(number, int | float) or not _within_limits(node.left, into, facts):
            return False
        if isinstance(node.op, ast.Mult | ast.Div):
            return 0 < number <= 1 if isinstance(node.op, ast.Mult) else number >= 1
        side = node.left.attr if isinstance(node.left, ast.Attribute) else ""
        inwards = isinstance(node.op, ast.Sub) if side == "max" else side == "min" and isinstance(node.op, ast.Add)
        return inwards and 0 <= number <= _LARGEST_HALF
    limits = node.value if isinstance(node, ast.Attribute) and node.attr in _LIMITS else None
    if not isinstance(limits, ast.Call) or facts.callee(limits) not in ("torch.finfo", "torch.iinfo"):
        return False
    asked = limits.args[0] if len(limits.args) == 1 else None
    if not isinstance(asked, ast.Attribute) or asked.attr != "dtype":
        return False
    other = facts.value(asked.value)
    return other.is_tensor and other.dtype_id is not None and other.dtype_id == into.dtype_id


_LIMITS = frozenset({"max", "min", "eps", "tiny", "smallest_normal", "resolution"})
_LARGEST_HALF = 65504
_LARGEST = {"int64": 2**63 - 1, "int32": 2**31 - 1, "float32": 3e38, "float64": 1e308, "bfloat16": 3e38}


def _unary(part: ast.UnaryOp, facts: FunctionFacts) -> Iterator[str]:
    value = facts.value(part.operand)
    if isinstance(part.op, ast.Not):
        yield from _decides([part.operand], facts)
    elif isinstance(part.op, ast.UAdd):
        if value.may_be(Kind.TENSOR) and value.dtype not in ("float", "int"):
            yield _dtype_doubt(part)
    elif isinstance(part.op, ast.USub | ast.Invert):
        if value.is_tensor and value.dtype != ("float" if isinstance(part.op, ast.USub) else "bool"):
            yield _dtype_doubt(part)
        elif not value.is_(*_NUMERIC):
            yield f"`{snippet(part.operand)}` is not proved to be a tensor or a number"


def _binary(part: ast.BinOp, facts: FunctionFacts) -> Iterator[str]:
    if isinstance(part.op, ast.MatMult):
        yield f"`{snippet(part)}` may not fit the other side's shapes"
        return
    operands = [part.left, part.right]
    for operand, other in (operands, operands[::-1]):
        if not facts.value(operand).is_(*_NUMERIC) and not _goes_with_list(operand, other, part.op, facts):
            yield f"`{snippet(operand)}` is not proved to be a tensor or a number"
    if isinstance(part.op, ast.BitAnd | ast.BitOr | ast.BitXor | ast.LShift | ast.RShift):
        if any(facts.value(o).dtype not in ("int", "bool") for o in operands):
            yield _dtype_doubt(part)
    elif not isinstance(part.op, ast.Add | ast.Mult):
        yield from _dtype_allowed(part, operands, facts)
    if isinstance(part.op, ast.Pow):
        yield from _negative_power(part.left, part.right, facts)
    yield from _agree(part, operands, facts)


def _negative_power(base: ast.expr, exponent: ast.expr, facts: FunctionFacts) -> Iterator[str]:
    """torch raises for an integer tensor and a Python integer below zero."""
    if facts.value(base).dtype == "float" or not facts.value(base).may_be(Kind.TENSOR):
        return
    value = facts.value(exponent)
    known = value.const is not None and isinstance(value.const.value, int | float) and value.const.value >= 0
    if not value.is_tensor and value.dtype != "float" and not known:
        yield f"`{snippet(exponent)}` may be below zero, which torch refuses for integers"


def _goes_with_list(operand: ast.expr, other: ast.expr, op: ast.operator, facts: FunctionFacts) -> bool:
    """Whether a list or tuple may stand beside this: `(1, 2) + sizes`, `[0] * n`, `"%d %d" % sizes`."""
    value, beside = facts.value(operand), facts.value(other)
    if not value.is_(Kind.CONTAINER, Kind.STATIC) or value.ref == "dict":
        return False
    if isinstance(op, ast.Add):
        return beside.is_(Kind.CONTAINER, Kind.STATIC)
    if isinstance(op, ast.Mult):
        return beside.is_(Kind.STATIC, Kind.SIZE) and beside.dtype in ("int", "bool")
    return isinstance(op, ast.Mod) and beside.is_(Kind.STATIC)


def _compared(part: ast.Compare, facts: FunctionFacts) -> Iterator[str]:
    """Only numbers, tensors and what is alike have an order."""
    operands = [part.left, *part.comparators]
    for op, left, right in zip(part.ops, operands, operands[1:], strict=False):
        pair = (facts.value(left), facts.value(right))
        ordered = isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE)
        if ordered and any(v.kinds & _UNORDERED for v in pair):
            yield f"`{snippet(part)}` may compare what has no order"


def _subscript(part: ast.Subscript, facts: FunctionFacts) -> Iterator[str]:
    base, index = facts.value(part.value), facts.value(part.slice)
    position = index.const.value if index.const is not None else None
    parts = elements_of(part.slice)
    if not base.is_(Kind.TENSOR, Kind.CONTAINER, Kind.OBJECT, Kind.NDARRAY):
        yield f"`{snippet(part.value)}` may be something without items"
    elif base.is_(Kind.CONTAINER) and base.ref == "dict":
        yield f"the key of `{snippet(part)}` may be missing"
    elif base.is_tensor:
        taken = sum(isinstance(p, ast.Slice) for p in parts)
        if taken > (base.rank if base.rank is not None else base.dimensioned):
            yield f"`{snippet(part)}` needs {taken} dimensions"
    elif base.is_(Kind.CONTAINER) and not isinstance(part.slice, ast.Slice):
        length = None if base.elements is None else len(base.elements)
        owner = facts.value(part.value.value) if isinstance(part.value, ast.Attribute) else None
        first = owner is not None and owner.is_tensor and owner.dimensioned and position in (0, -1)
        inside = isinstance(position, int) and length is not None and -length <= position < length
        if not inside and not first:
            yield f"the index `{snippet(part)}` may be out of range"


def _all_pointwise(chain: Value) -> bool:
    """Whether an `nn.Sequential` is known to hold layers of torch alone that treat each element by itself."""
    layers = chain.elements or ((chain.element,) if chain.element is not None else ())
    known = [torch_api.module(layer.ref) if layer.ref is not None else None for layer in layers]
    return bool(layers) and all(api is not None and api.pointwise for api in known)


def _decides(tests: Iterable[ast.expr], facts: FunctionFacts) -> Iterator[str]:
    """A tensor with several elements has no truth value."""
    for test in tests:
        if facts.value(test).may_be(Kind.TENSOR) and not facts.value(test).is_scalar_tensor:
            yield f"`{snippet(test)}` is not proved to have one element"


def _agree(part: ast.expr, operands: Sequence[ast.expr], facts: FunctionFacts) -> Iterator[str]:
    tensors = [v for o in operands if (v := facts.value(o)).may_be(Kind.TENSOR) and not v.is_(Kind.CONTAINER)]
    ids = {v.shape_id for v in tensors if v.rank != 0}
    if len(ids) > 1 or (None in ids and len(tensors) > 1):
        yield f"the shapes in `{snippet(part)}` are not proved to fit"


def _dtype_allowed(part: ast.expr, operands: Sequence[ast.expr], facts: FunctionFacts) -> Iterator[str]:
    """Many operations refuse some dtype: `-x` fails on bool, `sigmoid` on nothing but floats is known to work."""
    name = (facts.callee(part) or "") if isinstance(part, ast.Call) else ""
    if name.rpartition(".")[2] in _ANY_DTYPE:
        return
    bare = name.rpartition(".")[2]
    if bare in ("pow", "float_power") and len(operands) == 2:
        yield from _negative_power(operands[0], operands[1], facts)
    if bare in _FLOATS_ONLY and any(
        facts.value(o).kinds & {Kind.TENSOR} and facts.value(o).dtype != "float" for o in operands
    ):
        yield _dtype_doubt(part)
    if any(_refusable(facts.value(o), bare) for o in operands):
        yield _dtype_doubt(part)
    if bare in _SUBTRACTIONS or (isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub)):
        yield from _bool_subtracted(operands, facts)


def _bool_subtracted(operands: Sequence[ast.expr], facts: FunctionFacts) -> Iterator[str]:
    """torch refuses `x - True`; a number that was read from a tensor of unknown dtype may be a bool as well."""
    if any(facts.value(o).may_be(Kind.TENSOR) for o in operands):
        for operand in operands:
            value = facts.value(operand)
            if value.is_(Kind.STATIC, Kind.NUMBER) and (
                value.dtype == "bool" or (value.dtype is None and value.may_be(Kind.NUMBER))
            ):
                yield f"`{snippet(operand)}` may be a bool, which torch does not subtract"


def _refusable(value: Value, name: str) -> bool:
    only_integers = name.startswith("bitwise_") or name in ("gcd", "lcm", "__and__", "__or__", "__xor__")
    return Kind.TENSOR in value.kinds and value.dtype not in (("int",) if only_integers else ("float", "int"))


def _dtype_doubt(part: ast.expr) -> str:
    return f"`{snippet(part)}` fails for some dtypes, and the dtype is not known"
