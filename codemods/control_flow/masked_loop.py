"""A loop that a tensor ends early, as one that runs all its turns and keeps what it had once it has ended."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.in_place import becomes_new_tensor, memory_shared
from compilefix.analysis.leaves import are_sure, leaf_of, settled
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import UNKNOWN, Kind, Value, replace
from compilefix.codemods.bound_names import unbound_before
from compilefix.codemods.conditions import condition
from compilefix.codemods.control_flow.branches import built_anew
from compilefix.codemods.control_flow.guarded_writes import evaluated
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.control_flow.loop_ends import End, Loop, acts_under_flags, end_of, fixed_first
from compilefix.codemods.control_flow.loop_statements import (
    PLAIN,
    Binding,
    carried,
    flags_of,
    is_fixed_end,
    is_masked,
    names_given,
    not_plain,
    takes_turns,
)
from compilefix.codemods.control_flow.while_bounds import LateTest, late_tests
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import judge_selection
from compilefix.codemods.template import Given, Template
from compilefix.codemods.tensor_tests import is_truth
from compilefix.codemods.torch_name import torch_name, where
from compilefix.source.snippets import snippet


def masked_loop(loop: Loop, scope: Scope, template: Template) -> str | None:
    """The loop with a tensor that says whether it has ended; None, with the obstacle noted, where that cannot be."""
    reason = not_plain(loop, scope)
    if reason is not None:
        template.refuse([Obstacle(reason)])
        return None
    template.refuse([Obstacle("the loop runs all its turns, and what follows its end is masked out", "bounded-loop")])
    turn = _Turn(loop, scope, template, free_name("done", scope), tuple(flags_of(loop, scope).values()))
    late = late_tests(loop, scope) if isinstance(loop, ast.While) else None
    reason = turn.asked_first(loop) if isinstance(loop, ast.While) and late is None else None
    reason = reason or next((found for found in map(turn.read, loop.body) if found is not None), None)
    reason = reason or (turn.asked_late(late) if late is not None else None)
    if reason is not None:
        template.refuse([Obstacle(reason)])
        return None
    if not turn.selected:
        template.refuse([Obstacle("the loop changes no tensor that is read later")])
        return None
    device = next(iter([*turn.tensors, *_tensors_before(loop, scope)]), None)
    if device is None:
        template.refuse([Obstacle("no tensor is there before the loop, which would say on which device it runs")])
        return None
    torch = torch_name(scope)
    start = f"{turn.done} = {torch}.zeros((), dtype={torch}.bool, device={device}.device)"
    lines = [start, _head(loop, scope, template), *(f"    {line}" for line in turn.lines)]
    lines += _not_ended(loop, turn.done, template)
    asked = [test.node for test in late or () if not test.holds]
    if asked:
        lines = [f"if {_all_of(asked, template)}:", *(f"    {line}" for line in lines)]
    return "\n".join(lines)


def _head(loop: Loop, scope: Scope, template: Template) -> str:
    if isinstance(loop, ast.For):
        return f"for {template.use(loop.target)} in {template.use(loop.iter)}:"
    return f"while {_all_of(fixed_first(loop.test, scope)[0], template) or 'True'}:"


def _all_of(fixed: Sequence[ast.expr], template: Template) -> str:
    return " and ".join(template.use(part, operand=isinstance(part, _LOOSE)) for part in fixed)


def _conjunction(tests: Sequence[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))


def _opposite(tests: Sequence[ast.expr], template: Template) -> str:
    """Python's code for the opposite of a conjunction."""
    only = tests[0] if len(tests) == 1 else None
    if isinstance(only, ast.UnaryOp) and isinstance(only.op, ast.Not):
        return template.use(only.operand)
    return f"not ({_all_of(tests, template)})"


_LOOSE = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.NamedExpr)


def _tensors_before(loop: Loop, scope: Scope) -> Iterator[str]:
    """The names of tensors that are there before the loop, on every way to it, and read in it."""
    before = scope.facts.env_before.get(loop, {})
    for node in ast.walk(loop):
        name = node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else ""
        if name in before and before[name].is_tensor and not any(unbound_before(name, loop, scope)):
            yield name


class _Turn:
    """The code of one turn: `lines` so far, and the names in `selected` that keep what they have once it is over.

    Of these `begun` have no value before the loop, and `tensors` are tensors there. With one of the `flags` the loop
    ends as it did.
    """

    def __init__(self, loop: Loop, scope: Scope, template: Template, done: str, flags: Sequence[ast.expr]) -> None:
        self.done = done
        self.lines: list[str] = []
        self.selected: list[str] = []
        self.begun: list[str] = []
        self.tensors: list[str] = []
        self._loop = loop
        self._scope = scope
        self._template = template
        self._flags = flags
        self._takes_turns = takes_turns(loop, scope)
        self._may_be_over = False
        self._nested = False

    def asked_first(self, loop: ast.While) -> str | None:
        """Add what the condition of a `while` loop asks before each turn; the reason where it cannot be."""
        tests = fixed_first(loop.test, self._scope)[1]
        if not tests:
            return None
        code = condition([ast.UnaryOp(ast.Not(), _conjunction(tests))], self._scope, self._template, operand=True)
        for test in tests:
            self._template.refuse(evaluated(test, self._scope))
        if code is None:
            return self._template.broken or "the condition is not known"
        self._ended([f"{self.done} = {self.done} | {code}"], _opposite(tests, self._template), ["break"])
        return None

    def asked_late(self, tests: Sequence[LateTest]) -> str | None:
        """Add the same behind a turn, where the first turn makes tensors of what the condition asks for."""
        template, scope = self._template, self._scope
        ends: list[str] = []
        for test in tests:
            template.refuse(scope.legality.condition(test.given.value, scope.facts))
            template.refuse(scope.legality.both_evaluated([test.given.value], scope.facts))
            kept = template.use(test.node, operand=not test.opposite)
            reshape = "" if test.value.rank == 0 else ".reshape(())"
            ends.append(f"{test.name}{reshape}" if test.opposite else f"~{kept}{reshape}")
        opposite = _opposite([test.node for test in tests], template)
        self._ended([f"{self.done} = {' | '.join([self.done, *ends])}"], opposite, ["break"])
        return None

    def read(self, statement: ast.stmt) -> str | None:
        """Add what a statement becomes; the reason where it cannot be."""
        template, legality, facts = self._template, self._scope.legality, self._scope.facts
        if isinstance(statement, ast.AnnAssign) and statement.value is None:
            return None
        if isinstance(statement, ast.If):
            end = end_of(statement, self._scope)
            if end is not None:
                return self._end(end)
            if acts_under_flags(statement, self._loop, self._scope) and not is_masked(
                statement, self._loop, self._scope
            ):
                self.lines.append(template.use(statement))
                return None
            if is_fixed_end(statement, self._loop, self._scope):
                self.lines.append(template.use(statement))
                # Behind a `continue` the first turn may not come, which would give a name its first value.
                self._nested = self._nested or isinstance(statement.body[0], ast.Continue)
                return None
            return self._fixed_way(statement)
        if isinstance(statement, ast.For):
            return self._inner_loop(statement)
        if isinstance(statement, ast.With):
            return self._under(statement)
        bindings = names_given(statement)
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

    def _end(self, end: End) -> str | None:
        """Add what an `if` with a way out becomes; the reason where it cannot be."""
        template, scope = self._template, self._scope
        if end.before and end.around is not None:
            reason = self._fixed_way(ast.copy_location(ast.If(end.around, list(end.before), []), end.node))
            if reason is not None:
                return reason
        fixed, tests, obstacles = fixed_first(end.node.test, scope)
        if end.around is not None:
            fixed = [end.around, *fixed]
        # A bool that Python decides in some calls, beside a tensor in others, ends it as well.
        template.mixes, template.beside = True, self.done
        code = condition([_conjunction(tests)], scope, template, operand=True)
        template.refuse(obstacles)
        for part in (*tests, *(part for part in fixed if obstacles)):
            template.refuse(evaluated(part, scope))
        if code is None:
            return template.broken or "the condition is not known"
        ends = free_name("ends", scope) if end.given else code
        lines, self.lines = self.lines, [f"{ends} = ~{self.done} & {code}"] if end.given else []
        for name, value in end.given:
            reason = self._last_value(name, value, ends, end.node)
            if reason is not None:
                return reason
        template.refuse(self._left_behind(end.node))
        masked, self.lines = [*self.lines, f"{self.done} = {self.done} | {ends}"], lines
        if fixed:
            goes_on = end.before and len(fixed) == 1 and not self._flags  # in the `if` that computes what is asked
            head = [] if goes_on else [f"if {_all_of(fixed, template)}:"]
            masked = [*head, *(f"    {line}" for line in masked)]
        both = [test for test in (end.around, end.node.test) if test is not None]
        test = _all_of(both, template) if end.around is not None else template.use(end.node.test)
        self._ended(masked, test, self._way_out(end))
        return None

    def _left_behind(self, end: ast.If) -> Iterator[Obstacle]:
        """Whether turns after the end begin with what names have in the middle of a turn."""
        for name, value in sorted(self._scope.facts.env_before.get(end, {}).items()):
            if name in self.selected and carried(name, self._loop):
                yield from self._unseen(name, value)

    def _way_out(self, end: End) -> list[str]:
        """What an end of the loop did: it says something, gives names values and leaves."""
        steps: list[ast.stmt] = []
        for step in end.node.body:
            # A flag that is the only one has been asked where this stands; what it asks beside it is asked here.
            said = end.said if step is end.said and len(self._flags) == 1 else None
            steps += [step] if said is None or isinstance(said.test, ast.BoolOp) else said.body
        *before, last = (self._template.use(step) for step in steps)
        return [*before, *([f"{self.done} = ~{self.done}"] if self._loop.orelse else []), last]

    def _ended(self, lines: Sequence[str], test: str, way_out: Sequence[str]) -> None:
        """Add an end of the loop: `lines`, or where the flag is true the way out as it was."""
        if not self._flags:
            self.lines += lines
        else:
            # With a flag the loop ends as it did, and has broken the graph: nothing is masked then.
            self.lines += [f"if {' or '.join(map(self._template.use, self._flags))}:", f"    if {test}:"]
            self.lines += [f"        {line}" for line in way_out]
            self.lines += ["else:", *(f"    {line}" for line in lines)]
        self._may_be_over = True

    def _last_value(self, name: str, value: ast.expr, ends: str, statement: ast.stmt) -> str | None:
        """Add the value that a name gets where the loop ends."""
        scope, template = self._scope, self._template
        if not live_after(name, self._loop, scope) and not any(_loads(n, name) for n in ast.walk(self._loop)):
            template.refuse(evaluated(value, scope))
            return None
        if self._is_answer(name, value):
            reason = f"`{name}` is asked for its truth behind the loop, and becomes a tensor"
            template.refuse([Obstacle(reason, "number-to-tensor")])
            self.lines.append(f"{name} = {where(scope)}({ends}, {template.use(value)}, {name})")
            self.selected.append(name)
            template.edits += [edit for edit in self._flag_first(name) if edit not in template.edits]
            return None
        return self._select(name, Given(value), template.use(value), statement, ends)

    def _flag_first(self, name: str) -> Iterator[Edit]:
        """`if not converged and verbose:` asks the flag first: the answer is a tensor where the flag is false."""
        scope = self._scope
        for test in (statement.test for statement in scope.of(ast.If)):
            if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And) or len(test.values) != 2:
                continue
            answer, flag = test.values
            asked = answer.operand if isinstance(answer, ast.UnaryOp) else answer
            if isinstance(asked, ast.Name) and asked.id == name and self._is_flag(flag):
                yield scope.edit(test, "{flag} and {answer}", flag=flag, answer=answer)

    def _is_flag(self, node: ast.expr) -> bool:
        return ast.unparse(node) in map(ast.unparse, self._flags)

    def _is_answer(self, name: str, value: ast.expr) -> bool:
        """Whether a name says True or False, and nothing but its truth is asked for: `converged = True`."""
        before = self._scope.facts.env_before.get(self._loop, {}).get(name)
        known = (before.const if before is not None else None, self._scope.value(value).const)
        if not all(const is not None and isinstance(const.value, bool) for const in known):
            return False
        inside = [n for n in ast.walk(self._loop) if isinstance(n, ast.Name) and n.id == name]
        if len(inside) > 1:
            return False
        loads = self._scope.function.loads(name)
        return all(use in self._scope.parents and is_truth(use, self._scope) for use in loads)

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

    def _inner_loop(self, statement: ast.For) -> str | None:
        """A loop in a turn, of which all turns run, and whose assignments are masked like the others."""
        scope, template = self._scope, self._template
        template.refuse(scope.legality.both_evaluated([statement.iter], scope.facts))
        lines, self.lines = self.lines, []
        nested, self._nested = self._nested, True
        reason = next((found for found in map(self.read, statement.body) if found is not None), None)
        head = f"for {template.use(statement.target)} in {template.use(statement.iter)}:"
        lines += [head, *(f"    {line}" for line in self.lines or ["pass"])]
        self.lines, self._nested = lines, nested
        return reason

    def _under(self, statement: ast.With) -> str | None:
        """What is computed in each turn for this turn alone, without gradients or in another precision."""
        template = self._template
        heads = [item.context_expr for item in statement.items]
        template.refuse(
            self._scope.legality.both_evaluated([a for head in heads for a in _given_to(head)], self._scope.facts)
        )
        lines, self.lines = self.lines, []
        reason = next((found for found in map(self.read, statement.body) if found is not None), None)
        head = f"with {', '.join(map(template.use, heads))}:"
        self.lines = [*lines, head, *(f"    {line}" for line in self.lines)]
        return reason

    def _is_selected(self, binding: Binding, statement: ast.stmt) -> bool:
        later = live_after(binding.name, self._loop, self._scope)
        if not later and not carried(binding.name, self._loop):
            return False
        # A counter that nobody reads after the loop may count on: what is computed with it is not taken.
        value = self._scope.value(binding.node) if binding.node is not None else UNKNOWN
        before = self._before(binding.name, statement)
        return later or not (value.is_(*PLAIN) and before is not None and before.is_(*PLAIN))

    def _before(self, name: str, statement: ast.stmt) -> Value | None:
        return self._scope.facts.env_before.get(statement, {}).get(name)

    def _written_always(self, name: str, statement: ast.AugAssign) -> Iterator[Obstacle]:
        """Whether a turn after the end may write into what an earlier statement of the same turn has made."""
        before = self._before(name, statement)
        if before is None or not before.is_(*PLAIN):
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

    def _unpacked(self, statement: ast.stmt, bindings: Sequence[Binding], names: Sequence[str]) -> str | None:
        """`a, b = f(x)`: what is selected gets a name of its own first."""
        template, scope, facts = self._template, self._scope, self._scope.facts
        assert isinstance(statement, ast.Assign)
        results = scope.value(statement.value).elements
        whole = bindings[0].node is None
        if whole:
            template.refuse(scope.legality.both_evaluated([statement.value], facts))
            template.refuse(scope.legality.derivatives.finite([statement.value], facts))
            template.refuse(scope.legality.memory.saved([statement.value], statement, facts))
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

    def _select(self, name: str, given: Given, code: str, statement: ast.stmt, ends: str | None = None) -> str | None:
        """Add the value that a name gets in a turn, where the loop has not ended before, or where it `ends` there."""
        scope, template = self._scope, self._template
        before = self._before(name, statement)
        first = scope.facts.env_before[self._loop].get(name)
        is_argument = scope.function.takes(name)
        starts = ends is None and first is None and before is not None and before.is_tensor
        if starts and before is not None and self._starts_here(name):
            return self._begin(name, given, code, before, statement)
        if before is None or first is None or not (before.certain or is_argument or self._is_given_before(name)):
            return f"`{name}` may have no value before the loop"
        if Kind.NONE in first.kinds:
            return f"`{name}` may be None before the loop, which is no tensor to keep"
        if not before.certain:
            template.refuse([Obstacle(f"`{name}` is not proved to be a tensor", "is-tensor")])
        result = scope.value(given.node)
        # The first turn too may leave the name what it had before the loop: an end stands before it, or it is on a way.
        from_first = self._may_be_over or self._nested or ends is not None
        if from_first and not first.may_be(Kind.TENSOR):
            reason = f"`{name}` is a number before the loop, and a tensor where the loop ends before it gets a value"
            template.refuse([Obstacle(reason, "number-to-tensor")])
        values = (result, before if from_first else _kept(result, before, first))
        judge_selection([name], (given, None), values, [], scope, statement, template)
        if self._takes_turns:
            template.refuse(self._of_other_turns(name, result))
        # `torch.where` would give each turn the larger shape, which may say otherwise when the loop ends.
        other_shape = _has_more_dimensions(first, result) or (result.rank == 0 and first.rank is None)
        if ends is None and other_shape and self._takes_first(name):
            self._from_second_turn(name, code)
        elif _has_more_dimensions(first, result):
            return f"`{name}` has more dimensions before the loop than what the turns give it"
        else:
            chosen = f"{self.done}, {name}, {code}" if ends is None else f"{ends}, {code}, {name}"
            self.lines.append(f"{name} = {where(scope)}({chosen})")
        self.selected.append(name)
        if ends is not None:
            template.refuse(self._unseen(name, result))
        if first.is_tensor:
            self.tensors.append(name)
        return None

    def _of_other_turns(self, name: str, value: Value) -> Iterator[Obstacle]:
        """Whether a turn after the end computes a name of tensors that no turn before it had."""
        if value.leaves:
            reason = f"the turns after the end compute `{name}` of tensors that are not used otherwise"
            yield Obstacle(f"{reason}, and get a gradient of zeros", "gradient-zeros")

    def _unseen(self, name: str, value: Value) -> Iterator[Obstacle]:
        """Whether turns after the end read from a name a value that hangs on tensors of which no turn knew.

        Before, the name had it behind the loop only, or none read it after the middle of a turn.
        """
        read = next((n for n in ast.walk(self._loop) if _loads(n, name)), None)
        known = self._scope.facts.env_before.get(self._loop.body[0], {}).get(name)
        if read is None or known is None or not value.may_be(Kind.TENSOR):
            return
        new = {leaf_of(leaf) for leaf in value.leaves} - {leaf_of(leaf) for leaf in known.leaves}
        if new:
            reason = f"turns after the end compute with what `{name}` has there, and mask out what comes of it"
            yield Obstacle(f"{reason}: a gradient of zero would flow back", "gradient-zeros")
            yield Obstacle(f"{reason}: it may have no finite derivative", "finite-derivative")

    def _is_given_before(self, name: str) -> bool:
        """Whether a statement in front of the loop, or of a block that holds it, gives the name a value."""
        scope = self._scope
        for node in (self._loop, *(n for n in scope.ancestors(self._loop) if isinstance(n, ast.stmt))):
            if node is scope.function.node:
                return False
            block = scope.block(node)
            given = [names_given(statement) or () for statement in block[: block.index(node)]]
            if any(binding.name == name for bindings in given for binding in bindings):
                return True
        return False

    def _takes_first(self, name: str) -> bool:
        """Whether a name may take what the first turn gives it even if that ends the loop.

        Turns after the end alone read it then: what they compute is not taken. So what it had before the loop need not
        have the shape of what turns give it: `last = torch.zeros_like(x)` for the sums of turns.
        """
        return not live_after(name, self._loop, self._scope) and self._is_first_known(name)

    def _starts_here(self, name: str) -> bool:
        """Whether the first turn gives a name its first value: it always does, and is known to be the first."""
        once = not self._scope.names(name, stores=True)[1:]
        return not self._may_be_over and name not in self.begun and once and self._is_first_known(name)

    def _is_first_known(self, name: str) -> bool:
        """Whether the loop counts its turns from zero, and each gives the name one value, at one place."""
        if self._nested or isinstance(self._loop, ast.While) or not isinstance(self._loop.target, ast.Name):
            return False
        counted = self._loop.iter
        plain = isinstance(counted, ast.Call) and self._scope.callee(counted) == "range" and len(counted.args) == 1
        stores = [n for n in ast.walk(self._loop) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
        once = sum(n.id == name for n in stores) == 1 and sum(n.id == self._loop.target.id for n in stores) == 1
        return plain and once

    def _begin(self, name: str, given: Given, code: str, before: Value, statement: ast.stmt) -> str | None:
        """A name that has no value before the loop keeps what the turns give it from the second turn on."""
        values = (self._scope.value(given.node), before)
        judge_selection([name], (given, None), values, [], self._scope, statement, self._template)
        if self._takes_turns or not are_sure(settled(values[0].leaves)):
            self._template.refuse(self._of_other_turns(name, values[0]))
        own = code
        if not own.isidentifier():
            own = free_name(f"new_{name}", self._scope)
            self.lines.append(f"{own} = {code}")
        self._from_second_turn(name, own)
        self.selected.append(name)
        self.begun.append(name)
        return None

    def _from_second_turn(self, name: str, code: str) -> None:
        assert isinstance(self._loop, ast.For)
        kept = f"{where(self._scope)}({self.done}, {name}, {code})"
        first = f"if {self._template.use(self._loop.target)} == 0:"
        self.lines += [first, f"    {name} = {code}", "else:", f"    {name} = {kept}"]


def _has_more_dimensions(first: Value, then: Value) -> bool:
    """Whether a tensor is proved to have more dimensions than another one."""
    least = first.rank if first.rank is not None else int(first.has_dims)
    return first.is_tensor and then.is_tensor and then.rank is not None and least > then.rank


def _given_to(call: ast.expr) -> list[ast.expr]:
    """The arguments of a call."""
    return [*call.args, *(keyword.value for keyword in call.keywords)] if isinstance(call, ast.Call) else []


def _loads(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _not_ended(loop: Loop, done: str, template: Template) -> list[str]:
    """What the `else` of the loop becomes; the flag that alone decides there is asked first."""
    only = loop.orelse[0] if len(loop.orelse) == 1 else None
    if isinstance(only, ast.If) and not only.orelse and isinstance(only.test, ast.Name):
        head, body = f"if {template.use(only.test)} and not {done}:", only.body
    else:
        head, body = f"if not {done}:", loop.orelse
    return [head, *(f"    {template.use(each)}" for each in body)] if body else []


def _kept(given: Value, before: Value, first: Value) -> Value:
    """What a name keeps in a turn after the end: what an earlier turn gave it, and never what it had at first.

    All turns have to hang on the same tensors (`takes_turns` finds those that have others), and on those of what it
    had at first, which would get zeros.
    """
    leaves = settled(given.leaves)
    return replace(before, leaves=leaves) if are_sure(leaves) and first.leaves <= leaves else before
