"""Whether a rewrite keeps the program's meaning: the questions that rules ask, each answered with a reason.

The conditions for `torch.where` in place of a branch are those measured on torch 2.13 and 2.11: one element in the
condition, branches that cannot fail and draw no random numbers, and what `derivatives`, `shared_memory` and `same_type`
ask.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cached_property

from compilefix.analysis.bounded import indices_kept_in_range, kept_from_failing
from compilefix.analysis.compile_sites import Checkpoints, CompileSite, checkpoints, compile_sites, modules_with_compile
from compilefix.analysis.derivatives import Derivatives
from compilefix.analysis.effects import EffectAnalysis
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.live_code import leaves
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.presence import absences
from compilefix.analysis.recomputed import Calls, Recomputed, atoms
from compilefix.analysis.regions import called_compiled
from compilefix.analysis.run_by_python import run_by_python
from compilefix.analysis.shared_memory import SharedMemory
from compilefix.analysis.totality import Totality
from compilefix.analysis.values import Kind
from compilefix.analysis.writes import WriteAnalysis
from compilefix.source.definitions import Function
from compilefix.source.module import Module
from compilefix.source.snippets import snippet
from compilefix.source.texts import word_start


class Legality:
    """Answers for one project.

    derivatives: those on gradients. memory: those on what is written in place or shares memory.
    """

    def __init__(self, inference: Inference) -> None:
        self.inference = inference
        self.effects = EffectAnalysis(inference)
        self.totality = Totality(inference)
        self.writes = WriteAnalysis(inference)
        self.memory = SharedMemory(self.writes)
        self.derivatives = Derivatives(self.memory)
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

    def computed_again(self, node: ast.expr, facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether an expression may be computed twice instead of once."""
        effects = self.effects.of(node, facts)
        for reason in (effects.random, effects.mutates, effects.host, effects.unknown):
            if reason is not None:
                yield Obstacle(f"`{snippet(node)}` would be computed twice, and is not free of effects: {reason}")

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
