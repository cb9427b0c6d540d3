"""NumPy arrays made of a tensor's values: how to recognise one, and what torch has for NumPy's functions."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope

# Functions of one element under the same name in torch, and those that keep integers as they are.
POINTWISE = frozenset(
    {
        "abs",
        "exp",
        "log",
        "log2",
        "log10",
        "log1p",
        "expm1",
        "sqrt",
        "square",
        "sin",
        "cos",
        "tan",
        "tanh",
        "sinh",
        "cosh",
        "floor",
        "ceil",
        "trunc",
        "sign",
        "negative",
    }
)
KEEPS_INTEGERS = frozenset({"abs", "square", "sign", "negative"})
QUIET = frozenset({"abs", "floor", "ceil", "trunc", "negative", "sign", "tanh"})
"""Those of which NumPy gives no warning: no domain error, no overflow."""
UNSUPPORTED = frozenset(
    {
        "apply_over_axes",
        "argpartition",
        "asanyarray",
        "asfortranarray",
        "asmatrix",
        "block",
        "digitize",
        "ediff1d",
        "frombuffer",
        "fromfunction",
        "fromiter",
        "histogram_bin_edges",
        "interp",
        "intersect1d",
        "ix_",
        "nanargmax",
        "nanargmin",
        "nancumsum",
        "nanmedian",
        "nanpercentile",
        "nanprod",
        "nanquantile",
        "nanstd",
        "nanvar",
        "place",
        "poly1d",
        "polyval",
        "putmask",
        "roots",
        "setxor1d",
        "trim_zeros",
        "union1d",
        "unpackbits",
        "ravel_multi_index",
        "unravel_index",
        "apply_along_axis",
        "trapezoid",
        "polyfit",
        "lexsort",
        "partition",
        "setdiff1d",
        "isin",
        "nanmean",
        "nanmax",
        "nanmin",
        "nansum",
        "insert",
        "delete",
        "unwrap",
        "packbits",
        "vectorize",
        "piecewise",
        "select",
    }
    | {"array2string", "array_repr", "array_str", "asarray_chkfinite", "astype", "base_repr", "binary_repr", "bmat"}
    | {"broadcast", "compress", "cumulative_prod", "cumulative_sum", "datetime64", "einsum_path", "errstate", "extract"}
    | {"format_float_positional", "format_float_scientific", "frexp", "frompyfunc", "fromstring", "isdtype"}
    | {"isfortran", "isnat", "iterable", "mask_indices", "matrix", "may_share_memory", "mintypecode", "nancumprod"}
    | {"ndenumerate", "ndindex", "nditer", "polyadd", "polyder", "polydiv", "polyint", "polymul", "polysub"}
    | {"printoptions", "promote_types", "require", "shares_memory", "sort_complex", "spacing"}
    | {"typename", "unique_counts", "unique_inverse", "unique_values", "unstack", "vecdot"}
)
"""Functions that torch has no counterpart of, whatever they are given (torch 2.13)."""
GIVES_NO_TENSOR = frozenset(
    {"can_cast", "iscomplexobj", "isrealobj", "isscalar", "min_scalar_type", "ndim", "result_type", "size"}
)
"""Functions that give a truth, a size or a dtype, whatever they are given: no operation of a graph does."""
_NOT_VALUES = frozenset({"shape", "dtype", "ndim", "size"})


def from_tensor(node: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """Whether an expression is an ndarray, or a NumPy number, computed from a tensor's values."""
    if depth > 12:
        return False
    if isinstance(node, ast.Call):
        name = scope.callee(node) or ""
        if name.startswith("numpy.") and not name.startswith("numpy.random."):
            return any(numpy_operand(a, scope, depth + 1) for a in node.args)
        if isinstance(node.func, ast.Attribute):
            if node.func.attr == "numpy" and not node.args:
                # Arrays have no such method: what gives an array by it is a tensor.
                return scope.value(node.func.value).is_tensor or scope.value(node.func.value).is_unknown
            return node.func.attr not in ("item", "tolist") and from_tensor(node.func.value, scope, depth + 1)
        return False
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return any(from_tensor(s, scope, depth + 1) for s in sides) and not any(scope.value(s).is_tensor for s in sides)
    if isinstance(node, ast.Compare):
        return any(from_tensor(o, scope, depth + 1) for o in (node.left, *node.comparators)) and not isinstance(
            node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn
        )
    if isinstance(node, ast.Subscript):
        return from_tensor(node.value, scope, depth + 1)
    if isinstance(node, ast.UnaryOp):
        return from_tensor(node.operand, scope, depth + 1)
    if isinstance(node, ast.Attribute):
        return node.attr not in _NOT_VALUES and node.attr == "T" and from_tensor(node.value, scope, depth + 1)
    if isinstance(node, ast.Name):
        stores = scope.names(node.id, stores=True)
        if len(stores) != 1:
            return False
        parent = scope.parents.get(stores[0])
        if scope.function.takes(node.id) and not _behind(node, parent, scope):
            return False
        return (
            isinstance(parent, ast.Assign)
            and parent.targets == [stores[0]]
            and from_tensor(parent.value, scope, depth + 1)
        )
    return False


def _behind(node: ast.Name, store: ast.AST | None, scope: Scope) -> bool:
    """Whether every run that comes to a name has passed a statement of the function itself, with its body, before."""
    body = scope.function.node.body
    return any(statement is store and node.lineno > (statement.end_lineno or 0) for statement in body)


def numpy_operand(node: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """Whether an argument of a NumPy function is a tensor, or an ndarray made of one."""
    value = scope.value(node)
    return (value.is_tensor and value.certain) or from_tensor(node, scope, depth)
