"""Following a number from where it is read to every place that it gets to, and what has to change there."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from compilefix.analysis.decorated import unknown_decorator
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.regions import CompiledFunction
from compilefix.analysis.summaries import applies, is_super
from compilefix.analysis.summaries import passed as arguments_of
from compilefix.analysis.values import Kind
from compilefix.codemods.callers import callers, callers_elsewhere
from compilefix.codemods.host_reads.filled_slices import filled_slices
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.host_reads.kept_numbers import kept_in
from compilefix.codemods.host_reads.number_flow import Flow, Renderer, meets_whole_numbers, met
from compilefix.codemods.host_reads.number_names import (
    added_up,
    block_that_stores,
    breaks,
    chain_around,
    stored_name,
    stored_together,
    uses_of,
)
from compilefix.codemods.host_reads.number_operations import ARITHMETIC, Onward, binary, function_of, negated
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
    rolled_by,
    scaled_by,
    shown_by,
    tensor_beside,
    tensor_of_items,
)
from compilefix.codemods.host_reads.number_tests import compare, decide
from compilefix.codemods.host_reads.number_types import answer_type, asked_type
from compilefix.codemods.host_reads.number_ways import other_numbers
from compilefix.codemods.host_reads.picked_functions import picked_functions
from compilefix.codemods.host_reads.reduced_slices import reduced_slice
from compilefix.codemods.host_reads.windows import window_of
from compilefix.codemods.number_reads import decides
from compilefix.codemods.reaching import only_reads
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.codemods.torch_name import torch_name
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet

_MAX_CALLS = 24


def follow(node: ast.expr, scope: Scope, flow: Flow) -> None:
    """Follow a number from where it is read or computed to every place where it meets a tensor."""
    for use in _USES:
        onward = use(node, scope, flow)
        if onward is not None:
            for computed in onward:
                follow(computed, scope, flow)
            return
    _needs_python_number(node, scope, flow)


def _as_name(node: ast.expr, scope: Scope, flow: Flow) -> Onward | None:
    """The number gets a name: `n = t.item()`."""
    if (together := stored_together(node, scope)) is not None:
        flow.listed = flow.apart = True
        follow_name(together[0].id, scope, flow, stored=together[1])
        return ()
    parent = scope.parents.get(node)
    if not isinstance(parent, ast.Assign | ast.AnnAssign) or parent.value is not node:
        return None
    target = stored_name(parent)
    if target is None:
        return None
    follow_name(target.id, scope, flow, stored=parent)
    if isinstance(parent, ast.AnnAssign):
        flow.rewrites.append((parent.annotation, lambda _: f"{torch_name(scope)}.Tensor"))
    return ()


def _as_window(node: ast.expr, scope: Scope, flow: Flow) -> Onward | None:
    """The number begins a slice of fixed length."""
    window = window_of(node, scope)
    if window is None:
        return None
    move_window(node, window, scope, flow)
    return ()


def _as_test(node: ast.expr, scope: Scope, flow: Flow) -> Onward | None:
    """The number decides a branch, or is compared."""
    parent = scope.parents.get(node)
    if decides(node, scope):
        computed = flow.operations > 0 and not flow.following  # `if t.sum().item() / n > 0.5`, in this one test
        flow.meets = flow.meets or computed
        decide(node, parent, scope, flow)
        return ()
    if isinstance(parent, ast.Compare):
        compare(node, parent, scope, flow)
        return ()
    return None


def _as_operand(node: ast.expr, scope: Scope, flow: Flow) -> Onward | None:
    """The number is an operand, or one side of a conditional expression."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp):
        return binary(node, parent, scope, flow)
    if isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):
        return negated(parent, flow)
    if isinstance(parent, ast.IfExp) and _beside_number(node, parent, scope):
        _chosen(parent, scope, flow)
        return ()
    if not isinstance(parent, ast.AugAssign) or parent.value is not node:
        return None
    if (uses := added_up(parent, scope)) is not None:
        _sum_of(parent, uses, scope, flow)
        return ()
    if not isinstance(parent.op, ARITHMETIC):
        return None
    subtracted(node, parent.op, scope, flow)
    if isinstance(parent.op, ast.Div) or not meets_whole_numbers(node, parent.target, scope, flow):
        changed_in_place(node, parent.target, scope, flow)
        met(parent.target, scope, flow)
    return ()


def _at_tensor(node: ast.expr, scope: Scope, flow: Flow) -> Onward | None:
    """A method or function of torch takes the number, or a tensor is filled with it or indexed by it."""
    parent = scope.parents.get(node)
    if (filled := fill_of(node, scope)) is not None:
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
            changed_in_place(node, beside, scope, flow)
        met(beside, scope, flow)
    else:
        return None
    return ()


def _as_argument(node: ast.expr, scope: Scope, flow: Flow) -> Onward | None:
    """The number's type is asked for, or a function takes it: one of Python's, `clamp`, or one of the project."""
    parent = scope.parents.get(node)
    if (asked := asked_type(node, scope)) is not None:
        answer_type(asked, node, scope, flow)
        return ()
    if isinstance(parent, ast.Call) and node in parent.args:
        onward = function_of(node, parent, scope, flow)
        if onward is not None:
            return onward
    if (clamp := clamp_of(node, scope)) is not None:
        clamp_by(*clamp, scope, flow)
        return ()
    return () if isinstance(parent, ast.Call | ast.keyword) and _passed(node, scope, flow) else None


def _as_text(node: ast.expr, scope: Scope, flow: Flow) -> Onward | None:
    """The number is shown in an exception or a log."""
    if isinstance(node, ast.Name) and _in_exception(node, scope, flow):
        flow.raised = True
        flow.rewrites.append((node, partial(_read_again, node, scope.value(node).dtype, flow)))
    elif in_log(node, scope):
        flow.refuse("the number is only printed or logged: see the finding for that line")
    else:
        return None
    return ()


def _as_bound(node: ast.expr, scope: Scope, flow: Flow) -> Onward | None:
    """The number bounds a slice that is filled, or reduced."""
    if (slices := filled_slices(node, scope)) is not None:
        fill_slices(node, slices, scope, flow)
    elif (reduced := reduced_slice(node, scope)) is not None:
        reduce(node, reduced, scope, flow)
    else:
        return None
    return ()


def _as_result(node: ast.expr, scope: Scope, flow: Flow) -> Onward | None:
    """The number is returned or kept."""
    if isinstance(scope.parents.get(node), ast.Return) and _handed_back(node, scope, flow):
        return ()
    place = kept_in(node, scope)
    if place is None:
        return None
    flow.handed_out = True
    flow.refuse(*place)
    return ()


_USES: tuple[Callable[[ast.expr, Scope, Flow], Onward | None], ...] = (
    _as_name,
    _as_window,
    _as_test,
    _as_operand,
    _at_tensor,
    _as_argument,
    _as_text,
    _as_bound,
    _as_result,
)
"""The uses of a number that have a tensor for it, each asked in its turn.

A use gives None where it is not the one, and else what is computed of the number there: that is followed next.
"""


def _needs_python_number(node: ast.expr, scope: Scope, flow: Flow) -> None:
    parent, line = scope.parents.get(node), getattr(node, "lineno", 0)
    if (indexed := _unknown_base(node, scope)) is not None:
        flow.refuse(f"line {line}: the number is an index of `{snippet(indexed)}`, which is not known to be a tensor")
    elif integer_place(node, scope) is not None or _indexes_list(node, scope):
        used = scope.parents.get(parent) if isinstance(parent, ast.Tuple | ast.List | ast.Starred) else parent
        flow.refuse(f"line {line}: the number is used as a Python number in `{snippet(used)}`, which takes no tensor")
    else:
        flow.refuse(f"line {line}: the number is used as a Python number in `{snippet(parent)}`")


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
    name: str,
    scope: Scope,
    flow: Flow,
    *,
    parameter: bool = False,
    stored: ast.Assign | ast.AnnAssign | None = None,
    within: Collection[ast.AST] = (),
) -> None:
    """Follow a number from its name to every place where that is used: `within` some code, where that is told."""
    loads = [load for load in scope.names(name) if not within or load in within]
    everywhere = [load for load in scope.function.loads(name) if not within or load in within]
    stores = [store for store in scope.names(name, stores=True) if not within or store in within]
    if (not loads and not parameter) or len(everywhere) != len(loads):
        flow.refuse(f"`{name}` is not used, or is used in a nested function")
        return
    given = not parameter and not within and scope.function.takes(name)
    either = False
    if given or len(stores) != (0 if parameter else 1):
        reached = _loads_of_one(name, stored, loads, scope, given=given)
        if isinstance(reached, str):
            advice = "keep a tensor on all ways, or pass the number in from outside the compiled code"
            flow.refuse(f"`{name}` {reached}; {advice}")
            return
        loads, either = reached
        if either:
            flow.unseen = flow.unseen or any(scope.value(store).is_unknown for store in scope.names(name, stores=True))
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


def _loads_of_one(
    name: str, stored: ast.Assign | ast.AnnAssign | None, loads: list[ast.Name], scope: Scope, *, given: bool
) -> tuple[list[ast.Name], bool] | str:
    """Where a name that is assigned in several places has the number of one of them; else why that is not known.

    With it stands whether those places may have another number, of Python's, instead. given: the name is a parameter.
    """
    block = block_that_stores(name, stored, scope) if stored is not None else None
    if stored is not None and block is not None:
        reached = uses_of(name, stored, block, loads, scope)
        around = {node for statement in block for node in ast.walk(statement)}
        if not given or block is scope.function.node.body or around.issuperset(reached):
            return reached, False
    if stored is not None:
        owned = only_reads(name, stored, scope)
        if owned is not None:
            return owned, False
        if other_numbers(name, stored, scope):
            end = (stored.end_lineno or 0, stored.end_col_offset or 0)
            return [load for load in loads if (load.lineno, load.col_offset) >= end], True
    return "is an argument on another way" if given and block is not None else "is assigned in several places"


def _read_again(place: ast.Name, kind: str | None, flow: Flow, _: Renderer) -> str:
    """The number in a line that is printed or logged, read from what stands for it: the line's fix moves the read."""
    same = kind == flow.read.dtype and not flow.operations
    return f"{place.id}.item()" if same or kind not in ("int", "float", "bool") else f"{kind}({place.id})"


def _in_exception(node: ast.Name, scope: Scope, flow: Flow) -> bool:
    """Whether a name stands in the text of an exception, as a Python number: CF103 moves it to where that is raised."""
    raised = isinstance(scope.statement(node), ast.Raise) and scope.file.segment(node) == node.id
    # The items of a list are numbers by `enough-dimensions`.
    return raised and (flow.listed or scope.value(node).is_(Kind.NUMBER))


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
    if flow.boolean or kind == "bool" or (kind == "int" and not scope.compiled.from_compile_call):
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
    before, known_obstacles = len(flow.rewrites), len(flow.obstacles)
    follow_name(name, inner, flow, parameter=True)
    if callee.module.file.path != scope.file.path:
        flow.say_where(f"`{callee.qualname}`", known_obstacles)
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
