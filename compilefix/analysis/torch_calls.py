"""The result of a torch function or tensor method, by its entry in the API table: kind, dtype, rank, shape, memory."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from compilefix.analysis import torch_api, values
from compilefix.analysis.dtypes import dtype_class, is_real, pointwise_dtype
from compilefix.analysis.multiple_results import FORMS, by_arguments, with_indices
from compilefix.analysis.operators import elementwise, opaque
from compilefix.analysis.values import Kind, Value, number, replace, static, tensor

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
_SHAPE_OF_SECOND = frozenset({"expand_as", "view_as", "reshape_as"})
_MOVES_DIMENSIONS = frozenset(
    {"sum_to_size", "movedim", "moveaxis", "transpose", "swapaxes", "swapdims", "t", "permute"}
)
RESHAPES_IN_PLACE = frozenset(
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
# Of two numbers Dynamo computes these itself: the result is no tensor to it.
_OF_NUMBERS = frozenset({"torch.div", "torch.true_divide", "torch.floor_divide"})
_SIZED = frozenset(
    {"view", "reshape", "expand", "broadcast_to", "repeat", "new_zeros", "new_ones", "new_full", "new_empty"}
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
# What comes first is added, or may have fewer dimensions than what comes second.
_RANKS = {"addmm": 2, "baddbmm": 3, "addmv": 1, "addbmm": 2, "addr": 2, "cross": None, "kron": None}
_FILLED = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "full", "rand", "randn", "randint"))
FLOAT_ONLY_FUNCTIONS = frozenset(
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


class TorchCall(NamedTuple):
    """One call of an entry of the API table.

    name: the full name of a function, the bare name of a method.
    args: the positional arguments, a method's tensor first.
    nodes: the positional arguments as they are written.
    place: names the call, for the ids of what it makes.
    """

    name: str
    api: torch_api.Api
    args: Sequence[Value]
    keywords: Mapping[str | None, Value]
    nodes: Sequence[ast.expr]
    place: str

    @property
    def bare(self) -> str:
        """The name without the module."""
        return self.name.rpartition(".")[2]

    @property
    def first(self) -> Value:
        """The first argument."""
        return self.args[0] if self.args else next(iter(self.keywords.values()), values.UNKNOWN)

    @property
    def may_write_first(self) -> bool:
        """Whether `inplace=True` may be passed, so that the result is the first argument."""
        place = torch_api.INPLACE_AT.get(self.name)
        told = [v for k, v in self.keywords.items() if k == "inplace" or (k is None and place is not None)]
        told += self.args[place : place + 1] if place is not None else ()
        return any(v.const is None or bool(v.const.value) for v in told)

    @property
    def reshapes_in_place(self) -> bool:
        """Whether the tensor itself may have another shape after the call."""
        return self.api.mutates and self.bare in RESHAPES_IN_PLACE and self.first.is_tensor


def torch_result(call: TorchCall) -> Value:
    """The result of a torch function or method."""
    result = _result(call)
    out = call.keywords.get("out", values.NONE)
    return result if out.is_(Kind.NONE) else _written_into(result, out)


def _written_into(result: Value, out: Value) -> Value:
    """A result in the tensor given as `out`, which keeps its dtype and takes the shape of the result."""
    into = {"dtype": out.dtype, "dtype_id": out.dtype_id} if out.is_tensor else {"dtype": None, "dtype_id": None}
    if result.elements is not None:
        parts = tuple(_written_into(part, values.UNKNOWN) for part in result.elements)
        return replace(result, elements=parts, element=values.join_all(parts) if parts else result.element)
    return replace(result, **into) if result.may_be(Kind.TENSOR) else result


def _result(call: TorchCall) -> Value:
    api, args, first, bare = call.api, call.args, call.first, call.bare
    if call.name in _OF_NUMBERS and len(args) > 1 and all(v.is_(Kind.STATIC, Kind.SIZE) for v in args[:2]):
        return opaque(call.place, args)
    if api.rank == "reduce_or_broadcast" and len(args) > 1 and args[1].may_be(Kind.TENSOR) and not args[1].is_tensor:
        return opaque(call.place, args)  # of a tensor it gives the greater elements, of a number values and indices
    if bare.startswith("atleast_") and (len(args) != 1 or not first.is_tensor):
        return opaque(call.place, args)  # of several tensors, or a list of them, it gives a tuple
    if bare in FORMS and (several := by_arguments(bare, args, call.keywords, call.place)) is not None:
        return several if not several.is_unknown else opaque(call.place, args)
    if call.name in ("torch.cat", "torch.stack", "torch.concat") and first.is_(Kind.CONTAINER):
        first = first.element if first.element is not None else values.UNKNOWN
        first = first.stripped()
    dim_given = len(args) > 1 or "dim" in call.keywords or "axis" in call.keywords
    certain = first.certain if first.is_tensor or first.kinds == values.ARRAYS else True
    returns = api.returns
    if (
        api.returns_with_dim is not None
        and dim_given
        and not (len(args) > 1 and args[1].is_tensor and "dim" not in call.keywords)
    ):
        returns = api.returns_with_dim
    if api.host and returns != "Tensor":
        return number({"bool": "bool", "int": "int", "float": "float"}.get(str(returns)), certain)
    storage, leaves = _storage(call, first), _leaves(call)
    if call.name.startswith("torch."):
        certain = True
    if _broadcasts(call):
        return _common_shape(call, storage, leaves, certain=certain)
    if api.mutates and call.name.endswith("_") and first.is_tensor:
        result = replace(first, leaves=first.leaves | leaves, storage=storage)
        if call.reshapes_in_place:
            result = replace(result, rank=None, has_dims=False, shape_id=call.place)
        return shaped(returns, result)
    same_shape = (
        api.rank == "same"
        and not first.is_unknown
        and ((api.pointwise and bare not in _MOVES_DIMENSIONS) or bare in _KEEPS_SHAPE)
    )
    dtype, dtype_id = _dtype(call, first)
    if isinstance(returns, tuple) and bare in ("max", "min"):
        dtype, dtype_id = first.dtype, first.dtype_id  # along a dimension they take from one tensor
    rank = _rank(call, first, dim_given)
    made = values.shape_of_ones(rank) if rank is not None and _has_one_element(call) else call.place
    result = tensor(
        dtype=dtype,
        dtype_id=dtype_id or f"dtype {call.place}",
        rank=rank,
        shape_id=first.shape_id if same_shape and first.is_tensor else made,
        has_dims=first.is_tensor and (same_shape or api.rank == "+1") and first.dimensioned,
        certain=certain,
        storage=storage,
        leaves=leaves,
    )
    if bare in _SHAPE_OF_SECOND and first.is_tensor:
        result = replace(result, dtype=first.dtype, dtype_id=first.dtype_id)
        if len(args) == 2 and args[1].is_tensor:
            shape = args[1]
            result = replace(result, rank=shape.rank, shape_id=shape.shape_id, has_dims=shape.dimensioned)
    found = shaped(returns, result)
    if found.elements is not None:
        parts = with_indices(bare, found.elements, result.rank, call.place)
        return replace(found, elements=parts, storage=found.storage.union(*(part.storage for part in parts)))
    return found


def _storage(call: TorchCall, first: Value) -> frozenset[str]:
    """The memory that the result may lie in."""
    api, args, bare = call.api, call.args, call.bare
    storage = frozenset({call.place})
    if api.view or api.mutates:
        storage = first.storage
    elif api.maybe_view:
        storage = storage.union(*(v.storage for v in (*args, *call.keywords.values())))
    elif call.may_write_first:
        storage = storage | first.storage
    if bare == "set_":
        storage = storage.union(*(v.storage for v in args))
    if bare == "from_numpy":
        storage = storage | first.storage
    if "out" in call.keywords:
        storage = storage | call.keywords["out"].storage
    return storage


def _common_shape(call: TorchCall, storage: frozenset[str], leaves: frozenset[str], *, certain: bool) -> Value:
    """The result that has the operands' common shape."""
    api, args, bare = call.api, call.args, call.bare
    operands = [*args, *(v for k, v in call.keywords.items() if k != "out")]
    rule = {"promote_float": "float", "bool": "bool"}.get(api.dtype, "promote")
    if bare == "where" and [v.dtype for v in args[1:]] == ["bool", "bool"]:
        rule = "bool"  # True and False are selected, which beside a mask in arithmetic would be integers
    result = elementwise(operands, call.place, rule)
    if bare in ("complex", "polar"):
        result = replace(result, dtype="complex", dtype_id=f"complex {call.place}")
    elif dtype_class(api.dtype) is not None and api.dtype != "bool":
        # `float_power` computes in double precision, with complex numbers in complex128.
        real = all(v.dtype in ("bool", "int", "float") for v in operands)
        result = replace(result, dtype="float" if real else None, dtype_id=api.dtype if real else None)
    return replace(
        result,
        certain=certain,
        leaves=leaves if result.dtype not in ("bool", "int") else frozenset(),
        storage=storage if not api.pointwise or api.mutates or call.may_write_first else result.storage | storage,
    )


def _broadcasts(call: TorchCall) -> bool:
    """Whether the result has the operands' common shape: `add`, and `max(x, y)`, but not `max(x, 1)`."""
    api, args = call.api, call.args
    if api.rank == "broadcast" or (api.pointwise and api.dtype in ("promote", "promote_float", "bool")):
        return True
    other = call.keywords.get("other", args[1] if len(args) > 1 else None)
    return api.returns_with_dim is not None and other is not None and other.may_be(Kind.TENSOR) and not other.is_unknown


def _leaves(call: TorchCall) -> frozenset[str]:
    """The tensors that may receive a gradient through the result."""
    bare = call.bare
    asked = call.keywords.get("requires_grad", call.keywords.get("mode") if bare == "requires_grad_" else None)
    if asked is not None or bare == "requires_grad_":
        asked = asked or (call.args[1] if len(call.args) > 1 else static(True))
        own = (
            values.NOTHING if asked.const is not None and asked.const.value is False else frozenset({f"?{call.place}"})
        )
        return own | (call.first.leaves if bare in ("requires_grad_", "asarray") else values.NOTHING)
    if (
        not call.api.differentiable
        or bare in ("detach", "detach_")
        or bare.endswith("_like")
        or bare.startswith("new_")
        or (call.api.dtype == "arg" and call.name not in ("torch.tensor", "torch.as_tensor"))
    ):
        return frozenset()
    if call.name in ("torch.tensor", "new_tensor") and "requires_grad" not in call.keywords:
        return frozenset()  # it copies numbers, and those of a tensor without its gradient
    leaves = values.NOTHING.union(*[v.leaves for v in (*call.args, *call.keywords.values())])
    if bare == "view" and leaves and _may_view_as_dtype(call):
        return leaves | {f"?{call.place}"}  # of integers there is no gradient
    return leaves


def _may_view_as_dtype(call: TorchCall) -> bool:
    """Whether `view` may be given a dtype, and reads the memory as other numbers."""
    sizes = [v.is_(Kind.SIZE, Kind.CONTAINER, Kind.NUMBER) or v.dtype == "int" for v in call.args[1:]]
    return "dtype" in call.keywords or not all(sizes)


def _depth(data: Value) -> int | None:
    """The number of dimensions of a tensor made of a list of numbers, or of lists of them; None for another one."""
    if not data.is_(Kind.CONTAINER) or data.ref is not None:
        return None
    items = data.elements or ((data.element,) if data.element is not None else ())
    depths = {_depth_of_item(item) for item in items}
    found = depths.pop() if len(depths) == 1 else None
    return None if found is None else found + 1


def _depth_of_item(item: Value) -> int | None:
    number_given = item.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) and item.dtype in ("bool", "int", "float")
    return 0 if number_given else _depth(item)


def _rank(call: TorchCall, first: Value, dim_given: bool) -> int | None:
    """The number of dimensions of the result, where it is known."""
    api, name, args, keywords = call.api, call.name, call.args, call.keywords
    rank = first.rank if first.is_tensor else None
    starred = any(isinstance(a, ast.Starred) for a in call.nodes)
    if None in keywords and api.rank not in ("arg", "same"):
        return None  # `x.any(**options)`
    if call.bare in ("take", "searchsorted"):
        # They have the rank of the index or of what is looked for, of the second argument.
        return args[1].rank if len(args) > 1 and not starred and args[1].is_tensor else None
    if name == "torch.einsum":
        return _einsum_rank(args[0]) if args else None
    if name == "torch.cartesian_prod":
        return 2 if len(args) > 1 and not starred else None  # of one vector comes out the vector
    if name == "torch.randint":
        size = keywords.get("size") or (args[-1] if len(args) > 1 else values.UNKNOWN)
        return len(size.elements) if size.is_(Kind.CONTAINER) and size.elements is not None else None
    if call.bare == "gather" and rank in (0, 1):
        return None  # a tensor without dimensions takes an index with one, and the other way round
    if call.bare in _RANKS:
        return _RANKS[call.bare]
    if call.bare == "linear":
        return rank if len(args) > 1 and args[1].rank == 2 else None  # a weight without rows gives no last dimension
    if name in ("torch.tensor", "torch.as_tensor", "new_tensor") and len(args) > (name == "new_tensor"):
        data = args[1] if name == "new_tensor" else args[0]
        number_given = data.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) and data.dtype in ("bool", "int", "float")
        return 0 if number_given else data.rank if data.is_tensor else _depth(data)
    if api.rank == "same":
        return rank
    if api.rank in ("0", "1", "2"):
        return int(api.rank)
    if api.rank == "loss":
        return None if _reduces_otherwise(call) else 0
    if api.rank in ("reduce", "reduce_or_broadcast"):
        if not dim_given:
            return 0
        dim = keywords.get("dim", args[1] if len(args) > 1 else values.UNKNOWN)
        keep = keywords.get("keepdim", args[2] if len(args) > 2 else static(False))
        if len(args) > 1 and call.bare not in _DIM_SECOND:
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
    if call.bare in ("flatten", "ravel") and len(args) == 1 and not keywords and not starred:
        return 1  # also of what has no dimensions
    if call.bare in ("squeeze", "flatten") or (api.rank == "unknown" and call.bare not in _SIZED):
        return None
    if api.rank == "arg" or api.rank == "unknown":
        is_method = not name.startswith("torch.") or call.bare in _SIZED
        sizes = args[1:] if is_method else args
        if not sizes and "size" in keywords:
            sizes = [keywords["size"]]
        if call.bare in ("full", "new_full"):
            sizes = sizes[:1]  # the fill value comes second
        if sizes and sizes[0].is_(Kind.CONTAINER):
            return None if sizes[0].elements is None else len(sizes[0].elements)
        if len(sizes) == 1 and not sizes[0].is_(Kind.SIZE, Kind.NUMBER) and sizes[0].dtype != "int":
            return None  # it may be a tuple, or a dtype
        return (
            len(sizes)
            if sizes and not starred and all(s.is_(Kind.SIZE, Kind.STATIC, Kind.NUMBER) or s.is_unknown for s in sizes)
            else None
        )
    return None


def _has_one_element(call: TorchCall) -> bool:
    """Whether a tensor is made of the one number of a list, or with sizes that are all one: `torch.zeros(1)`."""
    if any(isinstance(node, ast.Starred) for node in call.nodes) or None in call.keywords:
        return False
    if call.name in ("torch.tensor", "torch.as_tensor"):
        return bool(call.nodes) and _is_one_number(call.nodes[0], call.first)
    if call.name not in _FILLED:
        return False
    sizes = call.args[:1] if call.name == "torch.full" or call.first.is_(Kind.CONTAINER) else call.args
    if "size" in call.keywords:
        sizes = [call.keywords["size"]]
    elif call.name == "torch.randint":
        sizes = call.args[-1:] if len(call.args) > 1 else []  # the bounds come first
    if len(sizes) == 1 and sizes[0].is_(Kind.CONTAINER):
        sizes = sizes[0].elements or ()
    return bool(sizes) and all(size.const is not None and size.const.value == 1 for size in sizes)


def _is_one_number(node: ast.expr, data: Value) -> bool:
    """Whether a written list, or list of lists, holds one number."""
    if not isinstance(node, ast.List | ast.Tuple) or len(node.elts) != 1:
        return False
    if isinstance(node.elts[0], ast.Starred) or data.elements is None or len(data.elements) != 1:
        return False
    return _depth_of_item(data.elements[0]) == 0 or _is_one_number(node.elts[0], data.elements[0])


def _reduces_otherwise(call: TorchCall) -> bool:
    """Whether a loss is perhaps told to give more than one number: by `reduction`, or by what was there before it."""
    asked = call.keywords.get("reduction")
    if asked is not None and (asked.const is None or asked.const.value not in ("mean", "sum", "batchmean")):
        return True
    if not call.keywords.keys().isdisjoint(("reduce", "size_average", None)):
        return True
    told = any(v.is_unknown or not (v.may_be(Kind.TENSOR) or v.dtype in ("int", "float")) for v in call.args[2:])
    return told or any(isinstance(node, ast.Starred) for node in call.nodes)


def _einsum_rank(equation: Value) -> int | None:
    """The number of letters behind the arrow of an equation that is written out."""
    text = equation.const.value if equation.const is not None else None
    if not isinstance(text, str) or "->" not in text or "..." in text:
        return None
    return len(text.partition("->")[2].replace(" ", ""))


_ASKED_FOR = frozenset({"arg", "arg_or_same", "arg_or_int64", "float", "numeric", "sum"})


# Of a complex tensor these give a real one.
_REAL = frozenset({"abs", "absolute", "angle", "real", "imag", "norm", "vector_norm", "matrix_norm", "std", "var"})


# Of real tensors these give complex ones.
_COMPLEX = frozenset(
    {
        *(f"torch.fft.{name}" for name in ("fft", "fft2", "fftn", "ifft", "ifft2", "ifftn", "rfft", "rfft2", "rfftn")),
        *("torch.fft.ihfft", "torch.fft.ihfft2", "torch.fft.ihfftn", "torch.view_as_complex"),
        *("torch.linalg.eig", "torch.linalg.eigvals"),
    }
)


def _dtype(call: TorchCall, first: Value) -> tuple[str | None, str | None]:
    """Class and id of the result's dtype."""
    asked = call.keywords.get("return_complex")
    if call.name in _COMPLEX or (asked is not None and asked.const is not None and asked.const.value is True):
        return "complex", None
    dtype, dtype_id = _by_rule(call, first)
    if call.bare.strip("_") not in _REAL or is_real(first):
        return dtype, dtype_id
    return ("float" if first.dtype == "complex" else dtype), None if dtype_id == first.dtype_id else dtype_id


def _by_rule(call: TorchCall, first: Value) -> tuple[str | None, str | None]:
    """The same by the rule of the table alone."""
    api, name, args, keywords = call.api, call.name, call.args, call.keywords
    given = keywords.get("dtype")
    if None in keywords and (name == "to" or api.dtype in _ASKED_FOR):
        return ("float" if api.dtype == "float" else None), None
    if given is None and name in ("to", "type") and len(args) > 1:
        given = next((v for v in args[1:] if v.ref is not None and torch_api.is_dtype(v.ref)), None)
        if given is None and name == "to" and any(v.is_unknown or v.is_tensor or v.is_(Kind.STATIC) for v in args[1:]):
            if len(args) == 2 and args[1].is_tensor:
                return args[1].dtype, args[1].dtype_id
            # `.to(device)` keeps the dtype, `.to(dtype)` does not: a static value of unknown sort may be either.
            return (first.dtype if _is_device(call.nodes) else None), (
                first.dtype_id if _is_device(call.nodes) else None
            )
    if given is not None and given.kinds != values.NONE.kinds:
        exact = torch_api.dtype_name(given.ref) if given.ref is not None else None
        return (dtype_class(exact), exact) if exact is not None else (None, None)
    rule = api.dtype
    if name == "torch.cartesian_prod":
        return first.dtype, first.dtype_id  # it takes no others beside it
    alone = len(args) == 1 and not any(isinstance(node, ast.Starred) for node in call.nodes)
    if call.bare == "bincount" and alone and keywords.keys() <= {"minlength"}:
        return "int", "int64"  # with weights it has their dtype, or double precision
    if call.bare in ("any", "all") and first.dtype not in ("bool", "float"):
        return None, None  # uint8 gives uint8
    if rule == "same" or (
        name == "view"
        and all(v.is_(Kind.SIZE, Kind.STATIC, Kind.CONTAINER, Kind.NUMBER) and v.ref is None for v in args[1:])
    ):
        return first.dtype, first.dtype_id
    if api.rank == "loss":
        return "float", None
    if rule == "float":
        return (None if first.dtype == "complex" else "float"), first.dtype_id if first.dtype == "float" else None
    if rule == "bool":
        return "bool", "bool"
    if rule == "sum":
        return (
            (first.dtype, first.dtype_id)
            if first.dtype in ("float", "complex")
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
        if name == "torch.arange" and "out" not in keywords:
            bounds = [*args, *(keywords[key] for key in ("start", "end", "step") if key in keywords)]
            return ("int", "int64") if bounds and all(v.dtype == "int" for v in bounds) else (None, None)
        return None, None
    if rule == "arg_or_same":
        return first.dtype, first.dtype_id
    if rule == "arg_or_int64" and "out" not in keywords:
        return "int", "int64"
    if rule == "promote":
        return pointwise_dtype(
            [first, *args[1:]],
            [v for v in args if v.is_tensor],
            [v for v in args if v.is_tensor and v.rank != 0],
            "promote",
            False,
        )
    return dtype_class(rule), rule if dtype_class(rule) is not None else None


def shaped(returns: str | Sequence[object], result: Value) -> Value:
    """The result with the kind that the API table gives; `result` is what its tensors are like."""
    if returns == "Tensor":
        return result
    if isinstance(returns, list | tuple):
        parts = tuple(
            shaped(
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


def _is_device(nodes: Sequence[ast.expr]) -> bool:
    """Whether the argument of `.to()` is written as a device: `x.device`, `device`, `"cuda"`."""
    if not nodes:
        return False
    node = nodes[0]
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    text = ast.unparse(node)
    return text.rpartition(".")[2].strip("_").endswith("device")
