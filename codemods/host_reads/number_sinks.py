"""The places where a number takes no part in further arithmetic: fill values, operands beside a tensor, results."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from compilefix.analysis.values import Kind
from compilefix.codemods.added_in_place import added_to
from compilefix.codemods.callers import callers, callers_elsewhere
from compilefix.codemods.host_reads.left_unread import leaves_unread, place_in_result, place_of_name
from compilefix.codemods.promised_numbers import attribute_promised
from compilefix.codemods.returned_truths import as_tensor
from compilefix.codemods.rule import Scope
from compilefix.codemods.torch_name import torch_name
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in, parents

_OPERATIONS = frozenset({"add", "sub", "mul", "div", "multiply", "true_divide", "add_", "sub_", "mul_", "div_"})
_COMPARISONS = frozenset(
    {"gt", "ge", "lt", "le", "eq", "ne", "greater", "greater_equal", "less", "less_equal", "not_equal"}
)
_DISPLAYS = (ast.Tuple, ast.List, ast.Dict)

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


def kept_in(node: ast.expr, scope: Scope) -> tuple[str, str | None] | None:
    """Whether the number is returned or stored: the reason, and the assumption under which a tensor will do."""
    child: ast.AST = node
    parent = scope.parents.get(node)
    while parent is not None and _holds(parent, child, scope):
        child, parent = parent, scope.parents.get(parent)
    updated = _updated_by(child, scope)
    decorator = scope.legality.inference.changed_by(scope.function)
    if decorator is not None and (
        isinstance(parent, ast.Return | ast.Yield) or _is_collected(child, scope.parents, scope.function)
    ):
        return f"the number is returned, and `@{decorator}` needs it as a Python number", None
    if isinstance(parent, ast.Return | ast.Yield):
        alone = child is node or (isinstance(child, ast.Tuple) and scope.parents.get(node) is child)
        if alone and scope.value(node).dtype == "int" and not scope.compiled.from_compile_call:
            return "the number is returned: an integer is a size or an index for whoever calls this", None
        place = place_in_result(node, scope)
        users = (u for u in chain(callers(scope), callers_elsewhere(scope)) if not leaves_unread(u, place, scope))
        user = next((u for u in users if child is not node or not _only_keeps(u, scope)), None)
        if user is not None and child is node and isinstance(parent, ast.Return) and scope.value(node).dtype == "bool":
            # Who only asks for the truth may ask a boolean tensor for it.
            obstacle = next(as_tensor([], [node], scope))
            return obstacle.reason, obstacle.assumption
        if user is not None:
            needs = "needs" if child is node else "may need"  # what is done with a part of a result is not looked at
            return f"the number is returned, and `{user.qualname}` {needs} it as a Python number", None
    elif isinstance(parent, ast.Assign | ast.AnnAssign) and parent.value is child:
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        if child is node and not all(isinstance(t, ast.Attribute | ast.Subscript) for t in targets):
            return None
        for target in targets:
            if not isinstance(target, ast.Name | ast.Attribute | ast.Subscript) or _read_back(target, scope):
                return f"the number is stored in `{snippet(target)}`, which this function goes on to read", None
            if (promised := attribute_promised(target, scope)) is not None:
                return f"the number is stored, and {promised}", None
            if isinstance(target, ast.Attribute) and _of_stranger(target.value, scope):
                return f"the number is stored in `{snippet(target)}`: what that object does with it is not known", None
            if isinstance(target, ast.Name) and isinstance(child, ast.Tuple | ast.List):
                user = next(chain(callers(scope), callers_elsewhere(scope)), None)
                if user is not None and _returned(target.id, scope):
                    return f"the number is returned, and `{user.qualname}` may need it as a Python number", None
            added = next(added_to(target, scope), None)
            if added is not None:
                return f"`{snippet(added)}` would change the tensor in place, where a number became another one", None
    elif updated is not None:
        if _read_back(updated, scope):
            return f"the number is stored in `{snippet(updated)}`, which this function goes on to read", None
    elif not _is_collected(child, scope.parents, scope.function):
        return None
    elif scope.value(node).dtype == "int" and not scope.compiled.from_compile_call:
        return "the number is collected: integers are sizes or indices for whoever calls this", None
    elif (user := _reader_of_list(child, scope)) is not None:
        return f"the number is collected and returned, and `{user.qualname}` needs it as a Python number", None
    reason = "the number leaves the arithmetic of this function: it is returned or stored as a Python number"
    return reason, "number-to-tensor"


def _of_stranger(owner: ast.expr, scope: Scope) -> bool:
    """Whether an attribute is one of an object that another one holds, and that is none of the project's classes.

    It may be a setting of a library (`self.scheduler.config.num_train_timesteps`), which makes arrays of it.
    """
    if not isinstance(owner, ast.Attribute):
        return False
    ref = scope.value(owner).ref
    target = scope.legality.inference.project.resolve(ref) if ref is not None else None
    return not isinstance(target, Class)


def _updated_by(node: ast.AST, scope: Scope) -> ast.expr | None:
    """The dictionary of this function that a statement adds a written dictionary, or keywords, to: `d.update(a=n)`."""
    call = scope.parents.get(node)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "update":
        return None
    added = isinstance(node, ast.keyword) or (isinstance(node, ast.Dict | ast.Call) and call.args == [node])
    holder = call.func.value
    known = isinstance(holder, ast.Name) and scope.value(holder).ref == "dict"
    return holder if added and known and isinstance(scope.parents.get(call), ast.Expr) else None


def _is_update(node: ast.AST, scope: Scope) -> bool:
    """Whether a dictionary stands in a statement that only adds to it: `d.update(...)`."""
    method = scope.parents.get(node)
    call = scope.parents.get(method) if isinstance(method, ast.Attribute) and method.attr == "update" else None
    return isinstance(call, ast.Call) and call.func is method and isinstance(scope.parents.get(call), ast.Expr)


def _holds(parent: ast.AST, child: ast.AST, scope: Scope) -> bool:
    """Whether a value stands in a list, tuple or dictionary as an item of it."""
    if isinstance(parent, ast.keyword):
        call = scope.parents.get(parent)
        return isinstance(call, ast.Call) and (scope.callee(call) == "dict" or _updated_by(parent, scope) is not None)
    if isinstance(parent, ast.Call):
        return isinstance(child, ast.keyword) and scope.callee(parent) == "dict"
    if isinstance(parent, ast.ListComp):
        return child is parent.elt
    if isinstance(parent, ast.DictComp):
        return child is parent.value
    return isinstance(parent, _DISPLAYS) and (not isinstance(parent, ast.Dict) or child in parent.values)


def _read_back(target: ast.expr, scope: Scope) -> bool:
    """Whether the function reads what a stored number may be in, otherwise than by returning all of it."""
    holder = target
    while isinstance(holder, ast.Subscript):
        holder = holder.value
    texts = {ast.unparse(holder), *_other_names(holder, scope)}
    for node in scope.function.nodes:
        if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(node.ctx, ast.Load) or node is holder:
            continue
        if ast.unparse(node) not in texts or (isinstance(node, ast.Name) and _is_update(node, scope)):
            continue
        child: ast.AST = node
        parent = scope.parents.get(node)
        while isinstance(parent, ast.Subscript) and parent.value is child:
            child, parent = parent, scope.parents.get(parent)
        if isinstance(child, ast.Subscript) and isinstance(child.ctx, ast.Store):
            continue
        while child is node and isinstance(parent, ast.Tuple):
            child, parent = parent, scope.parents.get(parent)
        if child is not node and not isinstance(child, ast.Tuple):
            named = isinstance(parent, ast.Assign) and isinstance(holder, ast.Name) and _names(parent, holder.id)
            if not named:
                return True
        elif not isinstance(parent, ast.Return):
            return True
    return False


def _returned(name: str, scope: Scope) -> bool:
    """Whether the function returns what a name holds, alone or among other things."""
    values = (node.value for node in scope.function.of(ast.Return) if node.value is not None)
    return name in names_in(*values)


def _other_names(holder: ast.expr, scope: Scope) -> set[str]:
    """The local names of what a name stands for, or of what holds that: `a = b = {}`, `part = whole["part"]`."""
    if not isinstance(holder, ast.Name):
        return set()
    found: set[str] = set()
    for store in scope.names(holder.id, stores=True):
        statement = scope.parents.get(store)
        if not isinstance(statement, ast.Assign):
            continue
        whole = statement.value
        while isinstance(whole, ast.Subscript):
            whole = whole.value
        same = [target for target in (*statement.targets, whole) if isinstance(target, ast.Name)]
        found |= {name.id for name in same if name.id != holder.id}
    return found


def _names(statement: ast.Assign, name: str) -> bool:
    """Whether a statement gives a name its value, and nothing else."""
    return all(isinstance(target, ast.Name) and target.id == name for target in statement.targets)


def _is_collected(node: ast.AST, around: Mapping[ast.AST, ast.AST], function: Function) -> bool:
    """Whether a value is added to a list of the function itself, which only returns it."""
    name = _added_to_list(node, around)
    if name is None:
        return False
    if any(name.id in other.names for other in function.nodes if isinstance(other, ast.Global | ast.Nonlocal)):
        return False
    made = False
    for other in function.nodes:
        if not isinstance(other, ast.Name) or other.id != name.id:
            continue
        parent = around.get(other)
        if isinstance(other.ctx, ast.Store):
            new = _is_new_list(other, around)
            if not new and not _extends(parent):
                return False
            made = made or new
        elif not (isinstance(parent, ast.Attribute) and _is_append(parent)):
            while isinstance(parent, ast.Tuple | ast.List | ast.Dict):
                parent = around.get(parent)
            if not isinstance(parent, ast.Return):
                return False
    return made


def _reader_of_list(node: ast.AST, scope: Scope) -> Function | None:
    """A caller that may look at the list that a value is collected in."""
    name = _added_to_list(node, scope.parents)
    place = None if name is None else place_of_name(name.id, scope)
    return next((user for user in callers(scope) if not leaves_unread(user, place, scope)), None)


def _added_to_list(node: ast.AST, around: Mapping[ast.AST, ast.AST]) -> ast.Name | None:
    """The name of the list that a value is appended to, or that a list is added to: `a.append(v)`, `a += [v]`."""
    added = around.get(node)
    if isinstance(added, ast.AugAssign) and _extends(added) and added.value is node:
        return added.target if isinstance(added.target, ast.Name) else None
    if not isinstance(added, ast.Call) or added.args != [node] or added.keywords or not _is_append(added.func):
        return None
    assert isinstance(added.func, ast.Attribute)
    name = added.func.value
    return name if isinstance(name, ast.Name) and isinstance(around.get(added), ast.Expr) else None


def _extends(statement: ast.AST | None) -> bool:
    """Whether a statement adds a written list to one: `a += [v]`."""
    adds = isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add)
    return adds and isinstance(statement.value, ast.List)  # type: ignore[union-attr]


def _is_new_list(target: ast.Name, around: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether a name is given a new, empty list: `a = []`, `a, b = [], []`."""
    parent = around.get(target)
    statement = around.get(parent) if isinstance(parent, ast.Tuple) else parent
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
        return False  # `a = b = []`: the other name is the same list
    if isinstance(parent, ast.Tuple):
        each = isinstance(value, ast.Tuple) and len(value.elts) == len(parent.elts)
        value = value.elts[parent.elts.index(target)] if each and isinstance(value, ast.Tuple) else None
    return isinstance(value, ast.List) and not value.elts


def _is_append(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "append"


def _only_keeps(user: Function, scope: Scope) -> bool:
    """Whether a function only collects what this one returns, and nobody in the file goes on with that."""
    inference = scope.legality.inference
    calls = [call for call, callee in inference.facts(user).calls.items() if callee in scope.stands_for]
    around = parents((user.node, *user.nodes))
    others = (f for f in user.module.all_functions if f is not user)
    return (
        bool(calls)
        and all(_is_collected(call, around, user) for call in calls)
        and not any(user in inference.facts(other).calls.values() for other in others)
    )
