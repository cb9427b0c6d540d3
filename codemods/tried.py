"""Handlers of errors round what breaks the graph: they work because of the break.

An operation in a graph raises when the graph runs, and Dynamo does not look for a handler then. As long as something in
the body of a `try` breaks the graph, all of it runs in eager, and the handler catches what it is there for.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from compilefix.analysis import torch_api
from compilefix.analysis.managers import catches_errors
from compilefix.analysis.regions import is_given_to_compile
from compilefix.analysis.tensor_functions import NEVER_COMPILED
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.tree import walk

SHOWS = re.compile(r"print|log|warn|stdout|stderr|echo", re.IGNORECASE)
"""Words of code that prints or logs."""
_MAY_CATCH = r"^\s*try:|suppress\(|raises\("
_OF_OPERATIONS = frozenset({"Exception", "BaseException", "RuntimeError"})
_NO_LONGER_RAISED = {
    "condition-one-element": ("ValueError",),
    "dimension-not-empty": ("IndexError", "ValueError"),
    "enough-dimensions": ("IndexError", "ValueError", "TypeError"),
    "index-in-range": ("IndexError", "ValueError"),
    "mask-not-empty": ("IndexError", "ValueError"),
    "math-errors": ("ValueError", "OverflowError", "ZeroDivisionError"),
    "number-to-tensor": ("IndexError",),
    "one-dimension": ("IndexError", "ValueError", "TypeError"),
    "one-hot-rows": ("IndexError", "ValueError"),
    "rows-match": ("IndexError", "ValueError"),
}
"""By assumption the errors that the old code raises where it does not hold, and code may be written for."""
_CALLED_BY_MODULES = frozenset({"forward", "__call__", "backward"})


def handled(finding: Finding, scope: Scope) -> Finding:
    """The finding, declined where its fix would take the break from a `try` that needs it."""
    if finding.fix is None:
        return finding
    if (expected := _expected(finding, scope)) is not None:
        return replace(finding, fix=None, declined=expected)
    if finding.effect != "break":
        return finding
    failing = _handled_operation(finding, scope)
    if failing is None:
        return finding
    reason = f"a handler catches the error of `{failing}`, which in a graph is raised past it"
    return replace(finding, fix=None, declined=reason)


def _expected(finding: Finding, scope: Scope) -> str | None:
    """What catches an error that the new code does not raise: the function or its caller goes on in another way."""
    assumed = finding.fix.assumptions if finding.fix is not None else ()
    raised = [error for a in assumed for error in _NO_LONGER_RAISED.get(a, ())]
    if not raised:
        return None
    names = tuple(dict.fromkeys(name for error in raised for name in _written_for(error)))
    inside = ((scope.function, o) for o in scope.among(ast.Try, ast.With) if _holds(o, finding, scope))
    calls = (*scope.calls_here, *_calls_caught(names, scope))
    outside = ((f, o) for f, node in calls for kind in (ast.Try, ast.With) for o in around(node, f, kind))
    for function, outer in (*inside, *outside):
        caught = next((text for text in map(ast.unparse, _caught(outer)) if text in names), None)
        if caught is not None:
            where = "the function" if function is scope.function else f"`{function.qualname}`"
            return f"a handler in {where} goes on where `{caught}` is raised, which the fix takes away"
    return None


def _calls_caught(names: Sequence[str], scope: Scope) -> Iterator[tuple[Function, ast.AST]]:
    """The calls of the function where errors of these names are caught, in files that name them there."""
    if scope.function.cls is None or scope.function.node.name not in _CALLED_BY_MODULES:
        for name in names:
            yield from scope.named_calls(_caught_within, (name, rf"\b(?:except|suppress)\b[^:\n]*\b{name}\b"))


def _caught_within(function: Function) -> Iterator[ast.AST]:
    outers: Sequence[ast.Try | ast.With] = (*function.of(ast.Try), *function.of(ast.With))
    bodies = (outer.body for outer in outers if any(_caught(outer)))
    return (part for body in bodies for each in body for part in walk(each))


def _caught(outer: ast.AST) -> Iterator[ast.expr]:
    """The errors that a `try`, or `with suppress(...)`, catches by name."""
    if isinstance(outer, ast.Try):
        yield from (kind for kind in _kinds(outer) if kind is not None)
    for item in outer.items if isinstance(outer, ast.With) else ():
        called = item.context_expr
        if isinstance(called, ast.Call) and ast.unparse(called.func).rpartition(".")[2] == "suppress":
            yield from called.args


def _holds(outer: ast.AST, finding: Finding, scope: Scope) -> bool:
    body: Sequence[ast.stmt] = outer.body if isinstance(outer, ast.Try | ast.With) else ()
    return any(scope.span(statement).holds(finding.span) for statement in body)


def _written_for(error: str) -> tuple[str, ...]:
    """The names under which a handler catches an error, but for those that catch all."""
    return tuple(c.__name__ for c in getattr(builtins, error).__mro__ if c not in (Exception, BaseException, object))


def _handled_operation(finding: Finding, scope: Scope) -> str | None:
    for node in scope.of(ast.Try):
        if _catches(node) and _holds(node, finding, scope):
            found = _failing(node.body, scope)
            if found is not None:
                return found
    return _failing(scope.function.node.body, scope) if _is_tried(scope) else None


def _catches(node: ast.Try) -> bool:
    """Whether a handler catches errors of operations: a general one, or one of which that is not known."""
    return any(kind is None or _of_operations(ast.unparse(kind).rpartition(".")[2]) for kind in _kinds(node))


def _of_operations(name: str) -> bool:
    return name in _OF_OPERATIONS or not hasattr(builtins, name)


def _failing(body: Sequence[ast.stmt], scope: Scope) -> str | None:
    """The text of an operation on tensors that may fail, by its values or by the shapes that it is given."""
    inside = {id(part) for statement in body for part in walk(statement)}
    live = scope.among(ast.Call, ast.BinOp)
    return next((snippet(node) for node in live if id(node) in inside and _may_fail(node, scope)), None)


def _may_fail(node: ast.AST, scope: Scope) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.MatMult)
    name = scope.callee(node) or ""
    method = name.startswith("Tensor.")
    api = torch_api.method(name.removeprefix("Tensor.")) if method else torch_api.function(name)
    if api is None:
        return isinstance(node, ast.Call) and scope.value(node).is_(Kind.TENSOR)
    return api.kind() == "Tensor" and not (api.total and api.pointwise)


def met_on_the_way(statement: ast.AST, raised: ast.expr | None, scope: Scope) -> str | None:
    """What meets an exception in the code of the project before it leaves the compiled call, as far as is seen.

    Raised at the boundary it is past all that: handlers, and lines that `finally` would print before.
    """
    called = raised.func if isinstance(raised, ast.Call) else raised
    name = "AssertionError" if isinstance(statement, ast.Assert) else ast.unparse(called) if called is not None else ""
    places = ((scope.function, statement), *scope.calls_here, *_tried_calls(scope), *_calls_of_the_module(scope))
    met = (
        (f, outer)
        for f, node in dict.fromkeys(places)
        for kind in (ast.Try, ast.With)
        for outer in around(node, f, kind)
    )
    for function, outer in met:
        where = "the function" if function is scope.function else f"`{function.qualname}`"
        if isinstance(outer, ast.With):
            inference = scope.legality.inference
            facts = inference.facts(function)
            if any(catches_errors(item.context_expr, facts, inference.project) for item in outer.items):
                return f"a `with` block in {where} may catch the exception"
            continue
        if function is scope.function and outer.handlers:
            return f"a handler in {where} may catch the exception"
        if any(_may_be(kind, name) for kind in _kinds(outer)):
            return f"a handler in {where} may catch the exception"
        if any(SHOWS.search(ast.unparse(each)) for each in outer.finalbody):
            return f"the `finally` in {where} may say something after the exception is raised"
    return None


def _tried_calls(scope: Scope) -> Iterator[tuple[Function, ast.AST]]:
    """The calls of the function in a `try`, anywhere in the project."""
    known = scope.compiled.callers or is_given_to_compile(scope.compiled.root)
    if known or (scope.function.node.name in _CALLED_BY_MODULES and scope.function.cls is not None):
        return  # what compiles it and how it is reached is known, or modules call it that hold its object
    yield from scope.named_calls(_tried, ("try", r"\btry\s*:"))


def _tried(function: Function) -> Iterator[ast.AST]:
    return (part for outer in function.of(ast.Try) for each in outer.body for part in walk(each))


def _calls_of_the_module(scope: Scope) -> Iterator[tuple[Function, ast.AST]]:
    """The calls that lead to the `forward` of a module from other files that name its class and may catch something."""
    inference, cls = scope.legality.inference, scope.function.cls
    if cls is None or scope.function.node.name != "forward":
        return
    modules = inference.project.modules
    is_module = inference.project.is_module_class
    for module in modules.texts.matching(cls.node.name, _MAY_CATCH):
        if modules[module] is scope.function.module:
            continue
        around_it = [
            f
            for f in modules[module].all_functions
            if f.cls is not None and is_module(f.cls) and f.node.name not in NEVER_COMPILED
        ]
        called = {f: frozenset(scope.legality.called(f)) for f in around_it}
        leading = {scope.function}
        while more := [f for f in around_it if f not in leading and not leading.isdisjoint(called[f])]:
            leading.update(more)
        for function in around_it:
            if function in leading:
                calls = inference.facts(function).calls
                yield from ((function, node) for node, callee in calls.items() if callee in leading)


def _kinds(node: ast.Try) -> list[ast.expr | None]:
    """What the handlers of a `try` catch; None for all."""
    kinds = [handler.type for handler in node.handlers]
    return [k for kind in kinds for k in (kind.elts if isinstance(kind, ast.Tuple) else [kind])]


def _may_be(kind: ast.expr | None, raised: str) -> bool:
    """Whether a handler may catch an exception of this name: those of which nothing is known may be anything."""
    caught = getattr(builtins, ast.unparse(kind), None) if kind is not None else BaseException
    thrown = getattr(builtins, raised, None)
    return not (isinstance(caught, type) and isinstance(thrown, type)) or issubclass(thrown, caught)


def _is_tried(scope: Scope) -> bool:
    """Whether compiled code calls the function in a `try` that catches the errors of operations."""
    tries = (outer for caller, call in scope.calls_here for outer in around(call, caller, ast.Try))
    return any(isinstance(outer, ast.Try) and _catches(outer) for outer in tries)


def around(node: ast.AST, function: Function, kind: type[ast.With | ast.Try]) -> Iterator[ast.With | ast.Try]:
    """The statements of a kind in whose body a node of a function stands."""
    for outer in function.of(kind):
        if any(part is node for statement in outer.body for part in walk(statement)):
            yield outer
