"""Following a number from where it is read to every place that it gets to, and what has to change there."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from compilefix.analysis.decorated import unknown_decorator
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.legality import Obstacle
from compilefix.analysis.regions import CompiledFunction
from compilefix.analysis.summaries import is_super
from compilefix.analysis.summaries import passed as arguments_of
from compilefix.analysis.values import Kind, Value, may_share
from compilefix.codemods.callers import callers, callers_elsewhere
from compilefix.codemods.conditions import is_tensor_test
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.default_numbers import is_number_by_default
from compilefix.codemods.host_reads.copies import becomes_copy
from compilefix.codemods.host_reads.never_nan import never_nan
from compilefix.codemods.host_reads.number_flow import SYMBOLS, Flow, Renderer, has_other_dtype, met, same_dtype
from compilefix.codemods.host_reads.number_sinks import (
    Fill,
    Picked,
    Rolled,
    Scaled,
    compared_with,
    fill_of,
    in_log,
    index_of,
    is_ellipsis,
    kept_in,
    rolled_by,
    scaled_by,
    shown_by,
    tensor_beside,
    tensor_of_items,
)
from compilefix.codemods.host_reads.number_ways import other_numbers
from compilefix.codemods.host_reads.picked_functions import picked_functions
from compilefix.codemods.host_reads.reduced_slices import ReducedSlice, reduced_slice
from compilefix.codemods.host_reads.windows import Window, window_of
from compilefix.codemods.kept_branches import kept_in as kept_in_branch
from compilefix.codemods.number_comparison import COMPARISONS, fits_all
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.reaching import only_reads
from compilefix.codemods.returned_truths import as_tensor
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import decides, exact, read_of, torch_name
from compilefix.source.index import Function
from compilefix.source.snippets import snippet

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_CLAMPS = frozenset({"clamp", "clip", "clamp_", "clamp_min", "clamp_max"})
_MATH = {name: name for name in ("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan")}
_MATH |= {"sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "asin", "acos": "acos", "atan": "atan"}
_MATH |= {"erf": "erf", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fabs": "abs"}
_MATH |= {"radians": "deg2rad", "degrees": "rad2deg"}  # bitwise the same in double precision
_MATH |= {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}  # as NumPy calls them
_MAX_CALLS = 24


def follow(node: ast.expr, scope: Scope, flow: Flow) -> None:
    """Follow a number from where it is read or computed to every place where it meets a tensor."""
    parent = scope.parents.get(node)
    if (together := _stored_together(node, scope)) is not None:
        flow.listed = flow.apart = True
        follow_name(together[0].id, scope, flow, stored=together[1])
        return
    if isinstance(parent, ast.Assign | ast.AnnAssign) and parent.value is node:
        target = _stored_name(parent)
        if target is not None:
            follow_name(target.id, scope, flow, stored=parent)
            if isinstance(parent, ast.AnnAssign):
                flow.rewrites.append((parent.annotation, lambda _: f"{torch_name(scope)}.Tensor"))
            return
    if (window := window_of(node, scope)) is not None:
        _move_window(node, window, scope, flow)
    elif decides(node, scope):
        computed = flow.operations > 0 and not flow.following  # `if t.sum().item() / n > 0.5`, in this one test
        flow.meets = flow.meets or computed
        _decide(node, parent, scope, flow)
    elif isinstance(parent, ast.Compare):
        _compare(node, parent, scope, flow)
    elif isinstance(parent, ast.BinOp):
        _binary(node, parent, scope, flow)
    elif isinstance(parent, ast.IfExp) and _beside_number(node, parent, scope):
        _chosen(parent, scope, flow)
    elif isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):
        if flow.boolean or flow.read.dtype in (None, "int", "bool"):
            flow.compute(whole=True, negates=True)  # `-t` wraps round for unsigned integers
        follow(parent, scope, flow)
    elif isinstance(parent, ast.AugAssign) and parent.value is node and (uses := _added_up(parent, scope)) is not None:
        _sum_of(parent, uses, scope, flow)
    elif isinstance(parent, ast.AugAssign) and parent.value is node and isinstance(parent.op, _ARITHMETIC):
        _subtracted(node, parent.op, scope, flow)
        _changed_in_place(parent.target, scope, flow)
        met(parent.target, scope, flow)
    elif (filled := fill_of(node, scope)) is not None:
        _fill(filled, scope, flow)
    elif (picked := index_of(node, scope)) is not None:
        _pick(node, picked, scope, flow)
    elif (rolled := rolled_by(node, scope)) is not None:
        _roll(node, rolled, scope, flow)
    elif (scaled := scaled_by(node, scope)) is not None:
        met(scaled.tensor, scope, flow)
        if scaled.part is scaled.call and any(
            scope.value(a).dtype in ("int", "bool") for a in _tensors_of(scaled, scope)
        ):
            flow.refuse(f"`{snippet(scaled.call)}` scales integers: the result's dtype would follow the number")
        unproved = [a for a in scaled.call.args if a is not node and scope.value(a).dtype not in ("float", "complex")]
        if scaled.part is scaled.call and unproved:
            # Integers are scaled in the dtype of the sum: `x.add(pixels, alpha=t)` would overflow before it.
            shown = snippet(unproved[0])
            flow.refuse(f"`{shown}`, which the number scales, is not proved to be floating", "same-shape-dtype")
        if flow.boolean or flow.read.dtype in ("bool", "complex"):
            kind = "complex number" if flow.read.dtype == "complex" else "bool"
            flow.refuse(f"`{snippet(scaled.call)}` may refuse a {kind}")
        elif flow.read.dtype is None:
            reason = f"`{snippet(scaled.call)}` raises for a number that is a bool or complex"
            flow.refuse(reason, "same-shape-dtype")
        reason = f"`{snippet(scaled.call)}` rounds the number, or what it scales, to the tensor's precision"
        flow.refuse(reason, "float32-rounding")
        flow.rewrites.append((scaled.part, scaled.build))
        if scaled.part is scaled.call:
            flow.plain.add(scaled.part)  # `x.add_(y * n)`
    elif (made := tensor_of_items(node, scope)) is not None:
        flow.beside = True
        flow.refuse(
            f"`{snippet(made)}` raises for a number that the dtype does not hold, and for a tensor it does not",
            "math-errors",
        )
        _put_into(node, made, scope, flow)
        if scope.callee(made) == "torch.as_tensor":
            # Dynamo fails on one of a list that holds a tensor, and takes `torch.tensor` of it.
            flow.rewrites.append((made.func, lambda _: f"{torch_name(scope)}.tensor"))
    elif (compared := compared_with(node, scope)) is not None:
        _compare_with(compared, scope, flow)
    elif (beside := tensor_beside(node, scope)) is not None:
        _subtracted(node, ast.Sub(), scope, flow)
        if isinstance(parent, ast.Call) and (scope.callee(parent) or "").endswith("_"):
            _changed_in_place(beside, scope, flow)
        met(beside, scope, flow)
    elif isinstance(parent, ast.Call) and node in parent.args and _function(node, parent, scope, flow):
        pass
    elif (clamp := _clamp(node, scope)) is not None:
        _bound(*clamp, scope, flow)
    elif isinstance(parent, ast.Call | ast.keyword) and _passed(node, scope, flow):
        pass
    elif isinstance(node, ast.Name) and _in_exception(node, scope, flow):
        flow.raised = True
        flow.rewrites.append((node, partial(_read_again, node, scope.value(node).dtype, flow)))
    elif in_log(node, scope):
        flow.refuse("the number is only printed or logged: see the finding for that line")
    elif (reduced := reduced_slice(node, scope)) is not None:
        _reduce(node, reduced, scope, flow)
    elif isinstance(parent, ast.Return) and _handed_back(node, scope, flow):
        pass
    elif (place := kept_in(node, scope)) is not None:
        flow.handed_out = True
        flow.refuse(*place)
    else:
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")


def _added_up(statement: ast.AugAssign, scope: Scope) -> list[ast.Name] | None:
    """The uses of a name that begins as a fixed number, to which only numbers are added, all before it is read.

    A tensor is changed in place by what is added later, and who has read it would see that.
    """
    target = statement.target
    if not isinstance(target, ast.Name):
        return None
    stores, loads = scope.names(target.id, stores=True), scope.names(target.id)
    begun: list[ast.expr] = []
    adding: list[ast.stmt] = []
    for store in stores:
        stored = scope.parents.get(store)
        if isinstance(stored, ast.AugAssign) and isinstance(stored.op, ast.Add):
            adding += [stored, *(a for a in scope.ancestors(stored) if isinstance(a, ast.For | ast.While))]
            added = scope.value(stored.value)
            if not added.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) or added.dtype in ("bool", "complex"):
                return None
        elif isinstance(stored, ast.Assign) and stored.targets == [store]:
            begun.append(stored.value)
        else:
            return None
    first = scope.value(begun[0]).const if len(begun) == 1 else None
    everywhere = [n for n in ast.walk(scope.function.node) if isinstance(n, ast.Name) and n.id == target.id]
    given = any(parameter.arg == target.id for parameter in scope.function.parameters)
    if first is None or type(first.value) not in (int, float) or given or len(everywhere) != len(loads) + len(stores):
        return None
    end = max(scope.span(each).end_line for each in adding)
    if not loads or any(load.lineno <= end or decides(load, scope) for load in loads):
        return None
    return list(loads)


def _sum_of(statement: ast.AugAssign, loads: Sequence[ast.Name], scope: Scope, flow: Flow) -> None:
    """A number is added to others, as a double; where nothing is added their sum stays what it began with."""
    before = len(flow.rewrites)
    flow.compute()
    flow.refuse(f"`{snippet(statement.target)}` becomes a tensor where it was a number", "number-to-tensor")
    for load in loads:
        follow(load, scope, flow)
    if any(node not in flow.plain for node, _ in flow.rewrites[before:]):
        flow.refuse(f"`{snippet(statement.target)}` may stay a Python number, and its use would have to change")


def _changed_in_place(tensor: ast.expr, scope: Scope, flow: Flow) -> None:
    """Integers take a Python integer in place, and no tensor of floats, as which an integer is computed with."""
    if flow.operations and flow.read.dtype is None and scope.value(tensor).dtype is None:
        flow.refuse(f"`{snippet(tensor)}` may hold integers, which no double can be put into")


def _tensors_of(scaled: Scaled, scope: Scope) -> list[ast.expr]:
    return [argument for argument in scaled.call.args if scope.value(argument).is_tensor]


def _put_into(node: ast.expr, made: ast.Call, scope: Scope, flow: Flow) -> None:
    """Note what `torch.tensor([n], dtype=...)` asks of the number: a floating tensor goes into no dtype of integers."""
    goal, number = scope.value(made).dtype, scope.value(node).dtype
    told = next((k.value for k in made.keywords if k.arg == "dtype"), made.func)
    if goal is None and isinstance(told, ast.Attribute):
        goal = scope.value(told.value).dtype  # of x: dtype=x.dtype, and x.new_tensor([n])
    if goal in ("float", "complex"):
        return
    if goal == "int" or number in ("int", "bool"):

        def whole(render: Renderer) -> str:
            plain = flow.read.dtype in ("int", "bool") and not flow.operations
            return render(node) if plain else f"{render(node)}.long()"

        flow.rewrites.append((node, whole))
    elif goal == "bool":
        flow.refuse(f"`{snippet(made)}` takes no floating tensor for a bool")
    else:
        flow.refuse(f"`{snippet(made)}` takes no floating tensor where its dtype is not floating", "number-to-tensor")


def _stored_name(statement: ast.Assign | ast.AnnAssign) -> ast.Name | None:
    """The one name that a statement gives a value."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return targets[0] if len(targets) == 1 and isinstance(targets[0], ast.Name) else None


def _beside_number(node: ast.expr, parent: ast.IfExp, scope: Scope) -> bool:
    """Whether a conditional expression chooses between this number and one that is fixed: `n if n > 0 else 1`.

    Where the choice itself is fixed, the other side stays what it is: `t.item() if isinstance(t, Tensor) else t`.
    """
    other = scope.value(parent.orelse if node is parent.body else parent.body)
    if not is_tensor_test(parent.test, scope) and not _asks(parent.test, scope):
        return True
    return other.is_(Kind.STATIC, Kind.SIZE) and other.dtype in ("int", "float")


def _asks(test: ast.expr, scope: Scope) -> bool:
    """Whether a test asks for a number that is read from a tensor, as the one that is chosen may be."""
    return any(isinstance(n, ast.expr) and scope.value(n).is_(Kind.NUMBER) for n in ast.walk(test))


def _chosen(chosen: ast.IfExp, scope: Scope, flow: Flow) -> None:
    """What is chosen stays a conditional expression, until CF102 selects it: it may be the fixed number."""
    before = len(flow.rewrites)
    flow.unseen = flow.unseen or scope.value(chosen).is_unknown
    follow(chosen, scope, flow)
    if any(node not in flow.plain for node, _ in flow.rewrites[before:]):
        flow.refuse(f"`{snippet(chosen)}` is a Python number on one side, and its use would have to change")


def _stored_together(node: ast.expr, scope: Scope) -> tuple[ast.Name, ast.Assign] | None:
    """The name that a number gets beside others: `low, high = x.min().item(), x.max().item()`."""
    values = scope.parents.get(node)
    statement = scope.parents.get(values) if isinstance(values, ast.Tuple) else None
    if not isinstance(statement, ast.Assign) or statement.value is not values or len(statement.targets) != 1:
        return None
    names = statement.targets[0]
    if not isinstance(names, ast.Tuple | ast.List) or not isinstance(values, ast.Tuple):
        return None
    if len(names.elts) != len(values.elts) or any(isinstance(e, ast.Starred) for e in (*names.elts, *values.elts)):
        return None
    name = names.elts[values.elts.index(node)]
    return (name, statement) if isinstance(name, ast.Name) else None


def follow_name(
    name: str, scope: Scope, flow: Flow, *, parameter: bool = False, stored: ast.Assign | ast.AnnAssign | None = None
) -> None:
    """Follow a number from its name to every place where that is used."""
    loads = scope.names(name)
    everywhere = [
        n for n in scope.function.nodes if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
    ]
    if (not loads and not parameter) or len(everywhere) != len(loads):
        flow.refuse(f"`{name}` is not used, or is used in a nested function")
        return
    given = not parameter and any(p.arg == name for p in scope.function.parameters)
    either = False
    if given or len(scope.names(name, stores=True)) != (0 if parameter else 1):
        block = _block_that_stores(name, stored, scope) if stored is not None else None
        end = ((stored.end_lineno or 0, stored.end_col_offset or 0)) if stored is not None else (0, 0)
        reached = [] if stored is None or block is None else _reached(name, stored, block, loads, scope)
        around = {node for statement in block or () for node in ast.walk(statement)}
        alone = block is not None and (not given or block is scope.function.node.body or around.issuperset(reached))
        owned = only_reads(name, stored, scope) if stored is not None and not alone else None
        if alone:
            loads = reached
        elif owned is not None:
            loads = owned
        elif stored is not None and other_numbers(name, stored, scope):
            loads, either = [load for load in loads if (load.lineno, load.col_offset) >= end], True
            stores = scope.names(name, stores=True)
            flow.unseen = flow.unseen or any(scope.value(store).is_unknown for store in stores)
        else:
            reason = "is an argument on another way" if given and block is not None else "is assigned in several places"
            flow.refuse(f"`{name}` {reason}")
            return
        if not loads:
            flow.refuse(f"`{name}` is not used")
            return
    followed = (scope.function, name, stored)
    if followed in flow.following:
        flow.refuse(f"`{name}` is computed from itself")
        return
    flow.following.add(followed)
    before = len(flow.rewrites)
    met_before = flow.meets
    shown = {} if parameter or flow.calls else shown_by(loads, scope)
    if any(load not in shown for load in loads):
        loads = [load for load in loads if load not in shown]
        flow.shown = flow.shown or bool(shown)
        for load, places in shown.items():
            kind = scope.value(load).dtype
            flow.rewrites += [(place, partial(_read_again, place, kind, flow)) for place in places]
    # Where tests compare what is computed of it each would break the graph, where the number was read once.
    chains = {_chain_around(load, scope) for load in loads}
    alone = flow.operations > 0 and len(chains) == 1 and not any(_breaks(chain, scope) for chain in chains)
    used = any(not (decides(load, scope) or _in_exception(load, scope, flow)) for load in loads)
    flow.meets = bool(shown) or alone or used
    for load in loads:
        follow(load, scope, flow)
    flow.meets = met_before
    flow.following.discard(followed)
    if either and any(node not in flow.plain for node, _ in flow.rewrites[before:]):
        flow.refuse(f"`{name}` is a Python number on another way, and its use would have to change")


def _chain_around(load: ast.expr, scope: Scope) -> ast.AST:
    """The `if` with its `elif`s, or the conditional expression, that a name is compared in."""
    found: ast.AST = next((a for a in scope.ancestors(load) if isinstance(a, ast.stmt | ast.IfExp)), load)
    while isinstance(around := scope.parents.get(found), ast.If) and around.orelse == [found]:
        found = around
    return found


def _breaks(chain: ast.AST, scope: Scope) -> bool:
    """Whether what stands behind a test reads tensors or draws numbers: the `if` would stay, and break the graph."""
    bodies = (*chain.body, *chain.orelse) if isinstance(chain, ast.If) else ()
    inside = {part for statement in bodies for part in ast.walk(statement)}
    names = ((scope.callee(n) or "").rpartition(".")[2] for n in inside if isinstance(n, ast.Call))
    reads = any(read_of(n, scope) is not None for n in inside) or any(name in _LISTS for name in names)
    return reads or any(scope.legality.effects.of(s, scope.facts).random is not None for s in bodies)


_LISTS = frozenset({"nonzero", "argwhere", "unique", "tolist", "numpy", "bincount"})
"""What gives as many elements as values say, or reads them all."""


def _read_again(place: ast.Name, kind: str | None, flow: Flow, _: Renderer) -> str:
    """The number in a line that is printed or logged, read from what stands for it: the line's fix moves the read."""
    same = kind == flow.read.dtype and not flow.operations
    return f"{place.id}.item()" if same or kind not in ("int", "float", "bool") else f"{kind}({place.id})"


def _in_exception(node: ast.Name, scope: Scope, flow: Flow) -> bool:
    """Whether a name stands in the text of an exception, as a Python number: CF103 moves it to where that is raised."""
    raised = isinstance(scope.statement(node), ast.Raise) and scope.file.segment(node) == node.id
    # The items of a list are numbers by `enough-dimensions`.
    return raised and (flow.listed or scope.value(node).is_(Kind.NUMBER))


def _decide(node: ast.expr, parent: ast.AST | None, scope: Scope, flow: Flow) -> None:
    """The number decides an `if`, which its tensor then does: CF101 and CF102 look at it once it is one.

    Python compares in double precision, and so must the tensor, unless every dtype holds what it is compared with.
    """
    statement = next((a for a in scope.ancestors(node) if isinstance(a, ast.stmt | ast.IfExp)), None)
    if (kept := kept_in_branch(_chain_around(node, scope), scope)) is not None:
        # The graph would break there, where it broke at the read: nothing is won, and more where several tests ask.
        line = getattr(node, "lineno", 0)
        flow.refuse(f"line {line}: the number decides `{snippet(parent)}`, which stays a branch: `{snippet(kept)}`")
        return
    checks = isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Raise)
    if flow.calls:
        # What the branch becomes must do for a number too, which other callers pass: no rule takes it out.
        name = scope.function.qualname
        flow.refuse(
            f"the number decides `{snippet(parent)}` in `{name}`, which stays a branch: others may pass numbers"
        )
        return
    if flow.listed and checks:
        # Without CF103 each comparison would break the graph, where one list was read.
        flow.obstacles.append(Obstacle("the check that it decides then goes to the boundary (CF103)", "exception-late"))
    elif (
        flow.unseen
        or (flow.listed and not flow.apart)
        or not isinstance(statement, ast.If | ast.IfExp)
        or not flow.meets
    ):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number decides `{snippet(parent)}`")
        return
    if isinstance(parent, ast.Compare):
        other = parent.comparators[0] if parent.left is node else parent.left
        if not _compared(parent, other, scope, flow):
            flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number decides `{snippet(parent)}`")


def _compared(parent: ast.Compare, other: ast.expr, scope: Scope, flow: Flow) -> bool:
    """Whether a comparison with a fixed number may be one of tensors, and note the precision that it needs."""
    value = scope.value(other)
    plain = value.is_(Kind.STATIC, Kind.SIZE) and value.dtype in ("int", "float")
    if len(parent.ops) > 1 or not isinstance(parent.ops[0], tuple(COMPARISONS)) or not plain or flow.boolean:
        return False
    flow.decides = flow.decides or flow.operations > 0
    if value.const is None or not fits_all(value.const.value):
        flow.compute(whole=value.dtype == "int")
    return True


def _block_that_stores(name: str, stored: ast.Assign | ast.AnnAssign, scope: Scope) -> list[ast.stmt] | None:
    """The block that runs once and holds all assignments of a name, this statement among them."""
    parent = scope.parents.get(stored)
    blocks = [getattr(parent, part, ()) for part in ("body", "orelse", "finalbody")]
    block = next((block for block in blocks if isinstance(block, list) and stored in block), None)
    statements = [scope.statement(store) for store in scope.names(name, stores=True)]
    if block is None or not all(isinstance(s, ast.Assign | ast.AnnAssign) and s in block for s in statements):
        return None
    again = (ast.For, ast.AsyncFor, ast.While, ast.Try)
    if any(isinstance(around, again) for around in scope.ancestors(stored)):
        return None
    return block


def _reached(
    name: str, stored: ast.Assign | ast.AnnAssign, block: list[ast.stmt], loads: list[ast.Name], scope: Scope
) -> list[ast.Name]:
    """The uses of a name that see what a statement of the block stores in it: those up to the next one that stores."""
    stores = (scope.statement(n) for n in scope.names(name, stores=True))
    after = sorted(block.index(s) for s in stores if block.index(s) > block.index(stored))
    end = (stored.end_lineno or 0, stored.end_col_offset or 0)
    last = block[after[0]] if after else None
    until = (last.end_lineno or 0, last.end_col_offset or 0) if last is not None else (math.inf, 0)
    return [load for load in loads if end <= (load.lineno, load.col_offset) < until]


def _compare(node: ast.expr, parent: ast.Compare, scope: Scope, flow: Flow) -> None:
    if len(parent.ops) != 1 or isinstance(parent.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
        none = isinstance(parent.comparators[0], ast.Constant) and parent.comparators[0].value is None
        if not (none and isinstance(parent.ops[0], ast.Is | ast.IsNot)):
            flow.refuse(
                f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`"
            )
        return
    other = parent.comparators[0] if parent.left is node else parent.left
    if not scope.value(other).may_be(Kind.TENSOR):
        if (
            isinstance(scope.parents.get(parent), ast.Return)
            and not flow.calls
            and _compared(parent, other, scope, flow)
        ):
            # `return mask.sum().item() > 0`: who only asks for the truth may ask a boolean tensor for it.
            flow.handed_out = True
            obstacle = next(as_tensor([], [parent], scope))
            flow.refuse(obstacle.reason, obstacle.assumption)
            return
        flow.refuse(f"the result of `{snippet(parent)}` is used as a Python bool")
        return
    _compare_with(other, scope, flow)


def _compare_with(other: ast.expr, scope: Scope, flow: Flow) -> None:
    # A comparison takes place in the dtype of the tensor that has dimensions.
    same = scope.value(other).dtype_id is not None and scope.value(other).dtype_id == flow.read.dtype_id
    unknown = scope.value(other).dtype is None and flow.read.dtype is None
    if same or unknown:
        same_dtype(other, scope, flow)
    else:
        met(other, scope, flow)


def _binary(node: ast.expr, parent: ast.BinOp, scope: Scope, flow: Flow) -> None:
    other = parent.right if parent.left is node else parent.left
    numbers = scope.value(other).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)
    if not numbers and _reads_number(other, scope):
        flow.refuse(f"`{snippet(other)}` is not proved to be a number", "branches-total")
        numbers = True
    elif not isinstance(parent.op, ast.Mod) and scope.value(other).is_unknown and is_number_by_default(other, scope):
        flow.refuse(f"`{snippet(other)}` is a number by default, and not proved to be one", "number-to-tensor")
        numbers = True
    const = scope.value(other).const
    if const is not None and isinstance(const.value, str | bytes):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")
        return
    if numbers and isinstance(parent.op, (*_ARITHMETIC, ast.Pow)):
        plain = const is not None and isinstance(parent.op, ast.Add | ast.Sub | ast.Mult)
        flow.compute(
            integral=plain and isinstance(const.value, int) and abs(const.value) <= 100,  # type: ignore[union-attr]
            exactly=plain and exact(const.value),  # type: ignore[union-attr]
            whole=isinstance(parent.op, ast.Add | ast.Sub | ast.Mult) and scope.value(other).dtype in ("int", "bool"),
            negates=isinstance(parent.op, ast.Mult) and not (plain and const.value >= 0),  # type: ignore[union-attr, operator]
        )
        if isinstance(parent.op, ast.Div) and not _nonzero(parent.right, scope):
            flow.refuse(
                f"`{snippet(parent)}` may divide by zero, which raises for numbers and not for tensors",
                "math-errors",
            )
        if isinstance(parent.op, ast.Pow):
            flow.refuse(
                f"`{snippet(parent)}` raises for numbers where it overflows, divides by zero or is not real, and not "
                "for tensors",
                "math-errors",
            )
        follow(parent, scope, flow)
        return
    length = scope.value(other).is_unknown and isinstance(other, ast.Name | ast.Attribute) and flow.read.dtype == "int"
    if isinstance(parent.op, ast.Mod) and parent.left is node and (length or _counts(flow.read, other, scope)):
        flow.compute(whole=True)
        if length:
            flow.refuse(f"`{snippet(other)}` is not proved to be a Python integer", "static-shape-values")
        if not _nonzero(other, scope):
            reason = f"`{snippet(parent)}` may divide by zero, which raises another error for tensors"
            flow.refuse(reason, "math-errors")
        follow(parent, scope, flow)
        return
    if not isinstance(parent.op, _ARITHMETIC):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")
        return
    met(other, scope, flow)
    _subtracted(node, parent.op, scope, flow)
    if isinstance(parent.op, ast.Add | ast.Mult) and parent.left is node:
        # `number * x` keeps the number's precision beside a half tensor, as `x * tensor` does and `tensor * x` does
        # not.
        if isinstance(parent.right, ast.Name | ast.Attribute):
            symbol = SYMBOLS[type(parent.op)]
            flow.rewrites.append(
                (parent, lambda render: f"{render.template.use(parent.right)} {symbol} {render(parent.left)}")
            )
            flow.plain.add(parent)  # a Python number gives the same on either side
        else:
            flow.refuse(
                f"`{snippet(parent)}` would round the number to the precision of a half tensor",
                "float32-rounding",
            )
    if isinstance(parent.op, ast.Div) and parent.left is node:
        flow.refuse(
            f"`{snippet(parent)}`: torch divides a number by a tensor through the reciprocal, which rounds otherwise",
            "float32-rounding",
        )


def _counts(read: Value, other: ast.expr, scope: Scope) -> bool:
    """Whether a number and a fixed one are integers: the rest of these is the same for tensors, also below zero."""
    fixed = scope.value(other)
    return read.dtype == "int" and fixed.is_(Kind.STATIC, Kind.SIZE) and fixed.dtype == "int"


def _reads_number(node: ast.expr, scope: Scope) -> bool:
    """Whether what is not known computes with numbers alone, one of them read from something: `x.sum().item() + 1`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ARITHMETIC):
        sides = (node.left, node.right)
        known = [side for side in sides if scope.value(side).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER)]
        return all(side in known or _reads_number(side, scope) for side in sides)
    method = node.func if isinstance(node, ast.Call) and not node.args and not node.keywords else None
    return isinstance(method, ast.Attribute) and method.attr == "item" and scope.value(node).is_unknown


def _subtracted(node: ast.expr, op: ast.operator, scope: Scope, flow: Flow) -> None:
    if isinstance(op, ast.Sub) and scope.value(node).dtype == "bool":
        flow.refuse(f"torch raises where a bool is subtracted, as in `{snippet(scope.parents[node])}`")
    elif isinstance(op, ast.Sub) and flow.read.dtype is None and scope.value(node).dtype == "float":
        flow.refuse(
            f"`float()` of a bool can be subtracted, as in `{snippet(scope.parents[node])}`, and a bool tensor cannot",
            "number-to-tensor",
        )


def _nonzero(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.const is not None and isinstance(value.const.value, int | float) and value.const.value != 0


def _function(node: ast.expr, call: ast.Call, scope: Scope, flow: Flow) -> bool:
    """A function of Python's on the number: `max`, `min`, `abs`, `round`, `int`, `float`, and those of `math`."""
    name = scope.callee(call) or ""
    computes = name in ("min", "max", "abs", "round", "int", "float") or name.startswith("math.")
    if flow.boolean and computes and name.rpartition(".")[2] not in _ASKS:
        flow.compute()
    if call.keywords or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    if name in ("min", "max") and len(call.args) == 2:
        return _extreme(node, call, name, scope, flow)
    if len(call.args) != 1:
        return False
    if name.removeprefix("math.").removeprefix("numpy.") in _ASKS and "." in name:
        statement = next((s for s in scope.ancestors(call) if isinstance(s, ast.stmt | ast.IfExp)), None)
        if not decides(call, scope) or not isinstance(statement, ast.If | ast.IfExp):
            flow.refuse(f"the result of `{snippet(call)}` is used as a Python bool")
        if scope.value(node).is_tensor and scope.value(node).leaves:
            reason = f"torch warns of `{snippet(node)}`, which may require a gradient, as a number"
            flow.refuse(reason, "number-to-tensor")
        asked = name.rpartition(".")[2]
        flow.rewrites.append((call, lambda render: f"{render(call.args[0])}.{asked}()"))
        return True
    method = _METHODS.get(name) or _MATH.get(name.removeprefix("math.")) if name.startswith("math.") else None
    method = method or _METHODS.get(name) or _numpy_method(name, call, scope)
    if name == "float":
        if flow.read.dtype != "float":
            flow.compute()
        flow.rewrites.append((call, lambda render: render(call.args[0])))
    elif name == "int" and scope.value(node).dtype in ("int", "bool"):
        flow.rewrites.append((call, lambda render: render(call.args[0])))
    elif method is not None:
        if name != "abs" or flow.read.dtype != "float":
            flow.compute(whole=name == "abs")
        if name != "abs":
            flow.refuse(
                f"`{snippet(call)}` raises or warns for numbers outside its domain, NaN and infinities, and as a "
                "tensor its last bit of double precision may differ",
                "math-errors",
            )
        flow.rewrites.append((call, lambda render: f"{render(call.args[0])}.{method}()"))
    else:
        return False
    follow(call, scope, flow)
    return True


def _numpy_method(name: str, call: ast.Call, scope: Scope) -> str | None:
    """The method for a function of NumPy behind a tensor; before one, NumPy's number makes the result double."""
    parent = scope.parents.get(call)
    short = name.removeprefix("numpy.")
    behind = isinstance(parent, ast.BinOp) and parent.right is call and scope.value(parent.left).is_tensor
    return _MATH.get(short) if behind and name.startswith("numpy.") and short in _SAME_IN_NUMPY else None


_SAME_IN_NUMPY = frozenset({"sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tanh"})
_ASKS = frozenset({"isnan", "isinf", "isfinite"})
_METHODS = {"abs": "abs", "round": "round", "int": "trunc"}


def _repeatable(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression may be evaluated once more: the same value, and nothing else happens."""
    does = scope.legality.effects.of(node, scope.facts)
    return not (does.random or does.mutates or does.host or does.unknown)


def _extreme(node: ast.expr, call: ast.Call, name: str, scope: Scope, flow: Flow) -> bool:
    """`max(number, constant)` and `min(number, constant)`.

    Python's `max(nan, 1.0)` is NaN as clamp's is, and `max(1.0, nan)` is 1.0: there NaN becomes the constant, unless
    the number is made of an integer in a way that never gives NaN.
    """
    other = call.args[1] if call.args[0] is node else call.args[0]
    value = scope.value(other)
    if not value.is_(Kind.STATIC, Kind.SIZE) or value.dtype not in ("int", "float"):
        return False
    whole = flow.read.dtype in ("int", "bool")
    constant_for_nan = call.args[1] is node and not (
        whole and (scope.value(node).dtype == "int" or never_nan(node, scope))
    )
    bound = "min" if name == "max" else "max"
    constant = value.const
    number = constant.value if constant is not None and isinstance(constant.value, int | float) else None
    if constant_for_nan and not _repeatable(other, scope):
        flow.refuse(
            f"`{snippet(call)}` gives `{snippet(other)}` for NaN, which would be computed twice: give it a name"
        )
        return True
    if constant_for_nan:
        # Two more arguments: infinities stay what they are.
        flow.rewrites.append(
            (
                call,
                lambda render: (
                    f"{render(node)}.clamp({bound}={render.template.use(other)})"
                    f'.nan_to_num({render.template.use(other)}, float("inf"), float("-inf"))'
                ),
            )
        )
        flow.compute(whole=value.dtype == "int")
        follow(call, scope, flow)
        return True
    if scope.value(node).dtype == "int" and isinstance(number, float) and number.is_integer() and abs(number) <= 2**53:
        # `max(n, 1.0)` of an integer: as one it takes the dtype of any floating tensor that it meets.
        flow.rewrites.append((call, lambda render: f"{render(node)}.clamp({bound}={int(number)})"))
        flow.compute(whole=True)
        follow(call, scope, flow)
        return True
    flow.rewrites.append(
        (call, lambda render: f"{render(node)}.clamp({bound}={render.template.use(other)})"),
    )
    if constant is None or not exact(constant.value) or value.dtype != flow.read.dtype:
        flow.compute(whole=value.dtype == "int")
    follow(call, scope, flow)
    return True


def _fill(filled: Fill, scope: Scope, flow: Flow) -> None:
    """A value that a tensor is filled with takes that tensor's dtype."""
    value = scope.value(filled.target)
    same = value.dtype_id is not None and value.dtype_id == flow.read.dtype_id
    if not value.is_tensor or not value.certain:
        flow.refuse(f"`{snippet(filled.target)}` is not proved to be a tensor")
    if flow.read.dtype == "complex" or value.dtype == "complex":
        flow.refuse(f"`{snippet(filled.call)}` fills with a complex number")
    if not same:
        flow.beside = flow.beside or (value.dtype is not None and flow.read.dtype is not None)
        flow.refuse(
            f"a number that `{snippet(filled.target)}`'s dtype does not hold may raise, and as a tensor it does not",
            "math-errors",
        )
    elif flow.operations or value.dtype != "float":
        flow.refuse(
            f"`{snippet(filled.call)}` raises for a number that the dtype does not hold, and as a tensor it does not",
            "math-errors",
        )
    if filled.build is not None and isinstance(filled.call, ast.expr):
        build = filled.build
        flow.rewrites.append((filled.call, lambda render: build(render.template.use, render, same)))


def _pick(node: ast.expr, picked: Picked, scope: Scope, flow: Flow) -> None:
    """An index becomes an index tensor of one element, and what it picks a copy; a write goes to that place."""
    item = picked.item
    _as_index(node, item, scope, flow)
    if picked.put is not None:
        _put_at(node, picked, scope, flow)
    flow.refuse(
        f"an index out of range raises IndexError in `{snippet(item)}`, and on a GPU the kernel fails",
        "number-to-tensor",
    )
    if picked.listed:
        _pick_listed(item, scope, flow)
    elif scope.value(node).is_tensor and scope.value(node).rank != 0 and not _put_number(picked, scope):
        reason = f"`{snippet(node)}` is not proved to be without dimensions: with one, `{snippet(item)}` keeps that"
        flow.refuse(reason, "enough-dimensions")
    if picked.put is not None:
        return
    torch = torch_name(scope)
    parts = item.slice.elts if isinstance(item.slice, ast.Tuple) else [item.slice]
    first, behind = parts[: picked.dim], parts[picked.dim + 1 :]
    dim = sum(isinstance(part, ast.Slice) for part in first)  # an integer takes its dimension away
    if any(map(is_ellipsis, first)):
        dim = -1 - sum(isinstance(part, ast.Slice) for part in behind)

    def build(render: Renderer) -> str:
        base = render.template.use(item.value, operand=True)
        whole = f"{torch}.stack({render.template.use(item.value)})" if picked.listed else base
        at = f"{render(node)}.reshape(1)"
        codes = [
            at if i == picked.dim else _slice(p, render, scope) if isinstance(p, ast.Slice) else render.template.use(p)
            for i, p in enumerate(parts)
        ]
        return f"{whole}[{', '.join(codes)}].squeeze({dim})"

    if any(isinstance(part, ast.Slice) and ast.unparse(part) != ":" for part in first):
        flow.refuse(f"`{snippet(item)}` slices another dimension first")
    flow.rewrites.append((item, build))


def _put_at(node: ast.expr, picked: Picked, scope: Scope, flow: Flow) -> None:
    """Write at an index tensor, and note what that asks of what is written: an item of the whole takes a tensor of
    another dtype, and one that is a part of the whole."""
    item, put = picked.item, picked.put
    assert put is not None
    parts = item.slice.elts if isinstance(item.slice, ast.Tuple) else [item.slice]

    def build(render: Renderer) -> str:
        at = f"{render(node)}.reshape(1)"
        codes = [
            at if p is node else _slice(p, render, scope) if isinstance(p, ast.Slice) else render.template.use(p)
            for p in parts
        ]
        return f"{render.template.use(item.value, operand=True)}[{', '.join(codes)}]"

    flow.rewrites.append((item, build))
    value, whole = scope.value(put), scope.value(item.value)
    if overlaps(item.value, scope):
        flow.refuse(
            f"elements of `{snippet(item.value)}` may share memory, and are not written at an index tensor then"
        )
    if _put_number(picked, scope):
        return
    if any(isinstance(part, ast.Slice) for part in parts[: picked.dim]):
        flow.refuse(f"`{snippet(put)}` has no dimension for the index tensor behind the others")
    added = isinstance(scope.parents.get(item), ast.AugAssign)
    if may_share(value.storage, whole.storage) and not added:
        reason = f"`{snippet(put)}` may share memory with `{snippet(item.value)}`"
        known = value.is_tensor and not value.storage.isdisjoint(whole.storage)
        flow.refuse(f"{reason}: it is not written at an index tensor then", None if known else "no-aliasing")
    if not added and has_other_dtype(value, whole):
        flow.refuse(f"`{snippet(put)}` has another dtype than `{snippet(item.value)}`, which an index tensor refuses")
    flow.refuse(
        f"`{snippet(put)}` is written at an index tensor, which takes no other dtype, and what does not fit raises "
        "another text",
        "same-shape-dtype",
    )


def _put_number(picked: Picked, scope: Scope) -> bool:
    """Whether a number of Python is written: it fits one place, whatever the dimensions of the index."""
    value = None if picked.put is None else scope.value(picked.put)
    return value is not None and value.is_(Kind.STATIC, Kind.SIZE) and value.dtype in ("bool", "int", "float")


def _move_window(node: ast.expr, window: Window, scope: Scope, flow: Flow) -> None:
    """A slice of fixed length becomes an index of that many places, and what it picks a copy."""
    flow.picks = True
    if node in ast.walk(window.first):
        if scope.value(node).dtype not in ("int", None) or (flow.operations and not flow.whole):
            flow.refuse(f"`{snippet(node)}` is not proved to be an integer")
        elif scope.value(node).dtype is None:
            flow.refuse(f"`{snippet(node)}` is not proved to be an integer, and another raises", "index-in-range")
    for obstacle in window.obstacles(scope):
        flow.refuse(obstacle.reason, obstacle.assumption)
    if any(changed is window.item for changed, _ in flow.rewrites):
        return  # the other bound
    flow.rewrites.append((window.item, lambda render: window.code(render(window.first), render.template, scope)))


def _roll(node: ast.expr, rolled: Rolled, scope: Scope, flow: Flow) -> None:
    """What is rolled becomes an index of all places, each the shift before its own: the same copy."""
    flow.picks = True
    if scope.value(node).dtype != "int" or (flow.operations and not flow.whole):
        flow.refuse(f"`{snippet(node)}` is not proved to be an integer")
    _computed_again(rolled.tensor, scope, flow)
    if not scope.value(rolled.tensor).certain:
        flow.refuse(f"`{snippet(rolled.tensor)}` is not proved to be a tensor", "branches-total")
    rank, dim = scope.value(rolled.tensor).rank, scope.value(rolled.dim).const
    number = dim.value if dim is not None and isinstance(dim.value, int) else None
    if number not in (0, -1) and (rank is None or number is None or not -rank <= number < rank):
        # Of a tensor without elements `roll` does not ask whether the dimension is there.
        reason = f"`{snippet(rolled.tensor)}` may have no such dimension, which `roll` accepts where it has no elements"
        flow.refuse(reason, "enough-dimensions")

    def build(render: Renderer) -> str:
        base, dim = render.template.use(rolled.tensor), render.template.use(rolled.dim)
        # Of a tensor with elements a dimension that is not there raises the same in `size` as in `roll`.
        places = f"{torch_name(scope)}.arange({base}.size({dim}), device={base}.device)"
        return f"{base}.index_select({dim}, ({places} - {render(node)}) % {base}.size({dim}))"

    flow.rewrites.append((rolled.call, build))


def _computed_again(node: ast.expr, scope: Scope, flow: Flow) -> None:
    """Note what stands against reading a tensor several times: an attribute may be a property that draws."""
    for obstacle in scope.legality.computed_again(node, scope.facts):
        flow.refuse(obstacle.reason, obstacle.assumption)


def _as_index(node: ast.expr, item: ast.Subscript, scope: Scope, flow: Flow) -> None:
    """Note that the number is an index, and what stands against what it picks being a copy."""
    flow.picks = True
    value = scope.value(node)
    drawn = value.is_unknown and flow.read.dtype == "int" and flow.whole  # of which Python's own functions say nothing
    if value.dtype is None and not drawn and not flow.operations and isinstance(item.ctx, ast.Load):
        reason = f"`{snippet(node)}` is not proved to be an integer: another raises, and a bool adds a dimension"
        flow.refuse(reason, "index-in-range")
    elif (value.dtype != "int" and not drawn) or (flow.operations and not flow.integral):
        flow.refuse(f"`{snippet(node)}` is not proved to be an integer")
    if isinstance(item.ctx, ast.Load):
        for obstacle in becomes_copy(item, scope):
            flow.refuse(obstacle.reason, obstacle.assumption)


def _reduce(node: ast.expr, found: ReducedSlice, scope: Scope, flow: Flow) -> None:
    """The bound of a slice becomes one of the positions that take part in its reduction."""
    flow.picks = True
    unknown = scope.value(node).dtype is None and not flow.operations
    if unknown:
        flow.refuse(f"`{snippet(node)}` is not proved to be an integer, and another number raises", "number-to-tensor")
    elif scope.value(node).dtype != "int" or (flow.operations and not flow.whole):
        flow.refuse(f"`{snippet(node)}` is not proved to be an integer")
    elif flow.read.dtype not in ("int", "bool"):
        flow.refuse(f"`{snippet(node)}` of NaN or infinity raises, and as a tensor it does not", "math-errors")
    for obstacle in found.obstacles(scope):
        flow.refuse(obstacle.reason, obstacle.assumption)
    for bound in (node, *([found.other] if found.other is not None else ())):
        if not Sizes(scope).never_negative(bound):
            flow.refuse(
                f"`{snippet(bound)}` is not proved to be at least zero, and else counts from the end", "not-negative"
            )
    flow.rewrites.append((found.call, lambda render: found.code(render(node), render.template, scope)))
    if found.named:
        # A view too, as the slice is one: what gives the tensor another shape or memory leaves it as it is.
        flow.rewrites.append((found.part, lambda render: f"{render.template.use(found.part.value)}[:]"))


def _pick_listed(item: ast.Subscript, scope: Scope, flow: Flow) -> None:
    items = scope.value(item.value).elements or ()
    for other in items[1:]:
        for obstacle in scope.legality.same_type(items[0], other):
            flow.refuse(obstacle.reason, obstacle.assumption)
    if any(i.leaves for i in items):
        text = f"the items of `{snippet(item.value)}` that are not picked"
        flow.refuse(f"{text} would get a gradient of zeros instead of None", "gradient-zeros")
        flow.refuse(
            f"{text} would pass a gradient of zero back, which their derivative may turn to NaN", "finite-derivative"
        )


def _slice(part: ast.Slice, render: Renderer, scope: Scope) -> str:
    """The slice, with spaces round its colons where it has some."""
    bounds = [part.lower, part.upper] + ([part.step] if part.step is not None else [])
    colon = " : " if " :" in scope.file.segment(part) else ":"
    return colon.join("" if bound is None else render.template.use(bound) for bound in bounds).strip()


def _clamp(node: ast.expr, scope: Scope) -> tuple[ast.Call, ast.expr] | None:
    """The clamp call that a number is a bound of, and the tensor that is clamped."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return None
    name = scope.callee(call) or ""
    bare = name.removeprefix("Tensor.").removeprefix("torch.")
    function = name.startswith("torch.")
    if bare not in _CLAMPS or (
        not isinstance(parent, ast.keyword) and (len(call.args) > (2 if function else 1) or call.keywords)
    ):
        return None
    if function:
        return (call, call.args[0]) if call.args and call.args[0] is not node else None
    return (call, call.func.value) if isinstance(call.func, ast.Attribute) else None


def _bound(call: ast.Call, tensor: ast.expr, scope: Scope, flow: Flow) -> None:
    bounds = [k for k in call.keywords if k.arg in ("min", "max")]
    if len(bounds) > 1 and call not in [node for node, _ in flow.rewrites]:
        method = "clamp_" if isinstance(call.func, ast.Attribute) and call.func.attr == "clamp_" else "clamp"
        ordered = sorted(bounds, key=lambda k: k.arg != "min")

        def build(render: Renderer) -> str:
            chained = "".join(f".{method}({k.arg}={render(k.value)})" for k in ordered)
            return render.template.use(tensor, operand=True) + chained

        flow.rewrites.append((call, build))
    if scope.value(tensor).dtype_id is None or scope.value(tensor).dtype_id != flow.read.dtype_id:
        flow.refuse(
            f"a bound that does not fit the dtype of `{snippet(tensor)}` raises as a number and not as a tensor",
            "number-to-tensor",
        )
    met(tensor, scope, flow)


def _passed(node: ast.expr, scope: Scope, flow: Flow) -> bool:
    """The number is an argument of a function of the project: its uses there must take a tensor as well."""
    parent = scope.parents.get(node)
    call = scope.parents.get(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call):
        return False
    known = scope.facts.calls.get(call)
    callees = [known] if known is not None else picked_functions(call, scope)
    if not callees or any(isinstance(a, ast.Starred) for a in call.args):
        return False
    names: list[str] = []
    for callee in callees:
        parameters = callee.parameters[0 if callee.cls is None or callee.is_static else 1 :]
        position = len(parameters) if isinstance(parent, ast.keyword) else call.args.index(node)
        name = parent.arg if isinstance(parent, ast.keyword) else None
        name = parameters[position].arg if position < len(parameters) else name
        if name is None or name not in {p.arg for p in callee.parameters} or callee is scope.function:
            return False
        names.append(name)
    if flow.calls + len(callees) > _MAX_CALLS:
        flow.refuse(f"`{snippet(call)}` passes the number on through many functions")
        return True
    flow.calls += len(callees)
    for callee, name in zip(callees, names, strict=True):
        for function in (callee, *_instead(call, callee, scope)):
            if function is None:
                flow.refuse(f"too many files override `{callee.qualname}` to look at all")
                return True
            _into(function, name, call, scope, flow)
    return True


def _handed_back(node: ast.expr, scope: Scope, flow: Flow) -> bool:
    """The number is returned to functions of this file: its uses there must take a tensor as well.

    A truth is only asked for, and an integer may be a size or an index for whoever else calls the function.
    """
    kind = scope.value(node).dtype
    if flow.boolean or kind == "bool" or (kind == "int" and "compile" not in scope.compiled.root):
        return False
    function, inference = scope.function, scope.legality.inference
    users = list(callers(scope))
    known = bool(users) and next(callers_elsewhere(scope), None) is None and inference.changed_by(function) is None
    if not known or function.is_property or flow.calls >= _MAX_CALLS or _is_named_otherwise(users, scope):
        return False
    flow.calls += 1
    flow.handed_out = True
    flow.refuse(f"`{function.qualname}` returns a tensor where it returned a number", "number-to-tensor")
    before = len(flow.rewrites)
    for user in users:
        facts = inference.facts(user)
        inner = Scope(replace(scope.compiled, function=user, facts=facts), scope.legality, scope.path)
        for call in (c for c in inner.of(ast.Call) if facts.calls.get(c) in scope.stands_for):
            follow(call, inner, flow)
    several = len(scope.stands_for) > 1 or sum(each.value is not None for each in function.of(ast.Return)) > 1
    if several and any(node not in flow.plain for node, _ in flow.rewrites[before:]):
        flow.refuse(f"`{function.qualname}` returns something else on another way, and its use would have to change")
    elif not several and isinstance(function.node.returns, ast.Name) and function.node.returns.id in ("int", "float"):
        flow.rewrites.append((function.node.returns, lambda _: f"{torch_name(scope)}.Tensor"))
    return True


def _is_named_otherwise(users: Sequence[Function], scope: Scope) -> bool:
    """Whether the file names the function where these do not call it: it calls itself, or is handed on."""
    name, inference = scope.function.node.name, scope.legality.inference
    calls = (item for user in users for item in inference.facts(user).calls.items())
    called = {_place(call.func) for call, callee in calls if isinstance(call, ast.Call) and callee in scope.stands_for}
    own = scope.function.cls is not None  # a method has no name of its own
    for node in ast.walk(scope.file.tree):
        named = (isinstance(node, ast.Attribute) and node.attr == name) or (
            not own and isinstance(node, ast.Name) and node.id == name
        )
        if named and isinstance(node, ast.Name | ast.Attribute) and _place(node) not in called:
            return True
    return False


def _place(node: ast.expr) -> tuple[int, int, int | None]:
    return node.lineno, node.col_offset, node.end_col_offset


def _instead(call: ast.Call, callee: Function, scope: Scope) -> Iterator[Function | None]:
    """The methods of subclasses that a call of a method may run as well."""
    func = call.func  # what a module in an attribute runs is that of its own class
    picked = isinstance(func, ast.Subscript) and callee.cls is not None
    if picked or (isinstance(func, ast.Attribute) and func.attr == callee.node.name and not is_super(func.value)):
        yield from scope.legality.inference.project.overriding_anywhere(callee)


def _into(callee: Function, name: str, call: ast.Call, scope: Scope, flow: Flow) -> None:
    """Follow the number from a parameter of a function that a call runs."""
    if name not in {p.arg for p in callee.parameters}:
        flow.refuse(f"`{callee.qualname}` calls `{name}` otherwise")
        return
    if callee.is_memoized or (decorator := unknown_decorator(callee)) is not None:
        by = "a cache" if callee.is_memoized else f"`@{decorator}`"
        flow.refuse(f"{by}, which gets the arguments of `{callee.qualname}`, may need a Python number")
        return
    operands = [scope.value(a) for a in (*call.args, *(k.value for k in call.keywords))]
    facts = scope.legality.inference.in_call(callee, arguments_of(call, callee, operands) or {})
    callers = (*scope.compiled.callers, scope.function)
    inner = Scope(CompiledFunction(callee, facts, scope.compiled.root, callers), scope.legality, "")
    before = len(flow.rewrites)
    follow_name(name, inner, flow, parameter=True)
    added = [node for node, _ in flow.rewrites[before:]]
    # What changes there changes for other callers, of which this call says nothing.
    known = scope.legality.inference.facts(callee)
    stays = all(_takes_both(n, inner) and _is_of_tensor(n, known) for n in added)
    if added and (callee.module.file.path != scope.file.path or not stays):
        flow.refuse(f"`{callee.qualname}` would have to change, and others may call it with a Python number")


def _is_of_tensor(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a call is one of a method of what is a tensor, whoever calls the function."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return owner is not None and facts.value(owner).is_tensor and facts.value(owner).certain


def _takes_both(node: ast.expr, scope: Scope) -> bool:
    """Whether what a call in another function becomes takes numbers as well: other callers may pass them."""
    name = scope.callee(node) or ""
    return name == "Tensor.new_full"
