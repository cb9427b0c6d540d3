"""The code of statements that keep selected elements under their names, see `kept_steps`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.atoms import code_of
from compilefix.codemods.dynamic_shapes.definitions import whole_of, wholes_of
from compilefix.codemods.dynamic_shapes.drafts import Draft, bracketed, merged_code, replaced_in, rewritten_statement
from compilefix.codemods.dynamic_shapes.kept_steps import definitions_of, disturbed, is_elif, selected_again
from compilefix.codemods.dynamic_shapes.reductions import takes_lines
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet

_NO_PLACE = Obstacle("no place for the mask is before all that uses it")


def kept_together(group: Sequence[Draft], scope: Scope) -> list[Obstacle]:
    """What stands in the way of keeping the definitions of drafts, with all elements under their names."""
    found = list(disturbed(group, scope))
    return found or _Steps(group, scope).obstacles


def kept_edits(group: Sequence[Draft], scope: Scope) -> tuple[Edit, ...]:
    """The edits for the drafts of a group whose definitions stay."""
    return tuple(_Steps(group, scope).edits())


class _Steps:
    """The code of the definitions and reductions of a group, and what does not fit together.

    codes: other code for the value of a definition; None where it stays as it is. reduced: the code of a reduction.
    again: where the elements are selected on the way that no side takes. lines: what names the mask before all that
    uses it. named: its name, where it had none.
    """

    def __init__(self, group: Sequence[Draft], scope: Scope) -> None:
        self.scope, self.group = scope, group
        self.mask = group[0].elements.mask
        self.definitions = definitions_of(group)
        self.obstacles: list[Obstacle] = []
        self.template, self.tokens = Template(), dict[str, str]()
        self.named: str | None = None
        self.codes = {definition: self._code(definition) for definition in self.definitions}
        self.reduced = {draft: self._reduced(draft) for draft in group}
        nodes = [*self.definitions, *(draft.found.node for draft in group)]
        self.again = selected_again(self.definitions, nodes, scope)
        self.lines = self._shared()
        self.anchor = self._anchor()
        self._check()

    def _merged(self, code: str, draft: Draft) -> str:
        return merged_code(code, draft.template, self.tokens, self.template)

    def _fills(self, draft: Draft) -> dict[str, str]:
        """Code for bases with a harmless number where the mask is false: what one reduction needs all get."""
        found: dict[str, str] = {}
        for other in self.group:
            for text, code in other.elements.fills.items():
                merged = self._merged(code, other)
                if found.setdefault(text, merged) != merged:
                    reason = f"`{text}` would need different numbers where the mask is false"
                    self.obstacles.append(Obstacle(reason))
        return {text: code for text, code in found.items() if text in draft.elements.bases}

    def _code(self, definition: ast.Assign) -> str | None:
        if isinstance(definition.value, ast.Name):
            return None  # another name for the same elements
        draft = next(d for d in self.group if d.elements.tree_of(definition) is not None)
        tree, template = draft.elements.tree_of(definition), Template()
        assert tree is not None
        fills = self._fills(draft)
        marks = {text: f"compilefix_fill_{number}" for number, text in enumerate(fills)}
        names = draft.elements.held_names(apart=definition)
        code = merged_code(
            code_of(tree, draft.elements.atoms, template, marks, names), template, self.tokens, self.template
        )
        for text, mark in marks.items():
            code = code.replace(mark, fills[text])
        return None if self._plain(code) == ast.unparse(definition.value) else code

    def _plain(self, code: str) -> str:
        """Code without placeholders, as `ast` writes it."""
        text = code.format(**{name: ast.unparse(node) for name, node in self.template.parts.items()})
        return ast.unparse(ast.parse(text, mode="eval"))

    def _reduced(self, draft: Draft) -> str:
        code = self._merged(draft.code or "", draft)
        if draft.sided is None:
            return bracketed(draft.found.node, code, self.scope)
        statement, body = draft.sided
        test, whole = self.template.use(statement.test), self.template.use(draft.found.node)
        sides = (code, whole) if body else (whole, code)
        text = f"{sides[0]} if {test} else {sides[1]}"
        alone = isinstance(self.scope.parents.get(draft.found.node), ast.Return | ast.Assign)
        return text if alone else f"({text})"

    def _shared(self) -> list[str]:
        """Lines that name the mask, where it has no name, and the mask with the dimensions of the elements."""
        shared = [
            self._merged(text, draft) for draft in self.group for text in draft.elements.over_codes if "(" in text
        ]
        mask = self.tokens.get(ast.dump(self.mask.node))
        if not isinstance(self.mask.node, ast.Name) and mask is not None:
            shared.insert(0, mask)
        lines: list[str] = []
        named: dict[str, str] = {}
        for candidate in dict.fromkeys(shared):
            text = replaced_in(candidate, named)
            codes = [*(code for code in self.codes.values() if code), *self.reduced.values()]
            if candidate == mask or sum(code.count(text) for code in codes) > 1:
                name = free_name("selected", self.scope, lines)
                self.named = name if candidate == mask else self.named
                lines.append(f"{name} = {text}")
                named[text] = name
                self.codes = {d: code and replaced_in(code, {text: name}) for d, code in self.codes.items()}
                self.reduced = {d: replaced_in(code, {text: name}) for d, code in self.reduced.items()}
        return lines

    def _check(self) -> None:
        """Whether the lines run before all that uses them, and nothing is changed that runs on the other side too."""
        for draft in self.group:
            for definition in draft.elements.definitions:
                if self.codes[definition] is not None and not self._in_arm(definition, draft):
                    self.obstacles.append(Obstacle(f"`{snippet(definition)}` runs where nothing is selected too"))
        partial = self.mask.leading or self.mask.last
        if self.again and (any(draft.sided for draft in self.group) or (partial and self.named)):
            self.obstacles.append(Obstacle("the elements are used on another way too"))
        for definition in self.definitions:
            if any(around in self.again for around in self._path(definition)):
                self.obstacles.append(Obstacle(f"`{snippet(definition)}` stands where the elements are reduced"))
        for draft in self.group:
            statement = self.scope.statement(draft.found.node)
            alone = [d for d in self.group if self.scope.statement(d.found.node) is statement] == [draft]
            if self._in_chain(draft) and not (alone and takes_lines(draft.found.node, self.scope)):
                self.obstacles.append(Obstacle(f"`{snippet(statement)}` is not rewritten as a whole"))
        if self.lines and self._refused(self.anchor):
            self.obstacles.append(_NO_PLACE)

    def _in_chain(self, draft: Draft) -> bool:
        """Whether a reduction stands in an `if` that is written anew."""
        return any(around in self.again for around in self.scope.ancestors(draft.found.node))

    def _arm(self, draft: Draft) -> list[ast.stmt] | None:
        """The statements of the side that selects, where only one does."""
        if draft.sided is None:
            return None
        return draft.sided[0].body if draft.sided[1] else draft.sided[0].orelse

    def _in_arm(self, node: ast.AST, draft: Draft) -> bool:
        arm = self._arm(draft)
        return arm is None or any(around in arm for around in self._path(node))

    def _path(self, node: ast.AST) -> list[ast.stmt]:
        """The statements round a node, the outermost first."""
        whole = whole_of(node) if isinstance(node, ast.Assign) else node
        around = [whole, *self.scope.ancestors(whole)]
        return [a for a in around if isinstance(a, ast.stmt) and a is not self.scope.function.node][::-1]

    def _anchor(self) -> ast.stmt:
        """The statement before which the lines stand: the first definition, where all that uses them runs behind it.

        Else the first statement of a block that all that uses them stands in.
        """
        every = [(node, draft) for draft in self.group for node in (*draft.elements.definitions, draft.found.node)]
        paths = [self._path(node) for node, draft in every if self._in_arm(node, draft)]
        first = whole_of(self.definitions[0])
        behind = self._surely_behind(first)
        if all(any(statement in behind for statement in path) for path in paths):
            return first
        level, last = 0, min(len(path) for path in paths) - 1
        while level < last and all(path[level] is paths[0][level] for path in paths):
            level += 1
        return min((path[level] for path in paths), key=lambda s: s.lineno)

    def _surely_behind(self, first: ast.stmt) -> list[ast.stmt]:
        """The statements that run only where a statement did, or before it in its block: the other side has left."""
        around, behind = first, list(self.scope.block(first))
        while isinstance(above := self.scope.parents.get(around), ast.If):
            other = above.orelse if around in above.body else above.body
            if not other or not isinstance(other[-1], ast.Return | ast.Raise):
                break
            around = above
            behind += [statement for statement in self.scope.block(around) if statement is not around]
        return behind

    def _refused(self, anchor: ast.stmt) -> bool:
        """Whether the lines cannot stand before a statement."""
        arms = [arm for draft in self.group if (arm := self._arm(draft)) is not None]
        line = self.scope.function.module.lines[anchor.lineno - 1].encode()[: anchor.col_offset]
        if any(self.scope.block(anchor) is not arm for arm in arms) or line.strip():
            return True
        if anchor is whole_of(self.definitions[0]):
            return False
        if is_elif(anchor, self.scope) or not isinstance(self.mask.node, ast.Name):
            return True
        known = self.scope.facts.env_before.get(anchor, {})
        codes = (self._plain(line.partition(" = ")[2]) for line in self.lines)
        read = {name for code in codes for name in re.findall(r"[^\W\d]\w*", code)} & set(known)
        wholes = set(wholes_of(self.definitions))
        stores = (store for name in read for store in self.scope.names(name, stores=True))
        later = any(s.lineno >= anchor.lineno and self.scope.statement(s) not in wholes for s in stores)
        return later or not all(known[name].is_tensor for name in read)  # on another way it may be None

    def edits(self) -> Iterator[Edit]:
        """The edits."""
        gone: list[ast.stmt] = []
        if self.lines and self.anchor is not whole_of(self.definitions[0]):
            yield self.scope.before(self.anchor, "\n".join(self.lines), **self.template.parts)
        for whole in wholes_of(self.definitions):
            own = [d for d in self.definitions if whole_of(d) is whole]
            lines = list(self.lines) if whole is self.anchor else []
            if all(self._plain(self.codes[d] or "0") == _name(d) for d in own):
                if lines:
                    yield self.scope.edit(whole, "\n".join(lines), **self.template.parts)
                else:
                    gone.append(whole)
            elif lines:
                targets = ", ".join(_name(d) for d in own)
                values = ", ".join(self.codes[d] or self.template.use(d.value) for d in own)
                lines.append(f"{targets} = {values}")
                yield self.scope.edit(whole, "\n".join(lines), **self.template.parts)
            else:
                for definition in own:
                    code = self.codes[definition]
                    if code is not None:
                        yield self.scope.edit(definition.value, code, **self.template.parts)
        yield from (self.scope.edit(statement, "") for statement in self._emptied(gone))
        for top, name in self.again.items():
            yield self.scope.edit(top, self._chain(top, name), **self.template.parts)
        for draft, code in self.reduced.items():
            if not self._in_chain(draft):
                yield self.scope.edit(draft.found.node, code, **self.template.parts)

    def _emptied(self, gone: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
        """The statements that go; an `if` of which nothing else is left goes as a whole."""
        empty = {
            around
            for statement in gone
            if isinstance(around := self.scope.parents.get(statement), ast.If)
            and not around.orelse
            and all(s in gone for s in around.body)
        }
        yield from sorted(empty, key=lambda s: s.lineno)
        yield from (s for s in gone if self.scope.parents.get(s) not in empty)

    def _chain(self, top: ast.If, name: str) -> str:
        """An `if` that reduces the elements of a name, with a last side that selects them."""
        lines: list[str] = []
        word, node = "if", top
        while True:
            lines.append(f"{word} {self.template.use(node.test)}:")
            lines += [f"    {self._statement(statement)}" for statement in node.body]
            if not node.orelse:
                return "\n".join([*lines, "else:", f"    {name} = {self._selected(name)}"])
            assert isinstance(node.orelse[0], ast.If)
            word, node = "elif", node.orelse[0]

    def _statement(self, statement: ast.stmt) -> str:
        for draft, code in self.reduced.items():
            if self.scope.statement(draft.found.node) is statement:
                return rewritten_statement(statement, draft.found.node, code, self.template)
        return self.template.use(statement)

    def _selected(self, name: str) -> str:
        """The elements of a name that the mask selects."""
        node = self.named or self.template.use(self.mask.node)
        if self.mask.broadcast:
            return f"{torch_name(self.scope)}.masked_select({name}, {node})"
        return f"{name}[{self.named or self.template.use(self.mask.index)}]"


def _name(definition: ast.Assign) -> str:
    assert isinstance(definition.targets[0], ast.Name)
    return definition.targets[0].id
