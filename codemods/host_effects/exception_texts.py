"""The names that a branch computes for the text of its exception: they are made where the exception is made.

index = torch.where(bad)[0][0]            emit(lambda bad, x: ValueError(f"found {x[torch.where(bad)[0][0]].tolist()}"),
found = x[index].tolist()                      bad, x, raise_if=...)
raise ValueError(f"found {found}")
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.codemods.host_effects.late import late, whole
from compilefix.codemods.host_effects.plan import Plan
from compilefix.codemods.rule import Scope
from compilefix.source.tree import names_in


def exception_of(statement: ast.stmt, scope: Scope) -> ast.expr | None:
    """The exception that a statement always raises: `raise E(...)`, or the text of `torch._assert(False, text)`."""
    if isinstance(statement, ast.Raise):
        return statement.exc
    return asserted_text(statement, scope)


def asserted_text(statement: ast.stmt, scope: Scope) -> ast.expr | None:
    """The text of `torch._assert(False, text)`."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or scope.callee(call) != "torch._assert" or len(call.args) != 2 or call.keywords:
        return None
    test = call.args[0]
    return call.args[1] if isinstance(test, ast.Constant) and test.value is False else None


def ends_in_exception(body: Sequence[ast.stmt], scope: Scope) -> bool:
    """Whether a block only computes what the text of its exception needs, and raises."""
    return bool(body) and exception_of(body[-1], scope) is not None and is_text(body[:-1], scope)


def is_text(body: Sequence[ast.stmt], scope: Scope) -> bool:
    """Whether statements only give names values that nothing but the exception at the end of their block reads."""
    names = [name for statement in body for name in _names(statement, scope)]
    if None in names:
        return False
    inside = {part for statement in body for part in ast.walk(statement)}
    for name in {n for n in names if n is not None}:
        uses = scope.function.places(name)
        block = {*_around(body, scope)}
        stores = [n for n in uses if not isinstance(n.ctx, ast.Load) and n in block]
        if not all(n in inside for n in stores) or scope.function.takes(name):
            return False
        # The block ends in an exception: what the name means elsewhere is another value, unless the block reads it.
        if not _given_first(name, body) or (not block.issuperset(uses) and _declared(name, scope)):
            return False
        if any(n not in block and _is_nested(n, scope) for n in uses):
            return False
    return all(_is_pure(node, scope) for statement in body for node in _values(statement))


def _given_first(name: str, body: Sequence[ast.stmt]) -> bool:
    """Whether the first of the statements that has a name gives it a value, and does not read it for that."""
    first = next(s for s in body if name in names_in(s))
    uses = [n for n in ast.walk(first) if isinstance(n, ast.Name) and n.id == name]
    return isinstance(first, ast.Assign | ast.AnnAssign) and all(isinstance(n.ctx, ast.Store) for n in uses)


def _declared(name: str, scope: Scope) -> bool:
    """Whether a name is one of the module or of a function around this one."""
    found = (n for n in ast.walk(scope.function.node) if isinstance(n, ast.Global | ast.Nonlocal))
    return any(name in statement.names for statement in found)


def _is_nested(node: ast.AST, scope: Scope) -> bool:
    """Whether a name stands in a function of its own, which may be called at any time."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    around = list(scope.ancestors(node))
    return any(isinstance(one, functions) and one is not scope.function.node for one in around)


def _around(body: Sequence[ast.stmt], scope: Scope) -> list[ast.AST]:
    block = scope.block(body[0])
    return [part for statement in block for part in ast.walk(statement)]


def _names(statement: ast.stmt, scope: Scope) -> Iterator[str | None]:
    """The names that a statement gives values; None where it does anything else."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id if statement.value is not None else None
    elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        yield statement.targets[0].id if isinstance(statement.targets[0], ast.Name) else None
    elif isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        yield statement.target.id if isinstance(statement.target, ast.Name) else None
    elif isinstance(statement, ast.If) and not statement.orelse and all(_adds(s) for s in statement.body):
        for inner in statement.body:
            yield from _names(inner, scope)
    else:
        yield None


def _adds(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add)


def _values(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.If):
        yield statement.test
        for inner in statement.body:
            yield from _values(inner)
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) and statement.value is not None:
        yield statement.value


def _is_pure(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression may be computed later, or not at all."""
    does = scope.legality.effects.of(node, scope.facts)
    return does.random is None and does.mutates is None and does.unknown is None


def make(body: Sequence[ast.stmt], plan: Plan) -> None:
    """Tell the plan how the names of these statements are made in the lambda."""
    for statement in body:
        if isinstance(statement, ast.If):
            test = late(statement.test, plan, raw=False)
            for inner in statement.body:
                assert isinstance(inner, ast.AugAssign)
                assert isinstance(inner.target, ast.Name)
                more = late(inner.value, plan, raw=False)
                name = inner.target.id
                plan.made[name] = f"({plan.made[name]} + ({more} if {test} else ''))"
        elif isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
            plan.made[name] = f"({plan.made[name]} + {late(statement.value, plan, raw=False)})"
        elif isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
            assert isinstance(target, ast.Name)
            text = isinstance(statement.value, ast.JoinedStr | ast.Constant)
            made = late(statement.value, plan, raw=False) if text else whole(statement.value, plan)
            atom = text or isinstance(statement.value, ast.Call | ast.Subscript | ast.Attribute | ast.Name)
            plan.made[target.id] = made if atom else f"({made})"
