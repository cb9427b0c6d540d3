"""The number of dimensions of what a torch function or tensor method gives."""

from __future__ import annotations

import ast

from compilefix.analysis import values
from compilefix.analysis.torch_call import TorchCall
from compilefix.analysis.values import Kind, Value, static

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
# What comes first is added, or may have fewer dimensions than what comes second; or all comes down to one number.
_RANKS = {"addmm": 2, "baddbmm": 3, "addmv": 1, "addbmm": 2, "addr": 2, "cross": None, "kron": None}
_RANKS |= {"dot": 0, "vdot": 0, "trace": 0, "dist": 0}
_FILLED = frozenset(f"torch.{name}" for name in ("zeros", "ones", "empty", "full", "rand", "randn", "randint"))


def rank_of(call: TorchCall, first: Value, dim_given: bool) -> int | None:
    """The number of dimensions of the result, where it is known.

    first: the tensor that the function works on, an element of the list that `cat` and `stack` take.
    """
    api, bare = call.api, call.bare
    rank = first.rank if first.is_tensor else None
    if None in call.keywords and api.rank not in ("arg", "same"):
        return None  # `x.any(**options)`
    if bare in _RANKS:
        return _RANKS[bare]
    match bare:
        case "take" | "searchsorted":  # as many as the index, or what is looked for, has
            second = call.second if not call.has_star else None
            return second.rank if second is not None and second.is_tensor else None
        case "einsum":
            return _einsum_rank(call.args[0]) if call.args else None
        case "cartesian_prod":
            return 2 if len(call.args) > 1 and not call.has_star else None  # of one vector comes out the vector
        case "randint":
            size = call.keywords.get("size") or (call.args[-1] if len(call.args) > 1 else values.UNKNOWN)
            return len(size.elements) if size.is_(Kind.CONTAINER) and size.elements is not None else None
        case "gather" if rank in (0, 1):
            return None  # a tensor without dimensions takes an index with one, and the other way round
        case "linear":  # a weight without rows gives no last dimension
            return rank if call.second is not None and call.second.rank == 2 else None
        case "tensor" | "as_tensor" | "new_tensor" if (data := _data(call)) is not None:
            return 0 if _is_number(data) else data.rank if data.is_tensor else _depth(data)
        case "flatten" | "ravel" if len(call.args) == 1 and not call.keywords and not call.has_star:
            return 1  # also of what has no dimensions
    return _rank_by_table(call, rank, dim_given)


def _rank_by_table(call: TorchCall, rank: int | None, dim_given: bool) -> int | None:
    """The rank by what the API table says of the function, for a first tensor of a rank."""
    match call.api.rank:
        case "same":
            return rank
        case "0" | "1" | "2" as fixed:
            return int(fixed)
        case "loss":
            return None if _reduces_otherwise(call) else 0
        case "reduce" | "reduce_or_broadcast":
            return _reduced_rank(call, rank) if dim_given else 0
        case "+1":
            return None if rank is None else rank + 1
        case "-1":
            return None if rank is None else rank - 1
        case "arg":
            return _rank_of_sizes(call)
        case "unknown" if call.bare in _SIZED:
            return _rank_of_sizes(call)
    return None


def _reduced_rank(call: TorchCall, rank: int | None) -> int | None:
    """The rank behind a reduction along dimensions that are passed."""
    dim = call.keywords.get("dim", call.second or values.UNKNOWN)
    keep = call.keywords.get("keepdim", call.args[2] if len(call.args) > 2 else static(False))
    kept = keep.const.value if keep.const is not None else None
    if call.second is not None and call.bare not in _DIM_SECOND:
        return None  # `norm(2)`, `std(False)`: what comes second is no dimension
    if dim.elements == () and call.bare in ("any", "all"):
        return rank  # other reductions go over all dimensions then
    if kept is True:
        return rank
    if kept is not False:
        return None
    if dim.kinds == values.NONE.kinds or dim.elements == ():
        return 0
    if rank is None:
        return None
    if dim.is_(Kind.STATIC) and dim.dtype == "int":
        return max(rank - 1, 0)
    return max(rank - len(dim.elements), 0) if dim.elements is not None else None


def _rank_of_sizes(call: TorchCall) -> int | None:
    """The number of the sizes that are passed: `torch.zeros(2, 3)`, `x.view((2, 3))`."""
    is_method = not call.name.startswith("torch.") or call.bare in _SIZED
    sizes = call.args[1:] if is_method else call.args
    if not sizes and "size" in call.keywords:
        sizes = [call.keywords["size"]]
    if call.bare in ("full", "new_full"):
        sizes = sizes[:1]  # the fill value comes second
    if sizes and sizes[0].is_(Kind.CONTAINER):
        return None if sizes[0].elements is None else len(sizes[0].elements)
    if len(sizes) == 1 and not sizes[0].is_(Kind.SIZE, Kind.NUMBER) and sizes[0].dtype != "int":
        return None  # it may be a tuple, or a dtype
    told = all(s.is_(Kind.SIZE, Kind.STATIC, Kind.NUMBER) or s.is_unknown for s in sizes)
    return len(sizes) if sizes and told and not call.has_star else None


def _data(call: TorchCall) -> Value | None:
    """What a tensor is made of, where it is passed by its place."""
    return call.second if call.bare == "new_tensor" else call.args[0] if call.args else None


def _depth(data: Value) -> int | None:
    """The number of dimensions of a tensor made of a list of numbers, or of lists of them; None for another one."""
    if not data.is_(Kind.CONTAINER) or data.ref is not None:
        return None
    items = data.elements or ((data.element,) if data.element is not None else ())
    depths = {_depth_of_item(item) for item in items}
    found = depths.pop() if len(depths) == 1 else None
    return None if found is None else found + 1


def _depth_of_item(item: Value) -> int | None:
    return 0 if _is_number(item) else _depth(item)


def _is_number(value: Value) -> bool:
    return value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) and value.dtype in ("bool", "int", "float")


def has_one_element(call: TorchCall) -> bool:
    """Whether a tensor is made of the one number of a list, or with sizes that are all one: `torch.zeros(1)`."""
    if call.has_star or None in call.keywords:
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
    return told or call.has_star


def _einsum_rank(equation: Value) -> int | None:
    """The number of letters behind the arrow of an equation that is written out."""
    text = equation.const.value if equation.const is not None else None
    if not isinstance(text, str) or "->" not in text or "..." in text:
        return None
    return len(text.partition("->")[2].replace(" ", ""))
