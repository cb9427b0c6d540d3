"""`torch.unique` where only the number of different values is asked for, or only what belongs to each element.

Sorted values tell where a new value begins. With that, the number of each element's value is known (`return_inverse`),
and how often it occurs (`return_counts`), in tensors with room for as many values as there are elements. The number of
runs of equal values (`torch.unique_consecutive`) needs no sorting.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.counts import count_uses, raised_instead
from compilefix.codemods.dynamic_shapes.definitions import reads_of
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target

_SHAPED_LIKE = frozenset({"zeros_like", "ones_like", "empty_like", "full_like"})
_ELEMENTWISE = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_ADDS = frozenset({"scatter_add_", "index_add_"})
_CASTS = frozenset({"float", "double", "long", "int", "half", "to", "cumsum"})


@dataclass(frozen=True)
class Number:
    """How many different values a tensor has: `n = len(torch.unique(x))`, or that in another expression, or of a name.

    statement: where the tensor is sorted, or before which it is. asked: the expressions for the number. runs: whether
    values count again where another one came between.
    """

    statement: ast.stmt
    asked: tuple[ast.expr, ...]
    tensor: ast.expr
    runs: bool = False


@dataclass(frozen=True)
class Groups:
    """`values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)`.

    values, counts: None where they are not used.
    """

    statement: ast.Assign
    tensor: ast.expr
    values: ast.Name | None
    inverse: ast.Name
    counts: ast.Name | None


def number_of_values(node: ast.Call, scope: Scope) -> Number | None:
    """The places that ask how many different values there are, where nothing else is asked."""
    runs = _short(node, scope) == "unique_consecutive"
    tensor = _tensor_of(node, {"dim"} if runs else {"sorted", "dim"}, scope, "unique_consecutive" if runs else "unique")
    if tensor is None:
        return None
    statement = scope.statement(node)
    if isinstance(statement, ast.Assign) and statement.value is node and isinstance(statement.targets[0], ast.Name):
        uses = reads_of(statement, scope) if len(statement.targets) == 1 else None
        found = [length_of(use, scope) for use in uses or ()]
        asked = tuple(one for one in found if one is not None)
        return Number(statement, asked, tensor, runs) if asked and len(asked) == len(found) else None
    one = length_of(node, scope)
    if one is None:
        return None
    declared = scope.function.node.returns if isinstance(statement, ast.Return) else None
    if isinstance(declared, ast.Name) and declared.id in ("bool", "int"):
        return None  # who calls it counts on a Python number
    named = isinstance(statement, ast.Assign) and statement.value is one
    needed = any(obstacle.assumption is None for obstacle in count_uses(one, scope, raised=True))
    return Number(statement, (one,), tensor, runs) if named or not needed else None


def number_edits(found: Number, template: Template, scope: Scope) -> list[Edit]:
    """The values sorted, and the places counted where a new one begins."""
    for asked in found.asked:
        template.refuse(count_uses(asked, scope, raised=True))
        template.refuse(_in_chain(asked, scope))
    flat = f"{template.use(found.tensor, operand=True)}.flatten()"
    template.refuse(sortable(found.tensor, scope))
    if found.runs:
        ordered = free_name("flat", scope)
        first = f"{ordered} = {flat}"
    else:
        ordered = free_name("ordered", scope)
        first = f"{ordered} = {torch_name(scope)}.sort({flat})[0]"
    count = f"({ordered}[1:] != {ordered}[:-1]).sum() + min({ordered}.numel(), 1)"
    statement = found.statement
    target = single_target(statement)
    if isinstance(statement, ast.Assign) and isinstance(target, ast.Name) and statement.value in found.asked:
        line = scope.edit(statement, f"{first}\n{target.id} = {count}", **template.parts)
        return [line, *raised_instead(dict.fromkeys(scope.names(target.id), ""), scope)]
    inside = set(ast.walk(statement))
    if isinstance(target, ast.Name) and not any(asked in inside for asked in found.asked):
        name = free_name(f"number_of_{target.id}", scope)  # the name was that of the values
        line = scope.edit(statement, f"{first}\n{name} = {count}", **template.parts)
        return [line, *raised_instead(dict.fromkeys(found.asked, name), scope)]
    template.refuse(_moved_up(found, scope))
    line = scope.before(statement, first, **template.parts)
    return [line, *raised_instead(dict.fromkeys(found.asked, f"({count})"), scope)]


def _in_chain(asked: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether the number stands in a chain, which asks for the truth of each comparison: `len(a) == len(b) == 1`."""
    parent = scope.parents.get(asked)
    if isinstance(parent, ast.Compare) and len(parent.ops) > 1:
        yield Obstacle(f"`{snippet(parent)}` asks for the truth of one comparison after the other")


def length_of(node: ast.expr, scope: Scope, dims: Collection[str] = ("0", "-1")) -> ast.expr | None:
    """The expression that asks how many elements there are along the only dimension: `len(x)`, `x.shape[0]`, ..."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Call):
        return parent if scope.callee(parent) == "len" and parent.args == [node] else None
    if not isinstance(parent, ast.Attribute):
        return None
    around = scope.parents.get(parent)
    if isinstance(around, ast.Call) and around.func is parent and not around.keywords:
        given = [ast.unparse(a) for a in around.args]
        numbered = parent.attr in ("numel", "nelement") and not given
        return around if numbered or (parent.attr == "size" and len(given) == 1 and given[0] in dims) else None
    first = isinstance(around, ast.Subscript) and parent.attr == "shape" and ast.unparse(around.slice) in dims
    return around if first and isinstance(around, ast.expr) else None


def _moved_up(found: Number, scope: Scope) -> Iterator[Obstacle]:
    """Whether the tensor may be sorted before the statement in which the number of its values is asked."""
    statement, asked = found.statement, found.asked[0]
    if isinstance(statement, ast.If):
        held = any(part is asked for part in ast.walk(statement.test))
        around = scope.parents.get(statement)
        alone = not (isinstance(around, ast.If) and around.orelse == [statement])
    else:
        held = isinstance(statement, ast.Assert | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Expr)
        alone = True
    if not held or not alone:
        yield Obstacle(f"give `{snippet(asked)}` a name on a line of its own")
        return
    inner: ast.AST = asked
    for node in scope.ancestors(asked):
        if isinstance(node, ast.stmt):
            break
        later = isinstance(node, ast.BoolOp | ast.Compare) and inner is not _first(node)
        if isinstance(node, ast.Lambda | ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp):
            yield Obstacle(f"give `{snippet(asked)}` a name on a line of its own")
            return
        if later and isinstance(node, ast.Compare) and len(node.ops) == 1:
            later = False
        if later or (isinstance(node, ast.IfExp) and inner is not node.test):
            value = scope.facts.env_before.get(statement, {}).get(ast.unparse(found.tensor))
            if not isinstance(found.tensor, ast.Name) or value is None or not (value.is_tensor and value.certain):
                reason = f"`{snippet(asked)}` is asked on one way only, and `{snippet(found.tensor)}` may be no tensor"
                yield Obstacle(f"{reason} on the other")
                return
        inner = node
    for part in ast.walk(statement.test if isinstance(statement, ast.If) else statement):
        writes = isinstance(part, ast.Call) and (scope.callee(part) or "").endswith("_")
        if isinstance(part, ast.NamedExpr) or writes:
            yield Obstacle(f"`{snippet(part)}` stands in the same statement")
            return


def _first(node: ast.BoolOp | ast.Compare) -> ast.expr:
    return node.values[0] if isinstance(node, ast.BoolOp) else node.left


def groups_of(node: ast.Call, scope: Scope) -> Groups | None:
    """The statement that asks for the number of each element's value."""
    tensor = _tensor_of(node, {"sorted", "return_inverse", "return_counts", "dim"}, scope)
    statement = scope.parents.get(node)
    if tensor is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    asked = {k.arg for k in node.keywords if isinstance(k.value, ast.Constant) and k.value.value is True}
    target = statement.targets[0]
    if "return_inverse" not in asked or not isinstance(target, ast.Tuple):
        return None
    names = [name for name in target.elts if isinstance(name, ast.Name)]
    if len(names) != len(target.elts) or len(names) != 2 + ("return_counts" in asked):
        return None
    used: list[ast.Name | None] = [name if scope.names(name.id) else None for name in names]
    if used[1] is None:
        return None
    return Groups(statement, tensor, used[0], used[1], used[2] if len(used) == 3 else None)


def groups_edits(found: Groups, template: Template, scope: Scope) -> list[Edit]:
    """The statements that number the values, and the places that only ask for the shape of the values."""
    template.refuse(sortable(found.tensor, scope))
    if scope.value(found.tensor).dtype not in ("int", "bool"):
        # No two NaN are equal, and the sort in `unique` is not stable (with 17 values or more, PyTorch 2.13 on a CPU).
        reason = f"`unique` numbers several NaN in `{snippet(found.tensor)}` in an order of its own"
        template.refuse([Obstacle(reason, "nan-order")])
    template.refuse(_open_ended(found, scope))
    if not isinstance(found.tensor, ast.Name | ast.Attribute):
        template.refuse([Obstacle(f"give `{snippet(found.tensor)}` a name: it is needed twice")])
    torch, x = torch_name(scope), template.use(found.tensor)
    lines: list[str] = []
    ordered = free_name("ordered", scope)
    order = free_name("order", scope)
    first = free_name("first", scope)
    group = free_name("group", scope)
    lines = [
        f"{ordered}, {order} = {torch}.sort({x}.flatten(), stable=True)",
        f"{first} = {torch}.ones_like({ordered}, dtype={torch}.bool)",
        f"{first}[1:] = {ordered}[1:] != {ordered}[:-1]",
        f"{group} = {first}.cumsum(0) - 1",
        f"{found.inverse.id} = {torch}.empty_like({order}).scatter_(0, {order}, {group}).view({x}.shape)",
    ]
    if found.counts is not None:
        ones = f"{torch}.ones_like({order})"
        lines.append(f"{found.counts.id} = {torch}.zeros_like({order}).scatter_add_(0, {group}, {ones})")
    edits = [scope.edit(found.statement, "\n".join(lines), **template.parts)]
    for use in scope.names(found.values.id) if found.values is not None else ():
        edits.append(scope.edit(use, ordered))
    return edits


def _tensor_of(node: ast.Call, allowed: set[str], scope: Scope, function: str = "unique") -> ast.expr | None:
    """What `unique`, or another function, is called on, with options that change nothing but what is returned."""
    name = scope.callee(node) or ""
    for keyword in node.keywords:
        if keyword.arg not in allowed or not isinstance(keyword.value, ast.Constant):
            return None
        if keyword.arg == "dim" and keyword.value.value is not None:
            return None
        if keyword.arg == "sorted" and keyword.value.value is not True:
            return None
    if name == f"torch.{function}" and len(node.args) == 1:
        tensor = node.args[0]
    elif name == f"Tensor.{function}" and not node.args and isinstance(node.func, ast.Attribute):
        tensor = node.func.value
    else:
        return None
    return tensor if scope.value(tensor).is_tensor else None


def sortable(tensor: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether `unique` takes a tensor: it raises for complex numbers."""
    dtype = scope.value(tensor).dtype
    if dtype == "complex":
        yield Obstacle("`unique` raises for complex numbers")
    elif dtype is None:
        yield Obstacle(f"`{snippet(tensor)}` is not proved to hold no complex numbers", "same-shape-dtype")


def _open_ended(found: Groups, scope: Scope) -> Iterator[Obstacle]:
    """Whether nobody sees that there is room for more values than there are.

    What is made of the values or their counts, number by number, is in the end only indexed with the inverse.
    """
    given = [name for name in (found.values, found.inverse, found.counts) if name is not None]
    for name in given:
        if len(scope.names(name.id, stores=True)) != 1 or scope.function.takes(name.id):
            yield Obstacle(f"`{name.id}` gets another value elsewhere")
        if any(n.id == name.id and isinstance(n.ctx, ast.Del) for n in scope.of(ast.Name)):
            yield Obstacle(f"`{name.id}` is deleted, and may have no value then")
    inverse = found.inverse.id
    if found.values is not None:
        for use in scope.names(found.values.id):
            parent = scope.parents.get(use)
            if not (
                isinstance(parent, ast.Call) and _short(parent, scope) in _SHAPED_LIKE and parent.args[:1] == [use]
            ):
                yield Obstacle(f"line {use.lineno} needs the different values themselves")
    padded = [name.id for name in (found.values, found.counts) if name is not None]
    for name_id in padded:  # grows
        for use in scope.names(name_id):
            made = _passed_on(use, inverse, padded, scope)
            if made is None:
                yield Obstacle(f"line {use.lineno} may need to know how many different values there are")
            elif made and made not in padded:
                padded.append(made)


def _passed_on(use: ast.Name, inverse: str, padded: list[str], scope: Scope) -> str | None:
    """The name that holds what is made of a padded tensor; empty where that is indexed with the inverse, else None."""
    node: ast.expr = use
    while True:
        parent = scope.parents.get(node)
        if isinstance(parent, ast.Assign):
            target = parent.targets[0]
            once = isinstance(target, ast.Name) and len(scope.names(target.id, stores=True)) == 1
            return target.id if once and len(parent.targets) == 1 and isinstance(target, ast.Name) else None
        if isinstance(parent, ast.Subscript):
            alone = isinstance(parent.slice, ast.Name) and parent.slice.id == inverse
            return "" if alone and parent.value is node and isinstance(parent.ctx, ast.Load) else None
        call = scope.parents.get(parent) if isinstance(parent, ast.Attribute) else parent
        if isinstance(parent, ast.Attribute) and isinstance(call, ast.Call) and call.func is parent:
            if parent.attr in _ADDS and isinstance(scope.parents.get(call), ast.Expr):
                added = len(call.args) == 3 and not call.keywords and ast.unparse(call.args[1]) == inverse
                return "" if added else None
            if parent.attr not in _CASTS or (parent.attr == "cumsum" and _along(call, scope) != 0):
                return None
            node = call
        elif isinstance(call, ast.Call) and _short(call, scope) in _SHAPED_LIKE and call.args[:1] == [node]:
            node = call
        elif isinstance(parent, ast.BinOp) and isinstance(parent.op, _ELEMENTWISE):
            other = parent.right if parent.left is node else parent.left
            value = scope.value(other)
            number = value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) or value.is_scalar_tensor
            if not number and not (isinstance(other, ast.Name) and other.id in padded):
                return None
            if value.is_scalar_tensor and value.leaves and not isinstance(parent.op, ast.Add | ast.Sub):
                return None  # where nothing is counted there may be infinities: times zero a gradient of NaN
            node = parent
        elif isinstance(parent, ast.UnaryOp):
            node = parent
        else:
            return None


def _along(call: ast.Call, scope: Scope) -> object:
    given = [*call.args, *(k.value for k in call.keywords if k.arg == "dim")]
    const = scope.value(given[0]).const if len(given) == 1 and len(call.keywords) + len(call.args) == 1 else None
    return None if const is None else const.value


def _short(call: ast.Call, scope: Scope) -> str:
    return (scope.callee(call) or "").rpartition(".")[2]
