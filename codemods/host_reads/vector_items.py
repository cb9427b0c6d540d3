"""Items of tensors of which the code says, without proof, that they are vectors: `order[i]` is one number there.

Said by `torch.argsort(x)` without a dimension, by a column that is taken (`kinds = plan[:, 0]`), and by a use of an
item as one number in the same function: in a condition, in `int()`, as a slice bound, also where a loop goes through
the items (`for i in order: ... int(i)`). And names that are a size on one way and one number of a tensor on another.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.rule import Scope
from compilefix.source.tree import names_in

_SORTS = frozenset({"torch.argsort", "Tensor.argsort", "torch.randperm"})
_READS = frozenset({"int", "float", "bool", "range"})


def seems_one_number(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is an item of what seems to be a vector, or made of a tensor whose truth is asked for."""
    if _asked_for_truth(node, scope):
        return True
    if isinstance(node, ast.Name) and (listed := _gone_through(node, scope)) is not None:
        return listed in _vectors(scope)
    item = _given(node, scope) if isinstance(node, ast.Name) else node
    if not isinstance(item, ast.Subscript) or not _is_position(item.slice, scope):
        return False
    base = item.value
    if not isinstance(base, ast.Name):
        return False
    if _is_sorted(base, scope) or _is_column(base, scope):
        return True
    return base.id in _vectors(scope) or _is_used_up(base, scope)


def is_place_at_times(node: ast.expr, scope: Scope) -> bool:
    """Whether a name, or one more or less than it, is a tensor without dimensions on all ways that make it a tensor.

    On the others it is a size: `n = len(x) if mask is None else mask.sum()`, and then `x[n - 1]`.
    """
    name = node.left if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant) else node
    if not isinstance(name, ast.Name) or not _is_size_or_tensor(scope.value(name)):
        return False
    statements = [scope.parents.get(store) for store in scope.names(name.id, stores=True)]
    if not all(isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name) for s in statements):
        return False
    given = [scope.value(part) for s in statements if isinstance(s, ast.Assign) for part in _ways(s.value)]
    tensors = [value for value in given if not value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)]
    return bool(tensors) and all(v.is_scalar_tensor and v.dtype in ("int", None) for v in tensors)


def _ways(node: ast.expr) -> Iterator[ast.expr]:
    """What a conditional expression may give, or the expression itself."""
    if isinstance(node, ast.IfExp):
        yield from (*_ways(node.body), *_ways(node.orelse))
    else:
        yield node


def _is_size_or_tensor(value: Value) -> bool:
    numbers = value.kinds - {Kind.TENSOR}
    return Kind.TENSOR in value.kinds and bool(numbers) and numbers <= {Kind.STATIC, Kind.SIZE, Kind.NUMBER}


def _given(name: ast.Name, scope: Scope) -> ast.expr | None:
    """The only thing that a name is given: `order[0]` of `first = order[0]`, or of `first, order = order[0], ...`."""
    stores = scope.names(name.id, stores=True)
    if len(stores) != 1:
        return None
    target, statement = stores[0], scope.parents.get(stores[0])
    if isinstance(statement, ast.Assign):
        return statement.value if statement.targets == stores else None
    around = scope.parents.get(statement) if isinstance(statement, ast.Tuple) else None
    if not isinstance(statement, ast.Tuple) or not isinstance(around, ast.Assign):
        return None
    values = around.value
    pairs = isinstance(values, ast.Tuple) and len(values.elts) == len(statement.elts)
    return values.elts[statement.elts.index(target)] if pairs else None  # type: ignore[attr-defined]


def _gone_through(name: ast.Name, scope: Scope) -> str | None:
    """The tensor whose items a name stands for in a loop around it: `for place in places`, in `enumerate` too."""
    for around in scope.ancestors(name):
        loops = [around] if isinstance(around, ast.For) else getattr(around, "generators", [])
        for loop in loops:
            target, listed = loop.target, loop.iter
            if isinstance(listed, ast.Call) and scope.callee(listed) == "enumerate" and len(listed.args) == 1:
                listed = listed.args[0]
                if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                    target = target.elts[1]
            if isinstance(target, ast.Name) and target.id == name.id:
                return listed.id if isinstance(listed, ast.Name) else None
    return None


def _is_used_up(name: ast.Name, scope: Scope) -> bool:
    """Whether a loop takes from a tensor what it holds until nothing is left: `while len(order): ...`, as NMS does.

    Each turn takes what stands first, and keeps a part of the rest under the same name.
    """
    for loop in (around for around in scope.ancestors(name) if isinstance(around, ast.While)):
        if name.id not in names_in(loop.test):
            continue
        kept = (n for n in ast.walk(loop) if isinstance(n, ast.Assign))
        if any(_keeps_part(statement, name.id) for statement in kept):
            return True
    return False


def _keeps_part(statement: ast.Assign, name: str) -> bool:
    """Whether a statement gives a name a part of what it holds: `order = order[1:][keep]`."""
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = list(zip(target.elts, value.elts, strict=False))
    for one, given in pairs:
        part = given
        while isinstance(part, ast.Subscript):
            part = part.value
        named = isinstance(one, ast.Name) and one.id == name
        if named and part is not given and isinstance(part, ast.Name) and part.id == name:
            return True
    return False


def _asked_for_truth(node: ast.expr, scope: Scope) -> bool:
    """Whether it is `t`, or `t - 1`, where the function decides on `t > 0`."""
    if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
        node = node.left
    if not isinstance(node, ast.Name):
        return False
    asked = (n for test in _tests(scope) for n in _truths(test))
    return any(isinstance(n, ast.Name) and n.id == node.id for n in asked)


def _tests(scope: Scope) -> Iterator[ast.expr]:
    """What decides a branch, or is told to have one element for it: `torch.where((t > 0).reshape(()), a, b)`."""
    for node in scope.nodes:
        if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
            yield node.test
        elif scope.callee(node) == "torch.where" and isinstance(node, ast.Call) and len(node.args) == 3:
            test = node.args[0]
            if isinstance(test, ast.Call) and isinstance(test.func, ast.Attribute) and test.func.attr == "reshape":
                yield from [test.func.value] if [ast.unparse(a) for a in test.args] == ["()"] else []


def numbers_in_turn(node: ast.expr, put: ast.expr | None, scope: Scope) -> bool:
    """Whether each turn of a loop writes its own number at one place: `order[index[i]] = i`."""
    if not isinstance(put, ast.Name) or not _is_counter(put, scope):
        return False
    return isinstance(node, ast.Subscript) and ast.unparse(node.slice) == put.id


def _is_position(index: ast.expr, scope: Scope) -> bool:
    value = scope.value(index)
    if isinstance(index, ast.Slice | ast.Tuple):
        return False
    return (value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int") or _is_counter(index, scope)


def _is_counter(index: ast.expr, scope: Scope) -> bool:
    """Whether a name counts the turns of a `range` around it, whatever that is given."""
    for around in scope.ancestors(index) if isinstance(index, ast.Name) else ():
        loops = [around] if isinstance(around, ast.For) else getattr(around, "generators", [])
        for loop in loops:
            if ast.unparse(loop.target) == ast.unparse(index):
                return scope.callee(loop.iter) == "range"
    return False


def _is_sorted(name: ast.Name, scope: Scope) -> bool:
    """Whether a name is given one value only: the order of a tensor, without a word on its dimensions."""
    call = scope.only_value(name.id)
    if not isinstance(call, ast.Call) or scope.callee(call) not in _SORTS:
        return False
    tensors = 0 if (scope.callee(call) or "").startswith("Tensor.") else 1
    return len(call.args) <= tensors and all(k.arg == "descending" for k in call.keywords)


def _is_column(name: ast.Name, scope: Scope) -> bool:
    """Whether a name is given one value only: a column of a tensor that is read as a table."""
    part = scope.only_value(name.id)
    if not isinstance(part, ast.Subscript) or not isinstance(part.slice, ast.Tuple) or len(part.slice.elts) != 2:
        return False
    rows, column = part.slice.elts
    whole = isinstance(rows, ast.Slice) and rows.lower is rows.upper is rows.step is None
    return whole and scope.value(part.value).is_tensor and _is_position(column, scope)


def _vectors(scope: Scope) -> frozenset[str]:
    """The names of tensors of which an item is used as one number."""
    return frozenset(name for used in _used_as_number(scope) for name in _items_of(used, scope))


def _used_as_number(scope: Scope) -> Iterator[ast.expr]:
    for node in scope.nodes:
        if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
            yield from _truths(node.test)
        elif isinstance(node, ast.Slice):
            yield from (part for part in (node.lower, node.upper) if part is not None)
        elif isinstance(node, ast.Call) and scope.callee(node) in _READS:
            yield from node.args
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item":
            yield node.func.value


def _truths(test: ast.expr) -> Iterator[ast.expr]:
    if isinstance(test, ast.BoolOp):
        for value in test.values:
            yield from _truths(value)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from _truths(test.operand)
    elif isinstance(test, ast.Compare):
        if not isinstance(test.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            yield from (test.left, *test.comparators)
    else:
        yield test


def _items_of(node: ast.expr, scope: Scope) -> Iterator[str]:
    """The names in `a[b[i]]` with a position `i`: each index takes one item; and what a loop takes `x` of."""
    found: list[str] = []
    listed = _gone_through(node, scope) if isinstance(node, ast.Name) else None
    if listed is not None:
        yield listed
    while isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        found.append(node.value.id)
        if _is_position(node.slice, scope):
            yield from found
        node = node.slice
