"""Whether a rewrite keeps the program's meaning: the questions that rules ask, each answered with a reason.

The conditions for `torch.where` in place of a branch are those measured on torch 2.13 and 2.11: one element in the
condition, branches that cannot fail, no random numbers, no lost aliasing, the same dtype and shape, the same tensors
that receive gradients, and a derivative that stays finite on the side not taken.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from compilefix.analysis import torch_api
from compilefix.analysis.bounded import indices_kept_in_range, kept_from_failing
from compilefix.analysis.compile_sites import Checkpoints, CompileSite, checkpoints, compile_sites, modules_with_compile
from compilefix.analysis.effects import EffectAnalysis
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.leaves import are_same, leaf_of, settled
from compilefix.analysis.live_code import leaves, live_nodes
from compilefix.analysis.presence import absences
from compilefix.analysis.recomputed import Calls, Recomputed, atoms
from compilefix.analysis.regions import called_compiled
from compilefix.analysis.run_by_python import run_by_python
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.totality import Totality
from compilefix.analysis.values import Kind, Value, may_share
from compilefix.analysis.writes import WriteAnalysis, last_line, says
from compilefix.analysis.written_memory import PLAIN
from compilefix.source.definitions import Function
from compilefix.source.module import Module
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_literal
from compilefix.source.texts import word_start


@dataclass(frozen=True)
class Obstacle:
    """A condition that is not proved. With an `assumption` the user may vouch for it; without one it is broken."""

    reason: str
    assumption: str | None = None


_EXACT = frozenset({0, 0.5, 1, 2, -1})


class Legality:
    """Answers for one project."""

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.effects = EffectAnalysis(inference)
        self.totality = Totality(inference)
        self.writes = WriteAnalysis(inference)
        self._recomputed = Recomputed(inference, self.writes)
        self.shown: dict[Function, tuple[tuple[ast.Call, frozenset[str] | None], ...]] = {}
        self._stored: dict[str, bool] = {}
        self._called: dict[Function, tuple[Function, ...]] = {}
        self._reached: dict[Function, frozenset[Function]] = {}
        self._run_by_python: dict[Function, tuple[Function, ...]] = {}

    @cached_property
    def checkpoints(self) -> Checkpoints:
        """What runs twice, because `torch.utils.checkpoint` runs it."""
        return checkpoints(self.inference)

    @cached_property
    def compile_sites(self) -> tuple[tuple[Module, CompileSite], ...]:
        """Each use of `torch.compile` in the project and the module where it stands."""
        modules = self.inference.project.modules
        names = modules_with_compile(self.inference.project)
        return tuple((modules[name], site) for name in names for site in compile_sites(modules[name], self.inference))

    def compiled_by(self, function: Function) -> Iterator[tuple[Module, CompileSite]]:
        """The uses of `torch.compile` that are given a function."""
        return ((module, site) for module, site in self.compile_sites if function in site.targets)

    def reached(self, function: Function) -> frozenset[Function]:
        """A function and all that it calls, as far as these run compiled."""
        known = self._reached.get(function)
        if known is None:
            pending = [] if leaves(function) else [function]
            found = set(pending)
            while pending:
                for callee in self.called(pending.pop()):
                    if callee not in found:
                        found.add(callee)
                        pending.append(callee)
            known = self._reached[function] = frozenset(found)
        return known

    def called(self, function: Function) -> tuple[Function, ...]:
        """What a function calls, as far as it runs compiled."""
        if function not in self._called:
            self._called[function] = called_compiled(function, self.inference)
        return self._called[function]

    def run_by_python(self, function: Function) -> tuple[Function, ...]:
        """The methods of the project that Python may run for what a function does, without a call by name."""
        if function not in self._run_by_python:
            found = run_by_python(self.inference.facts(function), self.inference.project)
            self._run_by_python[function] = tuple(dict.fromkeys(found))
        return self._run_by_python[function]

    def stores_attribute(self, name: str) -> bool:
        """Whether, by its text, something in the project may store or delete an attribute of this name."""
        if name not in self._stored:
            matching = self.inference.project.modules.texts.matching
            stored = rf"\.{name}\s*(:[^=\n]+)?=[^=]", rf"{name}[\"'](?<=[\"']{name}[\"'])"
            ways = (*stored, rf"{word_start('del')}\b[^\n]*\.{name}\b")
            self._stored[name] = any(matching(name, pattern) for pattern in ways)
        return self._stored[name]

    def condition(self, test: ast.expr, facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether `test` can be computed as one tensor that decides for all elements."""
        value = facts.value(test)
        if not value.certain:
            yield Obstacle(f"`{snippet(test)}` is not proved to be a tensor", "is-tensor")
        if value.is_tensor and not value.has_one_element:
            yield Obstacle(f"`{snippet(test)}` is not proved to have one element", "condition-one-element")

    def both_evaluated(self, expressions: Iterable[ast.expr], facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether expressions that ran only on one side may be evaluated always."""
        for node in expressions:
            for atom in atoms(node):
                if isinstance(atom, ast.Name) and not facts.value(atom).certain:
                    yield Obstacle(f"`{atom.id}` may have no value, or is not proved to be a tensor", "branches-total")
            effects = self.effects.of(node, facts)
            if effects.random is not None:
                yield Obstacle(f"a branch is not free of effects: {effects.random}", "rng-stream")
            if effects.mutates is not None:
                yield Obstacle(f"a branch is not free of effects: {effects.mutates}")
            if effects.always is not None:
                yield Obstacle(f"a branch works on the host: {effects.always}")
            elif effects.host is not None:
                yield Obstacle(f"a branch may log on the other side's inputs: {effects.host}", "branches-total")
            if effects.checks is not None:
                yield Obstacle(f"a branch raises for some of the other side's inputs: {effects.checks}")
            elif effects.raises is not None:
                yield Obstacle(f"a branch may fail on the other side's inputs: {effects.raises}", "branches-total")
            if effects.unknown is not None:
                yield Obstacle(f"a branch calls what cannot be judged: {effects.unknown}", "branches-total")
            if self._never_ends(node, facts):
                yield Obstacle(f"`{facts.function.qualname}` calls itself: without the test it would not end")
            for doubt in self.totality.doubts(node, facts):
                yield Obstacle(doubt, "branches-total")
            for absence in absences(node, facts, self.inference):
                yield Obstacle(f"a branch counts on the test: {absence}")
            for failure in kept_from_failing(node, facts):
                yield Obstacle(f"a branch counts on the test: {failure}")

    def indices(self, expressions: Iterable[ast.expr], facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether the indices in what always runs are in range without the test that they stand behind."""
        for node in expressions:
            for failure in indices_kept_in_range(node, facts):
                yield Obstacle(f"a branch counts on the test: {failure}")

    def _never_ends(self, node: ast.expr, facts: FunctionFacts) -> bool:
        """Whether an expression calls the function that it stands in, and no test but those on tensors ends that."""
        function = facts.function
        if function.node.name in ("forward", "__call__"):
            return False  # of another object, which may have none in turn
        calls = [facts.calls[part] for part in ast.walk(node) if part in facts.calls]
        if not any(function in self.reached(callee) for callee in calls):
            return False
        fixed = (n for n in function.of(ast.If) if not facts.value(n.test).may_be(Kind.TENSOR))
        return not any(isinstance(n, ast.Return) for branch in fixed for part in branch.body for n in ast.walk(part))

    def same_type(self, then: Value, orelse: Value) -> Iterator[Obstacle]:
        """Whether two tensors have the same shape and dtype on every run."""
        for side, other in ((then, orelse), (orelse, then)):
            if not side.may_be(Kind.TENSOR):
                yield from _number_beside(side, other)
                return
        for side in (then, orelse):
            if Kind.TENSOR not in side.kinds and side.kinds & _OTHERS:
                yield Obstacle(f"one side is no tensor: {_kinds(side)}")
                return
            if Kind.NONE in side.kinds:
                yield Obstacle("one side may be None, which cannot be selected")
                return
            if Kind.OBJECT in side.kinds and not side.declared:
                yield Obstacle("one side may be an object of another class, which functions of torch do not take")
                return
        ranks = [side.rank for side in (then, orelse) if not side.is_unknown]
        if len(ranks) == 2 and None not in ranks and ranks[0] != ranks[1]:
            yield Obstacle(f"the sides differ in shape: {ranks[0]} and {ranks[1]} dimensions")
            return
        if any(side.rank == 0 and other.dimensioned for side, other in ((then, orelse), (orelse, then))):
            yield Obstacle("the sides differ in shape: only one has dimensions")
            return
        if not (then.is_tensor and orelse.is_tensor):
            yield Obstacle("one side is not proved to be a tensor", "same-shape-dtype")
            return
        if then.dtype is not None and orelse.dtype is not None and then.dtype != orelse.dtype:
            yield Obstacle(f"the sides differ in dtype: {then.dtype} and {orelse.dtype}")
            return
        if then.rank is not None and orelse.rank is not None and then.rank != orelse.rank:
            yield Obstacle(f"the sides differ in shape: {then.rank} and {orelse.rank} dimensions")
            return
        if then.shape_id is None or then.shape_id != orelse.shape_id:
            yield Obstacle("the two sides are not proved to have the same shape", "same-shape-dtype")
        if then.dtype_id is None or then.dtype_id != orelse.dtype_id:
            yield Obstacle("the two sides are not proved to have the same dtype", "same-shape-dtype")

    def gradients(
        self,
        then: ast.expr | None,
        orelse: ast.expr | None,
        values: tuple[Value, Value],
        facts: FunctionFacts,
        kept: frozenset[str] = frozenset(),
        finite: Collection[ast.expr] = (),
    ) -> Iterator[Obstacle]:
        """Whether the same tensors receive the same gradients when both sides are computed and one is selected.

        `finite` are sides that are written so that their derivative is finite where they are not taken.
        """
        first, second = values
        # Beside a tensor a Python integer says nothing of the dtype: `0 if nothing else total / count` is floating. So
        # is what is selected of `torch.tensor(0)` and a floating tensor.
        tensors = [value for value in values if value.may_be(Kind.TENSOR)] or [second]
        if all(value.dtype in ("bool", "int") for value in tensors):
            return
        if not are_same(first.leaves, second.leaves):
            only = settled(first.leaves) ^ settled(second.leaves)
            sure = {n for n in only if not n.startswith("?")}
            names = sorted(sure or {leaf_of(n) for n in only if not leaf_of(n).startswith("?")})
            what = ", ".join(f"`{n}`" for n in names) or "a value of unknown origin"
            where = "on one side only" if sure or not names else "on one side only in some runs"
            yield Obstacle(f"{what} takes part {where}: its gradient would be zeros instead of None", "gradient-zeros")
        sides = (then, orelse)
        for side, other in zip(sides, reversed(sides), strict=True):
            if side is not None:
                if side not in finite:
                    yield from self._finite_derivative(side, facts)
                shared = {ast.unparse(a) for a in reached(other, facts)} if other is not None else kept
                for atom in atoms(side):
                    value = facts.value(atom)
                    # The way from an argument to a value computed earlier gets a gradient of zero now, and none before.
                    if (
                        value.leaves
                        and value.may_be(Kind.TENSOR)
                        and ast.unparse(atom) not in shared
                        and not self._passes_zero(atom, facts, set())
                    ):
                        yield Obstacle(
                            f"`{ast.unparse(atom)}` was computed before and is used on one side only: "
                            "a gradient of zero would flow back through it",
                            "finite-derivative",
                        )

    def kept(self, name: str, value: Value, statement: ast.AST, facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether a gradient of zero may flow back through what a name keeps, where the side taken does not use it."""
        branch = statement if isinstance(statement, ast.stmt) else None
        if not value.leaves or value.dtype in ("bool", "int"):
            return
        if value.origin and not self._written(value, facts, branch):
            return
        line = getattr(statement, "lineno", 0)
        turns = (n for n in live_nodes(facts) if isinstance(n, ast.For | ast.While))
        again = any(turn.lineno <= line <= (turn.end_lineno or 0) for turn in turns)
        sources = [
            source
            for n in live_nodes(facts)
            if isinstance(n, ast.Assign) and len(n.targets) == 1 and (again or n.lineno < line)
            for target, source in _given(n.targets[0], n.value)
            if isinstance(target, ast.Name | ast.Attribute) and ast.unparse(target) == name
        ]
        written = self.writer(value.storage, (), facts, without=branch) if value.storage else None
        if (
            written is not None
            or not sources
            or not all(
                next(self.culprits(source, facts), None) is None
                and all(self._passes_zero(atom, facts, {name}) for atom in atoms(source))
                for source in sources
            )
        ):
            yield Obstacle(
                f"`{name}` was computed before and is replaced on one side: a gradient of zero would flow back through "
                "it, and is NaN where its derivative is not finite",
                "finite-derivative",
            )

    def _written(self, value: Value, facts: FunctionFacts, without: ast.stmt | None = None) -> bool:
        """Whether something is written into what came from outside: the way back leads through that, too."""
        writers = self.writers(value.storage, (), facts, without) if value.storage else ()
        return any(not _sets_data(writer) for writer in writers)

    def _passes_zero(self, atom: ast.expr, facts: FunctionFacts, seen: set[str]) -> bool:
        """Whether a gradient of zero stays zero on its way from a name back to the arguments and attributes."""
        value = facts.value(atom)
        if not value.leaves:
            return True
        if value.origin:
            return not self._written(value, facts)
        if not isinstance(atom, ast.Name):
            return False
        if atom.id in seen:
            return True
        seen.add(atom.id)
        stores = [
            n for n in live_nodes(facts) if isinstance(n, ast.Name) and n.id == atom.id and isinstance(n.ctx, ast.Store)
        ]
        sources = [
            source
            for n in live_nodes(facts)
            if isinstance(n, ast.Assign) and len(n.targets) == 1
            for target, source in _given(n.targets[0], n.value)
            if target in stores
        ]
        written = self.writer(value.storage, (), facts) if value.storage else None
        return (
            written is None
            and len(sources) == len(stores) > 0
            and all(
                next(self.culprits(source, facts), None) is None
                and all(self._passes_zero(a, facts, seen) for a in atoms(source))
                for source in sources
            )
        )

    def passes_zero(self, name: ast.expr, facts: FunctionFacts) -> bool:
        """Whether a gradient of zero stays zero on its way back through what a name holds, however that is computed."""
        return self._passes_zero(name, facts, set())

    def _finite_derivative(self, node: ast.expr, facts: FunctionFacts) -> Iterator[Obstacle]:
        """With an incoming gradient of zero, the gradient must be zero for every input, NaN and inf included."""
        value = facts.value(node)
        if (
            not value.leaves
            or not value.may_be(Kind.TENSOR)
            or isinstance(node, ast.Name | ast.Attribute | ast.Constant)
        ):
            return
        culprits = list(self.culprits(node, facts))
        without = [culprit for culprit in culprits if _has_no_derivative(culprit, facts)]
        for culprit in without:
            reason = f"`{snippet(culprit)}` has no derivative: a backward pass through it raises"
            yield Obstacle(reason, "branches-total")
        for culprit in [culprit for culprit in culprits if culprit not in without][:1]:
            yield Obstacle(
                f"the derivative of `{snippet(culprit)}` is not finite for every value: "
                "the side not taken could give NaN",
                "finite-derivative",
            )

    def finite(self, expressions: Iterable[ast.expr], facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether a gradient of zero stays zero on its way back through each of these expressions."""
        for node in expressions:
            yield from self._finite_derivative(node, facts)

    def computed_again(self, node: ast.expr, facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether an expression may be computed twice instead of once."""
        effects = self.effects.of(node, facts)
        for reason in (effects.random, effects.mutates, effects.host, effects.unknown):
            if reason is not None:
                yield Obstacle(f"`{snippet(node)}` would be computed twice, and is not free of effects: {reason}")

    def culprits(self, node: ast.expr, facts: FunctionFacts) -> Iterator[ast.expr]:
        """The operations in an expression that may turn a gradient of zero into NaN on its way back."""
        value = facts.value(node)
        if (
            isinstance(node, ast.Name | ast.Attribute | ast.Constant)
            or not value.leaves
            or not value.may_be(Kind.TENSOR)
        ):
            return
        if isinstance(node, ast.Call) and any(k.arg == "requires_grad" for k in node.keywords):
            return  # a new leaf: no gradient flows on from there
        children: Sequence[ast.expr]
        ok: bool
        if isinstance(node, ast.BinOp):
            children = [node.left, node.right]
            differentiable = [c for c in children if facts.value(c).may_be(Kind.TENSOR)]
            if isinstance(node.op, ast.Add | ast.Sub):
                ok = True
            elif isinstance(node.op, ast.Mult):
                ok = len(differentiable) == 1 and self._finite_number(
                    facts.value(next(c for c in children if c not in differentiable))
                )
            elif isinstance(node.op, ast.Div):
                divisor = facts.value(node.right)
                ok = not divisor.may_be(Kind.TENSOR) and _divides(divisor)
            else:
                ok = False
        elif isinstance(node, ast.UnaryOp):
            children, ok = [node.operand], isinstance(node.op, ast.USub | ast.UAdd)
        elif isinstance(node, ast.Subscript):
            children, ok = [node.value], True
        elif isinstance(node, ast.IfExp):
            children, ok = [node.body, node.orelse], True
        elif isinstance(node, ast.Call):
            name = facts.callee(node) or ""
            method = name.startswith("Tensor.")
            api = torch_api.method(name.removeprefix("Tensor.")) if method else torch_api.function(name)
            children = [
                *([node.func.value] if method and isinstance(node.func, ast.Attribute) else []),
                *node.args,
                *(k.value for k in node.keywords),
            ]
            tensors = [c for c in children if facts.value(c).may_be(Kind.TENSOR) and facts.value(c).leaves]
            numbers = [c for c in children if c not in tensors]
            factors = self._constant_factors(name, numbers, tensors, facts) and self._finite_factors(node, name, facts)
            ok = (
                api is not None
                and factors
                and (
                    api.linear
                    or (api.zero_grad_safe and len(tensors) == 1)
                    or (api.zero_grad_safe_tensors and len(tensors) > 1)
                )
            )
        else:
            children, ok = (
                [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)],
                isinstance(node, ast.Tuple | ast.List),
            )
        if not ok:
            yield node
        for child in children:
            yield from self.culprits(child, facts)

    def _constant_factors(
        self, name: str, numbers: Sequence[ast.expr], tensors: Sequence[ast.expr], facts: FunctionFacts
    ) -> bool:
        bare = name.rpartition(".")[2]
        if bare in ("mul", "multiply"):
            known = [facts.value(n) for n in numbers]
            return len(tensors) == 1 and all(v.const is not None and self._finite_number(v) for v in known)
        if bare in ("div", "divide", "true_divide"):
            return len(tensors) == 1 and all(_divides(facts.value(n)) for n in numbers)
        return True

    def _finite_factors(self, node: ast.Call, name: str, facts: FunctionFacts) -> bool:
        """Whether the numbers that a call scales a part of its result by are finite: `alpha=`, the slope of a ReLU."""
        named = [k.value for k in node.keywords if k.arg in _FACTORS]
        given = node.args if name.rpartition(".")[2] in ("leaky_relu", "leaky_relu_") else ()
        values = [facts.value(part) for part in (*named, *given)]
        return all(value.may_be(Kind.TENSOR) or self._finite_number(value) for value in values)

    def _finite_number(self, value: Value) -> bool:
        # A tensor factor may be inf or NaN, and so may a float that is passed: `limit = float("inf")` for none.
        if value.const is not None:
            return isinstance(value.const.value, int | float) and abs(value.const.value) <= _LARGEST
        return value.is_(Kind.SIZE) or (value.is_(Kind.STATIC) and value.dtype in ("int", "bool"))

    def write_in_place(self, shown: str, value: Value) -> Iterator[Obstacle]:
        """Whether a write into a tensor raises as it did before: into one that is trained it is another error."""
        if value.origin and value.leaves and value.dtype == "float":
            yield Obstacle(f"`{shown}` may require a gradient, and a write into it is another error then")

    def saved(self, sides: Iterable[ast.expr], statement: ast.stmt, facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether what both sides keep for the backward pass stays as it is.

        A side that was not taken kept nothing. Now it does, and a later write in place makes backward raise.
        """
        for side in sides:
            for atom in atoms(side):
                value = facts.value(atom)
                if not value.may_be(Kind.TENSOR) or value.is_unknown:
                    continue
                writer = self.writer(value.storage, (), facts, without=statement)
                if writer is not None and last_line(writer, facts) >= statement.lineno:
                    writes = f"`{snippet(writer)}` {says(writer, facts)} into `{ast.unparse(atom)}`"
                    yield Obstacle(f"{writes}, which the backward pass may need", "no-aliasing")

    def recomputed(
        self,
        read: ast.expr,
        facts: FunctionFacts,
        calls: Callable[[], Calls],
        own: Collection[ast.AST] = (),
    ) -> Iterator[Obstacle]:
        """Whether the backward pass may compute what is read again, from memory that the graph writes into.

        `calls` gives the calls that lead to the function. `own` are writes that do not count.
        """
        for reason in self._recomputed.reasons(read, facts, calls, own):
            yield Obstacle(reason, "no-recompute")

    def aliasing(
        self, names: Iterable[str], kept: Sequence[Value], statement: ast.AST, facts: FunctionFacts
    ) -> Iterator[Obstacle]:
        """Whether a side that hands on an existing tensor may become a new tensor.

        It matters where somebody can see the difference: when memory that others hold (an argument, an attribute,
        another live name) is written in place later in the function, or the tensor itself leaves the function.
        """
        names = set(names)
        env = facts.env_before.get(statement, {})
        given = frozenset(f"param:{parameter.arg}" for parameter in facts.function.parameters)
        handed = self.writes.handed_on_before(statement, facts)
        for value in kept:
            if not value.storage:
                continue
            outside = sorted(t for t in value.storage if t.startswith(("param:", "self.", "global.")) or t in handed)
            others = sorted(
                n
                for n, v in env.items()
                if n not in names
                and may_share(memory_of(v), value.storage)
                and not v.is_(*PLAIN)
                and _read_later(n, statement, facts)
            )
            if not outside and not others:
                continue
            # Two arguments of a call may be one tensor.
            writer = self.writer(
                value.storage if given.isdisjoint(value.storage) else value.storage | given, names, facts
            )
            if writer is not None:
                yield Obstacle(
                    f"`{snippet(writer)}` {says(writer, facts)} into memory that the selected tensor may share",
                    "no-aliasing",
                )
            both = self._escape(value.storage, statement, facts) if others else None
            if both is not None:
                yield Obstacle(
                    f"`{snippet(both)}` may hand out `{others[0]}`, which the selected tensor may be", "no-aliasing"
                )
            escape = self._escape(frozenset(outside), statement, facts) if outside else None
            if escape is not None:
                yield Obstacle(
                    f"`{snippet(escape)}` hands out a tensor that may be {_outside(outside)} itself", "no-aliasing"
                )

    def together(self, given: Mapping[str, Value], statement: ast.stmt, facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether names to which one branch gives the same memory may get memory of their own."""
        for (name, value), (other, second) in combinations(given.items(), 2):
            plain = value.is_(*PLAIN) or second.is_(*PLAIN)
            if plain or not may_share(memory_of(value), memory_of(second)):
                continue
            storage = value.storage | second.storage
            writer = self.writer(storage, (name, other), facts, without=statement)
            if writer is not None:
                yield Obstacle(
                    f"`{snippet(writer)}` {says(writer, facts)} into memory that `{name}` and `{other}` may share",
                    "no-aliasing",
                )
            escape = self._escape(storage, statement, facts)
            if escape is not None:
                yield Obstacle(
                    f"`{snippet(escape)}` may hand out `{name}` and `{other}`, which may be one", "no-aliasing"
                )

    def writer(
        self,
        storage: frozenset[str],
        names: Collection[str],
        facts: FunctionFacts,
        without: ast.stmt | None = None,
    ) -> ast.AST | None:
        """A place in the function that writes in place into this memory, or into a tensor under one of these names.

        `without` is a statement that goes away: what it writes does not count.
        """
        return next(self.writers(storage, names, facts, without), None)

    def writers(
        self,
        storage: frozenset[str],
        names: Collection[str],
        facts: FunctionFacts,
        without: ast.stmt | None = None,
    ) -> Iterator[ast.AST]:
        """All such places."""
        replaced = set(ast.walk(without)) if without is not None else set()
        found = [*self.writes.writers(storage, facts), *self.writes.into_names(names, facts)]
        yield from (node for node in found if node not in replaced)

    def _escape(self, outside: frozenset[str], statement: ast.AST, facts: FunctionFacts) -> ast.AST | None:
        """Where, from the statement on, a tensor that may be one of the outside leaves or is compared by identity."""
        start = getattr(statement, "lineno", 0)
        for node in live_nodes(facts):
            if getattr(node, "lineno", start) < start:
                continue
            handed: Sequence[ast.expr] = ()
            if isinstance(node, ast.Return | ast.Yield) and node.value is not None:
                handed = [node.value]
            elif isinstance(node, ast.Assign):
                handed = [node.value] if any(isinstance(t, ast.Attribute | ast.Subscript) for t in node.targets) else []
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
                handed = [] if is_literal(node.comparators[0], None) else [node.left, *node.comparators]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _COLLECTS:
                handed = node.args
            if any(may_share(memory_of(facts.value(h)), outside) for h in handed):
                return node
        return None


# Of torch's floating dtypes, that compute in float32 at least.
_LARGEST = 3e38
_FACTORS = frozenset({"alpha", "beta", "negative_slope"})


def _has_no_derivative(node: ast.expr, facts: FunctionFacts) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.FloorDiv)
    return isinstance(node, ast.Call) and (facts.callee(node) or "").rpartition(".")[2] == "floor_divide"


def _sets_data(writer: ast.AST) -> bool:
    """Whether a write goes round autograd: `p.data = x`, `p.data.copy_(x)`."""
    if isinstance(writer, ast.Call) and isinstance(writer.func, ast.Attribute):
        writer = writer.func.value
    return isinstance(writer, ast.Attribute) and writer.attr == "data"


def _divides(value: Value) -> bool:
    """Whether zero divided by this is zero."""
    number = value.const.value if value.const is not None else None
    return isinstance(number, int | float) and 1 / _LARGEST <= abs(number) <= _LARGEST


def _given(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment gives each of its targets, where it says so."""
    yield target, value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        yield from zip(target.elts, value.elts, strict=True)


def reached(node: ast.AST, facts: FunctionFacts) -> Iterator[ast.expr]:
    """The names and attributes in an expression through which its gradient flows back: not those in `x.detach()`."""
    if isinstance(node, ast.expr):
        value = facts.value(node)
        if value.is_tensor and not value.leaves:
            return
    if isinstance(node, ast.Call) and any(k.arg == "requires_grad" for k in node.keywords):
        return  # a new leaf
    if isinstance(node, ast.Name | ast.Attribute) and not facts.value(node).is_(Kind.CALLABLE):
        yield node
        if isinstance(node, ast.Name):
            return
    for child in ast.iter_child_nodes(node):
        yield from reached(child, facts)


_OTHERS = frozenset({Kind.CONTAINER, Kind.CALLABLE, Kind.OBJECT, Kind.NDARRAY})
"""With one of these among the kinds of a value, and no tensor, it is none in some runs."""
_COLLECTS = frozenset({"append", "extend", "add", "insert", "update", "setdefault"})


def _read_later(name: str, statement: ast.AST, facts: FunctionFacts) -> bool:
    end = getattr(statement, "end_lineno", 0)
    in_loop = any(
        isinstance(n, ast.For | ast.While) and n.lineno <= getattr(statement, "lineno", 0) <= (n.end_lineno or 0)
        for n in live_nodes(facts)
    )
    return any(isinstance(n, ast.Name) and n.id == name and (in_loop or n.lineno > end) for n in facts.function.nodes)


def _outside(tokens: Sequence[str]) -> str:
    first = next((t for t in tokens if t.startswith(("param:", "self.", "global."))), None)
    if first is None:
        return "what was handed on before"
    return f"the argument `{first.removeprefix('param:')}`" if first.startswith("param:") else f"`{first}`"


def _number_beside(number: Value, tensor: Value) -> Iterator[Obstacle]:
    """Whether a Python number may be selected instead of a tensor: it takes the tensor's shape and dtype then."""
    known = number.is_(Kind.STATIC, Kind.SIZE) and number.dtype in ("int", "float") and number.certain
    # `min(0.99, t)` gives one of the two: a number then.
    alone = tensor.is_(Kind.TENSOR, Kind.STATIC) and tensor.certain and tensor.rank == 0
    # A number that is not known may be given as a whole: then each dtype but bool keeps what it has beside one.
    plain = tensor.is_tensor
    fits = tensor.dtype in ("float", None) or (tensor.dtype == "int" and number.dtype == "int")
    if not known or not fits or not (plain or (alone and tensor.dtype is not None)):
        yield Obstacle(f"one side is no tensor: {_kinds(number)}")
        return
    yield Obstacle("one side is a Python number, and becomes a tensor", "number-to-tensor")
    if plain and not tensor.certain:
        yield Obstacle("one side is not proved to be a tensor", "same-shape-dtype")
    if not alone or tensor.dtype is None:
        yield Obstacle("one side is a Python number, and takes the shape and dtype of the other", "same-shape-dtype")
    value = number.const.value if number.const is not None else None
    if tensor.dtype != "int" and not (isinstance(value, int | float) and value in _EXACT):
        yield Obstacle("the number of one side is rounded to the precision of the other", "float32-rounding")


def _kinds(value: Value) -> str:
    if value.const is not None and isinstance(value.const.value, bool | int | float):
        return f"the number {value.const.value}"
    return " or ".join(sorted(k.value for k in value.kinds))
