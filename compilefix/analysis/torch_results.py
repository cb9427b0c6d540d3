"""The result of a torch function or tensor method, by its entry in the API table: kind, dtype, rank, shape, memory."""

from __future__ import annotations

from collections.abc import Sequence

from compilefix.analysis import shape_ids, values
from compilefix.analysis.dtypes import dtype_class
from compilefix.analysis.multiple_results import FORMS, by_arguments, with_indices
from compilefix.analysis.operators import elementwise, opaque
from compilefix.analysis.torch_call import TorchCall
from compilefix.analysis.torch_dtypes import dtype_of
from compilefix.analysis.torch_ranks import has_one_element, rank_of
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
# Of two numbers Dynamo computes these itself: the result is no tensor to it.
_OF_NUMBERS = frozenset({"torch.div", "torch.true_divide", "torch.floor_divide"})
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
    api, args, bare = call.api, call.args, call.bare
    if _has_other_form(call):
        return opaque(call.place, args)
    if bare in FORMS and (several := by_arguments(bare, args, call.keywords, call.place)) is not None:
        return several if not several.is_unknown else opaque(call.place, args)
    first = _worked_on(call)
    dim_given = call.second is not None or "dim" in call.keywords or "axis" in call.keywords
    tensor_second = call.second is not None and call.second.is_tensor and "dim" not in call.keywords
    returns = api.kind(with_dim=dim_given and not tensor_second)
    certain = first.certain if first.is_tensor or first.kinds == values.ARRAYS else True
    if api.host and returns != "Tensor":
        return number({"bool": "bool", "int": "int", "float": "float"}.get(str(returns)), certain)
    storage, leaves = _storage(call, first), _leaves(call)
    certain = certain or call.name.startswith("torch.")
    if _broadcasts(call):
        return _common_shape(call, storage, leaves, certain=certain)
    if api.mutates and call.name.endswith("_") and first.is_tensor:
        result = replace(first, leaves=first.leaves | leaves, storage=storage)
        if call.reshapes_in_place:
            result = replace(result, rank=None, has_dims=False, shape_id=call.place)
        return shaped(returns, result)
    rank = rank_of(call, first, dim_given)
    dtype, dtype_id = dtype_of(call, first)
    if isinstance(returns, tuple) and bare in ("max", "min"):
        dtype, dtype_id = first.dtype, first.dtype_id  # along a dimension they take from one tensor
    dtype_id = dtype_id or f"dtype {call.place}"
    result = tensor(dtype=dtype, dtype_id=dtype_id, rank=rank, certain=certain, storage=storage, leaves=leaves)
    result = _with_shape(result, call, first)
    found = shaped(returns, result)
    if found.elements is not None:
        parts = with_indices(bare, found.elements, result.rank, result.shape_id, call.place)
        return replace(found, elements=parts, storage=found.storage.union(*(part.storage for part in parts)))
    if returns == "list" and (shape_id := shape_ids.of_items(call)) is not None and found.element is not None:
        own = {"dtype": None, "dtype_id": None} if bare == "broadcast_tensors" else {}  # each keeps its dtype
        return replace(found, element=replace(found.element, shape_id=shape_id, **own))
    return found


def _has_other_form(call: TorchCall) -> bool:
    """Whether nothing is known of what this form of the call gives."""
    second = call.second
    if call.name in _OF_NUMBERS and second is not None:
        return all(v.is_(Kind.STATIC, Kind.SIZE) for v in (call.args[0], second))
    if call.api.rank == "reduce_or_broadcast" and second is not None:
        # Of a tensor it gives the greater elements, of a number values and indices.
        return second.may_be(Kind.TENSOR) and not second.is_tensor
    # Of several tensors, or a list of them, `atleast_1d` gives a tuple.
    return call.bare.startswith("atleast_") and (len(call.args) != 1 or not call.first.is_tensor)


def _worked_on(call: TorchCall) -> Value:
    """The first argument, or what the list holds that `cat` and `stack` take."""
    first = call.first
    if call.name in ("torch.cat", "torch.stack", "torch.concat") and first.is_(Kind.CONTAINER):
        return (first.element if first.element is not None else values.UNKNOWN).stripped()
    return first


def _with_shape(result: Value, call: TorchCall, first: Value) -> Value:
    """The result with the id of its shape: that of the first tensor, or of the second, or one that the call makes."""
    api, bare, second = call.api, call.bare, call.second
    if bare in _SHAPE_OF_SECOND and first.is_tensor:
        result = replace(result, dtype=first.dtype, dtype_id=first.dtype_id)
        if second is not None and second.is_tensor and len(call.args) == 2:
            return replace(result, rank=second.rank, shape_id=second.shape_id, has_dims=second.dimensioned)
    keeps = (api.pointwise and bare not in _MOVES_DIMENSIONS) or bare in _KEEPS_SHAPE
    same = keeps and api.rank == "same" and first.is_tensor
    has_dims = first.is_tensor and (same or api.rank == "+1") and first.dimensioned
    if result.rank == 0:
        shape_id = result.shape_id  # tensors without dimensions have one
    elif same:
        shape_id = first.shape_id
    elif result.rank is not None and has_one_element(call):
        shape_id = values.shape_of_ones(result.rank)
    else:
        shape_id = shape_ids.of_sizes(call) or shape_ids.of_reduction(call) or call.place
    result = replace(result, shape_id=shape_id, has_dims=has_dims)
    device = call.keywords.get("device", values.NONE).const
    elsewhere = device is not None and isinstance(device.value, str)
    if elsewhere or (shape_id != call.place and shape_ids.is_made_by_sizes(call)):
        # It may lie on another device: of the same shape and dtype it would stand for the other tensor.
        return replace(result, dtype_id=f"dtype {call.place}")
    return result


def _storage(call: TorchCall, first: Value) -> frozenset[str]:
    """The memory that the result may lie in."""
    api, args, bare = call.api, call.args, call.bare
    storage = frozenset({call.place})
    if api.view or api.mutates:
        storage = first.storage
    elif api.maybe_view and not _multiplies(call):
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


def _multiplies(call: TorchCall) -> bool:
    """Whether it is an `einsum` of several operands: only one by itself may come back as a view."""
    equation = call.first.const.value if call.name == "torch.einsum" and call.first.const is not None else None
    return isinstance(equation, str) and "," in equation


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
