"""Whether a name has a value on every way to a statement: a selection reads it on all of them."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence

from compilefix.analysis.managers import catches_errors
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.source.definitions import Class
from compilefix.source.snippets import snippet
from compilefix.source.syntax import conjuncts
from compilefix.source.tree import names_in, stored_in
from compilefix.source.unbound import unbound_names

_Names = frozenset[str]
_SCOPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
# `except*` came with Python 3.11.
_TRIES: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))


def unbound_before(name: str, statement: ast.stmt, scope: Scope) -> Iterator[Obstacle]:
    """What is not proved of a name having a value there: one that a loop gives it counts on the loop having turns."""
    if "." in name or not name.isidentifier():
        return
    function = scope.function
    given = {parameter.arg for parameter in ast.walk(function.node.args) if isinstance(parameter, ast.arg)}
    outside = {n for s in function.of(ast.Global) for n in s.names}
    outside |= {n for s in function.of(ast.Nonlocal) for n in s.names}
    if name in given | outside:
        return
    if not scope.names(name, stores=True) and name not in scope.function.imported:
        if _undefined(name, scope):
            yield Obstacle(f"nothing gives `{name}` a value")
        return
    if not _has_value(name, statement, function.node.body, scope, loops_turn=True):
        yield Obstacle(f"`{name}` may have no value before the `if`")
    elif not _has_value(name, statement, function.node.body, scope, loops_turn=False):
        yield Obstacle(f"`{name}` has no value before the `if` where a loop has no turn", "branches-total")


def unbound_in(parts: Iterable[ast.AST], statement: ast.stmt, scope: Scope) -> Iterator[Obstacle]:
    """The same for each name that is read in code of a branch which runs always."""
    names = [n for part in parts for n in ast.walk(part) if isinstance(n, ast.Name)]
    own = {n.id for n in names if isinstance(n.ctx, ast.Store)}  # those of a comprehension
    # What the test gives a name (`assert (n := ...) > 0, n`) is there: the whole test runs always.
    tested = ast.walk(statement.test) if isinstance(statement, ast.Assert | ast.If) else ()
    own |= {n.target.id for n in tested if isinstance(n, ast.NamedExpr)}
    for name in sorted({n.id for n in names} - own):
        yield from unbound_before(name, statement, scope)
    for part in parts:
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute) and _may_be_missing(node, scope):
                reason = f"`{snippet(node)}` is not known to be there, and is read always"
                yield Obstacle(reason, "branches-total")


def unbound_where_skipped(parts: Iterable[ast.AST], at: ast.AST, scope: Scope) -> Iterator[Obstacle]:
    """What code of a branch reads that may have no value where the branch was not taken: another `if` gave it one.

    That one asks a tensor as well, or the same; what a flag decides is read where the flag is set.
    """
    asked = ast.unparse(at.test) if isinstance(at, ast.If | ast.IfExp) else None
    stored = stored_in(at)
    read = names_in(*parts)
    for name in sorted(read - stored):
        around = (a for store in scope.names(name, stores=True) for a in scope.ancestors(store))
        tests = (a.test for a in around if isinstance(a, ast.If))
        if any(is_tensor_test(t, scope) or (asked is not None and asked in ast.unparse(t)) for t in tests):
            found = unbound_before(name, at if isinstance(at, ast.stmt) else scope.statement(at), scope)
            yield from (obstacle for obstacle in found if obstacle.assumption is None)


def _undefined(name: str, scope: Scope) -> bool:
    """Whether a name is one of the module that nothing in it gives a value: a mistake that no run has met."""
    module = scope.function.module
    if any(name in known for known in (module.imports, module.functions, module.classes, module.assigns)):
        return False  # what is found here in most cases costs nothing
    try:
        return name in unbound_names(module.file.text)
    except SyntaxError:
        return False


def _may_be_missing(node: ast.Attribute, scope: Scope) -> bool:
    """Whether an attribute is read of what may be None, or of an object of a known class that has none such."""
    base, project = scope.value(node.value), scope.legality.inference.project
    if Kind.NONE in base.kinds:
        return True
    cls = project.resolve(base.ref) if base.ref is not None and base.is_(Kind.OBJECT) else None
    if not isinstance(cls, Class) or node.attr.startswith("__") or node.attr in _OF_MODULES:
        return False
    known = all(isinstance(one, Class) or one in ("object", *_MODULES) for one in project.ancestors(cls))
    named = any(isinstance(n, ast.Constant) and n.value == node.attr for n in ast.walk(cls.node))
    if not known or named or project.method(cls, node.attr) is not None:
        return False
    return scope.legality.inference.attribute(cls, node.attr) is None


_MODULES = ("torch.nn.Module", "torch.nn.modules.module.Module")
_OF_MODULES = frozenset({"training", "_parameters", "_buffers", "_modules"})


def unbound_behind(name: str, body: Sequence[ast.stmt], scope: Scope) -> Iterator[Obstacle]:
    """What is not proved of a block giving a name a value that has none before it."""
    end = ast.Pass()
    if not _has_value(name, end, [*body, end], scope, loops_turn=True):
        yield Obstacle(f"`{name}` may have no value in a branch")
    elif not _has_value(name, end, [*body, end], scope, loops_turn=False):
        yield Obstacle(f"`{name}` has no value in a branch where a loop has no turn", "branches-total")


def _catches(node: ast.With | ast.AsyncWith, scope: Scope) -> bool:
    project = scope.legality.inference.project
    return any(catches_errors(item.context_expr, scope.facts, project) for item in node.items)


def _has_value(name: str, statement: ast.stmt, body: Sequence[ast.stmt], scope: Scope, *, loops_turn: bool) -> bool:
    function = scope.function
    blocks: list[ast.With | ast.AsyncWith] = [*function.of(ast.With), *function.of(ast.AsyncWith)]
    quiet = {node for node in blocks if _catches(node, scope)}
    asked = {part for test in function.of(ast.If) for part in conjuncts(test.test) if is_tensor_test(part, scope)}
    walk = _Walk(name, statement, quiet | asked, loops_turn)
    walk.block(body, bound=False, known=frozenset())
    return walk.found is not False


class _Walk:
    """Goes through a function and asks at one statement whether a name has a value.

    known: the texts of the tests under which it has one, or that hold: behind `if flag: z = x`, under `if flag:`.
    loose: the `with` blocks that an error may end without ending the function, and the tests on tensors, of which
    nothing holds where both branches run.
    """

    def __init__(self, name: str, statement: ast.stmt, loose: Container[ast.AST], loops_turn: bool) -> None:
        self._name, self._statement, self._loose, self._loops_turn = name, statement, loose, loops_turn
        self.found: bool | None = None
        self._gives: set[str] = set()

    def block(self, body: Sequence[ast.stmt], bound: bool, known: _Names) -> bool | None:
        """Whether the name has a value behind a block that is entered with or without one; None: it does not end."""
        state: bool | None = bound
        for statement in body:
            if state is None:
                return None
            if statement is self._statement:
                self.found = (state or bool(known & self._gives)) and self.found is not False
            state = self._after(statement, state, known)
            self._forget(statement)
        return state

    def _forget(self, statement: ast.stmt) -> None:
        """A flag with another value tells no more where the name has one."""
        if isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign) and self._gives:
            given = stored_in(statement)
            names = {text: names_in(ast.parse(text)) for text in self._gives}
            self._gives -= {text for text, read in names.items() if read & given}

    def _after(self, statement: ast.stmt, bound: bool, known: _Names) -> bool | None:
        if isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue):
            return None
        if isinstance(statement, ast.Delete) and any(_stores(target, self._name) for target in statement.targets):
            self._gives.clear()
            return False
        if isinstance(statement, ast.If):
            return self._if(statement, bound, known)
        if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
            return self._loop(statement, bound, known)
        if isinstance(statement, _TRIES):
            return self._try(statement, bound, known)
        if isinstance(statement, ast.With | ast.AsyncWith):
            named = any(_stores(i.optional_vars, self._name) for i in statement.items if i.optional_vars is not None)
            after = self.block(statement.body, bound or named, known)
            ended = (bound or named) and not self._deletes(statement.body)
            return _joined([after, ended]) if statement in self._loose else after
        if isinstance(statement, ast.AnnAssign) and statement.value is None:
            return bound
        if isinstance(statement, ast.Match):
            ends = [
                self.block(case.body, bound or _stores(case.pattern, self._name), known) for case in statement.cases
            ]
            return _joined([*ends, bound])
        if isinstance(statement, _SCOPES):
            return bound or getattr(statement, "name", "") == self._name
        return bound or _stores(statement, self._name)

    def _if(self, statement: ast.If, bound: bool, known: _Names) -> bool | None:
        parts = conjuncts(statement.test)
        holds = frozenset(ast.unparse(part) for part in parts if part not in self._loose)
        fixed = len(holds) == len(parts)
        fails = frozenset({f"not {ast.unparse(statement.test)}"} if fixed else ())
        bound = bound or _stores(statement.test, self._name)
        then = self.block(statement.body, bound, known | holds)
        orelse = self.block(statement.orelse, bound, known | fails)
        if then and not bound and fixed and len(holds) == 1:
            self._gives |= holds
        if orelse and not bound:
            self._gives |= fails
        return _joined([then, orelse])

    def _loop(self, statement: ast.For | ast.AsyncFor | ast.While, bound: bool, known: _Names) -> bool | None:
        target = getattr(statement, "target", None)
        again = bound and not self._deletes(statement.body)  # the turn before may have taken the name away
        inside = again or (target is not None and _stores(target, self._name))
        turned = self.block(statement.body, inside, known)
        endless = isinstance(statement, ast.While) and isinstance(statement.test, ast.Constant) and statement.test.value
        given = any(_stores(part, self._name) for part in statement.body) or inside
        after = bound or ((self._loops_turn or bool(endless)) and (given if turned is None else turned))
        return self.block(statement.orelse, after, known)

    def _try(self, statement: ast.Try, bound: bool, known: _Names) -> bool | None:
        after = self.block(statement.body, bound, known)
        if after is not None:
            after = self.block(statement.orelse, after, known)
        bound = bound and not self._deletes(statement.body)
        handled = [self._handler(handler, bound, known) for handler in statement.handlers]
        end = _joined([after, *handled])
        final = self.block(statement.finalbody, bool(end), known)
        return None if end is None or final is None else final

    def _handler(self, handler: ast.ExceptHandler, bound: bool, known: _Names) -> bool | None:
        own = handler.name == self._name  # that name is gone behind the handler
        after = self.block(handler.body, bound or own, known)
        return False if own and after else after

    def _deletes(self, body: Sequence[ast.stmt]) -> bool:
        names = (n for statement in body for n in ast.walk(statement) if isinstance(n, ast.Name))
        return any(n.id == self._name and isinstance(n.ctx, ast.Del) for n in names)


def _joined(ends: Sequence[bool | None]) -> bool | None:
    """What holds where ways meet: those that end elsewhere do not count."""
    left = [end for end in ends if end is not None]
    return all(left) if left else None


def _stores(node: ast.AST, name: str) -> bool:
    """Whether a statement or target gives the name a value; nested functions have names of their own."""
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Store | ast.Del):
            return True
        if isinstance(part, ast.alias) and (part.asname or part.name.partition(".")[0]) == name:
            return True
        if isinstance(part, ast.MatchAs | ast.MatchStar) and part.name == name:
            return True
        if isinstance(part, _COMPREHENSIONS):  # their own names are not those round them
            waiting.extend(n.target for n in ast.walk(part) if isinstance(n, ast.NamedExpr))
        elif not isinstance(part, _SCOPES):
            waiting.extend(ast.iter_child_nodes(part))
    return False
