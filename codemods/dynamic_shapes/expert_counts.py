"""Turns of an expert loop that are skipped by a count of the tokens, as the models of DeepSeek do.

counts = torch.bincount(indices.flatten(), minlength=n).tolist()
for i in range(n):
    if counts[i] == 0:
        continue
    token, position = torch.where(indices == i)
"""

from __future__ import annotations

import ast

from compilefix.codemods.dynamic_shapes.expert_routing import Routing
from compilefix.codemods.rule import Scope

_FLAT = frozenset({"flatten", "ravel"})
_SHAPED = frozenset({"view", "reshape"})
_ON_HOST = frozenset({"tolist", "cpu", "numpy"})


def count_behind(skip: ast.If, loop: ast.For, routing: Routing, scope: Scope) -> ast.Assign | None:
    """The statement that counts the tokens, where the `if` skips the experts that have none by it, and nothing else
    reads the counts.
    """
    if skip.orelse or [type(s) for s in skip.body] != [ast.Continue] or not isinstance(loop.target, ast.Name):
        return None
    count = _none_of(skip.test)
    if count is None or ast.unparse(count.slice) != loop.target.id or not isinstance(count.value, ast.Name):
        return None
    name = count.value.id
    everywhere = scope.function.places(name)
    statement = scope.only_assignment(name)
    if len(everywhere) != 2 or statement is None:
        return None
    chosen = _counted(statement.value, scope)
    mask = routing.mask
    same = (
        isinstance(chosen, ast.Name)
        and isinstance(mask, ast.Compare)
        and [type(op) for op in mask.ops] == [ast.Eq]
        and {ast.unparse(mask.left), ast.unparse(mask.comparators[0])} == {chosen.id, loop.target.id}
    )
    if not same or not isinstance(chosen, ast.Name):
        return None
    memory = scope.value(chosen).storage
    if scope.legality.memory.writer(memory, (), scope.facts) is not None:
        return None  # the loop may see other experts than were counted
    return statement if all(s.lineno < statement.lineno for s in scope.names(chosen.id, stores=True)) else None


def _none_of(test: ast.expr) -> ast.Subscript | None:
    """`counts[i]` of `counts[i] == 0` and `not counts[i]`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        found = test.operand
    elif isinstance(test, ast.Compare) and [type(op) for op in test.ops] == [ast.Eq]:
        zero = test.comparators[0]
        found = test.left if isinstance(zero, ast.Constant) and zero.value == 0 else test
    else:
        return None
    return found if isinstance(found, ast.Subscript) else None


def _counted(node: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor whose elements `torch.bincount(...)` counts, all of them."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ON_HOST:
        node = node.func.value
    if not isinstance(node, ast.Call) or scope.callee(node) not in ("torch.bincount", "Tensor.bincount"):
        return None
    if {k.arg for k in node.keywords} != {"minlength"}:  # else an expert may have no count, which raises
        return None
    source = node.args[0] if scope.callee(node) == "torch.bincount" and len(node.args) == 1 else None
    if source is None and not node.args and isinstance(node.func, ast.Attribute):
        source = node.func.value
    if isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute):
        given = [ast.unparse(a) for a in source.args]
        flat = source.func.attr in _FLAT and not given
        if not source.keywords and (flat or (source.func.attr in _SHAPED and given == ["-1"])):
            source = source.func.value
    return source
