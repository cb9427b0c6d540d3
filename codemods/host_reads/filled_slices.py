"""A number that is written to slices with bounds that are read from tensors: `x[:, :n] = 0`, `x[a:b, c:d] = 1`.

A mask of the places that lie within the bounds is filled with it then: a bound behind the end cuts off the slice, and
one that ends before it begins holds nothing, as in a slice.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.devices import on_default_device, perhaps_on_default_device
from compilefix.codemods.host_reads.looped import needs_no_number
from compilefix.codemods.host_reads.number_flow import Renderer
from compilefix.codemods.host_reads.reduced_slices import counts_from_end
from compilefix.codemods.names import free_name
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.overlapping import overlaps
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet
from compilefix.source.syntax import is_literal, is_path

_LARGEST_HALF = 65504


@dataclass(frozen=True)
class FilledSlices:
    """`tensor[parts] = value`, where one or more of the parts are slices with bounds that are not fixed."""

    statement: ast.Assign
    tensor: ast.expr
    parts: tuple[ast.expr, ...]
    value: ast.expr

    def bounds(self, scope: Scope) -> Iterator[ast.expr]:
        """The bounds that are not fixed."""
        for part in self.parts:
            if isinstance(part, ast.Slice):
                yield from (b for b in (part.lower, part.upper) if b is not None and not _is_fixed(b, scope))

    def obstacles(self, scope: Scope) -> Iterator[Obstacle]:
        """What is not proved of the tensor, the number and the bounds."""
        value, shown = scope.value(self.tensor), snippet(self.tensor)
        yield from scope.legality.computed_again(self.tensor, scope.facts)
        if not value.certain:
            yield Obstacle(f"`{shown}` is not proved to be a tensor", "is-tensor")
        if overlaps(self.tensor, scope):
            yield Obstacle(f"elements of `{shown}` may share memory: they cannot be written at once")
        yield from scope.legality.memory.write_in_place(shown, value)
        needed = _dimensions(self.parts)
        if value.rank is None:
            reason = f"`{shown}` is not proved to have {needed} dimensions, and else raises with another text"
            yield Obstacle(reason, "enough-dimensions")
        elif value.rank < needed:
            yield Obstacle(f"`{shown}` has fewer dimensions than the index")
        if not _fits(scope.value(self.value), value):
            reason = f"`{snippet(self.value)}` may not fit the dtype of `{shown}`, which raises in `masked_fill_`"
            yield Obstacle(reason, "number-to-tensor")
        sizes = Sizes(scope)
        for bound in self.bounds(scope):
            read, name = scope.value(bound), snippet(bound)
            if not sizes.never_negative(bound):
                yield Obstacle(
                    f"`{name}` is not proved to be at least zero, and else counts from the end", "not-negative"
                )
            if read.is_tensor and read.dtype is None:
                yield Obstacle(
                    f"`{name}` is not proved to be an integer, and another number raises", "number-to-tensor"
                )
            if read.is_tensor and not read.has_one_element and read.rank != 0:
                yield Obstacle(f"`{name}` is not proved to have one element", "condition-one-element")

    def code(self, render: Renderer, scope: Scope, followed: Collection[ast.expr], *, elsewhere: bool) -> str:
        """The statements that fill the places.

        followed: where the number that becomes a tensor stands. elsewhere: it may be on another device than what the
        function makes. A slice takes it from there, and a comparison does not.
        """
        template = render.template
        torch, taken = torch_name(scope), list[str]()
        lines, tests = list[str](), list[str]()
        tensor = template.use(self.tensor)
        codes = self._codes(tensor, render, scope, followed, elsewhere=elsewhere)
        for number, part in enumerate(self.parts):
            if not self._is_open(part, scope) or not isinstance(part, ast.Slice):
                continue
            places = f"{torch}.arange({tensor}.shape[{_axis(number, self.parts)}], device={tensor}.device)"
            ends = [(b, sign) for b, sign in ((part.lower, ">="), (part.upper, "<")) if b is not None]
            several = len(ends) > 1 or sum(self._is_open(p, scope) for p in self.parts) > 1
            if several:
                name = free_name("places", scope, taken)
                taken.append(name)
                lines.append(f"{name} = {places}")
                places = name
            compared = [f"{places} {sign} {codes[bound]}" for bound, sign in ends]
            inside = compared[0] if len(compared) == 1 else " & ".join(f"({c})" for c in compared)
            behind = self._behind(number, scope)
            if several:
                name = free_name("inside", scope, taken)
                taken.append(name)
                lines.append(f"{name} = {inside}")
                inside = name
            elif behind:
                inside = f"({inside})"
            tests.append(f"{inside}[:, {', '.join(['None'] * behind)}]" if behind else inside)
        filled = f"{tensor}{self._view(template, scope)}"
        mask = " & ".join(tests)
        if self._rank_is_open(scope):
            explicit = _dimensions(self.parts)
            mask = f"({mask})[(...,) + (None,) * ({tensor}.dim() - {explicit})]"
        return "\n".join([*lines, f"{filled}.masked_fill_({mask}, {template.use(self.value)})"])

    def _codes(
        self, tensor: str, render: Renderer, scope: Scope, followed: Collection[ast.expr], *, elsewhere: bool
    ) -> dict[ast.expr, str]:
        """The bounds as tensors without dimensions, on the device of the one that is filled, or as Python numbers."""
        codes: dict[ast.expr, str] = {}
        default = perhaps_on_default_device(self.tensor, scope)
        ends = [end for part in self.parts if isinstance(part, ast.Slice) for end in (part.lower, part.upper)]
        for bound in (end for end in ends if end is not None):
            code, value = render(bound), scope.value(bound)
            own = any(node in followed for node in ast.walk(bound))
            if value.is_tensor and value.rank != 0 and not own:
                code += ".reshape(())"
            if default and (elsewhere if own else value.is_tensor and not on_default_device(bound, scope)):
                code += f".to({tensor}.device)"
            codes[bound] = code
        return codes

    @staticmethod
    def _is_open(part: ast.expr, scope: Scope) -> bool:
        return isinstance(part, ast.Slice) and any(
            bound is not None and not _is_fixed(bound, scope) for bound in (part.lower, part.upper)
        )

    def _behind(self, number: int, scope: Scope) -> int:
        """How many dimensions of the view stand behind a part, as far as they are counted."""
        rest = self.parts[number + 1 :]
        known = sum(isinstance(part, ast.Slice) for part in rest)
        rank = scope.value(self.tensor).rank
        if rank is None or any(is_literal(part, ...) for part in self.parts[:number]):
            return known
        return known + rank - _dimensions(self.parts)

    def _rank_is_open(self, scope: Scope) -> bool:
        return scope.value(self.tensor).rank is None and not any(is_literal(part, ...) for part in self.parts)

    def _view(self, template: Template, scope: Scope) -> str:
        """The index of the part of the tensor in which the places lie; nothing where that is the whole tensor."""
        whole = all(
            is_literal(part, ...) or self._is_open(part, scope) or ast.unparse(part) == ":" for part in self.parts
        )
        if whole:
            return ""
        shown = [
            ":" if self._is_open(p, scope) else "..." if is_literal(p, ...) else _code(p, template) for p in self.parts
        ]
        while shown[-1] == ":" and len(shown) > 1:
            shown.pop()
        return f"[{', '.join(shown)}]"


def filled_slices(node: ast.expr, scope: Scope) -> FilledSlices | None:
    """The write of a number to slices of which an expression is a bound."""
    bounds = scope.parents.get(node)
    if not isinstance(bounds, ast.Slice) or node not in (bounds.lower, bounds.upper):
        return None
    parent = scope.parents.get(bounds)
    item = scope.parents.get(parent) if isinstance(parent, ast.Tuple) else parent
    if not isinstance(item, ast.Subscript) or not isinstance(item.ctx, ast.Store):
        return None
    statement = scope.parents.get(item)
    parts = tuple(item.slice.elts) if isinstance(item.slice, ast.Tuple) else (item.slice,)
    if not isinstance(statement, ast.Assign) or statement.targets != [item] or not is_path(item.value):
        return None
    value, number = scope.value(item.value), scope.value(statement.value)
    if not value.is_tensor or not (number.is_(Kind.STATIC, Kind.SIZE) and number.dtype in ("bool", "int", "float")):
        return None
    if not all(_is_plain(part, scope) for part in parts) or sum(is_literal(part, ...) for part in parts) > 1:
        return None
    found = FilledSlices(statement, item.value, parts, statement.value)
    ellipsis = next((n for n, part in enumerate(parts) if is_literal(part, ...)), None)
    if ellipsis is not None and value.rank is None and any(isinstance(p, ast.Slice) for p in parts[:ellipsis]):
        return None  # how many dimensions stand behind it is not known
    if not all(_may_bound(bound, scope) for bound in found.bounds(scope)) or needs_no_number([item], scope):
        return None
    return found


def _may_bound(node: ast.expr, scope: Scope) -> bool:
    """Whether a bound is one number, read from a tensor or not, that is not written to count from the end."""
    value = scope.value(read_of(node, scope) or node)
    if counts_from_end(node, scope):
        return False
    if value.is_tensor:
        return value.certain and value.dtype in ("int", None) and value.rank in (0, None, 1)
    return value.is_(Kind.NUMBER, Kind.SIZE, Kind.STATIC) and value.dtype == "int"


def _fits(number: Value, tensor: Value) -> bool:
    """Whether a number fits the tensor's dtype where a write to a slice takes it: that of half precision takes all."""
    if tensor.dtype in ("bool", "int") or tensor.dtype_id in ("float32", "float64", "complex64", "complex128"):
        return True
    const = None if number.const is None else number.const.value
    if not isinstance(const, bool | int | float):
        return number.dtype == "bool"
    return not math.isfinite(const) or abs(const) <= _LARGEST_HALF


def _axis(number: int, parts: Sequence[ast.expr]) -> int:
    """The dimension of the tensor that a part stands for; counted from the end behind an ellipsis."""
    return -_dimensions(parts[number:]) if any(is_literal(part, ...) for part in parts[:number]) else number


def _dimensions(parts: Sequence[ast.expr]) -> int:
    """How many dimensions the parts of an index stand for, beside an ellipsis."""
    return sum(not is_literal(part, ...) for part in parts)


def _is_plain(part: ast.expr, scope: Scope) -> bool:
    """Whether a part is an ellipsis, a slice without a step, or a fixed index."""
    if isinstance(part, ast.Slice):
        return part.step is None
    value = scope.value(part)
    return is_literal(part, ...) or (value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int")


def _is_fixed(bound: ast.expr, scope: Scope) -> bool:
    return scope.value(bound).is_(Kind.STATIC, Kind.SIZE)


def _code(part: ast.expr, template: Template) -> str:
    if is_literal(part, ...):
        return "..."
    if not isinstance(part, ast.Slice):
        return template.use(part)
    return ":".join("" if bound is None else template.use(bound) for bound in (part.lower, part.upper))
