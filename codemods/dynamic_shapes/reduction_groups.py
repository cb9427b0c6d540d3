"""Reductions that read the same masked elements: they are rewritten together, or not at all.

In `p = p[p > 0]; n = p.sum(); h = (p / n * p.log()).sum()` the selection may go when both sums are written for all
elements, and not before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.definitions import mask_kept, reads_of, unused_then, wholes_of
from compilefix.codemods.dynamic_shapes.drafts import Draft, bracketed, is_quotient, merged_code, replaced_in
from compilefix.codemods.dynamic_shapes.kept_code import kept_together
from compilefix.codemods.dynamic_shapes.kept_steps import asks_for_kind, selected_again, uses_elsewhere
from compilefix.codemods.dynamic_shapes.masks import same_mask
from compilefix.codemods.dynamic_shapes.other_ways import left_apart
from compilefix.codemods.dynamic_shapes.reduction_code import reduction_code
from compilefix.codemods.dynamic_shapes.reductions import Reduction, reductions, takes_lines
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in


def drafts_of(scope: Scope) -> list[Draft]:
    """The drafts for the reductions of a function, in source order."""
    found = list(reductions(scope))
    drafts: list[Draft] = []
    for reduction in sorted(found, key=lambda r: sum(1 for _ in ast.walk(r.node))):
        drafts.append(_draft(reduction, found, drafts, scope))
    drafts.sort(key=lambda draft: found.index(draft.found))
    for number, group in enumerate(_groups(drafts)):
        if _stays(group, scope) and not all(draft.elements.kept for draft in group):
            again = [_draft(draft.found, found, drafts, scope, kept=True) for draft in group]
            drafts = [again[group.index(draft)] if draft in group else draft for draft in drafts]
            group[:] = again
        _settle(group, number, scope)
        if group[0].elements.kept:
            _settle_kept(group, number, scope)
            continue
        for draft in group:
            together = [other for other in group if other.group is not None]
            if draft in together and (unnamed := _unnamed(draft, together, scope)) is not None:
                reason = f"give `{snippet(unnamed)}` a name: it takes several steps"
                for other in together:
                    other.template.refuse([Obstacle(reason)])
                _settle(group, number, scope)
    return drafts


def _stays(group: Sequence[Draft], scope: Scope) -> bool:
    """Whether the definitions of a group stay: an `if` decides which of them counts, or whether they are reduced.

    Or something asks what they select for its dtype.
    """
    if any(draft.elements.kept for draft in group):
        return True
    definitions = [definition for draft in group for definition in draft.elements.definitions]
    nodes = [draft.found.node for draft in group if draft.broken is None]
    if any(asks_for_kind(use, scope) for d in definitions for use in reads_of(d, scope) or ()):
        return True
    return bool(selected_again(definitions, [*definitions, *nodes], scope))


def _settle_kept(group: list[Draft], number: int, scope: Scope) -> None:
    """Leave out all drafts of a group whose definitions cannot stay with all elements under their names."""
    together = [draft for draft in group if draft.group is not None]
    obstacles = list(kept_together(together, scope)) if together else []
    for draft in together:
        draft.template.refuse(obstacles)
    _settle(group, number, scope)


def _draft(
    found: Reduction, others: Sequence[Reduction], smaller: Sequence[Draft], scope: Scope, *, kept: bool = False
) -> Draft:
    at, template = scope.statement(found.node), Template()
    asked = Elements(found.mask, scope, at, joining=True)
    sides = list(asked.one_sided(found.node).items())
    assumed = {test: side for test, (_, side) in sides}
    elements = Elements(found.mask, scope, at, joining=True, assumed=assumed, kept=kept)
    if len(sides) > 1:
        elements.obstacles.append(Obstacle("several conditions decide whether the elements are selected"))
    inside = set(ast.walk(found.node)) - {found.node}
    inner = {
        draft.found.node: draft
        for draft in smaller
        if draft.found.node in inside
        and draft.broken is None
        and draft.sided is None
        and same_mask(draft.found.mask, found.mask)
    }
    elements.reductions = {r.node: r.rows for r in others if same_mask(r.mask, found.mask)}
    elements.reduced = frozenset(inner)
    code = reduction_code(found, elements, template)
    elements.once()
    taken = [draft for node, draft in inner.items() if ast.unparse(node) in elements.atoms]
    draft = Draft(found, elements, template, code, taken, sided=sides[0][1] if sides else None)
    for part in taken:
        elements.definitions.extend(d for d in part.elements.definitions if d not in elements.definitions)
        elements.obstacles.extend(o for o in part.elements.obstacles if o not in elements.obstacles)
        draft.code = draft.code and _with_code_of(part, draft.code, template)
    template.refuse(elements.obstacles)
    return draft


def _with_code_of(part: Draft, code: str, template: Template) -> str:
    """The code with the placeholders of what a smaller draft is for replaced by the code of that one."""
    text = merged_code(part.code or "", part.template, {}, template)
    text = f"({text})" if is_quotient(text) else text
    for name, node in list(template.parts.items()):
        if ast.dump(node) == ast.dump(part.found.node):
            code = code.replace(f"({{{name}}})", f"{{{name}}}").replace(f"{{{name}}}", text)
    return code


def _groups(drafts: Sequence[Draft]) -> Iterator[list[Draft]]:
    """The drafts, those that read the same definition, or stand in one another, together."""
    groups: list[list[Draft]] = []
    for draft in drafts:
        near = [group for group in groups if any(_connected(draft, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), draft])
    yield from groups


def _connected(one: Draft, other: Draft) -> bool:
    shared = any(d in other.elements.definitions for d in one.elements.definitions)
    return shared or one in other.inner or other in one.inner


def _settle(group: list[Draft], number: int, scope: Scope) -> None:
    """Leave out the drafts whose definitions are needed for something else, until none of these is left."""
    alive = [draft for draft in group if draft.broken is None]
    for draft in group:
        draft.group = None
    while True:
        nodes = [draft.found.node for draft in alive]
        definitions = [definition for draft in alive for definition in draft.elements.definitions]
        failed = [draft for draft in alive if not _may_go(draft, nodes, definitions, scope)]
        if not failed:
            break
        alive = [draft for draft in alive if draft not in failed]
    for draft in alive:
        draft.group = number


def _may_go(draft: Draft, nodes: Sequence[ast.expr], definitions: Sequence[ast.Assign], scope: Scope) -> bool:
    elements = draft.elements
    if elements.kept:
        draft.template.refuse(uses_elsewhere(elements.definitions, [*definitions, *nodes], scope))
        return draft.broken is None
    # What is evaluated earlier or later than before: the right sides of definitions, the mask, what it selects from.
    moved = [
        *(d.value for d in elements.definitions),
        elements.mask.index,
        *(elements.atoms[b] for b in elements.bases),
        *elements.placed.values(),
    ]
    names = names_in(*moved)
    statement = scope.statement(draft.found.node)
    draft.left = left_apart(elements.definitions, nodes, names, scope)
    replaced = [*nodes, *draft.left]
    obstacles = list(unused_then(elements.definitions, statement, names, scope, replaced=replaced, gone=definitions))
    obstacles += mask_kept(elements.definitions, elements.mask.node, draft.found.node)
    draft.template.refuse(obstacles)
    return draft.broken is None


def _unnamed(draft: Draft, group: Sequence[Draft], scope: Scope) -> ast.expr | None:
    """What would need a name before the statement, where no statement can be put."""
    parts = [] if _hoists(group) is not None else [node for other in group for node in other.elements.hoists.values()]
    spread = [other.found.node for other in group if other.elements.before]
    if len(group) > 1 or draft.inner:
        # The lines stand where the elements were selected; one mean can have the name.
        several = len({tuple(other.elements.before) for other in group if other.elements.before}) > 1
        spread = spread if several or draft.inner or not draft.elements.definitions else []
        return next(iter([*parts, *spread]), None)
    needed = [*parts, *spread]
    return needed[0] if needed and not takes_lines(draft.found.node, scope) else None


def _hoists(group: Sequence[Draft]) -> dict[str, ast.expr] | None:
    """What gets a name where the first elements of a group are selected; None where names and nodes do not fit.

    It stands in what selects elements, and is not changed before they are used, or there would be no drafts.
    """
    definitions = [d for draft in group for d in draft.elements.definitions]
    inside = {node for definition in definitions for node in ast.walk(definition.value)}
    found: dict[str, ast.expr] = {}
    for draft in group:
        for name, node in draft.elements.hoists.items():
            if node not in inside or ast.dump(found.setdefault(name, node)) != ast.dump(node):
                return None
    return found if len(set(map(ast.dump, found.values()))) == len(found) else None


def group_edits(group: Sequence[Draft], scope: Scope) -> tuple[Edit, ...]:
    """The edits for the drafts of a group of several.

    What more than one of them needs gets a name, in the place of the first definition.
    """
    absorbed = [inner for draft in group for inner in draft.inner]
    written = [draft for draft in group if draft not in absorbed]
    definitions = wholes_of(d for draft in group for d in draft.elements.definitions)
    merged = Template()
    tokens: dict[str, str] = {}
    hoists = _hoists(group) or {}

    def in_group(code: str, draft: Draft) -> str:
        named = draft.elements.with_names(code, draft.template, hoists)
        return merged_code(named, draft.template, tokens, merged)

    before = [in_group(line, draft) for draft in written for line in draft.elements.before]
    codes = [in_group(draft.code or "", draft) for draft in written]
    codes += dict.fromkeys(before)
    mask = written[0].elements.mask.node
    shared = (
        [(tokens[ast.dump(mask)], "selected")] if ast.dump(mask) in tokens and not isinstance(mask, ast.Name) else []
    )
    for wanted in ("selected", "safe"):
        for draft in group:
            elements = draft.elements
            texts = elements.over_codes if wanted == "selected" else elements.safe_codes
            shared += [(in_group(text, draft), wanted) for text in texts if "(" in text]
    lines = [f"{name} = {merged.use(node)}" for name, node in hoists.items()]
    named: dict[str, str] = {}
    for candidate, wanted in dict.fromkeys(shared) if definitions else ():
        text = replaced_in(candidate, named)
        if sum(code.count(text) for code in codes) > 1:
            name = free_name(wanted, scope, [*hoists, *named.values()])
            lines.append(f"{name} = {text}")
            named[text] = name
            codes = [replaced_in(code, {text: name}) for code in codes]
    edits = [scope.edit(definition, "") for definition in definitions]
    lines += codes[len(written) :]
    if lines:
        edits[0] = scope.edit(definitions[0], "\n".join(lines), **merged.parts)
    for draft, code in zip(written, codes, strict=False):
        node = draft.found.node
        edits.append(scope.edit(node, bracketed(node, code, scope), **merged.parts))
    return tuple(edits)
