"""What no call that is seen gives a parameter: a tensor, a flag that is off, another value than the default."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from compilefix.analysis.given_constants import defaults
from compilefix.analysis.registered import registered
from compilefix.analysis.values import Kind
from compilefix.source.definitions import Class, Function
from compilefix.source.syntax import asks_for_none, asks_for_something, is_literal, unpacks

if TYPE_CHECKING:
    from compilefix.codemods.rule import Scope

NO_TENSORS = (Kind.SIZE, Kind.NUMBER, Kind.STATIC, Kind.NONE, Kind.CONTAINER)
_SOMETHING = (Kind.SIZE, Kind.NUMBER, Kind.STATIC, Kind.CONTAINER, Kind.TENSOR)


def asks_for_unpassed(test: ast.expr, scope: Scope) -> bool:
    """Whether a test says yes only for what nobody passes: `isinstance(repeats, torch.Tensor)`, `if verbose:`."""
    if isinstance(test, ast.Call) and scope.callee(test) == "isinstance" and len(test.args) == 2:
        name, leaves_out = test.args[0], _is_number
        asked = ast.unparse(test.args[1]).endswith("Tensor")
    elif isinstance(test, ast.Call) and scope.callee(test) == "torch.is_tensor" and len(test.args) == 1:
        name, leaves_out, asked = test.args[0], _is_number, True
    elif isinstance(test, ast.Compare) and len(test.ops) == 1:
        name, leaves_out = test.left, _is_nothing
        own = scope.function.cls is None or scope.function.node.name.startswith("_")
        if own and asks_for_none(test) and not asks_for_something(test):
            return (
                isinstance(name, ast.Name) and not _is_stored_before(test, name.id, scope) and is_given(name.id, scope)
            )
        asked = own and asks_for_something(test)
    elif isinstance(test, ast.Name):
        name, leaves_out = test, is_off
        asked = scope.function.cls is None and is_off(defaults(scope.function).get(test.id))
    else:
        return False
    if not isinstance(name, ast.Name) or not asked:
        return False
    text, around = ast.unparse(test), scope.statement(test)
    later = around.targets if isinstance(around, ast.Assign) else []
    stores = [store for store in scope.names(name.id, stores=True) if store not in later]
    if not all(_stands_behind(text, store, scope) for store in stores):
        return False
    facts, sizes = scope.legality.inference.facts, leaves_out is _is_number
    return _always_given(
        name.id,
        scope,
        lambda caller, value: (
            leaves_out(value) or (sizes and value is not None and facts(caller).value(value).is_(*NO_TENSORS))
        ),
    )


def is_given(name: str, scope: Scope, *kinds: Kind, elsewhere: bool = True) -> bool:
    """Whether each call that is seen gives a parameter something that is not None, and of one of some kinds.

    elsewhere: whether calls in other files are looked for, which parses and walks them.
    """
    if name not in defaults(scope.function):
        return False
    facts = scope.legality.inference.facts
    some = tuple(kind for kind in kinds or _SOMETHING if kind is not Kind.NONE)
    return _always_given(
        name,
        scope,
        lambda caller, value: value is not None and facts(caller).value(value).is_(*some),
        elsewhere=elsewhere,
    )


def is_kept_by_callers(name: str, scope: Scope, depth: int = 4) -> bool:
    """Whether each call that is seen gives a parameter what its own object has kept since `__init__`.

    Also by way of parameters of what calls: `lbs(x, self.parents)`, which goes on to `chain(parents)`.
    """
    return _always_given(name, scope, lambda caller, value: _is_kept(value, scope.in_function(caller), depth))


def _is_kept(value: ast.expr | None, scope: Scope, depth: int) -> bool:
    function = scope.function
    if isinstance(value, ast.Name) and depth:
        own = value.id in {parameter.arg for parameter in function.parameters}
        return own and not scope.names(value.id, stores=True) and is_kept_by_callers(value.id, scope, depth - 1)
    if not isinstance(value, ast.Attribute) or not isinstance(value.value, ast.Name) or function.cls is None:
        return False
    if function.is_static or not function.parameters or value.value.id != function.parameters[0].arg:
        return False
    bases = scope.legality.inference.project.ancestors(function.cls)
    classes = (function.cls, *(base for base in bases if isinstance(base, Class)))
    storing = [
        method.node.name
        for cls in classes
        for method in cls.methods.values()
        if any(_stores(node, value.attr) for node in method.nodes)
    ]
    return bool(storing) and set(storing) == {"__init__"}


def _stores(node: ast.AST, attribute: str) -> bool:
    """Whether a node gives an attribute a value, or registers a buffer or parameter of this name."""
    if isinstance(node, ast.Attribute):
        return node.attr == attribute and isinstance(node.ctx, ast.Store)
    call = registered(node)
    return call is not None and isinstance(call.name, ast.Constant) and call.name.value == attribute


def is_off(value: ast.expr | None) -> bool:
    """Whether a value is False as it is written."""
    return is_literal(value, False)


def _always_given(
    name: str, scope: Scope, is_so: Callable[[Function, ast.expr | None], bool], *, elsewhere: bool = True
) -> bool:
    """Whether there are calls that are seen, and what each gives a parameter is so."""
    seen = False
    for caller, value in _given_by_callers(name, scope, elsewhere=elsewhere):
        if not is_so(caller, value):
            return False
        seen = True
    return seen


def _given_by_callers(name: str, scope: Scope, *, elsewhere: bool = True) -> Iterator[tuple[Function, ast.expr | None]]:
    """What the calls of the function that are seen give a parameter, each with the function that calls.

    Those on the way to the function, and where there are such, those in other files too: each leads to it. To look for
    these means to parse and walk what calls something of that name anywhere, so they come last.
    """
    facts = scope.legality.inference.facts
    calls = [(caller, call) for caller, call in scope.calls_here if facts(caller).calls.get(call) is scope.function]
    yield from ((caller, _given(name, call, scope)) for caller, call in calls if isinstance(call, ast.Call))
    others = scope.calls_elsewhere if calls and elsewhere else ()
    yield from ((caller, _given(name, call, scope)) for caller, call in others if isinstance(call, ast.Call))


def _given(name: str, call: ast.Call, scope: Scope) -> ast.expr | None:
    """What a call of the function gives a parameter, or its default; None where that is not seen."""
    if unpacks(call):
        return None
    own = scope.function.node.args
    bound = scope.function.cls is not None and scope.function.parent is None and not scope.function.is_static
    names = [parameter.arg for parameter in (*own.posonlyargs, *own.args)]
    given = defaults(scope.function)
    given.update(zip(names[int(bound) :], call.args, strict=False))
    given.update((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)
    return given.get(name)


def _is_stored_before(test: ast.expr, name: str, scope: Scope) -> bool:
    """Whether a parameter is given another value where a test may read that."""
    return any(store.lineno < test.lineno for store in scope.names(name, stores=True)) or any(
        isinstance(around, ast.For | ast.While) for around in scope.ancestors(test)
    )


def _stands_behind(test: str, node: ast.AST, scope: Scope) -> bool:
    """Whether a node stands in a block that runs where a test, by its text, says yes."""
    child = node
    for around in scope.ancestors(node):
        if isinstance(around, ast.If) and child in around.body and ast.unparse(around.test) == test:
            return True
        child = around
    return False


def _is_number(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, int | float)


def _is_nothing(value: ast.expr | None) -> bool:
    return is_literal(value, None)
