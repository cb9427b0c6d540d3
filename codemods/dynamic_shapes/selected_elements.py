"""An expression on the elements that a mask selects, written for all elements.

`f(a[m], b[m], 2)` becomes `f(a, b, 2)` where `f` treats each element by itself. The new expression is judged like a
branch that is always computed: it must not fail, and its derivative must stay finite where the mask is false.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.statements import Interpreter
from compilefix.analysis.values import NOTHING, Value, replace
from compilefix.codemods.control_flow.finite_tests import finite_where, is_infinite
from compilefix.codemods.dynamic_shapes.atoms import code_of, places_of
from compilefix.codemods.dynamic_shapes.definitions import between_definitions, wholes_of
from compilefix.codemods.dynamic_shapes.derivatives import finite_at
from compilefix.codemods.dynamic_shapes.element_calls import ROWS
from compilefix.codemods.dynamic_shapes.mask_dimensions import same_dimensions
from compilefix.codemods.dynamic_shapes.masks import UNNAMED, laid_over
from compilefix.codemods.dynamic_shapes.selected_tree import SelectedTree
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet

_SEVERAL = 2
_MOST_NAMES = 3
_OVER_ROWS = frozenset({"softmax", "log_softmax", "logsumexp", "softmin"})
_MOST_NUMBERED = 3
_SAFE_CONSTANTS = (1, 2, 0)  # integers: beside them a tensor keeps its dtype


@dataclass
class Elements(SelectedTree):
    """The expression for all elements, what is known of it, and its code.

    over_codes: how the mask is written with the dimensions of a tensor. safe_codes: how bases are, with a harmless
    number where the mask is false. fills: the same by the base. named: statements that the code needs before it.
    hoists: mask and tensor that get a name before it, as their dimensions are asked. before: lines that the code needs
    before it, which use what it uses.
    """

    over_codes: list[str] = field(default_factory=list)
    safe_codes: list[str] = field(default_factory=list)
    fills: dict[str, str] = field(default_factory=dict)
    named: list[str] = field(default_factory=list)
    hoists: dict[str, ast.expr] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    _names_before: list[str] = field(default_factory=list)

    def evaluate(self, tree: ast.expr) -> Value:
        """What is known of the new expression."""
        env = {**self.scope.facts.env_before.get(self.at, {}), **self.values()}
        walk = Interpreter(self.scope.legality.inference, self.scope.function, {})
        walk.facts = self.scope.facts
        return walk.eval(tree, env)

    def judge(self, tree: ast.expr) -> Value:
        """Evaluate the tree for all elements, and note what stands in the way of computing it."""
        legality, facts = self.scope.legality, self.scope.facts
        self._judge_placed(tree)
        value = self.evaluate(tree)
        effects = legality.effects.of(tree, facts)
        for reason in (effects.random, effects.mutates, effects.host):
            if reason is not None:
                self._refuse(f"the computation is not free of effects: {reason}")
        if not any(o.assumption == ROWS for o in self.obstacles):
            for reason in (effects.raises, effects.unknown):
                if reason is not None:
                    self.obstacles.append(Obstacle(f"it may fail where the mask is false: {reason}", "branches-total"))
        effects = legality.effects.of(self.mask.node, facts)
        for reason in (effects.random, effects.mutates, effects.unknown):
            if reason is not None:
                self._refuse(f"the mask is not free of effects: {reason}")
        return value

    def _judge_placed(self, tree: ast.expr) -> None:
        """Refuse what would have to be put in places beside something of other dimensions than a tensor's own."""
        kinds = self.row_bases | self.spread_bases | set(self.column_bases) | self._indices
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
        added = any(isinstance(n, ast.Subscript) for n in ast.walk(tree)) or any(
            (isinstance(n.func, ast.Attribute) and n.func.attr == "unsqueeze")
            or any(k.arg in ("dim", "axis", "keepdim") for k in n.keywords)
            for n in calls
        )
        layers = any(obstacle.assumption == ROWS for obstacle in self.obstacles)
        for text, node in self.placed.items():
            if self.kept or kinds or added or layers or not self.bases:
                self._refuse(f"`{text}` is not proved to be one number: it may have an element for each true value")
                continue
            base = self.bases[0]
            rows, over, whole = (self.scope.value(part).rank for part in (node, self.mask.node, self.atoms[base]))
            if rows is not None and over is not None and whole is not None:
                if rows > whole - over + 1:
                    self._refuse(f"`{text}` meets the selected elements in pairs")
            else:
                reason = f"`{base}` is not proved to have as many dimensions behind those of the mask as `{text}`"
                self.obstacles.append(Obstacle(reason, "enough-dimensions"))

    def once(self) -> None:
        """Note what the mask selects from where that must be evaluated no more than once: the code may do so again."""
        if any(self.scope.value(atom).leaves for atom in self.atoms.values()):
            self.obstacles.extend(self.scope.recomputed(self.mask.node, set(ast.walk(self.at))))
        legality, facts = self.scope.legality, self.scope.facts
        for text in self.bases:
            does = legality.effects.of(self.atoms[text], facts)
            for reason in (does.random, does.mutates, does.host, does.unknown):
                if reason is not None:
                    self._refuse(f"`{snippet(self.atoms[text])}` would be evaluated more than once: {reason}")

    def must_fit(self, tensor: ast.expr) -> None:
        """Note that the mask is not proved to fit the tensor, where only the mask is asked: the index raised."""
        found = laid_over(self.mask, tensor, self.scope, "")[1]
        reason = f"`{snippet(self.mask.node)}` is not proved to have the shape of `{snippet(tensor)}`"
        unnamed = [Obstacle(reason, "same-shape-dtype")] if UNNAMED in found else []
        self.obstacles.extend(unnamed or [o for o in found if o.assumption == "same-shape-dtype"])

    def over(self, tensor: ast.expr, template: Template) -> str:
        """Code for the mask with the dimensions of a tensor."""
        plain = template.use(self.mask.node)
        if isinstance(self.mask.node, ast.Name):
            plain = self.mask.node.id
        code, obstacles = laid_over(self.mask, tensor, self.scope, plain)
        if UNNAMED in obstacles:
            names = self._hoisted_name("mask", self.mask.node), self._hoisted_name("values", tensor)
            if names[0] is not None and names[1] is not None:
                plain = names[0] if names[0] in self.hoists else plain
                code, obstacles = laid_over(self.mask, tensor, self.scope, plain, names)
            if names[0] in self.hoists:
                self.over_codes.append(code)
                self.obstacles.extend(o for o in obstacles if o not in self.obstacles)
                return code
        if code != plain and not isinstance(self.mask.node, ast.Name):
            code = code.replace(plain, f"({plain})")
        self.obstacles.extend(o for o in obstacles if o not in self.obstacles)
        self.over_codes.append(code)
        return code

    def mask_name(self) -> str | None:
        """A name for what has the dimensions of the mask, which gets one before the statement where it has none."""
        return self._hoisted_name("mask", self.mask.node)

    def _hoisted_name(self, wanted: str, node: ast.expr) -> str | None:
        """The name of a mask or tensor whose dimensions are asked; one before the statement where it has none."""
        own = same_dimensions(node, self.scope) if wanted == "mask" else None
        if own is not None:
            return own
        if isinstance(node, ast.Name | ast.Attribute):
            return ast.unparse(node)
        known = next((name for name, other in self.hoists.items() if other is node), None)
        name = known or free_name(wanted, self.scope, self.hoists)
        self.hoists[name] = node
        return name

    def with_names(self, code: str, template: Template, hoists: Mapping[str, ast.expr] | None = None) -> str:
        """The code with the names of what gets one before it, also before that of others: `hoists`."""
        for token, part in template.parts.items():
            if hoists is None:
                name = next((name for name, node in self.hoists.items() if node is part), None)
            else:
                name = next((name for name, node in hoists.items() if ast.dump(node) == ast.dump(part)), None)
            if name is not None:
                code = re.sub(rf"(?<![\w\])])\(\{{{token}\}}\)", name, code).replace(f"{{{token}}}", name)
        return code

    def replaced(self, tree: ast.expr, value: Value, over: str, template: Template) -> dict[str, str]:
        """Code for bases that need a harmless number where the mask is false, as the derivative is not finite there.

        Also for what has one row for each true value, which is put in its place.
        """
        found = self._harmless(tree, value, over, template)
        others = [text for text in self.placed if text not in found]
        return {**found, **{text: self._in_places(text, "1", template) for text in others}}

    def _harmless(self, tree: ast.expr, value: Value, over: str, template: Template) -> dict[str, str]:
        if isinstance(tree, ast.Name):
            return {}  # the elements as they are: what selects them gives the others no gradient
        found = list(self.underivable(tree, value))
        if not found:
            return {}
        if (filled := self._over_infinity(tree)) is not None:
            reason = f"`{snippet(filled)}` is NaN where a row is filled as a whole, and so is its gradient"
            self.obstacles.append(Obstacle(f"{reason}: the mask may keep such rows out"))
        values = self.values()
        bases = [text for text in self.bases if text not in self._indices]  # a gradient does not go to integers
        bases += self.placed
        known = {text: v.const.value for text, v in values.items() if v.const is not None}
        if not any(values[text].dtype in ("bool", "complex") for text in bases):
            # A number that is not known may be one at which the derivative is not finite.
            usual = dict.fromkeys(values, 1)
            for chosen in self._harmless_numbers(bases):
                if finite_at(tree, {**usual, **known, **chosen}, bases, self.scope.facts.refs):
                    # Nor is anything known of the first row of a table, which is taken where the mask is false.
                    # And what is put in places may be one number, or one row, that is not known either.
                    certain = {text: number for text, number in chosen.items() if text not in self.placed}
                    if self._indices or not finite_at(tree, {**known, **certain}, bases, self.scope.facts.refs):
                        self.obstacles.extend(found)
                    return {
                        text: self._in_places(text, str(number), template)
                        if text in self.placed
                        else self.filled(text, str(number), over, template)
                        for text, number in chosen.items()
                    }
        self.obstacles.extend(found)
        # What the mask keeps NaN out of is filled in any case: its gradient would be NaN for sure.
        finite = {ast.dump(tensor) for tensor in finite_where(self.mask.node, self.scope)}
        kept_out = [text for text in self.bases if ast.dump(self.atoms[text]) in finite and text not in self._indices]
        return {text: self.filled(text, "1", over, template) for text in kept_out}

    def underivable(self, tree: ast.expr, value: Value) -> Iterator[Obstacle]:
        """Why the derivative of an expression may not be finite where the mask is false."""
        same = replace(value, leaves=NOTHING)  # the tensors that take part are those that did
        yield from self.scope.legality.derivatives.gradients(
            tree, None, (same, same), self.scope.facts, frozenset(self.atoms)
        )

    def _harmless_numbers(self, bases: Sequence[str]) -> Iterator[dict[str, int]]:
        """Numbers for the bases at which an expression may have a finite derivative: the plainest first."""
        yield from (dict.fromkeys(bases, number) for number in _SAFE_CONSTANTS)
        yield {text: number for number, text in enumerate(bases, 1)}
        # `sqrt(a * a - 4 * b)` has one where `a` is larger, and `sqrt(-a)` below zero, where some dtypes have nothing.
        values = self.values()
        signed = all(values[text].dtype == "float" for text in bases)
        numbers = (1, 3, 10, -1, -3) if signed else (1, 3, 10)
        if len(bases) <= _MOST_NUMBERED:
            yield from (dict(zip(bases, some, strict=True)) for some in product(numbers, repeat=len(bases)))

    def filled(self, text: str, number: str, over: str, template: Template) -> str:
        """Code for a base with a number in place of the elements that are not selected."""
        if text in self.spread_bases or self.column_bases.get(text) == 0:
            over = template.use(self.mask.node)
        if text in self.row_bases:
            over = f"{template.use(self.mask.node, operand=True)}[..., None]"
            self.over_codes.append(over)
        elif behind := self.column_bases.get(text, 0):
            over = f"{template.use(self.mask.node, operand=True)}[{', '.join(['...', *['None'] * behind])}]"
            self.over_codes.append(over)
        code = f"{where(self.scope)}({over}, {template.use(self.atoms[text])}, {number})"
        self.safe_codes.append(code)
        self.fills[text] = code
        return code

    def _in_places(self, text: str, number: str, template: Template) -> str:
        """A name for rows that are put where the mask is true, with a number in all other places.

        A number, one row for all, or what is laid along the last dimensions, stays as it is: the sizes tell.
        """
        scope, mask = self.scope, self.mask.node
        base = self.atoms[self.bases[0]]
        ranks = [scope.value(node).rank for node in (self.placed[text], base, mask)]
        rows = self._named_before("rows", self.placed[text], template)
        over = self._named_before("selected", mask, template)
        asked = self._hoisted_name("values", base) if None in ranks[1:] else None
        behind = f"{asked}.dim() - {over}.dim()" if None in ranks[1:] else str((ranks[1] or 0) - (ranks[2] or 0))
        laid = over if ranks[0] == 1 else f"{over}[(...,) + (None,) * ({rows}.dim() - 1)]"
        size = f"{over}.shape" if ranks[0] == 1 else f"{over}.shape + {rows}.shape[1:]"
        name = free_name("placed", scope, [*self.hoists, *self._names_before])
        self._names_before.append(name)
        put = [f"    else {rows}.new_full({size}, {number}).masked_scatter({laid}, {rows})"]
        if ranks[0] != 1:
            put = [f"    else {rows}.new_full({size}, {number}).masked_scatter(", f"        {laid}, {rows}", "    )"]
        alone = [f"    if {rows}.dim() <= {behind} or len({rows}) == 1"]
        self.before += [f"{name} = (", f"    {rows}", *alone, *put, ")"]
        return name

    def _named_before(self, wanted: str, node: ast.expr, template: Template) -> str:
        """The name of a tensor that is used several times; one before the statement where it has none."""
        if isinstance(node, ast.Name | ast.Attribute):
            return ast.unparse(node)
        name = free_name(wanted, self.scope, [*self.hoists, *self._names_before])
        self._names_before.append(name)
        self.before.append(f"{name} = {template.use(node)}")
        return name

    def hoisted(self, code: str) -> tuple[list[str], str]:
        """Statements that name the mask, and the safe bases that it stands in, where they are used more than once."""
        texts = [*((text, "selected") for text in self.over_codes), *((text, "safe") for text in self.safe_codes)]
        lines: list[str] = []
        named: dict[str, str] = {}
        whole = "\n".join([*self.before, code])
        for candidate, wanted in texts:
            text = candidate
            for old, new in named.items():
                text = text.replace(old, new)
            if "(" in text and whole.count(text) > 1:
                free = free_name(wanted, self.scope, [*self.hoists, *self.before, *self._names_before, *lines])
                lines.append(f"{free} = {text}")
                named[text] = free
                whole = whole.replace(text, free)
        *before, code = whole.split("\n")
        return [*self.named, *lines, *before], code

    def edits(self, node: ast.AST, lines: Sequence[str], template: Template) -> tuple[Edit, ...]:
        """The replacement of a statement or expression, of which only the last line must stay where it is.

        The definitions go. Where lines come first they take the place of the first definition, and keep its comments,
        unless they read what is given its value behind it.
        """
        definitions = wholes_of(self.definitions)
        edits = [self.scope.edit(definition, "") for definition in definitions]
        if definitions and len(lines) > 1 and not self._given_later(lines[:-1], template):
            edits[0] = self.scope.edit(definitions[0], "\n".join(lines[:-1]), **template.parts)
            lines = lines[-1:]
        return (*edits, self.scope.edit(node, "\n".join(lines), **template.parts))

    def _given_later(self, lines: Sequence[str], template: Template) -> bool:
        """Whether lines read a name that gets a value between the definitions and the statement that uses them."""
        read = set(re.findall(r"[^\W\d]\w*", "\n".join(lines)))
        for token in read & set(template.parts):
            read |= {n.id for n in ast.walk(template.parts[token]) if isinstance(n, ast.Name)}
        between = between_definitions(self.definitions, self.at, self.scope)
        return any(
            isinstance(n, ast.Name) and n.id in read and not isinstance(n.ctx, ast.Load)
            for part in between
            for n in ast.walk(part)
        )

    def steps(self, tree: ast.expr, template: Template, replaced: Mapping[str, str]) -> tuple[list[str], str]:
        """Statements for the definitions that the tree uses several times, under their names, and its code then."""
        lines: list[str] = []
        names: dict[int, str] = {}
        places = places_of(tree)
        used = {n.id for atom in self.atoms.values() for n in ast.walk(atom) if isinstance(n, ast.Name)}
        for (definition, _), part in self._taken.items():  # what a definition uses was taken before it
            if part is None or isinstance(part, ast.Name) or places[id(part)] < _SEVERAL:
                continue
            target = definition.targets[0]
            own = target.id if isinstance(target, ast.Name) else "elements"
            name = own if own not in used else free_name(own, self.scope, used)
            lines.append(f"{name} = {code_of(part, self.atoms, template, replaced, names)}")
            names[id(part)] = name
            used.add(name)
        return lines, code_of(tree, self.atoms, template, replaced, names)

    def _over_infinity(self, tree: ast.expr) -> ast.expr | None:
        """A softmax of what is filled with infinity: `F.softmax(x.masked_fill(~mask, -torch.inf), dim=1)`."""
        for node in ast.walk(tree):
            called = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and called in _OVER_ROWS and self._is_filled(node):
                return node
        return None

    def _is_filled(self, node: ast.expr, depth: int = 0) -> bool:
        """Whether infinity stands in an expression, or in what its names are given."""
        for part in ast.walk(node):
            if is_infinite(part, self.scope):
                return True
            if not isinstance(part, ast.Name) or depth > _MOST_NAMES:
                continue
            atom = self.atoms.get(part.id)
            given = [atom] if atom is not None and not isinstance(atom, ast.Name) else []
            for store in self.scope.names(atom.id if isinstance(atom, ast.Name) else part.id, stores=True):
                statement = self.scope.parents.get(store)
                given += [statement.value] if isinstance(statement, ast.Assign) else []
            if any(self._is_filled(value, depth + 1) for value in given):
                return True
        return False

    def code(self, tree: ast.expr, template: Template, replaced: Mapping[str, str]) -> str:
        """The code of a tree; `replaced` holds other code for some of the atoms."""
        return code_of(tree, self.atoms, template, replaced, self.held_names())
