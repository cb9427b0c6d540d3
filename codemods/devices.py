"""Tensors that a function makes on the default device, whichever device its arguments are on.

`torch.ones(3) * x.sum().item()` works with an `x` on a GPU, since a number is on no device. With `x.sum()` in its place
it fails there: PyTorch takes a tensor without dimensions from the CPU beside others on a GPU, and not the reverse.
"""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope

_NAMES = (
    "arange empty eye full hann_window hamming_window kaiser_window linspace logspace ones rand randint randn randperm "
    "range tensor tril_indices triu_indices zeros nn.Transformer.generate_square_subsequent_mask "
    "Tensor BoolTensor DoubleTensor FloatTensor IntTensor LongTensor"
)
_MAKES = frozenset(f"torch.{name}" for name in _NAMES.split())
_MOVES = frozenset({"to", "cuda", "type_as", "type"})
_MOST_FOLLOWED = 8


def on_default_device(node: ast.expr, scope: Scope, followed: int = 0) -> bool:
    """Whether all tensors in an expression are made without a device, or were fetched by `.cpu()`."""
    if followed > _MOST_FOLLOWED:
        return False
    if isinstance(node, ast.BinOp | ast.Compare):
        sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.left, *node.comparators]
        tensors = [side for side in sides if not scope.value(side).dtype or scope.value(side).is_tensor]
        return bool(tensors) and all(on_default_device(side, scope, followed) for side in tensors)
    if isinstance(node, ast.UnaryOp):
        return on_default_device(node.operand, scope, followed)
    if isinstance(node, ast.Subscript):
        return on_default_device(node.value, scope, followed)
    if isinstance(node, ast.Name):
        values = _values(node.id, scope)
        return len(values) == 1 and values[0] is not None and on_default_device(values[0], scope, followed + 1)
    if not isinstance(node, ast.Call):
        return False
    if scope.callee(node) in _MAKES:
        named = [keyword.value for keyword in node.keywords if keyword.arg in ("device", None)]
        made = not any(_holds_tensor(argument, scope) for argument in node.args)
        return made and all(_is_device_of_default(part, scope, followed + 1) for part in named)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "to" and not node.args:
        device = next((keyword.value for keyword in node.keywords if keyword.arg == "device"), None)
        return device is not None and _is_device_of_default(device, scope, followed + 1)
    if not isinstance(node.func, ast.Attribute) or node.func.attr in _MOVES or not scope.value(node).is_tensor:
        return False
    return node.func.attr == "cpu" or on_default_device(node.func.value, scope, followed)


def perhaps_on_default_device(node: ast.expr, scope: Scope) -> bool:
    """The same, where a name that is given values in several places has one of these."""
    if isinstance(node, ast.Subscript):
        return perhaps_on_default_device(node.value, scope)
    if on_default_device(node, scope) or not isinstance(node, ast.Name):
        return on_default_device(node, scope)
    return any(value is not None and on_default_device(value, scope) for value in _values(node.id, scope))


def _values(name: str, scope: Scope) -> list[ast.expr | None]:
    """What a name is given in each place that gives it something; None where that is not one expression."""
    stores = scope.names(name, stores=True)
    given = [scope.parents.get(store) for store in stores]
    pairs = zip(stores, given, strict=True)
    return [s.value if isinstance(s, ast.Assign) and s.targets == [store] else None for store, s in pairs]


def _holds_tensor(node: ast.AST, scope: Scope) -> bool:
    """Whether an argument is a tensor or a list of some, and not only sizes of one: `torch.zeros(x.shape[0])`."""
    if isinstance(node, ast.expr):
        value = scope.value(node)
        if value.is_tensor or value.is_(Kind.STATIC, Kind.SIZE):
            return value.is_tensor
    return any(_holds_tensor(part, scope) for part in ast.iter_child_nodes(node))


def _is_device_of_default(node: ast.expr, scope: Scope, followed: int) -> bool:
    """Whether a device is that of a tensor on the default device: `torch.arange(n, device=mask.device)`."""
    return isinstance(node, ast.Attribute) and node.attr == "device" and on_default_device(node.value, scope, followed)
