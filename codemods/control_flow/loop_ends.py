"""How tensors end a loop: by an `if` with a way out in its body, with a flag under which that is said."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.kept_attributes import never_set_later, only_init_sets
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test, split_static
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

Loop = ast.For | ast.While


def stores_in(loop: Loop) -> list[ast.Name]:
    """The names that a loop gives values or deletes."""
    return [n for n in ast.walk(loop) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]


def reads_in(node: ast.expr) -> set[str]:
    """The names that an expression reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


_COMPARED = (ast.Compare, ast.BinOp, ast.UnaryOp, ast.Name, ast.Attribute, ast.Constant, ast.operator, ast.unaryop)


@dataclass(frozen=True)
class End:
    """An `if` on a tensor that ends the loop in whose body it stands.

    around: the test of an `if` that holds nothing else, `if early_stop:`, but assignments `before`. said: what is said
    under a flag. given: the names that get a last value there, and what they get: also the names that the function
    returns behind the loop, where the way out is a `return`.
    """

    node: ast.If
    around: ast.expr | None
    said: ast.If | None
    given: tuple[tuple[str, ast.expr], ...]
    before: tuple[ast.stmt, ...] = ()


def ends_loop(node: ast.AST, scope: Scope) -> bool:
    """Whether an `if` ends a loop on a tensor, by itself or within a condition that Python decides."""
    return any(end.node is node for each in (node, scope.parents.get(node)) if (end := end_of(each, scope)))


def end_of(outer: ast.AST | None, scope: Scope) -> End | None:
    """How an `if` ends the loop round it on a tensor; None where it does not, or does more."""
    loop = scope.parents.get(outer) if outer is not None else None
    if not isinstance(outer, ast.If) or not isinstance(loop, Loop) or outer not in loop.body or outer.orelse:
        return None
    node, around = outer, None
    *before, inner = outer.body
    computes = all(isinstance(step, ast.Assign) for step in before) and not is_tensor_test(outer.test, scope)
    if isinstance(inner, ast.If) and computes:
        node, around = inner, outer.test
    else:
        before = []
    if node.orelse or not is_tensor_test(node.test, scope):
        return None
    said = next((step for step in node.body if acts_under_flags(step, loop, scope)), None)
    rest = [step for step in node.body if step is not said]
    if not rest:
        return None  # it says something, and the loop goes on
    *steps, last = rest
    given = _returned(last, loop, scope) if isinstance(last, ast.Return) else ()
    if given is None or not isinstance(last, ast.Break | ast.Return):
        return None
    named = [_named(step) for step in steps]
    if any(pair is None for pair in named) or (named and isinstance(last, ast.Return)):
        return None
    assert said is None or isinstance(said, ast.If)
    return End(node, around, said, (*(pair for pair in named if pair is not None), *given), tuple(before))


def _named(step: ast.stmt) -> tuple[str, ast.expr] | None:
    if isinstance(step, ast.Assign) and len(step.targets) == 1 and isinstance(step.targets[0], ast.Name):
        return step.targets[0].id, step.value
    return None


def _returned(end: ast.Return, loop: Loop, scope: Scope) -> tuple[tuple[str, ast.expr], ...] | None:
    """The names that the function returns right behind the loop, and what it returns for them here."""
    block = scope.block(loop)
    behind = block[block.index(loop) + 1 :]
    if loop.orelse or not behind or not isinstance(behind[0], ast.Return):
        return None
    names, values = _items(behind[0].value), _items(end.value)
    if (
        len(names) != len(values)
        or not names
        or isinstance(behind[0].value, ast.Tuple) != isinstance(end.value, ast.Tuple)
    ):
        return None
    given = [(n.id, v) for n, v in zip(names, values, strict=True) if isinstance(n, ast.Name)]
    if len(given) < len(names) or len({name for name, _ in given}) < len(given):
        return None
    new = [(name, value) for name, value in given if not (isinstance(value, ast.Name) and value.id == name)]
    # They get their values one after the other: none may be made of a name that has got its own.
    for index, (_, value) in enumerate(new):
        before = {name for name, _ in new[:index]}
        if not names_in(value).isdisjoint(before):
            return None
    return tuple(new)


def _items(value: ast.expr | None) -> list[ast.expr]:
    if isinstance(value, ast.Tuple):
        return value.elts
    return [] if value is None else [value]


def acts_under_flags(statement: ast.stmt, loop: Loop, scope: Scope) -> bool:
    """Whether a statement acts only under flags which the loop leaves as they are: `if verbose: print(...)`."""
    if not isinstance(statement, ast.If) or statement.orelse or is_tensor_test(statement.test, scope):
        return False
    return all(_is_flag(flag, loop, scope) for flag in flags_in(statement))


def flags_in(statement: ast.If) -> list[ast.expr]:
    """What an `if` asks first: `verbose` in `verbose and turn > 2`, and both in `verbose or debug`."""
    test = statement.test
    first = test.values[0] if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else test
    return first.values if isinstance(first, ast.BoolOp) and isinstance(first.op, ast.Or) else [first]


def _is_flag(node: ast.expr, loop: Loop, scope: Scope) -> bool:
    if isinstance(node, ast.Name):
        stores = scope.names(node.id, stores=True)
        given = not stores or node.id in scope.facts.env_before.get(loop, {})
        return given and not any(n in stores for n in ast.walk(loop))
    return isinstance(node, ast.Attribute) and is_kept(node, scope)


def is_kept(attribute: ast.Attribute, scope: Scope) -> bool:
    """Whether an attribute of `self`, or of what that holds, has what `__init__` gave it, as far as the file shows."""
    owner = attribute.value
    if isinstance(owner, ast.Attribute):
        return is_kept(owner, scope) and never_set_later(attribute.attr, scope.function)
    never_rebound = isinstance(owner, ast.Name) and not scope.names(owner.id, stores=True)
    return never_rebound and only_init_sets(attribute, scope.function)


def fixed_first(test: ast.expr, scope: Scope) -> tuple[list[ast.expr], list[ast.expr], list[Obstacle]]:
    """The conjuncts of a condition that Python decides, those that are tensors, and what of their order is not kept.

    Behind a tensor may stand a comparison of plain names, as in `error < tolerance and turn > 2`.
    """
    fixed, tests = split_static(test, scope)
    obstacles: list[Obstacle] = []
    conjuncts = test.values if isinstance(test, ast.BoolOp) else [test]
    for part in fixed:
        if tests and conjuncts.index(part) > conjuncts.index(tests[0]):
            shown = f"`{snippet(part)}` stands behind a tensor"
            if not isinstance(part, ast.Compare) or not all(
                isinstance(n, (*_COMPARED, ast.cmpop, ast.expr_context)) for n in ast.walk(part)
            ):
                obstacles.append(Obstacle(f"{shown} and is more than a comparison of names"))
            obstacles.append(Obstacle(f"{shown}, which could fail where that is false", "branches-total"))
    return fixed, tests, obstacles
