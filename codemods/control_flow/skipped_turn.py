"""A turn of a loop that a tensor skips, as with layer drop: the turn always runs, and its results are then selected.

    for layer in self.layers:                           for layer in self.layers:
        if self.training and self.layerdrop > 0.0:          if self.training and self.layerdrop > 0.0:
            probability = torch.rand([])                        probability = torch.rand([])
            if probability < self.layerdrop:                    skip = probability < self.layerdrop
                continue                                    x_before = x
        x = layer(x)                                        x = layer(x)
                                                            if self.training and self.layerdrop > 0.0:
                                                                x = torch.where(skip, x_before, x)

The flag may also have a name of its own, `drop = True` in place of `continue` and `if not drop:` round the rest. What
the turn collects under a fixed condition has as many items as turns that ran: under it the turn is skipped as before.

                                                        skip = probability < self.layerdrop
                                                        if with_weights and skip:
                                                            continue
    ...
    if with_weights:
        weights += (outputs[1],)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeGuard

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.same_type import same_type
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.bound_names import unbound_before, unbound_where_skipped
from compilefix.codemods.conditions import condition
from compilefix.codemods.control_flow.liveness import live_after, reads_first
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.other_objects import asked_as_object
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_literal
from compilefix.source.tree import elements_of, names_in


@dataclass(frozen=True)
class Turn:
    """A loop's turn, or the part of it, that a tensor skips.

    test: the tensor that skips it. guard: the fixed condition under which it is looked at, None where it always is.
    mark: the statement that skips, or gives the flag its value. flag: its name, None for `continue`.
    skipped: the statements. block: the `if not flag:` round them. also: the fixed conditions under which they run
    whatever the flag says. collects: the fixed blocks that do more than give names values, or read what the skip gives
    them: where they run the turn is skipped as before. instead: what runs where the flag is set, in `if flag:` before
    the statements in its `else`; with `kept` it stands by itself, behind the block, and both keep their `if`.
    """

    test: ast.expr
    guard: ast.expr | None
    mark: ast.stmt
    flag: str | None
    skipped: tuple[ast.stmt, ...]
    block: ast.If | None = None
    also: tuple[ast.expr, ...] = ()
    collects: tuple[ast.If, ...] = ()
    instead: tuple[ast.Assign, ...] = ()
    kept: bool = False

    def selected(self) -> Iterator[ast.AST]:
        """The parts of the turn that run although it is skipped."""
        apart = {n for block in self.collects for s in block.body for n in ast.walk(s)}
        return (n for s in self.skipped for n in ast.walk(s) if n not in apart)


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
    turn = _collecting(turn, scope)
    names = _results(turn, scope)
    template.refuse(_obstacles(turn, names, scope))
    if not names:
        template.refuse([Obstacle("nothing that the rest of the turn assigns is read later")])
    own = turn.flag if not turn.collects and not turn.kept else None
    flag = own or free_name("skip", scope)
    code = condition([turn.test], scope, template)
    if code is None or template.broken is not None:
        return ()
    edits: list[Edit] = []
    if turn.kept or not (isinstance(turn.mark, ast.Assign) and turn.mark.value is turn.test):
        edits.append(scope.edit(turn.mark, _marked(turn, flag, code, template), **template.parts))
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
        if turn.kept:
            lines = [f"if {body.use(turn.block.test)}:", *(f"    {line}" for line in lines)]
        elif turn.instead and turn.collects:
            instead = [f"    {body.use(s)}" for s in turn.instead]
            lines = [f"if {turn.flag}:", *instead, "else:", *(f"    {line}" for line in lines)]
        return (*edits, scope.edit(turn.block, "\n".join(lines), **body.parts))
    last = Template(dict(body.parts))
    if len(turn.skipped) == 1:
        lines = [*first, body.use(turn.skipped[0]), *selected]
        return (*edits, scope.edit(turn.skipped[0], "\n".join(lines), **body.parts))
    head = Template()
    edits.append(scope.edit(turn.skipped[0], "\n".join([*first, head.use(turn.skipped[0])]), **head.parts))
    edits.append(scope.edit(turn.skipped[-1], "\n".join([last.use(turn.skipped[-1]), *selected]), **last.parts))
    return tuple(edits)


def _marked(turn: Turn, flag: str, code: str, template: Template) -> str:
    """The line that gives the flag its value, and the skip that is left where the turn collects."""
    line = f"{flag} = {code}"
    if turn.kept and _is_joined(turn.mark):
        assert isinstance(turn.mark, ast.Assign)
        assert isinstance(turn.mark.value, ast.BoolOp)
        plain = replace(turn, mark=turn.skipped[0])
        inner = "\n".join(f"    {text}" for text in _marked(plain, flag, code, template).split("\n"))
        return f"{turn.flag} = False\nif {template.use(turn.mark.value.values[0])}:\n{inner}"
    if not turn.collects:
        return line
    tests = list({ast.unparse(block.test): block.test for block in turn.collects}.values())
    if len(tests) == 1:
        collects = template.use(tests[0], operand=isinstance(tests[0], ast.BoolOp | ast.IfExp))
    else:
        collects = f"({' or '.join(template.use(test) for test in tests)})"
    skip = "continue" if turn.flag is None else f"{turn.flag} = True"
    return f"{line}\nif {collects} and {flag}:\n    {skip}"


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
        return _either(node, name, around, guard, scope)
    block, also = found
    return Turn(node.test, guard, node, name, tuple(block.body), block, also)


def _either(node: ast.If, name: str, around: ast.stmt, guard: ast.expr | None, scope: Scope) -> Turn | None:
    """`if t: flag = True` before `if flag: a = None` with `else: a = f(x)`, where only fixed blocks read `a` later."""
    block = scope.block(around)
    stores = [scope.statement(n) for n in scope.names(name, stores=True)]
    loads = scope.names(name)
    if len(stores) != 2 or node.body[0] not in stores or len(loads) != 1:
        return None
    start = next(s for s in stores if s is not node.body[0])
    test = scope.parents.get(loads[0])
    begun = isinstance(start, ast.Assign) and is_literal(start.value, False) and start in block
    if not begun or not isinstance(test, ast.If):
        return None
    behind = block[block.index(around) + 1 :]
    if block.index(start) > block.index(around) or test not in behind or test.test is not loads[0] or not test.orelse:
        return None
    behind = behind[behind.index(test) + 1 :]
    found = _nothing_given(test.body, behind, set(ast.walk(test)), scope)
    if found is None:
        return None
    instead, readers = found
    if any(reads_first(n, test.orelse) for n in _names(instead)) or _is_kept(node.test, readers):
        return None
    return Turn(node.test, guard, node, name, tuple(test.orelse), test, (), readers, instead)


def _asked_twice(
    node: ast.If,
    name: str,
    mark: ast.Assign,
    test: ast.expr,
    guard: ast.expr,
    also: Sequence[ast.expr],
    scope: Scope,
) -> Turn | None:
    """`if not flag: a = f(x)` before `if flag: a = None`, where only fixed blocks read `a` later.

    The flag is given its value in a fixed `if`, behind `flag = False`, or as `flag = fixed and t`.
    """
    block = scope.block(node)
    stores = [scope.statement(n) for n in scope.names(name, stores=True)]
    start = mark if _is_joined(mark) else next((s for s in stores if s is not mark), None)
    second = next((s for s in block if isinstance(s, ast.If) and _is_name(s.test, name)), None)
    begins = start is mark or (isinstance(start, ast.Assign) and is_literal(start.value, False))
    if len(stores) != (1 if start is mark else 2) or not begins or start not in block:
        return None
    if second is None or second.orelse or len(scope.names(name)) != 2 or isinstance(test, ast.BoolOp):
        return None
    around = () if start is mark else (scope.parents.get(mark),)
    places = [block.index(s) for s in (start, *around, node, second) if isinstance(s, ast.stmt) and s in block]
    if len(places) != 3 + len(around) or places != sorted(places):
        return None
    inside = {*ast.walk(node), *ast.walk(second)}
    found = _nothing_given(second.body, block[block.index(second) + 1 :], inside, scope)
    if found is None or any(reads_first(n, node.body) for n in _names(found[0])):
        return None
    return Turn(test, guard, mark, name, tuple(node.body), node, tuple(also), found[1], found[0], kept=True)


def _is_joined(mark: ast.stmt) -> bool:
    """`flag = fixed and t`."""
    return isinstance(mark, ast.Assign) and isinstance(mark.value, ast.BoolOp)


def _nothing_given(
    body: Sequence[ast.stmt], behind: Sequence[ast.stmt], inside: AbstractSet[ast.AST], scope: Scope
) -> tuple[tuple[ast.Assign, ...], tuple[ast.If, ...]] | None:
    """Statements that give names None, and the fixed blocks that read them; None where something else does."""
    instead = tuple(s for s in body if isinstance(s, ast.Assign) and _is_nothing(s.value))
    targets = [n for s in instead for t in s.targets for n in elements_of(t)]
    given = _names(instead)
    if len(instead) != len(body) or not all(isinstance(n, ast.Name) for n in targets):
        return None
    readers: dict[ast.If, None] = {}
    for read in (n for n in scope.function.nodes if isinstance(n, ast.Name) and n.id in given and n not in inside):
        reader = next((s for s in behind if isinstance(s, ast.If) and any(read is n for n in ast.walk(s))), None)
        if reader is None or reader.orelse or is_tensor_test(reader.test, scope) or read in ast.walk(reader.test):
            return None
        if not isinstance(read.ctx, ast.Load):
            return None
        readers[reader] = None
    return instead, tuple(readers)


def _names(body: Sequence[ast.Assign]) -> set[str]:
    return {n.id for s in body for t in s.targets for n in ast.walk(t) if isinstance(n, ast.Name)}


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_nothing(node: ast.expr) -> bool:
    """None, or a tuple of it."""
    return is_literal(node, None) or (isinstance(node, ast.Tuple) and all(is_literal(e, None) for e in node.elts))


def _asked(node: ast.If, name: str, also: Sequence[ast.expr], scope: Scope) -> Turn | None:
    """`if not flag:`, where `flag = t` stands before it, behind `flag = False` under a fixed `if` or by itself."""
    marks = [
        s
        for s in scope.of(ast.Assign)
        if isinstance(s.targets[0], ast.Name) and s.targets[0].id == name and not is_literal(s.value, False)
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
    if any(is_tensor_test(a, scope) for a in also):
        return None
    found = _uses(name, around, mark, scope, always=around is mark)
    if found is None and (_is_joined(mark) if around is mark else test is mark.value):
        return _asked_twice(node, name, mark, test, guard, also, scope)
    if found is None or found[0] is not node:
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
    if (always and start) or (start and not (isinstance(start[0], ast.Assign) and is_literal(start[0].value, False))):
        return None
    everywhere = scope.function.places(name)
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
        return statement.targets[0].id if is_literal(statement.value, True) else None
    return None


def _collecting(turn: Turn, scope: Scope) -> Turn:
    """The turn with the fixed conditions under which it must be skipped as before: it collects there."""
    if turn.collects or turn.flag is not None:
        return turn
    fixed = [s for s in turn.skipped if isinstance(s, ast.If) and not s.orelse and not is_tensor_test(s.test, scope)]
    found = [s for s in fixed if any(o.assumption is None for inner in s.body for o in _of_statement(inner, scope))]
    return turn if _is_kept(turn.test, found) else replace(turn, collects=tuple(found))


def _is_kept(test: ast.expr, collects: Sequence[ast.If]) -> bool:
    """Whether a skip is already one that is left where the turn collects."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return False
    texts = {ast.unparse(block.test) for block in collects}
    asked = {ast.unparse(v) for part in test.values for v in (part.values if isinstance(part, ast.BoolOp) else [part])}
    return bool(texts) and texts <= asked


def _results(turn: Turn, scope: Scope) -> list[str]:
    """The names that the turn gives values which are read outside it, or in a later turn."""
    own = set(turn.selected())
    apart = _names(turn.instead)
    last = turn.block if turn.block is not None else turn.skipped[-1]
    found: list[str] = []
    for part in (n for s in turn.skipped for n in ast.walk(s)):
        if not isinstance(part, ast.Name) or isinstance(part.ctx, ast.Load) or part.id in found:
            continue
        if part not in own or part.id in apart:
            continue
        if reads_first(part.id, turn.skipped) or live_after(part.id, last, scope):
            found.append(part.id)
    return found


def _obstacles(turn: Turn, names: Sequence[str], scope: Scope) -> Iterator[Obstacle]:
    fixed = [part for part in (turn.guard, *turn.also, *(block.test for block in turn.collects)) if part is not None]
    named = [n for s in turn.skipped for n in ast.walk(s) if isinstance(n, ast.Name)]
    stored = {n.id for n in named if not isinstance(n.ctx, ast.Load)}
    for part in fixed:
        read = names_in(part)
        if read & stored:
            yield Obstacle(f"`{snippet(part)}` may be another when the turn has run")
        yield from scope.legality.computed_again(part, scope.facts)
    for block in turn.collects:
        yield from of_expression(block.test, scope)
    for statement in turn.skipped:
        if statement in turn.collects:
            continue
        yield from _of_statement(statement, scope)
    yield from unbound_where_skipped([n for n in named if n.id not in stored], turn.skipped[0], scope)
    before = scope.facts.env_before.get(turn.skipped[0], {})
    after = _after(turn, names, scope)
    for name in names:
        yield from unbound_before(name, turn.skipped[0], scope)
        old = before.get(name)
        if old is None or not old.may_be(Kind.TENSOR):
            yield Obstacle(f"`{name}` is no tensor before the turn")
            continue
        if Kind.NONE in old.kinds:
            yield Obstacle(f"`{name}` may be None before the turn, which is no tensor to keep")
        if not old.is_tensor or not old.certain:
            yield Obstacle(f"`{name}` is not proved to be a tensor before the turn", "same-shape-dtype")
            if (asked := asked_as_object(name, turn.skipped[0], scope)) is not None:
                yield Obstacle(f"`{name}` is not a tensor, which has no `{asked.attr}`")
        new = after.get(name)
        if new is None or new.is_unknown or not old.is_tensor:
            yield Obstacle(f"`{name}` is not proved to keep its shape and dtype", "same-shape-dtype")
        else:
            yield from same_type(old, new)
        if (new is None or new.dtype not in ("bool", "int")) and old.dtype not in ("bool", "int"):
            yield Obstacle("what the skipped turn uses gets gradients of zeros instead of None", "gradient-zeros")
            yield Obstacle("the derivative of the skipped turn could be NaN, also times zero", "finite-derivative")
    computed = [n for s in turn.skipped for n in ast.walk(s) if isinstance(n, ast.expr) and scope.parents.get(n) is s]
    yield from scope.legality.memory.saved(computed, turn.skipped[0], scope.facts)
    # What a turn hands on (`x = y`) is another tensor now, as what the turn before it left.
    kept = [values[name] for values in (before, after) for name in names if name in values]
    yield from scope.legality.memory.aliasing(names, kept, turn.skipped[0], scope.facts)


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
        yield from of_expression(statement.test, scope)
        for inner in (*statement.body, *statement.orelse):
            yield from _of_statement(inner, scope)
        return
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", statement)]
    plain = isinstance(statement, ast.Assign | ast.AnnAssign) and all(
        isinstance(n, ast.Name | ast.Tuple) for t in targets for n in (t, *getattr(t, "elts", []))
    )
    if not plain or not isinstance(statement, ast.Assign | ast.AnnAssign):
        yield Obstacle(f"the turn does more than give names values: `{snippet(statement)}`")
    elif statement.value is not None:
        yield from of_expression(statement.value, scope)


def of_expression(node: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether an expression may be evaluated although the turn is skipped; a call that may write is assumed not to."""
    does = scope.legality.effects.of(node, scope.facts)
    for obstacle in scope.legality.both_evaluated([node], scope.facts):
        if obstacle.assumption is None and _may_write(does.mutates, node) and does.mutates in obstacle.reason:
            yield Obstacle(f"the skipped turn may write: {does.mutates}", "branches-total")
        else:
            yield obstacle
    yield from scope.legality.indices([node], scope.facts)


def _may_write(reason: str | None, node: ast.expr) -> TypeGuard[str]:
    """Whether a write is one that a called function may make, as into a cache that it may be given."""
    return reason is not None and isinstance(node, ast.Call) and "running statistics" not in reason
