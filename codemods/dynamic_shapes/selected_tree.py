"""The tree for an expression on selected elements, which computes the same with all elements.

The parts that it takes over unchanged (`a`, `b`, `2`) are atoms: names whose text is the code that they stand for.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations, product

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Const, Kind
from compilefix.codemods.default_numbers import is_number_by_default, keeps_number, makes_number
from compilefix.codemods.dynamic_shapes.atoms import place, size_of
from compilefix.codemods.dynamic_shapes.definitions import Origin, Way, definition_of
from compilefix.codemods.dynamic_shapes.element_calls import CONVERSIONS, by_element
from compilefix.codemods.dynamic_shapes.flat_rows import laid_flat
from compilefix.codemods.dynamic_shapes.masks import moved_beside, seems_mask
from compilefix.codemods.dynamic_shapes.row_layers import looks_up
from compilefix.codemods.dynamic_shapes.row_operations import dimension, row_operation
from compilefix.codemods.dynamic_shapes.selected_parts import SelectedParts
from compilefix.codemods.dynamic_shapes.spreads import Spread, spread_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet

_LARGEST = 2_000  # what is made of the elements is judged as one expression, with all that it is made of
_CLASS_LOSSES = frozenset({"torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss"})
_CASTS = CONVERSIONS | {"long"}
_IGNORED_CLASS = -100
_FLAT = frozenset({"Tensor.flatten", "Tensor.view", "Tensor.reshape"})
_IN_PLACE = frozenset({"abs_", "add_", "clamp_", "clamp_max_", "clamp_min_", "div_", "exp_", "log_", "mul_", "neg_"})
_IN_PLACE |= {"pow_", "relu_", "sigmoid_", "sqrt_", "square_", "sub_", "tanh_"}
"""Methods that write in place, and compute the same as the ones without the last underscore."""


@dataclass
class SelectedTree(SelectedParts):
    """The tree for an expression on selected elements, made for all elements.

    definitions: earlier statements `name = a[m]` that the expression takes in, and that go. reduced: reductions for
    which there is other code: they are atoms. row_bases: the bases of which each row is made one number, with the last
    dimension. spread_bases: those that have one number for each row, which is laid over it. column_bases: those of
    which a number of each row is read, and how many dimensions stand behind those of the mask. flat: whether rows, or
    numbers, may be laid flat, as the arguments of a loss over classes are.
    """

    definitions: list[ast.Assign] = field(default_factory=list)
    reduced: frozenset[ast.expr] = frozenset()
    row_bases: set[str] = field(default_factory=set)
    spread_bases: set[str] = field(default_factory=set)
    column_bases: dict[str, int] = field(default_factory=dict)
    flat: bool | None = None
    places: bool = False
    placed: dict[str, ast.expr] = field(default_factory=dict)
    _indices: set[str] = field(default_factory=set)
    _sizes: dict[int, int] = field(default_factory=dict)
    _reduced_rows: set[ast.expr] = field(default_factory=set)
    _taken: dict[tuple[ast.Assign, bool], ast.expr | None] = field(default_factory=dict)
    _joins: dict[int, tuple[ast.expr, str]] = field(default_factory=dict)

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
        if self._is_number_of_row(node, at):
            assert isinstance(node, ast.Subscript)
            return self._number_of_row(node, at)
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
        masks = isinstance(node.slice, ast.Subscript) and seems_mask(node.slice.value, self.scope)
        if masks or not (table.is_tensor and index.is_tensor and index.dtype in ("int", None)):
            return self._refuse(f"`{snippet(node)}` is not computed element by element")
        chosen = self._indexing(node.slice, at, node)
        if chosen is None:
            return None
        if index.dtype is None:
            reason = f"`{snippet(node.slice)}` is not proved to hold integers: a mask would select from the table"
            self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
        self.obstacles.append(Obstacle(f"`{snippet(node.value)}` may have no rows", "branches-total"))
        return place(ast.Subscript(place(ast.Name(self._atom(node.value), ast.Load()), node), chosen, ast.Load()), node)

    def _is_number_of_row(self, node: ast.expr, at: ast.stmt) -> bool:
        """Whether a tensor is indexed with the mask and with places that it selects: `w[m, i[m]]`."""
        if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)):
            return False
        first, *others = node.slice.elts
        return len(others) == 1 and ast.dump(first) == ast.dump(self.mask.node) and self.selects(others[0], at)

    def _number_of_row(self, node: ast.Subscript, at: ast.stmt) -> ast.expr | None:
        """`w.gather(-1, i[..., None])[..., 0]` for `w[m, i[m]]`: one number of each row."""
        assert isinstance(node.slice, ast.Tuple)
        index = self.scope.value(node.slice.elts[1])
        table, mask = self.scope.value(node.value), self.scope.value(self.mask.node)
        fitting = None in (table.rank, mask.rank) or table.rank == (mask.rank or 0) + 1
        plain = isinstance(node.value, ast.Name | ast.Attribute) and table.is_tensor
        # A bool or uint8 tensor would be another mask.
        if not (fitting and plain and index.is_tensor and index.dtype in ("int", None)) or self._in_spread:
            return self._refuse(f"`{snippet(node)}` is not computed element by element")
        chosen = self._indexing(node.slice.elts[1], at, node)
        if chosen is None:
            return None
        reason = f"`{snippet(node)}` is not proved to be one number for each element of `{snippet(self.mask.node)}`"
        self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
        self.obstacles.append(Obstacle(f"the rows of `{snippet(node.value)}` may be empty", "branches-total"))
        negative = f"`{snippet(node.slice.elts[1])}` may be negative, and counts from the end then"
        self.obstacles.append(Obstacle(negative, "not-negative"))
        code = ast.parse(f"{self._atom(node.value)}.gather(-1, chosen.long()[..., None])[..., 0]", mode="eval").body
        for part in ast.walk(code):
            if isinstance(part, ast.expr):
                place(part, node)
            if isinstance(part, ast.Attribute) and part.attr == "long":
                part.value = chosen
        return code

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

    def _operand(self, node: ast.expr, at: ast.stmt) -> ast.expr | None:
        value = self.scope.value(node)
        number = value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE) or value.is_scalar_tensor
        definition = definition_of(node, at, self.scope, parts=True)
        if not number and definition is not None and self.reductions.get(definition.value):
            number = True  # one row, which is the same for each
        if not number:
            reason = f"`{snippet(node)}` is not proved to be one number: it may have an element for each true value"
            kept = value.is_unknown or value.is_(Kind.NDARRAY) or self._is_parameter(value)
            kept = kept and _is_given(node, self.scope, at)
            if not kept and not self._is_reduced(node, at):
                if self._selected_elsewhere(node, at):
                    return self._refuse(f"`{snippet(node)}` has a size that values tell: a function selects its rows")
                return self._placed(node) or self._refuse(reason)
            self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
        return place(ast.Name(self._atom(node), ast.Load()), node)

    def _selected_elsewhere(self, node: ast.expr, at: ast.stmt) -> bool:
        """Whether a function of the project selects rows and returns some: asked for their number, the graph breaks."""
        definition = definition_of(node, at, self.scope)
        made = node if definition is None else definition.value
        callee = self.scope.facts.calls.get(made) if isinstance(made, ast.Call) else None
        if callee is None:
            return False
        facts = self.scope.legality.inference.facts(callee)
        indexed = (n for n in callee.nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load))
        return any((i := facts.value(n.slice)).is_tensor and i.dtype == "bool" and i.rank != 0 for n in indexed)

    def _placed(self, node: ast.expr) -> ast.expr | None:
        """A tensor beside the elements that has one row for each of them: it is put in the places of all."""
        value, mask = self.scope.value(node), self.mask
        partial = mask.broadcast or mask.leading or mask.last or self._in_row or self._in_spread
        if not self.places or not value.is_tensor or partial:
            return None
        does = self.scope.legality.effects.of(node, self.scope.facts)
        if does.random or does.mutates or does.host or does.unknown:
            return None
        reason = f"`{snippet(node)}` is not proved to have a row for each true value of `{snippet(mask.node)}`"
        self.obstacles.append(Obstacle(reason, "rows-match"))
        text = self._atom(node)
        self.placed[text] = node
        return place(ast.Name(text, ast.Load()), node)

    def _call(self, node: ast.Call, at: ast.stmt) -> ast.expr | None:
        scope = self.scope
        name = scope.callee(node) or self._method_of_rows(node, at)
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
        if name in _FLAT and isinstance(node.func, ast.Attribute) and laid_flat(node, scope, columns=False) is not None:
            return self._flattened(node, node.func.value, at)
        if name == "Tensor.squeeze" and not node.args and not node.keywords and isinstance(node.func, ast.Attribute):
            return self._squeezed(node, node.func.value, at)
        callee: ast.expr
        if method:
            assert isinstance(node.func, ast.Attribute)
            receiver = self.take(node.func.value, at)
            if receiver is None:
                return None
            attr = self._written_anew(node, at) or node.func.attr
            name = f"Tensor.{attr}"
            callee = place(ast.Attribute(receiver, attr, ast.Load()), node.func)
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

    def _method_of_rows(self, node: ast.Call, at: ast.stmt) -> str:
        """The method of what is made of selected elements and is not known: `layer(x[m]).to(device)`."""
        func = node.func
        known = isinstance(func, ast.Attribute) and func.attr in CONVERSIONS and self.scope.value(func.value).is_unknown
        return f"Tensor.{func.attr}" if known and isinstance(func, ast.Attribute) and self.selects(func, at) else ""

    def _written_anew(self, node: ast.Call, at: ast.stmt) -> str | None:
        """The method that does not write in place, where what is written was made just there: `x[m].pow_(2)`.

        The dtype stays that of a floating tensor, which numbers do not change.
        """
        assert isinstance(node.func, ast.Attribute)
        attr, written = node.func.attr, node.func.value
        made = self._base(written) is not None or isinstance(written, ast.BinOp | ast.UnaryOp)
        numbers = all(
            isinstance(n := self.scope.value(a).const, Const) and type(n.value) in (int, float)
            for a in (*node.args, *(k.value for k in node.keywords))
        )
        if attr not in _IN_PLACE or not made or not numbers or not self.selects(written, at):
            return None
        if self.scope.value(written).dtype not in ("float", None):
            return None
        if self.scope.value(written).dtype is None:
            reason = f"`{snippet(written)}` is not proved to be floating"
            self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
        return attr.removesuffix("_")

    def _flattened(self, node: ast.Call, operand: ast.expr, at: ast.stmt) -> ast.expr | None:
        """`x[m].reshape(-1)`: elements have one dimension already, and rows more."""
        if self.mask.leading or self.mask.last or self._in_row or self._in_spread:
            return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
        taken = self.take(operand, at)
        if taken is None or self.mask.broadcast:
            return taken
        over = self.scope.value(self.mask.node)
        if not isinstance(taken, ast.Name) or taken.id not in self.bases:
            return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
        tensor = self.scope.value(self.atoms[taken.id])
        if tensor.rank is not None and over.rank is not None and tensor.rank != over.rank:
            return self._refuse(f"`{snippet(node)}` does not treat each element by itself")
        if not self._has_shape_of_mask(taken.id) and (tensor.rank is None or over.rank is None):
            reason = f"`{taken.id}` is not proved to have the shape of `{snippet(self.mask.node)}`"
            self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
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

    def tree_of(self, definition: ast.Assign) -> ast.expr | None:
        """The tree for what a definition gives its name."""
        return next(
            (part for (given, _), part in self._taken.items() if given == definition and part is not None), None
        )

    def held_names(self, apart: ast.Assign | None = None) -> dict[int, str]:
        """The names of what stays under a name, by the identity of its tree; `apart`: but for this definition."""
        if not self.kept:
            return {}
        names = {key: name for key, (_, name) in self._joins.items()}
        for (definition, _), part in self._taken.items():
            if definition is not apart and part is not None and isinstance(definition.targets[0], ast.Name):
                names[id(part)] = definition.targets[0].id
        return names


def _is_given(node: ast.expr, scope: Scope, at: ast.stmt) -> bool:
    """Whether an operand is no list of selected elements: what an object was made with, such as `-self.gamma`, an
    argument that is a number by default, or what is computed of these, also by `math` or NumPy, or a name for it.
    """
    if isinstance(node, ast.UnaryOp):
        return _is_given(node.operand, scope, at)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return _is_given(node.left, scope, at) and _is_given(node.right, scope, at)
    if isinstance(node, ast.Constant) or is_number_by_default(node, scope):
        return True
    if isinstance(node, ast.Call):
        known = makes_number(scope.callee(node)) and not node.keywords
        return known and all(_is_given(argument, scope, at) for argument in node.args)
    if isinstance(node, ast.Name):
        made = scope.value(node)
        definition = definition_of(node, at, scope) if made.is_unknown or made.is_(Kind.NDARRAY) else None
        return definition is not None and _is_given(definition.value, scope, definition)
    entry = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and scope.value(node).is_unknown
    if not entry and not isinstance(node, ast.Attribute):
        return False
    if isinstance(node, ast.Attribute) and scope.value(node).may_be(Kind.NDARRAY) and not scope.value(node).is_unknown:
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        return own and keeps_number(node.attr, scope)
    owner = node
    while isinstance(owner, ast.Attribute) or (
        isinstance(owner, ast.Subscript) and isinstance(owner.slice, ast.Constant | ast.Name)
    ):
        owner = owner.value
    return isinstance(owner, ast.Name) and owner.id == "self"
