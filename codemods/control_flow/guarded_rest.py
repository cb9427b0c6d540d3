"""`if t: return` before the rest of a function that returns nothing: the rest always runs, and its writes are selected.

if self.initted:                   condition = self.initted == 0
    return                         self.embed.copy_(torch.where(condition, data, self.embed))
self.embed.copy_(data)             self.initted.masked_fill_(condition, True)
self.initted.fill_(True)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.control_flow.whole_arms import selected_rest
from compilefix.codemods.finding import Edit
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test, split_static

_WAYS_OUT = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await, ast.Break, ast.Continue)


def rest_of_function(node: ast.If, scope: Scope) -> list[ast.stmt] | None:
    """What runs behind an `if` that only returns nothing, in a function that returns nothing; None for any other."""
    if node.orelse or len(node.body) != 1 or not _is_bare(node.body[0]) or not is_tensor_test(node.test, scope):
        return None
    if scope.parents.get(node) is not scope.function.node:
        return None
    block = scope.block(node)
    rest = block[block.index(node) + 1 :]
    if rest and _is_bare(rest[-1]):
        rest.pop()
    returns = any(isinstance(n, _WAYS_OUT) for statement in rest for n in ast.walk(statement))
    return rest if rest and not returns else None


def guarded_rest(node: ast.If, rest: Sequence[ast.stmt], scope: Scope, template: Template) -> tuple[Edit, ...]:
    """The edits after which the rest always runs; none, with the obstacle noted, where that cannot be."""
    fixed, _ = split_static(node.test, scope)
    if fixed or not all(is_tensor_test(part, scope) for part in _parts(node.test)):
        template.refuse([Obstacle("a branch returns, and a fixed condition is mixed with a tensor")])
        return ()
    goes_on = ast.copy_location(ast.UnaryOp(ast.Not(), node.test), node.test)
    found = selected_rest(goes_on, rest, node, scope, template)
    if found is None or template.broken is not None:
        return ()
    line, changed = found
    if not changed:
        template.refuse([Obstacle("the function returns before what changes nothing")])
    codes = {node: line, **changed}
    return tuple(scope.edit(statement, code, **template.used_in(code)) for statement, code in codes.items())


def _parts(test: ast.expr) -> Sequence[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) else [test]


def _is_bare(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Return):
        return False
    return statement.value is None or (isinstance(statement.value, ast.Constant) and statement.value.value is None)
