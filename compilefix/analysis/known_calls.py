"""Calls outside the project of which it is known that they write into none of their arguments."""

from __future__ import annotations

from compilefix.analysis import torch_api
from compilefix.analysis.builtin_calls import BUILTINS, NUMPY_GENERATORS

_READING_FAMILIES = (
    "collections.",
    "contextlib.",
    "copy.",
    "dataclasses.",
    "datetime.",
    "einops.",
    "enum.",
    "inspect.",
    "json.",
    "logging.",
    "loguru.",
    "math.",
    "numpy.",
    "os.",
    "pathlib.",
    "random.",
    "re.",
    "secrets.",
    "string.",
    "sys.",
    "time.",
    "torch._check",
    "torch.amp.",
    "torch.autograd.profiler.",
    "torch.backends.",
    "torch.compiler.",
    "torch.cuda.",
    "torch.distributions.",
    "torch.get_",
    "torch.is_",
    "torch.jit.is_",
    "torch.profiler.",
    "types.",
    "typing.",
    "warnings.",
)
_READING_FUNCTIONS = frozenset(
    {
        "torch.Generator",
        "torch.Size",
        "torch.autocast",
        "torch.autograd.grad",
        "torch.device",
        "torch.enable_grad",
        "torch.finfo",
        "torch.iinfo",
        "torch.inference_mode",
        "torch.no_grad",
        "torch.set_grad_enabled",
        "functools.partial",
        "itertools.chain",
        "itertools.count",
        "itertools.islice",
        "itertools.product",
        "itertools.repeat",
        "itertools.zip_longest",
        "hasattr",
        "iter",
        "next",
        "slice",
        "super",
        "input",
        "open",
        "divmod",
        "frozenset",
        "vars",
        "bytes",
        "object",
    }
)
_WRITING_ARRAYS = frozenset(
    {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle", "at", "setflags"}
)
_ARRAY_METHODS = frozenset(
    {"byteswap", "fill", "itemset", "partition", "put", "resize", "setfield", "setflags", "sort", "__setitem__"}
)
_BINARY = frozenset(
    {"add", "divide", "floor_divide", "maximum", "minimum", "multiply", "power", "subtract", "true_divide"}
)
_CALLS_BACK = frozenset({"apply_along_axis", "vectorize", "frompyfunc", "fromfunction", "piecewise"})
_READING_METHODS = frozenset(
    {
        "buffers",
        "children",
        "copy",
        "count",
        "endswith",
        "eval",
        "format",
        "get",
        "index",
        "items",
        "join",
        "keys",
        "lower",
        "modules",
        "named_buffers",
        "named_children",
        "named_modules",
        "named_parameters",
        "parameters",
        "pop",
        "popitem",
        "popleft",
        "replace",
        "requires_grad_",
        "split",
        "startswith",
        "state_dict",
        "strip",
        "to_dict",
        "train",
        "upper",
        "values",
    }
)
_KEEPING_METHODS = frozenset({"append", "appendleft", "add", "extend", "insert", "setdefault"})


def only_reads(name: str) -> bool:
    """Whether a function or class of Python, torch or another library, by its full name, writes into no argument.

    Functions of the table of the torch API are not asked for here.
    """
    if name.rpartition(".")[0] in NUMPY_GENERATORS:
        return False  # some draws have an `out`
    if name in BUILTINS or name in _READING_FUNCTIONS:
        return True
    last = name.rpartition(".")[2]
    return name.startswith(_READING_FAMILIES) and last not in _WRITING_ARRAYS and last not in _CALLS_BACK


def method_only_reads(attr: str) -> bool:
    """Whether the name of a method leaves little doubt that it writes into nothing, whatever it is called on."""
    if attr in _READING_METHODS:
        return True
    api = torch_api.method(attr)
    return api is not None and not api.mutates


def method_only_keeps(attr: str) -> bool:
    """Whether the name of a method says that what it is given is put into a container."""
    return attr in _KEEPING_METHODS


def array_method_writes(attr: str) -> bool:
    """Whether a method of an ndarray writes into it."""
    return attr in _ARRAY_METHODS or (attr.startswith("__i") and attr.endswith("__"))


def array_result_given(name: str) -> bool:
    """Whether the third argument of a function of NumPy, by its full name, is where the result goes."""
    return name.startswith("numpy.") and name.removeprefix("numpy.") in _BINARY
