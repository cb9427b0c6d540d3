"""`if condition: return a` before the `return b` of a function, as one return of the selected value."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from compilefix.analysis.legality import Obstacle
from compilefix.codemods.conditions import condition, is_tensor_test
from compilefix.codemods.control_flow.liveness import free_name
from compilefix.codemods.finding import Edit
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Given, Template, judge_selection, where
from compilefix.source.snippets import snippet


@dataclass(frozen=True)
class _Exit:
    """The ways out of a function: the tests with what each returns, what is returned else, and what runs between.

    lasts: the returns on the way on, one for each way through fixed `if`s; none where an `else` returns. returned: what
    the tests return, and what `else` does.
    """

    tests: tuple[ast.expr, ...]
    returned: tuple[ast.expr, ...]
    lasts: tuple[ast.Return, ...]
    between: tuple[ast.stmt, ...]

    @property
    def ends(self) -> list[tuple[ast.expr, ...]]:
        """What is returned on each way: by the tests, and at its end."""
        if not self.lasts:
            return [self.returned]
        return [(*self.returned, last.value) for last in self.lasts if last.value is not None]


def returns_early(node: ast.If) -> bool:
    """Whether every branch of the `if` returns."""
    return bool(node.body) and isinstance(node.body[-1], ast.Return)


def selected_return(node: ast.If, chain: Sequence[ast.If], scope: Scope, template: Template) -> tuple[Edit, ...]:
    """The edits that make one return of it; none, with the obstacle noted, where that is not possible."""
    found = _exit(node, chain, scope)
    if isinstance(found, str):
        template.refuse([Obstacle(found)])
        return ()
    if any(isinstance(a, ast.For | ast.While | ast.Try) for a in scope.ancestors(node)):
        template.refuse([Obstacle("a branch returns from within a loop or `try`")])
        return ()
    if not all(is_tensor_test(test, scope) for test in found.tests):
        template.refuse([Obstacle("a branch returns, and a fixed condition is mixed with a tensor")])
        return ()
    for statement in found.between:
        reason = _runs_always(statement, scope, template)
        if reason is not None:
            template.refuse([Obstacle(reason)])
            return ()
    heads = Template()
    codes = [condition([test], scope, heads) for test in found.tests]
    template.refuse(heads.obstacles)
    template.edits.extend(heads.edits)
    template.refuse(scope.legality.both_evaluated(found.tests[1:], scope.facts))
    if any(code is None for code in codes) or template.broken is not None:
        return ()
    tests = [code for code in codes if code is not None]
    return _edits(node, found, tests, heads, scope, template)


def _edits(
    node: ast.If, found: _Exit, tests: Sequence[str], heads: Template, scope: Scope, template: Template
) -> tuple[Edit, ...]:
    ends = [_elements(returned) for returned in found.ends]
    if any(elements is None for elements in ends):
        template.refuse([Obstacle("the returned tuples differ in length")])
        return ()
    elements = next(e for e in ends if e is not None)
    comments = found.lasts and "#" in "\n".join(
        scope.function.module.lines[node.lineno - 1 : found.lasts[-1].end_lineno]
    )
    named = found.between or comments or len(elements) > 1
    if named and len(tests) > 1:
        template.refuse([Obstacle("a chain of returns is followed by other statements, or returns several values")])
        return ()
    if not named:
        body = Template(dict(heads.parts))
        line = _line(elements, tests, {}, node, scope, body, template)
        first = scope.edit(node, line, **body.parts)
        return (first, *(scope.edit(last, "") for last in found.lasts))
    name = free_name("condition", scope)
    early = _early_values(elements, found, scope)
    if early:
        # The names on both sides are the same, and what they stand for is not.
        template.refuse(scope.legality.finite(_computed(found.between), scope.facts))
    head = "\n".join([f"{name} = {tests[0]}", *(f"{n} = {heads.use(value)}" for value, n in early.items())])
    if not found.lasts:
        body = Template(dict(heads.parts))
        line = _line(elements, [name], early, node, scope, body, template)
        return (scope.edit(node, f"{head}\n{line}", **body.parts),)
    edits = [scope.edit(node, head, **heads.parts)]
    for last, sides in zip(found.lasts, ends, strict=True):
        body = Template()
        line = _line(sides or [], [name], early, node, scope, body, template)
        edits.append(scope.edit(last, line, **body.parts))
    return tuple(edits)


def _line(
    elements: Sequence[tuple[ast.expr, ...]],
    tests: Sequence[str],
    early: Mapping[ast.expr, str],
    node: ast.If,
    scope: Scope,
    body: Template,
    template: Template,
) -> str:
    """The `return` of the selected values; what stands in the way is noted in `template`."""
    selections = [_selection(sides, tests, early, node, scope, body) for sides in elements]
    template.refuse(body.obstacles)
    return f"return {', '.join(selections)}"


def _computed(body: Sequence[ast.stmt]) -> Iterator[ast.expr]:
    for statement in body:
        for inner in _statements(statement):
            if isinstance(inner, ast.Assign):
                yield inner.value


def _early_values(elements: Sequence[tuple[ast.expr, ...]], found: _Exit, scope: Scope) -> dict[ast.expr, str]:
    """Names for the values that are returned early and read a name which is given another value on the way on."""
    stored = {
        n.id
        for statement in found.between
        for n in ast.walk(statement)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    early: dict[ast.expr, str] = {}
    for value in (side for sides in elements for side in sides[: len(found.returned)]):
        if found.lasts and any(isinstance(n, ast.Name) and n.id in stored for n in ast.walk(value)):
            name, count = free_name("early", scope), 2
            while name in early.values():
                name, count = free_name(f"early_{count}", scope), count + 1
            early[value] = name
    return early


def _exit(node: ast.If, chain: Sequence[ast.If], scope: Scope) -> _Exit | str:
    returned: list[ast.expr] = []
    for link in chain:
        if len(link.body) != 1 or not isinstance(link.body[0], ast.Return) or link.body[0].value is None:
            return "a branch returns, and does more than return a value"
        returned.append(link.body[0].value)
    tests = tuple(link.test for link in chain)
    orelse = chain[-1].orelse
    if orelse:
        if len(orelse) != 1 or not isinstance(orelse[0], ast.Return) or orelse[0].value is None:
            return "a branch returns, and another one does more than return a value"
        return _Exit(tests, (*returned, orelse[0].value), (), ())
    block = scope.block(node)
    following = block[block.index(node) + 1 :]
    lasts = tuple(n for statement in following for n in _statements(statement) if isinstance(n, ast.Return))
    if not _ends(following) or any(last.value is None for last in lasts):
        return "a branch returns, and the way on does not end in a `return` of a value"
    between = following[:-1] if isinstance(following[-1], ast.Return) else following
    return _Exit(tests, tuple(returned), lasts, tuple(between))


def _ends(body: Sequence[ast.stmt]) -> bool:
    """Whether a block ends in a return, on each way through its `if`s."""
    last = body[-1] if body else None
    return isinstance(last, ast.Return) or (isinstance(last, ast.If) and _ends(last.body) and _ends(last.orelse))


def _statements(statement: ast.stmt) -> Iterator[ast.stmt]:
    """A statement and, for an `if`, those in it."""
    yield statement
    if isinstance(statement, ast.If):
        for inner in (*statement.body, *statement.orelse):
            yield from _statements(inner)


def _runs_always(statement: ast.stmt, scope: Scope, template: Template) -> str | None:
    """Note what stands in the way of running a statement on the way to the last return always."""
    if isinstance(statement, ast.Pass | ast.Return):
        return None
    if isinstance(statement, ast.If) and not is_tensor_test(statement.test, scope):
        template.refuse(scope.legality.both_evaluated([statement.test], scope.facts))
        inner = (_runs_always(s, scope, template) for s in (*statement.body, *statement.orelse))
        return next((reason for reason in inner if reason is not None), None)
    if isinstance(statement, ast.Raise):
        template.refuse([Obstacle(f"`{snippet(statement)}` may be reached on the other side too", "branches-total")])
        return None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1 or target is None:
        return f"a branch returns before `{snippet(statement)}`, which would always run"
    names = [t for t in (target.elts if isinstance(target, ast.Tuple) else [target]) if isinstance(t, ast.Name)]
    if len(names) != (len(target.elts) if isinstance(target, ast.Tuple) else 1):
        return f"a branch returns before `{snippet(statement)}`, which would always run"
    template.refuse(scope.legality.both_evaluated([statement.value], scope.facts))
    return None


def _elements(returned: Sequence[ast.expr]) -> list[tuple[ast.expr, ...]] | None:
    """What is returned, element by element where it is a tuple."""
    if not any(isinstance(value, ast.Tuple) for value in returned):
        return [tuple(returned)]
    tuples = [value.elts for value in returned if isinstance(value, ast.Tuple)]
    if len(tuples) != len(returned) or len({len(t) for t in tuples}) != 1 or not tuples[0]:
        return None
    if any(isinstance(e, ast.Starred) for t in tuples for e in t):
        return None
    return list(zip(*tuples, strict=True))


def _selection(
    sides: Sequence[ast.expr],
    tests: Sequence[str],
    early: Mapping[ast.expr, str],
    node: ast.If,
    scope: Scope,
    template: Template,
) -> str:
    same = all(isinstance(side, ast.Name) and ast.dump(side) == ast.dump(sides[0]) for side in sides)
    if same and not any(side in early for side in sides):
        return template.use(sides[-1])
    givens = [Given(side) for side in sides]
    suffix = judge_selection([], givens, [scope.value(side) for side in sides], [], scope, node, template)
    code = template.use(sides[-1])
    for test, side in zip(reversed(tests), reversed(sides[:-1]), strict=True):
        code = f"{where(scope)}({test}, {early[side] if side in early else template.use(side)}, {code})"
    return code + suffix
