"""Indices and masks behind a check that is made later.

Where the check fails they must not fail themselves before its exception is raised.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.finding import Edit
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import ATOMS
from compilefix.source.tree import children, elements_of

_INDEXING = frozenset(
    {
        "gather",
        "index_select",
        "take",
        "scatter",
        "scatter_add",
        "scatter_",
        "scatter_add_",
        "index_add",
        "index_add_",
        "embedding",
        "one_hot",
    }
)


def index_names(test: ast.expr, node: ast.stmt, scope: Scope) -> list[str]:
    """The names of tensors of the condition that are an index later; none where something else is one."""
    before = scope.facts.env_before.get(node, {})
    found: dict[str, None] = {}
    for part, _ in indices_later(test, node, scope):
        value = before.get(part.id) if isinstance(part, ast.Name) else None
        if not isinstance(part, ast.Name) or value is None or not value.is_tensor or value.dtype in ("bool", "complex"):
            return []
        found[part.id] = None
    return list(found)


def mask_names(test: ast.expr, node: ast.stmt, scope: Scope) -> list[str]:
    """The masks of a condition that are used later, where the file fills the places of a mask with other elements."""
    if not scope.function.module.mentions("masked_scatter"):
        return []
    before = scope.facts.env_before.get(node, {})
    names = dict.fromkeys(n.id for n in ast.walk(test) if isinstance(n, ast.Name) and n.id in before)
    masks = [n for n in names if before[n].is_tensor and before[n].certain and before[n].dtype == "bool"]
    return [name for name in masks if live_after(name, node, scope)]


def fails_later(test: ast.expr, node: ast.stmt, known: Sequence[str], scope: Scope) -> Iterator[tuple[ast.expr, str]]:
    """What would fail behind a check that has not raised yet, and the operator with which `~flag` makes that harmless.

    These are masks at whose places elements are put, of which there may be too few, and indices that are made of what
    the checked tensors are made of. What stands under the names in `known` is left out.
    """
    block = scope.block(node)
    behind = {part for statement in block[block.index(node) + 1 :] for part in ast.walk(statement)}
    checked = _origins(test, scope)
    uses: Sequence[ast.Call | ast.Subscript] = scope.among(ast.Call, ast.Subscript)
    for use in uses:
        if use not in behind:
            continue
        name = (scope.callee(use) or "") if isinstance(use, ast.Call) else ""
        if isinstance(use, ast.Call) and name.rpartition(".")[2].rstrip("_") == "masked_scatter":
            place = 0 if name.startswith("Tensor.") else 1
            masks = [k.value for k in use.keywords if k.arg == "mask"] or use.args[place : place + 1]
            yield from ((m, "&") for m in masks if not (isinstance(m, ast.Name) and m.id in known))
            continue
        for index in _indices(use, scope):
            value = scope.value(index)
            picks = value.is_tensor and value.certain and value.dtype in ("int", None)  # a mask times False stays one
            names = _origins(index, scope) if picks else set()
            if names & checked and not names & {*known}:
                yield index, "*"


def failing_indices(failing: Mapping[ast.expr, tuple[str, Sequence[str]]], scope: Scope) -> Iterator[Edit]:
    """The edits that make indices and masks harmless where a flag is set: `index * ~flag` at each place.

    A name that stands at several places behind one another gets its new value once, before the first of them.
    """
    codes = {use: "".join(f" {operator} ~{flag}" for flag in raised) for use, (operator, raised) in failing.items()}
    named: dict[tuple[str, str], list[ast.Name]] = {}
    for use, code in codes.items():
        if isinstance(use, ast.Name):
            named.setdefault((use.id, code), []).append(use)
    for (name, code), uses in named.items():
        first = _first_of(uses, scope) if len(uses) > 1 else None
        if first is not None:
            yield scope.before(first, f"{name} = {name}{code}")
            codes = {use: code for use, code in codes.items() if use not in uses}
    for use, code in codes.items():
        whole = "{part}" if isinstance(use, ATOMS) else "({part})"
        yield scope.edit(use, f"{whole}{code}", part=use)


def _first_of(uses: Sequence[ast.Name], scope: Scope) -> ast.stmt | None:
    """The statement before which a local name can get its new value: from there on it is read by these uses alone."""
    name = uses[0].id
    first = min((scope.statement(use) for use in uses), key=lambda statement: statement.lineno)
    block, around = scope.block(first), list(scope.ancestors(first))
    behind = {part for statement in block[block.index(first) :] for part in ast.walk(statement)}
    read = {load for load in scope.names(name) if load in behind}
    given = [store.lineno for store in scope.names(name, stores=True)]
    elsewhere = {n for s in scope.of(ast.Global) for n in s.names} | {
        n for s in scope.of(ast.Nonlocal) for n in s.names
    }
    again = any(isinstance(node, ast.For | ast.While | ast.AsyncFor) for node in around)
    alone = not (isinstance(first, ast.If) and block is getattr(scope.parents[first], "orelse", None))  # no `elif`
    local = given and max(given) < first.lineno and name not in elsewhere
    return first if read == {*uses} and local and alone and not again else None


def _indices(use: ast.Call | ast.Subscript, scope: Scope) -> Sequence[ast.expr]:
    if isinstance(use, ast.Subscript):
        return elements_of(use.slice)
    if (scope.callee(use) or "").rpartition(".")[2] not in _INDEXING:
        return []
    return [*use.args, *(k.value for k in use.keywords)]


def _origins(node: ast.expr, scope: Scope) -> set[str]:
    """The names and attributes of tensors that the values of an expression come from, near and far."""
    found: set[str] = set()
    seen: set[str] = set()
    pending: list[ast.AST] = [node]
    while pending:
        part = pending.pop()
        value = scope.value(part)
        if isinstance(part, ast.expr) and (value.is_static or value.ref == "torch.Size"):
            continue  # sizes and dtypes, which say nothing of the elements
        if not isinstance(part, ast.Name | ast.Attribute):
            pending.extend(children(part))
        elif (text := ast.unparse(part)) not in seen:
            seen.add(text)
            if value.is_tensor:
                found.add(text)
            pending.extend(children(part))
            stores = scope.names(text, stores=True) if isinstance(part, ast.Name) else []
            given = map(scope.statement, stores)
            pending += [one.value for one in given if isinstance(one, ast.Assign | ast.AugAssign)]
    return found


def indexed_later(test: ast.expr, node: ast.stmt, scope: Scope) -> ast.expr | None:
    """Where a tensor of the condition picks elements of another one after the check."""
    return next((use for _, use in indices_later(test, node, scope)), None)


def indices_later(test: ast.expr, node: ast.stmt, scope: Scope) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The tensors of the condition that stand in an index after the check, and the index; a mask cannot fail by its
    values."""
    names = {
        ast.dump(n) for n in ast.walk(test) if isinstance(n, ast.Name | ast.Attribute) and scope.value(n).is_tensor
    }
    for use in scope.nodes:
        if isinstance(use, ast.Subscript) and use.lineno > (node.end_lineno or 0):
            places = [] if scope.value(use.slice).dtype == "bool" else [use.slice]
        elif isinstance(use, ast.Call) and (scope.callee(use) or "").rpartition(".")[2] in _INDEXING:
            places = [*use.args, *(k.value for k in use.keywords)]
        else:
            continue
        for place in places:
            for part in ast.walk(place):
                if isinstance(part, ast.expr) and ast.dump(part) in names:
                    yield part, use
