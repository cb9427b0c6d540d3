"""What the way on divides by, where an early return asks whether that is zero.

    if number == 0:                       condition = number == 0
        return x.sum() * 0                loss = x.sum() / torch.where(condition, 1, number)
    loss = x.sum() / number               return torch.where(condition, x.sum() * 0, loss)
    return loss

The quotient is not taken where the condition holds, its derivative would be NaN there for sure, and integers would
raise an error. So it is with what a branch divides by before it returns, where its test says that it is not zero.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from compilefix.codemods.control_flow.exits import Exit
from compilefix.codemods.double_where import divisor_of
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Given, Template
from compilefix.codemods.torch_name import where
from compilefix.source.operators import TURNED

_DIVISOR = "compilefix_divisor"
"""What a comparison asks of its right side."""
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.NotEq: ast.Eq}


def zero_divisors(test: ast.expr, found: Exit, scope: Scope) -> list[ast.expr]:
    """The divisors on the way on that a test finds to be zero."""
    return _zero_in(found.between, test, scope)


def tested_divisors(test: ast.expr, found: Exit, scope: Scope) -> list[ast.expr]:
    """The divisors in the statements of a branch that are zero where its test does not hold."""
    return _zero_in([step for step in found.steps if isinstance(step, ast.Assign)], _opposite(test), scope)


def _zero_in(statements: Iterable[ast.stmt], test: ast.expr, scope: Scope) -> list[ast.expr]:
    wanted = {ast.dump(tested) for tested in _found_zero(test, scope)}
    divisors = [d for statement in statements for d in _divisors(statement, scope)]
    return [d for d in divisors if ast.dump(d) in wanted and scope.value(d).is_tensor]


def divided_safely(divisors: Sequence[ast.expr], condition: str, heads: Template, scope: Scope) -> dict[ast.expr, str]:
    """The code for each divisor of a branch: one where its condition does not hold."""
    return {d: f"{where(scope)}({condition}, {heads.use(d)}, 1)" for d in divisors}


def with_divisors(
    statement: ast.stmt, divisors: Sequence[ast.expr], condition: str, body: Template, scope: Scope
) -> str:
    """A statement with a divisor of one where the condition holds."""
    inside = set(ast.walk(statement))
    own = [divisor for divisor in divisors if divisor in inside]
    plain = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    if not own or not plain or not isinstance(statement, ast.Assign):
        return body.use(statement)
    given = Given(statement.value, tuple((d, Given(ast.Name(_DIVISOR, ast.Load()), built=True)) for d in own))
    safe = f"{where(scope)}({condition}, 1, {body.use(own[0])})"
    return f"{body.use(statement.targets[0])} = {body.code(given).replace(_DIVISOR, safe)}"


def _opposite(test: ast.expr) -> ast.expr:
    """What holds where a test does not."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    turned = _OPPOSITE.get(type(test.ops[0])) if isinstance(test, ast.Compare) and len(test.ops) == 1 else None
    if turned is not None and isinstance(test, ast.Compare):
        return ast.copy_location(ast.Compare(test.left, [turned()], test.comparators), test)
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


def _divisors(statement: ast.stmt, scope: Scope) -> Iterator[ast.expr]:
    for node in ast.walk(statement):
        divisor = divisor_of(node, scope) if isinstance(node, ast.expr) and node in scope.parents else None
        if divisor is not None:
            yield divisor


def _found_zero(test: ast.expr, scope: Scope) -> Iterator[ast.expr]:
    """What is zero only where a test holds: `n == 0`, `n <= 0`, `n < 1`, `not n`; `a - b` where it is `a == b`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield read_of(test.operand, scope) or test.operand
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return
    sides, asked = (test.left, test.comparators[0]), type(test.ops[0])
    if scope.value(test.left).const is not None:  # `0 == n`
        sides, asked = (sides[1], sides[0]), TURNED.get(asked, asked)
    limit = scope.value(sides[1]).const
    if asked in (ast.Eq, ast.GtE, ast.LtE) and limit is None:
        yield from (ast.BinOp(a, ast.Sub(), b) for a, b in (sides, sides[::-1]))
    number = limit.value if limit is not None and isinstance(limit.value, int | float) else None
    if number is None:
        return
    if {ast.Eq: number == 0, ast.LtE: number >= 0, ast.Lt: number > 0}.get(asked, False):
        yield read_of(sides[0], scope) or sides[0]
