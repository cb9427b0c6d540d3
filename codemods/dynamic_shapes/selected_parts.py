"""What a mask selects in an expression, directly or under a name, and what the expression is made of besides."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.dynamic_shapes.atoms import known_value, place
from compilefix.codemods.dynamic_shapes.definitions import Origin, Way, definition_of, origin_of
from compilefix.codemods.dynamic_shapes.masks import Mask, boolean, masked_select_of
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_REDUCTIONS = frozenset({"mean", "sum", "std", "var", "amax", "amin", "prod"})


@dataclass
class SelectedParts:
    """What a mask selects in expressions at one place, and what it selects from.

    atoms: what an atom stands for: a part that the new expression takes over as it is. bases: the atoms that the mask
    selected from. reductions: what reduces the same elements, and whether only over the rows: it may stand as one
    number, or as one row, beside the elements. joining: whether a name counts to which an `if` gives its value.
    assumed: which side is taken of an `if` that selects on one side only, by the text of its test. kept: whether the
    definitions stay, with all elements under their names, as an `if` decides which of them counts.
    """

    mask: Mask
    scope: Scope
    at: ast.stmt
    atoms: dict[str, ast.expr] = field(default_factory=dict)
    bases: list[str] = field(default_factory=list)
    obstacles: list[Obstacle] = field(default_factory=list)
    reductions: Mapping[ast.expr, bool] = field(default_factory=dict)
    joining: bool = False
    assumed: Mapping[str, bool] = field(default_factory=dict)
    kept: bool = False
    _in_row: bool = False
    _in_spread: bool = False
    _origins: dict[tuple[ast.expr, ast.stmt], Origin] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.mask.broadcast:  # else the operation itself refuses other tensors
            self.obstacles.extend(boolean(self.mask.node, self.scope))

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
        for definition in sorted(definitions, key=lambda d: (d.lineno, d.value.lineno, d.value.col_offset)):
            found = self.first_selection(definition.value, definition)
            if found is not None:
                return found
        return next((n for n in parts if self._base(n) is not None or self._is_column(n)), None)

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
        if not (self.mask.leading or self.mask.last) and (found := masked_select_of(node, self.scope)) is not None:
            tensor, mask = found
            if ast.dump(mask.node) != ast.dump(self.mask.node):
                return None
            one, other = self.scope.value(tensor), self.scope.value(mask.node)
            if one.shape_id is None or one.shape_id != other.shape_id:  # it would broadcast the one to the other
                reason = f"`{snippet(tensor)}` is not proved to have the shape of `{snippet(mask.node)}`"
                self.obstacles.append(Obstacle(reason, "same-shape-dtype"))
            return tensor
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

    def _is_vector(self, node: ast.expr) -> bool:
        """Whether all that an expression selects is proved to have one number for each true value of the mask."""
        over = self.scope.value(self.mask.node)
        bases = [b for n in ast.walk(node) if isinstance(n, ast.expr) and (b := self._base(n)) is not None]
        known = [self.scope.value(base) for base in bases]
        return bool(known) and all(
            (v.rank is not None and v.rank == over.rank) or (v.shape_id is not None and v.shape_id == over.shape_id)
            for v in known
        )

    def _has_shape_of_mask(self, text: str) -> bool:
        """Whether what an atom stands for is proved to have the mask's shape."""
        mask = self.scope.value(self.mask.node)
        return mask.shape_id is not None and mask.shape_id == self.scope.value(self.atoms[text]).shape_id

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

    def _selects_rows(self) -> bool:
        """Whether the mask has one dimension, so that the second one of what it selects is that of the whole tensor.

        It has where it says which numbers of a vector are written.
        """
        if self.scope.value(self.mask.node).rank == 1:
            return True
        targets = self.at.targets if isinstance(self.at, ast.Assign) else [getattr(self.at, "target", None)]
        written = [t.value for t in targets if isinstance(t, ast.Subscript) and self.mask.same(t)]
        return any(self.scope.value(tensor).rank == 1 for tensor in written)

    def _atom(self, node: ast.expr) -> str:
        text = ast.unparse(node)
        self.atoms.setdefault(text, node)
        return text

    def _other(self, node: ast.expr) -> ast.expr:
        """An argument that is no tensor to compute with: a dtype, a device, a flag."""
        return place(ast.Name(self._atom(node), ast.Load()), node)

    def _refuse(self, reason: str) -> ast.expr | None:
        self.obstacles.append(Obstacle(reason))
        return None

    def values(self) -> Mapping[str, Value]:
        """What is known of the atoms."""
        return {text: known_value(node, self.scope) for text, node in self.atoms.items()}


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
