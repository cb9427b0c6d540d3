"""What a loop over experts does for those that got tokens alone, beside computing their rows.

for expert in range(n):
    position, token = torch.where(mask[expert])
    if token.numel() > 0:
        used += 1                                 # another number, once no expert is skipped
        out.index_add_(0, token, self.experts[expert](hidden[token]))
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence

from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.dynamic_shapes.expert_forms import holds, inside, sum_of
from compilefix.codemods.dynamic_shapes.expert_routing import Routing
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_LEAVES = ast.Return | ast.Break | ast.Raise | ast.Assert


def changed_by_more_turns(
    loop: ast.For, skips: Sequence[ast.stmt], replaced: Collection[ast.AST], routing: Routing, scope: Scope
) -> str | None:
    """Why a turn for an expert without tokens would be seen, where `skips` are what keeps such turns away now.

    A skip is an `if` that asks for the tokens, or the loop itself where it goes over the experts that got some.
    `replaced`: reads of the expert's number, which go.
    """
    if loop in skips and isinstance(loop.target, ast.Name) and live_after(loop.target.id, loop, scope):
        return f"`{loop.target.id}` is read after the loop, and would be the last expert"
    for statement in _skipped(loop, skips):
        if sum_of(statement, routing) is None and not holds(statement, routing) and not routing.mentions(statement):
            seen = _seen(statement, loop, replaced, scope)
            if seen is not None:
                return f"`{snippet(statement)}` would be carried out for experts without tokens too: {seen}"
    return None


def _skipped(loop: ast.For, skips: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that such a turn does not come to, those in blocks one by one."""
    yield from _parts(loop.body, skips, loop in skips)


def _parts(body: Sequence[ast.stmt], skips: Sequence[ast.stmt], skipped: bool) -> Iterator[ast.stmt]:
    for statement in body:
        if statement in skips and isinstance(statement, ast.If):
            leaves = any(isinstance(part, ast.Continue) for part in statement.body)
            yield from _parts([] if leaves else statement.body, skips, True)
            skipped = skipped or leaves
        elif isinstance(statement, ast.With | ast.If):
            yield from _parts([*statement.body, *getattr(statement, "orelse", [])], skips, skipped)
            skipped = skipped or any(part in skips for part in ast.walk(statement))
        elif skipped:
            yield statement


def _seen(statement: ast.stmt, loop: ast.For, replaced: Collection[ast.AST], scope: Scope) -> str | None:
    """What tells afterwards that a statement was carried out; None where nothing does."""
    does = scope.legality.effects.of(statement, scope.facts)
    reads = any(part in replaced for part in ast.walk(statement))
    found = does.mutates or does.random or (None if reads and not isinstance(statement, ast.Expr) else does.host)
    if found is None and isinstance(statement, ast.Expr):
        found = does.unknown  # nothing is made of it: it is there for what it does
    if found is not None:
        return found
    targets = names_in(loop.target)  # new in each turn
    for part in ast.walk(statement):
        if isinstance(part, _LEAVES):
            return f"`{snippet(part)}` ends more than the turn"
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and part.id not in targets:
            for use in scope.names(part.id):
                own = any(use is node for node in ast.walk(statement))
                if own or not inside(use, loop) or (use.lineno, use.col_offset) < (part.lineno, part.col_offset):
                    return f"`{part.id}` is read in a later turn or after the loop"
    return None
