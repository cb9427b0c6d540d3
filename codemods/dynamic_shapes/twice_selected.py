"""Masks that are computed where they select, and select more than once: `x[~m]`, `y[~m]`.

In training inductor of torch 2.13 fails on them: the masks become one, and the sizes stay two. Under a name it works.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile

from compilefix.analysis.summaries import memory_of
from compilefix.codemods.dynamic_shapes.masks import mask_of
from compilefix.codemods.dynamic_shapes.true_places import listing_call
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.source.tree import names_in

_SOMETIMES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Return | ast.Expr


def computed_mask(node: ast.AST, scope: Scope) -> ast.expr | None:
    """The mask by which an operation selects, where it is computed there."""
    mask: ast.expr | None = None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        mask = mask_of(node, scope)
    elif isinstance(node, ast.Call):
        listed = listing_call(node, scope)
        mask = listed[0] if listed is not None else None
    return None if isinstance(mask, ast.Name | ast.Attribute) else mask


def masks_like(mask: ast.expr, scope: Scope) -> list[ast.expr]:
    """The masks of the same text by which a function selects, in source order."""
    text = ast.dump(mask)
    found = (computed_mask(node, scope) for node in scope.among(ast.Call, ast.Subscript))
    like = {id(other): other for other in found if other is not None and ast.dump(other) == text}
    return sorted(like.values(), key=lambda other: (other.lineno, other.col_offset))


def may_be_named(mask: ast.expr, scope: Scope) -> bool:
    """Whether a name before the first of these masks may stand for all: it runs first, and nothing changes the mask."""
    like = masks_like(mask, scope)
    first, last = scope.statement(like[0]), scope.statement(like[-1])
    line = scope.function.module.lines[first.lineno - 1].encode()[: first.col_offset]
    if not isinstance(first, _SIMPLE) or line.strip():
        return False
    block = scope.block(first)
    behind = set(block[block.index(first) :])
    if not all({scope.statement(other), *scope.ancestors(other)} & behind for other in like):
        return False
    if not scope.legality.effects.of(mask, scope.facts).repeatable:
        return False
    within = takewhile(lambda around: around is not first, scope.ancestors(like[0]))
    if any(isinstance(around, _SOMETIMES) for around in within):
        return False
    return not any(True for _ in _changes(mask, first, last, scope))


def _changes(mask: ast.expr, first: ast.stmt, last: ast.stmt, scope: Scope) -> Iterator[ast.AST]:
    """What may give the mask another value from its first use to its last one."""
    read = [n for n in ast.walk(mask) if isinstance(n, ast.Name)]
    names, end = {n.id for n in read}, last.end_lineno or last.lineno
    targets = {n for s in (first, last) for t in getattr(s, "targets", ()) for n in ast.walk(t)}
    if first is not last:
        targets -= {n for t in getattr(first, "targets", ()) for n in ast.walk(t)}
    held = any(isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Store) for n in ast.walk(mask))
    outside = held and not all(scope.value(n).is_tensor for n in read)
    written = set(
        scope.legality.memory.writers(
            frozenset[str]().union(*(memory_of(scope.value(n)) for n in read)), names, scope.facts
        )
    )
    for node in scope.function.nodes:
        if not first.lineno <= getattr(node, "lineno", 0) <= end or node in targets:
            continue
        stored = isinstance(node, ast.Name) and node.id in names and not isinstance(node.ctx, ast.Load)
        bound = isinstance(node, ast.arg) and node.arg in names
        if stored or bound or node in written:
            yield node
        elif isinstance(node, ast.Call):
            unknown = scope.legality.effects.of(node, scope.facts).unknown is not None
            if unknown and (outside or not names_in(node).isdisjoint(names)):
                yield node


def named_masks(masks: Sequence[ast.expr], scope: Scope) -> Iterator[Edit]:
    """The edits that give each of some masks, no two of them alike, a name before its first use."""
    taken: list[str] = []
    for mask in masks:
        like = masks_like(mask, scope)
        name = free_name("mask", scope, taken)
        taken.append(name)
        yield scope.before(scope.statement(like[0]), f"{name} = {{mask}}", mask=like[0])
        yield from (scope.edit(other, name) for other in like)
