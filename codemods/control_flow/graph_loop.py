"""A `while` loop that a tensor ends and that has no bound, as `torch.while_loop` in the graph.

Only for tensors through which no gradient flows, and for turns that Dynamo traces for certain: what it cannot trace in
there is an error, and no graph break.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis import torch_api
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.leaves import ANY_LEAF, leaf_of
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Value
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import single_target
from compilefix.source.tree import elements_of, names_in

_TRACED = (
    ast.Name,
    ast.Attribute,
    ast.Constant,
    ast.Call,
    ast.keyword,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.Subscript,
    ast.Slice,
    ast.Tuple,
    ast.List,
    ast.operator,
    ast.unaryop,
    ast.cmpop,
    ast.expr_context,
)
_IDENTITY = (ast.Is, ast.IsNot, ast.In, ast.NotIn)
_DEPTH = 4


def graph_loop(loop: ast.While, scope: Scope, template: Template) -> str | None:
    """The loop as `torch.while_loop` where Dynamo traces, and as it was elsewhere; None where that cannot be."""
    reason = next(_broken(loop, scope), None)
    if reason is not None:
        template.refuse([Obstacle(reason)])
        return None
    names = _carried(loop, scope)
    statements = [s for s in loop.body if isinstance(s, ast.Assign)]
    before = [scope.facts.env_before[loop][name] for name in names]
    after = [next(scope.value(s.value) for s in reversed(statements) if _target(s) == name) for name in names]
    for name, first, last in zip(names, before, after, strict=True):
        if first.shape_id is None or first.shape_id != last.shape_id or first.dtype_id != last.dtype_id:
            reason = f"a turn is not proved to keep the shape and dtype of `{name}`"
            template.refuse([Obstacle(reason, "same-shape-dtype")])
    template.refuse(scope.legality.memory.aliasing(names, [*before, *after], loop, scope.facts))
    asked, turn = free_name("goes_on", scope), free_name("turn", scope)
    torch, all_names = torch_name(scope), ", ".join(names)
    comma = "," if len(names) == 1 else ""
    body = [f"        {_target(s)} = {template.use(s.value)}" for s in statements]
    template.parts["loop"] = loop
    return "\n".join(
        [
            f"if {torch}.compiler.is_compiling():",
            f"    def {asked}({all_names}):",
            f"        return {template.use(loop.test)}",
            "",
            f"    def {turn}({all_names}):",
            *body,
            f"        return {', '.join(f'{name}.clone()' for name in names)}{comma}",
            "",
            f"    {all_names}{comma} = {torch}.while_loop({asked}, {turn}, ({all_names}{comma}))",
            "else:",
            "    {loop}",
        ]
    )


def _broken(loop: ast.While, scope: Scope) -> Iterator[str]:
    """What stands in the way."""
    if loop.orelse or not all(isinstance(s, ast.Assign) and _target(s) is not None for s in loop.body):
        yield "the number of turns is not known, and a turn does more than give tensors new values"
        return
    if any(n.attr == "is_scripting" for n in scope.of(ast.Attribute)) and not scope.function.of(ast.FunctionDef):
        yield "the function may be scripted, and TorchScript takes no nested function"
    test = scope.value(loop.test)
    if not (test.is_tensor and test.certain and test.dtype == "bool" and test.rank == 0):
        yield f"`{snippet(loop.test)}` is not proved to be one boolean"
    yield from _untraced([loop.test, *(s.value for s in loop.body if isinstance(s, ast.Assign))], scope.facts, scope, 0)
    before, carried = scope.facts.env_before.get(loop, {}), _carried(loop, scope)
    if not carried:
        yield "the loop changes no tensor"
    for carry in carried:
        value = before[carry]
        if not (value.is_tensor and value.certain):
            yield f"`{carry}` is not proved to be a tensor before the loop"
        elif not _has_no_gradient(value, scope):
            yield f"a gradient may flow through `{carry}`, and that of `torch.while_loop` is wrong for zero turns"
    given: set[str] = set()
    for statement in loop.body:
        assert isinstance(statement, ast.Assign)
        name, value = _target(statement) or "", scope.value(statement.value)
        read = names_in(statement.value)
        if not value.is_tensor or not value.certain:
            yield f"`{snippet(statement.value)}` is not proved to be a tensor"
        elif not _has_no_gradient(value, scope):
            yield f"a gradient may flow through `{name}`, and that of `torch.while_loop` is wrong for zero turns"
        if name not in carried and live_after(name, loop, scope):
            yield f"`{name}` is read behind the loop and may have no value before it"
        given.add(name)
        late = {_target(s) for s in loop.body if isinstance(s, ast.Assign)} - given - set(carried)
        if read & late:
            yield f"`{min(n for n in read & late if n)}` is read before a turn gives it a value"


def _has_no_gradient(value: Value, scope: Scope) -> bool:
    """Whether no gradient flows through a value: all that it may hang on are calls that give none."""
    if not value.leaves:
        return True
    calls = {
        f"{ANY_LEAF}{scope.function.qualname}@{node.lineno}:{node.col_offset}:{node.end_col_offset}": callee
        for node, callee in scope.facts.calls.items()
        if isinstance(node, ast.Call)
    }
    roots = {leaf_of(name) for name in value.leaves}
    return all(root in calls and _gives_none(calls[root], scope) for root in roots)


def _gives_none(function: Function, scope: Scope) -> bool:
    facts = scope.legality.inference.facts(function)
    given = [facts.value(node.value) for node in function.of(ast.Return) if node.value is not None]
    return bool(given) and all(value.is_tensor and not value.leaves for value in given)


def _carried(loop: ast.While, scope: Scope) -> list[str]:
    """The names that have a value before the loop and that turns give new ones."""
    before = scope.facts.env_before.get(loop, {})
    names = dict.fromkeys(_target(s) for s in loop.body if isinstance(s, ast.Assign))
    return [name for name in names if name is not None and name in before]


def _target(statement: ast.Assign) -> str | None:
    one = single_target(statement)
    return one.id if isinstance(one, ast.Name) else None


def _untraced(nodes: Sequence[ast.expr], facts: FunctionFacts, scope: Scope, depth: int) -> Iterator[str]:
    """What Dynamo may not trace, or what does more than compute."""
    for whole in nodes:
        does = scope.legality.effects.of(whole, facts)
        for reason in (does.random, does.mutates, does.host, does.unknown):
            if reason is not None:
                yield f"a turn is not free of effects: {reason}"
        for node in ast.walk(whole):
            if not isinstance(node, _TRACED) or isinstance(node, ast.Not):
                yield f"`{snippet(whole)}` is more than tensor operations"
            elif isinstance(node, ast.Compare) and (len(node.ops) > 1 or isinstance(node.ops[0], _IDENTITY)):
                yield f"`{snippet(node)}` is more than tensor operations"
            elif isinstance(node, ast.Subscript) and not _is_fixed_index(node):
                yield f"`{snippet(node)}` may take as many elements as values say"
            elif isinstance(node, ast.Call):
                yield from _untraced_call(node, facts, scope, depth)


def _untraced_call(node: ast.Call, facts: FunctionFacts, scope: Scope, depth: int) -> Iterator[str]:
    callee = facts.calls.get(node)
    if callee is not None:
        yield from _untraced_body(callee, scope, depth + 1)
        return
    name = facts.callee(node) or ""
    is_method = name.startswith("Tensor.")
    api = torch_api.method(name.removeprefix("Tensor.")) if is_method else torch_api.function(name)
    if api is None or api.host or api.dynamic or api.dynamic_form is not None or not facts.value(node).is_tensor:
        yield f"`{snippet(node)}` is not known to stay in the graph"


def _untraced_body(function: Function, scope: Scope, depth: int) -> Iterator[str]:
    if depth > _DEPTH or function.decorators or function.parent is not None or function.cls is not None:
        yield f"`{function.qualname}` is not known to stay in the graph"
        return
    facts = scope.legality.inference.facts(function)
    for statement in function.node.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue
        assigns = isinstance(statement, ast.Assign) and _target(statement) is not None
        made = statement.value if isinstance(statement, ast.Return | ast.Assign) else None
        if made is None or not (assigns or isinstance(statement, ast.Return)):
            yield f"`{function.qualname}` does more than compute"
            return
        yield from _untraced([made], facts, scope, depth)


def _is_fixed_index(node: ast.Subscript) -> bool:
    """Whether the places that a subscript takes are written out as numbers."""
    parts = elements_of(node.slice)
    return all(
        isinstance(n, ast.Constant | ast.UnaryOp | ast.USub | ast.Slice | ast.Load) for p in parts for n in ast.walk(p)
    )
