"""Rows that masks only put into another order, as an index that sorts them.

    both = torch.cat([x[mask], x[~mask]])      order = torch.argsort(torch.where(mask, 0, 1), stable=True)
                                               both = x[order]

Of each mask the true places are taken once, and once the false ones: so many rows come out as go in.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.masks import boolean, is_mask, whole_mask
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_path

_JOINS = frozenset({"torch.cat", "torch.concat", "torch.concatenate"})
_LIKE = frozenset({"torch.zeros_like", "torch.ones_like"})


@dataclass(frozen=True)
class Part:
    """Some of the rows: those where the mask is true or, turned, where it is false.

    like: the function that makes new rows of theirs, as `zeros_like` does.
    """

    rows: ast.expr
    mask: ast.expr
    turned: bool
    like: ast.expr | None

    def is_rest_of(self, other: Part) -> bool:
        """Whether this takes what the other leaves out, of the same rows."""
        ours, theirs = ([*map(_text, (part.rows, part.mask, part.like))] for part in (self, other))
        return ours == theirs and self.turned != other.turned


@dataclass(frozen=True)
class Partition:
    """A call that puts rows behind one another."""

    node: ast.Call
    parts: Sequence[Part]


def partition_of(node: ast.Call, scope: Scope) -> Partition | None:
    """A call of `cat` that is given the rows of masks and, once for each mask, the rows that it leaves out."""
    if scope.callee(node) not in _JOINS or not node.args or not isinstance(node.args[0], ast.List | ast.Tuple):
        return None
    dims = [*node.args[1:], *(k.value for k in node.keywords)]
    if len(dims) > 1 or any(not isinstance(dim, ast.Constant) or dim.value != 0 for dim in dims):
        return None
    found = [_part(item, scope) for item in node.args[0].elts]
    parts = [part for part in found if part is not None]
    if len(parts) < max(2, len(found)):
        return None
    taken, left = (Counter(_text(p.mask) for p in parts if p.turned is turned) for turned in (False, True))
    return Partition(node, parts) if taken == left else None


def partition_code(found: Partition, template: Template, scope: Scope) -> tuple[str, str, str]:
    """The rows of all parts, their order, and how many come before what is left out; what is not proved is noted."""
    parts = found.parts
    for mask in {_text(part.mask): part.mask for part in parts}.values():
        template.refuse(boolean(mask, scope))
        if scope.value(mask).rank != 1:
            reason = f"`{snippet(mask)}` is not proved to have one dimension"
            template.refuse([Obstacle(reason, "one-dimension")])
    for part in {_text(part.rows): part for part in parts if _text(part.rows) != _text(part.mask)}.values():
        reason = f"`{snippet(part.rows)}` is not proved to have one row for each element of `{snippet(part.mask)}`"
        template.refuse([Obstacle(reason, "rows-match")])
    torch, last = torch_name(scope), len(parts)
    rows, keys, whole, done = list[str](), list[str](), True, set[int]()
    for place, part in enumerate(parts):
        if place in done:
            continue
        rest = next((i for i in range(place + 1, last) if i not in done and part.is_rest_of(parts[i])), None)
        done |= {place} if rest is None else {place, rest}
        whole = whole and rest is not None
        places = (place, last if rest is None else rest)
        first, second = reversed(places) if part.turned else places
        code = template.use(part.rows)
        rows.append(code if part.like is None else f"{template.use(part.like)}({code})")
        keys.append(f"{torch}.where({template.use(part.mask)}, {first}, {second})")
    lengths = [] if whole else [f"{template.use(part.mask)}.shape[0]" for part in parts if not part.turned]
    return _joined(rows, torch), f"{torch}.argsort({_joined(keys, torch)}, stable=True)", " + ".join(lengths)


def _joined(codes: Sequence[str], torch: str) -> str:
    return codes[0] if len(codes) == 1 else f"{torch}.cat([{', '.join(codes)}])"


def _part(node: ast.expr, scope: Scope) -> Part | None:
    like = None
    if isinstance(node, ast.Call) and scope.callee(node) in _LIKE and len(node.args) == 1 and not node.keywords:
        like, node = node.func, node.args[0]
    if not isinstance(node, ast.Subscript) or not is_path(node.value):
        return None
    mask = whole_mask(node, scope)
    if mask is not None:
        index = mask.node
        if mask.leading or mask.last:
            return None
    else:  # `cat` takes tensors alone
        index = node.slice
        if not scope.value(node.value).is_unknown or not is_mask(index, scope):
            return None
    turned = isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.Invert)
    named = index.operand if isinstance(index, ast.UnaryOp) else index
    return Part(node.value, named, turned, like) if is_path(named) else None


def _text(node: ast.expr | None) -> str:
    return "" if node is None else ast.dump(node)
