"""An expression on the elements that a mask selects, written for all elements.

`f(a[m], b[m], 2)` becomes `f(a, b, 2)` where `f` treats each element by itself. The new expression is judged like a
branch that is always computed: it must not fail, and its derivative must stay finite where the mask is false. The
parts that it takes over unchanged (`a`, `b`, `2`) are atoms: names whose text is the code that they stand for.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.statements import Interpreter
from compilefix.analysis.values import Const, Kind, Value
from compilefix.codemods.conditions import is_tensor_test
from compilefix.codemods.control_flow.finite_tests import finite_where
from compilefix.codemods.default_numbers import is_number_by_default
from compilefix.codemods.dynamic_shapes.atoms import code_of, known_value, place, places_of, size_of
from compilefix.codemods.dynamic_shapes.definitions import (
    Origin,
    Way,
    between_definitions,
    definition_of,
    origin_of,
    wholes_of,
)
from compilefix.codemods.dynamic_shapes.derivatives import finite_at
from compilefix.codemods.dynamic_shapes.element_calls import CONVERSIONS, ROWS, by_element
from compilefix.codemods.dynamic_shapes.flat_rows import laid_flat
from compilefix.codemods.dynamic_shapes.masks import (
    UNNAMED,
    Mask,
    boolean,
    laid_over,
    masked_select_of,
    moved_beside,
    same_dimensions,
)
from compilefix.codemods.dynamic_shapes.row_layers import looks_up
from compilefix.codemods.dynamic_shapes.row_operations import dimension, row_operation
from compilefix.codemods.dynamic_shapes.spreads import Spread, spread_of
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Template, where
from compilefix.source.snippets import snippet

_SEVERAL = 2
_LARGEST = 2_000  # what is made of the elements is judged as one expression, with all that it is made of
_CLASS_LOSSES = frozenset({"torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss"})
_CASTS = CONVERSIONS | {"long"}
_IGNORED_CLASS = -100
_REDUCTIONS = frozenset({"mean", "sum", "std", "var", "amax", "amin", "prod"})
_SAFE_CONSTANTS = (1, 2, 0)  # integers: beside them a tensor keeps its dtype


@dataclass
class Elements:
    """The expression for all elements.

    atoms: what an atom stands for. bases: the atoms that the mask selected from. definitions: earlier statements
    `name = a[m]` that the expression takes in, and that go. over_codes: how the mask is written with the dimensions of
    a tensor. safe_codes: how bases are, with a harmless number where the mask is false. fills:
    the same by the base. reductions: what
    reduces the same elements, and whether only over the rows: it may stand as one number, or as one row, beside the
    elements. reduced: those for which there is other code: they are atoms. row_bases: the bases of which each row is
    made one number, with the last dimension. spread_bases: those that have one number for each row, which is laid over
    it. column_bases: those of which a number of each row is read, and how many dimensions stand behind those of the
    mask. named: statements that the code needs before it. hoists: mask and tensor
    that get a name before it, as their dimensions are asked. before: lines that the code needs before it, which use
    what it uses. joining: whether a name counts to which an `if` gives its value. assumed: which side is taken of an
    `if` that selects on one side only, by the text of its test. kept: whether the definitions stay, with all elements
    under their names, as an `if` decides which of them counts. flat: whether rows, or numbers, may be laid flat, as the
    arguments of a loss over classes are.
    """

    mask: Mask
    scope: Scope
    at: ast.stmt
    atoms: dict[str, ast.expr] = field(default_factory=dict)
    bases: list[str] = field(default_factory=list)
    definitions: list[ast.Assign] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    over_codes: list[str] = field(default_factory=list)
    safe_codes: list[str] = field(default_factory=list)
    fills: dict[str, str] = field(default_factory=dict)
    reductions: Mapping[ast.expr, bool] = field(default_factory=dict)
    reduced: frozenset[ast.expr] = frozenset()
    row_bases: set[str] = field(default_factory=set)
    named: list[str] = field(default_factory=list)
    hoists: dict[str, ast.expr] = field(default_factory=dict)
    before: list[str] = field(default_factory=list)
    spread_bases: set[str] = field(default_factory=set)
    column_bases: dict[str, int] = field(default_factory=dict)
    joining: bool = False
    assumed: Mapping[str, bool] = field(default_factory=dict)
    kept: bool = False
    flat: bool | None = None
    _in_row: bool = False
    _in_spread: bool = False
    _indices: set[str] = field(default_factory=set)
    _sizes: dict[int, int] = field(default_factory=dict)
    _reduced_rows: set[ast.expr] = field(default_factory=set)
    _taken: dict[tuple[ast.Assign, bool], ast.expr | None] = field(default_factory=dict)
    _joins: dict[int, tuple[ast.expr, str]] = field(default_factory=dict)
    _origins: dict[tuple[ast.expr, ast.stmt], Origin] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.mask.broadcast:  # else the operation itself refuses other tensors
            self.obstacles.extend(boolean(self.mask.node, self.scope))

    def take(self, node: ast.expr, at: ast.stmt | None = None) -> ast.expr | None:
        """The tree for an expression; None, with an obstacle noted, where it is not made element by element.

        `at` is the statement that it stands in, where that is a definition taken in.
        """
        at = at or self.at
        base = self._base(node)
        if base is not None:
            text = self._atom(base)
            if text in self.bases and self._in_row != (text in self.row_bases):
                return self._refuse(f"`{text}` is used with its last dimension and without")
            if text in self.column_bases:
                return self._refuse(f"`{text}` is used whole and by columns")
            if text in self.bases and self._in_spread != (text in self.spread_bases):
                return self._refuse(f"`{text}` is used with dimensions behind its own and without")
            if text not in self.bases:
                self.bases.append(text)
            if self._in_row:
                self.row_bases.add(text)
            if self._in_spread:
                self.spread_bases.add(text)
            return place(ast.Name(text, ast.Load()), node)
        column = self._column(node)
        if column is not None:
            return column
        if node in self.reduced and self.scope.value(node).is_scalar_tensor:
            return place(ast.Name(self._atom(node), ast.Load()), node)
        held = self._held(node, at)
        if held is not None:
            assert isinstance(node, ast.Name)
            part = self._joined(node, held)
            if part is not None and size_of(part, self._sizes) > _LARGEST:
                return self._refuse(f"`{snippet(node)}` is made in too many steps")
            return part
        if not self.selects(node, at):
            return self._operand(node, at)
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            left, right = self.take(node.left, at), self.take(node.right, at)
            if left is None or right is None or not self.aligned([left, right], node):
                return None
            return place(ast.BinOp(left, node.op, right), node)
        if isinstance(node, ast.UnaryOp) and not isinstance(node.op, ast.Not):
            operand = self.take(node.operand, at)
            return None if operand is None else place(ast.UnaryOp(node.op, operand), node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right = self.take(node.left, at), self.take(node.comparators[0], at)
            if left is None or right is None or not self.aligned([left, right], node):
                return None
            return place(ast.Compare(left, node.ops, [right]), node)
        if isinstance(node, ast.IfExp):
            return self._either(node, at)
        spread = spread_of(node, self.scope)
        laid = spread is not None and (not spread.any_rank or self._is_vector(spread.tensor))
        if spread is not None and self.selects(spread.tensor, at):
            kept = self._kept_row(spread, at)
            if kept is not None:
                return kept
            if laid:
                return self._spread(node, spread, at)
        if isinstance(node, ast.Call):
            return self._call(node, at)
        if isinstance(node, ast.Subscript) and not self.selects(node.value, at):
            return self._picked(node, at)
        return self._refuse(f"`{snippet(node)}` is not computed element by element")

    def one_sided(self, node: ast.AST, at: ast.stmt | None = None) -> dict[str, tuple[ast.If, bool]]:
        """The `if`s behind which names in an expression hold selected elements, on the side that is told only."""
        found: dict[str, tuple[ast.If, bool]] = {}
        for name in (n for n in ast.walk(node) if isinstance(n, ast.Name)):
            waiting = [self._held(name, at or self.at)]
            while waiting:
                held = waiting.pop()
                if isinstance(held, ast.Assign):
                    found |= self.one_sided(held.value, held)
                elif isinstance(held, Way):
                    waiting += [held.body, held.orelse]
                    if held.body is None or held.orelse is None:
                        found[ast.dump(held.statement.test)] = held.statement, held.orelse is None
        return found

    def _joined(self, name: ast.Name, held: Origin) -> ast.expr | None:
        """The tree for what a name holds: that of its definition, or one for each side of an `if`."""
        if held is None:
            return self._refuse(f"`{name.id}` holds selected elements on one way only")
        if isinstance(held, Way):
            if self.selects(held.statement.test, held.statement):
                return self._refuse(f"`{snippet(held.statement.test)}` asks for the selected elements")
            body, other = self._joined(name, held.body), self._joined(name, held.orelse)
            if body is None or other is None:
                return None
            joined = place(ast.IfExp(self._other(held.statement.test), body, other), name)
            self._joins[id(joined)] = joined, name.id
            return joined
        if held not in self.definitions:
            self.definitions.append(held)
        inner = self._in_row or self._in_spread
        if (held, inner) not in self._taken:
            part = self.take(held.value, held)
            # Another name for the same elements: each has its own tree, for the first may be given others later.
            self._taken[held, inner] = copy.copy(part) if isinstance(held.value, ast.Name) else part
        return self._taken[held, inner]

    def _either(self, node: ast.IfExp, at: ast.stmt) -> ast.expr | None:
        """`x[m] if scaled else 0.5`: what Python decides on is no tensor, and the same for all elements."""
        if self.selects(node.test, at) or is_tensor_test(node.test, self.scope):
            return self._refuse(f"`{snippet(node.test)}` may be a tensor")
        body, other = self.take(node.body, at), self.take(node.orelse, at)
        if body is None or other is None:
            return None
        return place(ast.IfExp(self._other(node.test), body, other), node)

    def _picked(self, node: ast.Subscript, at: ast.stmt) -> ast.expr | None:
        """`table[i[m]]`: a row for each index, the first one where the mask is false."""
        table, index = self.scope.value(node.value), self.scope.value(node.slice)
        if not (table.is_tensor and index.is_tensor and index.dtype == "int"):
            return self._refuse(f"`{snippet(node)}` is not computed element by element")
        chosen = self._indexing(node.slice, at, node)
        if chosen is None:
            return None
        self.obstacles.append(Obstacle(f"`{snippet(node.value)}` may have no rows", "branches-total"))
        return place(ast.Subscript(place(ast.Name(self._atom(node.value), ast.Load()), node), chosen, ast.Load()), node)

    def _indexing(self, index: ast.expr, at: ast.stmt, node: ast.expr) -> ast.expr | None:
        """Selected numbers of rows, and that of the first row where the mask is false: there it may be none."""
        if self.mask.broadcast or self.mask.leading or self.mask.last or self._in_row:
            return self._refuse(f"`{snippet(node)}` is not computed element by element")
        known = set(self.bases)
        taken = self.take(index, at)
        if taken is None:
            return None
        self._indices |= set(self.bases) - known
        for text in sorted(set(self.bases) - known):
            if not self._has_shape_of_mask(text):
                reason = f"`{text}` is not proved to have the shape of `{snippet(self.mask.node)}`"
                self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
        return self._chosen(taken, 0, node)

    def _has_shape_of_mask(self, text: str) -> bool:
        """Whether what an atom stands for is proved to have the mask's shape."""
        mask = self.scope.value(self.mask.node)
        return mask.shape_id is not None and mask.shape_id == self.scope.value(self.atoms[text]).shape_id

    def selects(self, node: ast.AST, at: ast.stmt | None = None) -> bool:
        """Whether an expression holds something that the mask selects."""
        at = at or self.at
        return any(
            self._base(n) is not None or self._is_column(n) or self._held(n, at) is not None
            for n in ast.walk(node)
            if isinstance(n, ast.expr)
        )

    def first_selection(self, node: ast.AST, at: ast.stmt | None = None) -> ast.expr | None:
        """Where the elements of an expression are first selected, in it or in a definition: there the graph breaks."""
        parts = [n for n in ast.walk(node) if isinstance(n, ast.expr)]
        definitions = {d for n in parts for d in _statements(self._held(n, at or self.at))}
        for definition in sorted(definitions, key=lambda d: d.lineno):
            found = self.first_selection(definition.value, definition)
            if found is not None:
                return found
        return next((n for n in parts if self._base(n) is not None or self._is_column(n)), None)

    def _held(self, node: ast.expr, at: ast.stmt) -> Origin:
        """What gave a name selected elements, on all ways or on some; None where nothing did."""
        if not isinstance(node, ast.Name):
            return None
        if (node, at) not in self._origins:
            self._origins[node, at] = None  # in a loop a name may be made of itself
            plain = definition_of(node, at, self.scope, parts=True)
            joined = plain is None and self.joining
            self._origins[node, at] = self._selecting(origin_of(node, at, self.scope) if joined else plain)
            self.kept |= joined and self._origins[node, at] is not None
        return self._origins[node, at]

    def _selecting(self, origin: Origin) -> Origin:
        if isinstance(origin, Way):
            side = self.assumed.get(ast.dump(origin.statement.test))
            if side is not None:
                return self._selecting(origin.body if side else origin.orelse)
            sides = self._selecting(origin.body), self._selecting(origin.orelse)
            return None if sides == (None, None) else Way(origin.statement, *sides)
        if origin is None or origin.value in self.reductions:
            return None
        return origin if self.selects(origin.value, origin) else None

    def _base(self, node: ast.expr) -> ast.expr | None:
        if self.mask.broadcast:
            found = masked_select_of(node, self.scope)
            return found[0] if found is not None and ast.dump(found[1].node) == ast.dump(self.mask.node) else None
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and self.mask.same(node):
            value = self.scope.value(node.value)
            if self.mask.elsewhere(node):
                reason = f"`{snippet(node.value)}` is not proved to stand on the device of the mask"
                self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
            return node.value if value.is_tensor or value.is_unknown else None
        return None

    def _is_column(self, node: ast.expr) -> bool:
        """Whether a tensor is indexed with the mask and then with numbers or slices: `w[m, i, None]`, `w[m, :2]`."""
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and not self.mask.broadcast
            and not self.mask.leading
            and not self.mask.last
            and isinstance(node.slice, ast.Tuple)
            and len(node.slice.elts) > 1
            and ast.dump(node.slice.elts[0]) == ast.dump(self.mask.node)
            and all(self._is_number(part) or _is_fixed_slice(part) for part in node.slice.elts[1:])
            and not self.mask.same(node)
            and self.scope.value(node.value).is_tensor
        )

    def _is_number(self, node: ast.expr) -> bool:
        none = isinstance(node, ast.Constant) and node.value is None
        value = self.scope.value(node)
        return none or (value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int")

    def _column(self, node: ast.expr) -> ast.expr | None:
        """`w[..., i]` for `w[m, i]`: right where the numbers stand for all dimensions behind those of the mask."""
        if not self._is_column(node):
            return None
        assert isinstance(node, ast.Subscript)
        assert isinstance(node.slice, ast.Tuple)
        text = self._atom(node.value)
        behind = sum(not (isinstance(part, ast.Constant) and part.value is None) for part in node.slice.elts[1:])
        if self.column_bases.get(text, behind) != behind or (text in self.bases and text not in self.column_bases):
            return self._refuse(f"`{text}` is used whole and by columns")
        self.column_bases[text] = behind
        if text not in self.bases:
            self.bases.append(text)
        self.obstacles.append(
            Obstacle(f"`{snippet(node)}` is not proved to have one number for each row", "same-shape-dtype")
        )
        parts: list[ast.expr] = [place(ast.Constant(...), node)]
        for part in node.slice.elts[1:]:
            kept = isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value is None)
            parts.append(part if kept else place(ast.Name(self._atom(part), ast.Load()), part))
        index = place(ast.Tuple(parts, ast.Load()), node)
        return place(ast.Subscript(place(ast.Name(text, ast.Load()), node), index, ast.Load()), node)

    def _atom(self, node: ast.expr) -> str:
        text = ast.unparse(node)
        self.atoms.setdefault(text, node)
        return text

    def _operand(self, node: ast.expr, at: ast.stmt) -> ast.expr | None:
        value = self.scope.value(node)
        number = value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE) or value.is_scalar_tensor
        definition = definition_of(node, at, self.scope, parts=True)
        if not number and definition is not None and self.reductions.get(definition.value):
            number = True  # one row, which is the same for each
        if not number:
            reason = f"`{snippet(node)}` is not proved to be one number: it may have an element for each true value"
            kept = (value.is_unknown or self._is_parameter(value)) and _is_given(node, self.scope, at)
            if not kept and not self._is_reduced(node, at):
                return self._refuse(reason)
            self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
        return place(ast.Name(self._atom(node), ast.Load()), node)

    def _is_reduced(self, node: ast.expr, at: ast.stmt) -> bool:
        """Whether an operand is what all rows of a tensor are reduced to: it has none for each true value."""
        definition = definition_of(node, at, self.scope)
        made = node if definition is None else definition.value
        rows = self.mask.broadcast or self.mask.leading or self.mask.last or self._in_row or self._in_spread
        if rows or not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
            return False
        name = self.scope.callee(made) or ""
        given = (
            made.args if name.startswith("Tensor.") or self.scope.value(made.func.value).is_unknown else made.args[1:]
        )
        dims = [k.value for k in made.keywords if k.arg in ("dim", "axis")] or given[:1]
        each = [part for dim in dims for part in (dim.elts if isinstance(dim, ast.Tuple) else [dim])]
        over_rows = not dims or "0" in map(ast.unparse, each)
        return made.func.attr in _REDUCTIONS and over_rows and not self.selects(made, definition or at)

    def _is_parameter(self, value: Value) -> bool:
        """Whether a value is a parameter: its shape is that of the object, whatever the mask selects.

        Beside rows behind a whole dimension it would be broadcast along another one.
        """
        trained = value.is_tensor and value.leaves and any(token.startswith("self.") for token in value.storage)
        return bool(trained) and not (self.mask.broadcast or self.mask.leading or self.mask.last)

    def _call(self, node: ast.Call, at: ast.stmt) -> ast.expr | None:
        scope = self.scope
        name = scope.callee(node) or ""
        method = name.startswith("Tensor.") and isinstance(node.func, ast.Attribute)
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return self._refuse(f"`{snippet(node)}` passes an unknown number of arguments")
        laid = laid_flat(node, scope, columns=self.flat) if self.flat is not None else None
        if laid is not None and not (self._in_row or self._in_spread):
            self.obstacles.extend([] if laid[1] is None else [laid[1]])
            return self.take(laid[0], at)
        if name == "Tensor.to" and (moved := moved_beside(node)) is not None and self.selects(moved[1], at):
            reason = f"`{snippet(moved[0])}` is not proved to stand on the device of `{snippet(moved[1])}`"
            self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
            return self.take(moved[0], at)
        row = row_operation(node, name, scope)
        if row is not None:
            return self._row(node, row, dimension(node, name), method, at)
        if name in _CLASS_LOSSES and self._selects_rows():
            return self._class_losses(node, at)
        if name == "Tensor.squeeze" and not node.args and not node.keywords and isinstance(node.func, ast.Attribute):
            return self._squeezed(node, node.func.value, at)
        callee: ast.expr
        if method:
            assert isinstance(node.func, ast.Attribute)
            receiver = self.take(node.func.value, at)
            if receiver is None:
                return None
            callee = place(ast.Attribute(receiver, node.func.attr, ast.Load()), node.func)
        else:
            callee = node.func
            if self.selects(callee, at):
                return self._refuse(f"`{snippet(node.func)}` is not known")
        obstacle = by_element(node, name, method, scope)
        if obstacle is not None:
            self.obstacles.append(obstacle)
            if obstacle.assumption is None:
                return None
        short = name.rpartition(".")[2]
        args: list[ast.expr] = []
        for argument in node.args:
            plain = short in CONVERSIONS or short == "unsqueeze"
            if plain and not self.selects(argument, at):
                taken: ast.expr | None = self._other(argument)
            elif not args and self.selects(argument, at) and looks_up(scope.value(node.func)):
                taken = self._indexing(argument, at, node)
            else:
                taken = self.take(argument, at)
            if taken is None:
                return None
            args.append(taken)
        keywords: list[ast.keyword] = []
        for keyword in node.keywords:
            taken = self.take(keyword.value, at) if self.selects(keyword.value, at) else self._other(keyword.value)
            if taken is None:
                return None
            keywords.append(ast.keyword(keyword.arg, taken))
        given = [callee.value] if method and isinstance(callee, ast.Attribute) else []
        if not self.aligned([*given, *args, *(k.value for k in keywords)], node):
            return None
        return place(ast.Call(callee, args, keywords), node)

    def aligned(self, trees: Sequence[ast.expr], node: ast.expr) -> bool:
        """Whether what is computed together may have as many dimensions behind the selected one.

        Else the selected elements meet each other, and not each itself: `x[m] * x[m].unsqueeze(-1)`.
        """
        found = [self.behind(tree) for tree in trees]
        over = self.scope.value(self.mask.node).rank
        for one, other in permutations(found, 2):
            for (text, count), (other_text, other_count) in product(one.items(), other.items()):
                rank = self.scope.value(self.atoms[text]).rank if text else over
                other_rank = self.scope.value(self.atoms[other_text]).rank if other_text else over
                more = other_count - count  # so many dimensions more than the other one the first must have
                known = rank is not None and other_rank is not None and rank - other_rank != more
                if more > 0 and (known or text in ("", other_text)):
                    self._refuse(f"`{snippet(node)}` computes with pairs of the selected elements")
                    return False
                if more > 0 and (rank is None or other_rank is None):
                    reason = f"`{text}` is not proved to have as many dimensions as `{snippet(node)}` counts on"
                    self.obstacles.append(Obstacle(reason, "enough-dimensions"))
        return True

    def behind(self, tree: ast.expr) -> Mapping[str, int]:
        """How many dimensions stand behind the selected one: of rows of the mask's, else more than the base has."""
        if isinstance(tree, ast.Name):
            if tree.id in self.spread_bases or tree.id in self.row_bases:
                return {"": int(tree.id in self.row_bases)}
            return {tree.id: 0} if tree.id in self.bases and tree.id not in self.column_bases else {}
        if tree in self._reduced_rows:
            return {"": 0}
        if isinstance(tree, ast.Subscript):
            laid = isinstance(tree.slice, ast.Tuple) and ast.unparse(tree.slice.elts[0]) == "..."
            inside = list(ast.walk(tree.slice))
            added = sum(isinstance(n, ast.Constant) and n.value is None for n in inside)
            return {"": added + sum(isinstance(n, ast.Slice) for n in inside)} if laid else {}
        whole = tree.func if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute) else tree
        parts = [n for node in (whole, tree) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        found = {text: n for part in parts if part is not whole for text, n in self.behind(part).items()}
        more = isinstance(whole, ast.Attribute) and whole.attr == "unsqueeze"
        return {text: n + more for text, n in found.items()}

    def outside_rows(self, tree: ast.expr) -> Iterator[ast.AST]:
        """The parts of a tree but for what is made one number of each row."""
        waiting: list[ast.AST] = [tree]
        while waiting:
            part = waiting.pop()
            yield part
            if part not in self._reduced_rows:
                waiting.extend(ast.iter_child_nodes(part))

    def _is_vector(self, node: ast.expr) -> bool:
        """Whether all that an expression selects is proved to have one number for each true value of the mask."""
        over = self.scope.value(self.mask.node)
        bases = [b for n in ast.walk(node) if isinstance(n, ast.expr) and (b := self._base(n)) is not None]
        known = [self.scope.value(base) for base in bases]
        return bool(known) and all(
            (v.rank is not None and v.rank == over.rank) or (v.shape_id is not None and v.shape_id == over.shape_id)
            for v in known
        )

    def _spread(self, node: ast.expr, spread: Spread, at: ast.stmt) -> ast.expr | None:
        """`n[m][:, None]`: one number for each selected row, with dimensions of one element behind it."""
        whole = not (self.mask.broadcast or self.mask.leading or self.mask.last)
        if not whole or self._in_row or self._in_spread:
            return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
        self._in_spread = True
        taken = self.take(spread.tensor, at)
        self._in_spread = False
        if taken is None:
            return None
        over = self.scope.value(self.mask.node)
        for text in sorted(self.spread_bases):
            tensor = self.scope.value(self.atoms[text])
            if tensor.rank is not None and over.rank is not None and tensor.rank != over.rank:
                return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
            if not self._has_shape_of_mask(text) and (tensor.rank is None or over.rank is None):
                reason = f"`{text}` is not proved to have as many dimensions as `{snippet(self.mask.node)}`"
                self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
        none = place(ast.Constant(None), node)
        index: ast.expr
        if isinstance(spread.count, int):
            index = place(ast.Tuple([place(ast.Constant(...), node), *[none] * spread.count], ast.Load()), node)
        else:
            times = place(ast.Name(self._atom(spread.count), ast.Load()), node)
            behind = place(ast.BinOp(place(ast.Tuple([none], ast.Load()), node), ast.Mult(), times), node)
            before = place(ast.Tuple([place(ast.Constant(...), node)], ast.Load()), node)
            index = place(ast.BinOp(before, ast.Add(), behind), node)
        return place(ast.Subscript(taken, index, ast.Load()), node)

    def _kept_row(self, spread: Spread, at: ast.stmt) -> ast.expr | None:
        """`norm(x[m], dim=-1)[:, None]`: the dimension that went comes back behind the others, as with `keepdim`."""
        call = spread.tensor
        name = self.scope.callee(call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not name or spread.count != 1 or self._in_row or self._in_spread:
            return None
        if row_operation(call, name, self.scope) != "reduced" or any(k.arg == "keepdim" for k in call.keywords):
            return None
        method = name.startswith("Tensor.") and isinstance(call.func, ast.Attribute)
        taken = self._row(call, "kept", dimension(call, name), method, at, one=not spread.any_rank)
        if isinstance(taken, ast.Call):
            taken.keywords.append(ast.keyword("keepdim", place(ast.Constant(True), call)))
        return taken

    def _squeezed(self, node: ast.Call, operand: ast.expr, at: ast.stmt) -> ast.expr | None:
        """`x[m].squeeze()`: what is selected has one dimension, which goes only where it has one element."""
        taken = self.take(operand, at)
        if taken is None or self.mask.leading or self.mask.last or self._in_row:
            return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
        # One element without dimensions gives way to the dtype of what it is computed with.
        reason = f"`{snippet(operand)}` is not proved to have several elements in one dimension"
        self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
        return taken

    def _row(
        self, node: ast.Call, kind: str, dim: ast.expr | None, method: bool, at: ast.stmt, *, one: bool = False
    ) -> ast.expr | None:
        """An operation on the last dimension, which must be one behind those of the mask.

        One on the second dimension of what a mask selects goes along the first one behind those of the mask. With `one`
        rows must have one dimension.
        """
        partial = self.mask.broadcast or self.mask.leading or self.mask.last
        in_row = self._in_row
        const = self.scope.value(dim).const if dim is not None else None
        second = const is not None and const.value == 1
        moved = second and not self._selects_rows()
        if moved and not isinstance(self.mask.node, ast.Name):
            return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
        if partial or self._in_spread or (in_row and kind == "reduced"):
            return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
        self._in_row = in_row or kind == "reduced"
        source = node.func.value if method and isinstance(node.func, ast.Attribute) else node.args[0]
        taken = self.take(source, at)
        self._in_row = in_row
        if taken is None:
            return None
        inside = {n.id for n in ast.walk(taken) if isinstance(n, ast.Name)} & set(self.bases)
        of_rows = self.row_bases if kind == "reduced" else inside
        if not self._have_rows(of_rows, node, one=one or kind == "reduced"):
            return None
        over = place(ast.Name(self._atom(self.mask.node), ast.Load()), node)
        behind = place(ast.Call(place(ast.Attribute(over, "dim", ast.Load()), node), [], []), node)
        rest = [
            behind if moved and argument is dim else self._other(argument)
            for argument in (node.args if method else node.args[1:])
        ]
        keywords = [
            ast.keyword(k.arg, behind if moved and k.value is dim else self._other(k.value)) for k in node.keywords
        ]
        if method:
            assert isinstance(node.func, ast.Attribute)
            callee = place(ast.Attribute(taken, node.func.attr, ast.Load()), node.func)
            call = place(ast.Call(callee, rest, keywords), node)
        else:
            call = place(ast.Call(node.func, [taken, *rest], keywords), node)
        if kind == "reduced":
            self._reduced_rows.add(call)
        return call

    def _have_rows(self, bases: Collection[str], node: ast.expr, *, one: bool) -> bool:
        """Whether tensors have a dimension behind those of the mask, just `one` if so asked; else it is refused."""
        for text in sorted(bases):
            tensor, mask = self.scope.value(self.atoms[text]), self.scope.value(self.mask.node)
            rank, over = tensor.rank, mask.rank
            if mask.shape_id is not None and mask.shape_id == tensor.shape_id:
                self._refuse(f"`{snippet(node)}` goes over the selected elements, and not over rows of them")
                return False
            if rank is None or over is None:
                # Without one, what is selected has a single dimension, and the operation goes over all of it.
                reason = f"`{text}` is not proved to have one dimension more than `{snippet(self.mask.node)}`"
                self.obstacles.append(Obstacle(reason, "enough-dimensions"))
            elif rank <= over or (one and rank != over + 1):
                self._refuse(f"`{snippet(node)}` does not treat each element by itself")
                return False
        return True

    def _class_losses(self, node: ast.Call, at: ast.stmt) -> ast.expr | None:
        """`cross_entropy(x[m], y[m], reduction="none")`: the class of rows that are not selected is ignored."""
        keywords = {k.arg: k.value for k in node.keywords}
        reduction = self.scope.value(keywords["reduction"]).const if "reduction" in keywords else None
        partial = self.mask.broadcast or self.mask.leading or self.mask.last
        plain = len(node.args) == 2 and set(keywords) <= {"reduction", "weight", "label_smoothing"}
        if reduction != Const("none") or partial or not plain or self._in_row or self._in_spread:
            return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
        if any(self.selects(value, at) for value in keywords.values()):
            return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
        scores, labels = node.args
        self._in_row = True
        rows = self.take(scores, at)
        self._in_row = False
        known = set(self.bases)
        classes = self.take(labels, at)
        if rows is None or classes is None or not self._have_rows(self.row_bases, node, one=True):
            return None
        kind = self.scope.value(labels)
        given = classes
        while isinstance(given, ast.Call) and isinstance(given.func, ast.Attribute) and given.func.attr in _CASTS:
            given = given.func.value
        if kind.dtype == "float" or not isinstance(given, ast.Name):
            return self._refuse(f"the targets may be probabilities: `{snippet(labels)}`")
        if kind.dtype_id != "int64":
            self.obstacles.append(Obstacle(f"`{snippet(labels)}` is not proved to be int64", "same-shape-dtype"))
        for text in sorted(set(self.bases) - known):
            if not self._has_shape_of_mask(text):
                reason = f"`{text}` is not proved to have the shape of `{snippet(self.mask.node)}`"
                self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
        chosen = self._chosen(classes, _IGNORED_CLASS, node)
        others = [ast.keyword(k.arg, self._other(k.value)) for k in node.keywords]
        call = place(ast.Call(node.func, [rows, chosen], others), node)
        self._reduced_rows.add(call)
        return call

    def _chosen(self, tree: ast.expr, other: int, node: ast.expr) -> ast.expr:
        """What a tree gives where the mask is true, and an integer where it is false."""
        select = place(ast.parse(where(self.scope), mode="eval").body, node)
        mask = place(ast.Name(self._atom(self.mask.node), ast.Load()), node)
        return place(ast.Call(select, [mask, tree, place(ast.Constant(other), node)], []), node)

    def _selects_rows(self) -> bool:
        """Whether the mask has one dimension, so that the second one of what it selects is that of the whole tensor.

        It has where it says which numbers of a vector are written.
        """
        if self.scope.value(self.mask.node).rank == 1:
            return True
        targets = self.at.targets if isinstance(self.at, ast.Assign) else [getattr(self.at, "target", None)]
        written = [t.value for t in targets if isinstance(t, ast.Subscript) and self.mask.same(t)]
        return any(self.scope.value(tensor).rank == 1 for tensor in written)

    def _other(self, node: ast.expr) -> ast.expr:
        """An argument that is no tensor to compute with: a dtype, a device, a flag."""
        return place(ast.Name(self._atom(node), ast.Load()), node)

    def _refuse(self, reason: str) -> ast.expr | None:
        self.obstacles.append(Obstacle(reason))
        return None

    def values(self) -> Mapping[str, Value]:
        """What is known of the atoms."""
        return {text: known_value(node, self.scope) for text, node in self.atoms.items()}

    def evaluate(self, tree: ast.expr) -> Value:
        """What is known of the new expression."""
        env = {**self.scope.facts.env_before.get(self.at, {}), **self.values()}
        walk = Interpreter(self.scope.legality.inference, self.scope.function, {})
        walk.facts = self.scope.facts
        return walk.eval(tree, env)

    def judge(self, tree: ast.expr) -> Value:
        """Evaluate the tree for all elements, and note what stands in the way of computing it."""
        legality, facts = self.scope.legality, self.scope.facts
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

    def mask_name(self) -> str | None:
        """A name for what has the dimensions of the mask, which gets one before the statement where it has none."""
        return self._hoisted_name("mask", self.mask.node)

    def with_names(self, code: str, template: Template) -> str:
        """The code with the names of what gets one before it."""
        for token, part in template.parts.items():
            name = next((name for name, node in self.hoists.items() if node is part), None)
            if name is not None:
                code = re.sub(rf"(?<![\w\])])\(\{{{token}\}}\)", name, code).replace(f"{{{token}}}", name)
        return code

    def replaced(self, tree: ast.expr, value: Value, over: str, template: Template) -> dict[str, str]:
        """Code for bases that need a harmless number where the mask is false, as the derivative is not finite there."""
        legality, facts = self.scope.legality, self.scope.facts
        found = list(legality.gradients(tree, None, (value, value), facts, frozenset(self.atoms)))
        if not found:
            return {}
        values = self.values()
        bases = [text for text in self.bases if text not in self._indices]  # a gradient does not go to integers
        known = {text: v.const.value for text, v in values.items() if v.const is not None}
        if not any(values[text].dtype in ("bool", "complex") for text in bases):
            # A number that is not known may be one at which the derivative is not finite.
            usual = dict.fromkeys(values, 1)
            different = {text: number for number, text in enumerate(bases, 1)}
            for chosen in (*(dict.fromkeys(bases, number) for number in _SAFE_CONSTANTS), different):
                if finite_at(tree, {**usual, **known, **chosen}, bases, facts.refs):
                    # Nor is anything known of the first row of a table, which is taken where the mask is false.
                    if self._indices or not finite_at(tree, {**known, **chosen}, bases, facts.refs):
                        self.obstacles.extend(found)
                    return {text: self.filled(text, str(number), over, template) for text, number in chosen.items()}
        self.obstacles.extend(found)
        # What the mask keeps NaN out of is filled in any case: its gradient would be NaN for sure.
        finite = {ast.dump(tensor) for tensor in finite_where(self.mask.node, self.scope)}
        kept_out = [text for text in bases if ast.dump(self.atoms[text]) in finite]
        return {text: self.filled(text, "1", over, template) for text in kept_out}

    def filled(self, text: str, number: str, over: str, template: Template) -> str:
        """Code for a base with a number in place of the elements that are not selected."""
        if text in self.spread_bases:
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
                free = free_name(wanted, self.scope, [*self.hoists, *self.before, *lines])
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

    def code(self, tree: ast.expr, template: Template, replaced: Mapping[str, str]) -> str:
        """The code of a tree; `replaced` holds other code for some of the atoms."""
        return code_of(tree, self.atoms, template, replaced, self.held_names())

    def held_names(self, apart: ast.Assign | None = None) -> dict[int, str]:
        """The names of what stays under a name, by the identity of its tree; `apart`: but for this definition."""
        if not self.kept:
            return {}
        names = {key: name for key, (_, name) in self._joins.items()}
        for (definition, _), part in self._taken.items():
            if definition is not apart and part is not None and isinstance(definition.targets[0], ast.Name):
                names[id(part)] = definition.targets[0].id
        return names

    def tree_of(self, definition: ast.Assign) -> ast.expr | None:
        """The tree for what a definition gives its name."""
        return next(
            (part for (given, _), part in self._taken.items() if given == definition and part is not None), None
        )


def _statements(origin: Origin) -> list[ast.Assign]:
    """The statements that may have given a name its value."""
    if isinstance(origin, Way):
        return [*_statements(origin.body), *_statements(origin.orelse)]
    return [] if origin is None else [origin]


def _is_fixed_slice(node: ast.expr) -> bool:
    """Whether an index is a slice between written numbers: `:2`, `-2:`."""
    bounds = [node.lower, node.upper, node.step] if isinstance(node, ast.Slice) else [node]
    numbers = [bound.operand if isinstance(bound, ast.UnaryOp) else bound for bound in bounds if bound is not None]
    return isinstance(node, ast.Slice) and all(
        isinstance(number, ast.Constant) and type(number.value) is int for number in numbers
    )


def _is_given(node: ast.expr, scope: Scope, at: ast.stmt) -> bool:
    """Whether an operand is no list of selected elements: what an object was made with, such as `-self.gamma`, an
    argument that is a number by default, or what is computed of these, or a name for it.
    """
    if isinstance(node, ast.UnaryOp):
        return _is_given(node.operand, scope, at)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return _is_given(node.left, scope, at) and _is_given(node.right, scope, at)
    if isinstance(node, ast.Constant) or is_number_by_default(node, scope):
        return True
    if isinstance(node, ast.Name):
        definition = definition_of(node, at, scope) if scope.value(node).is_unknown else None
        return definition is not None and _is_given(definition.value, scope, definition)
    entry = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and scope.value(node).is_unknown
    if not entry and not isinstance(node, ast.Attribute):
        return False
    owner = node
    while isinstance(owner, ast.Attribute) or (
        isinstance(owner, ast.Subscript) and isinstance(owner.slice, ast.Constant | ast.Name)
    ):
        owner = owner.value
    return isinstance(owner, ast.Name) and owner.id == "self"
