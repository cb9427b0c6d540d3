"""A number that a mask on the values of a tensor selects: `-1.0` for the mask `(x >= -1.0) & (x <= 1.0)` of `x`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.source.operators import OPPOSITE, TURNED
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_BELOW = (ast.Gt, ast.GtE)


def selected_number(mask: ast.expr, tensor: ast.expr, at: ast.stmt, scope: Scope) -> tuple[str, list[Obstacle]] | None:
    """Code for a number that the mask selects in a tensor, and what is not proved of it; None where none is seen.

    The mask may be a name that one statement gives a value. Where no number fits the mask, it selects nothing.
    """
    bounds = list(_bounds(mask, tensor, at, scope, negated=False))
    if not bounds:
        return None
    closed = [bound for kind, bound in bounds if kind in (ast.GtE, ast.LtE)]
    low = next((bound for kind, bound in bounds if kind in _BELOW), None)
    high = next((bound for kind, bound in bounds if kind not in _BELOW), None)
    if closed:
        code, used = ast.unparse(closed[0]), closed[:1]
    elif low is not None and high is not None:
        code, used = f"({_operand(low)} + {_operand(high)}) / 2", [low, high]
    elif low is not None:
        code, used = _beside(low, 1), [low]
    else:
        assert high is not None
        code, used = _beside(high, -1), [high]
    obstacles: list[Obstacle] = []
    value = scope.value(tensor)
    if value.dtype != "float" or not all(scope.value(b).is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER) for b in used):
        reason = f"`{snippet(tensor)}` and the bound `{code}` are not proved to be a floating tensor and a number"
        obstacles.append(Obstacle(reason, "same-shape-dtype"))
    return code, obstacles


def _beside(bound: ast.expr, step: int) -> str:
    if isinstance(bound, ast.Constant) and isinstance(bound.value, int | float):
        return repr(bound.value + step)
    return f"{_operand(bound)} {'+' if step > 0 else '-'} 1"


def _operand(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, ast.Name | ast.Attribute | ast.Constant | ast.UnaryOp) else f"({text})"


def _bounds(
    mask: ast.expr, tensor: ast.expr, at: ast.stmt, scope: Scope, *, negated: bool, depth: int = 0
) -> Iterator[tuple[type[ast.cmpop], ast.expr]]:
    """The comparisons of the tensor that all hold where the mask is true."""
    if depth > 6:
        return
    if isinstance(mask, ast.Name):
        made = _made_once(mask, tensor, at, scope)
        if made is not None:
            yield from _bounds(made, tensor, at, scope, negated=negated, depth=depth + 1)
    elif isinstance(mask, ast.UnaryOp) and isinstance(mask.op, ast.Invert):
        yield from _bounds(mask.operand, tensor, at, scope, negated=not negated, depth=depth + 1)
    elif isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitOr if negated else ast.BitAnd):
        for part in (mask.left, mask.right):
            yield from _bounds(part, tensor, at, scope, negated=negated, depth=depth + 1)
    elif isinstance(mask, ast.Call) and len(mask.args) == 2 and not mask.keywords:
        if scope.callee(mask) == ("torch.logical_or" if negated else "torch.logical_and"):
            for part in mask.args:
                yield from _bounds(part, tensor, at, scope, negated=negated, depth=depth + 1)
    elif isinstance(mask, ast.Compare) and len(mask.ops) == 1 and type(mask.ops[0]) in OPPOSITE:
        kind, left, right = type(mask.ops[0]), mask.left, mask.comparators[0]
        if ast.dump(right) == ast.dump(tensor):
            kind, left, right = TURNED[kind], right, left
        if ast.dump(left) == ast.dump(tensor) and _plain(right):
            yield OPPOSITE[kind] if negated else kind, right


def _plain(bound: ast.expr) -> bool:
    """Whether a bound may be written a second time: names, attributes and numbers."""
    allowed = (ast.Name, ast.Attribute, ast.Constant, ast.UnaryOp, ast.BinOp, ast.operator, ast.unaryop, ast.Load)
    return all(isinstance(n, allowed) for n in ast.walk(bound))


def _loops_round(statement: ast.stmt, scope: Scope) -> list[ast.AST]:
    return [around for around in scope.ancestors(statement) if isinstance(around, ast.For | ast.While)]


def _made_once(mask: ast.Name, tensor: ast.expr, at: ast.stmt, scope: Scope) -> ast.expr | None:
    """What the one statement that makes a mask gives it, where nothing in it gets another value before `at`."""
    statement = scope.only_assignment(mask.id)
    if statement is None or _loops_round(statement, scope) != _loops_round(at, scope):
        return None
    value = scope.value(statement.value)
    if scope.legality.memory.writer(value.storage, (), scope.facts) is not None:
        return None
    read = names_in(statement.value, tensor)
    moved = (s for name in read for s in scope.names(name, stores=True))
    if any(statement.lineno < s.lineno < at.lineno for s in moved):
        return None
    return statement.value
