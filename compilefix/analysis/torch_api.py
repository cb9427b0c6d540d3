"""What torch's functions, tensor methods and modules do, for an analysis that must not import torch.

The facts stand in `torch_api.json` beside this file. `scripts/build_torch_api.py` writes it from an installed torch: it
reads the operator schemas, tags and type stubs, and runs each function on small inputs for what they do not say. A name
that is missing, and a field that is left at its default, mean "not known": nothing may be concluded from either.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_DROPOUTS = ("dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
INPLACE_AT = {
    f"torch.nn.functional.{name}": position
    for position, names in {
        1: ("relu", "relu6", "selu", "silu", "mish", "hardsigmoid", "hardswish"),
        2: ("elu", "celu", "leaky_relu"),
        3: ("hardtanh", "threshold", "dropout", *_DROPOUTS),
        4: ("rrelu",),
    }.items()
    for name in names
}
"""Which positional argument of a function is `inplace`, counted from zero."""
TABLE = Path(__file__).with_name("torch_api.json")


@dataclass(frozen=True)
class Api:
    """What is known of one function, tensor method or attribute, or of calling one `torch.nn` module.

    returns: the kind of the result: "Tensor", "int", "float", "bool", "number", "str", "size" (`torch.Size`), "dtype",
        "device", "layout", "None", "list" (a list or tuple whose length depends on the call), "ndarray", "unknown", or
        a tuple of kinds for a result with a fixed number of parts.
    returns_with_dim: the kind when a `dim` is passed (second positional argument or keyword), where that differs.
        For `Tensor.type` the argument is a dtype.
    attribute: it is read, not called.
    random: it moves the state of a random generator in every call.
    random_training: it does so only in training (`training=True`, a module in training mode) or, for
        `scaled_dot_product_attention`, with `dropout_p` above zero.
    mutates: it writes its first argument. Any function also writes what is passed as `out=`, and the first argument
        with `inplace=True`: that shows in the call, not here.
    mutates_training: it updates running statistics in training.
    host: it needs the values on the host, so a graph cannot hold it.
    dynamic: the shape of the result depends on values.
    dynamic_form: it is dynamic in one form of the call only: "one_argument" (`where(c)`), "bool_mask" (`x[mask]`),
        "tensor_repeats" (`repeat_interleave`), "no_class_count" (`one_hot`).
    view: the result shares memory with an input (or is the input, for an in-place method).
    maybe_view: it does in some calls.
    dtype: how the dtype of the result, or of its first tensor, follows from the inputs. An explicit `dtype=` argument
        comes before all of these. Real dtypes only; complex inputs are not covered.
        "same"; "bool", "int64", "float32", ...: always that one; "float": floats stay, integers and bool become the
        default float; "sum": floats stay, integers and bool become int64; "promote": the promoted dtype of the
        operands; "promote_float": that, then integers and bool become the default float; "arg": the dtype argument or
        the default float; "arg_or_same": the dtype argument or the input's; "arg_or_int64";
        "numeric": floats and integers stay, bool becomes int64; "unknown".
    rank: how the number of dimensions follows. For a list of tensors it speaks of each.
        "same"; "0", "1", "2": always that; "reduce": 0 without `dim`, one less with an int `dim` unless
        `keepdim=True`; "reduce_or_broadcast": "reduce" for one tensor, "broadcast" for two (max and min); "loss": 0
        unless a `reduction` argument is passed; "broadcast"; "arg": the length of the size argument; "+1"; "-1";
        "unknown".
    differentiable: False if no gradient flows through it. True says nothing: it is also the default.
    linear: the derivative to each floating-point tensor input is the same for all values, NaN and infinities included.
    zero_grad_safe: for calls with one tensor: where the incoming gradient is zero the input's gradient is exactly zero
        for zeros, the largest finite values, infinities and NaN (float32 and float16, eager CPU). Python scalar
        operands are covered where they are finite and from 1e-4 to 1e4 in magnitude.
    zero_grad_safe_tensors: the same for calls with two or more tensors that need a gradient.
    total: no tensor values make it raise. Wrong shapes and dtypes, and bad Python arguments, still do.
    pointwise: each element depends only on the elements at its place.
    """

    returns: str | tuple[str, ...] = "unknown"
    returns_with_dim: str | tuple[str, ...] | None = None
    attribute: bool = False
    random: bool = False
    random_training: bool = False
    mutates: bool = False
    mutates_training: bool = False
    host: bool = False
    dynamic: bool = False
    dynamic_form: str | None = None
    view: bool = False
    maybe_view: bool = False
    dtype: str = "unknown"
    rank: str = "unknown"
    differentiable: bool = True
    linear: bool = False
    zero_grad_safe: bool = False
    zero_grad_safe_tensors: bool = False
    total: bool = False
    pointwise: bool = False

    def kind(self, *, with_dim: bool = False) -> str | tuple[str, ...]:
        """The return kind of a call that passes a `dim`, or passes none."""
        return self.returns_with_dim if with_dim and self.returns_with_dim is not None else self.returns


NO_TENSOR_FIRST = frozenset(
    f"torch.{name}"
    for name in (
        "arange",
        "as_tensor",
        "asarray",
        "broadcast_shapes",
        "can_cast",
        "cat",
        "column_stack",
        "concat",
        "concatenate",
        "dstack",
        "einsum",
        "from_numpy",
        "frombuffer",
        "full",
        "hstack",
        "is_storage",
        "is_tensor",
        "linalg.multi_dot",
        "manual_seed",
        "promote_types",
        "randint",
        "randperm",
        "range",
        "row_stack",
        "scalar_tensor",
        "sparse_coo_tensor",
        "stack",
        "tensor",
        "tril_indices",
        "triu_indices",
        "vstack",
    )
)
"""Functions whose first argument need not be a tensor: what is passed to another one is."""

TENSOR_ONLY_METHODS: frozenset[str]
"""Names of methods and attributes that `torch.Tensor` has and no other common type: not ndarray, list, dict, str,
`nn.Module`, `torch.Size`, PIL images, distributions, and none of the words that configurations use for attributes. A
value on which code uses one is a tensor. It says nothing of modules: `torch.unsqueeze` and `F.softmax` are functions.
"""

BARE_TENSOR_METHODS = frozenset(
    {"reciprocal", "sqrt", "rsqrt", "isfinite", "isnan", "isinf", "tanh", "sigmoid", "sin", "cos", "log1p", "expm1"}
    | {"log2", "log10", "logical_not", "neg", "bool", "long", "int", "short", "byte"}
)
"""Methods that, called without an argument, only a tensor has: `numpy.sqrt` takes the array, and arrays have no `sqrt`.
"""


def __getattr__(name: str) -> Any:
    """Read the set from the table when it is first asked for: importing this module reads no file."""
    if name == "TENSOR_ONLY_METHODS":
        return _tensor_only()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def function(qualified: str) -> Api | None:
    """The function with this full name, such as `torch.nn.functional.relu`; None if the table does not know it.

    `torch.functional.X` is looked up as `torch.X`, and `torch.Tensor.X` as the method.
    """
    if qualified.startswith("torch.Tensor."):
        return method(qualified.removeprefix("torch.Tensor."))
    if qualified.startswith("torch.functional."):
        qualified = "torch." + qualified.removeprefix("torch.functional.")
    return _api("functions", qualified)


def method(name: str) -> Api | None:
    """The method or attribute of `torch.Tensor` with this name, special methods included."""
    return _api("methods", name)


def module(qualified: str) -> Api | None:
    """What a call of this module class does, such as `torch.nn.Linear`; `torch.nn.modules.linear.Linear` works too."""
    if qualified.startswith("torch.nn.modules."):
        qualified = "torch.nn." + qualified.rpartition(".")[2]
    return _api("modules", qualified)


def dtype_name(qualified: str) -> str | None:
    """The canonical name of a dtype (`torch.half` gives "float16"); None if it is none."""
    names: Mapping[str, str] = _table()["names"]["dtypes"]
    return names.get(qualified)


def is_dtype(qualified: str) -> bool:
    """Whether the full name is that of a dtype, such as `torch.float32` or `torch.long`."""
    return dtype_name(qualified) is not None


def constant(qualified: str) -> str | None:
    """The kind of a numeric constant of the torch namespace (`torch.inf`, `torch.pi`); None if it is none."""
    names: Mapping[str, str] = _table()["names"]["constants"]
    return names.get(qualified)


def table_version() -> str:
    """The version of the torch that the table describes, such as "2.13.0"."""
    return str(_table()["torch"])


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return table


@cache
def _tensor_only() -> frozenset[str]:
    return frozenset(_table()["tensor_only"])


@cache
def _api(section: str, name: str) -> Api | None:
    entry: dict[str, Any] | None = _table()[section].get(name)
    if entry is None:
        return None
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Api(**values)
