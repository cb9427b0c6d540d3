"""A loop that computes the same of each row of a tensor and stacks the results, and that for the whole tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from compilefix.analysis import torch_api
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.recompiles.dimension_sum import dimension_of, is_length
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_ROWS = "all-rows"
_RANK = "enough-dimensions"


@dataclass(frozen=True)
class Stack:
    """`torch.stack([item for counter in ...], dimension)`: the call, what is stacked, and the rows of which tensor.

    `counter` is the name that counts rows or stands for one. `removed` are the statements that filled a list.
    """

    call: ast.Call
    item: ast.expr
    counter: str
    tensor: ast.Name
    dimension: int
    removed: tuple[ast.stmt, ...] = ()


def stack_in(node: ast.For | ast.comprehension, scope: Scope) -> Stack | None:
    """The stack that a loop or comprehension over rows is made for, None for any other one."""
    filled = _listed(node, scope) if isinstance(node, ast.comprehension) else _appended(node, scope)
    if filled is None or not isinstance(node.target, ast.Name):
        return None
    call, item, removed = filled
    dimension = _stacked_at(call)
    tensor = _rows_of(node.iter, node.target.id, item, dimension, scope)
    if dimension is None or tensor is None:
        return None
    return Stack(call, item, node.target.id, tensor, dimension, removed)


def written(found: Stack, scope: Scope, template: Template) -> str:
    """The expression that takes the place of the stack; what speaks against it goes to the template."""
    whole = _Whole(found, scope)
    code = ast.unparse(whole.of(found.item))
    template.refuse(whole.obstacles)
    if not whole.rows:
        template.refuse([Obstacle("no row of the tensor is in what is stacked")])
    if isinstance(found.item, ast.Name | ast.Subscript):
        template.refuse([Obstacle("the rows themselves are stacked, and the whole tensor would be no copy")])
    template.refuse(_obstacles(found, scope))
    # A stack lies in memory in the order of its dimensions, whatever the tensor does.
    return f"{code}.contiguous()" if isinstance(found.item, ast.Call) else f"({code}).contiguous()"


class _Whole:
    """Writes what is computed of a row for the whole tensor, and notes what is not known to be the same."""

    def __init__(self, found: Stack, scope: Scope) -> None:
        self.found = found
        self.scope = scope
        self.obstacles: list[Obstacle] = []
        self.rows = 0

    def of(self, node: ast.expr) -> ast.expr:
        if self._is_row(node):
            self.rows += 1
            return ast.Name(self.found.tensor.id, ast.Load())
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return node
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return ast.UnaryOp(node.op, self.of(node.operand))
        if isinstance(node, ast.BinOp) and isinstance(node.op, _OPERATORS):
            return ast.BinOp(self.of(node.left), node.op, self.of(node.right))
        if isinstance(node, ast.Call) and self._is_rowwise(node):
            method = isinstance(node.func, ast.Attribute) and (self.scope.callee(node) or "").startswith("Tensor.")
            if method and isinstance(node.func, ast.Attribute):
                func: ast.expr = ast.Attribute(self.of(node.func.value), node.func.attr, ast.Load())
                return ast.Call(func, [self._constant(a) for a in node.args], self._keywords(node))
            if node.args:
                rest = [self._constant(a) for a in node.args[1:]]
                return ast.Call(node.func, [self.of(node.args[0]), *rest], self._keywords(node))
        self._refuse(f"`{snippet(node)}` is not known to be the same for the whole tensor")
        return node

    def _is_row(self, node: ast.expr) -> bool:
        found = self.found
        if isinstance(node, ast.Name):
            return node.id == found.counter and self.scope.value(node).is_tensor
        return (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Name)
            and node.value.id == found.tensor.id
            and dimension_of(node.slice, found.counter) == found.dimension
        )

    def _is_rowwise(self, node: ast.Call) -> bool:
        """Whether a call treats each element, or each row of a layer, by itself, and gives a new tensor."""
        name = self.scope.callee(node) or ""
        short = name.rpartition(".")[2]
        api = torch_api.method(short) if name.startswith("Tensor.") else torch_api.function(name)
        called = self.scope.value(node.func)
        if api is None and called.is_(Kind.OBJECT) and not called.inplace:
            api = torch_api.module(name)
            if name in ("torch.nn.Linear", "torch.nn.modules.linear.Linear"):
                return self._takes_all_rows(node)
        changes = api is None or api.mutates or api.random or api.random_training or api.host
        fresh = api is not None and api.kind() == "Tensor" and not (api.view or api.maybe_view)
        return fresh and not changes and api is not None and api.pointwise

    def _takes_all_rows(self, node: ast.Call) -> bool:
        """A layer computes along the last dimension: that must not be the one that is counted."""
        needed = self.found.dimension + 2
        rank = self.scope.value(self.found.tensor).rank
        if rank is None:
            self._note(f"`{self.found.tensor.id}` is not proved to have {needed} dimensions or more", _RANK)
        elif rank < needed:
            self._refuse(f"`{snippet(node.func)}` computes along the dimension that is counted")
        self._note(f"`{snippet(node.func)}` would be given all rows at once", _ROWS)
        return True

    def _constant(self, node: ast.expr) -> ast.expr:
        number = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
        if not isinstance(number, ast.Constant):
            self._refuse(f"`{snippet(node)}` is not known to be the same for the whole tensor")
        return node

    def _keywords(self, node: ast.Call) -> list[ast.keyword]:
        for keyword in node.keywords:
            if keyword.arg in (None, "out", "inplace", "dim"):
                self._refuse(f"`{snippet(node)}` is not known to be the same for the whole tensor")
        return [ast.keyword(k.arg, self._constant(k.value)) for k in node.keywords]

    def _refuse(self, reason: str) -> None:
        self.obstacles.append(Obstacle(reason))

    def _note(self, reason: str, assumption: str) -> None:
        self.obstacles.append(Obstacle(reason, assumption))


def _listed(node: ast.comprehension, scope: Scope) -> tuple[ast.Call, ast.expr, tuple[ast.stmt, ...]] | None:
    """`torch.stack([item for ...])`."""
    made = scope.parents.get(node)
    call = scope.parents.get(made) if isinstance(made, ast.ListComp) and len(made.generators) == 1 else None
    if not isinstance(made, ast.ListComp) or not isinstance(call, ast.Call) or node.ifs or node.is_async:
        return None
    return (call, made.elt, ()) if scope.callee(call) == "torch.stack" and call.args[:1] == [made] else None


def _appended(node: ast.For, scope: Scope) -> tuple[ast.Call, ast.expr, tuple[ast.stmt, ...]] | None:
    """`items = []`, a loop that appends to it and does nothing else, and `torch.stack(items)` in the next statement."""
    added = node.body[0].value if len(node.body) == 1 and isinstance(node.body[0], ast.Expr) else None
    if node.orelse or not isinstance(added, ast.Call) or len(added.args) != 1 or added.keywords:
        return None
    if not isinstance(added.func, ast.Attribute) or added.func.attr != "append":
        return None
    items = added.func.value
    block = scope.block(node)
    after = block[block.index(node) + 1 :]
    call = after[0].value if after and isinstance(after[0], ast.Assign | ast.Return) else None
    if not isinstance(items, ast.Name) or not isinstance(call, ast.Call) or scope.callee(call) != "torch.stack":
        return None
    made, loads = scope.only_assignment(items.id), scope.names(items.id)
    if made is None or not isinstance(made.value, ast.List) or made.value.elts or made not in block:
        return None
    used = len(loads) == 2 and items in loads and call.args[:1] == [n for n in loads if n is not items]
    return (call, added.args[0], (made, node)) if used else None


def _stacked_at(call: ast.Call) -> int | None:
    """The dimension at which a stack puts the rows, where it is written out and counted from the front."""
    given = [*call.args[1:], *(k.value for k in call.keywords if k.arg == "dim")]
    if len(given) != len(call.args) - 1 + len(call.keywords) or len(given) > 1:
        return None
    if not given:
        return 0
    value = given[0].value if isinstance(given[0], ast.Constant) else None
    return value if type(value) is int else None


def _rows_of(over: ast.expr, counter: str, item: ast.expr, dimension: int | None, scope: Scope) -> ast.Name | None:
    """The tensor whose rows along a dimension a loop takes one after another."""
    if dimension is None:
        return None
    if isinstance(over, ast.Name):
        return over if dimension == 0 else None
    if not isinstance(over, ast.Call) or scope.callee(over) != "range" or len(over.args) != 1 or over.keywords:
        return None
    for part in ast.walk(item):
        if (
            isinstance(part, ast.Subscript)
            and isinstance(part.value, ast.Name)
            and dimension_of(part.slice, counter) == dimension
            and is_length(over.args[0], part.value, dimension, scope)
        ):
            return part.value
    return None


def _obstacles(found: Stack, scope: Scope) -> Iterator[Obstacle]:
    tensor = scope.value(found.tensor)
    if not tensor.is_tensor or not tensor.certain:
        yield Obstacle(f"`{found.tensor.id}` is not proved to be a tensor")
    loop = found.removed[-1] if found.removed else None
    if loop is not None and live_after(found.counter, loop, scope):
        yield Obstacle(f"`{found.counter}` is read after the loop")
    yield Obstacle(f"`{found.tensor.id}` may have no row, or the dimension may be missing", "dimension-not-empty")
