"""`repeat_interleave` beside a tensor that has as many rows as it gives: that tensor tells how many these are."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

_CALLS = frozenset({"torch.repeat_interleave", "Tensor.repeat_interleave"})
_ELEMENTWISE = frozenset(
    {
        *("add", "sub", "mul", "div", "true_divide", "multiply", "divide", "subtract", "pow", "where", "maximum"),
        *("minimum", "lerp", "addcmul", "addcdiv", "eq", "ne", "gt", "ge", "lt", "le", "atan2", "hypot"),
    }
)
_SAME_SHAPE = frozenset(
    {
        *("to", "float", "double", "half", "long", "int", "bool", "type", "type_as", "detach", "clone", "contiguous"),
        *("exp", "log", "sqrt", "square", "abs", "neg", "sigmoid", "tanh", "relu", "reciprocal", "sin", "cos"),
    }
)


@dataclass(frozen=True)
class Repeats:
    """A call whose size is told by another tensor.

    tensor, repeats: what is repeated and how often. other: a tensor with as many rows, that exists before the call.
    place: the code of the dimension in which it has them. counted: whether dimensions are counted from the front where
    the numbers of dimensions are not proved to be the same. exact: whether one row cannot stand for all. deep: whether
    it is not proved to have a dimension behind the rows, as the result has where it was given one.
    """

    node: ast.Call
    other: ast.expr
    place: ast.expr | int
    counted: bool
    exact: bool
    deep: bool = False


@dataclass(frozen=True)
class RepeatsCall:
    """A call, what it repeats, how often and in which dimension."""

    node: ast.Call
    tensor: ast.expr
    repeats: ast.expr
    dim: ast.expr | None


@dataclass(frozen=True)
class _Partner:
    """Beside what a result stands; place: the dimension that both share, where that is not counted as in the result.

    behind: how many dimensions the result was given behind the repeated one.
    """

    other: ast.expr
    at: ast.AST
    place: int | None = None
    exact: bool = False
    behind: int = 0


def repeats_beside(node: ast.Call, scope: Scope) -> Repeats | None:
    """A call of `repeat_interleave` with a tensor of repeats, whose size the tensor tells that it is combined with."""
    call = repeats_call(node, scope)
    if call is None or not (scope.value(call.repeats).is_tensor or is_difference(call.repeats, scope)):
        return None
    found = next(_told(call, scope), None)
    if found is None:
        twins = (repeats_call(other, scope) for other in scope.of(ast.Call) if other is not node)
        for twin in twins:
            if twin is not None and _same_repeats(twin, call, scope):
                found = next((r for r in _told(twin, scope) if _there_before(r.other, call.node, scope)), None)
                if found is not None:
                    return replace(found, node=node)
    return found


def sized_code(found: Repeats, template: Template) -> str:
    """The call with the number of rows that it gives."""
    rows = f"`{snippet(found.other)}` is not proved to have as many rows as `{snippet(found.node)}` gives"
    template.refuse([Obstacle(rows, "rows-match")])
    if found.counted:
        reason = f"`{snippet(found.other)}` is not proved to have as many dimensions as what is repeated"
        template.refuse([Obstacle(reason, "enough-dimensions")])
    if found.deep:
        reason = f"`{snippet(found.other)}` is not proved to have a dimension behind its rows"
        template.refuse([Obstacle(reason, "enough-dimensions")])
    given = [template.use(a) for a in found.node.args]
    given += [f"{k.arg}={template.use(k.value)}" for k in found.node.keywords]
    place = found.place if isinstance(found.place, int) else template.use(found.place)
    size = f"{template.use(found.other)}.shape[{place}]"
    # One row is broadcast to all, and on a GPU nothing checks the number.
    given.append(f"output_size={size}" if found.exact else f"output_size={size} if {size} != 1 else None")
    return f"{template.use(found.node.func)}({', '.join(given)})"


def is_difference(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is the lengths between bounds, `ends[1:] - ends[:-1]`: lists cannot be subtracted."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Sub) or not scope.value(node).is_unknown:
        return False
    sides = (node.left, node.right)
    return all(isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Slice) for side in sides)


def repeats_call(node: ast.Call, scope: Scope) -> RepeatsCall | None:
    """A call of `repeat_interleave` that is not told how many rows it gives."""
    name = scope.callee(node)
    keywords = {k.arg or "": k.value for k in node.keywords}
    given = list(node.args)
    if name not in _CALLS or any(isinstance(a, ast.Starred) for a in given):
        return None
    if name == "Tensor.repeat_interleave":
        if not isinstance(node.func, ast.Attribute):
            return None
        given.insert(0, node.func.value)
    arguments = dict(zip(("input", "repeats", "dim"), given, strict=False)) | keywords
    if len(given) > 3 or not {"input", "repeats"} <= set(arguments) <= {"input", "repeats", "dim"}:
        return None
    dim = arguments.get("dim")
    if dim is not None and scope.value(dim).kinds == frozenset({Kind.NONE}):
        dim = None
    if dim is not None and not scope.value(dim).is_(Kind.STATIC, Kind.SIZE):
        return None
    return RepeatsCall(node, arguments["input"], arguments["repeats"], dim)


def _told(call: RepeatsCall, scope: Scope) -> Iterator[Repeats]:
    for partner in _partners(call, scope):
        others = _operands(partner.other, scope) if partner.behind else [_without_conversions(partner.other, scope)]
        for other in others:
            value = scope.value(other)
            if not value.is_tensor or not _there_before(other, call.node, scope):
                continue
            if not _unchanged(other, call.node, partner.at, scope):
                continue
            if partner.behind:
                if value.rank is None or value.rank > partner.behind:
                    place = -1 - partner.behind  # dimensions are broadcast from the last one
                    yield Repeats(call.node, other, place, False, False, deep=value.rank is None)
                continue
            counted_place, counted = _place(call, partner, value, scope)
            if counted_place is not None and (not counted or _made_of(call.tensor, other, scope)):
                yield Repeats(call.node, other, counted_place, counted, partner.exact)


def _made_of(node: ast.expr, other: ast.expr, scope: Scope) -> bool:
    """Whether a tensor is computed from another one: what is summed up for groups of rows goes back to those rows."""
    if not isinstance(other, ast.Name):
        return False
    names: set[str] = set()
    pending = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    while pending:
        name = pending.pop()
        if name in names:
            continue
        names.add(name)
        for store in scope.names(name, stores=True):
            statement = scope.statement(store)
            if statement.lineno < node.lineno and isinstance(statement, ast.Assign | ast.AugAssign):
                pending += [n.id for n in ast.walk(statement.value) if isinstance(n, ast.Name)]
    return other.id in names


def _place(call: RepeatsCall, partner: _Partner, other: Value, scope: Scope) -> tuple[ast.expr | int | None, bool]:
    """The dimension of the other tensor that has the rows; whether the numbers of dimensions are taken to be equal."""
    if partner.place is not None:
        return partner.place, False
    rank = other.rank
    if call.dim is None:
        return (None if rank == 0 else -1), not other.dimensioned
    own = scope.value(call.tensor).rank
    const = scope.value(call.dim).const
    number = const.value if const is not None and isinstance(const.value, int) else None
    if partner.exact:
        return (number if number is not None else call.dim), False
    if number is not None and number < 0:
        return (None if rank is not None and rank < -number else number), rank is None
    if number is not None and own is not None and rank is not None:
        behind = number - own  # dimensions are broadcast from the last one
        return (None if rank < -behind else behind), False
    if not isinstance(call.dim, ast.Name | ast.Constant):
        return None, False
    return (number if number is not None else call.dim), rank is None or own is None or own != rank


def _partners(call: RepeatsCall, scope: Scope) -> Iterator[_Partner]:
    """The tensors that the result is combined with, element by element."""
    whole, behind = _widened(call, scope)
    yield from _all_beside(whole, behind, call, scope)
    statement = scope.statement(call.node)
    if not isinstance(statement, ast.Assign) or statement.value is not whole or len(statement.targets) != 1:
        return
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return
    block = scope.block(statement)
    for later in block[block.index(statement) + 1 :]:
        if isinstance(later, ast.For | ast.While | ast.With | ast.Try):
            return
        within = {later}
        if isinstance(later, ast.If):
            arms = [later.body, later.orelse]
            used = [any(_reads(s, target.id) for s in arm) for arm in arms]
            if not all(used) or any(isinstance(s, ast.If) for arm in arms for s in arm):
                return
            within = {*later.body, *later.orelse}
        for use in scope.names(target.id):
            if scope.statement(use) in within:
                yield from _all_beside(use, behind, call, scope)
        if isinstance(later, ast.If):
            return
        if any(isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Store) for n in ast.walk(later)):
            return


def _reads(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in ast.walk(statement))


def _widened(call: RepeatsCall, scope: Scope) -> tuple[ast.expr, int]:
    """The result of a call without a dimension, which has one, with the dimensions that it is given behind that."""
    node: ast.expr = call.node
    behind = 0
    while call.dim is None:
        method = scope.parents.get(node)
        outer = scope.parents.get(method) if isinstance(method, ast.Attribute) else None
        if not isinstance(outer, ast.Call) or not isinstance(method, ast.Attribute) or outer.func is not method:
            break
        if outer.keywords or len(outer.args) != 1 or method.attr != "unsqueeze":
            break
        if _number(outer.args[0], scope) not in (-1, behind + 1):
            break
        node, behind = outer, behind + 1
    return node, behind


def _all_beside(node: ast.expr, behind: int, call: RepeatsCall, scope: Scope) -> Iterator[_Partner]:
    """Beside what a result stands, and beside what else the product is that it is a factor of."""
    while True:
        for partner in _beside(node, call, scope):
            if not behind:
                yield partner
            elif not partner.exact and partner.place is None:
                yield replace(partner, behind=behind)
        parent = scope.parents.get(node)
        if not behind or not isinstance(parent, ast.BinOp) or isinstance(parent.op, ast.MatMult):
            return
        node = parent


def _beside(node: ast.expr, call: RepeatsCall, scope: Scope) -> Iterator[_Partner]:
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp) and not isinstance(parent.op, ast.MatMult):
        yield _Partner(parent.right if parent.left is node else parent.left, parent)
    elif isinstance(parent, ast.Compare) and len(parent.ops) == 1:
        yield _Partner(parent.comparators[0] if parent.left is node else parent.left, parent)
    elif isinstance(parent, ast.List | ast.Tuple):
        outer = scope.parents.get(parent)
        if isinstance(outer, ast.Call) and parent in outer.args[:1] and _joins_elsewhere(outer, call, scope):
            yield from (_Partner(item, outer, exact=True) for item in parent.elts if item is not node)
    elif isinstance(parent, ast.Attribute) and parent.attr in _SAME_SHAPE:
        outer = scope.parents.get(parent)
        if isinstance(outer, ast.Call) and outer.func is parent:
            yield from _beside(outer, call, scope)
    elif isinstance(parent, ast.Attribute):
        outer = scope.parents.get(parent)
        if isinstance(outer, ast.Call) and outer.func is parent and _short(outer, scope) in _ELEMENTWISE:
            yield from (_Partner(argument, outer) for argument in outer.args)
    elif isinstance(parent, ast.Call) and node in parent.args:
        if _short(parent, scope) in _ELEMENTWISE:
            method = parent.func if (scope.callee(parent) or "").startswith("Tensor.") else None
            others = [*([method.value] if isinstance(method, ast.Attribute) else []), *parent.args]
            yield from (_Partner(other, parent) for other in others if other is not node)
        elif scope.callee(parent) == "torch.einsum":
            yield from _contracted(node, parent, call, scope)


def _short(call: ast.Call, scope: Scope) -> str:
    name = scope.callee(call) or ""
    return name.rpartition(".")[2] if name.startswith(("torch.", "Tensor.")) else ""


def _joins_elsewhere(outer: ast.Call, call: RepeatsCall, scope: Scope) -> bool:
    """Whether tensors are put side by side in another dimension than the repeated one: then that one is the same."""
    if scope.callee(outer) not in ("torch.cat", "torch.concat", "torch.concatenate", "torch.hstack"):
        return False
    dim = outer.args[1] if len(outer.args) > 1 else next((k.value for k in outer.keywords if k.arg == "dim"), None)
    first = _number(call.dim, scope)
    second = _number(dim, scope) if dim is not None else 0
    rank = scope.value(call.tensor).rank
    if first is None or second is None or scope.callee(outer) == "torch.hstack":
        return False
    if rank is not None:
        return first % rank != second % rank
    return first != second and (first < 0) == (second < 0)


def _number(node: ast.expr | None, scope: Scope) -> int | None:
    const = scope.value(node).const if node is not None else None
    value = const.value if const is not None else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _contracted(node: ast.expr, outer: ast.Call, call: RepeatsCall, scope: Scope) -> Iterator[_Partner]:
    """The operands of `einsum` that share the letter of the repeated dimension."""
    const = scope.value(outer.args[0]).const
    dim = _number(call.dim, scope)
    if const is None or not isinstance(const.value, str) or dim is None or "." in const.value:
        return
    letters = const.value.replace(" ", "").partition("->")[0].split(",")
    operands = outer.args[1:]
    if len(letters) != len(operands):
        return
    own = letters[operands.index(node)]
    if not -len(own) <= dim < len(own):
        return
    for operand, subscripts in zip(operands, letters, strict=True):
        if operand is not node and own[dim] in subscripts:
            yield _Partner(operand, outer, place=subscripts.index(own[dim]))


def _without_conversions(node: ast.expr, scope: Scope) -> ast.expr:
    """The expression without what keeps its shape: `x` of `-x.float() * 2`."""
    while True:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SAME_SHAPE:
            if not scope.value(node.func.value).may_be(Kind.TENSOR):
                return node
            node = node.func.value
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Invert):
            node = node.operand
        elif isinstance(node, ast.BinOp) and scope.value(node.right).is_(Kind.STATIC, Kind.SIZE):
            node = node.left
        elif isinstance(node, ast.BinOp) and scope.value(node.left).is_(Kind.STATIC, Kind.SIZE):
            node = node.right
        else:
            return node


def _operands(node: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """What an expression is computed of, element by element: `x` and `y` of `torch.square(x - y.float())`."""
    node = _without_conversions(node, scope)
    yield node
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        yield from _operands(node.left, scope)
        yield from _operands(node.right, scope)
    elif (
        isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords and _short(node, scope) in _SAME_SHAPE
    ):
        yield from _operands(node.args[0], scope)


def _root(node: ast.expr) -> ast.Name | None:
    """The name that `x`, `self.x` and `data["x"]` begin with; None for what is computed."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
            return None
        node = node.value
    return node if isinstance(node, ast.Name) else None


def _there_before(other: ast.expr, node: ast.Call, scope: Scope) -> bool:
    """Whether the tensor has its value before the call runs."""
    root = _root(other)
    if root is None:
        return False
    statement = scope.statement(node)
    env = scope.facts.env_before.get(statement, {})
    if root is other:
        return root.id in env and env[root.id].is_tensor
    return root.id in env and not _stored_between(other, root, 0, statement.lineno, scope, whole=False)


def _stored_between(other: ast.expr, root: ast.Name, first: int, last: int, scope: Scope, *, whole: bool) -> bool:
    """Whether a name, attribute or item is given another value in these lines."""
    text = ast.unparse(other)
    for n in scope.nodes:
        if not isinstance(n, ast.Name | ast.Attribute | ast.Subscript) or isinstance(n.ctx, ast.Load):
            continue
        if not first < n.lineno <= last:
            continue
        if isinstance(n, ast.Name):
            if whole and n.id == root.id:
                return True
        elif ast.unparse(n) == text:
            return True
    return False


def _unchanged(other: ast.expr, node: ast.Call, at: ast.AST, scope: Scope) -> bool:
    """Whether the tensor is still the same one where it is combined with the result."""
    root = _root(other)
    statement, use = scope.statement(node), scope.statement(at)
    if root is None:
        return False
    if use is statement:
        return True
    first, last = statement.lineno - 1, use.lineno - 1
    if any(
        isinstance(n, ast.Name) and n.id == root.id and isinstance(n.ctx, ast.Store) and first < n.lineno <= last
        for n in scope.nodes
    ):
        return False
    if root is other:
        return True
    handed = [
        n
        for n in scope.of(ast.Call)
        if first < n.lineno <= last and any(isinstance(a, ast.Name) and a.id == root.id for a in n.args)
    ]
    return not handed and not _stored_between(other, root, first, last, scope, whole=True)


def _same_repeats(one: RepeatsCall, call: RepeatsCall, scope: Scope) -> bool:
    """Whether two calls repeat as often, in the same dimension: the repeats are the same and stay so between them."""
    root = _root(call.repeats)
    if root is None or ast.dump(one.repeats) != ast.dump(call.repeats):
        return False
    if (one.dim is None) != (call.dim is None) or (
        one.dim is not None and call.dim is not None and ast.dump(one.dim) != ast.dump(call.dim)
    ):
        return False
    early, late = sorted((scope.statement(one.node), scope.statement(call.node)), key=lambda s: s.lineno)
    return early in scope.block(late) and not _written(call.repeats, root, early.lineno - 1, late.lineno, scope)


def _written(repeats: ast.expr, root: ast.Name, first: int, last: int, scope: Scope) -> bool:
    nodes: Sequence[ast.AST] = [n for n in scope.nodes if first < getattr(n, "lineno", 0) <= last]
    text = ast.unparse(repeats)
    for n in nodes:
        stores = isinstance(n, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(n.ctx, ast.Load)
        if stores and ((isinstance(n, ast.Name) and n.id == root.id) or ast.unparse(n).startswith(text)):
            return True
        if isinstance(n, ast.Call) and scope.legality.effects.of(n, scope.facts).mutates is not None:
            return True
    return False
