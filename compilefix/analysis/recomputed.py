"""What the backward pass of a graph may compute again from memory that the graph has written into by then.

PyTorch keeps for the backward pass what it needs, or computes it again from the inputs of the graph: its arguments, the
buffers of modules, globals. It does so, too, where the graph writes into an input, before a value is read or after, and
takes what was written (2.13 and earlier): gradients come out wrong, without an error. A number that was read on the
host had left the graph. Reductions are computed again too, of tensors of up to four elements.

A function that is inlined shares the graph with its callers and with the other methods of its class: what these write
counts.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.infer import Inference
from compilefix.analysis.live_code import live_nodes
from compilefix.analysis.summaries import given_to, memory_of
from compilefix.analysis.tensor_functions import NEVER_COMPILED
from compilefix.analysis.values import Kind, Value
from compilefix.analysis.writes import WriteAnalysis, says
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet
from compilefix.source.tree import unpacked

Calls = Sequence[tuple[Function, ast.AST]]
"""Calls, each with the function that it stands in."""

_OUTSIDE = ("param:", "self.", "global.")
_NUMBERS = frozenset({"p", "training", "inplace", "dim", "keepdim", "eps"})
"""Keywords of torch that take Python numbers and flags, no tensors that a graph computes."""


class Recomputed:
    """Finds the writes that make a value wrong which the backward pass computes again."""

    def __init__(self, inference: Inference, writes: WriteAnalysis) -> None:
        self._inference = inference
        self._writes = writes
        self._made: dict[Function, Mapping[str, list[ast.Assign | ast.AugAssign]]] = {}

    def reasons(
        self, read: ast.expr, facts: FunctionFacts, calls: Callable[[], Calls], own: Collection[ast.AST] = ()
    ) -> Iterator[str]:
        """A write into memory that outlives the call and that `read` is computed of; nothing where there is none.

        `calls` gives the calls that lead to the function. `own` are writes that do not count.
        """
        atoms = list(self._from_outside(read, facts))
        for atom, outside in atoms:
            for writer in self._writes.writers(outside, facts):
                if writer not in own:
                    yield _reason(writer, atom, facts)
                    return
        if atoms:
            outside = frozenset[str]().union(*(memory for _, memory in atoms))
            yield from self._round(outside, facts, calls(), {facts.function})

    def _round(self, outside: frozenset[str], facts: FunctionFacts, calls: Calls, seen: set[Function]) -> Iterator[str]:
        """The first write in functions that call this one, and in other methods of its class."""
        function = facts.function
        attributes = frozenset(t.split(".")[1] for t in outside if t.startswith("self."))
        around = dict.fromkeys((*(caller for caller, _ in calls), *self._methods(function)))
        for other in around if attributes else ():
            writer = self._into_attributes(attributes, other) if other is not function else None
            if writer is not None:
                facts_there = self._inference.facts(other)
                yield f"{_reason(writer, _named(attributes, other), facts_there)} (`{other.qualname}`)"
                return
        given = frozenset(t.removeprefix("param:") for t in outside if t.startswith("param:"))
        for caller, node in calls if given else ():
            there = self._inference.facts(caller)
            if there.calls.get(node) is not function or not isinstance(node, ast.Call):
                continue
            memory = frozenset[str]()
            for argument in _arguments(node, function, given, there):
                for atom, held in self._from_outside(argument, there):
                    writer = next((w for w in self._writes.writers(held, there) if w is not node), None)
                    if writer is not None:
                        yield f"{_reason(writer, atom, there)} (`{caller.qualname}`)"
                        return
                    memory |= held
            if memory and caller not in seen:
                seen.add(caller)
                found = list(self._round(memory, there, calls, seen))
                if found:
                    yield found[0]
                    return

    def _from_outside(self, read: ast.expr, facts: FunctionFacts) -> Iterator[tuple[ast.expr, frozenset[str]]]:
        """The tensors that a value is made of and that others hold, with their memory."""
        for atom in self._origins(read, facts, set()):
            value = facts.value(atom)
            outside = _outside(value)
            if outside and value.may_be(Kind.TENSOR):
                yield atom, outside

    def _origins(self, read: ast.expr, facts: FunctionFacts, seen: set[str]) -> Iterator[ast.expr]:
        """The names and attributes that a value is made of, also those behind local names."""
        numbers = {n for k in ast.walk(read) if isinstance(k, ast.keyword) and k.arg in _NUMBERS for n in ast.walk(k)}
        for atom in atoms(read):
            if atom in numbers:
                continue
            yield atom
            if isinstance(atom, ast.Name) and atom.id not in seen:
                seen.add(atom.id)
                for made in self._assignments(facts).get(atom.id, ()):
                    if made.lineno <= atom.lineno:
                        yield from self._origins(made.value, facts, seen)

    def _assignments(self, facts: FunctionFacts) -> Mapping[str, list[ast.Assign | ast.AugAssign]]:
        """The assignments that run compiled, by the names that they give a value."""
        if facts.function not in self._made:
            found: dict[str, list[ast.Assign | ast.AugAssign]] = {}
            for node in live_nodes(facts):
                if isinstance(node, ast.Assign | ast.AugAssign):
                    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                        parts = (part.value if isinstance(part, ast.Starred) else part for part in unpacked(target))
                        for name in dict.fromkeys(part.id for part in parts if isinstance(part, ast.Name)):
                            found.setdefault(name, []).append(node)
            self._made[facts.function] = found
        return self._made[facts.function]

    def _methods(self, function: Function) -> Iterator[Function]:
        if function.cls is None or function.parent is not None:
            return
        for cls in self._inference.project.ancestors(function.cls):
            if isinstance(cls, Class):
                yield from (m for m in cls.methods.values() if m.node.name not in NEVER_COMPILED)

    def _into_attributes(self, names: frozenset[str], function: Function) -> ast.AST | None:
        """A write in a function into what somebody has under one of these names."""
        if not any(n.attr in names for n in function.of(ast.Attribute)):
            return None
        facts = self._inference.facts(function)
        held = frozenset(f"self.{name}" for name in names) if function.cls is not None else frozenset[str]()
        held = held.union(*(memory_of(facts.value(n)) for n in function.of(ast.Attribute) if n.attr in names))
        return next(self._writes.writers(held, facts), None) if held else None


def _reason(writer: ast.AST, atom: ast.expr | str, facts: FunctionFacts) -> str:
    name = atom if isinstance(atom, str) else ast.unparse(atom)
    return (
        f"`{snippet(writer)}` {says(writer, facts)} into `{name}`: "
        "compiled, the backward pass may compute what is read here again, from what was written"
    )


def _named(names: frozenset[str], function: Function) -> str:
    return next(ast.unparse(n) for n in function.of(ast.Attribute) if n.attr in names)


def _arguments(node: ast.Call, callee: Function, names: frozenset[str], facts: FunctionFacts) -> Iterator[ast.expr]:
    """The arguments of a call that some parameters may get; all where that is not known."""
    arguments = [*node.args, *(k.value for k in node.keywords)]
    plain = [a.value if isinstance(a, ast.Starred) else a for a in arguments]
    operands = [facts.value(a) for a in plain]
    given = given_to(node, callee, operands, facts)
    for argument, value in zip(plain, operands, strict=True):
        if given is None or any(value is one for name in names for one in given.get(name, ())):
            yield argument


def _outside(value: Value) -> frozenset[str]:
    return frozenset(t for t in value.storage if t.startswith(_OUTSIDE))


def atoms(node: ast.expr) -> Iterator[ast.expr]:
    """The names and attributes that an expression is made of."""
    if isinstance(node, ast.Name | ast.Attribute) and not (
        isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call | ast.Subscript | ast.BinOp)
    ):
        yield node
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(node, ast.Call) and child is node.func:
            if isinstance(child, ast.Attribute):
                yield from atoms(child.value)
        elif isinstance(child, ast.expr):
            yield from atoms(child)
        elif isinstance(child, ast.keyword):
            yield from atoms(child.value)
