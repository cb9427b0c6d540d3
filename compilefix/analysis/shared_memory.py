"""Whether a rewrite is seen by way of memory that two tensors share, or that the backward pass keeps."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.live_code import live_nodes
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.recomputed import atoms
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import Kind, Value, may_share
from compilefix.analysis.writes import WriteAnalysis, last_line, says
from compilefix.analysis.written_memory import PLAIN
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_literal

_COLLECTS = frozenset({"append", "extend", "add", "insert", "update", "setdefault"})


class SharedMemory:
    """Answers for one project."""

    def __init__(self, writes: WriteAnalysis) -> None:
        self._writes = writes

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
        found = [*self._writes.writers(storage, facts), *self._writes.into_names(names, facts)]
        yield from (node for node in found if node not in replaced)

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
        handed = self._writes.handed_on_before(statement, facts)
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
