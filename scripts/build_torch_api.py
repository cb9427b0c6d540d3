"""Write `compilefix/analysis/torch_api.json`: what the static analysis knows of torch without importing it.

Run it with the torch that the table shall describe: `python scripts/build_torch_api.py`. `--output FILE` writes
elsewhere. Three sources are used, in this order:

1. running torch on small inputs: dtype rule, rank rule, gradients, exceptions, RNG use, in-place writes;
2. operator schemas and tags, and torch's type stubs: return kinds, aliasing, host reads, dynamic shapes;
3. lists in this file, for what neither can tell; each list says why it is there.

The file is sorted and holds one entry per line, so that a diff between two torch versions can be read.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import cmath
import collections
import datetime
import decimal
import fractions
import importlib
import importlib.util
import inspect
import json
import logging
import math
import pathlib
import random
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy
import torch
from torch import nn

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "compilefix" / "analysis" / "torch_api.json"
STUBS = pathlib.Path(torch.__file__).resolve().parent

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGERS = (torch.uint8, torch.int32, torch.int64)
DTYPES = (*FLOATS, *INTEGERS, torch.bool)
SHAPES = ((), (3,), (4, 4), (1, 3), (2, 1, 3), (2, 3, 4))

# Operators for one vendor's library or one quantised format: user code does not call them.
SKIPPED = re.compile(
    r"cudnn|miopen|mkldnn|fbgemm|quantized_|q_|quantize_|fake_quantize|fused_|sym_|native_|choose_qparams|_copy$"
    r"|batch_norm_|to_mkldnn|int_repr|is_vulkan|from_file|segment_reduce|hspmm|rnn_|gru_|lstm_|cuda_"
)

# torch builds these from Python data: the values are known to the caller, no schema describes the call.
DATA_CONSTRUCTORS = ("tensor", "as_tensor", "asarray", "from_numpy", "frombuffer", "scalar_tensor", "complex", "polar")

# dtype rules of constructors: the result depends on arguments that the probes do not vary.
CREATION_DTYPE = {
    # uint8 alone gives uint8, for old code that used it as a mask.
    "any": "bool",
    "all": "bool",
    **dict.fromkeys(
        ("zeros", "ones", "empty", "rand", "randn", "eye", "linspace", "logspace", "empty_permuted"), "arg"
    ),
    **dict.fromkeys(("empty_strided", "normal", "scalar_tensor"), "arg"),
    **dict.fromkeys(("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"), "arg"),
    **dict.fromkeys(("fft.fftfreq", "fft.rfftfreq"), "arg"),
    **dict.fromkeys(("randint", "randperm", "tril_indices", "triu_indices"), "arg_or_int64"),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like", "rand_like", "randn_like"), "arg_or_same"),
    **dict.fromkeys(("randint_like", "new_zeros", "new_ones", "new_empty", "new_full"), "arg_or_same"),
    **dict.fromkeys(("new_empty_strided",), "arg_or_same"),
    **dict.fromkeys(("full", "arange", "range", "new_tensor", *DATA_CONSTRUCTORS), "unknown"),
}
CREATION_RANK = {
    **dict.fromkeys(("zeros", "ones", "empty", "rand", "randn", "full", "randint", "empty_strided"), "arg"),
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty", "new_full", "new_empty_strided"), "arg"),
    "scalar_tensor": "0",
}

# The result shares memory only when no copy is needed; a schema marks these like a sure view.
MAYBE_VIEW = frozenset(
    "reshape reshape_as contiguous to flatten ravel cpu cuda float double half bfloat16 int long short char byte bool "
    "type type_as resolve_conj resolve_neg real conj positive adjoint atleast_1d atleast_2d atleast_3d "
    "as_tensor asarray cfloat cdouble chalf xpu pin_memory dropout alpha_dropout feature_dropout "
    "feature_alpha_dropout dropout1d dropout2d dropout3d einsum __getitem__ numpy broadcast_tensors "
    "meshgrid conj_physical expand_as pad to_dense coalesce numpy".split()
)

# Dense linear algebra, convolution, pooling and normalisation: the kernels never test a value.
TOTAL_DENSE = frozenset(
    "matmul mm bmm mv dot vdot inner outer ger addmm addmv addr baddbmm addbmm linear bilinear conv1d conv2d conv3d "
    "conv_transpose1d conv_transpose2d conv_transpose3d softmax log_softmax softmin layer_norm group_norm batch_norm "
    "instance_norm rms_norm normalize avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d "
    "adaptive_avg_pool3d scaled_dot_product_attention glu pixel_shuffle pixel_unshuffle pad interpolate cat concat "
    "concatenate stack hstack vstack dstack flip fliplr flipud roll tril triu cumsum repeat tile kron cross "
    "__matmul__ __rmatmul__ einsum tensordot meshgrid logcumsumexp where masked_fill clamp clip "
    "clamp_min clamp_max contiguous clone to dropout dropout1d dropout2d dropout3d zeros_like ones_like empty_like "
    "full_like rand_like randn_like new_zeros new_ones new_empty new_full zeros ones empty full rand randn arange "
    "eye linspace diff broadcast_tensors numel dim size fill_ zero_ copy_ masked_fill_ float double half bfloat16 int "
    "long short char byte bool type_as cpu cuda detach sort argsort unflatten".split()
)

# One place in a tensor is picked by another tensor's values, or a number's sign or range is tested: these can raise.
NEVER_TOTAL = frozenset(
    "gather index_select take take_along_dim embedding embedding_bag one_hot bincount multinomial scatter scatter_add "
    "index_add index_copy index_fill index_put repeat_interleave cholesky inverse det slogdet logdet "
    "binary_cross_entropy nll_loss cross_entropy ctc_loss multi_margin_loss multilabel_margin_loss bernoulli poisson "
    "histc histogram quantile nanquantile unravel_index kthvalue lcm gcd".split()
)

# A Python number or list made from the values. Tags miss those that torch implements in Python or C++ by hand.
HOST = frozenset(
    "item tolist numpy __bool__ __float__ __int__ __index__ __complex__ __contains__ __array__ __format__ __repr__ "
    "__str__ is_nonzero equal allclose __nonzero__ __long__".split()
)
# The shape of the result follows from values; no tag on the public name.
DYNAMIC = frozenset("nonzero unique unique_consecutive masked_select bincount argwhere combinations".split())
# Dynamic in one form of the call only: one argument, a boolean mask, a tensor of repeats, no class count.
DYNAMIC_FORMS = {
    "where": "one_argument",
    "__getitem__": "bool_mask",
    "repeat_interleave": "tensor_repeats",
    "one_hot": "no_class_count",
}

# Reads shape, dtype or other metadata only, though the schema returns a Python value.
METADATA = frozenset(
    "dim size stride numel nelement ndimension element_size is_floating_point is_complex is_signed is_conj is_neg "
    "is_inference is_same_size is_contiguous is_pinned is_set_to is_coalesced is_distributed is_shared get_device "
    "storage_offset data_ptr dense_dim sparse_dim __len__ result_type can_cast promote_types output_nr".split()
)

# Random only while training: the flag is an argument (`training`, `train`).
RANDOM_TRAINING = frozenset(
    "dropout dropout1d dropout2d dropout3d alpha_dropout feature_dropout feature_alpha_dropout rrelu dropout_ "
    "alpha_dropout_ feature_dropout_ feature_alpha_dropout_ rrelu_ rrelu_with_noise rrelu_with_noise_ "
    "multi_head_attention_forward".split()
)
# Random, though the Python wrapper carries no tag.
RANDOM = frozenset(
    "gumbel_softmax fractional_max_pool2d fractional_max_pool3d fractional_max_pool2d_with_indices "
    "fractional_max_pool3d_with_indices pca_lowrank svd_lowrank normal normal_ "
    "manual_seed seed set_rng_state".split()
)
# What these give is whatever the memory held: comparing results of two calls says nothing.
# What the probes pass leaves the elements where they are; other arguments move or add them.
MOVES = frozenset("movedim moveaxis sum_to_size".split())
# With the arguments of the probes zero stays zero, or the derivative is constant, and not with all.
NO_ZERO_GRADIENT = frozenset("local_response_norm instance_norm matrix_power eigvals svdvals".split())
UNINITIALIZED = frozenset("empty_like new_empty new_empty_strided".split())
# Random with a non-zero dropout probability only.
RANDOM_WITH_DROPOUT = frozenset(("scaled_dot_product_attention",))

# Written by hand in C++ or Python without a schema that the probes could call.
RETURNS = {
    "is_tensor": "bool",
    "is_storage": "bool",
    "is_grad_enabled": "bool",
    "is_inference_mode_enabled": "bool",
    "is_autocast_enabled": "bool",
    "get_default_dtype": "dtype",
    "get_autocast_dtype": "dtype",
    "initial_seed": "int",
    "seed": "int",
    "manual_seed": "unknown",
    "get_rng_state": "Tensor",
    "set_rng_state": "None",
    "compiled_with_cxx11_abi": "bool",
    "get_num_threads": "int",
    "get_device_module": "unknown",
    "broadcast_shapes": "size",
    "__len__": "int",
    "__bool__": "bool",
    "__float__": "float",
    "__int__": "int",
    "__index__": "int",
    "__complex__": "number",
    "__contains__": "bool",
    "__format__": "str",
    "__repr__": "str",
    "__str__": "str",
    "__iter__": "list",
    "__getitem__": "Tensor",
    "__setitem__": "None",
    "__array__": "ndarray",
    "tolist": "list",
    "numpy": "ndarray",
    "item": "number",
    "backward": "None",
    "stride": "list",
    "is_same_size": "bool",
    "is_contiguous": "bool",
    **{f"{kind}_pool{n}d": "Tensor" for n in (1, 2, 3) for kind in ("max", "adaptive_max", "fractional_max")},
    "nonzero": "Tensor",
    "argwhere": "Tensor",
    "unique": "Tensor",
    "unique_consecutive": "Tensor",
    "type": "str",
    "tensor_split": "list",
    "unravel_index": "list",
    "device": "device",
    "Size": "size",
}
RETURNS_WITH_DIM = {"stride": "int", "size": "int", "type": "Tensor"}

# Functions of the `torch` namespace that are written in Python or are classes: they are not in _VariableFunctions.
PYTHON_FUNCTIONS = (
    *("is_tensor", "is_storage", "is_grad_enabled", "is_inference_mode_enabled", "is_autocast_enabled"),
    *("get_default_dtype", "get_autocast_dtype", "initial_seed", "seed", "manual_seed", "get_rng_state"),
    *("set_rng_state", "get_num_threads", "device", "Size", *DATA_CONSTRUCTORS),
)

# Returns an element count or order that differs by input rank, or picks between layouts: the probes see one case.
RANK = {
    "squeeze": "unknown",
    # One tensor: reduced; two tensors: broadcast.
    "max": "reduce_or_broadcast",
    "min": "reduce_or_broadcast",
    # The second parameter is the order of the norm, which the probes do not pass.
    "norm": "reduce",
    "linear": "same",
    "embedding": "+1",
    "one_hot": "+1",
    "pad": "same",
    "interpolate": "same",
    "normalize": "same",
    "layer_norm": "same",
    "group_norm": "same",
    "batch_norm": "same",
    "instance_norm": "same",
    "rms_norm": "same",
    "where": "broadcast",
    "masked_fill": "broadcast",
    "masked_fill_": "same",
    "dropout": "same",
    "max_unpool1d": "same",
    "max_unpool2d": "same",
    "max_unpool3d": "same",
    "mm": "same",
    "bmm": "same",
    "addmm": "2",  # what is added is broadcast
    "baddbmm": "unknown",
    "arange": "1",
    "range": "1",
    "linspace": "1",
    "logspace": "1",
    "randperm": "1",
    "eye": "2",
    "tril_indices": "2",
    "triu_indices": "2",
    "unravel_index": "same",
    "masked_select": "1",
    "bincount": "1",
    "argwhere": "2",
    "nonzero": "2",
    "from_numpy": "unknown",
    "masked_scatter": "broadcast",
    "take": "unknown",  # as many as the index has
    "gather": "same",
    "index_select": "same",
    "scatter": "same",
    "scatter_add": "same",
    "repeat": "unknown",
    "tile": "unknown",
    "expand": "unknown",
    "view": "unknown",
    "reshape": "unknown",
    "unflatten": "unknown",
    "flatten": "unknown",
    "view_as": "unknown",
    "reshape_as": "unknown",
    "expand_as": "unknown",
    "broadcast_to": "unknown",
    "repeat_interleave": "unknown",
    "clamp": "broadcast",
    "clip": "broadcast",
    "quantile": "unknown",
    "nanquantile": "unknown",
    "__getitem__": "unknown",
    **{
        f"{kind}{count}d": "same"
        for count in (1, 2, 3)
        for kind in (
            "conv",
            "conv_transpose",
            "max_pool",
            "avg_pool",
            "lp_pool",
            "adaptive_avg_pool",
            "adaptive_max_pool",
        )
    },
}
DTYPE = {
    "clamp": "promote",
    "clip": "promote",
    "where": "promote",
    "embedding": "unknown",
    "one_hot": "int64",
    "linear": "same",
    "pad": "same",
    "to": "unknown",
    "type": "unknown",
    "type_as": "unknown",
    "view": "unknown",
    "masked_fill": "same",
    "gather": "same",
    "index_select": "same",
    "interpolate": "same",
    "normalize": "same",
    "batch_norm": "same",
    "layer_norm": "same",
    "group_norm": "same",
    "instance_norm": "same",
    "lerp": "same",
    "masked_select": "same",
    "bernoulli": "same",
    "multinomial": "int64",
    "unravel_index": "int64",
    "cat": "promote",
    "stack": "promote",
    "__getitem__": "same",
    **{
        f"{kind}{count}d": "same"
        for count in (1, 2, 3)
        for kind in (
            "conv",
            "conv_transpose",
            "max_pool",
            "avg_pool",
            "lp_pool",
            "adaptive_avg_pool",
            "adaptive_max_pool",
        )
    },
}

# Calls whose required arguments do not work together by themselves: keyword arguments that make them valid.
EXTRA_ARGUMENTS: dict[str, tuple[dict[str, Any], ...]] = {
    "clamp": ({"min": -1}, {"max": 1}, {"min": -1, "max": 1}),
    "clip": ({"min": -1}, {"max": 1}, {"min": -1, "max": 1}),
    "div": ({"rounding_mode": "floor"}, {"rounding_mode": "trunc"}),
    "divide": ({"rounding_mode": "floor"}, {"rounding_mode": "trunc"}),
}

# Calls that would start threads, pin memory, touch devices, or need a graph: the probes leave them alone.
NOT_PROBED = frozenset(
    "backward share_memory_ pin_memory record_stream register_hook register_post_accumulate_grad_hook cuda xpu ipu hpu "
    "mtia to_mkldnn set_ resize_ resize_as_ resize resize_as module_load retain_grad apply_ map_ map2_ reinforce "
    "__dlpack__ __reduce__ storage untyped_storage data_ptr set_rng_state manual_seed seed rename_ detach_ "
    "set_data swap_tensors put_ sparse_resize_ sparse_resize_and_clear_ requires_grad_ from_numpy frombuffer is_pinned "
    "storage_type align_to align_as rename refine_names names has_names to_padded_tensor".split()
)


# Sparse layouts and complex halves answer few of the questions that the probes ask; the polynomials take minutes for
# degrees as large as the special values.
HARD_TO_PROBE = re.compile("sparse|crow|ccol|to_dense|coalesce|polynomial|^cfloat|^cdouble|^chalf")


@dataclass(frozen=True)
class Slot:
    """One parameter of a call: its name, its simplified type and whether it can be left out."""

    name: str
    type: str
    optional: bool


@dataclass(frozen=True)
class Overload:
    """One signature of an API: parameters, return kinds, aliasing and tags where a schema gives them."""

    slots: tuple[Slot, ...]
    returns: tuple[str, ...]
    aliases: bool = False
    writes: bool = False
    tags: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Call:
    """A way to call an API with tensors that the probe supplies: `form` is base, dim, scalar or tensors."""

    form: str
    tensors: int
    invoke: Callable[..., Any]
    keepdim: bool = False
    indexed: bool = False
    scalar: bool = False


def schema_type(argument: Any) -> str:
    """The schema type of an argument in the few words that the probes know; an int list keeps its bracket."""
    text = (
        str(argument.type).removeprefix("Optional[").removesuffix("]")
        if "Optional" in str(argument.type)
        else str(argument.type)
    )
    return {"number": "Scalar", "List[int]": "int[]", "List[Tensor]": "Tensor[]"}.get(text, text)


def schema_returns(schema: Any) -> tuple[str, ...]:
    """The return kinds of a schema, one word per returned value."""
    words = {
        "Tensor": "Tensor", "int": "int", "float": "float", "bool": "bool", "number": "number", "str": "str",
        "List[Tensor]": "list", "List[int]": "list", "Device": "device", "SymInt": "int", "Layout": "layout",
    }  # fmt: skip
    return tuple(words.get(str(returned.type), "unknown") for returned in schema.returns)


def aten_overloads() -> dict[str, list[Overload]]:
    """Every operator of the aten namespace that takes or gives a tensor, by name; `out=` variants left out."""
    table: dict[str, list[Overload]] = collections.defaultdict(list)
    for schema in sorted(torch._C._jit_get_all_schemas(), key=str):
        namespace, _, name = schema.name.partition("::")
        if namespace != "aten" or any(argument.is_out for argument in schema.arguments):
            continue
        types = [str(argument.type) for argument in schema.arguments] + [str(item.type) for item in schema.returns]
        if not any("Tensor" in text for text in types):
            continue
        packet = getattr(torch.ops.aten, name, None)
        operator = getattr(packet, schema.overload_name or "default", None)
        tags = frozenset(str(tag).rpartition(".")[2] for tag in getattr(operator, "tags", ()))
        slots = tuple(
            Slot(argument.name, schema_type(argument), argument.has_default_value() or "Optional" in str(argument.type))
            for argument in schema.arguments
        )
        returned = [item.alias_info for item in schema.returns if item.alias_info is not None]
        written = [a.alias_info for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]
        table[name].append(Overload(slots, schema_returns(schema), bool(returned), bool(written), tags))
    return table


def annotation_kind(text: str) -> str | list[str]:
    """The return kind of a Python annotation, as written in a stub or a source file."""
    text = text.strip("'\" ")
    fields = re.fullmatch(r"torch\.return_types\.(\w+)", text)
    if fields:
        count = getattr(getattr(torch.return_types, fields[1], None), "n_sequence_fields", 2)
        return ["Tensor"] * count
    tuples = re.fullmatch(r"[Tt]uple\[(.*)\]", text)
    if tuples and "..." not in text:
        kinds = [annotation_kind(part) for part in tuples[1].split(",")]
        return [kind if isinstance(kind, str) else "list" for kind in kinds]
    words = {
        "Tensor": "Tensor", "torch.Tensor": "Tensor", "Self": "Tensor", "_int": "int", "int": "int",
        "_float": "float", "float": "float", "_bool": "bool", "bool": "bool", "str": "str", "None": "None",
        "Number": "number", "Number | _complex": "number", "Size": "size", "_size": "size", "torch.Size": "size",
        "_dtype": "dtype", "torch.dtype": "dtype", "_device": "device", "_layout": "layout", "list": "list",
        "_complex": "number", "numpy.ndarray": "ndarray", "SymInt": "int", "_int | SymInt": "int",
    }  # fmt: skip
    if text in words:
        return words[text]
    if re.match(r"(list|List|tuple|Tuple|Sequence)\[", text):
        return "list"
    return "unknown"


def stub_returns(path: pathlib.Path, class_name: str | None = None) -> dict[str, list[tuple[bool, str | list[str]]]]:
    """For each function of a stub, or method of a class in it, its overloads: is `dim` required, and the kind."""
    body: list[ast.stmt] = ast.parse(path.read_text(encoding="utf-8")).body
    if class_name is not None:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == class_name).body
    found: dict[str, list[tuple[bool, str | list[str]]]] = collections.defaultdict(list)
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            positional = node.args.args
            required = positional[: len(positional) - len(node.args.defaults)]
            needs_dim = any(argument.arg == "dim" for argument in required)
            found[node.name].append((needs_dim, annotation_kind(ast.unparse(node.returns))))
    return found


def python_overload(function: Any) -> Overload | None:
    """The signature of a function written in Python, in the same form as a schema."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    slots = []
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            return None
        if parameter.name in ("_stacklevel",):
            continue
        raw = parameter.annotation
        text = raw if isinstance(raw, str) else getattr(raw, "__name__", str(raw))
        text = str(raw) if "Optional" in str(raw) or "Union" in str(raw) else text
        if "Tensor" in text or (raw is parameter.empty and parameter.name in ("input", "other", "target", "weight")):
            kind = "Tensor"
        elif "float" in text:
            kind = "float"
        elif "bool" in text:
            kind = "bool"
        elif "int" in text:
            kind = "int"
        else:
            kind = "unknown"
        slots.append(Slot(parameter.name, kind, parameter.default is not parameter.empty))
    returned = signature.return_annotation
    text = returned if isinstance(returned, str) else getattr(returned, "__name__", str(returned))
    kind_of = annotation_kind(text) if returned is not signature.empty else "unknown"
    return Overload(tuple(slots), (kind_of,) if isinstance(kind_of, str) else tuple(kind_of))


SCALARS = (2, 1, -1, 0.5, -3.0, 1e4, 1e-4)


def build_calls(function: Any, overload: Overload, extra: Iterable[dict[str, Any]]) -> Iterator[Call]:
    """Ways to call `function` by this signature: required arguments only, and once more with `dim`."""
    required = [slot for slot in overload.slots if not slot.optional]
    dims = [slot for slot in overload.slots if slot.name == "dim" and slot.type in ("int", "int[]")]
    tensor_slots = [slot for slot in required if slot.type == "Tensor" and slot.name not in MASKS | INDICES]
    if any(slot.type not in VALUES or slot.name in ("dtype", "layout", "memory_format") for slot in required):
        return
    keepdim = any(slot.name == "keepdim" for slot in overload.slots)
    indexed = any(slot.name in INDICES for slot in required)
    needs_scalar = any(slot.type == "Scalar" for slot in required)
    form = "tensors" if len(tensor_slots) > 1 else "scalar" if needs_scalar else "base"
    required_dim = any(slot in required for slot in dims)
    slot_is_order = getattr(function, "__name__", "") == "permute"

    def call(keywords: dict[str, Any]) -> Callable[..., Any]:
        def invoke(*tensors: torch.Tensor, scalar: float = 2) -> Any:
            given = iter(tensors)
            arguments: list[Any] = []
            for slot in required:
                if slot.type == "Tensor" and slot.name in MASKS:
                    shape = tensors[0].shape
                    arguments.append((torch.arange(math.prod(shape)) % 2 == 0).reshape(shape))
                elif slot.type == "Tensor" and slot.name in INDICES:
                    arguments.append(torch.zeros(tensors[0].shape, dtype=torch.int64))
                elif slot.type == "Tensor":
                    arguments.append(next(given))
                elif slot.type == "Tensor[]":
                    first = next(given)
                    arguments.append([first, first])
                elif slot.type == "Scalar":
                    arguments.append(scalar)
                elif slot.type == "int[]" and slot.name in ("size", "shape") and tensors:
                    arguments.append(list(tensors[0].shape))
                elif slot.type == "int[]" and slot.name == "repeats":
                    arguments.append([1] * tensors[0].dim())
                elif slot.type == "int[]" and slot.name == "dims" and slot_is_order:
                    arguments.append(list(range(tensors[0].dim()))[::-1])
                else:
                    arguments.append(NAMED.get(slot.name, VALUES[slot.type]))
            return function(*arguments, **keywords)

        return invoke

    count = len(tensor_slots) + sum(slot.type == "Tensor[]" for slot in required)
    yield Call("dim" if required_dim else form, count, call({}), keepdim, indexed, needs_scalar)
    for keywords in extra:
        yield Call(form, count, call(keywords), keepdim, indexed, needs_scalar)
    if dims and not required_dim:
        value: Any = [0] if dims[0].type == "int[]" else 0
        yield Call("dim", count, call({"dim": value}), keepdim, indexed, needs_scalar)


MASKS = frozenset(("mask", "condition"))
INDICES = frozenset(("index", "indices"))
VALUES: dict[str, Any] = {
    "Tensor": None, "Tensor[]": None, "Scalar": None, "int": 0, "float": 0.5, "bool": False, "int[]": [0],
}  # fmt: skip
NAMED: dict[str, Any] = {
    "dim0": 0, "dim1": -1, "axis0": 0, "axis1": -1, "chunks": 2, "split_size": 2, "k": 1, "n": 1, "sections": 1,
    "decimals": 1, "num_classes": 4, "exponent": 2, "groups": 1, "shifts": [1], "lambd": 0.5, "train": True,
    "training": True, "kernel_size": 2, "upscale_factor": 1, "downscale_factor": 1, "length": 1, "size": 1, "step": 1,
    "threshold": 0.5, "value": 0.5,
}  # fmt: skip


def attempt(function: Callable[[], Any]) -> Any:
    """The result of a call, or the exception that it raised."""
    try:
        return function()
    except Exception as error:  # the probes ask exactly whether torch raises
        return error


def first_tensor(result: Any) -> torch.Tensor | None:
    """The tensor that the dtype and rank rules speak of: the result, or the first of a tuple or list."""
    if isinstance(result, torch.Tensor):
        return result
    if isinstance(result, tuple | list) and result and isinstance(result[0], torch.Tensor):
        return result[0]
    return None


def sample(shape: tuple[int, ...], dtype: torch.dtype, shift: int = 0) -> torch.Tensor:
    """A small tensor with values in (0, 1) or small counts, legal for as many functions as possible."""
    count = math.prod(shape)
    values = (torch.arange(count, dtype=torch.float64) * 7 + 3 + shift) % 11
    if dtype.is_floating_point:
        return ((values + 1) / 13).to(dtype).reshape(shape)
    return (values % 2 if dtype is torch.bool else values + 1).to(dtype).reshape(shape)


def dtype_rule(calls: list[Call]) -> str:
    """How the dtype of the result follows from the tensors' dtypes, over the real dtypes."""
    seen: dict[torch.dtype, torch.dtype] = {}
    usable = [call for call in calls if call.form in ("base", "dim", "tensors")] or calls
    for call in usable:
        for dtype in DTYPES:
            for shape in ((4, 4), (3,), (2, 3, 4)):
                tensors = [sample(shape, dtype, shift) for shift in range(call.tensors)]
                result = first_tensor(attempt(partial(call.invoke, *tensors)))
                if result is not None:
                    if seen.setdefault(dtype, result.dtype) is not result.dtype:
                        return "unknown"
                    break
    if not ({torch.float32, torch.float64} <= seen.keys() or {*INTEGERS, torch.bool} <= seen.keys()):
        return "unknown"
    results = set(seen.values())
    if results in ({torch.bool}, {torch.int64}):
        return str(results.pop()).removeprefix("torch.")
    if len(results) == 1 and len(seen) > 2:
        return str(results.pop()).removeprefix("torch.")
    if any(seen[dtype] is not dtype for dtype in FLOATS if dtype in seen):
        return "unknown"
    integers = {dtype: seen[dtype] for dtype in (*INTEGERS, torch.bool) if dtype in seen}
    pairs = [call for call in usable if call.form == "tensors"]
    floating = bool(integers) and all(result is torch.get_default_dtype() for result in integers.values())
    if pairs and promotes(pairs):
        return "promote_float" if floating else "promote"
    if pairs and any(call.tensors > 1 for call in pairs) and not all(mixed_refused(call) for call in pairs):
        return "unknown"
    kept = all(result is dtype for dtype, result in integers.items() if dtype is not torch.bool)
    if kept and integers.get(torch.bool, torch.bool) is torch.bool:
        return "promote" if any(call.form == "scalar" for call in calls) and not in_place(calls) else "same"
    if kept and integers.get(torch.bool) is torch.int64:
        return "numeric"
    if floating:
        return "float"
    if integers and all(result is torch.int64 for result in integers.values()):
        return "sum"
    return "unknown"


def promotes(calls: list[Call]) -> bool:
    """Whether two tensors of different dtypes give the dtype of `torch.promote_types`."""
    pairs = ((torch.float32, torch.float64), (torch.float16, torch.float32), (torch.int32, torch.int64))
    ran = False
    for call in calls:
        for left, right in pairs:
            tensors = [sample((4, 4), left), *(sample((4, 4), right, n) for n in range(1, call.tensors))]
            result = first_tensor(attempt(partial(call.invoke, *tensors)))
            if (
                result is None
                and left.is_floating_point
                and isinstance(attempt(partial(call.invoke, tensors[0], tensors[0])), Exception)
            ):
                continue
            if (
                result is None
                or result.dtype not in (right, torch.get_default_dtype())
                or (left.is_floating_point and result.dtype is not right)
            ):
                return False
            ran = True
    return ran


def mixed_refused(call: Call) -> bool:
    """Whether the call refuses tensors of different dtypes, so that the common dtype is the result's."""
    tensors = [sample((4, 4), torch.float32), *(sample((4, 4), torch.float64, n) for n in range(1, call.tensors))]
    return isinstance(attempt(lambda: call.invoke(*tensors)), Exception)


def in_place(calls: list[Call]) -> bool:
    """Whether a call writes its first argument."""
    for call in calls:
        for shape in ((4, 4), (3,)):
            tensors = [sample(shape, torch.float32, n) for n in range(call.tensors)]
            if not tensors:
                continue
            before = tensors[0]._version
            if not isinstance(attempt(partial(call.invoke, *tensors)), Exception):
                return bool(tensors[0]._version != before)
    return False


def rank_rule(calls: list[Call], has_dim: bool) -> str:
    """How the number of dimensions of the result follows from that of the tensors."""
    base = rank_changes([call for call in calls if call.form in ("base", "scalar")])
    dim = rank_changes([call for call in calls if call.form == "dim"], skip_scalars=True)
    keepdim = any(call.keepdim for call in calls)
    pairs = [call for call in calls if call.form == "tensors"]
    if pairs:
        if all(broadcasts(call) for call in pairs) and base <= {0}:
            return "broadcast"
        joint = rank_changes(pairs) | base
        return {"zero": "0", 0: "same"}.get(next(iter(joint)), "unknown") if len(joint) == 1 else "unknown"
    if base == {"zero"}:
        return "reduce" if dim == {-1} else "unknown" if dim or has_dim else "0"
    if not base and dim == {-1}:
        return "reduce" if keepdim else "-1"
    joint = base | dim
    if len(joint) != 1:
        return "unknown"
    return {0: "same", 1: "+1", -1: "-1", "zero": "0"}.get(next(iter(joint)), "unknown")


def rank_changes(calls: list[Call], skip_scalars: bool = False) -> set[int | str]:
    """The differences between result and input rank; "zero" where every result is 0-d; empty if too few calls ran."""
    answers: set[int | str] = set()
    for call in calls:
        pairs = []
        for shape in SHAPES:
            if skip_scalars and not shape:
                continue
            for dtype in (torch.float32, torch.int64, torch.bool):
                tensors = [sample(shape, dtype, n) for n in range(call.tensors)]
                result = first_tensor(attempt(partial(call.invoke, *tensors)))
                if result is not None:
                    pairs.append((len(shape), result.dim()))
                    break
        if len({rank for rank, _ in pairs}) < 2:
            continue
        if all(after == 0 for _, after in pairs):
            answers.add("zero")
        else:
            answers |= {after - before for before, after in pairs}
    return answers


def broadcasts(call: Call) -> bool:
    """Whether the result has the broadcast shape of the tensors."""
    for shapes in (((3,), (2, 3)), ((2, 1), (1, 3)), ((), (3,)), ((2, 3), ())):
        for dtype in (torch.float32, torch.int64):
            cycle = [shapes[min(n, 1)] for n in range(call.tensors)]
            tensors = [sample(shape, dtype, n) for n, shape in enumerate(cycle)]
            result = first_tensor(attempt(partial(call.invoke, *tensors)))
            if result is not None:
                break
        if result is None or tuple(result.shape) != tuple(torch.broadcast_shapes(*shapes)):
            return False
    return True


def special_values(dtype: torch.dtype) -> torch.Tensor:
    """Zeros, ones, the largest finite values, infinities and NaN; for integers the ends of the range."""
    if dtype.is_floating_point:
        big = 6e4 if dtype is torch.float16 else 1e38
        return torch.tensor([0.0, -0.0, 1, -1, 0.5, big, -big, math.inf, -math.inf, math.nan], dtype=dtype)
    if dtype is torch.bool:
        return torch.tensor([False, True])
    info = torch.iinfo(dtype)
    # Not `info.min` itself: dividing it by -1 ends the process (SIGFPE) in torch's integer kernels, seen with lcm.
    return torch.tensor([0, 1, 2, info.max, info.min + 1, -1 if info.min else 3], dtype=dtype)


def special_inputs(call: Call, dtype: torch.dtype) -> Iterator[list[torch.Tensor]]:
    """Inputs that hold every special value, every pair of them for two tensors, and constant tensors of each."""
    values = special_values(dtype)
    if call.tensors > 1:
        left = values.repeat_interleave(len(values)).reshape(len(values), -1)
        right = left.T.contiguous()
        yield [left, *(right.clone() for _ in range(call.tensors - 1))]
        yield [right, *(left.clone() for _ in range(call.tensors - 1))]
        return
    yield [values]
    yield [values[torch.arange(36) % len(values)].reshape(6, 6)]
    yield [values[(torch.arange(48) * 5) % len(values)].reshape(2, 4, 6)]
    for value in values:
        yield [value.expand(4).clone()]
        yield [value.expand(4, 4).clone()]


def gradients(call: Call, inputs: list[torch.Tensor], incoming: float, scalar: float) -> list[torch.Tensor] | str:
    """The input gradients for an incoming gradient of different numbers times `incoming`.

    "none" if nothing is differentiable, "error" if the call or its backward fails.
    """
    leaves = [tensor.clone().requires_grad_() for tensor in inputs]
    result = attempt(lambda: call.invoke(*(leaf.clone() for leaf in leaves), scalar=scalar))
    if isinstance(result, Exception):
        return "error"
    parts = list(result) if isinstance(result, tuple | list) else [result]
    outputs = [part for part in parts if isinstance(part, torch.Tensor) and part.requires_grad]
    if not outputs:
        return "none"
    seeds = [(torch.arange(o.numel()) % 7 + 1).to(o.dtype).reshape(o.shape) * incoming for o in outputs]
    found = attempt(lambda: torch.autograd.grad(outputs, leaves, seeds, allow_unused=True))
    if isinstance(found, Exception) or any(grad is not None and grad.layout is not torch.strided for grad in found):
        return "error"
    return [torch.zeros_like(leaf) if grad is None else grad for leaf, grad in zip(leaves, found, strict=True)]


def zero_gradient_safe(calls: list[Call]) -> bool | None:
    """Whether an incoming gradient of zero gives zero for every special value. None: no call could be measured."""
    measured = None
    for call in calls:
        ran = False
        for dtype in (torch.float32, torch.float16):
            for inputs in special_inputs(call, dtype):
                for scalar in SCALARS if call.scalar else (2,):
                    found = gradients(call, inputs, 0.0, scalar)
                    if found == "error":
                        continue
                    ran = True
                    if found != "none" and any(bool(torch.count_nonzero(grad)) for grad in found):
                        return False
        measured = ran or measured
    return measured


def constant_derivative(calls: list[Call]) -> bool | None:
    """Whether the gradient is the same for any input values, special ones included. None: not differentiable."""
    answer: bool | None = None
    for call in calls:
        ran = False
        for shape in ((10,), (6, 6), (4, 4)):
            results = []
            special = special_values(torch.float32)
            fills = [sample(shape, torch.float32), sample(shape, torch.float32, 5) - 3.0]
            fills += [value.expand(shape).clone() for value in special]
            fills.append(special[torch.arange(math.prod(shape)) % len(special)].reshape(shape))
            for at, fill in enumerate(fills):
                inputs = [fill, *(fills[(at + n) % len(fills)] for n in range(1, call.tensors))]
                found = gradients(call, inputs, 1.0, 2)
                if isinstance(found, list):
                    results.append(found)
                elif found == "error":
                    results = []
                    break
            for found in results[1:]:
                if not all(torch.equal(a, b) for a, b in zip(found, results[0], strict=True)):
                    return False
            ran = ran or bool(results)
        answer = ran or answer
    return answer


def never_raises(calls: list[Call]) -> bool:
    """Whether no special value makes a call raise that works on ordinary values, empty tensors included."""
    for call in calls:
        for dtype in DTYPES:
            empty = [torch.zeros((3, 0) if call.form == "dim" else (0, 3), dtype=dtype) for _ in range(call.tensors)]
            empty = empty if call.tensors == 1 else [tensor[:, :0] for tensor in empty]
            for inputs in (*special_inputs(call, dtype), empty):
                plain = [sample(tuple(tensor.shape) if tensor.numel() else (6, 6), dtype, 1) for tensor in inputs]
                if isinstance(attempt(partial(call.invoke, *plain)), Exception):
                    continue
                clones = [tensor.clone() for tensor in inputs]
                if isinstance(attempt(partial(call.invoke, *clones)), Exception):
                    return False
    return True


def alike(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether two results are the same up to the last bits, which hang on how much a processor takes at once."""
    if torch.equal(first, second):
        return True
    shapes = first.shape == second.shape and first.dtype == second.dtype
    return shapes and first.is_floating_point() and torch.allclose(first, second, rtol=1e-6, atol=1e-7)


def elementwise(calls: list[Call]) -> bool:
    """Whether each element of the result depends on the element at its place only."""
    checked = False
    for call in calls:
        if call.form in ("dim", "tensors") or call.tensors != 1:
            return False
        values = torch.cat([sample((8,), torch.float32) - 0.4, sample((8,), torch.float32, 3) * 5])
        order = torch.arange(16).flip(0)
        whole = first_tensor(attempt(partial(call.invoke, values.clone())))
        turned = first_tensor(attempt(partial(call.invoke, values[order])))
        part = first_tensor(attempt(partial(call.invoke, values[:5].clone())))
        square = first_tensor(attempt(partial(call.invoke, values.clone().reshape(4, 4))))
        if whole is None or turned is None or part is None or square is None or whole.shape != values.shape:
            return False
        same = alike(whole[order], turned) and alike(whole[:5], part)
        if not same or not alike(whole.reshape(4, 4), square.contiguous()):
            return False
        checked = True
    return checked


def shares_storage(calls: list[Call]) -> set[bool]:
    """Over all calls and dtypes that work: whether the result lies in the memory of the first input."""
    answers = set()
    for call in calls:
        for shape, dtype in (((4, 4), torch.float32), ((3,), torch.float32), ((4, 4), torch.int64)):
            tensors = [sample(shape, dtype, n) for n in range(call.tensors)]
            if not tensors:
                continue
            result = first_tensor(attempt(partial(call.invoke, *tensors)))
            if result is not None and result.layout is torch.strided and result.numel():
                pointers = {tensor.untyped_storage().data_ptr() for tensor in tensors}
                answers.add(result.untyped_storage().data_ptr() in pointers)
    return answers


def draws(calls: list[Call]) -> bool:
    """Whether a call moves the state of the default random generator."""
    for call in calls:
        for shape in ((4, 4), (3,)):
            tensors = [sample(shape, torch.float32, n) for n in range(call.tensors)]
            torch.manual_seed(0)
            before = torch.get_rng_state()
            result = attempt(partial(call.invoke, *tensors))
            if not isinstance(result, Exception) and not torch.equal(before, torch.get_rng_state()):
                return True
    return False


Entry = dict[str, Any]


def kind_from(overloads: list[Overload], stubs: list[tuple[bool, str | list[str]]]) -> Entry:
    """`returns` and `returns_with_dim`, from the stub where it is precise, else from the schemas."""
    rows = list(stubs)
    if not rows or all(kind == "unknown" for _, kind in rows):
        for overload in overloads:
            kinds = list(overload.returns)
            needs_dim = any(slot.name == "dim" and not slot.optional for slot in overload.slots)
            rows.append((needs_dim, "None" if not kinds else kinds[0] if len(kinds) == 1 else kinds))
    known = [(dim, kind) for dim, kind in rows if kind != "unknown"]
    if not known:
        return {}
    plain = [kind for dim, kind in known if not dim] or [kind for _, kind in known]
    with_dim = [kind for dim, kind in known if dim]
    entry: Entry = {"returns": max(plain, key=lambda kind: (sum(kind == other for other in plain), kind == "Tensor"))}
    if with_dim and with_dim[0] != entry["returns"]:
        entry["returns_with_dim"] = with_dim[0]
    return entry


def describe(
    name: str,
    function: Any,
    overloads: list[Overload],
    stubs: list[tuple[bool, str | list[str]]],
    *,
    qualified: str = "",
) -> Entry:
    """The entry of one function or method."""
    short = qualified or name
    plain_name = name.rpartition(".")[2]
    stem = plain_name.removesuffix("_") if not plain_name.endswith("__") else plain_name
    entry = kind_from(overloads, stubs)
    if plain_name in RETURNS:
        entry["returns"] = RETURNS[plain_name]
    if plain_name in RETURNS_WITH_DIM:
        entry["returns_with_dim"] = RETURNS_WITH_DIM[plain_name]
    tags = frozenset().union(*(overload.tags for overload in overloads)) if overloads else frozenset()
    calls: list[Call] = []
    if not HARD_TO_PROBE.search(name) and not {stem, plain_name} & NOT_PROBED and plain_name not in HOST | METADATA:
        for overload in overloads:
            calls += build_calls(function, overload, EXTRA_ARGUMENTS.get(stem, ()))
        calls = [call for call in calls if call.tensors and works(call)]
    if not entry.get("returns") or entry["returns"] == "unknown":
        entry.pop("returns", None)
        observed = {observed_kind(call) for call in calls}
        if len(observed) == 1:
            entry["returns"] = observed.pop()

    if plain_name in RANDOM_TRAINING or plain_name in RANDOM_WITH_DROPOUT:
        entry["random_training"] = True
    elif "nondeterministic_seeded" in tags or plain_name in RANDOM or draws(calls):
        entry["random"] = True
    mutated = any(overload.writes and plain_name.endswith("_") for overload in overloads)
    inplace_name = (plain_name.endswith("_") and not plain_name.endswith("__")) or re.fullmatch(
        r"__i(?!nvert|nt|ndex)\w+__", plain_name
    )
    if inplace_name or mutated or plain_name == "__setitem__":
        entry["mutates"] = True
    if stem in ("batch_norm", "instance_norm"):
        entry["mutates_training"] = True
    if plain_name in HOST or "data_dependent_output" in tags:
        entry["host"] = True
    if plain_name in DYNAMIC_FORMS:
        entry["dynamic_form"] = DYNAMIC_FORMS[plain_name]
    elif plain_name in DYNAMIC or "dynamic_output_shape" in tags:
        entry["dynamic"] = True
    shared = shares_storage(calls)
    aliased = any(overload.aliases for overload in overloads) or "maybe_aliasing_or_mutating" in tags or True in shared
    if entry.get("mutates") and entry.get("returns") == "Tensor":
        entry["view"] = True
    elif stem in MAYBE_VIEW and entry.get("returns", "Tensor") != "size":
        entry["maybe_view"] = True
    elif aliased and plain_name not in HOST | METADATA:
        entry["view" if shared <= {True} and any(o.aliases for o in overloads) else "maybe_view"] = True

    if entry.get("returns") in ("Tensor", "list") or isinstance(entry.get("returns"), list):
        key = short.removeprefix("torch.").removeprefix("nn.functional.")
        inplace = bool(entry.get("mutates"))
        has_dim = any(slot.name == "dim" for overload in overloads for slot in overload.slots)
        entry["dtype"] = "same" if inplace else CREATION_DTYPE.get(key) or DTYPE.get(stem) or dtype_rule(calls)
        entry["rank"] = "same" if inplace else CREATION_RANK.get(key) or RANK.get(stem) or rank_rule(calls, has_dim)
        if inplace and stem in (
            "squeeze",
            "unsqueeze",
            "transpose",
            "swapaxes",
            "swapdims",
            "t",
            "resize",
            "set",
            "data",
        ):
            entry["rank"] = {"unsqueeze": "+1", "squeeze": "unknown", "resize": "unknown", "set": "unknown"}.get(
                stem, "same"
            )
        if entry["rank"] == "0" and any(slot.name == "reduction" for overload in overloads for slot in overload.slots):
            entry["rank"] = "loss"
        is_random = bool(entry.get("random") or entry.get("random_training"))
        single = [call for call in calls if call.tensors == 1]
        several = [call for call in calls if call.tensors > 1]
        if not is_random:
            same_place = entry["rank"] in ("same", "broadcast")
            measurable = plain_name not in UNINITIALIZED and not entry.get("host")
            moves = stem in MOVES
            if same_place and measurable and not moves and ("pointwise" in tags or elementwise(calls)):
                entry["pointwise"] = True
            derivative = constant_derivative(calls)
            if derivative and stem not in NO_ZERO_GRADIENT:
                entry["linear"] = True
            if zero_gradient_safe(single) and stem not in NO_ZERO_GRADIENT:
                entry["zero_grad_safe"] = True
            if zero_gradient_safe(several):
                entry["zero_grad_safe_tensors"] = True
        if calls and not differentiable(calls) and not is_random:
            entry["differentiable"] = False
        candidate = (
            entry.get("pointwise")
            or entry["rank"] in ("reduce", "0", "loss")
            or (entry.get("view") and not entry.get("mutates"))
            or stem in TOTAL_DENSE
        )
        indexed = any(call.indexed for call in calls)
        if (
            candidate
            and not indexed
            and stem not in NEVER_TOTAL
            and ((never_raises(calls) and calls) or (stem in TOTAL_DENSE and never_raises(calls)))
        ):
            entry["total"] = True
        if entry["dtype"] == "unknown":
            del entry["dtype"]
        if entry["rank"] == "unknown":
            del entry["rank"]
    elif plain_name in METADATA:
        entry["total"] = True
    return entry


def works(call: Call) -> bool:
    """Whether the call succeeds for at least one shape and dtype."""
    return observed(call) is not None


def observed(call: Call) -> Any:
    """The first result that the call gives over a few shapes and dtypes; None if it always raises."""
    for shape in ((4, 4), (3,), (2, 3, 4), ()):
        for dtype in (torch.float32, torch.int64, torch.bool):
            tensors = [sample(shape, dtype, n) for n in range(call.tensors)]
            result = attempt(partial(call.invoke, *tensors))
            if not isinstance(result, Exception) and result is not None:
                return result
    return None


def observed_kind(call: Call) -> str:
    """The return kind of the first result that the call gives."""
    return value_kind(observed(call))


def value_kind(value: Any) -> str:
    """The return kind of a Python value."""
    table: tuple[tuple[Any, str], ...] = (
        (torch.Tensor, "Tensor"), (torch.Size, "size"), (bool, "bool"), (int, "int"), (float, "float"), (str, "str"),
        (torch.dtype, "dtype"), (torch.device, "device"), (torch.layout, "layout"), ((list, tuple), "list"),
    )  # fmt: skip
    return next((kind for types, kind in table if isinstance(value, types)), "unknown")


def differentiable(calls: list[Call]) -> bool:
    """Whether a gradient can flow from the result to a floating-point input; so it may where no probe says."""
    seen = []
    for call in calls:
        for shape in ((4, 4), (3,), (2, 3, 4), ()):
            tensors = [sample(shape, torch.float32, n) for n in range(call.tensors)]
            # Some give a gradient to one input only, and raise where another one needs one: `soft_margin_loss`.
            for needed in (range(len(tensors)), *([n] for n in range(len(tensors)) if len(tensors) > 1)):
                seen.append(flows(call, [t.clone().requires_grad_(n in needed) for n, t in enumerate(tensors)]))
    return True in seen or (False not in seen and any(takes_floats(call) for call in calls))


def takes_floats(call: Call) -> bool:
    """Whether a call works for floating-point tensors at all, as `bitwise_and` does not."""
    for shape in ((4, 4), (3,), (2, 3, 4), ()):
        tensors = [sample(shape, torch.float32, n) for n in range(call.tensors)]
        if not isinstance(attempt(partial(call.invoke, *tensors)), Exception):
            return True
    return False


def flows(call: Call, leaves: list[torch.Tensor]) -> bool | None:
    """Whether a gradient flows back to the leaves that need one. None: the call fails for another reason."""
    result = attempt(lambda: call.invoke(*(leaf.clone() for leaf in leaves), scalar=2))
    if not isinstance(result, Exception):
        parts = list(result) if isinstance(result, tuple | list) else [result]
        outputs = [part for part in parts if isinstance(part, torch.Tensor) and part.requires_grad]
        if not outputs:
            return False
        seeds = [torch.ones_like(output) for output in outputs]
        needed = [leaf for leaf in leaves if leaf.requires_grad]
        result = attempt(lambda: torch.autograd.grad(outputs, needed, seeds, allow_unused=True))
        if not isinstance(result, Exception):
            return any(grad is not None for grad in result)
    words = ("derivative", "requires_grad", "require grad", "differentia")
    return False if any(word in str(result) for word in words) else None


def functions(aten: dict[str, list[Overload]]) -> dict[str, Entry]:
    """Entries of `torch`, `torch.linalg`, `torch.fft`, `torch.special`, `torch.nn.functional` and `torch.nn.init`."""
    stubs = stub_returns(STUBS / "_C" / "_VariableFunctions.pyi")
    functional_stubs = stub_returns(STUBS / "nn" / "functional.pyi")
    table: dict[str, Entry] = {}
    names = {name for name in dir(torch._C._VariableFunctions) if not name.startswith("_") and hasattr(torch, name)}
    names |= {*torch.functional.__all__, *PYTHON_FUNCTIONS}
    for name in sorted(names):
        function = getattr(torch, name, None)
        if callable(function) and not (SKIPPED.search(name) and name not in stubs_kept()):
            overloads = aten.get(name, [])
            if name in ("unique", "unique_consecutive"):
                overloads = []
            table[f"torch.{name}"] = describe(name, function, overloads, stubs.get(name, []), qualified=f"torch.{name}")
    for namespace in ("linalg", "fft", "special"):
        module = importlib.import_module(f"torch.{namespace}")
        for name in sorted(vars(module)):
            function = getattr(module, name)
            if name.startswith("_") or not (inspect.isbuiltin(function) or inspect.isfunction(function)):
                continue
            qualified = f"torch.{namespace}.{name}"
            entry = describe(name, function, aten.get(f"{namespace}_{name}", []), [], qualified=qualified)
            if entry:
                table[qualified] = entry
    for name in sorted(vars(nn.functional)):
        function = getattr(nn.functional, name)
        public = not name.startswith("_") and callable(function) and not inspect.isclass(function)
        owner = getattr(function, "__module__", None) or ""
        if not public or not (
            owner.startswith("torch.nn.functional") or inspect.isbuiltin(function) or owner == "torch._jit_internal"
        ):
            continue
        if name in (
            "handle_torch_function",
            "has_torch_function",
            "has_torch_function_unary",
            "has_torch_function_variadic",
        ):
            continue
        overload = python_overload(function) if inspect.isfunction(function) else None
        overloads = [overload] if overload is not None else aten.get(name, [])
        qualified = f"torch.nn.functional.{name}"
        entry = describe(name, function, overloads, functional_stubs.get(name, []), qualified=qualified)
        entry.setdefault("returns", ["Tensor", "Tensor"] if name.endswith("_with_indices") else "Tensor")
        if name in ("boolean_dispatch", "assert_int_or_pair"):
            continue
        table[qualified] = entry
    for name in sorted(vars(nn.init)):
        if name.endswith("_") and not name.startswith("_") and inspect.isfunction(getattr(nn.init, name)):
            table[f"torch.nn.init.{name}"] = initialiser(getattr(nn.init, name))
    return table


def stubs_kept() -> frozenset[str]:
    """Names that the pattern of skipped operators would catch, but that people call."""
    return frozenset(("rnn_relu", "batch_norm", "clone"))


def initialiser(function: Any) -> Entry:
    """The entry of a function of `torch.nn.init`: it writes its first argument; whether it draws is measured."""
    entry: Entry = {"returns": "Tensor", "mutates": True, "view": True, "dtype": "same", "rank": "same"}
    for arguments in ((), (0.5,)):
        torch.manual_seed(0)
        before = torch.get_rng_state()
        with torch.no_grad():
            result = attempt(partial(function, torch.zeros(4, 4), *arguments))
        if not isinstance(result, Exception) and not torch.equal(before, torch.get_rng_state()):
            entry["random"] = True
    return entry


DUNDERS = (
    "__abs__ __add__ __and__ __array__ __bool__ __complex__ __contains__ __div__ __eq__ __float__ __floordiv__ "
    "__format__ __ge__ __getitem__ __gt__ __iadd__ __iand__ __idiv__ __ifloordiv__ __ilshift__ __imod__ __imul__ "
    "__index__ __int__ __invert__ __ior__ __ipow__ __irshift__ __isub__ __iter__ __itruediv__ __ixor__ __le__ __len__ "
    "__lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __radd__ __rand__ __repr__ "
    "__rfloordiv__ __rmatmul__ __rmod__ __rmul__ __ror__ __rpow__ __rshift__ __rsub__ __rtruediv__ __rxor__ "
    "__setitem__ __str__ __sub__ __truediv__ __xor__"
).split()
# The operator that carries the schema of a special method.
OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "div": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift", "eq": "eq", "ne": "ne",
    "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "neg": "neg", "pos": "positive", "abs": "abs",
    "invert": "bitwise_not",
}  # fmt: skip


def operator_overloads(name: str, aten: dict[str, list[Overload]]) -> list[Overload]:
    """The signatures of a special method, borrowed from the operator that it runs: one tensor, or with a second."""
    stem = name.strip("_")
    operator = OPERATORS.get(stem) or OPERATORS.get(stem[1:] if stem[:1] in "ri" else "")
    if operator is None:
        return []
    tags = frozenset().union(*(overload.tags for overload in aten[operator])) & {"pointwise"}
    self_slot = Slot("self", "Tensor", False)
    if stem in ("neg", "pos", "abs", "invert"):
        return [Overload((self_slot,), ("Tensor",), tags=tags)]
    forms = [Overload((self_slot, Slot("other", "Tensor", False)), ("Tensor",), tags=tags)]
    if operator != "matmul":
        forms.append(Overload((self_slot, Slot("other", "Scalar", False)), ("Tensor",), tags=tags))
    return forms


def methods(aten: dict[str, list[Overload]]) -> dict[str, Entry]:
    """Entries of the methods and attributes of `torch.Tensor`."""
    stubs = stub_returns(STUBS / "_C" / "__init__.pyi", "TensorBase")
    for name, rows in stub_returns(STUBS / "_tensor.py", "Tensor").items():
        stubs.setdefault(name, rows)
    table: dict[str, Entry] = {}
    example = sample((4, 4), torch.float32)
    for name in sorted({*(n for n in dir(torch.Tensor) if not n.startswith("_")), *DUNDERS}):
        member = getattr(torch.Tensor, name, None)
        if member is None or SKIPPED.search(name):
            continue
        if not callable(member):
            table[name] = attribute(name, example)
            continue
        if name in CASTS or name in ("cuda", "xpu"):
            table[name] = cast(name)
            continue
        overloads = operator_overloads(name, aten) if name.startswith("__") else aten.get(name, [])
        if name == "where":
            overloads = []
        overloads = [o for o in overloads if o.slots and o.slots[0].type == "Tensor"]
        table[name] = describe(name, member, overloads, stubs.get(name, []), qualified=name)
    where = dict(describe("where", torch.where, aten["where"], stubs["where"]))
    where.pop("dynamic_form", None)
    table["where"] = where
    return table


# Casts have no schema: the dtype is in the name.
CASTS = {
    "float": "float32", "double": "float64", "half": "float16", "bfloat16": "bfloat16", "int": "int32",
    "long": "int64", "short": "int16", "char": "int8", "byte": "uint8", "bool": "bool",
}  # fmt: skip


def cast(name: str) -> Entry:
    """The entry of a cast such as `float`, or of a move such as `cuda`."""
    entry: Entry = {"returns": "Tensor", "maybe_view": True, "rank": "same", "dtype": CASTS.get(name, "same")}
    entry.update(pointwise=True, zero_grad_safe=True)
    example = sample((4, 4), torch.float32).requires_grad_()
    if name not in CASTS:
        entry["linear"] = True
    else:
        entry["total"] = True
        entry["linear" if getattr(example, name)().requires_grad else "differentiable"] = getattr(
            example, name
        )().requires_grad
    return entry


def attribute(name: str, example: torch.Tensor) -> Entry:
    """The entry of a tensor attribute, read from a small tensor."""
    value = attempt(lambda: getattr(example, name))
    entry: Entry = {"attribute": True, "returns": "unknown" if isinstance(value, Exception) else value_kind(value)}
    if name == "imag":
        entry["returns"] = "Tensor"
    if entry["returns"] == "Tensor":
        entry.update(view=True, dtype="same")
        if name == "data":
            entry["differentiable"] = False
        else:
            entry["linear"] = True
            entry["zero_grad_safe"] = True
        if name not in ("T", "H", "imag"):
            entry["total"] = True
        entry["rank"] = "same"
        if name == "real":
            entry["maybe_view"] = True
            del entry["view"]
    elif entry["returns"] != "unknown":
        entry["total"] = True
    if entry["returns"] == "unknown":
        del entry["returns"]
    return entry


# Their forward runs modules that the caller gives, has no fixed signature, or stands in the classes derived from them.
UNKNOWN_MODULES = frozenset(
    "Module Sequential ModuleList ModuleDict ParameterList ParameterDict Container DataParallel RNNBase".split()
)
# Several results: the output and the state, or the output and the weights.
MODULE_RETURNS: dict[str, Any] = {
    "LSTM": ["Tensor", "list"],
    "GRU": ["Tensor", "Tensor"],
    "RNN": ["Tensor", "Tensor"],
    "LSTMCell": ["Tensor", "Tensor"],
    "MultiheadAttention": ["Tensor", "Tensor"],
    "AdaptiveLogSoftmaxWithLoss": ["Tensor", "Tensor"],
}
# Random in training through dropout arguments that the probes leave at their default, or through a sampling grid.
MODULE_RANDOM_TRAINING = frozenset(
    "LSTM GRU RNN MultiheadAttention Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer "
    "TransformerDecoderLayer".split()
)


def modules(functional: dict[str, Entry]) -> dict[str, Entry]:
    """Entries of the modules of `torch.nn`: what a call of an instance does."""
    table: dict[str, Entry] = {}
    for name in sorted(vars(nn)):
        cls = getattr(nn, name)
        if not (inspect.isclass(cls) and issubclass(cls, nn.Module)) or name in UNKNOWN_MODULES:
            continue
        if name.startswith("Lazy"):  # no shapes before the first call; the entry is that of the module it turns into
            continue
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
        snake = {"re_lu": "relu", "re_lu6": "relu6", "leaky_re_lu": "leaky_relu", "rre_lu": "rrelu"}.get(snake, snake)
        candidates: tuple[str, ...] = (
            f"torch.nn.functional.{snake}",
            f"torch.nn.functional.{snake.replace('_', '')}",
            f"torch.{snake}",
        )
        candidates += (f"torch.nn.functional.{snake.removesuffix('_loss')}", f"torch.nn.functional.{snake[:-2]}")
        entry = dict(next((functional[c] for c in candidates if c in functional), {}))
        for key in ("mutates_training", "dynamic_form", "returns_with_dim"):
            entry.pop(key, None)
        entry.setdefault("returns", MODULE_RETURNS.get(name, "Tensor"))
        if name in MODULE_RETURNS:
            entry["returns"] = MODULE_RETURNS[name]
        entry.update(module_effects(cls))
        if "BatchNorm" in name or "InstanceNorm" in name:
            entry["mutates_training"] = True
        if name in MODULE_RANDOM_TRAINING:
            entry["random_training"] = True
            entry.pop("random", None)
        table[f"torch.nn.{name}"] = entry
    for name in sorted(vars(nn)):
        if name.startswith("Lazy") and f"torch.nn.{name[4:]}" in table:
            table[f"torch.nn.{name}"] = table[f"torch.nn.{name[4:]}"]
    return table


def module_effects(cls: Any) -> Entry:
    """Whether a call in training draws random numbers or changes buffers, and the rank and dtype of the result."""
    for arguments in ((), (4,), (2,), (4, 4), (4, 4, 1), (2, 4), (1, 4)):
        module = attempt(partial(cls, *arguments))
        if not isinstance(module, nn.Module):
            continue
        seen = []
        effects: Entry = {}
        for shape in ((4, 4), (2, 4), (2, 4, 4), (2, 4, 8, 8), (2, 4, 8, 8, 8)):
            for dtype in (torch.float32, torch.int64):
                inputs = sample(shape, dtype) % 3 if dtype is torch.int64 else sample(shape, dtype)
                buffers = [buffer.clone() for buffer in module.buffers()]
                torch.manual_seed(0)
                state = torch.get_rng_state()
                result = attempt(partial(module, inputs))
                if isinstance(result, Exception):
                    continue
                if not torch.equal(state, torch.get_rng_state()):
                    effects["random_training"] = True
                if any(not torch.equal(a, b) for a, b in zip(buffers, module.buffers(), strict=True)):
                    effects["mutates_training"] = True
                tensor = first_tensor(result)
                if tensor is not None:
                    seen.append((tensor.dim() - len(shape), tensor.dtype))
                break
        if seen:
            if len({change for change, _ in seen}) == 1:
                change = seen[0][0]
                if change in (0, 1, -1):
                    effects["rank"] = {0: "same", 1: "+1", -1: "-1"}[change]
            return effects
    return {}


# Words that user objects (configurations, data classes, other libraries) carry too; pandas is not installed here.
GENERIC_NAMES = frozenset(
    "dim grad data device layout names mode norm dist bool int float double half long short char byte type storage log "
    "lu qr svd values indices split chunk unfold fill select slice rename apply_ map_ name volatile index_fill where "
    "add sub mul div mod pow eq ne lt le gt ge rsub abs neg sum mean std var median quantile diff corr cov stack "
    "unstack isin mask isna sort take gather scatter expand equal cross det trace solve inverse cholesky geometric "
    "exponential uniform normal random random_ cauchy bernoulli histc dense to_dense coalesce is_sparse align_to "
    "record_stream backward hardshrink resize masked output_nr grad_fn retain_grad register_hook multiply divide "
    "subtract negative positive size shape reshape view to item clone cpu cuda xpu ipu reduce renorm map2_ "
    "lerp mv mm bmm dot inner outer ger kron multinomial poisson smm sspmm frac fix roll flip tile repeat numel count "
    "index_add bincount logical_and tensor_split stft istft is_shared share_memory_ module_load pin_memory "
    "is_pinned "
    "t H numpy relu sigmoid softmax log_softmax prelu logit unflatten stride topk eig symeig lstsq reinforce "
    "is_quantized is_nested "
    "is_meta is_cpu is_mps is_xla is_maia is_mtia is_ipu is_xpu is_distributed is_inference qscheme dequantize "
    "row_indices col_indices lu_solve cholesky_solve xlogy digamma logsumexp polygamma erfinv igamma igammac mvlgamma "
    "rsqrt logdet slogdet geqrf orgqr ormqr pinverse triangular_solve "
    "is_leaf adjoint sign maximum minimum clamp clip requires_grad_".split()
)


def tensor_only_names() -> list[str]:
    """Names on `torch.Tensor` that no other common type has: who uses one holds a tensor."""
    others: list[Any] = [
        numpy.ndarray, numpy.generic, numpy.float64, numpy.random.Generator, numpy.random.RandomState,
        numpy.ma.MaskedArray,
        list, dict, str, set, frozenset, tuple, bytes, bytearray, memoryview, int, float, complex, range, slice,
        torch.Size, torch.Generator, torch.device, torch.dtype, torch.optim.Optimizer, torch.UntypedStorage,
        torch.TypedStorage, nn.utils.rnn.PackedSequence, torch.utils.data.DataLoader, torch.utils.data.Dataset,
        collections.Counter, collections.OrderedDict, collections.deque, datetime.datetime, datetime.timedelta,
        decimal.Decimal, fractions.Fraction, logging.Logger, pathlib.Path, random.Random, threading.Thread,
        re.Pattern, re.Match, builtins, cmath, math, numpy,
    ]  # fmt: skip
    image = importlib.util.find_spec("PIL") and importlib.import_module("PIL.Image")
    others += [image.Image] if image else []
    distributions = importlib.import_module("torch.distributions")
    others += [value for value in vars(distributions).values() if inspect.isclass(value)]
    others += [value for value in vars(nn).values() if inspect.isclass(value) and issubclass(value, nn.Module)]
    taken = {name for other in others for name in dir(other)} | GENERIC_NAMES
    taken |= set(vars(nn.Linear(1, 1)))
    return sorted(n for n in dir(torch.Tensor) if not n.startswith("_") and n not in taken and not SKIPPED.search(n))


def names() -> dict[str, Any]:
    """dtypes (aliases included) and the numeric constants of the `torch` namespace."""
    dtypes = {
        f"torch.{name}": str(value).removeprefix("torch.")
        for name, value in vars(torch).items()
        if isinstance(value, torch.dtype)
    }
    constants = {f"torch.{name}": value_kind(getattr(torch, name)) for name in ("e", "inf", "nan", "pi")}
    return {"dtypes": dict(sorted(dtypes.items())), "constants": constants}


@contextmanager
def quiet() -> Iterator[None]:
    """No warnings, one thread, and the caller's random state back at the end: probes must not leave traces."""
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
            torch.set_rng_state(state)


def build() -> str:
    """The text of the table for the torch that is installed."""
    with quiet():
        aten = aten_overloads()
        found = functions(aten)
        tables = {"functions": found, "methods": methods(aten), "modules": modules(found)}
        only = tensor_only_names()
    lines = ["{", f'"torch": {json.dumps(torch.__version__.partition("+")[0])},', f'"names": {json.dumps(names())},']
    lines.append(f'"tensor_only": {json.dumps(only)},')
    for index, (section, entries) in enumerate(tables.items()):
        lines.append(f'"{section}": {{')
        rows = [f"{json.dumps(name)}: {json.dumps(entry, sort_keys=True)}" for name, entry in sorted(entries.items())]
        lines.append(",\n".join(rows))
        lines.append("}" if index == len(tables) - 1 else "},")
    return "\n".join([*lines, "}"]) + "\n"


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Write the table of torch's API for the static analysis.")
    parser.add_argument(
        "--output", type=pathlib.Path, default=OUTPUT, help="the file to write (default: the package's)"
    )
    output = parser.parse_args().output
    output.write_text(build(), encoding="utf-8", newline="\n")
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
