"""Names that hold what a mask selects: `selected = x[mask]`, used in statements that follow."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.summaries import memory_of
from compilefix.analysis.values import Value, may_share
from compilefix.analysis.written_memory import is_outside
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in, stored_in, walk

_NO_STORES = frozenset(
    {ast.Attribute, ast.Call, ast.Constant, ast.keyword, ast.Subscript, ast.BinOp, ast.Tuple, ast.Expr}
)
"""The most frequent of the nodes that give no name a value themselves."""


class Part(ast.Assign):
    """What `a, b = x[m], y[m]` gives one of its names, as a statement of its own: `a = x[m]`."""

    def __init__(self, whole: ast.Assign, index: int) -> None:
        assert isinstance(whole.targets[0], ast.Tuple)
        assert isinstance(whole.value, ast.Tuple)
        super().__init__([whole.targets[0].elts[index]], whole.value.elts[index])
        ast.copy_location(self, whole)
        self.whole, self.index = whole, index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Part) and other.whole is self.whole and other.index == self.index

    def __hash__(self) -> int:
        return hash((self.whole, self.index))


def parts_of(statement: ast.stmt) -> list[Part]:
    """The parts of a statement that gives several names a value each, at once."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target, value = statement.targets[0], statement.value
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return []
    names = [element.id for element in target.elts if isinstance(element, ast.Name)]
    plain = len(set(names)) == len(target.elts) and not any(isinstance(v, ast.Starred) for v in value.elts)
    return [Part(statement, index) for index in range(len(names))] if plain else []


def whole_of(definition: ast.Assign) -> ast.Assign:
    """The statement that a definition stands in."""
    return definition.whole if isinstance(definition, Part) else definition


def wholes_of(definitions: Iterable[ast.Assign]) -> list[ast.Assign]:
    """The statements that definitions stand in, in source order."""
    return sorted(dict.fromkeys(map(whole_of, definitions)), key=lambda d: d.lineno)


def definition_of(node: ast.expr, at: ast.stmt, scope: Scope, *, parts: bool = False) -> ast.Assign | None:
    """The statement `name = ...` that gave a name the value that it has in `at`.

    It stands in the same block, or in one around it that an `if` leads out of. With `parts` it may be a part of one
    that gives several names a value.
    """
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return None
    if not scope.names(node.id, stores=True):
        return None
    for block, index in _blocks_around(at, scope):
        for statement in reversed(block[:index]):
            if _stores(statement, node.id):
                if parts and (found := [p for p in parts_of(statement) if _defines(p, node.id)]):
                    return found[0]
                return statement if isinstance(statement, ast.Assign) and _defines(statement, node.id) else None
    return None


@dataclass(frozen=True)
class Way:
    """What gives a name its value behind an `if` that is decided while tracing.

    body, orelse: what gives it on either side, perhaps before the `if`.
    """

    statement: ast.If
    body: Origin
    orelse: Origin


Origin = ast.Assign | Way | None
"""A statement `name = ...`, or one of two; None for something else, or nothing in sight."""


def origin_of(node: ast.expr, at: ast.stmt, scope: Scope) -> Origin:
    """What gave a name the value that it has in `at`, also where this is one of several statements."""
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return None
    return _origin(node.id, at, scope) if scope.names(node.id, stores=True) else None


def _origin(name: str, at: ast.stmt, scope: Scope) -> Origin:
    for block, index in _blocks_around(at, scope):
        if any(_stores(statement, name) for statement in block[:index]):
            return _given_in(block[:index], name, scope)
    return None


def _given_in(statements: Sequence[ast.stmt], name: str, scope: Scope) -> Origin:
    """What gives a name the value that it has behind statements of one block, or had before them."""
    last = next((s for s in reversed(statements) if _stores(s, name)), None)
    if last is None:
        return _origin(name, statements[0], scope) if statements else None
    if parts := [p for p in parts_of(last) if _defines(p, name)]:
        return parts[0]
    if isinstance(last, ast.Assign):
        return last if _defines(last, name) else None
    if not isinstance(last, ast.If) or _stores(last.test, name) or is_tensor_test(last.test, scope):
        return None
    # What stands behind a `return`, and a side that is never taken, is not among the nodes that run.
    live = [([s for s in side if s in scope.parents], bool(side)) for side in (last.body, last.orelse)]
    sides = [side for side, stood in live if bool(side) is stood and not (side and isinstance(side[-1], _LEAVES))]
    given = [_given_in(side, name, scope) if side else _origin(name, last, scope) for side in sides]
    return Way(last, given[0], given[1]) if len(given) > 1 else given[0] if given else None


_LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break


def _blocks_around(at: ast.stmt, scope: Scope) -> Iterator[tuple[list[ast.stmt], int]]:
    """The block of a statement with its place there, then those that an `if` leads out to."""
    statement: ast.AST | None = whole_of(at) if isinstance(at, Part) else at
    while isinstance(statement, ast.stmt):
        block = scope.block(statement)
        if statement not in block:
            return
        yield block, block.index(statement)
        statement = scope.parents.get(statement)
        if not isinstance(statement, ast.If):
            return


def between_definitions(definitions: Sequence[ast.Assign], at: ast.stmt, scope: Scope) -> list[ast.AST]:
    """What runs between the first of the definitions and `at`."""
    definitions = wholes_of(definitions)
    first = min(d.lineno for d in definitions)
    found: list[ast.AST] = []
    for block, index in _blocks_around(at, scope):
        found = [*(s for s in block[:index] if s.lineno >= first and s not in definitions), *found]
        around = block[index]
        if isinstance(around, ast.If) and around is not at:
            found = [around.test, *found]
        if any(d in block for d in definitions if d.lineno == first):
            break
    return found


def reads_of(definition: ast.Assign, scope: Scope, *, joined: bool = False) -> list[ast.Name] | None:
    """The places that may read what a statement gives a name; None where that is not certain.

    Nor where an `if` behind it may give the name another value, but for `joined`: then a place may read either.
    """
    assert isinstance(definition.targets[0], ast.Name)
    name = definition.targets[0].id
    everywhere = scope.function.places(name)
    loads = [n for n in everywhere if not isinstance(n.ctx, ast.Store)]
    if any(n not in scope.parents for n in loads):
        return None  # a function in the function, or code that does not run
    around = list(scope.ancestors(whole_of(definition)))
    if all(isinstance(a, ast.If | ast.With) for a in around[: around.index(scope.function.node)]):
        running = _running_with(whole_of(definition), name, scope)
        if running is None or (not joined and any(n in running.mixed for n in loads)):
            return None
        return [n for n in loads if n in running.nodes]
    block = scope.block(whole_of(definition))
    start = block.index(whole_of(definition))
    for loop in around:
        if isinstance(loop, ast.For | ast.While) and not _given_first(definition, loop, block[:start], loads):
            return None
    inside: set[ast.AST] = set()
    for statement in block[start + 1 :]:
        inside |= set(walk(statement))
        if _defines(statement, name):
            return [n for n in loads if n in inside]
        if _stores(statement, name):
            return None
    redefined = _redefined_behind(definition, name, scope)
    if redefined is not None:
        return [n for n in loads if n in inside or n in redefined]
    last = block[-1]
    behind = (last.end_lineno or 0, last.end_col_offset or 0)
    return [n for n in loads if n in inside or (n.lineno, n.col_offset) >= behind]


@dataclass
class _Running:
    """What may run while a name keeps its value.

    mixed: what of it runs where the name may have got another value. kept: whether it may have its value at the end.
    """

    nodes: set[ast.AST] = field(default_factory=set)
    mixed: set[ast.AST] = field(default_factory=set)
    kept: bool = True
    joined: bool = False

    def add(self, nodes: Iterable[ast.AST]) -> None:
        """Note what runs then."""
        found = set(nodes)
        self.nodes |= found
        if self.joined:
            self.mixed |= found


def _running_with(statement: ast.stmt, name: str, scope: Scope) -> _Running | None:
    """What may run while a name has the value that a statement gave it; None where that is not certain.

    No loop stands round the statement.
    """
    running = _Running()
    around: ast.AST | None = statement
    while running.kept and isinstance(around, ast.stmt) and around is not scope.function.node:
        block = scope.block(around)
        if not _run(block[block.index(around) + 1 :], name, running):
            return None
        around = scope.parents.get(around)
    return running


def _run(statements: Sequence[ast.stmt], name: str, running: _Running) -> bool:
    """Follow statements in which a name keeps its value, or gets another; False where that is not certain."""
    for statement in statements:
        if isinstance(statement, ast.If) and _stores(statement, name) and not _stores(statement.test, name):
            running.add(ast.walk(statement.test))
            sides = [_Running(joined=running.joined), _Running(joined=running.joined)]
            followed = [
                _run(block, name, side) for block, side in zip((statement.body, statement.orelse), sides, strict=True)
            ]
            if not all(followed):
                return False
            for side in sides:
                running.nodes |= side.nodes
                running.mixed |= side.mixed
            running.kept = any(side.kept for side in sides)
            running.joined = True
            if not running.kept:
                return True
            continue
        running.add(ast.walk(statement))
        if _defines(statement, name) or isinstance(statement, ast.Return | ast.Raise):
            running.kept = False
            return True
        if _stores(statement, name):
            return False
    return True


def _redefined_behind(definition: ast.Assign, name: str, scope: Scope) -> set[ast.AST] | None:
    """What runs behind the `if`s round a definition until a statement gives the name another value; None if none does.

    In a loop the next turn may read it on another way of the `if`.
    """
    inside: set[ast.AST] = set()
    around = scope.parents.get(whole_of(definition))
    if any(isinstance(a, ast.For | ast.While) for a in scope.ancestors(whole_of(definition))):
        return None
    while isinstance(around, ast.If):
        block = scope.block(around)
        for statement in block[block.index(around) + 1 :]:
            inside |= set(walk(statement))
            if _defines(statement, name):
                return inside
            if _stores(statement, name):
                return None
        around = scope.parents.get(around)
    return None


def _given_first(
    definition: ast.Assign,
    loop: ast.For | ast.While,
    before: Sequence[ast.stmt],
    loads: Sequence[ast.Name],
) -> bool:
    """Whether each turn of a loop gives the name a value before anything reads it."""
    assert isinstance(definition.targets[0], ast.Name)
    name = definition.targets[0].id
    end = (definition.end_lineno or 0, definition.end_col_offset or 0)
    in_loop = set(walk(loop))
    early = [n for n in loads if n in in_loop and (n.lineno, n.col_offset) < end]
    if not early:
        return True
    first = next((index for index, statement in enumerate(before) if _defines(statement, name)), None)
    if first is None:
        return False
    allowed = {n for statement in (*before[first + 1 :], definition) for n in walk(statement)}
    return all(n in allowed for n in early)


def _defines(statement: ast.stmt, name: str) -> bool:
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    return isinstance(target, ast.Name) and target.id == name


def _stores(node: ast.AST, name: str) -> bool:
    return any(
        n.id == name and not isinstance(n.ctx, ast.Load)
        if isinstance(n, ast.Name)
        else (isinstance(n, ast.Global | ast.Nonlocal) and name in n.names)
        or (isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and n.name == name)
        or (isinstance(n, ast.ExceptHandler) and n.name == name)
        or (isinstance(n, ast.alias) and (n.asname or n.name) == name)
        or (isinstance(n, ast.MatchAs | ast.MatchStar) and n.name == name)
        for n in walk(node)
        if n.__class__ not in _NO_STORES
    )


def unused_then(
    definitions: Sequence[ast.Assign],
    at: ast.stmt,
    names: set[str],
    scope: Scope,
    *,
    used: bool = True,
    replaced: Sequence[ast.AST] | None = None,
    gone: Sequence[ast.Assign] = (),
) -> Iterator[Obstacle]:
    """Whether the definitions may go when `replaced`, or else all of `at`, no longer uses them.

    `names`: what the rewritten code reads in their place. None of it may change between the two. Without `used` other
    uses of what is defined are left to the caller. `gone`: other definitions that go with these.
    """
    if not definitions:
        return
    inside = {n for part in (*definitions, *([at] if replaced is None else replaced)) for n in ast.walk(part)}
    for whole in wholes_of(d for d in definitions if isinstance(d, Part)):
        if not all(part in definitions or part in gone for part in parts_of(whole)):
            yield Obstacle(f"`{snippet(whole)}` gives other names values too")
    for definition in definitions if used else ():
        assert isinstance(definition.targets[0], ast.Name)
        name = definition.targets[0].id
        reads = reads_of(definition, scope)
        if reads is None:
            yield Obstacle(f"`{name}` may be used elsewhere too")
        for use in reads or ():
            if use not in inside:
                yield Obstacle(f"`{name}` is used on line {use.lineno} too")
    for part in between_definitions(definitions, at, scope):
        effects = scope.legality.effects.of(part, scope.facts)
        mentioned = names_in(part)
        stored = stored_in(part)
        elsewhere = isinstance(part, ast.stmt) and writes_elsewhere(part, names, scope)
        changes = effects.mutates is not None and not elsewhere
        if changes or stored & names or (effects.unknown is not None and mentioned & names):
            yield Obstacle(f"`{snippet(part)}` stands between the selection and its use, and may change it")
    for part in _changes_within(definitions, at, names, scope):
        yield Obstacle(f"`{snippet(part)}` may change what is selected before it is used")


def _changes_within(
    definitions: Sequence[ast.Assign], at: ast.stmt, names: set[str], scope: Scope
) -> Iterator[ast.AST]:
    """What the statement that uses the definitions may itself write into the names before it comes to that.

    The target of the statement is written behind it, and what is given the result runs behind it, but in a loop.
    """
    inside = {n for n in ast.walk(at) if n is not at and n not in getattr(at, "targets", ())}
    yield from (n for n in inside if isinstance(n, ast.NamedExpr) and n.target.id in names)
    read = [n for d in definitions for n in ast.walk(d) if isinstance(n, ast.Name) and n.id in names]
    memory = frozenset[str]().union(*(memory_of(scope.value(n)) for n in read))
    if any(is_outside(scope.value(n)) for n in read):
        memory |= {f"param:{p.arg}" for p in scope.function.parameters}  # two of them may be one tensor
    defined = {n.id for d in definitions for n in d.targets if isinstance(n, ast.Name)}
    uses = [n for n in inside if isinstance(n, ast.Name) and n.id in defined]
    repeats = (ast.For, ast.AsyncFor, ast.While, ast.comprehension)
    for node in scope.legality.memory.writers(memory, names, scope.facts):
        if node in inside:
            below = set(ast.walk(node))
            again = any(isinstance(n, repeats) and node in set(ast.walk(n)) for n in (at, *inside))
            if again or not all(use in below for use in uses):
                yield node


def mask_kept(definitions: Sequence[ast.Assign], mask: ast.expr, use: ast.AST) -> Iterator[Obstacle]:
    """Whether the mask is not written again after a definition that gives a name in it another value."""
    names = names_in(mask)
    for definition in definitions:
        target = definition.targets[0]
        if not isinstance(target, ast.Name) or target.id not in names:
            continue
        for part in (*(d for d in definitions if d.lineno > definition.lineno), use):
            if any(ast.dump(n) == ast.dump(mask) for n in ast.walk(part)):
                yield Obstacle(f"`{snippet(mask)}` is not the same before and after `{snippet(definition)}`")


def writes_elsewhere(statement: ast.stmt, names: set[str], scope: Scope) -> bool:
    """Whether all that a statement writes is one local tensor that shares no memory with those of these names."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
    elif isinstance(statement, ast.AugAssign):
        target = statement.target
    else:
        return False
    parts: list[ast.AST] = [statement.value]
    if isinstance(target, ast.Subscript):
        parts.append(target.slice)
        target = target.value
    if not isinstance(target, ast.Name):
        return False
    if any(scope.legality.effects.of(part, scope.facts).mutates is not None for part in parts):
        return False
    known = scope.facts.env_before.get(statement, {})
    written = known.get(target.id)
    return (
        written is not None
        and written.is_tensor
        and all(name in known and not _may_be_one(known[name], written) for name in names)
    )


def _may_be_one(read: Value, written: Value) -> bool:
    """Whether a write into one tensor may show in another: two arguments of a call may be one tensor."""
    return may_share(read.storage, written.storage) or (is_outside(read) and is_outside(written))


def uses_of(statement: ast.Assign, target: ast.Name, scope: Scope) -> list[ast.Name] | None:
    """The places that read what a statement gives a name; None where it is not certain which these are.

    A later statement of the same form may give the name another value: what it stands before, in its own block, reads
    that one.
    """
    everywhere = scope.function.places(target.id)
    stores = sorted((n for n in everywhere if isinstance(n.ctx, ast.Store)), key=lambda n: n.lineno)
    loads = scope.names(target.id)
    if len(stores) + len(loads) != len(everywhere) or scope.function.takes(target.id):
        return None
    statements = [scope.parents.get(store) for store in stores]
    if not all(isinstance(s, ast.Assign) and s.targets == [n] for s, n in zip(statements, stores, strict=True)):
        return None
    if len(stores) > 1 and any(isinstance(a, ast.For | ast.While) for s in stores for a in scope.ancestors(s)):
        return None
    found: list[ast.Name] = []
    for load in loads:
        line = scope.statement(load).lineno
        before = [s for s in statements if isinstance(s, ast.Assign) and (s.end_lineno or 0) < line]
        if not before:
            return None
        inside = scope.block(before[-1])
        if not any(around in inside for around in (scope.statement(load), *scope.ancestors(load))):
            return None
        if before[-1] is statement:
            found.append(load)
    return found
