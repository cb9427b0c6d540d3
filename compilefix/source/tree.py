"""Walking syntax trees. `ast.walk` looks at every field of every node, and a check walks each function many times."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence

from compilefix.source.annotated import AnnAssign

_WITHOUT_NODES = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "asname", "module", "level", "kind", "type_comment", "type_ignores"}
    | {"simple", "conversion", "is_async", "kwd_attrs", "rest", "tag"}
)
_LEAVES = (ast.Constant, ast.Global, ast.Nonlocal, ast.MatchSingleton)
SIMPLE_STATEMENTS = frozenset(
    {
        ast.Assign,
        ast.AnnAssign,
        AnnAssign,
        ast.AugAssign,
        ast.Expr,
        ast.Return,
        ast.Raise,
        ast.Assert,
        ast.Pass,
        ast.Delete,
    }
    | {ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.Break, ast.Continue}
)
"""The statements without others in them."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """Node class -> its fields that may hold nodes, the last one first."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        # The name of a type alias is a node, any other name a string.
        skipped = _WITHOUT_NODES if kind.__name__ == "TypeAlias" else _WITHOUT_NODES | {"name"}
        names = () if issubclass(kind, _LEAVES) else tuple(n for n in reversed(kind._fields) if n not in skipped)
        self[kind] = names
        return names


_FIELDS = _Fields()


def walk(root: ast.AST) -> list[ast.AST]:
    """The node and all below it in source order, each before what is below it.

    Operators and contexts such as `Load` are left out: the node above says all of them.
    """
    return walk_block([root])


def walk_block(
    roots: Sequence[ast.AST], without: Collection[ast.AST] = (), closed: tuple[type[ast.AST], ...] = ()
) -> list[ast.AST]:
    """`walk` for several nodes. Those in `without` and of the classes `closed` are left out with what is below them."""
    found: list[ast.AST] = []
    pending: list[ast.AST | None] = list(reversed(roots))
    pruned = bool(without or closed)
    while pending:
        node = pending.pop()
        if node is None or (pruned and (node in without or isinstance(node, closed))):
            continue
        found.append(node)
        for name in _FIELDS[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                pending.extend(value[::-1])
            elif value is not None:
                pending.append(value)
    return found


def statements(root: ast.AST) -> list[ast.stmt]:
    """The statements below a node in source order, those of nested functions and classes too."""
    found: list[ast.stmt] = []
    pending: list[ast.AST] = [root]
    while pending:
        node = pending.pop()
        if node is not root and isinstance(node, ast.stmt):
            found.append(node)
            if node.__class__ in SIMPLE_STATEMENTS:
                continue
        for name in ("cases", "finalbody", "orelse", "handlers", "body"):
            value = getattr(node, name, None)
            if value.__class__ is list:
                pending.extend(value[::-1])
    return found


def parents(nodes: Iterable[ast.AST]) -> dict[ast.AST, ast.AST]:
    """The parent of each node that is directly below one of these."""
    found: dict[ast.AST, ast.AST] = {}
    for node in nodes:
        for name in _FIELDS[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                for item in value:
                    if item is not None:
                        found[item] = node
            elif value is not None:
                found[value] = node
    return found


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes directly below, in source order, without operators and contexts."""
    found: list[ast.AST] = []
    names = _FIELDS[node.__class__]
    for name in names[::-1] if names else ():
        value = getattr(node, name, None)
        if value.__class__ is list:
            found.extend(item for item in value if item is not None)
        elif value is not None:
            found.append(value)
    return found


def by_class(nodes: Iterable[ast.AST]) -> dict[type[ast.AST], list[ast.AST]]:
    """Nodes sorted by their class, in their order; an annotated assignment that is plain is an assignment."""
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in nodes:
        kind = node.__class__
        found.setdefault(ast.Assign if kind is AnnAssign else kind, []).append(node)
    return found


def elements_of(node: ast.expr) -> list[ast.expr]:
    """The elements of a tuple, as an index `x[0, :]` or a target `a, b` is; any other expression by itself."""
    return node.elts if isinstance(node, ast.Tuple) else [node]


def unpacked(node: ast.expr) -> Iterator[ast.expr]:
    """A target, or a value, and of a tuple or list each of its elements, however deep they stand."""
    if isinstance(node, ast.Tuple | ast.List):
        for item in node.elts:
            yield from unpacked(item)
    else:
        yield node


def names_in(*roots: ast.AST) -> set[str]:
    """The variables that stand in some code, whether they are read or given a value."""
    return {node.id for root in roots for node in walk(root) if isinstance(node, ast.Name)}


def stored_in(*roots: ast.AST) -> set[str]:
    """Those of them that the code gives a value."""
    return {n.id for root in roots for n in walk(root) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
