"""The places where torch or Python reads a tensor as an integer without saying so: sizes, dimensions, slice bounds."""

from __future__ import annotations

import ast
import re

from compilefix.codemods.rule import Scope

_SIZES_ARE_ARGUMENTS = frozenset(
    {"view", "reshape", "expand", "repeat", "tile", "new_zeros", "new_ones", "new_empty", "resize_", "permute"}
)
_MAKES = frozenset(
    {
        "zeros",
        "ones",
        "empty",
        "rand",
        "randn",
        "arange",
        "eye",
        "randperm",
        "randint",
        "hann_window",
        "hamming_window",
        "blackman_window",
        "bartlett_window",
        "kaiser_window",
        "tril_indices",
        "triu_indices",
    }
)
_FIRST_INTEGER = {
    "split": 1,
    "chunk": 1,
    "topk": 1,
    "kthvalue": 1,
    "roll": 1,
    "narrow": 1,
    "select": 1,
    "broadcast_to": 1,
    "unflatten": 1,
    "unfold": 1,
    "tril": 1,
    "triu": 1,
    "multinomial": 1,
    "linspace": 2,
    "logspace": 2,
}
"""The first argument that is an integer, the tensor counted."""
_INTEGER_KEYWORDS = frozenset(
    {
        "size",
        "shifts",
        "k",
        "length",
        "start",
        "end",
        "low",
        "high",
        "steps",
        "split_size_or_sections",
        "num_classes",
        "num_samples",
        "output_size",
    }
)
_TENSOR_BOUNDS = frozenset({"linspace", "logspace"})
"""These take tensors as start and end."""
_FREQUENCIES = frozenset({"fftfreq", "rfftfreq"})
_FUNCTIONAL = frozenset({"pad", "one_hot", "interpolate", "affine_grid", "fold"})
_POOLS = re.compile(r"adaptive_(?:avg|max)_pool[123]d")


def takes_listed_dimensions(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression gives a list of dimensions: `x.sum(dim=dims)`, `x.permute(dims)`."""
    parent = scope.parents.get(node)
    permutes = isinstance(parent, ast.Call) and (scope.callee(parent) or "") in ("torch.permute", "Tensor.permute")
    place = integer_place(node, scope)
    return place == "a dimension" or (permutes and place == "a size")


def integer_place(node: ast.expr, scope: Scope) -> str | None:
    """What reads the expression as an integer if it is a tensor: the words for a message, None where nothing does."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Slice):
        return "a slice bound"
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
        other = parent.right if parent.left is node else parent.left
        return "the length of a list" if isinstance(other, ast.List | ast.Tuple | ast.ListComp) else None
    child: ast.AST = node
    listed = isinstance(parent, ast.Tuple | ast.List) and isinstance(parent.ctx, ast.Load)
    if parent is not None and (listed or isinstance(parent, ast.Starred)):
        child, parent = parent, scope.parents.get(parent)
    keyword: str | None = None
    if isinstance(parent, ast.keyword):
        keyword, child, parent = parent.arg, parent, scope.parents.get(parent)
    if not isinstance(parent, ast.Call) or child is parent.func:
        return None
    name = scope.callee(parent) or ""
    if name == "range":
        return "the end of a `range`"
    if not name.startswith(("torch.", "Tensor.")):
        return None
    bare = name.rpartition(".")[2]
    method = name.startswith("Tensor.")
    if keyword in ("dim", "dims"):
        return "a dimension"
    if keyword is not None:
        takes = bare in _FIRST_INTEGER or bare in _SIZES_ARE_ARGUMENTS or bare in _MAKES or bare in _FUNCTIONAL
        takes = takes or bare in ("new_full", "full") or _POOLS.fullmatch(bare) is not None
        takes = takes and not (bare in _TENSOR_BOUNDS and keyword in ("start", "end"))
        return "a size" if takes and keyword in _INTEGER_KEYWORDS | {"pad"} else None
    position = parent.args.index(child) + method if isinstance(child, ast.expr) and child in parent.args else None
    if position is None:
        return None
    if bare in _SIZES_ARE_ARGUMENTS:
        return "a size" if position >= 1 else None
    if name.startswith("torch.nn.functional."):
        sized = bare in _FUNCTIONAL or _POOLS.fullmatch(bare)
        return "a size" if sized and position == 1 else None
    if (name == f"torch.{bare}" and bare in _MAKES) or (bare in _FREQUENCIES and position == 0):
        return "a size"
    if (name == "torch.full" and position == 0) or (bare == "new_full" and position == 1):
        return "a size"
    first = _FIRST_INTEGER.get(bare)
    return "a size" if first is not None and position >= first else None


def place_in_parts(node: ast.expr, scope: Scope) -> str | None:
    """As `integer_place`, for a tensor whose elements are sizes beside others, or that a call of `slice` takes."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Starred) and isinstance(scope.parents.get(parent), ast.Tuple | ast.List):
        return integer_place(parent, scope)
    called = parent if isinstance(parent, ast.Call) and node in parent.args else None
    return "a bound of a `slice`" if called is not None and scope.callee(called) == "slice" else None


_INDEX_AT = {
    **dict.fromkeys(("gather", "index_select", "scatter", "scatter_add", "index_add", "index_copy", "index_fill"), 2),
    **dict.fromkeys(("take", "take_along_dim"), 1),
    **dict.fromkeys(("embedding", "one_hot", "bincount"), 0),
}
"""Which argument is an index, the tensor counted."""


def is_index(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression picks elements, as a tensor of integers does: `x[i]`, `x.gather(1, i)`, `one_hot(i)`."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Tuple):
        node, parent = parent, scope.parents.get(parent)
    if isinstance(parent, ast.Subscript):
        return parent.slice is node
    if isinstance(parent, ast.keyword):
        return parent.arg == "index"
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return False
    name = scope.callee(parent) or ""
    place = _INDEX_AT.get(name.rpartition(".")[2].rstrip("_"))
    return name.startswith(("torch.", "Tensor.")) and place == parent.args.index(node) + name.startswith("Tensor.")
