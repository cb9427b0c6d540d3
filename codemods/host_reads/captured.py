"""Whether a number read from a tensor can stay in the graph as a symbol, with `capture_scalar_outputs`.

Measured on torch 2.13 with inductor, forward and backward: sizes of new tensors, `expand`, `view` and `reshape`,
arithmetic and results work, and so do the ends of `linspace`, the number of `torch.tensor` that is told its device, and
the items of a list of integers (`t.tolist()`), also all of them as the sizes in `x.split(sizes)`. A number that picks
an item of a list makes the compilation fail, and so does one that bounds a slice of which torch is not told where it
lies; one that is asked for its truth breaks again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from compilefix.analysis.summaries import filled
from compilefix.analysis.values import Kind
from compilefix.codemods.callers import is_read_of
from compilefix.codemods.dynamic_shapes.captured_sizes import attended_later, use_not_captured
from compilefix.codemods.dynamic_shapes.captured_sizes import not_captured as cut_not_captured
from compilefix.codemods.host_reads.bound_checks import checked_before, conditions_of, narrowed, place_of
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.host_reads.number_lists import given_in_turn, is_position
from compilefix.codemods.host_reads.number_sinks import in_log
from compilefix.codemods.host_reads.record_fields import field_of
from compilefix.codemods.host_reads.sized_later import fails_later
from compilefix.codemods.number_reads import decides, read_of
from compilefix.codemods.reaching import only_reads
from compilefix.codemods.rule import Scope
from compilefix.codemods.unknown_rows import fails_where_cut, miscounted_view
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target
from compilefix.source.tree import names_in

CAPTURE = (
    "pass the number in from outside the compiled code, or set `torch._dynamo.config.capture_scalar_outputs = True` "
    "where it is compiled"
)
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv)
_FUNCTIONS = frozenset({"int", "float", "min", "max", "abs", "math.sqrt"})
_NEW_TENSORS = frozenset(
    {
        "zeros",
        "ones",
        "empty",
        "full",
        "arange",
        "rand",
        "randn",
        "eye",
        "new_zeros",
        "new_ones",
        "new_empty",
        "new_full",
    }
)
_SPLITS = frozenset({"split", "split_with_sizes"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_MAX_DEPTH = 3


def is_list(node: ast.AST, scope: Scope) -> bool:
    """Whether an expression reads all numbers of a tensor at once: `t.tolist()`."""
    return isinstance(node, ast.Call) and scope.callee(node) == "Tensor.tolist" and not node.args


@dataclass
class Way:
    """What is met on the way of a number, `read` at one place: names and functions that it was followed through.

    as_number: what is followed is a tensor, and becomes a number. cut: slices that it bounds. unchecked: those of them
    that torch compiles once it is told where they lie.
    """

    read: ast.expr | None = None
    as_number: bool = False
    names: set[tuple[Function, str]] = field(default_factory=set)
    cut: list[ast.expr] = field(default_factory=list)
    unchecked: list[ast.Subscript] = field(default_factory=list)


def not_captured(node: ast.expr, scope: Scope) -> str | None:
    """Why the number, the tensor in the place of one, or the list cannot stay in the graph; None where it can."""
    way = Way(node)
    reason = _judge(node, scope, way)
    if reason is None and way.unchecked:
        cut = snippet(way.unchecked[0])
        reason = f"in `{cut}` it bounds a slice, which inductor compiles only with `torch._check` on both ends"
    return reason


def unchecked_slices(node: ast.expr, scope: Scope) -> list[ast.Subscript]:
    """The slices of this function that alone keep a number from staying in the graph, until bounds are checked."""
    way = Way(node)
    found = list(dict.fromkeys(way.unchecked)) if _judge(node, scope, way) is None else []
    return found if all(item in scope.parents for item in found) else []


def rows_not_captured(rows: ast.expr, scope: Scope) -> str | None:
    """Why the numbers of what a loop goes through could not stay in the graph as a list; None where they can."""
    way = Way(rows, as_number=True)
    return _item_not_captured(rows, scope, 0, way) or miscounted_view(rows, scope, [scope])


def sizes_not_captured(sizes: ast.expr, scope: Scope) -> str | None:
    """Why the numbers of a list could not stay in the graph as the sizes of parts; None where they can."""
    if _splits(sizes, scope) is None:
        return _used(sizes, scope.parents.get(sizes))
    return _item_not_captured(sizes, scope, 0, Way(sizes, as_number=True)) or miscounted_view(sizes, scope, [scope])


def bounds_slices(node: ast.expr, scope: Scope) -> bool:
    """Whether a number that can stay in the graph bounds a slice."""
    way = Way(node)
    return _judge(node, scope, way) is None and bool(way.cut)


def _judge(node: ast.expr, scope: Scope, way: Way) -> str | None:
    if scope.value(node).dtype == "complex":
        return f"line {node.lineno}: `{snippet(node)}` is complex, and the graph has no symbols for these"
    if scope.value(read_of(node, scope) or node).dtype == "bool":
        return f"line {node.lineno}: `{snippet(node)}` is a truth value, and the graph breaks where that is a number"
    found = _list_not_captured(node, scope, way) if is_list(node, scope) else _not_captured(node, scope, 0, way)
    return found or miscounted_view(node, scope, [scope])


def _list_not_captured(node: ast.expr, scope: Scope, way: Way) -> str | None:
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    rank = scope.value(node.func.value).rank
    uses = _uses_of_list(node, scope)
    rows = all(isinstance(given_in_turn(use, scope), ast.Tuple | ast.List) for use in uses or [node])
    if rank not in (None, 1) and not (rank == 2 and rows):
        return f"line {node.lineno}: `{snippet(node.func.value)}` has not one dimension, and an item is a list"
    if uses is None:
        given = _unpacked(node, scope)
        reasons = (_not_captured(load, scope, 0, way) for load in given)
        return next((r for r in reasons if r is not None), None) if given else _used(node, scope.parents.get(node))
    return next((r for use in uses if (r := _item_not_captured(use, scope, 0, way)) is not None), None)


def holds_integers(node: ast.expr, scope: Scope) -> bool:
    """Whether a list is one of integers, by its tensor or by its use as sizes: one of floats breaks the graph."""
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Attribute)
    dtype = scope.value(node.func.value).dtype
    uses = _uses_of_list(node, scope) or ()
    sizes = any(_splits(use, scope) for use in uses)
    items = [read for use in uses for item in _names_in_turn(use, scope) for read in _reads_of_item(item, scope) or ()]
    items += [] if uses else _unpacked(node, scope)
    sizes = sizes or any(integer_place(read, scope) is not None for read in items)
    return dtype == "int" or (dtype is None and sizes)


def _unpacked(node: ast.expr, scope: Scope) -> list[ast.Name]:
    """The places that read the numbers of a list that is unpacked at once: `h, w = t.tolist()`."""
    parent = scope.parents.get(node)
    target = single_target(parent)
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    if not isinstance(parent, ast.Assign) or not all(isinstance(part, ast.Name) for part in parts):
        return []
    return [load for part in parts if isinstance(part, ast.Name) for load in _behind(part, parent, scope)]


def _names_in_turn(node: ast.expr, scope: Scope) -> list[ast.Name]:
    """The names that a loop over a list gives its items, or the numbers of each: `for t, h, w in grid.tolist()`."""
    item = given_in_turn(node, scope)
    parts = item.elts if isinstance(item, ast.Tuple | ast.List) else [item]
    names = [part for part in parts if isinstance(part, ast.Name)]
    return names if len(names) == len(parts) else []


def _not_captured(node: ast.expr, scope: Scope, depth: int, way: Way) -> str | None:
    """As `not_captured`. Names that were `seen` are followed once: `n = min(n, 4)` gives a name what it had."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign | ast.AnnAssign):
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        for target in targets:
            if isinstance(target, ast.Name):
                reason = _name(target.id, scope, depth, way, _behind(target, parent, scope))
                if reason is not None:
                    return reason
            elif not isinstance(target, ast.Attribute | ast.Subscript):
                return f"`{snippet(parent)}` unpacks it"
        return None
    if isinstance(parent, ast.AugAssign) and parent.value is node and isinstance(parent.op, _OPERATORS):
        return _added_to(parent, scope, depth, way)
    if isinstance(parent, ast.Compare) and all(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops):
        return None
    if isinstance(parent, ast.Compare) and _is_told(parent, scope):
        return None
    if decides(node, scope):
        return f"`{snippet(parent)}` decides on it"
    place = integer_place(node, scope)
    if place is not None:
        return "a dimension is no value of a graph" if place == "a dimension" else _size(node, scope, way)
    if in_log(node, scope):
        return "it is printed or logged"
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, _OPERATORS):
        if any(_is_text(operand, scope) for operand in (parent.left, parent.right)):
            return _used(node, parent)
        other = scope.value(parent.right if parent.left is node else parent.left)
        if other.may_be(Kind.TENSOR):
            # What asks the result for its truth breaks the graph again, whichever it is.
            return f"`{snippet(scope.parents[parent])}` decides on it" if decides(parent, scope) else None
        numbers = other.is_(Kind.NUMBER, Kind.SIZE, Kind.STATIC) and other.dtype in ("int", "float", "bool")
        numbers = numbers or other.is_(Kind.NUMBER)
        return _not_captured(parent, scope, depth, way) if numbers else _used(node, parent)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Pow):
        return _power_not_captured(parent, scope, depth, way)
    if isinstance(parent, ast.IfExp) and parent.test is not node:
        return _not_captured(parent, scope, depth, way)
    if isinstance(parent, ast.ListComp) and parent.elt is node:
        return _listed_not_captured(parent, scope, depth, way)
    if isinstance(parent, ast.Return):
        return _returned(scope, depth, way)
    if isinstance(parent, ast.Tuple | ast.List | ast.Dict) and not isinstance(scope.parents.get(parent), ast.Subscript):
        return None if isinstance(parent, ast.Dict) or _is_result(parent, scope) else _in_size(parent, scope, way)
    if isinstance(parent, ast.Call | ast.keyword):
        call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
        return _call(node, call, scope, depth, way) if isinstance(call, ast.Call) else _used(node, parent)
    return _used(node, parent)


def _added_to(statement: ast.AugAssign, scope: Scope, depth: int, way: Way) -> str | None:
    """As `not_captured`, of what a number is added to: `start += n`, for every use of the sum. A tensor takes it."""
    target = statement.target
    if scope.value(target).is_tensor:
        return None
    loads = scope.names(target.id) if isinstance(target, ast.Name) else []
    kinds = {kind for load in loads for kind in scope.value(load).kinds}
    # What a number from a list is added to may be of unknown kind for that.
    number = Kind.TENSOR not in kinds and bool(kinds & {Kind.NUMBER, Kind.SIZE, Kind.STATIC})
    return _name(target.id, scope, depth, way) if number and isinstance(target, ast.Name) else _used(target, statement)


def _power_not_captured(power: ast.BinOp, scope: Scope, depth: int, way: Way) -> str | None:
    """As `not_captured`, of a power, which is a symbol where Python's numbers give a float."""
    sides = [scope.value(side) for side in (power.left, power.right)]
    numbers = all(side.is_(Kind.NUMBER, Kind.SIZE, Kind.STATIC) for side in sides)
    floats = any(side.dtype == "float" for side in sides)
    return _not_captured(power, scope, depth, way) if numbers and floats else _used(power.left, power)


def _listed_not_captured(listed: ast.ListComp, scope: Scope, depth: int, way: Way) -> str | None:
    """As `not_captured`, of what a comprehension makes a list of: each use of the list is one of its numbers."""
    if _is_result(scope.parents.get(listed, listed), scope):
        return None
    uses = _uses_of_list(listed, scope)
    if uses is None:
        return _used(listed, scope.parents.get(listed))
    reasons = (_item_not_captured(use, scope, depth, way) for use in uses if not _for_each(use, scope))
    return next((reason for reason in reasons if reason is not None), None)


def _for_each(node: ast.expr, scope: Scope) -> bool:
    """Whether torch takes a list as the numbers for a list of tensors: `torch._foreach_div_(xs, numbers)`."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    return isinstance(call, ast.Call) and (scope.callee(call) or "").startswith("torch._foreach_")


def _uses_of_list(node: ast.expr, scope: Scope) -> list[ast.expr] | None:
    """The list, or all places that read the one name that it is given; None where that is not certain."""
    parent = scope.parents.get(node)
    if not isinstance(parent, ast.Assign | ast.AnnAssign) or parent.value is not node:
        return [node]
    targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
    if len(targets) != 1 or not isinstance(targets[0], ast.Name):
        return None
    name = targets[0].id
    loads = scope.function.loads(name)
    end = (parent.end_lineno or 0, parent.end_col_offset or 0)
    again = any(isinstance(around, ast.For | ast.While | ast.If) for around in scope.ancestors(parent))
    # An argument may give way to its own list: `counts = counts.tolist()`.
    given = scope.function.takes(name)
    if len(scope.names(name)) != len(loads) or (given and again):
        return None
    if len(scope.names(name, stores=True)) != 1:
        reads = None if given else only_reads(name, parent, scope)
        return None if reads is None else [*reads]
    return [load for load in loads if (load.lineno, load.col_offset) >= end]


def _splits(node: ast.expr, scope: Scope) -> ast.Call | None:
    """The call that splits a tensor into parts of these sizes."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or call.func is node:
        return None
    name = scope.callee(call) or ""
    bare = name.rpartition(".")[2]
    first = name.startswith("torch.") and bool(call.args) and call.args[0] is node
    return call if name in (f"torch.{bare}", f"Tensor.{bare}") and bare in _SPLITS and not first else None


def _item_not_captured(node: ast.expr, scope: Scope, depth: int, way: Way) -> str | None:
    """As `not_captured`, of one use of a list of integers."""
    parent = scope.parents.get(node)
    if (split := _splits(node, scope)) is not None:
        if (attended := attended_later(split, scope)) is not None:
            return attended
        return next((r for part in _parts(split, scope) if (r := use_not_captured(part, scope)) is not None), None)
    if isinstance(parent, ast.Subscript) and parent.value is node and is_position(parent, scope):
        return _not_captured(parent, scope, depth, way)
    if isinstance(parent, ast.Call) and parent.args == [node] and not parent.keywords:
        called = scope.callee(parent)
        if called == "len":
            return None
        if called == "sum":
            return _sum_not_captured(node, parent, scope, depth, way)
    names = _names_in_turn(node, scope)
    for name in names:
        loads = _reads_of_item(name, scope)
        if loads is None:
            return f"`{name.id}` is assigned in several places"
        reason = next((r for load in loads if (r := _not_captured(load, scope, depth, way)) is not None), None)
        if reason is not None:
            return reason
    if names:
        return None
    if isinstance(parent, ast.Return) or (isinstance(parent, ast.Tuple) and _is_result(parent, scope)):
        return None
    return _used(node, parent)


def _reads_of_item(item: ast.Name, scope: Scope) -> list[ast.Name] | None:
    """The places that read what a loop or comprehension gives one name; None where it may be something else there."""
    loop = next(a for a in scope.ancestors(item) if isinstance(a, ast.For | ast.comprehension))
    if isinstance(loop, ast.comprehension):
        around = set(ast.walk(scope.parents[loop]))
        return [load for load in scope.names(item.id) if load in around]
    own = {name for around in scope.among(*_COMPREHENSIONS) if _binds(around, item.id) for name in ast.walk(around)}
    stores = [store for store in scope.names(item.id, stores=True) if store not in own]
    return [load for load in scope.names(item.id) if load not in own] if len(stores) == 1 else None


def _binds(comprehension: ast.AST, name: str) -> bool:
    """Whether a comprehension has a name of its own."""
    targets = (g.target for g in getattr(comprehension, "generators", ()))
    return name in names_in(*targets)


def _parts(split: ast.Call, scope: Scope) -> Iterator[ast.expr]:
    """The places that read one of the parts that a tensor is split into, as far as they have names."""
    pending: list[ast.expr] = [split]
    while pending:
        whole = pending.pop()
        parent = scope.parents.get(whole)
        item = given_in_turn(whole, scope)
        if isinstance(item, ast.Name):
            yield from scope.names(item.id) if (reads := _reads_of_item(item, scope)) is None else reads
        elif isinstance(parent, ast.Subscript) and parent.value is whole:
            yield parent
        elif isinstance(parent, ast.Assign) and parent.value is whole:
            last = parent.end_lineno or parent.lineno
            for target in parent.targets:
                names = [n for n in ast.walk(target) if isinstance(n, ast.Name)]
                later = [load for n in names for load in scope.names(n.id) if load.lineno > last]
                if isinstance(target, ast.Name):
                    pending += later
                else:
                    yield from later


def _sum_not_captured(node: ast.expr, total: ast.Call, scope: Scope, depth: int, way: Way) -> str | None:
    """As `not_captured`, of the sum of the list. It may end the slice that is split into parts of these sizes."""
    bound = scope.parents.get(total)
    part = scope.parents.get(bound) if isinstance(bound, ast.Slice) else None
    ends = isinstance(bound, ast.Slice) and bound.upper is total and bound.lower is None and bound.step is None
    if ends and isinstance(part, ast.Subscript) and part.slice is bound:
        call = scope.parents.get(part)
        given = [*call.args, *(k.value for k in call.keywords)] if isinstance(call, ast.Call) else []
        same = [g for g in given if ast.dump(g) == ast.dump(node) and _splits(g, scope) is call]
        if same and isinstance(node, ast.Name):
            return None
    return _not_captured(total, scope, depth, way)


def _is_text(node: ast.expr, scope: Scope) -> bool:
    const = scope.value(node).const
    return const is not None and isinstance(const.value, str | bytes)


def _used(node: ast.expr, parent: ast.AST | None) -> str:
    return f"line {node.lineno}: it is used in `{snippet(parent)}`"


def _returned(scope: Scope, depth: int, way: Way) -> str | None:
    """As `not_captured`, of the calls in this file that a number is returned to, or what reads the property."""
    function = scope.compiled.function
    if (function, "return") in way.names or depth >= _MAX_DEPTH:
        return None if (function, "return") in way.names else f"`{function.qualname}` returns it"
    way.names.add((function, "return"))
    for caller in function.module.all_functions:
        inner = scope.in_function(caller)
        asking: list[ast.expr] = [c for c in inner.of(ast.Call) if inner.facts.calls.get(c) is function]
        if function.is_property:
            asking += [node for node in inner.of(ast.Attribute) if is_read_of(node, function)]
        for node in asking:
            reason = _not_captured(node, inner, depth + 1, way)
            if reason is not None:
                return reason
    return None


def _kept(name: str, scope: Scope, depth: int, way: Way) -> str | None:
    """As `not_captured`, of whatever reads an attribute of this name in this file."""
    function = scope.compiled.function
    if (function, f".{name}") in way.names or depth >= _MAX_DEPTH:
        return None if (function, f".{name}") in way.names else f"`{name}` keeps it"
    way.names.add((function, f".{name}"))
    for reader in function.module.all_functions:
        inner = scope.in_function(reader)
        for node in inner.of(ast.Attribute):
            if node.attr == name and isinstance(node.ctx, ast.Load):
                reason = _not_captured(node, inner, depth + 1, way)
                if reason is not None:
                    return reason
    return None


def _in_size(node: ast.expr, scope: Scope, way: Way) -> str | None:
    """As `not_captured`, of a tuple or list that a number is put in: a size of new tensors, or widths of a padding."""
    whole: ast.expr = node
    while isinstance(above := scope.parents.get(whole), ast.BinOp) and isinstance(above.op, ast.Add):
        whole = above
    parent = scope.parents.get(whole)
    places = [whole]
    given = parent.targets if isinstance(parent, ast.Assign) else [getattr(parent, "target", None)]
    if isinstance(parent, ast.Assign | ast.AnnAssign) and len(given) == 1 and isinstance(given[0], ast.Name):
        name = given[0].id
        places = list(scope.names(name)) if len(scope.names(name, stores=True)) == 1 else []
    for place in places:
        call = scope.parents.get(place)
        call = scope.parents.get(call) if isinstance(call, ast.keyword) else call
        if isinstance(call, ast.Call) and _pads_by(call, place, scope):
            if (reason := _part_not_captured(call, scope, way)) is not None:
                return reason
        elif not isinstance(call, ast.Call) or call.func is place or not _makes_new(call, scope):
            return _used(node, call or parent)
    return None if places else _used(node, parent)


def _pads_by(call: ast.Call, widths: ast.expr, scope: Scope) -> bool:
    given = call.args[1:2] + [k.value for k in call.keywords if k.arg == "pad"]
    return scope.callee(call) == "torch.nn.functional.pad" and given == [widths]


def _makes_new(call: ast.Call, scope: Scope) -> bool:
    name = scope.callee(call) or ""
    bare = name.rpartition(".")[2]
    return name in (f"torch.{bare}", f"Tensor.{bare}") and bare in _NEW_TENSORS


def _counts_between_tensors(call: ast.Call, scope: Scope) -> bool:
    """Whether a range has two bounds that are tensors, or a tensor as its step: Dynamo of torch 2.13 fails there."""
    if scope.callee(call) != "torch.arange":
        return False
    named = {k.arg: k.value for k in call.keywords}
    bounds = [*call.args, *(named[name] for name in ("start", "end", "step") if name in named)]
    read = [bound for bound in bounds if not scope.value(bound).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)]
    step = named.get("step", call.args[2] if len(call.args) > 2 else None)
    return len(read) > 1 or step in read


def _is_result(node: ast.AST, scope: Scope) -> bool:
    while isinstance(node, ast.Tuple | ast.Dict | ast.List):
        node = scope.parents[node]
    return isinstance(node, ast.Return)


def _behind(stored: ast.Name, statement: ast.stmt, scope: Scope) -> list[ast.Name]:
    """The places that may read what a statement gives a name: in a loop, or a nested function, all that read it.

    What stands in another branch of an `if` does not run behind the statement.
    """
    loads = scope.names(stored.id)
    around = [*scope.ancestors(statement)]
    if any(isinstance(outer, ast.For | ast.AsyncFor | ast.While) for outer in around):
        return loads
    end = (statement.end_lineno or 0, statement.end_col_offset or 0)
    taken = [outer for outer in around if isinstance(outer, ast.If) and _stands_in(statement, outer.body)]
    other = {node for outer in taken for branch in outer.orelse for node in ast.walk(branch)}
    return [load for load in loads if (load.lineno, load.col_offset) >= end and load not in other]


def _stands_in(statement: ast.stmt, block: list[ast.stmt]) -> bool:
    return any(node is statement for outer in block for node in ast.walk(outer))


def _name(name: str, scope: Scope, depth: int, way: Way, loads: list[ast.Name] | None = None) -> str | None:
    function = scope.compiled.function
    followed = (function, name if loads is None else f"{name}, behind a store")
    if followed in way.names or (function, name) in way.names:
        return None
    way.names.add(followed)
    for load in scope.names(name) if loads is None else loads:
        reason = _not_captured(load, scope, depth, way)
        if reason is not None:
            return reason
    return None


def _size(node: ast.expr, scope: Scope, way: Way) -> str | None:
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.Slice):
            return _bounds(node, parent, scope, way)
        if isinstance(parent, ast.Call):
            if scope.callee(parent) in ("Tensor.narrow", "torch.narrow"):
                return _part_not_captured(parent, scope, way)
            if scope.callee(parent) == "torch.nn.functional.pad":
                return _part_not_captured(parent, scope, way)  # it fails where what is cut off does
            if _counts_between_tensors(parent, scope):
                return f"`{snippet(parent)}` reads several tensors, and does not compile with the flag"
            known = _makes_new(parent, scope) or scope.callee(parent) == "Tensor.expand"
            known = known or _takes_symbol(parent, node, scope, way)
            if not known:
                return f"`{snippet(parent)}` is not known to take a size that is no Python integer"
            return fails_later(parent, scope)
    return _used(node, scope.parents.get(node))


def _bounds(node: ast.expr, part: ast.Slice, scope: Scope, way: Way) -> str | None:
    """As `not_captured`, of a bound of a slice: torch must be told that this lies within the tensor."""
    item = next(a for a in scope.ancestors(part) if isinstance(a, ast.Subscript))
    conditions = conditions_of(item, scope, way.read)
    if conditions is None or (place_of(item, scope) is None and narrowed(item, scope) is None):
        return f"`{snippet(node)}` bounds a slice, which inductor compiles only with `torch._check` on both ends"
    if (reason := _part_not_captured(item, scope, way)) is not None:
        return reason
    if not checked_before(item, scope).issuperset(conditions):
        way.unchecked.append(item)
    return None


def _part_not_captured(part: ast.expr, scope: Scope, way: Way) -> str | None:
    """As `not_captured`, of what is cut off at a number: why it cannot stay in the graph."""
    way.cut.append(part)
    return cut_not_captured(part, scope) or fails_where_cut(part, scope, [scope])


def _is_told(compared: ast.Compare, scope: Scope) -> bool:
    """Whether a comparison is what `torch._check` asks."""
    call = scope.parents.get(compared)
    return isinstance(call, ast.Call) and scope.callee(call) == "torch._check" and call.args[:1] == [compared]


def _takes_symbol(call: ast.Call, node: ast.expr, scope: Scope, way: Way) -> bool:
    """Whether it takes a number read from a tensor: `view` and `reshape` do, `repeat` where no gradient goes back."""
    name, _, method = (scope.callee(call) or "").partition(".")
    plain = isinstance(call.func, ast.Attribute) and not scope.value(call.func.value).leaves
    # What is made of tensors that become numbers is only known once they are.
    repeats = method == "repeat" and (way.as_number or (plain and not scope.value(node).is_tensor))
    return name == "Tensor" and (method in ("view", "reshape") or repeats)


def _call(node: ast.expr, call: ast.Call, scope: Scope, depth: int, way: Way) -> str | None:
    called = scope.callee(call) or ""
    if called in _FUNCTIONS:
        return _not_captured(call, scope, depth, way)
    if called == "torch.linspace":
        return None
    if called == "torch.tensor" and call.args[:1] == [node]:
        # Without a device it is one of the CPU, which beside a tensor of a GPU does not compile (torch 2.11, H100).
        return None if any(k.arg == "device" for k in call.keywords) else _used(node, call)
    if called == "dict" and any(k.value is node for k in call.keywords):
        return None
    if (field_name := field_of(node, call, scope)) is not None:
        return _kept(field_name, scope, depth, way)
    if called == "isinstance" and call.args[:1] == [node] and scope.value(node).dtype == "int":
        return None if [ast.unparse(kind) for kind in call.args[1:]] == ["int"] else _used(node, call)
    callee = scope.facts.calls.get(call)
    if callee is None or depth >= _MAX_DEPTH or any(isinstance(a, ast.Starred) for a in call.args):
        return _used(node, call)
    parameters = filled(call, callee)
    keyword = next((k.arg for k in call.keywords if k.value is node), None)
    position = call.args.index(node) if node in call.args else len(parameters)
    name = keyword or (parameters[position].arg if position < len(parameters) else None)
    if name is None:
        return _used(node, call)
    inner = scope.in_function(callee)
    return _name(name, inner, depth + 1, way)
