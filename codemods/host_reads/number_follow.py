"""Following a number from where it is read to every place that it gets to, and what has to change there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial

from compilefix.analysis.decorated import unknown_decorator
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.legality import Obstacle
from compilefix.analysis.regions import CompiledFunction
from compilefix.analysis.summaries import applies, is_super
from compilefix.analysis.summaries import passed as arguments_of
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.callers import callers, callers_elsewhere
from compilefix.codemods.conditions import is_tensor_test
from compilefix.codemods.default_numbers import is_number_by_default
from compilefix.codemods.host_reads.filled_slices import filled_slices
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.host_reads.never_nan import never_nan
from compilefix.codemods.host_reads.number_flow import SYMBOLS, Flow, Renderer, meets_whole_numbers, met
from compilefix.codemods.host_reads.number_names import (
    added_up,
    block_that_stores,
    breaks,
    chain_around,
    stored_name,
    stored_together,
    uses_of,
)
from compilefix.codemods.host_reads.number_places import (
    changed_in_place,
    clamp_by,
    clamp_of,
    compare_with,
    fill,
    fill_slices,
    meet_each,
    move_window,
    pick,
    put_into,
    reduce,
    roll,
    scale,
    subtracted,
)
from compilefix.codemods.host_reads.number_sinks import (
    compared_with,
    fill_of,
    for_each,
    in_log,
    index_of,
    kept_in,
    rolled_by,
    scaled_by,
    shown_by,
    tensor_beside,
    tensor_of_items,
)
from compilefix.codemods.host_reads.number_types import answer_type, asked_type
from compilefix.codemods.host_reads.number_ways import other_numbers
from compilefix.codemods.host_reads.picked_functions import picked_functions
from compilefix.codemods.host_reads.reduced_slices import reduced_slice
from compilefix.codemods.host_reads.windows import window_of
from compilefix.codemods.kept_branches import kept_in as kept_in_branch
from compilefix.codemods.number_comparison import COMPARISONS, fits_all
from compilefix.codemods.number_reads import decides
from compilefix.codemods.reaching import only_reads
from compilefix.codemods.returned_truths import as_tensor
from compilefix.codemods.rule import Scope
from compilefix.codemods.selected_numbers import exact
from compilefix.codemods.torch_name import torch_name
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import asks_for_none

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_MATH = {name: name for name in ("sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan")}
_MATH |= {"sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asin": "asin", "acos": "acos", "atan": "atan"}
_MATH |= {"erf": "erf", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "fabs": "abs"}
_MATH |= {"radians": "deg2rad", "degrees": "rad2deg"}  # bitwise the same in double precision
_MATH |= {"arcsin": "asin", "arccos": "acos", "arctan": "atan"}  # as NumPy calls them
_MAX_CALLS = 24


def follow(node: ast.expr, scope: Scope, flow: Flow) -> None:
    """Follow a number from where it is read or computed to every place where it meets a tensor."""
    parent = scope.parents.get(node)
    if (together := stored_together(node, scope)) is not None:
        flow.listed = flow.apart = True
        follow_name(together[0].id, scope, flow, stored=together[1])
        return
    if isinstance(parent, ast.Assign | ast.AnnAssign) and parent.value is node:
        target = stored_name(parent)
        if target is not None:
            follow_name(target.id, scope, flow, stored=parent)
            if isinstance(parent, ast.AnnAssign):
                flow.rewrites.append((parent.annotation, lambda _: f"{torch_name(scope)}.Tensor"))
            return
    if (window := window_of(node, scope)) is not None:
        move_window(node, window, scope, flow)
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
    elif isinstance(parent, ast.AugAssign) and parent.value is node and (uses := added_up(parent, scope)) is not None:
        _sum_of(parent, uses, scope, flow)
    elif isinstance(parent, ast.AugAssign) and parent.value is node and isinstance(parent.op, _ARITHMETIC):
        subtracted(node, parent.op, scope, flow)
        if isinstance(parent.op, ast.Div) or not meets_whole_numbers(node, parent.target, scope, flow):
            changed_in_place(parent.target, scope, flow)
            met(parent.target, scope, flow)
    elif (filled := fill_of(node, scope)) is not None:
        fill(filled, scope, flow)
    elif (picked := index_of(node, scope)) is not None:
        pick(node, picked, scope, flow)
    elif (rolled := rolled_by(node, scope)) is not None:
        roll(node, rolled, scope, flow)
    elif (scaled := scaled_by(node, scope)) is not None:
        scale(node, scaled, scope, flow)
    elif (each := for_each(node, scope)) is not None:
        meet_each(each, flow)
    elif (made := tensor_of_items(node, scope)) is not None:
        put_into(node, made, scope, flow)
    elif (compared := compared_with(node, scope)) is not None:
        compare_with(node, compared, scope, flow)
    elif (beside := tensor_beside(node, scope)) is not None:
        subtracted(node, ast.Sub(), scope, flow)
        if isinstance(parent, ast.Call) and (scope.callee(parent) or "").endswith("_"):
            changed_in_place(beside, scope, flow)
        met(beside, scope, flow)
    elif (asked := asked_type(node, scope)) is not None:
        answer_type(asked, node, scope, flow)
    elif isinstance(parent, ast.Call) and node in parent.args and _function(node, parent, scope, flow):
        pass
    elif (clamp := clamp_of(node, scope)) is not None:
        clamp_by(*clamp, scope, flow)
    elif isinstance(parent, ast.Call | ast.keyword) and _passed(node, scope, flow):
        pass
    elif isinstance(node, ast.Name) and _in_exception(node, scope, flow):
        flow.raised = True
        flow.rewrites.append((node, partial(_read_again, node, scope.value(node).dtype, flow)))
    elif in_log(node, scope):
        flow.refuse("the number is only printed or logged: see the finding for that line")
    elif (slices := filled_slices(node, scope)) is not None:
        fill_slices(node, slices, scope, flow)
    elif (reduced := reduced_slice(node, scope)) is not None:
        reduce(node, reduced, scope, flow)
    elif isinstance(parent, ast.Return) and _handed_back(node, scope, flow):
        pass
    elif (place := kept_in(node, scope)) is not None:
        flow.handed_out = True
        flow.refuse(*place)
    elif (indexed := _unknown_base(node, scope)) is not None:
        line = getattr(node, "lineno", 0)
        flow.refuse(f"line {line}: the number is an index of `{snippet(indexed)}`, which is not known to be a tensor")
    elif integer_place(node, scope) is not None or _indexes_list(node, scope):
        line = getattr(node, "lineno", 0)
        used = scope.parents.get(parent) if isinstance(parent, ast.Tuple | ast.List | ast.Starred) else parent
        flow.refuse(f"line {line}: the number is used as a Python number in `{snippet(used)}`, which takes no tensor")
    else:
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")


def _unknown_base(node: ast.expr, scope: Scope) -> ast.expr | None:
    """What a number is an index of, where nothing is known of that: a tensor takes one as well, a list does not."""
    parent = scope.parents.get(node)
    indexes = isinstance(parent, ast.Subscript) and parent.slice is node and isinstance(parent.ctx, ast.Load)
    return parent.value if indexes and scope.value(parent.value).is_unknown else None  # type: ignore[union-attr]


def _indexes_list(node: ast.expr, scope: Scope) -> bool:
    """Whether a number picks from a list or dictionary, which takes no tensor as tensors do."""
    parent = scope.parents.get(node)
    return isinstance(parent, ast.Subscript) and parent.slice is node and scope.value(parent.value).is_(Kind.CONTAINER)


def _sum_of(statement: ast.AugAssign, loads: Sequence[ast.Name], scope: Scope, flow: Flow) -> None:
    """A number is added to others, as a double; where nothing is added their sum stays what it began with."""
    before = len(flow.rewrites)
    flow.compute()
    flow.refuse(f"`{snippet(statement.target)}` becomes a tensor where it was a number", "number-to-tensor")
    for load in loads:
        follow(load, scope, flow)
    if any(node not in flow.plain for node, _ in flow.rewrites[before:]):
        flow.refuse(f"`{snippet(statement.target)}` may stay a Python number, and its use would have to change")


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


def follow_name(
    name: str, scope: Scope, flow: Flow, *, parameter: bool = False, stored: ast.Assign | ast.AnnAssign | None = None
) -> None:
    """Follow a number from its name to every place where that is used."""
    loads = scope.names(name)
    everywhere = scope.function.loads(name)
    if (not loads and not parameter) or len(everywhere) != len(loads):
        flow.refuse(f"`{name}` is not used, or is used in a nested function")
        return
    given = not parameter and scope.function.takes(name)
    either = False
    if given or len(scope.names(name, stores=True)) != (0 if parameter else 1):
        block = block_that_stores(name, stored, scope) if stored is not None else None
        end = ((stored.end_lineno or 0, stored.end_col_offset or 0)) if stored is not None else (0, 0)
        reached = [] if stored is None or block is None else uses_of(name, stored, block, loads, scope)
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
            flow.refuse(
                f"`{name}` {reason}; keep a tensor on all ways, or pass the number in from outside the compiled code"
            )
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
    chains = {chain_around(load, scope) for load in loads}
    alone = flow.operations > 0 and len(chains) == 1 and not any(breaks(chain, scope) for chain in chains)
    used = any(not (decides(load, scope) or _in_exception(load, scope, flow)) for load in loads)
    flow.meets = bool(shown) or alone or used
    for load in loads:
        follow(load, scope, flow)
    flow.meets = met_before
    flow.following.discard(followed)
    if either and any(node not in flow.plain for node, _ in flow.rewrites[before:]):
        flow.refuse(f"`{name}` is a Python number on another way, and its use would have to change")


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
    Whether it is None decides the same of a tensor.
    """
    if asks_for_none(parent):
        return
    statement = next((a for a in scope.ancestors(node) if isinstance(a, ast.stmt | ast.IfExp)), None)
    if (kept := kept_in_branch(chain_around(node, scope), scope)) is not None:
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


def _compare(node: ast.expr, parent: ast.Compare, scope: Scope, flow: Flow) -> None:
    if len(parent.ops) != 1 or isinstance(parent.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
        if not asks_for_none(parent):
            line, sought = getattr(node, "lineno", 0), isinstance(parent.ops[-1], ast.In | ast.NotIn)
            takes = ", which takes no tensor" if sought and parent.left is node else ""
            flow.refuse(f"line {line}: the number is used as a Python number in `{snippet(parent)}`{takes}")
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
    compare_with(node, other, scope, flow)


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
    if (const is not None and isinstance(const.value, str | bytes)) or scope.value(other).is_(Kind.CONTAINER):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number is used as a Python number in `{snippet(parent)}`")
        return
    if numbers and scope.value(other).dtype == "complex" and not isinstance(parent.op, ast.Add | ast.Sub):
        flow.refuse(f"`{snippet(parent)}` is complex, and torch rounds complex products and quotients otherwise")
        return
    if numbers and isinstance(parent.op, (*_ARITHMETIC, ast.Pow)):
        _among_numbers(parent, other, scope, flow)
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
    _beside_tensor(node, parent, other, scope, flow)


def _among_numbers(parent: ast.BinOp, other: ast.expr, scope: Scope, flow: Flow) -> None:
    """Arithmetic with another number of Python's: the tensor takes part in it, and is followed from there."""
    const = scope.value(other).const
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


def _beside_tensor(node: ast.expr, parent: ast.BinOp, other: ast.expr, scope: Scope, flow: Flow) -> None:
    """Arithmetic with a tensor, where the way of the number ends."""
    if not isinstance(parent.op, ast.Div) and meets_whole_numbers(node, other, scope, flow):
        subtracted(node, parent.op, scope, flow)
        return
    met(other, scope, flow)
    subtracted(node, parent.op, scope, flow)
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
    if constant_for_nan and not scope.legality.effects.of(other, scope.facts).repeatable:
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
    if constant is None or not _holds(flow.read, constant.value) or value.dtype != flow.read.dtype:
        flow.compute(whole=value.dtype == "int")
    follow(call, scope, flow)
    return True


def _holds(read: Value, number: object) -> bool:
    """Whether the dtype of a tensor is sure to hold a number: `clamp` raises for 300 beside uint8."""
    narrow = read.dtype == "int" and read.dtype_id not in ("int16", "int32", "int64")
    return exact(number) and (not narrow or (isinstance(number, int) and 0 <= number <= 127))


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
    if any(applies(call, callee) for callee in callees):
        return False  # an autograd function gives gradients to tensors
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
        inner = scope.in_function(user)
        for call in (c for c in inner.of(ast.Call) if inner.facts.calls.get(c) in scope.stands_for):
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


def _is_of_tensor(node: ast.expr | ast.stmt, facts: FunctionFacts) -> bool:
    """Whether a call is one of a method of what is a tensor, whoever calls the function."""
    owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return owner is not None and facts.value(owner).is_tensor and facts.value(owner).certain


def _takes_both(node: ast.expr | ast.stmt, scope: Scope) -> bool:
    """Whether what a call in another function becomes takes numbers as well: other callers may pass them."""
    name = scope.callee(node) or ""
    return name == "Tensor.new_full"
