"""The statements behind an early return: what stands in the way of running them always."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis import torch_api
from compilefix.analysis.in_place import OUTSIDE, written_always
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value, may_share
from compilefix.codemods.control_flow.guarded_effects import is_noted
from compilefix.codemods.control_flow.guarded_writes import guarded_write, needs_elements
from compilefix.codemods.control_flow.liveness import QUIET_CONTEXTS
from compilefix.codemods.control_flow.masks import Mask
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.source.snippets import snippet
from compilefix.source.tree import stored_in

_OF_THE_TENSOR = frozenset({"requires_grad_", "detach_", "resize_", "resize_as_", "set_"})
"""Methods that change more of a tensor than its elements."""
_KEEPS = (Kind.STATIC, Kind.SIZE, Kind.NONE, Kind.NUMBER)


@dataclass(frozen=True)
class WayOn:
    """What runs between an `if` that returns and the last return.

    early: the values that are returned there. empty: the masks that select nothing (or all) there. noting: whether
    what is noted for the boundary can be noted together with the condition.
    """

    node: ast.If
    early: tuple[Value, ...]
    body: tuple[ast.stmt, ...]
    empty: tuple[Mask, ...] = ()
    noting: bool = False

    def returns_inside(self) -> bool:
        """Whether there is a way out within a loop or `with`."""
        blocks = (s for s in self.statements() if isinstance(s, ast.For | ast.While | ast.With | ast.Try | ast.Match))
        return any(isinstance(n, ast.Return) for block in blocks for n in ast.walk(block))

    def statements(self) -> Iterator[ast.stmt]:
        """The statements and, for an `if`, those in it."""
        for statement in self.body:
            yield from statements_of(statement)


def statements_of(statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement and, for an `if`, those in it."""
    yield statement
    if isinstance(statement, ast.If):
        for inner in (*statement.body, *statement.orelse):
            yield from statements_of(inner)


def runs_always(way: WayOn, scope: Scope, template: Template) -> str | None:
    """Note what stands in the way of running the statements always; the reason where it is not possible."""
    for statement in way.body:
        reason = _statement(statement, way, scope, template)
        if reason is not None:
            return reason
    return None


def computed(way: WayOn) -> Iterator[ast.expr]:
    """What is computed and kept on the way."""
    for statement in way.body:
        for part in ast.walk(statement):
            if isinstance(part, ast.Assign | ast.AugAssign | ast.AnnAssign) and part.value is not None:
                yield part.value


def notes_of(way: WayOn, scope: Scope) -> list[ast.Call]:
    """What is noted for the boundary on the way: `emit(lambda: ValueError("empty"), raise_if=t.sum() == 0)`."""
    calls = (n for statement in way.body for n in ast.walk(statement) if isinstance(n, ast.Call))
    return [call for call in calls if is_noted(call, scope)]


def writes(way: WayOn) -> bool:
    """Whether something on the way writes in place."""
    parts = (part for statement in way.body for part in ast.walk(statement))
    return any(
        isinstance(p, ast.AugAssign)
        or (isinstance(p, ast.Subscript) and isinstance(p.ctx, ast.Store))
        or (isinstance(p, ast.Expr) and _written_by(p.value) is not None)
        for p in parts
    )


def _written_by(node: ast.expr) -> ast.expr | None:
    """The tensor that a call of a method writes into, and nothing else: `x` of `x.scatter_(0, index, values)`."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    api = torch_api.method(node.func.attr)
    if api is None or not api.mutates or api.random or api.host or node.func.attr in _OF_THE_TENSOR:
        return None
    return node.func.value


def _statement(statement: ast.stmt, way: WayOn, scope: Scope, template: Template) -> str | None:
    no = f"a branch returns before `{snippet(statement)}`, which would always run"
    if isinstance(statement, ast.Pass | ast.Return | ast.Break | ast.Continue):
        return None
    if isinstance(statement, ast.If):
        if is_tensor_test(statement.test, scope):
            return no
        template.refuse(scope.legality.both_evaluated([statement.test], scope.facts))
        return _block([*statement.body, *statement.orelse], way, scope, template)
    if isinstance(statement, ast.For):
        if not isinstance(statement.target, ast.Name | ast.Tuple):
            return no
        template.refuse(scope.legality.both_evaluated([statement.iter], scope.facts))
        if not scope.value(statement.iter).is_(Kind.CONTAINER, Kind.STATIC):
            template.refuse([Obstacle(f"`{snippet(statement.iter)}` may have no items", "branches-total")])
        return _block([*statement.body, *statement.orelse], way, scope, template)
    if isinstance(statement, ast.With):
        calls = [item.context_expr for item in statement.items]
        if not all(scope.callee(call) in QUIET_CONTEXTS for call in calls):
            return no
        return _block(statement.body, way, scope, template)
    if isinstance(statement, ast.Raise | ast.Assert):
        if isinstance(statement, ast.Assert) and is_tensor_test(statement.test, scope):
            return no
        if isinstance(statement, ast.Assert):
            template.refuse(scope.legality.both_evaluated([statement.test], scope.facts))
        template.refuse([Obstacle(f"`{snippet(statement)}` may be reached on the other side too", "branches-total")])
        return None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return None
    if way.empty and _selects_nothing(statement, way, scope, template):
        return None
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return _assignment(statement, way, scope, template) or None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        if way.noting and is_noted(statement.value, scope):
            return None
        written = _written_by(statement.value)
        if written is not None:
            return _method(statement, statement.value, written, way, scope, template)
        return None if _collects(statement.value, way, scope, template) else no
    return no


def _selects_nothing(statement: ast.stmt, way: WayOn, scope: Scope, template: Template) -> bool:
    """Whether a statement writes only to what a mask selects that is empty where the branch returns."""
    given = stored_in(*way.body)
    write = guarded_write(statement, [mask for mask in way.empty if not mask.names & given], way.node, scope)
    if write is None or needs_elements([statement], way.empty, scope.function.node, scope) is not None:
        return False
    template.refuse(write.obstacles(scope))
    return True


def _block(body: Sequence[ast.stmt], way: WayOn, scope: Scope, template: Template) -> str | None:
    return next((reason for s in body if (reason := _statement(s, way, scope, template)) is not None), None)


def _assignment(
    statement: ast.Assign | ast.AnnAssign | ast.AugAssign, way: WayOn, scope: Scope, template: Template
) -> str | None:
    if statement.value is None:
        return None
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    flat = [n for t in targets for n in (t.elts if isinstance(t, ast.Tuple | ast.List) else [t])]
    template.refuse(scope.legality.both_evaluated([statement.value], scope.facts))
    template.refuse(scope.legality.indices([statement.value], scope.facts))
    for target in flat:
        if isinstance(target, ast.Name):
            value = scope.value(target)
            if not isinstance(statement, ast.AugAssign) or value.is_(*_KEEPS):
                continue
            memory = value
        elif isinstance(target, ast.Subscript):
            memory = scope.value(target.value)
            template.refuse(scope.legality.both_evaluated([target.value, target.slice], scope.facts))
            template.refuse(scope.legality.indices([target], scope.facts))
            if memory.may_be(Kind.TENSOR):
                reason = f"`{snippet(target)} = ...` may not fit the other side's inputs"
                template.refuse([Obstacle(reason, "branches-total")])
        else:
            return f"a branch returns before `{snippet(statement)}`, which would always run"
        held = _held(memory, statement, way, scope, template)
        if held is not None:
            return held
    return None


def _method(
    statement: ast.stmt, call: ast.Call, written: ast.expr, way: WayOn, scope: Scope, template: Template
) -> str | None:
    """The reason why a method that writes into a tensor may not always run."""
    given = [*call.args, *(k.value for k in call.keywords)]
    template.refuse(scope.legality.both_evaluated([written, *given], scope.facts))
    template.refuse(scope.legality.indices([call], scope.facts))
    template.refuse([Obstacle(f"`{snippet(call)}` may not fit the other side's inputs", "branches-total")])
    return _held(scope.value(written), statement, way, scope, template)


def _held(memory: Value, statement: ast.stmt, way: WayOn, scope: Scope, template: Template) -> str | None:
    """The reason why the memory that a statement writes into may not be written always."""
    shared = not memory.storage or any(token.startswith(OUTSIDE) for token in memory.storage)
    if memory.is_(Kind.CONTAINER) and _is_made_on(statement, way):
        return None
    if shared or not memory.is_tensor:
        return f"a branch returns before `{snippet(statement)}`, which would always run"
    if any(may_share(value.storage, memory.storage) for value in way.early):
        return f"`{snippet(statement)}` would write into what a branch returns before it"
    template.refuse(written_always(memory, statement, way.node, scope.facts))
    return None


def _is_made_on(statement: ast.stmt, way: WayOn) -> bool:
    """Whether a container that a statement changes is one that the way on itself makes, under a name of its own."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    target: ast.AST | None = None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        target = call.func.value
    elif isinstance(statement, ast.Assign):
        target = next((t.value for t in statement.targets if isinstance(t, ast.Subscript)), None)
    elif isinstance(statement, ast.AugAssign):
        target = statement.target.value if isinstance(statement.target, ast.Subscript) else statement.target
    if not isinstance(target, ast.Name):
        return False
    fresh = {s for s in way.body if _binds(s, target.id) and isinstance(getattr(s, "value", None), ast.List | ast.Dict)}
    bound = {n for s in way.body for n in ast.walk(s) if isinstance(n, ast.stmt) and _binds(n, target.id)}
    later = {s for s in way.body if s.lineno > statement.lineno}
    return bool(fresh - later) and bound - later == fresh - later


def _binds(statement: ast.stmt, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign | ast.For):
        targets = [statement.target]
    return any(isinstance(n, ast.Name) and n.id == name for t in targets for n in (t, *getattr(t, "elts", [])))


def _collects(call: ast.Call, way: WayOn, scope: Scope, template: Template) -> bool:
    """Whether a call only adds to a list that the way on itself makes."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("append", "extend"):
        return False
    if not scope.value(call.func.value).is_(Kind.CONTAINER) or not _is_made_on(scope.statement(call), way):
        return False
    template.refuse(scope.legality.both_evaluated(call.args, scope.facts))
    return not call.keywords
