"""The places where a number takes no part in further arithmetic: fill values, operands beside a tensor, results."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.codemods.torch_name import torch_name

_OPERATIONS = frozenset({"add", "sub", "mul", "div", "multiply", "true_divide", "add_", "sub_", "mul_", "div_"})
_COMPARISONS = frozenset(
    {"gt", "ge", "lt", "le", "eq", "ne", "greater", "greater_equal", "less", "less_equal", "not_equal"}
)

FillBuild = Callable[[Callable[[ast.AST], str], Callable[[ast.expr], str], bool], str]


@dataclass(frozen=True)
class Fill:
    """A tensor that is filled with the number, wholly or in part.

    target: the tensor whose dtype the value takes. call: what does it. build: the code that does it with a tensor,
    where the code as it is does not take one; it is given how to use a node, how to render one, and whether the dtypes
    agree.
    """

    target: ast.expr
    call: ast.AST
    build: FillBuild | None = None


def fill_of(node: ast.expr, scope: Scope) -> Fill | None:
    """What a number fills: `new_full`, `full_like`, `full` with a dtype, `masked_fill`, `fill_`, `x[...] = number`."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        target = parent.targets[0]
        if isinstance(target, ast.Subscript) and scope.value(target.value).is_tensor:
            return Fill(target.value, parent)
        return None
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    keywords = {k.arg: k.value for k in call.keywords}
    name = scope.callee(call) or ""
    place = next((k for k, v in keywords.items() if v is node), None)
    position = call.args.index(node) if node in call.args else None
    if name == "Tensor.new_full" and isinstance(call.func, ast.Attribute):
        return _new_full(node, call, call.func.value, position == 1 or place == "fill_value", scope)
    if name == "torch.full_like" and call.args and (position == 1 or place == "fill_value"):
        if set(keywords) - {"fill_value"} or call.args[0] is node:
            return None
        torch = torch_name(scope)
        return Fill(
            call.args[0], call, lambda use, render, _: f"{torch}.empty_like({use(call.args[0])}).fill_({render(node)})"
        )
    if name == "torch.full" and (position == 1 or place == "fill_value"):
        return Fill(call, call) if "dtype" in keywords else None
    if name in ("Tensor.masked_fill", "Tensor.masked_fill_", "Tensor.fill_") and isinstance(call.func, ast.Attribute):
        last = 0 if name == "Tensor.fill_" else 1
        return Fill(call.func.value, call) if position == last or place == "value" else None
    if name in ("torch.masked_fill", "torch.fill") and call.args and call.args[0] is not node:
        return Fill(call.args[0], call) if position == len(call.args) - 1 or place == "value" else None
    return None


def _new_full(node: ast.expr, call: ast.Call, target: ast.expr, fills: bool, scope: Scope) -> Fill | None:
    size = next((k.value for k in call.keywords if k.arg == "size"), call.args[0] if call.args else None)
    if not fills or size is None or size is node or {k.arg for k in call.keywords} - {"size", "fill_value"}:
        return None
    if not isinstance(target, ast.Name | ast.Attribute):
        return None
    torch = torch_name(scope)

    def build(use: Callable[[ast.AST], str], render: Callable[[ast.expr], str], _same: bool) -> str:
        tensor = use(target)
        return f"{torch}.full({_size(size, use)}, {render(node)}, dtype={tensor}.dtype, device={tensor}.device)"

    return Fill(target, call, build)


def _size(node: ast.expr, use: Callable[[ast.AST], str]) -> str:
    # The parentheses of a tuple belong to it here and not in LibCST: it is named by its parts.
    if not isinstance(node, ast.Tuple):
        return use(node)
    parts = [f"*{use(e.value)}" if isinstance(e, ast.Starred) else use(e) for e in node.elts]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


@dataclass(frozen=True)
class Scaled:
    """A call that takes the number as a factor: `x.add_(y, alpha=n)`, `x.addcdiv_(a, b, value=n)`, `x.lerp_(y, n)`.

    tensor: what is changed by it. part: what changes in the code, the call or the number itself. build: its code; it
    is given how to render a node.
    """

    call: ast.Call
    tensor: ast.expr
    part: ast.expr
    build: Callable[[Callable[[ast.expr], str]], str]


def scaled_by(node: ast.expr, scope: Scope) -> Scaled | None:
    """The call in which the number scales a tensor and would not be taken as a tensor."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    name = scope.callee(call) or ""
    place = parent.arg if isinstance(parent, ast.keyword) else None
    method, tensor = name.removeprefix("Tensor."), call.func.value
    if not name.startswith("Tensor.") or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    if method in ("lerp", "lerp_") and isinstance(tensor, ast.Name | ast.Attribute):
        weighs = place == "weight" or (place is None and call.args.index(node) == 1)
        return Scaled(call, tensor, node, lambda render: f"{render(node)}.to({render(tensor)})") if weighs else None
    if _SCALED.get(method) != (place, len(call.args)) or len(call.keywords) != 1:
        return None
    kept = method.replace("addcdiv", "add").replace("addcmul", "add")
    operator = " / " if "div" in method else " * "

    def build(render: Callable[[ast.expr], str]) -> str:
        factors = operator.join(render(argument) for argument in call.args)
        return f"{render(tensor)}.{kept}({factors} * {render(node)})"

    return Scaled(call, tensor, call, build)


_SCALED = {f"{name}{end}": ("alpha", 1) for name in ("add", "sub") for end in ("", "_")}
_SCALED |= {f"{name}{end}": ("value", 2) for name in ("addcdiv", "addcmul") for end in ("", "_")}


def for_each(node: ast.expr, scope: Scope) -> ast.Call | None:
    """The call that computes each tensor of a list with the number, `torch._foreach_mul_(xs, n)`: it takes a tensor."""
    call = scope.parents.get(node)
    if not isinstance(call, ast.Call) or call.keywords or len(call.args) != 2 or call.args[1] is not node:
        return None
    return call if (scope.callee(call) or "").removesuffix("_") in _FOR_EACH else None


_FOR_EACH = frozenset({"torch._foreach_add", "torch._foreach_mul", "torch._foreach_div"})


def tensor_of_items(node: ast.expr, scope: Scope) -> ast.Call | None:
    """The call that makes a tensor of a list with the number in it, and is told the dtype: `torch.tensor([[n, 0]],
    dtype=x.dtype)`. Without one the number's own dtype would decide.
    """
    child, parent = node, scope.parents.get(node)
    while isinstance(parent, ast.List | ast.Tuple):
        child, parent = parent, scope.parents.get(parent)
    if not isinstance(parent, ast.Call) or child is node or parent.args != [child]:
        return None
    dtype = next((k.value for k in parent.keywords if k.arg == "dtype"), None)
    told = dtype is not None and not (isinstance(dtype, ast.Constant) and dtype.value is None)
    name = scope.callee(parent)
    return parent if name == "Tensor.new_tensor" or (name in _MAKES and told) else None


_MAKES = frozenset({"torch.tensor", "torch.as_tensor"})


def tensor_beside(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor that a call combines the number with: `x.mul(n)`, `torch.add(x, n)`, `torch.where(c, x, n)`."""
    call = scope.parents.get(node)
    if not isinstance(call, ast.Call) or call.keywords or node not in call.args:
        return None
    name = scope.callee(call) or ""
    if name == "torch.where" and len(call.args) == 3 and call.args[0] is not node:
        return call.args[2] if call.args[1] is node else call.args[1]
    bare = name.removeprefix("Tensor.").removeprefix("torch.")
    return _first_operand(node, call, name) if bare in _OPERATIONS else None


def compared_with(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor that a call compares with the number: `x.gt(n)`, `torch.le(x, n)`."""
    call = scope.parents.get(node)
    if not isinstance(call, ast.Call) or call.keywords or node not in call.args:
        return None
    name = scope.callee(call) or ""
    bare = name.removeprefix("Tensor.").removeprefix("torch.")
    return _first_operand(node, call, name) if bare in _COMPARISONS else None


def _first_operand(node: ast.expr, call: ast.Call, name: str) -> ast.expr | None:
    """The first operand of a method or function of torch of which the node is the second one."""
    if name.startswith("Tensor.") and isinstance(call.func, ast.Attribute) and len(call.args) == 1:
        return call.func.value
    return call.args[0] if name.startswith("torch.") and len(call.args) == 2 and call.args[1] is node else None


@dataclass(frozen=True)
class Picked:
    """What an index picks: from a tensor along a dimension, or from a list of tensors.

    put: what is written there, or changes what is there. Other integers may stand beside the index.
    """

    item: ast.Subscript
    dim: int
    listed: bool
    put: ast.expr | None = None


def index_of(node: ast.expr, scope: Scope) -> Picked | None:
    """The tensor, or list of tensors, of which the number picks one item."""
    parent = scope.parents.get(node)
    dim = 0
    if isinstance(parent, ast.Tuple):
        dim = parent.elts.index(node)
        others = [e for e in parent.elts if e is not node]
        above = scope.parents.get(parent)
        read = isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Load)
        known = (isinstance(e, ast.Slice) or _is_integer(e, scope) or (read and is_ellipsis(e)) for e in others)
        if not all(known):
            return None
        node, parent = parent, above
    if not isinstance(parent, ast.Subscript) or parent.slice is not node:
        return None
    base = scope.value(parent.value)
    if not isinstance(parent.ctx, ast.Load):
        statement = scope.parents.get(parent)
        alone = isinstance(statement, ast.Assign) and statement.targets == [parent]
        if not alone and not (isinstance(statement, ast.AugAssign) and statement.target is parent):
            return None
        put = statement.value if isinstance(statement, ast.Assign | ast.AugAssign) else None
        return Picked(parent, dim, listed=False, put=put) if base.is_tensor and base.certain else None
    if base.is_tensor and base.certain:
        return Picked(parent, dim, listed=False)
    items = base.elements or ()
    if base.is_(Kind.CONTAINER) and base.ref != "dict" and items and all(i.is_tensor and i.certain for i in items):
        return Picked(parent, dim, listed=True)
    return None


def is_ellipsis(node: ast.expr) -> bool:
    """Whether an index is `...`."""
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _is_integer(node: ast.expr, scope: Scope) -> bool:
    """Whether an index is an integer of Python, which takes a dimension away."""
    value = scope.value(node)
    return value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int" and not isinstance(node, ast.Slice)


@dataclass(frozen=True)
class Rolled:
    """A call that rolls a tensor along one dimension by as many places as the number says."""

    call: ast.Call
    tensor: ast.expr
    dim: ast.expr


def rolled_by(node: ast.expr, scope: Scope) -> Rolled | None:
    """The call `x.roll(n, 1)` or `torch.roll(x, shifts=n, dims=1)` of which the number is the only shift."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None  # a method under a name of its own
    name = scope.callee(call)
    if name not in ("Tensor.roll", "torch.roll"):
        return None
    given = [*([call.func.value] if name == "Tensor.roll" else []), *call.args]
    named = dict(zip(_ROLL, given, strict=False)) | {k.arg: k.value for k in call.keywords}
    if len(given) > len(_ROLL) or named.keys() != set(_ROLL) or named["shifts"] is not node:
        return None
    tensor, dim = named["input"], scope.value(named["dims"])
    named_once = isinstance(tensor, ast.Name | ast.Attribute) and scope.value(tensor).is_tensor
    return Rolled(call, tensor, named["dims"]) if named_once and dim.is_(Kind.STATIC) and dim.dtype == "int" else None


_ROLL = ("input", "shifts", "dims")


def in_log(node: ast.AST, scope: Scope) -> bool:
    """Whether an expression is a part of what is printed or logged."""
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.stmt):
            return False
        name = scope.callee(parent) or ""
        if name == "print" or name.startswith(("logging.", "warnings.")):
            return True
    return False


def shown_by(loads: Sequence[ast.Name], scope: Scope) -> dict[ast.Name, list[ast.Name]]:
    """The uses of a name that are printed or logged as Python numbers, with the places where that happens.

    These are the uses themselves, or the names in the lambda of `emit(lambda n: print(n), n)`, in which they stand too
    if they have the same name.
    """
    found: dict[ast.Name, list[ast.Name]] = {}
    for load in loads:
        call = scope.parents.get(load)
        noted = call.args[0] if isinstance(call, ast.Call) and call.args and _is_emit(call) else None
        if isinstance(noted, ast.Lambda) and isinstance(call, ast.Call) and load in call.args[1:]:
            places = _given_to(noted, call.args.index(load) - 1, scope)
            if scope.value(load).is_(Kind.NUMBER) and places is not None:
                found[load] = places
        elif in_log(load, scope) and scope.value(load).is_(Kind.NUMBER) and scope.file.segment(load) == load.id:
            found[load] = [load]
    inside = {place for places in found.values() for place in places}
    return found | {load: [] for load in loads if load in inside and load not in found}


def _is_emit(call: ast.Call) -> bool:
    """Whether a call notes an effect for the compile boundary."""
    return isinstance(call.func, ast.Name) and call.func.id == "emit"


def _given_to(noted: ast.Lambda, position: int, scope: Scope) -> list[ast.Name] | None:
    """The uses of a parameter in a lambda; None where they cannot be told, or the text has them at another place."""
    given = noted.args
    if given.posonlyargs or given.vararg or position >= len(given.args):
        return None
    name = given.args[position].arg
    if any(isinstance(n, ast.Lambda | ast.comprehension | ast.NamedExpr) for n in ast.walk(noted.body)):
        return None
    places = [n for n in ast.walk(noted.body) if isinstance(n, ast.Name) and n.id == name]
    return places if all(scope.file.segment(place) == name for place in places) else None
