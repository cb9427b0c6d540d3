"""Turning a branch on a tensor into `torch.where`: the selected values, and what stands in the way."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from itertools import product

from compilefix.analysis.derivatives import reached
from compilefix.analysis.leaves import ANY_LEAF, are_same, leaf_of
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.same_type import same_type
from compilefix.analysis.values import Kind, Value, may_share
from compilefix.codemods.devices import on_default_device
from compilefix.codemods.dynamic_shapes.ragged import is_ragged
from compilefix.codemods.dynamic_shapes.ragged_sizes import selection_of
from compilefix.codemods.gradient_mode import is_changed, is_decorated, is_only_computed_with
from compilefix.codemods.other_objects import asked_as_object, is_other_object, used_as_object
from compilefix.codemods.resized import asked_to_differ, is_empty, is_placed_otherwise, is_resized
from compilefix.codemods.returned_truths import are_truths, as_tensor
from compilefix.codemods.rule import Scope
from compilefix.codemods.selected_numbers import needs_number, number_conversion, numbers
from compilefix.codemods.template import Given, Template, ends_of
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_path

_TYPE_QUESTIONS = frozenset({"isinstance", "type", "torch.is_tensor", "hasattr"})
_OF_ONE_TENSOR = frozenset(
    {"is_leaf", "grad_fn", "grad", "retain_grad", "retains_grad", "requires_grad_", "register_hook", "detach_"}
    | {"_version", "_base", "data_ptr", "storage", "untyped_storage", "is"}
)
_DIFFERENTIATE = ("autograd.grad", "autograd.backward", "Tensor.backward")


def judge_selection(
    names: Sequence[str],
    sides: Sequence[Given | None],
    values: Sequence[Value],
    uses: Sequence[ast.expr],
    scope: Scope,
    at: ast.AST,
    template: Template,
    computed: ast.stmt | None = None,
    finite: Collection[ast.expr] = (),
) -> str:
    """Note what stands in the way of computing all sides and selecting one; what to append to the selection.

    `names` are the targets; a side that is None keeps what the target has. `uses` are the places where two selected
    numbers would go, and `at` is the statement or expression that is replaced. `computed` is the statement in which
    the sides are computed, where that is another one. `finite` are sides that `double_where` writes.
    """
    if _is_truth(values, names, at):
        template.refuse(as_tensor(names, uses, scope))
    constants = numbers(values)
    if constants is not None or any(value.leaves for value in values):
        for test in (node.test for node in ast.walk(at) if isinstance(node, ast.If | ast.IfExp)):
            template.refuse(scope.recomputed(test, _own_writes(uses, scope)))
    if constants is not None:
        if any(value.const is None for value in values):
            steps = [step for side in sides if side is not None for step in side.steps]
            template.refuse(scope.legality.both_evaluated(steps, scope.facts))
        suffix, obstacles = number_conversion(uses, constants, scope, at)
        template.refuse(obstacles)
        return suffix
    last = len(sides) - 1
    for index in range(last):
        pair = (values[index], values[last])
        template.refuse(_selected((sides[index], sides[last]), pair, scope, at, names, computed, finite))
    if names and all(v.is_unknown for v in values) and not any(_is_more_than_handed_on(name, scope) for name in names):
        template.refuse([Obstacle(f"nothing tells that `{names[0]}` is a tensor: it is only handed on")])
    if any(v.is_(Kind.STATIC, Kind.SIZE) for v in values):
        read = next((use for use in uses if needs_number(use, scope)), None)
        if read is not None:
            template.refuse([Obstacle(f"line {read.lineno} needs a Python number, and would read the tensor")])
    if not all(v.is_tensor for v in values):
        template.refuse(_asked_for_type(names, scope.statement(at), scope))
    kept = [v for side, v in zip(sides, values, strict=True) if side is None or _shares(side.node, v, scope)]
    template.refuse(scope.legality.memory.aliasing(names, kept, scope.statement(at), scope.facts))
    asked = _OF_ONE_TENSOR if kept else frozenset[str]()
    if not all(are_same(value.leaves, values[-1].leaves) for value in values):
        asked |= {"requires_grad"}
    template.refuse(_asked_for_identity(names, asked, scope.statement(at), scope))
    return ""


def _is_more_than_handed_on(name: str, scope: Scope) -> bool:
    """Whether a function does more with a local name than to return it, or to put it into an object or a list."""
    if not name.isidentifier():
        return True
    for load in scope.function.of(ast.Name):
        if load.id != name or not isinstance(load.ctx, ast.Load):
            continue
        around = scope.parents.get(load)
        if isinstance(around, ast.keyword):
            around = scope.parents.get(around)
        if isinstance(around, ast.Call):
            made = ast.unparse(around.func).rpartition(".")[2].lstrip("_")
            if load is around.func or not made[:1].isupper() or (scope.callee(around) or "").startswith("torch."):
                return True
        elif not isinstance(around, ast.Return | ast.Tuple | ast.List | ast.Dict):
            return True
    return False


def _picks_from(end: ast.expr, other: str, at: ast.AST, scope: Scope) -> bool:
    """Whether a side is rows of the other: `x[rows]` beside `x` where the test asks `rows`, or values list them."""
    if not isinstance(end, ast.Subscript) or ast.unparse(end.value) != other:
        return False
    rows = end.slice.elts[0] if isinstance(end.slice, ast.Tuple) and end.slice.elts else end.slice
    if not isinstance(rows, ast.Name):
        return False
    asked = isinstance(at, ast.If | ast.IfExp) and any(
        isinstance(n, ast.Name) and n.id == rows.id for n in ast.walk(at.test)
    )
    return scope.value(rows).may_be(Kind.TENSOR) and (asked or selection_of(rows, scope) is not None)


def _is_truth(values: Sequence[Value], names: Sequence[str], at: ast.AST) -> bool:
    """Whether an `if` selects a truth, for a name or to return it."""
    return are_truths(values) and (bool(names) or isinstance(at, ast.If))


def _asked_for_type(names: Sequence[str], at: ast.stmt, scope: Scope) -> Iterator[Obstacle]:
    """Whether what is selected is asked for its type later: where a side is no tensor, the answer would be another."""
    for name in names:
        for load in scope.names(name) if name.isidentifier() else ():
            call = scope.parents.get(load)
            if (
                isinstance(call, ast.Call)
                and load in call.args[:1]
                and scope.callee(call) in _TYPE_QUESTIONS
                and load.lineno > (at.end_lineno or at.lineno)
            ):
                yield Obstacle(f"line {load.lineno} asks for the type of `{name}`, which would always be a tensor")


def _asked_for_identity(names: Sequence[str], asked: Collection[str], at: ast.stmt, scope: Scope) -> Iterator[Obstacle]:
    """Whether code asks later which tensor it has, by `is` or an attribute in `asked`.

    Where a tensor was kept, there is a new one now, which is never a leaf.
    """
    again = any(isinstance(around, ast.For | ast.While) for around in scope.ancestors(at))
    for name in names:
        for load in scope.names(name) if name.isidentifier() else ():
            later = again or load.lineno > (at.end_lineno or at.lineno)
            if later and _asks(load, asked, scope):
                yield Obstacle(f"line {load.lineno} asks which tensor `{name}` is, which would always be a new one")


def _asks(load: ast.Name, asked: Collection[str], scope: Scope) -> bool:
    parent = scope.parents.get(load)
    if isinstance(parent, ast.Attribute):
        return parent.attr in asked
    if "is" in asked and isinstance(parent, ast.Compare) and isinstance(parent.ops[0], ast.Is | ast.IsNot):
        return not any(isinstance(side, ast.Constant) for side in (parent.left, *parent.comparators))
    if "is" not in asked:
        return False
    return _is_differentiated_by(load, scope) or _is_key(load, parent, scope)


def _is_key(load: ast.Name, parent: ast.AST | None, scope: Scope) -> bool:
    """Whether a tensor is looked up, or kept, by its identity: `x in seen`, `known[x]`, `{x: 1}`, `id(x)`."""
    if isinstance(parent, ast.Compare):
        return parent.left is load and isinstance(parent.ops[0], ast.In | ast.NotIn)
    if isinstance(parent, ast.Subscript):
        return parent.slice is load and scope.value(parent.value).is_(Kind.CONTAINER)
    if isinstance(parent, ast.Dict):
        return load in parent.keys
    if isinstance(parent, ast.Call):
        return load in parent.args and scope.callee(parent) in ("id", "hash", "weakref.ref")
    return isinstance(parent, ast.Set)


def _is_differentiated_by(load: ast.Name, scope: Scope) -> bool:
    """Whether a gradient with respect to a tensor is asked for: what was computed of the one before has none."""
    asked: ast.expr = load
    around = scope.parents.get(load)
    while isinstance(around, ast.Tuple | ast.List | ast.keyword):
        asked = asked if isinstance(around, ast.keyword) else around
        around = scope.parents.get(around)
    if not isinstance(around, ast.Call) or not (scope.callee(around) or "").endswith(_DIFFERENTIATE):
        return False
    named = any(k.arg == "inputs" and k.value is asked for k in around.keywords)
    return named or ((scope.callee(around) or "").endswith(".grad") and asked in around.args[1:2])


def _own_writes(uses: Sequence[ast.expr], scope: Scope) -> frozenset[ast.AST]:
    """The writes in place that are all that a number is used for: `x.div_(n)` in every use of `n`.

    What is written is then what the number works on. Where that needs a gradient it is not read again (measured in
    tests/codemods/test_recomputed.py), and where it needs none nobody asks for the number in the backward pass.
    """
    found = [scope.parents.get(use) for use in uses]
    calls = [
        call
        for call, use in zip(found, uses, strict=True)
        if isinstance(call, ast.Call)
        and call.args == [use]
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in ("mul_", "div_")
    ]
    return frozenset(calls) if len(calls) == len(uses) else frozenset()


def _selected(
    sides: tuple[Given | None, Given | None],
    values: tuple[Value, Value],
    scope: Scope,
    at: ast.AST,
    names: Sequence[str],
    computed: ast.stmt | None,
    finite: Collection[ast.expr],
) -> Iterator[Obstacle]:
    steps = [step for side in sides if side is not None for step in side.steps]
    yield from scope.legality.both_evaluated(steps, scope.facts)
    unmended = [side.node for side in sides if side is not None and side.node not in finite]
    yield from scope.legality.indices(unmended, scope.facts)
    if not _is_truth(values, names, at):
        yield from same_type(*values)
    yield from _unlike(sides, scope, at, names)
    then, orelse = (side.node if side is not None else None for side in sides)
    kept = frozenset(names) if None in sides else frozenset[str]()
    used = {ast.unparse(n) for step in steps for n in reached(step, scope.facts) if is_path(n)}
    for side, value in zip(sides, values, strict=True):
        if side is None:
            for name in names:
                if name.replace(".", "").isidentifier() and name not in used:
                    yield from scope.legality.derivatives.kept(name, value, scope.statement(at), scope.facts)
    decided = scope.statement(at)
    yield from scope.legality.derivatives.gradients(then, orelse, values, scope.facts, kept, finite, decided)
    if values[0].leaves or values[1].leaves:
        earlier = [step for side in sides if side is not None for step in side.steps[:-1]]
        yield from scope.legality.derivatives.finite(earlier, scope.facts)
    yield from scope.legality.memory.saved(steps, computed or scope.statement(at), scope.facts)
    if is_changed(scope, at) and not is_only_computed_with(names, scope, at):
        yield from _unrecorded(sides, values, scope, at)


def _unlike(
    sides: tuple[Given | None, Given | None], scope: Scope, at: ast.AST, names: Sequence[str]
) -> Iterator[Obstacle]:
    """Where the sides are seen to be no two tensors of one shape, dtype, device and layout."""
    shown = [ast.unparse(side.node) if side is not None else ", ".join(names) for side in sides]
    given = [(shown[0], shown[1], at), *_given_in(at, names)]
    if any(asked_to_differ(one, other, place, scope) for one, other, place in given):
        yield Obstacle(f"the sides differ in shape where `{shown[0]}.shape` was compared with `{shown[1]}.shape`")
    ways = [tuple(ends_of(side.node)) if side is not None else () for side in sides]
    for first, second in product(*ways):
        if is_placed_otherwise(first, second):
            yield Obstacle(f"the sides differ in shape: `{snippet(first)}` and `{snippet(second)}`")
        whole, divided = (first, second) if scope.value(first).dtype in ("bool", "int") else (second, first)
        if scope.value(whole).is_tensor and scope.value(whole).dtype in ("bool", "int") and _is_quotient(divided):
            yield Obstacle(f"the sides differ in dtype: `{snippet(divided)}` is never {scope.value(whole).dtype}")
    for side, other in zip(sides, reversed(shown), strict=True):
        ends = tuple(ends_of(side.node)) if side is not None else ()
        for end in ends:
            if is_resized(end, other, scope):
                yield Obstacle(f"the sides differ in shape: `{snippet(end)}` has another one than `{other}`")
            if is_empty(end, scope) and other != ast.unparse(end):
                yield Obstacle(f"the sides differ in shape: `{snippet(end)}` has no elements")
            if is_other_object(end, scope):
                yield Obstacle(f"`{snippet(end)}` is not a tensor")
            if is_ragged(end, scope) or _picks_from(end, other, at, scope):
                yield Obstacle(f"the size of `{snippet(end)}` depends on values, and is not that of the other side")
        calls = [end.func for end in ends if isinstance(end, ast.Call)]
        if any(isinstance(func, ast.Attribute) and func.attr == "contiguous" for func in calls):
            yield Obstacle("one side is laid out anew in memory, and a later `view` depends on it", "same-shape-dtype")
    taken = [end.id for side in sides if side is not None for end in ends_of(side.node) if isinstance(end, ast.Name)]
    for name in dict.fromkeys((*names, *taken)):
        read = asked_as_object(name, at, scope, before=None in sides or name in taken)
        if read is not None:
            yield Obstacle(f"`{name}` is not a tensor, which has no `{read.attr}`")
    held = [ast.unparse(end) for side in sides if side is not None for end in ends_of(side.node) if is_path(end)]
    use = used_as_object(names, held, at, scope, before=None in sides)
    if use is not None:
        yield Obstacle(f"`{snippet(use)}` calls or uses what is selected as no tensor is used")
    tests = [node.test for node in ast.walk(at) if isinstance(node, ast.If | ast.IfExp)]
    for side in sides:
        made = side is not None and on_default_device(side.node, scope)
        if side is not None and made and not all(on_default_device(test, scope) for test in tests[:1]):
            reason = f"`{snippet(side.node)}` is made on the default device, and the condition may be on another one"
            yield Obstacle(reason, "same-shape-dtype")


def _unrecorded(
    sides: tuple[Given | None, Given | None], values: tuple[Value, Value], scope: Scope, at: ast.AST
) -> Iterator[Obstacle]:
    """Where a side would lose its gradient, as none is recorded for what is selected."""
    for side, value in zip(sides, values, strict=True):
        if value.leaves and (side is None or side.built or side.hands_on):
            decorated = is_decorated(scope, at)
            if decorated and not _keeps_leaf(value, scope):
                continue  # it was computed here
            # Of its arguments a whole function hands one on as it was given; a parameter of a module is trained.
            arguments = {parameter.arg for parameter in scope.function.parameters}
            handed_on = decorated and all(leaf_of(leaf) in arguments for leaf in value.leaves)
            reason = "no gradient is recorded here: the selected tensor would lose the one that it has"
            yield Obstacle(reason, "no-aliasing" if handed_on else None)


def _keeps_leaf(value: Value, scope: Scope) -> bool:
    """Whether a tensor may share the memory of one that its gradient would go to, and is not only computed of it."""
    memory = value.storage
    leaves = set(map(leaf_of, value.leaves))
    if all(token.startswith(f"{scope.function.qualname}@") for token in memory):
        leaves.discard(ANY_LEAF)  # it is new memory, and the leaf was there before
    return bool(memory) and (ANY_LEAF in leaves or any({leaf, f"param:{leaf}"} & memory for leaf in leaves))


def _is_quotient(node: ast.expr) -> bool:
    """Whether an expression is a true division, which gives no integers."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)


def _given_in(at: ast.AST, names: Sequence[str]) -> Iterator[tuple[str, str, ast.AST]]:
    """What the names are given in a branch, each name, and where: a test inside the branch may say more of it."""
    for node in ast.walk(at) if isinstance(at, ast.If) else ():
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id in names:
            yield ast.unparse(node.value), target.id, node


def _shares(node: ast.expr, value: Value, scope: Scope) -> bool:
    """Whether a value may be, or be a view of, a tensor that stands in its expression."""
    names = (n for n in ast.walk(node) if isinstance(n, ast.Name | ast.Attribute))
    return any(may_share(scope.value(name).storage, value.storage) for name in names)
