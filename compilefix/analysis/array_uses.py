"""What an expression does with a name as with a tensor or array: computes, compares, reduces, splits, indexes."""

from __future__ import annotations

import ast

from compilefix.source.definitions import Function

COMPUTES = frozenset(
    {"sum", "mean", "max", "min", "any", "all", "abs", "std", "var", "prod", "argmax", "argmin", "item", "norm", "amax"}
    | {"nonzero", "cumsum", "cumprod", "argsort", "reshape", "flatten", "squeeze", "clip"}
)
"""Methods that arrays have as well: of what compiled code is given, these say that it is a tensor."""
_SPLITS = frozenset({"split", "chunk", "unbind", "tensor_split"})
_REARRANGES = frozenset({"squeeze", "reshape", "flatten", "ravel", "transpose", "swapaxes", "copy", "cpu"})
"""Methods that give what they are called on in another form, as tensors and, all but the last, arrays have them."""


def computed_from(node: ast.expr) -> ast.Name | None:
    """The name that an expression is made of with numbers alone: `x` of `x`, `-x` and `1 - x ** 2`.

    What torch takes a tensor for is one then, and so is what the name holds.
    """
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.UnaryOp):
            node = node.operand
        elif isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
            node = node.left
        elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant):
            node = node.right
        else:
            return None
    return node


def whole_of(node: ast.expr) -> ast.Name | None:
    """The name of what is split into pieces: `x` of `x.split(size)`."""
    func = node.func if isinstance(node, ast.Call) else None
    splits = isinstance(func, ast.Attribute) and func.attr in _SPLITS
    return func.value if splits and isinstance(func.value, ast.Name) else None  # type: ignore[union-attr]


def rearranged(node: ast.expr, names: set[str]) -> ast.Name | None:
    """The one of the names of which an expression is another form: `x` of `x.reshape(-1)`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _REARRANGES:
        node = node.func.value
        if isinstance(node, ast.Name):
            return node if node.id in names else None
    return None


def reduced(node: ast.expr) -> ast.Name | None:
    """The name that is computed with where elements are summed, or the largest is looked for: `x` of `(x * y).sum()`.

    Of numbers, nothing is summed so; an array has no method that only tensors have behind it.
    """
    reduces = False
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr not in COMPUTES:
            return None
        node, reduces = node.func.value, True
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
        node = node.right if isinstance(node.left, ast.Constant) else node.left
    return node if reduces and isinstance(node, ast.Name) else None


class Masks:
    """Which parameters an expression compares or computes with, directly or through a name of a comparison."""

    def __init__(self, function: Function, names: set[str]) -> None:
        self._names = names
        self._named: dict[str, frozenset[str]] = {}
        for node in function.of(ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Name) and function.stores[target.id] == [target]:
                found = self.compared(node.value)
                if found:
                    self._named[target.id] = found

    def compared(self, node: ast.expr) -> frozenset[str]:
        """The parameters that a comparison compares; empty for what is none. Of two sides the first: `ids == end`."""
        if isinstance(node, ast.Name):
            return self._named.get(node.id, frozenset())
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            return self.compared(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            return self.compared(node.left) | self.compared(node.right)
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
            return self.computed(node.left) or self.computed(node.comparators[0])
        return frozenset()

    def computed(self, node: ast.expr) -> frozenset[str]:
        """The parameter whose elements an expression computes with."""
        if isinstance(node, ast.Name) and node.id in self._names:
            return frozenset({node.id})
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
            return self.computed(node.left)
        return self.compared(node)


def has_dimensions(index: ast.expr) -> bool:
    """Whether an index says something of several dimensions, as that of an array does: `x[:, 0]`, `x[..., None]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else []
    return any(isinstance(part, ast.Slice) or ast.unparse(part) == "..." for part in parts)


def is_element(index: ast.expr) -> bool:
    """Whether an index is one into several dimensions, one of them by its number: `x[i, 0]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else []
    plain = all(isinstance(part, ast.Name) or _is_number(part) for part in parts)
    return plain and any(map(_is_number, parts))


def _is_number(node: ast.expr) -> bool:
    node = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(node, ast.Constant) and type(node.value) is int
