"""Which memory a piece of code may write into, and which it hands to code that may write into it later.

What a called function of the project writes is found out from its body, and said of the caller's arguments. A call of
which nothing is known may write into all that it is given, and into what other code has got hold of before.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from compilefix.analysis.call_writes import CallWrites
from compilefix.analysis.decorated import unknown_decorator
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.infer import Inference
from compilefix.analysis.live_code import live_nodes
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import ANY_MEMORY, LEAKED, Kind, Value, may_share
from compilefix.analysis.written_memory import (
    ALONE,
    ANY_OUTSIDE,
    NONE,
    NOTHING,
    OUTSIDE,
    PLAIN,
    Writes,
    is_outside,
    memory_of_all,
    written_memory,
)
from compilefix.source.definitions import Class, Function

_OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.BinOp: ("__add__", "__sub__", "__mul__", "__truediv__", "__matmul__", "__pow__", "__radd__", "__rmul__"),
    ast.Compare: ("__eq__", "__lt__", "__gt__", "__le__", "__ge__", "__contains__"),
    ast.Subscript: ("__getitem__",),
    ast.For: ("__iter__", "__next__", "__getitem__"),
    ast.comprehension: ("__iter__", "__next__", "__getitem__"),
    ast.With: ("__enter__", "__exit__"),
}


class WriteAnalysis(CallWrites):
    """Writes of the nodes of functions, and summaries of the project's functions."""

    def __init__(self, inference: Inference) -> None:
        super().__init__(inference)
        self._summaries: dict[Function, Writes] = {}
        self._nodes: dict[Function, tuple[FunctionFacts, dict[ast.AST, Writes]]] = {}
        self._leaked: dict[Function, tuple[FunctionFacts, frozenset[str]]] = {}

    def writers(self, storage: frozenset[str], facts: FunctionFacts) -> Iterator[ast.AST]:
        """The nodes of a function that may write into this memory, in no order."""
        for node, does in self._of_nodes(facts).items():
            if does.into and self._meets(does.into, storage, facts):
                yield node

    def into_names(self, names: Collection[str], facts: FunctionFacts) -> Iterator[ast.AST]:
        """The nodes of a function that may write into what one of these names stands for."""
        if not names:
            return
        for node, does in self._of_nodes(facts).items():
            if does.into and any(
                n.id in names and (may_share(does.into, memory_of(v := facts.value(n))) or v.is_unknown)
                for n in _first(node)
            ):
                yield node

    def _meets(self, into: frozenset[str], storage: frozenset[str], facts: FunctionFacts) -> bool:
        if may_share(into, storage):
            return True
        if ANY_OUTSIDE in into and any(t.startswith(("param:", *OUTSIDE)) for t in storage):
            return True
        if LEAKED in into and may_share(self.leaked(facts), storage):
            return True
        return LEAKED in storage and may_share(self.leaked(facts), into)

    def leaked(self, facts: FunctionFacts) -> frozenset[str]:
        """The memory that code outside the function may get at, because the function has handed it on or stored it."""
        known = self._leaked.get(facts.function)
        if known is None or known[0] is not facts:
            found = NOTHING.union(*(does.keeps for does in self._of_nodes(facts).values()))
            known = self._leaked[facts.function] = facts, found
        return known[1]

    def handed_on_before(self, at: ast.AST, facts: FunctionFacts) -> frozenset[str]:
        """The memory that the function has handed on or stored when it comes to a node, also in an earlier turn."""
        first, loops = getattr(at, "lineno", 0), [*facts.function.of(ast.For), *facts.function.of(ast.While)]
        ends = [n.end_lineno or 0 for n in loops if n.lineno <= first <= (n.end_lineno or 0)]
        last = max(ends, default=first - 1)
        found = (does.keeps for node, does in self._of_nodes(facts).items() if getattr(node, "lineno", last) <= last)
        return NOTHING.union(*found)

    def of_function(self, function: Function) -> Writes:
        """What a call of a function does, by its own names for memory: `param:x` is what it is given for `x`."""
        found = self._summaries.get(function)
        if found is None:
            names = frozenset(f"param:{name}" for name in _all_parameters(function))
            self._summaries[function] = Writes(names | {ANY_MEMORY, LEAKED}, names)
            facts = self.inference.facts(function)
            found = NONE
            for does in self._of_nodes(facts).values():
                found = found | does
            if unknown_decorator(function, of_class=True) is not None:
                found = Writes(found.into | names | {LEAKED}, found.keeps | names)
            if function.parent is None:
                found = Writes(_seen_outside(found.into, function), _seen_outside(found.keeps, function))
            self._summaries[function] = found
        return found

    def _of_nodes(self, facts: FunctionFacts) -> dict[ast.AST, Writes]:
        known = self._nodes.get(facts.function)
        if known is None or known[0] is not facts:
            found: dict[ast.AST, Writes] = {}
            self._nodes[facts.function] = facts, found
            for node in live_nodes(facts):
                handler = _HANDLERS.get(node.__class__)
                if handler is not None:
                    does = handler(self, node, facts)
                    if does is not NONE:
                        found[node] = does
            return found
        return known[1]

    def _augmented(self, node: ast.AugAssign, facts: FunctionFacts) -> Writes:
        value, given = facts.value(node.target), facts.value(node.value)
        does = NONE
        if value.is_(Kind.CONTAINER):
            does = Writes(keeps=memory_of(given)) if is_outside(value) else NONE
        elif not value.is_(*PLAIN):
            does = Writes(written_memory(value), memory_of(given) if not value.is_(*ALONE) else NOTHING)
        if isinstance(node.target, ast.Subscript):
            does = does | self._item(node.target, given, facts)
        return does

    def _subscript(self, node: ast.Subscript, facts: FunctionFacts) -> Writes:
        if isinstance(node.ctx, ast.Load):
            return self._operator(node, [node.value], facts)
        return self._item(node, facts.value(node), facts) if isinstance(node.ctx, ast.Store) else NONE

    def _item(self, node: ast.Subscript, given: Value, facts: FunctionFacts) -> Writes:
        base = facts.value(node.value)
        if base.is_(Kind.CONTAINER):
            return Writes(keeps=memory_of(given))
        keeps = memory_of(given) if not base.is_(*ALONE) else NOTHING
        return Writes(written_memory(base), keeps) | self.method(base, ("__setitem__",), (given,))

    def _attribute(self, node: ast.Attribute, facts: FunctionFacts) -> Writes:
        owner = facts.value(node.value)
        if isinstance(node.ctx, ast.Store):
            given = facts.value(node)
            into = written_memory(owner) if owner.may_be(Kind.TENSOR) and node.attr == "data" else NOTHING
            keeps = memory_of(given) if node.attr != "data" or not owner.is_tensor else NOTHING
            return Writes(into, keeps) | self._set(owner, node.attr, given)
        if owner.ref is None or not owner.may_be(Kind.OBJECT):
            return NONE
        cls = self.project.resolve(owner.ref)
        method = self.project.method(cls, node.attr) if isinstance(cls, Class) else None
        if method is None or not method.is_property:
            return NONE
        return self.translated(method, owner, {}, ())

    def _set(self, owner: Value, attr: str, given: Value) -> Writes:
        """What assigning an attribute runs: the setter of a property, or `__setattr__`."""
        cls = self.project.resolve(owner.ref) if owner.ref is not None and owner.may_be(Kind.OBJECT) else None
        if not isinstance(cls, Class):
            return NONE
        does = self.method(owner, ("__setattr__",), (given,))
        for base in self.project.ancestors(cls):
            if isinstance(base, Class) and attr in base.methods:
                setters = (f for f in base.module.all_functions if f.cls is base and f.node.name == attr)
                for method in setters:
                    does = does | self.translated(method, owner, None, (given,))
        return does

    def _operator(self, node: ast.AST, operands: Sequence[ast.expr], facts: FunctionFacts) -> Writes:
        does = NONE
        for operand in operands:
            value = facts.value(operand)
            if value.ref is not None and value.may_be(Kind.OBJECT):
                others = tuple(facts.value(o) for o in operands)
                does = does | self.method(value, _OPERATORS[node.__class__], others)
        return does

    def _bin_op(self, node: ast.BinOp, facts: FunctionFacts) -> Writes:
        return self._operator(node, (node.left, node.right), facts)

    def _compare(self, node: ast.Compare, facts: FunctionFacts) -> Writes:
        return self._operator(node, (node.left, *node.comparators), facts)

    def _iterated(self, node: ast.For | ast.comprehension, facts: FunctionFacts) -> Writes:
        return self._operator(node, (node.iter,), facts)

    def _with(self, node: ast.With, facts: FunctionFacts) -> Writes:
        return self._operator(node, [item.context_expr for item in node.items], facts)

    def _yield(self, node: ast.Yield | ast.YieldFrom, facts: FunctionFacts) -> Writes:
        """The caller goes on with what it gets, and with all else that it has."""
        return Writes(frozenset({LEAKED}), memory_of(facts.value(node.value)) if node.value is not None else NOTHING)

    def _global(self, node: ast.Global | ast.Nonlocal, facts: FunctionFacts) -> Writes:
        stored = (n for n in facts.function.of(ast.Name) if n.id in node.names and isinstance(n.ctx, ast.Store))
        return Writes(keeps=memory_of_all(facts.value(n) for n in stored))


_HANDLERS: dict[type[ast.AST], Callable[..., Writes]] = {
    ast.AugAssign: WriteAnalysis._augmented,
    ast.Subscript: WriteAnalysis._subscript,
    ast.Attribute: WriteAnalysis._attribute,
    ast.BinOp: WriteAnalysis._bin_op,
    ast.Compare: WriteAnalysis._compare,
    ast.For: WriteAnalysis._iterated,
    ast.comprehension: WriteAnalysis._iterated,
    ast.With: WriteAnalysis._with,
    ast.Call: WriteAnalysis.of_call,
    ast.Yield: WriteAnalysis._yield,
    ast.YieldFrom: WriteAnalysis._yield,
    ast.Global: WriteAnalysis._global,
    ast.Nonlocal: WriteAnalysis._global,
}


def last_line(writer: ast.AST, facts: FunctionFacts) -> int:
    """The last line of a function where a write that stands at a node may still be made.

    In a loop that is where the loop ends; a context manager may write at the end, and a generator whenever it is asked.
    """
    line: int = getattr(writer, "end_lineno", None) or 0
    callee = facts.calls.get(writer)
    if callee is not None and any(callee.of(kind) for kind in (ast.Yield, ast.YieldFrom)):
        return facts.function.node.end_lineno or line
    lasting = (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith)
    around = (n for kind in lasting for n in facts.function.of(kind) if n.lineno <= line <= (n.end_lineno or 0))
    return max(
        (n.end_lineno or 0 for n in around if not isinstance(n, ast.With | ast.AsyncWith) or _enters(n, writer)),
        default=line,
    )


def says(writer: ast.AST, facts: FunctionFacts) -> str:
    """The words of a message for it: that a function writes on some way, or may, is no more than that it may write."""
    name = facts.callee(writer) if isinstance(writer, ast.Call) else None
    known = not isinstance(writer, ast.Call) or (name or "").startswith(("Tensor.", "torch."))
    return "writes" if known else "may write"


def _enters(node: ast.With | ast.AsyncWith, writer: ast.AST) -> bool:
    """Whether a write stands in the head of a `with` statement, and not in its body."""
    return writer is node or any(writer is n for item in node.items for n in ast.walk(item.context_expr))


def _first(node: ast.AST) -> Iterator[ast.Name]:
    """The names that stand where a node writes, in the first place."""
    parts: Sequence[ast.AST] = ()
    if isinstance(node, ast.AugAssign):
        parts = [node.target.value if isinstance(node.target, ast.Subscript) else node.target]
    elif isinstance(node, ast.Subscript | ast.Attribute):
        parts = [node.value]
    elif isinstance(node, ast.Call):
        own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        parts = [*own, *node.args, *(k.value for k in node.keywords)]
    return (part for part in parts if isinstance(part, ast.Name))


def _seen_outside(tokens: frozenset[str], function: Function) -> frozenset[str]:
    """Those tokens that are not names of memory that the call itself has made."""
    own = f"{function.qualname}@"
    return frozenset(t for t in tokens if not t.startswith(own))


def _all_parameters(function: Function) -> Iterator[str]:
    args = function.node.args
    yield from (a.arg for a in (*function.parameters, args.vararg, args.kwarg) if a is not None)
