"""The dtype of what a torch function or tensor method gives."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis import torch_api, values
from compilefix.analysis.dtypes import dtype_class, is_real, pointwise_dtype
from compilefix.analysis.torch_call import TorchCall
from compilefix.analysis.values import Kind, Value

Dtype = tuple[str | None, str | None]
"""The class of a dtype, and its id, which is the same for dtypes that are known to be one."""
_UNKNOWN: Dtype = (None, None)

# The rules of the table under which a `dtype=` that is passed decides.
_ASKED_FOR = frozenset({"arg", "arg_or_same", "arg_or_int64", "float", "numeric", "sum"})
_DEFAULT_FLOAT = frozenset(f"torch.{name}" for name in ("zeros", "ones", "rand", "randn", "empty", "linspace"))
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


def dtype_of(call: TorchCall, first: Value) -> Dtype:
    """Class and id of the result's dtype.

    first: the tensor that the function works on, an element of the list that `cat` and `stack` take.
    """
    asked = call.keywords.get("return_complex")
    if call.name in _COMPLEX or (asked is not None and asked.const is not None and asked.const.value is True):
        return "complex", None
    dtype, dtype_id = _of_real(call, first)
    if call.bare.strip("_") not in _REAL or is_real(first):
        return dtype, dtype_id
    return ("float" if first.dtype == "complex" else dtype), None if dtype_id == first.dtype_id else dtype_id


def _of_real(call: TorchCall, first: Value) -> Dtype:
    """The dtype that is asked for, and else what the function gives by its rule, for real numbers."""
    name, others = call.name, call.args[1:]
    if None in call.keywords and (name == "to" or call.api.dtype in _ASKED_FOR):
        return ("float" if call.api.dtype == "float" else None), None
    given = call.keywords.get("dtype")
    if given is None and name in ("to", "type") and others:
        given = next((v for v in others if v.ref is not None and torch_api.is_dtype(v.ref)), None)
        if given is None and name == "to" and any(v.is_unknown or v.is_tensor or v.is_(Kind.STATIC) for v in others):
            return _moved(call, first)
    if given is not None and given.kinds != values.NONE.kinds:
        exact = torch_api.dtype_name(given.ref) if given.ref is not None else None
        return (dtype_class(exact), exact) if exact is not None else _UNKNOWN
    alone = len(call.args) == 1 and not call.has_star
    if call.bare == "bincount" and alone and call.keywords.keys() <= {"minlength"}:
        return "int", "int64"  # with weights it has their dtype, or double precision
    if call.bare in ("any", "all") and first.dtype not in ("bool", "float"):
        return _UNKNOWN  # uint8 gives uint8
    sizes = all(v.is_(Kind.SIZE, Kind.STATIC, Kind.CONTAINER, Kind.NUMBER) and v.ref is None for v in others)
    if name == "torch.cartesian_prod" or (name == "view" and sizes):
        return first.dtype, first.dtype_id  # `cartesian_prod` takes no others beside it
    return _by_table(call, first)


def _moved(call: TorchCall, first: Value) -> Dtype:
    """`.to(device)` keeps the dtype, `.to(dtype)` does not: a static value of unknown sort may be either."""
    if call.second is not None and call.second.is_tensor and len(call.args) == 2:
        return call.second.dtype, call.second.dtype_id
    return (first.dtype, first.dtype_id) if _is_device(call.nodes) else _UNKNOWN


def _by_table(call: TorchCall, first: Value) -> Dtype:
    """The dtype by the rule that the API table has for the function, where none is passed."""
    rule, same = call.api.dtype, (first.dtype, first.dtype_id)
    if call.api.rank == "loss" and rule != "same":
        return "float", None
    match rule:
        case "same" | "arg_or_same":
            return same
        case "float":
            return (None if first.dtype == "complex" else "float"), first.dtype_id if first.dtype == "float" else None
        case "bool":
            return "bool", "bool"
        case "sum" if first.dtype in ("bool", "int"):
            return "int", "int64"
        case "sum":
            return same if first.dtype in ("float", "complex") else _UNKNOWN
        case "numeric":
            return same if first.dtype in ("float", "int") else _UNKNOWN
        case "arg" if call.name in _DEFAULT_FLOAT:
            return "float", "default"
        case "arg" | "unknown":
            return _of_numbers(call, first)
        case "arg_or_int64" if "out" not in call.keywords:
            return "int", "int64"
        case "promote":
            tensors = [v for v in call.args if v.is_tensor]
            dimensioned = [v for v in tensors if v.rank != 0]
            return pointwise_dtype([first, *call.args[1:]], tensors, dimensioned, "promote", False)
    return dtype_class(rule), rule if dtype_class(rule) is not None else None


def _of_numbers(call: TorchCall, first: Value) -> Dtype:
    """The dtype of a tensor that is made of numbers: `torch.tensor(0.5)`, `torch.arange(n)`."""
    if call.name in ("torch.tensor", "torch.as_tensor") and first.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER):
        return first.dtype, {"float": "default", "int": "int64", "bool": "bool"}.get(first.dtype or "")
    if call.name == "torch.arange" and "out" not in call.keywords:
        bounds = [*call.args, *(call.keywords[key] for key in ("start", "end", "step") if key in call.keywords)]
        return ("int", "int64") if bounds and all(v.dtype == "int" for v in bounds) else _UNKNOWN
    return _UNKNOWN


def _is_device(nodes: Sequence[ast.expr]) -> bool:
    """Whether the argument of `.to()` is written as a device: `x.device`, `device`, `"cuda"`."""
    if not nodes:
        return False
    node = nodes[0]
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    text = ast.unparse(node)
    return text.rpartition(".")[2].strip("_").endswith("device")
