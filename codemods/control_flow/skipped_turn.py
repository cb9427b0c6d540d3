"""A turn of a loop that a tensor skips, as with layer drop: the turn always runs, and its results are then selected.

    for layer in self.layers:                           for layer in self.layers:
        if self.training and self.layerdrop > 0.0:          if self.training and self.layerdrop > 0.0:
            probability = torch.rand([])                        probability = torch.rand([])
            if probability < self.layerdrop:                    skip = probability < self.layerdrop
                continue                                    x_before = x
        x = layer(x)                                        x = layer(x)
                                                            if self.training and self.layerdrop > 0.0:
                                                                x = torch.where(skip, x_before, x)

The flag may also have a name of its own, `drop = True` in place of `continue` and `if not drop:` round the rest.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.conditions import condition, is_tensor_test
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Template, where
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class Turn:
    """A loop's turn, or the part of it, that a tensor skips.

    test: the tensor that skips it. guard: the fixed condition under which it is looked at, None where it always is.
    mark: the statement that skips, or gives the flag its value. flag: its name, None for `continue`.
    skipped: the statements. block: the `if not flag:` round them. also: the fixed conditions under which they run
    whatever the flag says.
    """

    test: ast.expr
    guard: ast.expr | None
    mark: ast.stmt
    flag: str | None
    skipped: tuple[ast.stmt, ...]
    block: ast.If | None = None
    also: tuple[ast.expr, ...] = ()


def skipped_turn(node: ast.If, scope: Scope) -> Turn | None:
    """The turn that an `if` skips on a tensor: by `continue`, by a flag that it sets, or `if not flag` itself."""
    if node.orelse:
        return None
    if len(node.body) == 1 and isinstance(node.body[0], ast.Continue):
        return _continued(node, scope)
    if len(node.body) == 1 and (name := _set_true(node.body[0])) is not None:
        return _flagged(node, name, scope) if is_tensor_test(node.test, scope) else None
    tests = node.test.values if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or) else [node.test]
    first = tests[0]
    if isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.Not) and isinstance(first.operand, ast.Name):
        return _asked(node, first.operand.id, tests[1:], scope)
    return None


def always_run(turn: Turn, scope: Scope, template: Template) -> tuple[Edit, ...]:
    """The edits after which the turn always runs; none, with the obstacle noted, where that cannot be."""
    names = _results(turn, scope, template)
    template.refuse(_obstacles(turn, names, scope))
    flag = turn.flag or free_name("skip", scope)
    code = condition([turn.test], scope, template)
    if code is None or template.broken is not None:
        return ()
    edits: list[Edit] = []
    if not (isinstance(turn.mark, ast.Assign) and turn.mark.value is turn.test):
        edits.append(scope.edit(turn.mark, f"{flag} = {code}", **template.parts))
    elif code not in ("{p0}",):
        edits.append(scope.edit(turn.test, code, **template.parts))
    elif isinstance(turn.test, ast.BoolOp):
        template.refuse([Obstacle(f"`{flag}` is a tensor or a bool")])
        return ()
    befores = {name: free_name(f"{name}_before", scope) for name in names}
    body = Template()
    first = [f"{before} = {name}" for name, before in befores.items()]
    selected = [f"{name} = {where(scope)}({flag}, {before}, {name})" for name, before in befores.items()]
    loose = isinstance(turn.guard, ast.BoolOp) and isinstance(turn.guard.op, ast.Or)
    conditions = [body.use(turn.guard, operand=loose)] if turn.guard is not None else []
    conditions += [f"not {body.use(part, operand=True)}" for part in turn.also]
    if conditions:
        selected = [f"if {' and '.join(conditions)}:", *(f"    {line}" for line in selected)]
    if turn.block is not None:
        lines = [*first, *(body.use(s) for s in turn.skipped), *selected]
        return (*edits, scope.edit(turn.block, "\n".join(lines), **body.parts))
    last = Template(dict(body.parts))
    if len(turn.skipped) == 1:
        lines = [*first, body.use(turn.skipped[0]), *selected]
        return (*edits, scope.edit(turn.skipped[0], "\n".join(lines), **body.parts))
    head = Template()
    edits.append(scope.edit(turn.skipped[0], "\n".join([*first, head.use(turn.skipped[0])]), **head.parts))
    edits.append(scope.edit(turn.skipped[-1], "\n".join([last.use(turn.skipped[-1]), *selected]), **last.parts))
    return tuple(edits)


# -- what a turn looks like


def _continued(node: ast.If, scope: Scope) -> Turn | None:
    """`if t: continue` at the beginning of a turn, alone or as the end of a fixed `if`."""
    if not is_tensor_test(node.test, scope):
        return None
    around, guard = _guard_of(node, scope)
    loop = scope.parents.get(around)
    if not isinstance(loop, ast.For) or around not in loop.body:
        return None
    rest = loop.body[loop.body.index(around) + 1 :]
    return Turn(node.test, guard, node, None, tuple(rest)) if rest else None


def _flagged(node: ast.If, name: str, scope: Scope) -> Turn | None:
    """`if t: flag = True`, where `flag = False` stands before it and `if not flag:` behind."""
    around, guard = _guard_of(node, scope)
    found = _uses(name, around, node.body[0], scope)
    if found is None:
        return None
    block, also = found
    return Turn(node.test, guard, node, name, tuple(block.body), block, also)


def _asked(node: ast.If, name: str, also: Sequence[ast.expr], scope: Scope) -> Turn | None:
    """`if not flag:`, where `flag = t` stands before it, behind `flag = False` under a fixed `if` or by itself."""
    marks = [
        s
        for s in scope.of(ast.Assign)
        if isinstance(s.targets[0], ast.Name) and s.targets[0].id == name and not _is(s.value, False)
    ]
    if len(marks) != 1 or len(marks[0].targets) != 1:
        return None
    mark, test = marks[0], marks[0].value
    around, guard = _guard_of(mark, scope)
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) and guard is None and len(test.values) == 2:
        guard, test = test.values
    if not is_tensor_test(test, scope) or (guard is not None and is_tensor_test(guard, scope)):
        return None
    if guard is None:
        return None  # the flag is a tensor on every run
    found = _uses(name, around, mark, scope, always=around is mark)
    if found is None or found[0] is not node or any(is_tensor_test(a, scope) for a in also):
        return None
    return Turn(test, guard, mark, name, tuple(node.body), node, tuple(also))


def _guard_of(node: ast.stmt, scope: Scope) -> tuple[ast.stmt, ast.expr | None]:
    """The fixed `if` that a statement ends, with its test; the statement itself where there is none."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.If) and not parent.orelse and parent.body[-1] is node:
        return (parent, parent.test) if not is_tensor_test(parent.test, scope) else (node, None)
    return node, None


def _uses(
    name: str, around: ast.stmt, mark: ast.stmt, scope: Scope, *, always: bool = False
) -> tuple[ast.If, tuple[ast.expr, ...]] | None:
    """The only use of a flag, `if not flag:`, behind the statement that may set it; before that it is False."""
    block = scope.block(around)
    stores = [scope.statement(n) for n in scope.names(name, stores=True)]
    start = [s for s in stores if s is not mark]
    if not always and (len(start) != 1 or start[0] not in block or block.index(start[0]) > block.index(around)):
        return None
    if (always and start) or (start and not (isinstance(start[0], ast.Assign) and _is(start[0].value, False))):
        return None
    everywhere = [n for n in scope.function.nodes if isinstance(n, ast.Name) and n.id == name]
    loads = scope.names(name)
    if len(loads) != 1 or len(everywhere) != len(loads) + len(stores):
        return None
    for statement in block[block.index(around) + 1 :]:
        if isinstance(statement, ast.If) and not statement.orelse and loads[0] in ast.walk(statement.test):
            test = statement.test
            tests = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
            head = tests[0]
            if isinstance(head, ast.UnaryOp) and isinstance(head.op, ast.Not) and head.operand is loads[0]:
                return statement, tuple(tests[1:])
    return None


def _set_true(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name):
        return statement.targets[0].id if _is(statement.value, True) else None
    return None


def _is(node: ast.expr, value: bool) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


# -- what stands in the way


def _results(turn: Turn, scope: Scope, template: Template) -> list[str]:
    """The names that the turn gives values which are read outside it, or in a later turn."""
    inside = {n for s in turn.skipped for n in ast.walk(s)}
    found: list[str] = []
    for statement in turn.skipped:
        for part in ast.walk(statement):
            if not isinstance(part, ast.Name) or isinstance(part.ctx, ast.Load) or part.id in found:
                continue
            uses = [n for n in scope.function.nodes if isinstance(n, ast.Name) and n.id == part.id]
            loads = [n for n in uses if isinstance(n.ctx, ast.Load)]
            # In an inner `if` the name may keep what an earlier turn gave it; the value of a statement comes first.
            sometimes = not isinstance(statement, ast.Assign)
            end = statement.end_lineno or statement.lineno
            carried = any(n in inside and (sometimes or n.lineno <= end) for n in loads)
            if carried or any(n not in inside for n in loads):
                found.append(part.id)
    if not found:
        template.refuse([Obstacle("the turn gives no value to a name that is read outside it")])
    return found


def _obstacles(turn: Turn, names: Sequence[str], scope: Scope) -> Iterator[Obstacle]:
    fixed = [part for part in (turn.guard, *turn.also) if part is not None]
    named = [n for s in turn.skipped for n in ast.walk(s) if isinstance(n, ast.Name)]
    stored = {n.id for n in named if not isinstance(n.ctx, ast.Load)}
    for part in fixed:
        read = {n.id for n in ast.walk(part) if isinstance(n, ast.Name)}
        if read & stored:
            yield Obstacle(f"`{snippet(part)}` may be another when the turn has run")
        yield from scope.legality.computed_again(part, scope.facts)
    for statement in turn.skipped:
        yield from _of_statement(statement, scope)
    before = scope.facts.env_before.get(turn.skipped[0], {})
    after = _after(turn, names, scope)
    for name in names:
        old = before.get(name)
        if old is None or not old.may_be(Kind.TENSOR):
            yield Obstacle(f"`{name}` is no tensor before the turn")
            continue
        if not old.is_tensor or not old.certain:
            yield Obstacle(f"`{name}` is not proved to be a tensor before the turn", "same-shape-dtype")
        new = after.get(name)
        if new is None or new.is_unknown or not old.is_tensor:
            yield Obstacle(f"`{name}` is not proved to keep its shape and dtype", "same-shape-dtype")
        else:
            yield from scope.legality.same_type(old, new)
        if (new is None or new.dtype not in ("bool", "int")) and old.dtype not in ("bool", "int"):
            yield Obstacle("what the skipped turn uses gets gradients of zeros instead of None", "gradient-zeros")
            yield Obstacle("the derivative of the skipped turn could be NaN, also times zero", "finite-derivative")
    computed = [n for s in turn.skipped for n in ast.walk(s) if isinstance(n, ast.expr) and scope.parents.get(n) is s]
    yield from scope.legality.saved(computed, turn.skipped[0], scope.facts)
    kept = [before[name] for name in names if name in before]
    yield from scope.legality.aliasing(names, kept, turn.skipped[0], scope.facts)


def _after(turn: Turn, names: Sequence[str], scope: Scope) -> dict[str, Value]:
    """The values that names have at the end of the turn, where the last assignment to them is a plain one."""
    found: dict[str, Value] = {}
    for statement in turn.skipped:
        for part in ast.walk(statement):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id in names:
                found[part.id] = scope.value(part)
    return found


def _of_statement(statement: ast.stmt, scope: Scope) -> Iterator[Obstacle]:
    """Whether a statement may run although the turn is skipped: it gives names values, and does nothing else."""
    if isinstance(statement, ast.Pass):
        return
    if isinstance(statement, ast.If) and not is_tensor_test(statement.test, scope):
        yield from _of_expression(statement.test, scope)
        for inner in (*statement.body, *statement.orelse):
            yield from _of_statement(inner, scope)
        return
    plain = isinstance(statement, ast.Assign) and all(
        isinstance(n, ast.Name | ast.Tuple) for t in statement.targets for n in (t, *getattr(t, "elts", []))
    )
    if not plain or not isinstance(statement, ast.Assign):
        yield Obstacle(f"the turn does more than give names values: `{snippet(statement)}`")
        return
    yield from _of_expression(statement.value, scope)


def _of_expression(node: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    does = scope.legality.effects.of(node, scope.facts)
    for obstacle in scope.legality.both_evaluated([node], scope.facts):
        if obstacle.assumption is None and _may_write(does.mutates, node) and does.mutates in obstacle.reason:
            yield Obstacle(f"the skipped turn may write: {does.mutates}", "branches-total")
        else:
            yield obstacle


def _may_write(reason: str | None, node: ast.expr) -> TypeGuard[str]:
    """Whether a write is one that a called function may make, as into a cache that it may be given."""
    return reason is not None and isinstance(node, ast.Call) and "running statistics" not in reason
