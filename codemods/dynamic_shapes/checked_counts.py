"""Counts of selected elements that are compared for a check: `check(x[mask].numel() == rows.numel(), "text")`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.masks import Mask, boolean, laid_over, seems_mask, whole_mask
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template

_COUNTS = frozenset({"numel", "nelement"})


@dataclass(frozen=True)
class CheckedCount:
    """The comparison, the count in it, what is selected from, the mask, and whether rows are counted.

    left: whether the count stands on the left.
    """

    test: ast.Compare
    count: ast.expr
    tensor: ast.expr
    mask: Mask
    rows: bool
    left: bool


def checked_count(test: ast.AST, scope: Scope) -> CheckedCount | None:
    """The comparison of how many elements a mask selects with a size; None for anything else."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or isinstance(test.ops[0], ast.Is | ast.IsNot):
        return None
    first, second = test.left, test.comparators[0]
    for left, count, other in ((True, first, second), (False, second, first)):
        counted = _counted(count, scope)
        value = scope.value(other)
        if counted is not None and value.is_(Kind.STATIC, Kind.SIZE) and value.dtype in ("int", None):
            selected, rows = counted
            mask = whole_mask(selected, scope)
            if (
                mask is None
                and not rows
                and scope.value(selected.value).is_unknown
                and seems_mask(selected.slice, scope)
            ):
                mask = Mask(selected.slice, selected.slice)  # what has `numel()` is a tensor
            if mask is not None and not (mask.leading or mask.last):
                return CheckedCount(test, count, selected.value, mask, rows, left)
    return None


def _counted(node: ast.expr, scope: Scope) -> tuple[ast.Subscript, bool] | None:
    """The selection of which a count is taken, and whether its rows are counted."""
    given: ast.expr | None = None
    rows = True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not (node.args or node.keywords):
        given, rows = node.func.value, node.func.attr not in _COUNTS
    if isinstance(node, ast.Call) and scope.callee(node) == "len" and len(node.args) == 1:
        given = node.args[0]
    elif rows and isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute):
        first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
        given = node.value.value if node.value.attr == "shape" and first else None
    elif rows:
        given = None
    return (given, rows) if isinstance(given, ast.Subscript) else None


def count_code(found: CheckedCount, template: Template, scope: Scope) -> str:
    """The comparison as a tensor; what is not proved is noted in the template."""
    template.refuse(boolean(found.mask.node, scope))
    plain = template.use(found.mask.node, operand=True)
    over, obstacles = laid_over(found.mask, found.tensor, scope, plain)
    template.refuse(obstacles)
    tensor = template.use(found.tensor)
    count = f"{plain}.sum()" if found.rows else f"{over}.expand_as({tensor}).sum()"
    symbol = ast.unparse(ast.Compare(ast.Name("a"), found.test.ops, [ast.Name("b")])).split()[1]
    other = template.use(found.test.comparators[0] if found.left else found.test.left, operand=True)
    return f"{count} {symbol} {other}" if found.left else f"{other} {symbol} {count}"
