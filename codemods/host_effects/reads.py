"""Numbers that are read from tensors, in a call's arguments or before it: `loss = total.item()`."""

from __future__ import annotations

import ast

from compilefix.analysis.values import ARRAYS
from compilefix.codemods.host_effects.calls import effect_around
from compilefix.codemods.host_effects.texts import operand_of
from compilefix.codemods.rule import Scope

_READS = frozenset({"item", "tolist"})

_TO_HOST = frozenset({"cpu", "numpy"})

CASTS = frozenset({"float", "int", "bool"})

_FRESH = frozenset(
    {
        "mean",
        "sum",
        "norm",
        "max",
        "min",
        "abs",
        "exp",
        "log",
        "sqrt",
        "std",
        "var",
        "any",
        "all",
        "pow",
        "amax",
        "amin",
        "prod",
    }
)


def host_chain(node: ast.expr, scope: Scope) -> tuple[ast.expr, str] | None:
    """`x.cpu().numpy()` as the tensor that is passed on and what is left to do at the boundary."""
    if not (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords
    ):
        return None
    method, base = node.func.attr, node.func.value
    if method in _READS:
        inner = host_chain(base, scope)
        if inner is not None and inner[1].endswith(".numpy()"):
            return inner[0], f"{inner[1]}.{method}()"
        return (_peeled(base, scope), f".{method}()") if _is_read(base, scope) else None
    if method not in _TO_HOST or not scope.value(base).is_tensor:
        return None
    tensor, suffix = host_chain(base, scope) or (base, "")
    return tensor, f"{suffix}.{method}()"


def _is_read(base: ast.expr, scope: Scope) -> bool:
    """Whether `.item()` or `.tolist()` reads a tensor here: nothing else in compiled code has these methods."""
    value = scope.value(base)
    return bool(value.is_tensor or value.is_unknown or value.kinds == ARRAYS)


def _peeled(node: ast.expr, scope: Scope) -> ast.expr:
    """The tensor without the moves to the host that reading its value does anyway."""
    while (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("cpu", "detach")
        and not node.args
    ):
        if not _is_read(node.func.value, scope):
            break
        node = node.func.value
    return node


def read_of(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor whose value an expression reads as Python numbers."""
    if not isinstance(node, ast.Call):
        return None
    if (
        isinstance(node.func, ast.Attribute)
        and node.func.attr in _READS
        and not node.args
        and _is_read(node.func.value, scope)
    ):
        return _peeled(node.func.value, scope)
    if (
        isinstance(node.func, ast.Name)
        and node.func.id in CASTS
        and scope.callee(node) == node.func.id
        and len(node.args) == 1
    ):
        return _peeled(node.args[0], scope) if scope.value(node.args[0]).is_tensor else None
    return None


def read_text(read: ast.expr, tensor: str) -> str:
    """The read of `tensor` in the way that `read` reads."""
    assert isinstance(read, ast.Call)
    return (
        f"{tensor}.{read.func.attr}()"
        if isinstance(read.func, ast.Attribute)
        else f"{ast.unparse(read.func)}({tensor})"
    )


def bound_read(node: ast.Name, scope: Scope) -> ast.expr | None:
    """The read that a name is bound to, when only prints and log lines use the name."""
    stores = scope.names(node.id, stores=True)
    if len(stores) != 1:
        return None
    read = _assigned(stores[0], scope)
    if read is None or read_of(read, scope) is None:
        return None
    everywhere = scope.function.loads(node.id)
    loads = scope.names(node.id)
    if len(everywhere) != len(loads) or any(effect_around(load, scope) is None for load in loads):
        return None
    return read


def _assigned(store: ast.Name, scope: Scope) -> ast.expr | None:
    parent = scope.parents.get(store)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1:
        return parent.value
    if isinstance(parent, ast.Tuple):
        assign = scope.parents.get(parent)
        if not isinstance(assign, ast.Assign) or len(assign.targets) != 1 or not isinstance(assign.value, ast.Tuple):
            return None
        targets, sources = parent.elts, assign.value.elts
        if len(targets) == len(sources) and not any(isinstance(e, ast.Starred) for e in (*targets, *sources)):
            return sources[targets.index(store)]
    return None


def kept(read: ast.expr, scope: Scope) -> str:
    """The tensor in the place of the number that was read from it: a copy, where later code could write into it."""
    tensor = read_of(read, scope)
    assert tensor is not None
    text = operand_of(tensor, scope)
    fresh = (
        isinstance(tensor, ast.Call)
        and isinstance(tensor.func, ast.Attribute)
        and tensor.func.attr in _FRESH
        and not tensor.args
    )
    return text if fresh or isinstance(tensor, ast.BinOp) else f"{text}.detach().clone()"
