"""A slice that ends, or begins, at a number read from a tensor, where it is reduced: `x[:, :n].sum(1)`, `x[a:b].sum()`.

All elements can take part then, with those outside of the slice made to count for nothing:
`torch.where(torch.arange(x.shape[1], device=x.device)[:, None] < n, x, 0).sum(1)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name, where
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of, names_in

_KINDS = frozenset({"sum", "mean", "max", "min", "amax", "amin", "any", "all"})


@dataclass(frozen=True)
class ReducedSlice:
    """A reduction over the dimension that a number slices.

    call: the reduction. part: the slice, `x[:, :n]`. tensor: what the call reduces, the slice or a name of it.
    axis: the sliced dimension; -1 for the last. below: whether the number ends it. other: the other bound, or the
    tensor that this is read from.
    """

    call: ast.Call
    part: ast.Subscript
    tensor: ast.expr
    axis: int
    below: bool
    kind: str
    other: ast.expr | None = None

    @property
    def named(self) -> bool:
        """Whether the slice has a name, under which it is reduced."""
        return self.tensor is not self.part

    def obstacles(self, scope: Scope) -> Iterator[Obstacle]:
        """What stands in the way of reducing all elements."""
        value, shown = scope.value(self.part.value), snippet(self.part.value)
        if value.rank is None and not (self.axis < 1 and value.dimensioned):
            reason = f"`{shown}` is not proved to have the dimension that is sliced, and else raises with another text"
            yield Obstacle(reason, "enough-dimensions")
        if self.other is not None:
            yield from self._doubts(self.other, scope)
        yield from reduced_by(self.kind, self.part.value, scope)

    @staticmethod
    def _doubts(other: ast.expr, scope: Scope) -> Iterator[Obstacle]:
        """What is not proved of the other bound, which stands in the new code more than once."""
        value = scope.value(other)
        yield from scope.legality.computed_again(other, scope.facts)
        yield from scope.recomputed(other)
        if value.dtype is None:
            reason = f"`{snippet(other)}` is not proved to be an integer, and another number raises"
            yield Obstacle(reason, "number-to-tensor")
        if value.is_tensor and value.rank != 0:
            yield Obstacle(f"`{snippet(other)}` is not proved to have one element", "condition-one-element")

    def code(self, number: str, template: Template, scope: Scope) -> str:
        """The reduction of all elements. `number` is the code of a tensor without dimensions, not below zero."""
        torch, base = torch_name(scope), self.tensor if self.named else self.part.value
        tensor = template.use(base)
        size = f"{tensor}.shape[{self.axis}]"
        positions = f"{torch}.arange({size}, device={tensor}.device)"
        rank = scope.value(self.part.value).rank
        if self.axis >= 0 and rank is not None:
            positions += f"[{', '.join([':', *['None'] * (rank - 1 - self.axis)])}]" if rank > self.axis + 1 else ""
        elif self.axis >= 0:
            positions += f".view(-1, *(1,) * ({tensor}.dim() - {self.axis + 1}))"
        selected = f"{positions} {'<' if self.below else '>='} {number}"
        if self.other is not None:
            other = self._other(template, scope)
            selected = f"({selected}) & ({positions} {'>=' if self.below else '<'} {other})"
        method = "sum" if self.kind == "mean" else self.kind
        code = f"{where(scope)}({selected}, {tensor}, {neutral(self.kind)})"
        code += f".{method}({', '.join(self._arguments(template))})"
        if self.kind != "mean":
            return code
        count = f"{number}.clamp(max={size})" if self.below else f"({size} - {number}).clamp(min=0)"
        if self.other is not None and self.below:
            count = f"({count} - {other}).clamp(min=0)"
        elif self.other is not None:
            end = f"{other}.clamp(max={size})" if scope.value(self.other).is_tensor else f"min({other}, {size})"
            count = f"({end} - {number}).clamp(min=0)"
        alone = isinstance(scope.parents.get(self.call), ast.Assign | ast.Return | ast.Tuple | ast.Call | ast.keyword)
        return f"{code} / {count}" if alone else f"({code} / {count})"

    def _other(self, template: Template, scope: Scope) -> str:
        """The other bound as a tensor without dimensions, or a Python number."""
        assert self.other is not None
        value = scope.value(self.other)
        code = template.use(self.other, operand=True)
        if not value.is_tensor:
            return code
        return code + (".reshape(())" if value.rank != 0 else "") + ("" if value.dtype_id == "int64" else ".long()")

    def _arguments(self, template: Template) -> Iterator[str]:
        given = self.call.args if self._is_method else self.call.args[1:]
        yield from (template.use(a) for a in given)
        yield from (f"{k.arg}={template.use(k.value)}" for k in self.call.keywords)

    @property
    def _is_method(self) -> bool:
        return isinstance(self.call.func, ast.Attribute) and self.call.func.value is self.tensor


def reduced_by(kind: str, tensor: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """What stands in the way of a reduction in which elements outside of a slice are made to count for nothing."""
    value, shown = scope.value(tensor), snippet(tensor)
    if not value.certain:
        yield Obstacle(f"`{shown}` is not proved to be a tensor", "is-tensor")
    if kind in ("sum", "mean") and value.dtype not in ("int", "bool"):
        reason = "the elements are added in another order: rounding, and in half precision overflow"
        yield Obstacle(reason, "summation-order")
    if kind in ("any", "all") and value.dtype != "bool":
        yield Obstacle(f"`{shown}` is not proved to be boolean", "same-shape-dtype" if value.dtype is None else None)
    if kind in ("mean", "max", "min", "amax", "amin") and value.dtype != "float":
        whole = value.dtype is not None
        yield Obstacle(f"`{shown}` is not proved to be floating", None if whole else "same-shape-dtype")
    if kind in ("max", "min", "amax", "amin"):
        yield Obstacle("an empty slice raises, and would give infinity", "mask-not-empty")


def neutral(kind: str) -> str:
    """The code of what counts for nothing in a reduction."""
    if kind in ("max", "amax"):
        return 'float("-inf")'
    if kind in ("min", "amin"):
        return 'float("inf")'
    return {"any": "False", "all": "True"}.get(kind, "0")


def reduced_slice(node: ast.expr, scope: Scope) -> ReducedSlice | None:
    """The reduction of a slice of which an expression is one of the bounds, and the other one an integer."""
    bounds = scope.parents.get(node)
    if not isinstance(bounds, ast.Slice) or bounds.step is not None or counts_from_end(node, scope):
        return None
    other = bounds.upper if bounds.lower is node else bounds.lower
    if other is not None:
        other = read_of(other, scope) or other
        value = scope.value(other)
        number = value.is_(Kind.STATIC, Kind.SIZE) and value.dtype == "int"
        below_zero = value.const is not None and isinstance(value.const.value, int) and value.const.value < 0
        if below_zero or _is_negated(other):
            return None  # it counts from the end
        if not number and not (value.is_tensor and value.certain and value.dtype in ("int", None)):
            return None
    parent = scope.parents.get(bounds)
    part = scope.parents.get(parent) if isinstance(parent, ast.Tuple) else parent
    if not isinstance(part, ast.Subscript) or not isinstance(part.ctx, ast.Load):
        return None
    axis = _axis(bounds, part)
    value = scope.value(part.value)
    if axis is None or not isinstance(part.value, ast.Name | ast.Attribute) or not value.is_tensor:
        return None
    if (value.rank is not None and axis >= value.rank) or _is_row(part.value, scope):
        return None
    tensor = _named(part, scope) or part
    call = scope.parents.get(tensor)
    if isinstance(call, ast.Attribute):
        call = scope.parents.get(call)
    if not isinstance(call, ast.Call):
        return None
    kind = _kind(call, tensor, scope)
    found = ReducedSlice(call, part, tensor, axis, bounds.upper is node, kind or "", other)
    return found if kind is not None and _covers(found, scope) else None


def counts_from_end(node: ast.expr, scope: Scope) -> bool:
    """Whether a bound is written as the negative of a number, here or where its name gets it: `x[-n:]`."""
    if isinstance(node, ast.Name):
        given = [scope.parents.get(store) for store in scope.names(node.id, stores=True)]
        return any(isinstance(g, ast.Assign) and _is_negated(g.value) for g in given)
    return _is_negated(node)


def _is_negated(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _is_row(node: ast.expr, scope: Scope) -> bool:
    """Whether a loop gives a name its value: CF107 reduces all rows at once."""
    heads: list[ast.expr] = []
    for around in scope.ancestors(node):
        if isinstance(around, ast.For):
            heads.append(around.target)
        elif isinstance(around, ast.ListComp | ast.GeneratorExp):
            heads += [generator.target for generator in around.generators]
    names = names_in(*heads)
    return isinstance(node, ast.Name) and node.id in names


def _axis(bounds: ast.Slice, part: ast.Subscript) -> int | None:
    """The dimension that the slice takes a part of, where all others are whole."""
    parts = elements_of(part.slice)
    if any(p is not bounds and ast.unparse(p) not in (":", "...") for p in parts):
        return None
    index = parts.index(bounds)
    if any(ast.unparse(p) == "..." for p in parts[:index]):
        return -1 if index == len(parts) - 1 else None
    return index


def _named(part: ast.Subscript, scope: Scope) -> ast.Name | None:
    """The only use of the name that the slice is given, in the statements that follow."""
    statement = scope.parents.get(part)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    if not isinstance(target, ast.Name) or len(scope.names(target.id, stores=True)) != 1:
        return None
    uses = [n for n in scope.function.nodes if isinstance(n, ast.Name) and n.id == target.id and n is not target]
    if len(uses) != 1 or uses[0] not in scope.parents:
        return None
    block = scope.block(statement)
    user = scope.statement(uses[0])
    return uses[0] if user in block and block.index(user) > block.index(statement) else None


def _kind(call: ast.Call, tensor: ast.expr, scope: Scope) -> str | None:
    name = scope.callee(call) or ""
    kind = name.rpartition(".")[2]
    method = isinstance(call.func, ast.Attribute) and call.func.value is tensor
    known = name == (f"Tensor.{kind}" if method else f"torch.{kind}")
    if not known or kind not in _KINDS or (not method and (not call.args or call.args[0] is not tensor)):
        return None
    if any(k.arg not in ("dim", "axis", "keepdim") for k in call.keywords) or any(
        isinstance(a, ast.Starred) for a in call.args
    ):
        return None
    return kind


def _covers(found: ReducedSlice, scope: Scope) -> bool:
    """Whether the sliced dimension is one that is reduced, and of a mean the only one."""
    call = found.call
    method = isinstance(call.func, ast.Attribute) and call.func.value is found.tensor
    given = call.args if method else call.args[1:]
    dims = given[0] if given else next((k.value for k in call.keywords if k.arg in ("dim", "axis")), None)
    rank = scope.value(found.part.value).rank
    if dims is not None and found.kind in ("max", "min") and (not found.below or found.other is not None):
        return False  # the indices count from the bound
    if dims is None:
        return found.kind != "mean" or rank == 1
    listed = dims.elts if isinstance(dims, ast.Tuple | ast.List) else [dims]
    numbers: list[int] = []
    for dim in listed:
        const = scope.value(dim).const
        if const is None or not isinstance(const.value, int) or isinstance(const.value, bool):
            return False
        numbers.append(const.value)
    same = {found.axis} if rank is None else {found.axis, found.axis - rank if found.axis >= 0 else rank - 1}
    return bool(same & set(numbers)) and (found.kind != "mean" or len(numbers) == 1)
