"""How many rows a tensor has and where it stands, from the one definition of each name."""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope

_MOST_FOLLOWED = 100
_MADE_FROM_SIZES = frozenset({"torch.zeros", "torch.ones", "torch.full", "torch.empty"})
_KEEPS_DEVICE = frozenset({"long", "int", "bool", "float", "double", "clone", "detach", "contiguous", "abs"})
_KEEPS_ROWS = _KEEPS_DEVICE | {"to"}


class Sizes:
    """Sizes as texts: two sizes with the same text are the same number on every run; None where nothing is known."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._followed = 0

    def size(self, node: ast.expr) -> str | None:
        """A size: a number, `x.shape[0]`, `x.size(0)`, `len(x)`, or a name for one of them."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return str(node.value)
        if isinstance(node, ast.Name):
            if self._is_parameter(node.id):
                return node.id if self.scope.value(node).is_(Kind.STATIC, Kind.SIZE) else None
            unpacked = self._unpacked(node.id)
            if unpacked is not None:
                return self.rows(unpacked)
            definition = self.definition(node.id)
            return None if definition is None else self.size(definition)
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
            first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
            return self.rows(node.value.value) if first else None
        if isinstance(node, ast.Call) and len(node.args) == 1:
            if self.scope.callee(node) == "len":
                return self.rows(node.args[0])
            first = isinstance(node.args[0], ast.Constant) and node.args[0].value == 0
            if self.scope.callee(node) == "Tensor.size" and first and isinstance(node.func, ast.Attribute):
                return self.rows(node.func.value)
        return None

    def rows(self, node: ast.expr) -> str | None:
        """The first dimension of a tensor."""
        if not self.scope.value(node).is_tensor:
            return None
        if isinstance(node, ast.Name):
            if self._is_parameter(node.id, _KEEPS_ROWS):
                return f"rows of {node.id}"
            definition = self.definition(node.id)
            return None if definition is None else self.rows(definition)
        if isinstance(node, ast.BinOp):
            sides = [s for s in (node.left, node.right) if self.scope.value(s).may_be(Kind.TENSOR)]
            return self.rows(sides[0]) if len(sides) == 1 else None
        if not isinstance(node, ast.Call):
            return None
        name = self.scope.callee(node) or ""
        if name in _MADE_FROM_SIZES and node.args:
            first = node.args[0]
            if isinstance(first, ast.Tuple | ast.List):
                return self.size(first.elts[0]) if first.elts else None
            return self.size(first) if not isinstance(first, ast.Starred) else None
        method = node.func.attr if name.startswith("Tensor.") and isinstance(node.func, ast.Attribute) else None
        if isinstance(node.func, ast.Attribute) and (
            method in _KEEPS_ROWS or (method == "sum" and self._sums_columns(node))
        ):
            return self.rows(node.func.value)
        return None

    def never_negative(self, node: ast.expr) -> bool:
        """Whether no element of a tensor can be below zero: counts, sizes, and sums of those."""
        value = self.scope.value(node)
        if value.is_(Kind.SIZE) or value.dtype == "bool":
            return True
        if isinstance(node, ast.Constant):
            return isinstance(node.value, int) and node.value >= 0
        if isinstance(node, ast.Name):
            definition = self.definition(node.id)
            return definition is not None and self.never_negative(definition)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.never_negative(node.left) and self.never_negative(node.right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = self.scope.callee(node) or ""
            if name in ("Tensor.sum", "Tensor.long", "Tensor.int"):
                return self.scope.value(node.func.value).dtype == "bool"
            return name == "Tensor.count_nonzero"
        return False

    def same_device(self, first: ast.expr, second: ast.expr) -> bool:
        """Whether one of two tensors was made on the other's device."""
        return self._device(first) is not None and self._device(first) == self._device(second)

    def _device(self, node: ast.expr) -> str | None:
        """The name of the argument whose device a tensor is on."""
        if isinstance(node, ast.Name):
            if self._is_parameter(node.id, _KEEPS_DEVICE):
                return node.id
            definition = self.definition(node.id)
            return None if definition is None else self._device(definition)
        if isinstance(node, ast.BinOp):
            sides = [s for s in (node.left, node.right) if self.scope.value(s).may_be(Kind.TENSOR)]
            return self._device(sides[0]) if len(sides) == 1 else None
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if self.scope.callee(node) in _MADE_FROM_SIZES:
                given = next((k.value for k in node.keywords if k.arg == "device"), None)
                on = isinstance(given, ast.Attribute) and given.attr == "device"
                return self._device(given.value) if on and isinstance(given, ast.Attribute) else None
            if node.func.attr == "sum" or node.func.attr in _KEEPS_DEVICE:
                return self._device(node.func.value)
        return None

    def definition(self, name: str) -> ast.expr | None:
        """What the only assignment to a name gives it; None once so many were followed that they may go in a circle."""
        self._followed += 1
        if self._followed > _MOST_FOLLOWED:
            return None
        given = self.scope.function.takes(name)
        return None if given else self.scope.only_value(name)

    def _unpacked(self, name: str) -> ast.expr | None:
        """The tensor `x`, where the name is the first of `b, c = x.shape`."""
        stores = self.scope.names(name, stores=True)
        target = self.scope.parents.get(stores[0]) if len(stores) == 1 else None
        statement = self.scope.parents.get(target) if isinstance(target, ast.Tuple) else None
        if (
            not isinstance(statement, ast.Assign)
            or not isinstance(target, ast.Tuple)
            or target.elts[0] is not stores[0]
        ):
            return None
        shape = statement.value
        return shape.value if isinstance(shape, ast.Attribute) and shape.attr == "shape" else None

    def _is_parameter(self, name: str, methods: frozenset[str] = frozenset()) -> bool:
        """Whether a name is a parameter that is given no other value but what these methods make of itself."""
        if not self.scope.function.takes(name):
            return False
        return all(self._made_of_itself(store, methods) for store in self.scope.names(name, stores=True))

    def _made_of_itself(self, store: ast.Name, methods: frozenset[str]) -> bool:
        statement = self.scope.parents.get(store)
        node = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in methods:
            node = node.func.value
        return isinstance(node, ast.Name) and node.id == store.id

    def _sums_columns(self, node: ast.Call) -> bool:
        """Whether a sum goes over the second dimension only, and drops it."""
        given = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "dim"), None)
        keeps = any(k.arg == "keepdim" for k in node.keywords) or len(node.args) > 1
        return isinstance(given, ast.Constant) and given.value == 1 and not keeps
