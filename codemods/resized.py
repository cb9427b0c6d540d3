"""Whether an expression gives a tensor of another shape than another one has."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.rule import Scope

_JOINING = frozenset({"cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"})
_SCALING = frozenset({"interpolate", "upsample", "upsample_nearest", "upsample_bilinear"})
_GROWING = frozenset({"pad", "repeat", "repeat_interleave", "unsqueeze"})


def is_resized(node: ast.expr, other: str, scope: Scope) -> bool:
    """Whether an expression joins, extends or cuts the tensor that is written `other`: `torch.cat([x, y])`, `x[1:]`.

    What gives the same shape at times, such as `x[:n]`, does not count.
    """
    if isinstance(node, ast.Subscript):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return ast.unparse(node.value) == other and any(map(_cuts, parts))
    if not isinstance(node, ast.Call):
        return False
    name = (scope.callee(node) or "").rpartition(".")[2]
    if name in _SCALING and not any(_scales(keyword) for keyword in node.keywords):
        return False  # a size that is given may be the one that there is
    return name in _JOINING | _GROWING | _SCALING and any(ast.unparse(part) == other for part in _operands(node, name))


def _scales(keyword: ast.keyword) -> bool:
    """Whether a keyword asks for a tensor that is larger or smaller: `scale_factor=0.5`."""
    value = keyword.value
    return keyword.arg == "scale_factor" and not (isinstance(value, ast.Constant) and value.value in (None, 1))


def asked_to_differ(one: str, other: str, at: ast.AST, scope: Scope) -> bool:
    """Whether code stands where a test has said that two tensors differ in shape: `if a.shape == b.shape: ... else:`.

    Where the test asks for more they may have one shape; it was written for those that have not.
    """
    child = at
    for around in scope.ancestors(at):
        if isinstance(around, ast.If):
            wanted = ast.Eq if child in around.orelse else ast.NotEq if child in around.body else None
            for node in ast.walk(around.test):
                if wanted is None or not isinstance(node, ast.Compare) or [type(op) for op in node.ops] != [wanted]:
                    continue
                compared = node.left, node.comparators[0]
                if set(map(_shape_of, compared)) == {one, other}:
                    return True
                for shaped, size in (compared, reversed(compared)):
                    # `if a.shape != size: a = torch.zeros(size)`
                    for tensor, made in ((one, other), (other, one)):
                        if _shape_of(shaped) == tensor and _is_made_with(made, ast.unparse(size)):
                            return True
        child = around
    return False


def _is_made_with(made: str, size: str) -> bool:
    """Whether the code of a tensor makes it of a size: `torch.zeros(size, device=device)`."""
    node = ast.parse(made, mode="eval").body
    first = node.args[:1] if isinstance(node, ast.Call) else []
    return any(ast.unparse(part) == size for part in first)


def _shape_of(node: ast.expr) -> str | None:
    """The tensor whose shape an expression gives."""
    if isinstance(node, ast.Call) and not node.args and isinstance(node.func, ast.Attribute):
        node = node.func if node.func.attr == "size" else node
    return ast.unparse(node.value) if isinstance(node, ast.Attribute) and node.attr in ("shape", "size") else None


def is_empty(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression makes a tensor without elements: `torch.zeros(0, 3)`, `x.new_empty((0,))`."""
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = (scope.callee(node) or "").rpartition(".")[2]
    if name == "tensor":
        return isinstance(node.args[0], ast.List | ast.Tuple) and not node.args[0].elts
    if name.removeprefix("new_") not in _MAKING:
        return False
    first = node.args[0]
    return 0 in map(_integer, first.elts if isinstance(first, ast.List | ast.Tuple) else node.args)


_MAKING = frozenset({"zeros", "ones", "empty", "rand", "randn"})


def _cuts(part: ast.expr) -> bool:
    if isinstance(part, ast.Slice):
        bounds = [_integer(bound) for bound in (part.lower, part.upper)]
        return bool(bounds[0]) or (bounds[1] is not None and bounds[1] < 0)
    return _integer(part) is not None or (isinstance(part, ast.Constant) and part.value is None)


def _integer(node: ast.expr | None) -> int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _integer(node.operand)
        return None if value is None else -value
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _operands(call: ast.Call, name: str) -> Iterator[ast.expr]:
    first = call.args[0] if call.args else None
    if name in _JOINING:
        yield from first.elts if isinstance(first, ast.List | ast.Tuple) else ()
        return
    if isinstance(call.func, ast.Attribute):
        yield call.func.value
    if first is not None:
        yield first
