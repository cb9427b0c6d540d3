"""The state of one walk through one function, which the classes for expressions and statements share."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from zlib import crc32

from compilefix.analysis.array_namespaces import array_namespaces
from compilefix.analysis.function_facts import Env, FunctionFacts, ProjectFacts, either
from compilefix.analysis.leaves import ANY_LEAF, perhaps, settled
from compilefix.analysis.operators import picked
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import CONTAINER, UNKNOWN, Kind, Value, join, likely, may_share, replace
from compilefix.source.definitions import Function
from compilefix.source.tree import walk


class Walk(ABC):
    """One walk through one function: what it found so far."""

    def __init__(
        self,
        inference: ProjectFacts,
        function: Function,
        outer: Mapping[str, Value],
        floats: frozenset[str] = frozenset(),
    ) -> None:
        self.floats = floats
        self.inference = inference
        self.project = inference.project
        self.function = function
        self.module = function.module
        self.facts = FunctionFacts(function)
        self.outer = outer
        self.self_name = self._self_name()
        self.namespaces = array_namespaces(function)
        self.latest: Env = {}
        self.returned: list[Value] = []
        self.loop_exits: list[list[Env]] = []
        self.next_turns: list[list[Env]] = []
        self.grad_modes: tuple[str, ...] = ()
        self.autocast_region = ""
        self.dropped: ast.expr | None = None
        self.assigned_storage: set[str] = set()
        self._assigned_before = 0
        self.escaped: frozenset[str] = frozenset()
        self.reshaped: frozenset[str] = frozenset()
        self.changes: list[tuple[Value, Value | None, str]] = []
        self.writes: list[tuple[frozenset[str], frozenset[str] | None]] = []
        self.unstable, self.locals = _bindings(function)
        self.rearranged = frozenset(
            name
            for kind in _NESTED
            for nested in function.of(kind)
            if nested is not function.node
            for name in _put(nested)
        )
        # The attributes of the object that the function gives values, and those that it was seen to write into.
        self.stored = {
            f"{self.self_name}.{node.attr}"
            for node in function.of(ast.Attribute)
            if not isinstance(node.ctx, ast.Load)
            and isinstance(node.value, ast.Name)
            and node.value.id == self.self_name
        }
        self.walruses = frozenset(node.target.id for node in function.of(ast.NamedExpr))

    def _self_name(self) -> str | None:
        owner: Function | None = self.function
        while owner is not None and owner.parent is not None:
            owner = owner.parent
        if owner is None or owner.cls is None or owner.is_static or not owner.parameters:
            return None
        return owner.parameters[0].arg

    @abstractmethod
    def eval(self, node: ast.expr, env: Env) -> Value:
        """The value of an expression, which is also kept for the rules."""

    def key(self, node: ast.expr) -> str | None:
        """The name in an environment of a name or of an attribute of `self`; None for other expressions."""
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute):
            owner = node.value
            return f"{owner.id}.{node.attr}" if isinstance(owner, ast.Name) and owner.id == self.self_name else None
        return node.target.id if isinstance(node, ast.NamedExpr) else None

    def place(self, node: ast.AST) -> str:
        """Names an expression of this function, for the ids and the memory of what it makes."""
        try:
            return f"{self.function.qualname}@{node.lineno}:{node.col_offset}:{node.end_col_offset}"  # type: ignore[attr-defined]
        except AttributeError:  # made for the analysis, without a place of its own
            line, start = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
            return f"{self.function.qualname}@{line}:{start}:{getattr(node, 'end_col_offset', 0)}"

    def escapes(self, operands: Sequence[Value]) -> None:
        """Code of the project was called: it may have put these into attributes, and what was put there before."""
        # Most of it is known: a large set is made anew only for what is not.
        escaped = self.escaped
        new: list[Collection[str]] = [v.storage for v in operands if not v.storage <= escaped]
        if len(self.assigned_storage) != self._assigned_before:
            self._assigned_before = len(self.assigned_storage)  # nothing is ever taken out
            new.append(self.assigned_storage)
        if new:
            self.escaped = escaped.union(*new)

    def changed(self, container: Value, item: Value | None, env: Env, place: str) -> None:
        """A container was changed in place, under whatever name: `item` was put in, None where that is not known.

        place: of the change. What an index names from then on need not be what it named before.
        """
        if item is not None and any(t.startswith(("self.", "global.", "param:")) for t in container.storage):
            self.escaped |= item.storage
        self.changes.append((container, item, place))
        _change(container, item, env, place)

    def perhaps_changed(self, since: int, env: Env, place: str) -> None:
        """Code of which some may not have run, or all of it, has changed containers: `since` of them were before."""
        if since == len(self.changes):
            return
        after = dict(env)
        for change in self.changes[since:]:
            _change(*change[:2], after, change[2])
        for key, old in env.items():
            if after[key] is not old:
                env[key] = either(place, old, after[key])

    def so_far(self) -> tuple[int, int]:
        """How many changes of containers there were, and how many writes into tensors."""
        return len(self.changes), len(self.writes)

    def perhaps_run(self, since: tuple[int, int], env: Env, place: str) -> None:
        """Code of which some has not run, or all of it, may have changed containers and written into tensors."""
        self.perhaps_changed(since[0], env, place)
        for memory, leaves in self.writes[since[1] :]:
            for name, value in env.items():
                if may_share(memory_of(value), memory):
                    env[name] = _hanging(value, memory, leaves, place)

    def reshapes_others(self, memory: frozenset[str], storage: frozenset[str], env: Env) -> None:
        """A tensor got another shape, dtype or memory in place: it may be known under other names, or in containers.

        memory: that of the tensor. storage: what it may share memory with from now on.
        """
        if not memory:
            return
        self.reshaped |= memory
        for key, value in env.items():
            env[key] = _reshaped(value, memory, storage)

    def hangs_on(self, written: Value, leaves: frozenset[str], env: Env, place: str, key: str | None = None) -> None:
        """A tensor was written in place: it hangs on what was written, and so does what shares its memory, perhaps.

        key: the name under which it was written, if it was under one.
        """
        if not leaves or written.dtype in ("bool", "int"):
            return
        if self.grad_modes:
            leaves = perhaps(leaves, self.grad_modes[-1])
        memory = memory_of(written)
        self.writes.append((memory, leaves))
        if key is not None and not leaves <= written.leaves:
            self.stored.add(key)
            env[key] = replace(env.get(key, written), leaves=settled(written.leaves | leaves))
        for name, value in env.items():
            if name != key and may_share(memory_of(value), memory):
                env[name] = _hanging(value, memory, leaves, place)

    def perhaps_written(self, memory: frozenset[str], env: Env, place: str) -> None:
        """A call may have written into memory: it is not known what gets a gradient through what shares it."""
        if not memory:
            return
        self.writes.append((memory, None))
        for name, value in env.items():
            if may_share(memory_of(value), memory):
                env[name] = _hanging(value, memory, None, place)

    def would_hang(self, memory: frozenset[str], env: Env) -> bool:
        """Whether something is known here that a write into the memory could change."""
        return bool(memory) and any(
            _meets(value, memory) and not value.is_(*_PLAIN) and value.dtype not in ("bool", "int")
            for value in env.values()
        )

    def written_within(self, inner: Env, env: Env, place: str, since: int) -> None:
        """Part of an expression was perhaps evaluated, and may have written into tensors, or given names values.

        since: how many changes of containers there were before.
        """
        self.perhaps_changed(since, env, place)
        for name, value in inner.items():
            old = env.get(name)
            if old is None or old is value:
                continue
            if name in self.walruses:
                env[name] = either(place, old, value)
            elif not self.reshaped.isdisjoint(memory_of(old)):
                env[name] = _reshaped(old, memory_of(old), value.storage)
            elif not value.leaves <= old.leaves and value.storage == old.storage:
                env[name] = replace(old, leaves=settled(old.leaves | perhaps(value.leaves - old.leaves, f"?{place}")))

    def parameter_names(self) -> set[str]:
        """The names of the function's parameters, without starred ones."""
        return {a.arg for a in self.function.parameters}


def _change(container: Value, item: Value | None, env: Env, place: str) -> None:
    for key, value in env.items():
        if value.kinds != CONTAINER:
            continue
        element = value.element
        if value is container or value == container:
            if (item is None or item.is_unknown) and element is not None and element.is_tensor:
                element = likely(element)
            elif item is not None and (element is not None or value.elements == ()):
                element = (item if element is None else join(element, item)).stripped()
            else:
                element = None
            if element is not None and value.element is not None:
                element = picked(element, place)
            env[key] = replace(
                value,
                element=element,
                elements=None,
                leaves=value.leaves | (item if item is not None else UNKNOWN).leaves,
                storage=value.storage | (item if item is not None else UNKNOWN).storage,
            )
        elif value.storage & container.storage:
            env[key] = replace(
                value,
                element=element and likely(picked(element, place)),
                elements=None,
                leaves=value.leaves | UNKNOWN.leaves,
                storage=value.storage | (item if item is not None else UNKNOWN).storage,
            )


def _reshaped(value: Value, memory: frozenset[str], storage: frozenset[str]) -> Value:
    """A value of which the shape, dtype and memory are not known if it shares memory; so are those of its items."""
    if not may_share(memory_of(value), memory):
        return value
    if value.is_tensor:
        value = replace(
            value,
            dtype=None,
            dtype_id=None,
            rank=None,
            has_dims=False,
            shape_id=None,
            storage=value.storage | storage,
        )
    items = value.elements
    if items is not None:
        items = tuple(_reshaped(item, memory, storage) for item in items)
    item = value.element
    if item is not None:
        item = _reshaped(item, memory, storage)
    return value if items == value.elements and item == value.element else replace(value, elements=items, element=item)


def _hanging(value: Value, memory: frozenset[str], leaves: frozenset[str] | None, place: str) -> Value:
    """A value that hangs perhaps on these tensors, or on unknown ones, and so those of its items that share the memory.

    Which memory was written is decided for each memory by itself.
    """
    if value.is_(*_PLAIN) or value.dtype in ("bool", "int"):
        return value
    items = value.elements
    if items is not None:
        items = tuple(_hanging(v, memory, leaves, place) if _meets(v, memory) else v for v in items)
    item = value.element
    if item is not None and _meets(item, memory):
        item = _hanging(item, memory, leaves, place)
    if ANY_LEAF in value.leaves and item is value.element and items == value.elements:
        return value  # it may hang on anything as it is
    decision = f"?{place}.{_checksum(value.storage)}"
    added = frozenset({decision}) if leaves is None else perhaps(leaves, decision)
    return replace(value, leaves=settled(value.leaves | added), element=item, elements=items)


@lru_cache(maxsize=4096)
def _checksum(storage: frozenset[str]) -> str:
    return f"{crc32(' '.join(sorted(storage)).encode()):08x}"


def _meets(value: Value, memory: frozenset[str]) -> bool:
    return may_share(memory_of(value), memory)


_NESTED: tuple[type[ast.FunctionDef | ast.AsyncFunctionDef], ...] = (ast.FunctionDef, ast.AsyncFunctionDef)
_PLAIN = (Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE)
CHANGES = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "reverse", "sort"})


def _bindings(function: Function) -> tuple[frozenset[str], frozenset[str]]:
    """Names that may change at any call, through a nested function or a global statement, and the local names."""
    unstable = {name for node in function.of(ast.Nonlocal) for name in node.names}
    unstable |= {name for node in function.of(ast.Global) for name in node.names}
    bound = {node.id for node in function.of(ast.Name) if isinstance(node.ctx, ast.Store)}
    for kind in _NESTED:
        for nested in function.of(kind):
            if nested is not function.node:
                bound.add(nested.name)
                unstable.update(_changed_in(nested))
    for anonymous in function.of(ast.Lambda):
        unstable.update(_changed_in(anonymous))
    return frozenset(unstable), frozenset(bound - unstable)


def rebound_after(function: Function, inner: ast.AST) -> frozenset[str]:
    """Names that may have another value when a nested function or lambda is called than where it was made.

    One that has all its values before a nested function is made, and in no loop round that, keeps the last of them.
    """
    stores: dict[str, list[int]] = {p.arg: [0] for p in function.parameters}
    for node in function.of(ast.Name):
        if isinstance(node.ctx, ast.Store):
            stores.setdefault(node.id, []).append(node.lineno)
    line = getattr(inner, "lineno", 0)
    if isinstance(inner, ast.Lambda):  # the statement that it stands in may begin above it, and store after it
        return frozenset(name for name, lines in stores.items() if len(lines) > 1 or lines[0] > line)
    shared = {name for node in function.of(ast.Nonlocal) for name in node.names}
    kinds: tuple[type[ast.For | ast.AsyncFor | ast.While], ...] = (ast.For, ast.AsyncFor, ast.While)
    loops = [
        range(n.lineno, (n.end_lineno or n.lineno) + 1)
        for kind in kinds
        for n in function.of(kind)
        if n.lineno <= line <= (n.end_lineno or n.lineno)
    ]

    def changes(name: str, lines: list[int]) -> bool:
        if len(lines) == 1:
            return lines[0] > line
        return name in shared or max(lines) >= line or any(at in loop for at in lines for loop in loops)

    return frozenset(name for name, lines in stores.items() if changes(name, lines))


def _changed_in(nested: ast.AST) -> Iterator[str]:
    """Names of containers that a nested function changes."""
    for node in walk(nested):
        if isinstance(node, ast.Attribute) and node.attr in CHANGES and isinstance(node.value, ast.Name):
            yield node.value.id


def _put(nested: ast.AST) -> Iterator[str]:
    """Names of what a nested function puts items into, or deletes items of: containers, or tensors."""
    for node in walk(nested):
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
            yield node.value.id
