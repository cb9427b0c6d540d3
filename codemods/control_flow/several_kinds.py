"""Names that are a tensor in some calls and a number, or None, in others: what a tensor decides is asked apart.

length = length if length is not None and length > limit else limit

length = (
    torch.where(length > limit, length, limit)
    if isinstance(length, torch.Tensor)
    else length if length is not None and length > limit else limit
)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from compilefix.analysis.values import ARRAYS, Kind, replace, tensor
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import tensor_tests


def several_kinds(node: ast.IfExp, scope: Scope) -> str | None:
    """The argument whose comparisons decide, where it is a tensor in some calls only; None for any other test."""
    names: set[str] = set()
    for test in tensor_tests(node.test, scope):
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or scope.value(test).is_tensor:
            return None
        sides = [test.left, test.comparators[0]]
        found = [s for s in sides if Kind.TENSOR in scope.value(s).kinds]
        if len(found) != 1 or not isinstance(found[0], ast.Name) or scope.value(found[0]).kinds <= ARRAYS:
            return None
        names.add(found[0].id)
    name = next(iter(names)) if len(names) == 1 else None
    return name if name in {p.arg for p in scope.function.parameters} else None


def asks_whether_there(test: ast.expr, name: str) -> bool:
    """Whether a test asks that a name is not None, which a tensor is not."""
    return isinstance(test, ast.Compare) and ast.unparse(test) == f"{name} is not None"


def without_question(test: ast.expr, name: str) -> ast.expr:
    """A test without the question whether a name is None, beside others of which one must hold: a tensor is not."""
    if not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or):
        return test
    left = [value for value in test.values if ast.unparse(value) != f"{name} is None"]
    return left[0] if len(left) == 1 else ast.copy_location(ast.BoolOp(test.op, left), test)


@contextmanager
def taken_as_tensor(name: str, node: ast.IfExp, scope: Scope) -> Iterator[None]:
    """What is known where the name is a tensor."""
    values = scope.facts.values
    tests = tensor_tests(node.test, scope)
    uses = [n for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]
    changed: list[ast.AST] = [*uses, *tests]
    kept = {n: values[n] for n in changed if n in values}
    for use in uses:
        known = scope.value(use)
        values[use] = tensor(storage=known.storage, leaves=known.leaves)
    for test in tests:
        values[test] = replace(tensor(), dtype="bool")
    try:
        yield
    finally:
        for n in changed:
            values.pop(n, None)
        values.update(kept)
