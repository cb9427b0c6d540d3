"""A `for` loop that a tensor ends early, as one that runs all its turns and keeps what it had once it has ended."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.in_place import becomes_new_tensor, memory_shared
from compilefix.analysis.leaves import are_sure, settled
from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import UNKNOWN, Kind, Value, replace
from compilefix.codemods.conditions import condition, is_tensor_test
from compilefix.codemods.control_flow.branches import built_anew
from compilefix.codemods.control_flow.guarded_writes import evaluated
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Given, Template, judge_selection, torch_name, where
from compilefix.source.snippets import snippet

_PLAIN = (Kind.STATIC, Kind.SIZE)


def ends_loop(node: ast.AST, scope: Scope) -> bool:
    """Whether an `if` ends the `for` loop whose body it stands in, on a tensor; what it says before has a flag."""
    loop = scope.parents.get(node)
    if not isinstance(node, ast.If) or not isinstance(loop, ast.For) or node not in loop.body or node.orelse:
        return False
    before = node.body[:-1]
    says = not before or (len(before) == 1 and _is_flagged(before[0], loop, scope))
    return says and isinstance(node.body[-1], ast.Break) and is_tensor_test(node.test, scope)


def masked_loop(loop: ast.For, scope: Scope, template: Template) -> str | None:
    """The loop with a tensor that says whether it has ended; None, with the obstacle noted, where that cannot be."""
    reason = _not_plain(loop, scope)
    if reason is not None:
        template.refuse([Obstacle(reason)])
        return None
    template.refuse([Obstacle("the loop runs all its turns, and what follows its end is masked out", "bounded-loop")])
    turn = _Turn(loop, scope, template, free_name("done", scope))
    for statement in loop.body:
        reason = turn.read(statement)
        if reason is not None:
            template.refuse([Obstacle(reason)])
            return None
    if not turn.tensors:
        template.refuse([Obstacle("the loop changes no tensor that is there before it and read later")])
        return None
    torch = torch_name(scope)
    head = f"for {template.use(loop.target)} in {template.use(loop.iter)}:"
    start = f"{turn.done} = {torch}.zeros((), dtype={torch}.bool, device={turn.tensors[0]}.device)"
    return "\n".join([start, head, *(f"    {line}" for line in turn.lines), *_not_ended(loop, turn.done, template)])


class _Turn:
    """The code of one turn: `lines` so far, and the names in `selected` that keep what they have once it is over.

    Of these `begun` have no value before the loop, and `tensors` are tensors there.
    """

    def __init__(self, loop: ast.For, scope: Scope, template: Template, done: str) -> None:
        self.done = done
        self.lines: list[str] = []
        self.selected: list[str] = []
        self.begun: list[str] = []
        self.tensors: list[str] = []
        self._loop = loop
        self._scope = scope
        self._template = template
        self._may_be_over = False
        self._nested = False

    def read(self, statement: ast.stmt) -> str | None:
        """Add what a statement becomes; the reason where it cannot be."""
        template, legality, facts = self._template, self._scope.legality, self._scope.facts
        if isinstance(statement, ast.AnnAssign) and statement.value is None:
            return None
        if isinstance(statement, ast.If):
            return self._end(statement) if ends_loop(statement, self._scope) else self._fixed_way(statement)
        bindings = _bindings(statement)
        assert bindings is not None
        names = [binding.name for binding in bindings if self._is_selected(binding, statement)]
        value = getattr(statement, "value", None)
        if not names:
            template.refuse(legality.both_evaluated([value], facts) if isinstance(value, ast.expr) else ())
            if isinstance(statement, ast.AugAssign):
                template.refuse(self._written_always(bindings[0].name, statement))
            self.lines.append(template.use(statement))
            return None
        if isinstance(statement, ast.AugAssign):
            return self._augmented(statement)
        if len(bindings) == 1 and bindings[0].node is not None:
            given = Given(bindings[0].node)
            return self._select(bindings[0].name, given, template.use(given.node), statement)
        return self._unpacked(statement, bindings, names)

    def _end(self, statement: ast.If) -> str | None:
        template = self._template
        code = condition([statement.test], self._scope, template, operand=True)
        template.refuse(evaluated(statement.test, self._scope))
        if code is None:
            return template.broken or "the condition is not known"
        ends = f"{self.done} = {self.done} | {code}"
        said = statement.body[0]
        if isinstance(said, ast.If):
            # With the flag the loop ends as it did, and has broken the graph: nothing is masked then.
            noted = [f"{self.done} = ~{self.done}"] if self._loop.orelse else []
            says = [*(template.use(each) for each in said.body), *noted, "break"]
            self.lines += [f"if {template.use(said.test)}:", f"    if {template.use(statement.test)}:"]
            self.lines += [f"        {line}" for line in says]
            self.lines += ["else:", f"    {ends}"]
        else:
            self.lines.append(ends)
        self._may_be_over = True
        return None

    def _fixed_way(self, statement: ast.If) -> str | None:
        """An `if` on Python values, whose assignments are masked like the others."""
        lines, self.lines = self.lines, []
        nested, self._nested = self._nested, True
        for head, body in ((f"if {self._template.use(statement.test)}:", statement.body), ("else:", statement.orelse)):
            for each in body:
                reason = self.read(each)
                if reason is not None:
                    return reason
            if body:
                lines += [head, *(f"    {line}" for line in self.lines or ["pass"])]
            self.lines = []
        self.lines, self._nested = lines, nested
        return None

    def _is_selected(self, binding: _Binding, statement: ast.stmt) -> bool:
        later = live_after(binding.name, self._loop, self._scope)
        if not later and not _carried(binding.name, self._loop):
            return False
        # A counter that nobody reads after the loop may count on: what is computed with it is not taken.
        value = self._scope.value(binding.node) if binding.node is not None else UNKNOWN
        before = self._before(binding.name, statement)
        return later or not (value.is_(*_PLAIN) and before is not None and before.is_(*_PLAIN))

    def _before(self, name: str, statement: ast.stmt) -> Value | None:
        return self._scope.facts.env_before.get(statement, {}).get(name)

    def _written_always(self, name: str, statement: ast.AugAssign) -> Iterator[Obstacle]:
        """Whether a turn after the end may write into what an earlier statement of the same turn has made."""
        before = self._before(name, statement)
        if before is None or not before.is_(*_PLAIN):
            yield from memory_shared(name, before or UNKNOWN, statement, statement, self._scope.facts)
            yield Obstacle(f"`{snippet(statement)}` may fail in a turn after the end", "branches-total")

    def _augmented(self, statement: ast.AugAssign) -> str | None:
        """`total += step`: a new tensor takes the place of the one that was written into."""
        template, scope = self._template, self._scope
        built = built_anew(statement, scope)
        if built is None:
            return f"`{snippet(statement)}` writes in place"
        name, given, value, fits = built
        if value.may_be(Kind.TENSOR):
            template.refuse(becomes_new_tensor(name, value, statement, statement, scope.facts))
        if not fits:
            reason = f"the new value of `{name}` is not proved to have its shape and dtype"
            template.refuse([Obstacle(reason, "same-shape-dtype")])
        return self._select(name, given, template.code(given), statement)

    def _unpacked(self, statement: ast.stmt, bindings: Sequence[_Binding], names: Sequence[str]) -> str | None:
        """`a, b = f(x)`: what is selected gets a name of its own first."""
        template, scope, facts = self._template, self._scope, self._scope.facts
        assert isinstance(statement, ast.Assign)
        results = scope.value(statement.value).elements
        whole = bindings[0].node is None
        if whole:
            template.refuse(scope.legality.both_evaluated([statement.value], facts))
            template.refuse(scope.legality.finite([statement.value], facts))
            template.refuse(scope.legality.saved([statement.value], statement, facts))
        targets: list[str] = []
        chosen: list[tuple[str, Given, str]] = []
        for index, binding in enumerate(bindings):
            if binding.node is not None:
                template.refuse(scope.legality.both_evaluated([binding.node], facts))
            if binding.name not in names:
                targets.append(binding.name)
                continue
            own = free_name(f"new_{binding.name}", scope)
            given = binding.node
            if given is None:
                given = ast.copy_location(ast.Name(own, ast.Load()), statement.value)
                facts.values[given] = results[index] if results is not None and len(results) > index else UNKNOWN
            targets.append(own)
            chosen.append((binding.name, Given(given, built=whole), own))
        self.lines.append(f"{', '.join(targets)} = {template.use(statement.value)}")
        for name, side, own in chosen:
            reason = self._select(name, side, own, statement)
            if reason is not None:
                return reason
        return None

    def _select(self, name: str, given: Given, code: str, statement: ast.stmt) -> str | None:
        scope, template = self._scope, self._template
        before = self._before(name, statement)
        first = scope.facts.env_before[self._loop].get(name)
        is_argument = any(parameter.arg == name for parameter in scope.function.parameters)
        if first is None and before is not None and before.is_tensor and self._starts_here(name):
            return self._begin(name, given, code, before, statement)
        if before is None or first is None or not (before.certain or is_argument):
            return f"`{name}` may have no value before the loop"
        if not before.certain:
            template.refuse([Obstacle(f"`{name}` is not proved to be a tensor", "branches-total")])
        result = scope.value(given.node)
        # Where an end stands before it, the first turn too may leave the name what it had before the loop.
        values = (result, before if self._may_be_over else _kept(result, before, first))
        judge_selection([name], (given, None), values, [], scope, statement, template)
        self.lines.append(f"{name} = {where(scope)}({self.done}, {name}, {code})")
        self.selected.append(name)
        if first.is_tensor:
            self.tensors.append(name)
        return None

    def _starts_here(self, name: str) -> bool:
        """Whether the first turn gives a name its first value: it always does, and is known to be the first."""
        if self._may_be_over or self._nested or name in self.begun or not isinstance(self._loop.target, ast.Name):
            return False
        counted = self._loop.iter
        plain = isinstance(counted, ast.Call) and self._scope.callee(counted) == "range" and len(counted.args) == 1
        stores = [n for n in ast.walk(self._loop) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
        once = sum(n.id == name for n in stores) == 1 and sum(n.id == self._loop.target.id for n in stores) == 1
        return plain and once and not self._scope.names(name, stores=True)[1:]

    def _begin(self, name: str, given: Given, code: str, before: Value, statement: ast.stmt) -> str | None:
        """A name that has no value before the loop keeps what the turns give it from the second turn on."""
        assert isinstance(self._loop.target, ast.Name)
        values = (self._scope.value(given.node), before)
        judge_selection([name], (given, None), values, [], self._scope, statement, self._template)
        own = code
        if not own.isidentifier():
            own = free_name(f"new_{name}", self._scope)
            self.lines.append(f"{own} = {code}")
        kept = f"{where(self._scope)}({self.done}, {name}, {own})"
        first = f"if {self._loop.target.id} == 0:"
        self.lines += [first, f"    {name} = {own}", "else:", f"    {name} = {kept}"]
        self.selected.append(name)
        self.begun.append(name)
        return None


@dataclass(frozen=True)
class _Binding:
    """A name that a statement gives a value, and the expression of it; None where it is an item of a result."""

    name: str
    node: ast.expr | None


def _bindings(statement: ast.stmt) -> tuple[_Binding, ...] | None:
    """The names that a statement gives values; None where it does anything else."""
    if isinstance(statement, ast.AnnAssign | ast.AugAssign):
        return (_Binding(statement.target.id, statement.value),) if isinstance(statement.target, ast.Name) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Name):
        return (_Binding(target.id, value),)
    names = [part.id for part in target.elts if isinstance(part, ast.Name)] if isinstance(target, ast.Tuple) else []
    if not isinstance(target, ast.Tuple) or len(names) != len(target.elts) or len(set(names)) != len(names):
        return None
    parts: Sequence[ast.expr | None] = [None] * len(names)
    if isinstance(value, ast.Tuple):
        if len(value.elts) != len(names) or any(isinstance(part, ast.Starred) for part in value.elts):
            return None
        parts = value.elts
    return tuple(_Binding(name, part) for name, part in zip(names, parts, strict=True))


def _kept(given: Value, before: Value, first: Value) -> Value:
    """What a name keeps in a turn after the end: what an earlier turn gave it, and never what it had at first.

    All turns have to hang on the same tensors, and on those of what it had at first, which would get zeros.
    """
    leaves = settled(given.leaves)
    return replace(before, leaves=leaves) if are_sure(leaves) and first.leaves <= leaves else before


def _not_plain(loop: ast.For, scope: Scope) -> str | None:
    """Why a loop is more than assignments to names and ways out."""
    if not scope.value(loop.iter).is_(Kind.CONTAINER):
        return f"the number of turns over `{snippet(loop.iter)}` is not known"
    targets = [n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)]
    kept = next((name for name in targets if live_after(name, loop, scope)), None)
    if kept is not None:
        return f"`{kept}` is read after the loop, where it says at which turn it ended"
    flags = set()
    for statement in loop.body:
        if isinstance(statement, ast.If) and ends_loop(statement, scope):
            said = statement.body[0]
            flags.add(ast.unparse(said.test) if isinstance(said, ast.If) else "")
        elif not _is_masked(statement, scope):
            return f"the loop does more than assign names: `{snippet(statement)}`"
    # Where a flag is true the loop ends as it did: another end, that is masked, must not be behind it.
    return (
        "the loop has several ends, of which not all say something, or not under one flag" if len(flags) > 1 else None
    )


def _is_masked(statement: ast.stmt, scope: Scope) -> bool:
    """Whether a statement gives names values, on a way that Python values decide too."""
    if not isinstance(statement, ast.If):
        return _bindings(statement) is not None
    parts = ast.walk(statement.test)
    plain = not any(isinstance(n, ast.Call | ast.NamedExpr | ast.Await | ast.Attribute | ast.Subscript) for n in parts)
    known = scope.value(statement.test).is_(*_PLAIN) and not is_tensor_test(statement.test, scope)
    return plain and known and all(_is_masked(each, scope) for each in (*statement.body, *statement.orelse))


def _is_flagged(statement: ast.stmt, loop: ast.For, scope: Scope) -> bool:
    """Whether a statement acts only where a name is true that the loop leaves as it is: `if verbose: print(...)`."""
    if not isinstance(statement, ast.If) or statement.orelse or not isinstance(statement.test, ast.Name):
        return False
    name = statement.test.id
    stores = scope.names(name, stores=True)
    given = not stores or name in scope.facts.env_before.get(loop, {})
    return given and not any(n in stores for n in ast.walk(loop)) and not is_tensor_test(statement.test, scope)


def _not_ended(loop: ast.For, done: str, template: Template) -> list[str]:
    """What the `else` of the loop becomes; the flag that alone decides there is asked first."""
    only = loop.orelse[0] if len(loop.orelse) == 1 else None
    if isinstance(only, ast.If) and not only.orelse and isinstance(only.test, ast.Name):
        head, body = f"if {template.use(only.test)} and not {done}:", only.body
    else:
        head, body = f"if not {done}:", loop.orelse
    return [head, *(f"    {template.use(each)}" for each in body)] if body else []


def _carried(name: str, loop: ast.For) -> bool:
    """Whether a turn may read what an earlier one gave the name."""
    for statement in loop.body:
        names = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
        if isinstance(statement, ast.AugAssign) or any(isinstance(n.ctx, ast.Load) for n in names):
            if names:
                return True
        elif names:
            return False
    return False
