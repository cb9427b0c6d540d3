"""Truths that a function returns, `return False` behind a check and `return True` at its end, as boolean tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import chain

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, Value
from compilefix.codemods.callers import callers_elsewhere, is_read_of
from compilefix.codemods.kept_branches import kept_in
from compilefix.codemods.rule import Scope

_FOLLOWED = 3


def are_truths(values: Sequence[Value]) -> bool:
    """Whether each is True, False or a boolean tensor without dimensions, and one is no tensor."""
    fixed = [value.is_(Kind.STATIC) and value.certain and value.dtype == "bool" for value in values]
    tensors = (v.is_scalar_tensor and v.certain and v.dtype == "bool" for v in values)
    return any(fixed) and all(known or tensor for known, tensor in zip(fixed, tensors, strict=True))


def as_tensor(names: Sequence[str], uses: Sequence[ast.expr], scope: Scope) -> Iterator[Obstacle]:
    """Whether a truth may be a boolean tensor: all that is done with it, or with its name in `uses`, is to return it.

    Who calls the function from the same file, or on the way to it, must ask for no more than the truth; of others
    nothing is known.
    """
    name = scope.function.node.name
    if name.startswith("__") and name.endswith("__") and name != "__call__":
        yield Obstacle(f"Python needs True or False from `{name}`")
        return
    if (decorator := scope.legality.inference.changed_by(scope.function)) is not None:
        yield Obstacle(f"`@{decorator}` may need True or False")
        return
    live = {*scope.nodes}
    read = (n for n in scope.function.of(ast.Name) if n.id in names and isinstance(n.ctx, ast.Load))
    nested = next((n for n in read if n not in live), None)
    if nested is not None:
        yield Obstacle(f"a nested function reads `{nested.id}`, and may need True or False")
        return
    other = next((use for use in uses if not (_is_returned(use, scope) or _is_selected(use, scope))), None)
    if other is not None:
        yield Obstacle(f"line {other.lineno} needs True or False, and would read the tensor")
        return
    handed = _handed_on(name, scope)
    if handed is not None:
        yield Obstacle(f"`{name}` is handed on in line {handed}, to code that may need True or False")
        return
    for caller, asking in _askers(scope):
        needing = next((node for node in asking if not _asks_truth(node, caller)), None)
        if needing is not None:
            line = getattr(needing, "lineno", 0)
            name = caller.function.qualname
            yield Obstacle(f"`{name}` does more on line {line} than to ask whether it is true")
            return
    if _decisions(scope) <= 1 and (moved := moved_break(scope)) is not None:
        yield moved  # two that become one break are a gain
        return
    yield Obstacle("who calls this gets a boolean tensor instead of True or False", "number-to-tensor")


def moved_break(scope: Scope) -> Obstacle | None:
    """Where a caller asks for the returned truth in a branch that stays one: the graph would break there instead."""
    for caller, asking in _askers(scope):
        branches = (branch for node in asking for branch in _branches(node, caller))
        kept = next((branch for branch in branches if isinstance(branch, ast.While) or kept_in(branch, caller)), None)
        if kept is not None:
            name = caller.function.qualname
            return Obstacle(f"the break would only move to line {kept.lineno} of `{name}`, which stays a branch")
    return None


def _askers(scope: Scope) -> Iterator[tuple[Scope, list[ast.AST]]]:
    """Who calls the function from the same file, on the way to it or by its name elsewhere, and the calls."""
    near = (*scope.function.module.all_functions, *scope.compiled.callers)
    for caller in dict.fromkeys(chain(near, callers_elsewhere(scope))):
        inner = scope.in_function(caller)
        asking: list[ast.AST] = [node for node, callee in inner.facts.calls.items() if callee in scope.stands_for]
        if scope.function.is_property:
            asking += [node for node in caller.of(ast.Attribute) if is_read_of(node, scope.function)]
        if live := [node for node in asking if node in inner.parents]:
            yield inner, live


def _handed_on(name: str, scope: Scope) -> int | None:
    """The line in which a function of the file hands this one on, as in `map(is_bad, xs)`."""
    method = scope.function.cls is not None
    for function in scope.function.module.all_functions:
        for call in function.of(ast.Call):
            for given in (*call.args, *(keyword.value for keyword in call.keywords)):
                named = given.attr if isinstance(given, ast.Attribute) and method else getattr(given, "id", None)
                if named == name and not ast.unparse(call.func).endswith("compile"):
                    return given.lineno
    return None


def _is_returned(use: ast.expr, scope: Scope) -> bool:
    parent = scope.parents.get(use)
    if isinstance(parent, ast.Tuple):
        parent = scope.parents.get(parent)
    return isinstance(parent, ast.Return)


def _is_selected(use: ast.expr, scope: Scope) -> bool:
    """Whether another selection for the same name keeps the truth: `ok = torch.where(bad, False, ok)`."""
    call, statement = scope.parents.get(use), scope.statement(use)
    kept = isinstance(call, ast.Call) and scope.callee(call) == "torch.where" and use in call.args[1:]
    return (
        kept and isinstance(statement, ast.Assign) and [ast.unparse(t) for t in statement.targets] == [ast.unparse(use)]
    )


def _asks_truth(node: ast.AST, scope: Scope, depth: int = 0) -> bool:
    """Whether nothing but the truth of an expression counts, which a boolean tensor has as well."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
        return parent.test is node
    if isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
        return _asks_truth(parent, scope, depth)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and depth < _FOLLOWED:
        target = parent.targets[0]
        names = [target] if not isinstance(target, ast.Tuple) else [e for e in target.elts if _may_be_truth(e, scope)]
        named = [name.id for name in names if isinstance(name, ast.Name)]
        uses = [use for name in named for use in scope.names(name)]
        return len(named) == len(names) and all(_asks_truth(use, scope, depth + 1) for use in uses)
    if isinstance(parent, ast.GeneratorExp | ast.ListComp) and parent.elt is node:
        around = scope.parents.get(parent)
        return isinstance(around, ast.Call) and scope.callee(around) in ("all", "any")
    if isinstance(parent, ast.comprehension):
        return node in parent.ifs
    return isinstance(parent, ast.Return | ast.Expr)


def _branches(node: ast.AST, scope: Scope, depth: int = 0) -> Iterator[ast.If | ast.While]:
    """The `if`s and loops that the truth of an expression decides, also by a name."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.If | ast.While) and parent.test is node:
        yield parent
    elif isinstance(parent, ast.BoolOp | ast.UnaryOp):
        yield from _branches(parent, scope, depth)
    elif isinstance(parent, ast.Assign) and depth < _FOLLOWED:
        for name in (part for target in parent.targets for part in ast.walk(target) if isinstance(part, ast.Name)):
            for use in scope.names(name.id):
                yield from _branches(use, scope, depth + 1)


def _decisions(scope: Scope) -> int:
    """How many branches of the function a tensor decides: each breaks the graph."""
    tests = (node.test for node in scope.nodes if isinstance(node, ast.If | ast.While | ast.IfExp))
    return sum(any(isinstance(n, ast.expr) and scope.value(n).is_tensor for n in ast.walk(test)) for test in tests)


def _may_be_truth(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.dtype == "bool" or not value.is_(Kind.TENSOR, Kind.NONE)
