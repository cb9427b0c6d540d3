"""Which names are read after a statement, and which are free."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from enum import Enum, auto

from compilefix.codemods.rule import Scope
from compilefix.source.tree import statements, walk

QUIET_CONTEXTS = frozenset(
    {"torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.autocast", "torch.amp.autocast"}
)
"""What a `with` may hold open round code that is run always: it lets each error through."""


class _Fate(Enum):
    """What code does with the value that a name has before it."""

    READ = auto()
    REPLACED = auto()
    KEPT = auto()


def live_after(name: str, node: ast.stmt, scope: Scope) -> bool:
    """Whether the value that a name has after the statement may be read, in a later turn of a loop or by a nested
    function too."""
    if read_at_any_time(name, node, scope):
        return True
    for around in scope.ancestors(node):
        # Which statement of a `try` fails is not known: what any line of it or behind it reads counts.
        if isinstance(around, ast.Try) and (_loads(name, [around]) or _read_behind(name, around, scope)):
            return True
    return _read_behind(name, node, scope)


def read_at_any_time(name: str, node: ast.stmt, scope: Scope) -> bool:
    """Whether a nested function, a lambda or a generator reads the name, or another function has it, too.

    A lambda and a generator count where they stand before the end of the statement: others read the name behind it.
    """
    live = set(scope.nodes)
    for use in scope.function.nodes:
        if isinstance(use, ast.Global | ast.Nonlocal) and name in use.names:
            return True
        if isinstance(use, ast.Name) and use.id == name and isinstance(use.ctx, ast.Load) and use not in live:
            return True
    end = node.end_lineno or node.lineno
    for made in scope.function.of(ast.Lambda):
        own = {parameter.arg for parameter in ast.walk(made.args) if isinstance(parameter, ast.arg)}
        if made.lineno <= end and name not in own and _loads(name, [made.body]):
            return True
    for waiting in scope.function.of(ast.GeneratorExp):
        around = scope.parents.get(waiting)
        used_up = isinstance(around, ast.Call) and scope.callee(around) in _USE_UP
        if waiting.lineno <= end and not used_up and _loads(name, [waiting]):
            return True
    return False


_USE_UP = frozenset({"all", "any", "dict", "list", "max", "min", "set", "sorted", "sum", "tuple"})


def _read_behind(name: str, node: ast.stmt, scope: Scope) -> bool:
    """Whether a way on from a statement reads the name before it gives it another value."""
    parent = scope.parents.get(node)
    block = scope.block(node)
    following = block[block.index(node) + 1 :]
    fate = _of_block(name, following)
    if fate is not _Fate.KEPT and not _jumps(following):
        return fate is _Fate.READ
    if fate is _Fate.READ:
        return True
    if isinstance(parent, ast.For | ast.AsyncFor | ast.While):
        if node in parent.body and _of_turn(name, parent) is _Fate.READ:
            return True
        if node in parent.body and _of_block(name, parent.orelse) is _Fate.READ:
            return True
    around = next((a for a in scope.ancestors(node) if isinstance(a, ast.stmt)), None)  # of a `case`, the `match`
    return around is not None and around is not scope.function.node and _read_behind(name, around, scope)


def _of_block(name: str, body: Sequence[ast.stmt]) -> _Fate:
    for statement in body:
        fate = _of_statement(name, statement)
        if fate is not _Fate.KEPT:
            return fate
    return _Fate.KEPT


def reads_first(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether a block may read the value that a name has before it."""
    return _of_block(name, body) is _Fate.READ


def _of_statement(name: str, statement: ast.stmt) -> _Fate:
    if isinstance(statement, ast.If):
        if _loads(name, [statement.test]):
            return _Fate.READ
        ways = {_of_block(name, statement.body), _of_block(name, statement.orelse)}
        return _Fate.READ if _Fate.READ in ways else ways.pop() if len(ways) == 1 else _Fate.KEPT
    if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
        head = statement.test if isinstance(statement, ast.While) else statement.iter
        ways = {_of_turn(name, statement), _of_block(name, statement.orelse)}
        return _Fate.READ if _loads(name, [head]) or _Fate.READ in ways else _Fate.KEPT
    if isinstance(statement, ast.With | ast.AsyncWith):
        fate = _Fate.READ if _loads(name, statement.items) else _of_block(name, statement.body)
        # Of another context it is not known whether it stops an error, and goes on behind the block.
        quiet = all(ast.unparse(item.context_expr).partition("(")[0] in QUIET_CONTEXTS for item in statement.items)
        return fate if fate is _Fate.READ or quiet else _Fate.KEPT
    if _loads(name, [statement]):
        return _Fate.READ
    if isinstance(statement, ast.AugAssign):
        own = isinstance(statement.target, ast.Name) and statement.target.id == name
        return _Fate.READ if own else _Fate.KEPT
    if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
        return _Fate.REPLACED  # what stands behind it does not run; `_jumps` minds where it leads
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    if isinstance(statement, ast.AnnAssign) and statement.value is not None:
        targets = [statement.target]
    return _Fate.REPLACED if any(name in _bound(target) for target in targets) else _Fate.KEPT


def _of_turn(name: str, loop: ast.For | ast.AsyncFor | ast.While) -> _Fate:
    """What a turn of a loop does with the value that a name has before it."""
    if isinstance(loop, ast.While):
        return _Fate.READ if _loads(name, [loop.test]) else _of_block(name, loop.body)
    return _Fate.REPLACED if name in _bound(loop.target) else _of_block(name, loop.body)


def _bound(target: ast.expr) -> set[str]:
    """The names that an assignment to this target gives a value."""
    if isinstance(target, ast.Tuple | ast.List):
        return set[str]().union(*map(_bound, target.elts))
    if isinstance(target, ast.Starred):
        return _bound(target.value)
    return {target.id} if isinstance(target, ast.Name) else set()


def _jumps(body: Iterable[ast.stmt]) -> bool:
    """Whether a `break` or `continue` may leave these statements: the next turn, or what stands behind, comes then."""
    return any(isinstance(n, ast.Break | ast.Continue) for s in body for n in (s, *statements(s)))


def _loads(name: str, nodes: Iterable[ast.AST]) -> bool:
    for root in nodes:
        own: set[ast.AST] = set()
        for node in walk(root):
            if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
                own |= _of_comprehension(name, node)
            loads = isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Store)
            if loads and node not in own:
                return True
    return False


def _of_comprehension(name: str, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> set[ast.AST]:
    """What stands in a comprehension that gives the name a meaning of its own: all but what it first runs over."""
    if not any(name in _bound(generator.target) for generator in node.generators):
        return set()
    return set(walk(node)) - set(walk(node.generators[0].iter))


def inside(use: ast.expr, node: ast.AST) -> bool:
    """Whether a node stands on the lines of another one."""
    start, end = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    return start <= use.lineno <= end
