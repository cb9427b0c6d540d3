"""Writes behind `if mask.any()` that change only what the mask selects, so that they may be made always.

    x[mask] = v        x[mask] += v        x[:, mask, 0] = y[mask] * 2        x.masked_fill_(mask, v)
    x.copy_(torch.where(mask, v, x))       x.index_add_(0, rows, v)           x.masked_scatter_(mask, v)

Where the mask selects nothing such a write is none: what is put there has no elements, or fits any number of them.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.in_place import becomes_new_tensor, keeps_no_operand, kept_result, written_always
from compilefix.analysis.leaves import ANY_LEAF
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.totality import fits
from compilefix.analysis.values import Kind, may_share
from compilefix.codemods.control_flow.masks import Mask, selects_all, selects_nothing
from compilefix.codemods.dynamic_shapes.ragged import is_ragged
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import last_name
from compilefix.source.tree import elements_of, stored_in

_OF_SOME_ELEMENTS = frozenset(
    {"max", "min", "amax", "amin", "aminmax", "argmax", "argmin", "median", "nanmedian", "quantile", "kthvalue", "mode"}
)
"""Reductions that raise where there are no elements."""
_AT_ROWS = frozenset({"index_add_", "index_copy_", "index_fill_"})


@dataclass(frozen=True)
class GuardedWrite:
    """A write that a guard's mask selects: what it writes into, what it reads beside that, and what it puts there.

    where: the index, or the selection that takes what the mask leaves from the memory, as large as it: that is `whole`.
    """

    statement: ast.stmt
    around: ast.If
    memory: ast.expr
    where: ast.expr | None
    put: ast.expr
    whole: bool = False

    def obstacles(self, scope: Scope) -> Iterator[Obstacle]:
        """What stands in the way of making it where the mask selects nothing."""
        facts, memory = scope.facts, scope.value(self.memory)
        if not memory.is_tensor:
            yield Obstacle(f"`{snippet(self.memory)}` is not proved to be a tensor", "is-tensor")
        yield from evaluated(self.memory, scope)
        if self.whole and self.where is not None:
            yield from evaluated(self.where, scope)
        yield from evaluated_always(self.put, self.statement, scope)
        yield from self._mask_fits(scope)
        yield from written_always(memory, self.statement, self.around, facts)
        if is_number(self.put, scope):
            if isinstance(self.statement, ast.Expr) and not fits(memory, self.put, facts):
                reason = f"`{snippet(self.put)}` may not fit into the dtype of `{snippet(self.memory)}`"
                yield Obstacle(reason, "branches-total")
            return
        yield from self._fits(scope)
        value = scope.value(self.put)
        if value.is_(Kind.STATIC, Kind.SIZE) or not value.leaves or value.dtype in ("int", "bool"):
            return
        reason = f"`{snippet(self.put)}` takes part only where the mask selects something"
        if ANY_LEAF in value.leaves or not value.leaves <= memory.leaves:
            yield Obstacle(f"{reason}: its gradient would be zeros instead of None", "gradient-zeros")
        # A gradient of zero flows back through what is put there, also through what was computed before.
        found = scope.legality.derivatives.gradients(self.put, None, (value, memory), facts)
        yield from (obstacle for obstacle in found if obstacle.assumption != "gradient-zeros")
        kept = self.whole and not keeps_no_operand(self.put, facts)
        if kept and any(may_share(scope.value(n).storage, memory.storage) for n in _uncopied(self.put)):
            reason = f"`{snippet(self.statement)}` writes into what the backward pass of `{snippet(self.put)}` may need"
            yield Obstacle(reason, "no-aliasing")

    def as_selection(self, scope: Scope) -> list[Obstacle] | None:
        """What stands in the way of a new tensor in its place: `n = torch.where(mask, 1, n)`; None where it is written.

        A write that is always made fails the backward pass of what needs the memory, which a selection leaves.
        """
        facts, memory, statement = scope.facts, scope.value(self.memory), self.statement
        if not isinstance(self.memory, ast.Name) or self.where is None or self.whole or not memory.certain:
            return None
        if isinstance(statement, ast.AugAssign) or not is_number(self.put, scope) or list(self._mask_fits(scope)):
            return None
        if scope.value(self.where).dtype != "bool" or kept_result(memory, self.around, facts) is None:
            return None
        found = [*evaluated(self.where, scope), *evaluated_always(self.put, statement, scope)]
        found += becomes_new_tensor(self.memory.id, memory, statement, self.around, facts)
        return None if any(obstacle.assumption is None for obstacle in found) else found

    def _mask_fits(self, scope: Scope) -> Iterator[Obstacle]:
        """Whether the mask has the shape of the memory: one that does not fit raises also where it selects nothing."""
        node = self.where.args[0] if self.whole and isinstance(self.where, ast.Call) else self.where
        shape = scope.value(node).shape_id if node is not None else None
        if shape is None or shape != scope.value(self.memory).shape_id:
            shown = snippet(node if node is not None else self.statement)
            yield Obstacle(f"`{shown}` is not proved to have the shape of `{snippet(self.memory)}`", "branches-total")

    def _fits(self, scope: Scope) -> Iterator[Obstacle]:
        """Whether what is put there fits no elements, and keeps those that are there."""
        memory, value = scope.value(self.memory), scope.value(self.put)
        alone = value.is_tensor and value.certain and value.rank == 0
        same = value.shape_id is not None and value.shape_id == memory.shape_id
        rows = not self.whole and self._selected_alike(self.put, scope)
        if not (alone or rows or (self.whole and same)):
            shown, into = snippet(self.put), snippet(self.memory)
            yield Obstacle(f"`{shown}` is not proved to fit where nothing of `{into}` is selected", "branches-total")
        if (self.whole or not alone) and (value.dtype_id is None or value.dtype_id != memory.dtype_id):
            # An index refuses several elements of another dtype, and also none; `torch.where` would convert them.
            reason = f"`{snippet(self.put)}` is not proved to have the dtype of `{snippet(self.memory)}`"
            yield Obstacle(reason, "same-shape-dtype" if self.whole else "branches-total")

    def _selected_alike(self, node: ast.expr, scope: Scope) -> bool:
        """Whether a value is made of elements that the same index selects in tensors of the memory's shape."""
        if isinstance(node, ast.BinOp):
            return all(self._selected_alike(side, scope) or is_number(side, scope) for side in (node.left, node.right))
        if isinstance(node, ast.UnaryOp):
            return self._selected_alike(node.operand, scope)
        if not isinstance(node, ast.Subscript) or self.where is None or ast.dump(node.slice) != ast.dump(self.where):
            return False
        shape = scope.value(node.value).shape_id
        return shape is not None and shape == scope.value(self.memory).shape_id


def guarded_write(statement: ast.stmt, masks: Sequence[Mask], around: ast.If, scope: Scope) -> GuardedWrite | None:
    """What a statement writes where one of the masks selects, and nowhere else."""
    stored = stored_in(around)
    usable = [mask for mask in masks if not mask.names & stored]
    if isinstance(statement, ast.Assign | ast.AugAssign):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        many = isinstance(statement, ast.Assign) and len(statement.targets) != 1
        if many or not isinstance(target, ast.Subscript) or not _selected_by(target.slice, usable, scope):
            return None
        return GuardedWrite(statement, around, target.value, target.slice, statement.value)
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.keywords:
        return None
    memory, method = call.func.value, call.func.attr
    if not scope.value(memory).may_be(Kind.TENSOR):
        return None
    fills = method == "masked_fill_" and len(call.args) == 2 and is_number(call.args[1], scope)
    scatters = method == "masked_scatter_" and len(call.args) == 2
    if (fills or scatters) and selects_nothing(call.args[0], usable):
        return GuardedWrite(statement, around, memory, call.args[0], call.args[1])
    listed = method in _AT_ROWS and len(call.args) == 3 and is_number(call.args[0], scope)
    if listed and selects_nothing(call.args[1], usable):
        return GuardedWrite(statement, around, memory, call.args[1], call.args[2])
    if method == "copy_" and len(call.args) == 1:
        put = _kept_elsewhere(call.args[0], memory, usable, scope)
        if put is not None:
            return GuardedWrite(statement, around, memory, call.args[0], put, whole=True)
    return None


def evaluated(node: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """What stands in the way of evaluating an expression always; reading a number is no effect, only slow."""
    for obstacle in scope.legality.both_evaluated([node], scope.facts):
        if not obstacle.reason.endswith("reads the tensor's value"):
            yield obstacle


def evaluated_always(node: ast.expr, statement: ast.stmt, scope: Scope) -> Iterator[Obstacle]:
    """The same for what is computed behind a guard: also what it keeps for the backward pass must stay as it is."""
    yield from evaluated(node, scope)
    if scope.value(node).leaves:
        yield from scope.legality.memory.saved([node], statement, scope.facts)


@dataclass(frozen=True)
class _Selected:
    """The elements that masks select, and the names of what is made of them."""

    masks: Sequence[Mask]
    names: set[str]
    scope: Scope

    def makes(self, node: ast.AST) -> bool:
        """Whether an expression is made of as many elements as a mask selects."""
        if isinstance(node, ast.Name):
            return node.id in self.names
        return _selects(node, self.masks, self.scope) or any(map(self.makes, ast.iter_child_nodes(node)))


def needs_elements(
    nodes: Sequence[ast.AST], masks: Sequence[Mask], around: ast.AST, scope: Scope, rows: Collection[str] = ()
) -> ast.expr | None:
    """What a guarded block computes of the selected elements, and raises where there are none: `x[mask].max()`.

    rows: the names that hold selected elements before the block.
    """
    selected = _Selected(masks, _selected_names(masks, around, scope, rows), scope)
    for node in (n for root in nodes for n in ast.walk(root)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and not _selects(node, masks, scope):
            first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
            listed = scope.value(node.value).is_(Kind.CONTAINER, Kind.SIZE, Kind.STATIC)  # such as its shape
            if not listed and selected.makes(node.value) and is_number(first, scope):
                return node
        if not isinstance(node, ast.Call):
            continue
        operands = [*node.args, *(k.value for k in node.keywords)]
        if isinstance(node.func, ast.Attribute):
            operands.append(node.func.value)
        if not any(map(selected.makes, operands)):
            continue  # asked first: what a callee does rests on all that it calls, in any module
        callee = scope.facts.calls.get(node)
        if callee is not None:
            fails = _reduces(callee, scope, set())
        else:
            fails = _reduces_whole(node) or any(_reduces_along(node, o, selected) for o in operands)
        if fails:
            return node
    return None


def _reduces_along(call: ast.Call, operand: ast.expr, selected: _Selected) -> bool:
    """Whether a call reduces the dimension that has as many elements as a mask selects: `x[..., mask].max(dim=-1)`."""
    place = 1 if call.args and operand is call.args[0] else 0
    given = [k.value for k in call.keywords if k.arg in ("dim", "axis")] or call.args[place : place + 1]
    along = ast.unparse(given[0]) if given else None
    named = last_name(call.func)
    if named not in _OF_SOME_ELEMENTS or along not in ("0", "-1") or not isinstance(operand, ast.Subscript):
        return along == "0" and named in _OF_SOME_ELEMENTS and isinstance(operand, ast.Name) and selected.makes(operand)
    if not _selects(operand, selected.masks, selected.scope):
        return False
    parts = elements_of(operand.slice)
    if along == "0":
        return ast.unparse(parts[0]) not in ("...", ":", "None")
    last = (
        parts[-1] if ast.unparse(parts[0]) == "..." or len(parts) == selected.scope.value(operand.value).rank else None
    )
    return last is not None and ast.unparse(last) not in ("...", ":", "None")


def _reduces_whole(call: ast.Call) -> bool:
    """Whether a call reduces all elements of a tensor to one of them: `torch.min(x)`, `x.max()`."""
    name = last_name(call.func)
    return name in _OF_SOME_ELEMENTS and len(call.args) < 2 and not any(k.arg in ("dim", "axis") for k in call.keywords)


def _reduces(function: Function, scope: Scope, seen: set[Function]) -> bool:
    """Whether a function of the project, or one that it calls, does so, perhaps with what it is given."""
    if function in seen:
        return False
    seen.add(function)
    facts = scope.legality.inference.facts(function)
    calls = [n for n in function.nodes if isinstance(n, ast.Call)]
    inner = (facts.calls.get(call) for call in calls)
    return any(map(_reduces_whole, calls)) or any(_reduces(f, scope, seen) for f in inner if f is not None)


def _selected_names(masks: Sequence[Mask], around: ast.AST, scope: Scope, rows: Collection[str]) -> set[str]:
    """The names that a guarded block gives values of as many elements as the mask selects, and those before it."""
    given = [(ts, v) for n in ast.walk(around) for ts, v in [_given(n)] if v is not None]
    found = set(rows)
    while True:
        more = {
            name.id
            for targets, value in given
            if any(_selects(n, masks, scope) or (isinstance(n, ast.Name) and n.id in found) for n in ast.walk(value))
            for target in targets
            for name in ast.walk(target)
            if isinstance(name, ast.Name)
        }
        if more <= found:
            return found
        found |= more


def _given(node: ast.AST) -> tuple[list[ast.expr], ast.expr | None]:
    """The targets that a statement or `:=` gives a value, and the value."""
    if isinstance(node, ast.Assign):
        return node.targets, node.value
    if isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
        return [node.target], node.value
    if isinstance(node, ast.For | ast.comprehension):
        return [node.target], node.iter
    return [], None


def _selects(node: ast.AST, masks: Sequence[Mask], scope: Scope) -> bool:
    """Whether an expression is `x[mask]`, with one of the masks, or has a number of elements that values decide."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and _selected_by(node.slice, masks, scope):
        return True
    return isinstance(node, ast.expr) and is_ragged(node, scope)


def _selected_by(index: ast.expr, masks: Sequence[Mask], scope: Scope) -> ast.expr | None:
    """The mask in an index that selects nothing, alone or beside slices and numbers."""
    parts = elements_of(index)
    others = [p for p in parts if not (isinstance(p, ast.Slice) or ast.unparse(p) in ("...", "None"))]
    found = [p for p in others if selects_nothing(p, masks)]
    rest = [p for p in others if p not in found]
    return found[0] if len(found) == 1 and all(is_number(p, scope) for p in rest) else None


def _kept_elsewhere(call: ast.expr, memory: ast.expr, masks: Sequence[Mask], scope: Scope) -> ast.expr | None:
    """For `torch.where(mask, v, memory)`, the value that a mask puts in the place of what is there."""
    if not isinstance(call, ast.Call) or scope.callee(call) != "torch.where" or len(call.args) != 3 or call.keywords:
        return None
    test, first, second = call.args
    kept = ast.dump(memory)
    if ast.dump(second) == kept and selects_nothing(test, masks):
        return first
    return second if ast.dump(first) == kept and selects_all(test, masks) else None


def _uncopied(node: ast.expr) -> Iterator[ast.expr]:
    """The names and attributes in an expression, but for those of which it computes with a copy."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("clone", "detach"):
        return
    if isinstance(node, ast.Name | ast.Attribute):
        yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _uncopied(child)


def is_number(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a number that is fixed when Dynamo traces."""
    value = scope.value(node)
    return value.is_(Kind.STATIC, Kind.SIZE) and value.dtype in ("bool", "int", "float")
