"""Branches that compute in several steps: each runs under names of its own, and what they leave behind is selected.

    if t.any():                    condition = t.any()
        x = y * 2                  x_then = y * 2
        y = y + 1                  y_then = y + 1
        x = x + y                  x_then = x_then + y_then
                                   x = torch.where(condition, x_then, x)
                                   y = torch.where(condition, y_then, y)

A name that the branch gives a value, and that is read behind the `if` or by another branch, gets another name in the
branch. What the branch writes in place must be memory that the branch itself has made, or becomes a selection; elements
of a tensor that nothing else holds are written into a copy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compilefix.analysis.in_place import becomes_new_tensor
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import ANY_MEMORY, Kind, Value, join_all, may_share, replace
from compilefix.codemods.bound_names import unbound_before, unbound_behind
from compilefix.codemods.conditions import condition
from compilefix.codemods.control_flow.arms import value_before
from compilefix.codemods.control_flow.branches import keeps_type
from compilefix.codemods.control_flow.in_place_selection import selected_write
from compilefix.codemods.control_flow.liveness import QUIET_CONTEXTS, live_after, reads_first
from compilefix.codemods.double_where import double_where, finite_sides
from compilefix.codemods.dynamic_shapes.ragged import is_ragged
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import judge_selection
from compilefix.codemods.template import Given, Template
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_NUMBERS = (Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE)


class _Stuck(Exception):
    """A statement that cannot run always."""


@dataclass
class _Arm:
    """A branch on its way: its test, None for `else`, its statements, and the code under which it is taken.

    names: what the names that it gives values are called in it. known: those that have a value there by now.
    last: the last plain value that it gives each name. copies: the names that stand for a copy of what was there.
    kept: those that begin with the value that was there.
    """

    test: ast.expr | None
    body: Sequence[ast.stmt]
    taken: str
    names: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    last: dict[str, Given] = field(default_factory=dict)
    copies: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)

    def stored(self) -> list[str]:
        """The names that it gives values, in the order of the file."""
        return list(dict.fromkeys(n.id for n in _all(self.body) if isinstance(n, ast.Name) and _is_store(n)))

    def changed(self) -> list[str]:
        """The same, with the names of what it writes elements of."""
        items = [n.value for n in _all(self.body) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
        return list(dict.fromkeys([*self.stored(), *(n.id for n in items if isinstance(n, ast.Name))]))


def selected_arms(
    branches: Sequence[tuple[ast.expr | None, Sequence[ast.stmt]]],
    node: ast.If,
    scope: Scope,
    template: Template,
) -> list[str] | None:
    """The lines that run all branches and select what they leave; None, with the obstacle noted, where that cannot be.

    The tests are tensors, and the last one may be None, for `else`.
    """
    tests = [test for test, _ in branches if test is not None]
    lines: list[str] = []
    flags: list[str] = []
    template.refuse(scope.legality.both_evaluated(tests[1:], scope.facts))
    for test in tests:
        code = condition([test], scope, template)
        if code is None:
            return None
        if code in template.named.values():
            flags.append(code)
            continue
        flags.append(free_name("condition", scope, [*flags, *template.named.values()]))
        lines.append(f"{flags[-1]} = {code}")
    arms = [_Arm(test, body, _taken(flags, index)) for index, (test, body) in enumerate(branches)]
    results = _name(arms, node, flags, scope)
    for arm in arms:
        if not _run(arm, node, scope, template):
            return None
        lines += arm.lines
        given = {name: _given(name, arm, value_before(name, node, scope), scope) for name in results}
        values = {name: scope.value(side.node) for name, side in given.items() if side is not None}
        template.refuse(scope.legality.memory.together(values, node, scope.facts))
    for name in results:
        lines.append(_selected(name, arms, flags, node, scope, template))
    if not results and not any(flag in line for line in lines[len(tests) :] for flag in flags):
        template.refuse([Obstacle("no branch assigns a name that is read later")])
        return None
    return lines


def selected_rest(
    test: ast.expr, rest: Sequence[ast.stmt], node: ast.If, scope: Scope, template: Template
) -> tuple[str, dict[ast.stmt, str]] | None:
    """The line for the condition under which the rest of a function runs, and code for the statements that change."""
    code = condition([test], scope, template)
    if code is None:
        return None
    flag = free_name("condition", scope)
    changed: dict[ast.stmt, str] = {}
    arm = _Arm(test, rest, flag)
    for statement in rest:
        arm.lines = []
        if not _run(arm, node, scope, template, [statement]):
            return None
        text = "\n".join(arm.lines)
        if flag in text:
            changed[statement] = text
    return f"{flag} = {code}", changed


def _run(arm: _Arm, node: ast.If, scope: Scope, template: Template, body: Sequence[ast.stmt] | None = None) -> bool:
    """Write the statements of a branch so that they may run always; whether all could be."""
    template.refuse(_shadowed(arm, scope))
    try:
        for statement in arm.body if body is None else body:
            arm.lines += _Writer(arm, node, scope, template).lines(statement)
    except _Stuck as stuck:
        template.refuse([Obstacle(str(stuck))])
        return False
    return True


def _taken(flags: Sequence[str], index: int) -> str:
    """The code that is true where a branch is taken."""
    parts = [f"~{flag}" for flag in flags[:index]] + list(flags[index : index + 1])
    return " & ".join(parts)


def _name(arms: Sequence[_Arm], end: ast.stmt, flags: Sequence[str], scope: Scope) -> list[str]:
    """Give the names that must not meet others; those that are read behind the `if`, in the order of their values."""
    taken = list(flags)
    results: dict[str, None] = {}
    for index, arm in enumerate(arms):
        word = "then" if index == 0 else "else" if arm.test is None else "elif"
        for name in arm.changed():
            live = live_after(name, end, scope)
            if live:
                results[name] = None
            if live or any(reads_first(name, other.body) for other in arms[index + 1 :]):
                arm.names[name] = free_name(f"{name}_{word}", scope, taken)
                taken.append(arm.names[name])
    return list(results)


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _all(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    for statement in body:
        yield from ast.walk(statement)


def _shadowed(arm: _Arm, scope: Scope) -> Iterator[Obstacle]:
    """Whether a name with a new name means something else within the branch, or is read by a nested function."""
    if not arm.names:
        return
    for node in _all(arm.body):
        if isinstance(node, ast.comprehension):
            bound = names_in(node.target)
            taken = next((name for name in arm.names if name in bound), None)
            if taken is not None:
                yield Obstacle(f"`{taken}` has another meaning in a comprehension of a branch")
    for inner in ast.walk(scope.function.node):
        if not isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or inner is scope.function.node:
            continue
        own = {a.arg for a in ast.walk(inner.args) if isinstance(a, ast.arg)}
        used = names_in(inner) - own
        read = next((name for name in arm.names if name in used), None)
        if read is not None:
            yield Obstacle(f"`{read}` is read in a nested function")


def _selected(
    name: str, arms: Sequence[_Arm], flags: Sequence[str], node: ast.If, scope: Scope, template: Template
) -> str:
    """The line that selects a name's value."""
    before = value_before(name, node, scope)
    sides: list[Given | None] = [_given(name, arm, before, scope) for arm in arms]
    if arms[-1].test is not None:
        sides.append(None)
    if None in sides and (before is None or (not before.certain and not before.is_tensor)):
        template.refuse([Obstacle(f"`{name}` may have no value before the `if`")])
        return ""
    if None in sides:
        template.refuse(unbound_before(name, node, scope))
    for arm in arms:
        if name in arm.stored() and name not in arm.kept:
            template.refuse(unbound_behind(name, arm.body, scope))
        for item in _unpacked(name, arm.body):
            if is_ragged(item, scope):
                reason = f"the size of `{snippet(item)}` depends on values, and is not that of the other side"
                template.refuse([Obstacle(reason)])
    values = [before if side is None else scope.value(side.node) for side in sides]
    uses: list[ast.expr] = [n for n in scope.names(name) if not _within(n, node)]
    known = [v for v in values if v is not None]
    finite = finite_sides([side.node for side in sides if side is not None and not side.built], scope)
    suffix = judge_selection([name], sides, known, uses, scope, node, template, finite=finite)
    codes = [arm.names.get(name, name) if name in arm.known else name for arm in arms]
    codes += [name] if arms[-1].test is not None else []
    code = codes[-1]
    for flag, side in zip(reversed(flags), reversed(codes[:-1]), strict=True):
        if side != code:
            code = f"{where(scope)}({flag}, {side}, {code})"
    return f"{name} = {code}{suffix}"


def _unpacked(name: str, body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    """What a name is given among others: `x[keep]` in `x, y = x[keep], y[keep]`."""
    for statement in _all(body):
        if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Tuple):
            continue
        for target in statement.targets:
            for part, item in zip(getattr(target, "elts", ()), statement.value.elts, strict=False):
                if isinstance(part, ast.Name) and part.id == name:
                    yield item


def _within(use: ast.expr, node: ast.stmt) -> bool:
    return node.lineno <= use.lineno <= (node.end_lineno or node.lineno)


def _given(name: str, arm: _Arm, before: Value | None, scope: Scope) -> Given | None:
    """What a branch leaves in a name: its last plain value, else one that stands for all that it may be."""
    if name not in arm.known:
        return None
    put = [scope.value(value) for memory, value in _put(arm.body) if memory == name]
    if name in arm.last and not put:
        return arm.last[name]
    found = [scope.value(n) for n in _all(arm.body) if isinstance(n, ast.Name) and n.id == name and _is_store(n)]
    if before is not None and (name in arm.kept or name in arm.copies):
        found.append(before)
    value = join_all(found)
    value = replace(value, leaves=value.leaves.union(*(v.leaves for v in put)))
    shown = name if name in arm.copies else arm.names.get(name, name)  # through a copy any gradient flows as it is
    made = ast.copy_location(ast.Name(shown, ast.Load()), arm.body[0])
    scope.facts.values[made] = value
    return Given(made, built=True)


def _put(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    """What is written into elements, with the names of the memory."""
    for statement in _all(body):
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
                    yield target.value.id, statement.value


class _Writer:
    """Writes the statements of one branch with its names, and notes what stands against their running always."""

    def __init__(self, arm: _Arm, node: ast.If, scope: Scope, template: Template) -> None:
        self.arm, self.node, self.scope, self.template = arm, node, scope, template

    def lines(self, statement: ast.stmt, *, nested: bool = False) -> list[str]:
        """The code of a statement.

        Raises:
            _Stuck: it cannot run always.
        """
        if isinstance(statement, ast.Pass) or (isinstance(statement, ast.AnnAssign) and statement.value is None):
            return []
        if isinstance(statement, ast.If | ast.For | ast.With):
            return self._block(statement)
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            return [self._assign(statement, nested=nested)]
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            return [self._augmented(statement, statement.target, nested=nested)]
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            return []
        written = self._written(statement)
        if written is None:
            raise _Stuck(f"a branch does more than assign: `{snippet(statement)}`")
        return [written]

    def code(self, node: ast.expr) -> str:
        """The code of an expression, with the names of the branch."""
        renamed = [
            (n, Given(ast.Name(self.arm.names[n.id], ast.Load()), built=True))
            for n in ast.walk(node)
            if isinstance(n, ast.Name) and n.id in self.arm.known and n.id in self.arm.names
        ]
        given = Given(node, inlined=tuple(renamed))
        if finite_sides([node], self.scope):
            return double_where(given, (self.arm.taken, True), self.scope, self.template)
        return self.template.code(given)

    def _always(self, node: ast.expr) -> None:
        """Note what stands against evaluating an expression always."""
        scope, template = self.scope, self.template
        template.refuse(scope.legality.both_evaluated([node], scope.facts))
        if not finite_sides([node], scope):
            template.refuse(scope.legality.derivatives.finite([node], scope.facts))
        template.refuse(scope.legality.memory.saved([node], self.node, scope.facts))

    def _block(self, statement: ast.If | ast.For | ast.With) -> list[str]:
        scope = self.scope
        heads: list[ast.expr]
        if isinstance(statement, ast.With):
            heads = [item.context_expr for item in statement.items]
            if not all(scope.callee(head) in QUIET_CONTEXTS for head in heads) or any(
                item.optional_vars is not None for item in statement.items
            ):
                raise _Stuck(f"a branch does more than assign: `with {snippet(heads[0])}`")
            self._start(statement)
            opening = f"with {', '.join(self.template.use(head) for head in heads)}:"
        elif isinstance(statement, ast.If):
            if is_tensor_test(statement.test, scope):
                raise _Stuck(f"a branch holds `if {snippet(statement.test)}`, which asks a tensor")
            self._start(statement)
            self._always(statement.test)
            opening = f"if {self.code(statement.test)}:"
        else:
            items = scope.value(statement.iter)
            if not items.is_(Kind.CONTAINER, Kind.STATIC) or not isinstance(statement.target, ast.Name | ast.Tuple):
                raise _Stuck(f"a branch holds a loop over `{snippet(statement.iter)}`, which is not known to be fixed")
            self._start(statement)
            self._always(statement.iter)
            head = self.code(statement.iter)
            opening = f"for {self._target(statement.target)} in {head}:"
        inner = [line for s in statement.body for line in self.lines(s, nested=True)] or ["pass"]
        found = [opening, *(f"    {line}" for line in inner)]
        orelse = [] if isinstance(statement, ast.With) else statement.orelse
        if orelse:
            if isinstance(statement, ast.For):
                raise _Stuck("a loop with `else` stands in a branch")
            inner = [line for s in orelse for line in self.lines(s, nested=True)] or ["pass"]
            found += ["else:", *(f"    {line}" for line in inner)]
        return found

    def _start(self, statement: ast.stmt) -> None:
        """Give the names that a block may give a value the one that they have before it."""
        stored = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and _is_store(n)}
        before = self.scope.facts.env_before.get(statement, {})
        for name in sorted(stored - self.arm.known):
            self.arm.known.add(name)
            value = before.get(name)
            if name not in self.arm.names:
                continue
            if value is not None and value.certain:
                self.arm.lines.append(f"{self.arm.names[name]} = {name}")
                self.arm.kept.add(name)
                self.template.refuse(unbound_before(name, self.node, self.scope))
            elif value is not None or reads_first(name, [statement]):
                raise _Stuck(f"`{name}` may have no value in a branch")
        for name in stored:
            self.arm.last.pop(name, None)

    def _target(self, target: ast.expr) -> str:
        if isinstance(target, ast.Name):
            self.arm.known.add(target.id)
            self.arm.copies.discard(target.id)
            return self.arm.names.get(target.id, target.id)
        if isinstance(target, ast.Tuple | ast.List):
            parts = [self._target(part) for part in target.elts]
            return ", ".join(parts) + ("," if len(parts) == 1 else "")
        if isinstance(target, ast.Subscript):
            self._own(target.value, target)
            self._always(target.slice)
            self.template.refuse(self.scope.legality.indices([target], self.scope.facts))
            if self.scope.value(target.value).may_be(Kind.TENSOR):
                reason = f"`{snippet(target)} = ...` may not fit the other side's inputs"
                self.template.refuse([Obstacle(reason, "branches-total")])
            return self.code(target)
        raise _Stuck(f"`{snippet(target)} = ...` assigns to more than a local name")

    def _assign(self, statement: ast.Assign | ast.AnnAssign, *, nested: bool) -> str:
        assert statement.value is not None
        self._always(statement.value)
        value = self.code(statement.value)
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        text = "".join(f"{self._target(target)} = " for target in targets)
        for target in targets:
            for part in ast.walk(target):
                if isinstance(part, ast.Name) and _is_store(part):
                    self.arm.last.pop(part.id, None)
            if isinstance(target, ast.Name) and not nested:
                self.arm.last[target.id] = Given(statement.value)
        return text + value

    def _augmented(self, statement: ast.AugAssign, target: ast.Name, *, nested: bool) -> str:
        scope, name = self.scope, target.id
        value = scope.facts.env_before.get(statement, {}).get(name)
        if value is None:
            raise _Stuck(f"`{snippet(statement)}` writes in place")
        self._always(statement.value)
        given = self.code(statement.value)
        symbol = _SYMBOLS.get(type(statement.op))
        if symbol is None:
            raise _Stuck(f"`{snippet(statement)}` writes in place")
        if value.is_(*_NUMBERS) or (name in self.arm.known and self._is_fresh(value)):
            known = name in self.arm.known
            own = self._target(target)
            self.arm.last.pop(name, None)
            return f"{own} {symbol}= {given}" if known else f"{own} = {name} {symbol} {given}"
        if name in self.arm.known or not value.may_be(Kind.TENSOR):
            raise _Stuck(f"`{snippet(statement)}` writes in place")
        if not keeps_type(value, [statement.value], scope, divides=isinstance(statement.op, ast.Div)):
            raise _Stuck(f"`{snippet(statement)}` writes in place")
        self.template.refuse(becomes_new_tensor(name, value, statement, self.node, scope.facts))
        if nested:
            raise _Stuck(f"`{snippet(statement)}` writes in place")
        load = ast.copy_location(ast.Name(name, ast.Load()), target)
        scope.facts.values[load] = value
        made = ast.copy_location(ast.BinOp(load, statement.op, statement.value), statement)
        scope.facts.values[made] = scope.value(target)
        operand = given if isinstance(statement.value, ast.Name | ast.Constant | ast.Call) else f"({given})"
        own = self._target(target)
        self.arm.last[name] = Given(made, built=True)
        return f"{own} = {name} {symbol} {operand}"

    def _written(self, statement: ast.stmt) -> str | None:
        """A write in place: into memory of the branch as it is, into other memory as a selection."""
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
            held, method = self.scope.value(call.func.value), call.func.attr
            collects = held.is_(Kind.CONTAINER) and method in ("append", "extend")
            if (collects or (held.is_tensor and method.endswith("_"))) and self._is_fresh(held):
                for given in (*call.args, *(k.value for k in call.keywords)):
                    self._always(given)
                self.template.refuse(self.scope.legality.indices([call], self.scope.facts))
                return self.code(call)
        touched = names_in(statement) & self.arm.known & set(self.arm.names)
        written = next((n for n in ast.walk(statement) if isinstance(n, ast.Name | ast.Attribute)), None)
        if written is None or (isinstance(call, ast.Call) and _root(call) in touched):
            return None
        return selected_write(statement, self.node, self.arm.taken, self.scope, self.template, self.code)

    def _own(self, memory: ast.expr, target: ast.expr) -> None:
        """Note what stands against writing into memory always, which may take a copy of it."""
        arm, value = self.arm, self.scope.value(memory)
        if self._is_fresh(value):
            return
        if not isinstance(memory, ast.Name) or memory.id not in arm.names or not value.is_tensor:
            raise _Stuck(f"`{snippet(target)} = ...` assigns to more than a local name")
        if memory.id in arm.copies:
            return
        if memory.id in arm.known:
            raise _Stuck(f"`{snippet(target)} = ...` writes into memory that the branch has not made")
        if not value.certain:
            self.template.refuse([Obstacle(f"`{memory.id}` is not proved to be a tensor", "is-tensor")])
        statement = self.scope.statement(target)
        self.template.refuse(becomes_new_tensor(memory.id, value, statement, self.node, self.scope.facts))
        arm.lines.append(f"{arm.names[memory.id]} = {memory.id}.clone()")
        arm.copies.add(memory.id)
        arm.known.add(memory.id)

    def _is_fresh(self, value: Value) -> bool:
        """Whether the memory is one that the branch has made."""
        first, last = self.arm.body[0], self.arm.body[-1]
        start = f"{self.scope.function.qualname}@"
        lines = range(first.lineno, (last.end_lineno or last.lineno) + 1)
        own = set(self.arm.stored()).difference(self.arm.names)
        before = self.scope.facts.env_before.get(self.node, {})
        held = (memory_of(v) for name, v in before.items() if name not in own)
        if not value.storage & self.scope.legality.writes.leaked(self.scope.facts):
            # What is anywhere, as `p.grad` is, is no memory that nobody else has got at.
            held = (storage - {ANY_MEMORY} for storage in held)
        return (
            bool(value.storage)
            and all(t.startswith(start) and int(t.removeprefix(start).split(":")[0]) in lines for t in value.storage)
            and not any(may_share(value.storage, storage) for storage in held)  # of an earlier turn of a loop
        )


def _root(call: ast.Call) -> str | None:
    node: ast.expr = call
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


_SYMBOLS: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
}
