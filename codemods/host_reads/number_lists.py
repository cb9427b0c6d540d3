"""Numbers that are read from a tensor all at once: `low, high = t.tolist()`, `for n in t.tolist()`, `t.tolist()[0]`.

A list of tensors without dimensions, `t.unbind()`, takes the place of the list of numbers where each of them may stay a
tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value, replace
from compilefix.codemods.devices import on_default_device
from compilefix.codemods.finding import Fix
from compilefix.codemods.host_reads.number_flow import Flow
from compilefix.codemods.host_reads.number_follow import follow, follow_name
from compilefix.codemods.host_reads.number_rewrite import fix_of, stands_for
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

LIST_ADVICE = "work on the tensor itself, or make the list before the compiled code"


def list_fix(node: ast.Call, source: ast.expr, scope: Scope) -> Fix | str:
    """The fix for `source.tolist()`, or why there is none."""
    read = _with_dtype(scope.value(source), source, scope)
    if read.rank not in (None, 1) or not read.is_tensor:
        return LIST_ADVICE
    flow = Flow(read, boolean=read.dtype == "bool", listed=True)
    flow.elsewhere = not on_default_device(source, scope)
    _items(node, scope, flow)
    template = Template()
    template.refuse(flow.obstacles)
    template.refuse(scope.recomputed(source))
    if read.rank is None:
        reason = f"`{snippet(source)}` is not proved to have one dimension: with more, an item is a list of numbers"
        template.refuse([Obstacle(reason, "enough-dimensions")])
    # A tensor is indexed, unpacked, gone through and asked for its length as the tuple of its items is.
    items = "" if flow.reduced else ".unbind()"
    code = f"{stands_for(source, 'item', flow, scope, template, one=False)}{items}"
    return template.broken or fix_of(node, code, flow, template, scope)


def _with_dtype(read: Value, source: ast.expr, scope: Scope) -> Value:
    """What is known of the tensor that is read; one that is stacked of tensors of one sort is of that sort."""
    stacked = isinstance(source, ast.Call) and scope.callee(source) in ("torch.stack", "torch.cat")
    parts = source.args[0] if isinstance(source, ast.Call) and stacked and source.args else None
    if read.dtype is not None or not isinstance(parts, ast.List | ast.Tuple):
        return read
    sorts = {scope.value(part).dtype if scope.value(part).certain else None for part in parts.elts}
    return replace(read, dtype=sorts.pop()) if len(sorts) == 1 else read


def _items(node: ast.expr, scope: Scope, flow: Flow) -> None:
    """Follow each item of a list to the places that it gets to."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Assign) and parent.value is node and len(parent.targets) == 1:
        target = parent.targets[0]
        if isinstance(target, ast.Name):
            _named(target.id, scope, flow)
        else:
            _unpacked(target, scope, flow, stored=parent)
    elif isinstance(parent, ast.Subscript) and parent.value is node and is_position(parent, scope):
        follow(parent, scope, flow)
    elif isinstance(parent, ast.Call) and scope.callee(parent) == "len" and parent.args == [node]:
        pass  # of a tuple as of a list
    elif isinstance(parent, ast.Call) and _is_reduction(parent, node, scope) and flow.read.dtype == "int":
        _reduced(parent, node, scope, flow)
    elif (item := given_in_turn(node, scope)) is not None:
        _unpacked(item, scope, flow)
    else:
        flow.refuse(LIST_ADVICE)


def _is_reduction(call: ast.Call, listed: ast.expr, scope: Scope) -> bool:
    return scope.callee(call) in ("max", "min", "sum") and call.args == [listed] and not call.keywords


def _reduced(call: ast.Call, listed: ast.expr, scope: Scope, flow: Flow) -> None:
    """The largest, the smallest or the sum of integers: that of floats is rounded, and NaN has a place of its own."""
    method = scope.callee(call)
    flow.reduced = True
    if method != "sum":
        reason = f"of no elements `{snippet(call)}` raises a ValueError, and a tensor something else"
        flow.obstacles.append(Obstacle(reason, "dimension-not-empty"))
    flow.rewrites.append((call, lambda render: f"{render(listed)}.{method}()"))
    follow(call, scope, flow)


def _named(name: str, scope: Scope, flow: Flow) -> None:
    """Follow a list under its one name."""
    loads = scope.names(name)
    given = scope.function.takes(name)
    if given or len(scope.function.loads(name)) != len(loads) or len(scope.names(name, stores=True)) != 1 or not loads:
        flow.refuse(LIST_ADVICE)
    for load in loads:
        _items(load, scope, flow)


def _unpacked(target: ast.expr, scope: Scope, flow: Flow, stored: ast.Assign | None = None) -> None:
    """Follow the names that the items of a list are given."""
    names = list(_names(target)) if stored is not None else [target]
    for name in names:
        if not isinstance(name, ast.Name):
            flow.refuse(LIST_ADVICE)
        elif len(names) == 1 or scope.function.loads(name.id):
            follow_name(name.id, scope, flow, stored=stored, within=_comprehension(name, scope))


def _comprehension(name: ast.Name, scope: Scope) -> tuple[ast.AST, ...]:
    """Where a name is seen that a comprehension gives its items: nowhere else, also if others have the same name."""
    given = next((around for around in scope.ancestors(name) if isinstance(around, ast.comprehension | ast.stmt)), None)
    whole = scope.parents.get(given) if isinstance(given, ast.comprehension) else None
    if whole is None:
        return ()
    outside = set(ast.walk(whole.generators[0].iter))  # type: ignore[attr-defined]
    return tuple(node for node in ast.walk(whole) if node not in outside)


def _names(target: ast.expr) -> Iterator[ast.expr]:
    yield from target.elts if isinstance(target, ast.Tuple | ast.List) else [target]


def is_position(item: ast.Subscript, scope: Scope) -> bool:
    """Whether one item is read, at a place that Python knows."""
    value = scope.value(item.slice)
    single = not isinstance(item.slice, ast.Slice | ast.Tuple)
    return single and isinstance(item.ctx, ast.Load) and value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int"


def given_in_turn(node: ast.expr, scope: Scope) -> ast.expr | None:
    """What a loop or comprehension over a list names its items, by `enumerate` and `zip` too."""
    around = scope.parents.get(node)
    positions: list[int] = []
    while isinstance(around, ast.Call) and scope.callee(around) in ("enumerate", "zip") and node in around.args:
        if any(isinstance(argument, ast.Starred) for argument in around.args):
            return None
        first = scope.callee(around) == "enumerate"
        if first and around.args[0] is not node:
            return None
        positions.append(1 if first else around.args.index(node))
        node, around = around, scope.parents.get(around)
    if not isinstance(around, ast.For | ast.comprehension) or around.iter is not node:
        return None
    target = around.target
    for position in reversed(positions):
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
        if position >= len(parts) or any(isinstance(part, ast.Starred) for part in parts):
            return None
        target = parts[position]
    return target
