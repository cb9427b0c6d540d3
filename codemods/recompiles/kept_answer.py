"""Answers that a method keeps, and returns again where they fit, as code that computes them at each call.

if self.mask is not None and self.mask.shape[-1] >= n:     mask = torch.ones(n, n, device=device).triu(1)
    return self.mask[:n, :n]                               self.mask = mask
mask = torch.ones(n, n, device=device).triu(1)             return mask
self.mask = mask
return mask
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from compilefix.codemods.finding import Edit
from compilefix.codemods.recompiles.kept_table import GROWS, by_rows, down_to, is_nothing, is_self, only_asks, reads
from compilefix.codemods.recompiles.size_cache import hangs_on, is_of_other_class
from compilefix.codemods.recompiles.sizes import definition_of
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet
from compilefix.source.syntax import conjuncts, single_target
from compilefix.source.tree import parents


@dataclass(frozen=True)
class KeptAnswer:
    """An `if` that returns what was kept, and the statements behind it, which compute it, keep it and return it."""

    guard: ast.If
    found: ast.expr
    made: tuple[ast.Assign, ...]
    returned: ast.expr

    @property
    def stores(self) -> dict[str, ast.expr]:
        """What the attributes of the object are given."""
        targets = ((statement.targets[0], statement.value) for statement in self.made)
        return {target.attr: value for target, value in targets if isinstance(target, ast.Attribute)}

    @property
    def kept(self) -> frozenset[str]:
        """The attributes of the object that hold the answer."""
        return frozenset(self.stores)

    @property
    def asked(self) -> list[ast.Compare]:
        """The comparisons of the question whether the answer fits."""
        return [n for n in ast.walk(self.guard.test) if isinstance(n, ast.Compare) and len(n.ops) == 1]

    @property
    def grows(self) -> bool:
        """Whether an answer that is longer than needed is kept."""
        return any(isinstance(question.ops[0], GROWS) for question in self.asked)

    @property
    def sizes(self) -> list[ast.expr]:
        """What is compared with what is kept."""
        return [s for q in self.asked for s in (q.left, *q.comparators) if not reads(s, self.kept)]


def kept_answer(guard: ast.If, scope: Scope) -> KeptAnswer | None:
    """The answer that an `if` returns again; None where the code has another form."""
    block = scope.function.node.body
    only = guard.body[0] if len(guard.body) == 1 and not guard.orelse and guard in block else None
    if not isinstance(only, ast.Return) or only.value is None:
        return None
    *made, last = block[block.index(guard) + 1 :] or [guard]
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    for statement in made:
        target = single_target(statement)
        own = isinstance(target, ast.Attribute) and is_self(target.value, scope)
        if not own and not isinstance(target, ast.Name):
            return None
    answer = KeptAnswer(guard, only.value, tuple(s for s in made if isinstance(s, ast.Assign)), last.value)
    test = guard.test
    parts = conjuncts(test)
    asks = all(reads(part, answer.kept) and only_asks(part) for part in parts)
    return answer if answer.kept and asks and reads(only.value, answer.kept) else None


def answered_at_each_call(answer: KeptAnswer, scope: Scope) -> tuple[Edit, ...] | str:
    """The edits after which the answer is computed at each call, or why they would not do."""
    sizes = answer.sizes
    key = ast.Tuple([*sizes, *(definition_of(size, scope) for size in sizes)], ast.Load())
    parts: Sequence[ast.AST] = [*answer.made, answer.returned]
    if any(reads(part, answer.kept) for part in parts):
        return "the answer is made of what is kept"
    reason = hangs_on(key, parts, scope)
    if reason is not None:
        return reason
    for value in (*(statement.value for statement in answer.made), answer.returned):
        effects = scope.legality.effects.of(value, scope.facts)
        found = effects.random or effects.mutates or effects.always or effects.host
        if found is not None:
            return f"computed at each call, it would do more than compute: {found}"
    texts = {ast.unparse(part) for size in answer.sizes for part in (size, definition_of(size, scope))}
    if not _is_the_same(answer, texts):
        return f"`{snippet(answer.found)}` is not known to be `{snippet(answer.returned)}`"
    if answer.grows:
        values = [n for s in answer.made for n in down_to(texts, s.value)]
        other = next((node for node in values if not by_rows(node, texts, scope, filled=True)), None)
        if other is not None:
            return f"`{snippet(other)}` may depend on how many rows are kept"
    used = next((text for name in sorted(answer.kept) if (text := _used_elsewhere(name, answer, scope))), None)
    return used if used is not None else (scope.edit(answer.guard, ""),)


def _is_the_same(answer: KeptAnswer, sizes: set[str]) -> bool:
    """Whether what is returned again is what was returned when it was kept, cut to the size that is asked for."""
    found, computed = answer.found, ast.unparse(answer.returned)
    if answer.grows:
        index = found.slice if isinstance(found, ast.Subscript) else None
        cuts = index.elts if isinstance(index, ast.Tuple) else [index]
        if not isinstance(found, ast.Subscript) or not all(_cuts(cut, sizes) for cut in cuts):
            return False
        found = found.value
    place = None
    if not answer.grows and isinstance(found, ast.Subscript) and isinstance(found.slice, ast.Constant):
        place = found.slice.value
        found = found.value
    kept = found.attr if isinstance(found, ast.Attribute) else ""
    stored = answer.stores.get(kept)
    if isinstance(place, int) and isinstance(stored, ast.Tuple) and 0 <= place < len(stored.elts):
        stored = stored.elts[place]
    elif place is not None:
        return False
    if not isinstance(stored, ast.Name) or stored.id != computed:
        return False
    targets = [statement.targets[0] for statement in answer.made]
    behind = itertools.dropwhile(lambda t: not isinstance(t, ast.Attribute) or t.attr != kept, targets)
    return not any(isinstance(target, ast.Name) and target.id == computed for target in behind)


def _cuts(cut: ast.AST | None, sizes: set[str]) -> bool:
    if not isinstance(cut, ast.Slice) or cut.lower is not None or cut.step is not None or cut.upper is None:
        return False
    return ast.unparse(cut.upper) in sizes


def _used_elsewhere(attribute: str, answer: KeptAnswer, scope: Scope) -> str | None:
    """A place outside of this method that uses the attribute, otherwise than to set it to None in `__init__`."""
    modules = scope.legality.inference.project.modules
    inside = {id(n) for part in (answer.guard, *answer.made) for n in ast.walk(part)}
    for module in (modules[name] for name in modules.texts.mentioning(attribute)):
        around = parents(tuple(ast.walk(module.tree)))
        begins = {id(n) for f in module.all_functions if f.node.name == "__init__" for n in f.nodes}
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Constant) and node.value == attribute:
                return f"`{attribute}` is named elsewhere, too"
            if not isinstance(node, ast.Attribute) or node.attr != attribute or id(node) in inside:
                continue
            nothing = isinstance(node.ctx, ast.Store) and id(node) in begins and is_nothing(node, around)
            if not nothing and not is_of_other_class(node, module, scope):
                return f"`{snippet(node)}` is used elsewhere, too"
    return None
