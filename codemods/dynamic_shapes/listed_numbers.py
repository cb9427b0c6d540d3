"""A list of one number, repeated as often as a number that was read says, that a tensor is made of.

    torch.tensor([keep for _ in range(n)])        torch.full((n,), keep)
    torch.tensor([keep] * n)

Python cannot make a list whose length is a symbol; a tensor can be as long.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import torch_name
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class ListedNumbers:
    """A call of `torch.tensor` with such a list: the number, how often, and the device where one is given."""

    call: ast.Call
    item: ast.expr
    times: ast.expr
    device: ast.expr | None


def listed_numbers(call: ast.Call, scope: Scope) -> ListedNumbers | None:
    """The list that a tensor is made of, where its length is a number that was read from a tensor."""
    if scope.callee(call) != "torch.tensor" or len(call.args) != 1 or any(k.arg != "device" for k in call.keywords):
        return None
    found = _repeated(call.args[0]) or _gone_through(call.args[0], scope)
    if found is None:
        return None
    item, times = found
    length, number = scope.value(times), scope.value(item)
    read = length.is_(Kind.NUMBER) and length.certain and length.dtype in ("int", None)
    plain = number.is_(Kind.STATIC) and number.certain and number.dtype in ("int", "float", "bool")
    device = call.keywords[0].value if call.keywords else None
    return ListedNumbers(call, item, times, device) if read and plain else None


def _repeated(made: ast.expr) -> tuple[ast.expr, ast.expr] | None:
    """`[item] * times`, on either side."""
    if not isinstance(made, ast.BinOp) or not isinstance(made.op, ast.Mult):
        return None
    for listed, times in ((made.left, made.right), (made.right, made.left)):
        if isinstance(listed, ast.List) and len(listed.elts) == 1 and _is_plain(listed.elts[0]):
            return listed.elts[0], times
    return None


def _gone_through(made: ast.expr, scope: Scope) -> tuple[ast.expr, ast.expr] | None:
    """`[item for _ in range(times)]`, where no turn differs."""
    if not isinstance(made, ast.ListComp) or len(made.generators) != 1 or not _is_plain(made.elt):
        return None
    turn = made.generators[0]
    counted = turn.iter
    if turn.ifs or turn.is_async or not isinstance(turn.target, ast.Name) or not isinstance(counted, ast.Call):
        return None
    if scope.callee(counted) != "range" or len(counted.args) != 1 or counted.keywords:
        return None
    same = not isinstance(made.elt, ast.Name) or made.elt.id != turn.target.id
    return (made.elt, counted.args[0]) if same else None


def _is_plain(item: ast.expr) -> bool:
    """Whether an item is one and the same each time."""
    return isinstance(item, ast.Name | ast.Constant) or (
        isinstance(item, ast.UnaryOp) and isinstance(item.operand, ast.Constant)
    )


def full_code(found: ListedNumbers, template: Template, scope: Scope) -> str:
    """The call of `torch.full`, with what is not proved noted."""
    times = snippet(found.times)
    reason = f"`{times}` is not proved not to be negative: for one that is, the list is empty, and `torch.full` raises"
    template.refuse([Obstacle(reason, "not-negative")])
    known = scope.value(found.item).const
    if known is None or not isinstance(known.value, float):
        reason = f"`{snippet(found.item)}` may be an integer, of which no times floats are made, or NumPy's float64"
        template.refuse([Obstacle(reason, "same-shape-dtype")])
    if scope.value(found.times).dtype != "int":
        reason = f"`{times}` is not proved to be an integer: for another, `torch.full` raises another error"
        template.refuse([Obstacle(reason, "index-in-range")])
    item, device = template.use(found.item), found.device
    on = "" if device is None else f", device={template.use(device)}"
    return f"{torch_name(scope)}.full(({template.use(found.times)},), {item}{on})"
