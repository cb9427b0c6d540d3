"""Whether the same tensors receive the same gradients where both sides of a branch are computed, and no NaN.

With an incoming gradient of zero, the side that is not taken must pass on zero for every input (measured on torch 2.13
and 2.11: `torch.where` gives NaN where the derivative of that side is not finite).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial

from compilefix.analysis import torch_api
from compilefix.analysis.arm_steps import ArmSteps, statements_before, steps_to
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.leaves import ANY_LEAF, are_same, leaf_of, settled
from compilefix.analysis.live_code import live_nodes
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.recomputed import atoms
from compilefix.analysis.shared_memory import SharedMemory
from compilefix.analysis.values import Kind, Value
from compilefix.source.snippets import snippet

_LARGEST = 3e38
"""Of torch's floating dtypes, that compute in float32 at least."""
_FACTORS = frozenset({"alpha", "beta", "negative_slope"})


class Derivatives:
    """Answers for one project."""

    def __init__(self, memory: SharedMemory) -> None:
        self._memory = memory

    def gradients(
        self,
        then: ast.expr | None,
        orelse: ast.expr | None,
        values: tuple[Value, Value],
        facts: FunctionFacts,
        kept: frozenset[str] = frozenset(),
        finite: Collection[ast.expr] = (),
        decided: ast.stmt | None = None,
    ) -> Iterator[Obstacle]:
        """Whether the same tensors receive the same gradients when both sides are computed and one is selected.

        `finite` are sides that are written so that their derivative is finite where they are not taken. `decided` is
        where the side is chosen: what has a new value from there on is not the same on both sides.
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
                shared = self._shared(other, kept, decided, facts)
                own = _steps(side, decided, facts)
                known: dict[tuple[str, int | None], bool] = {}
                for atom in atoms(side):
                    value = facts.value(atom)
                    # The way from an argument to a value computed earlier gets a gradient of zero now, and none before.
                    if (
                        value.leaves
                        and value.may_be(Kind.TENSOR)
                        and not self._passes_from(atom, own, len(own.given), shared, facts, known)
                    ):
                        yield Obstacle(
                            f"`{ast.unparse(atom)}` was computed before and is used on one side only: "
                            "a gradient of zero would flow back through it",
                            "finite-derivative",
                        )

    def _shared(
        self, other: ast.expr | None, kept: frozenset[str], decided: ast.stmt | None, facts: FunctionFacts
    ) -> frozenset[str]:
        """What the other side is computed of, as it was when the side was chosen."""
        shared = kept if other is None else _steps(other, decided, facts).roots(other, partial(reached, facts=facts))
        return shared if decided is None else shared | self._behind(shared, decided, facts)

    def _behind(self, shared: frozenset[str], decided: ast.stmt, facts: FunctionFacts) -> frozenset[str]:
        """The names that shared ones were computed of, and of nothing else, by each call: `h` of `s = h.mean()`.

        Both have kept their value since, and the gradient of the one reaches the other.
        """
        names = (n for n in live_nodes(facts) if isinstance(n, ast.Name) and n.lineno < decided.lineno)
        stored = [n for n in names if isinstance(n.ctx, ast.Store)]
        once = {n.id for n in stored if [s.id for s in stored].count(n.id) == 1} - {
            p.arg for p in facts.function.parameters
        }
        given = {
            name: step
            for step in statements_before(decided, facts)
            if isinstance(step, ast.Assign) and (name := ast.unparse(step.targets[0])) in once
        }
        found: set[str] = set()
        waiting = list(shared)
        while waiting:
            name = waiting.pop()
            reads = list(reached(given[name].value, facts)) if name in given else []
            texts = {ast.unparse(read) for read in reads}
            if len(texts) != 1 or not isinstance(reads[0], ast.Name) or texts <= found:
                continue
            source, made = facts.value(reads[0]), facts.value(given[name].value)
            line = given[name].lineno
            same = source.leaves == made.leaves and not any(leaf.startswith(ANY_LEAF) for leaf in made.leaves)
            written = any(v.storage and self._memory.writer(v.storage, (), facts) is not None for v in (source, made))
            if same and not written and not any(n.id in texts and n.lineno >= line for n in stored):
                found |= texts
                waiting.extend(texts)
        return frozenset(found)

    def _passes_from(
        self,
        atom: ast.expr,
        own: ArmSteps,
        before: int,
        shared: frozenset[str],
        facts: FunctionFacts,
        known: dict[tuple[str, int | None], bool],
    ) -> bool:
        """Whether a gradient of zero stays zero on its way from a name to what the other side is computed of, too.

        before: how many of the steps of its side have run where the name is read. known: what was asked already.
        """
        name = ast.unparse(atom)
        index = own.last(name, before)
        if (name, index) in known:
            return known[name, index]
        source = None if index is None else own.given[index][1]
        if index is None:
            # Behind a step of the side it may be read as something that was written there.
            passes = name in shared and (before == len(own.given) or not self._written(facts.value(atom), facts))
        else:
            passes = (
                source is not None
                and next(self.culprits(source, facts), None) is None
                and all(self._passes_from(a, own, index, shared, facts, known) for a in atoms(source))
            )
        known[name, index] = passes or self._passes_zero(atom, facts, set())
        return known[name, index]

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
        written = self._memory.writer(value.storage, (), facts, without=branch) if value.storage else None
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

    def finite(self, expressions: Iterable[ast.expr], facts: FunctionFacts) -> Iterator[Obstacle]:
        """Whether a gradient of zero stays zero on its way back through each of these expressions."""
        for node in expressions:
            yield from self._finite_derivative(node, facts)

    def passes_zero(self, name: ast.expr, facts: FunctionFacts) -> bool:
        """Whether a gradient of zero stays zero on its way back through what a name holds, however that is computed."""
        return self._passes_zero(name, facts, set())

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
                ok = len(differentiable) == 1 and _finite_number(
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
        written = self._memory.writer(value.storage, (), facts) if value.storage else None
        return (
            written is None
            and len(sources) == len(stores) > 0
            and all(
                next(self.culprits(source, facts), None) is None
                and all(self._passes_zero(a, facts, seen) for a in atoms(source))
                for source in sources
            )
        )

    def _written(self, value: Value, facts: FunctionFacts, without: ast.stmt | None = None) -> bool:
        """Whether something is written into what came from outside: the way back leads through that, too."""
        writers = self._memory.writers(value.storage, (), facts, without) if value.storage else ()
        return any(not _sets_data(writer) for writer in writers)

    def _constant_factors(
        self, name: str, numbers: Sequence[ast.expr], tensors: Sequence[ast.expr], facts: FunctionFacts
    ) -> bool:
        bare = name.rpartition(".")[2]
        if bare in ("mul", "multiply"):
            known = [facts.value(n) for n in numbers]
            return len(tensors) == 1 and all(v.const is not None and _finite_number(v) for v in known)
        if bare in ("div", "divide", "true_divide"):
            return len(tensors) == 1 and all(_divides(facts.value(n)) for n in numbers)
        return True

    def _finite_factors(self, node: ast.Call, name: str, facts: FunctionFacts) -> bool:
        """Whether the numbers that a call scales a part of its result by are finite: `alpha=`, the slope of a ReLU."""
        named = [k.value for k in node.keywords if k.arg in _FACTORS]
        given = node.args if name.rpartition(".")[2] in ("leaky_relu", "leaky_relu_") else ()
        values = [facts.value(part) for part in (*named, *given)]
        return all(value.may_be(Kind.TENSOR) or _finite_number(value) for value in values)


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


def _finite_number(value: Value) -> bool:
    """Whether a number is known not to be inf or NaN."""
    # A tensor factor may be inf or NaN, and so may a float that is passed: `limit = float("inf")` for none.
    if value.const is not None:
        return isinstance(value.const.value, int | float) and abs(value.const.value) <= _LARGEST
    return value.is_(Kind.SIZE) or (value.is_(Kind.STATIC) and value.dtype in ("int", "bool"))


def _steps(node: ast.expr, decided: ast.stmt | None, facts: FunctionFacts) -> ArmSteps:
    return ArmSteps() if decided is None else steps_to(node, decided, facts, partial(reached, facts=facts))


def _given(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment gives each of its targets, where it says so."""
    yield target, value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        yield from zip(target.elts, value.elts, strict=True)


def _is_of_sizes(value: Value) -> bool:
    """Whether a value is made of sizes and fixed numbers, through which no gradient flows: `x.shape`, `x.size(0)`."""
    if value.is_(Kind.CONTAINER):
        return value.element is not None and _is_of_sizes(value.element)
    return value.is_(Kind.SIZE, Kind.STATIC)


def reached(node: ast.AST, facts: FunctionFacts) -> Iterator[ast.expr]:
    """The names and attributes in an expression through which its gradient flows back.

    Not those in `x.detach()` or `x.shape`.
    """
    if isinstance(node, ast.expr):
        value = facts.value(node)
        if (value.is_tensor and not value.leaves) or _is_of_sizes(value):
            return
    if isinstance(node, ast.Call) and any(k.arg == "requires_grad" for k in node.keywords):
        return  # a new leaf
    if isinstance(node, ast.Name | ast.Attribute) and not facts.value(node).is_(Kind.CALLABLE):
        yield node
        if isinstance(node, ast.Name):
            return
    for child in ast.iter_child_nodes(node):
        yield from reached(child, facts)
