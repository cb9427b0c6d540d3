"""`repeat_interleave` with repeats that a list of sizes holds: Python adds them up.

    torch.repeat_interleave(rows, torch.tensor(counts))

A list of one number counts for all rows, so that it is multiplied by their number.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from compilefix.analysis.values import Kind, Value
from compilefix.codemods.dynamic_shapes.repeats import RepeatsCall, repeats_call
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template

_TENSOR_OF = frozenset({"torch.tensor", "torch.as_tensor"})
_NEW = frozenset(f"torch.{name}" for name in ("arange", "zeros", "ones", "full", "rand", "randn", "linspace", "tensor"))


@dataclass(frozen=True)
class ListedRepeats:
    """A call, and the list that its repeats are made of."""

    call: RepeatsCall
    listed: ast.Name


def listed_repeats(node: ast.Call, scope: Scope) -> ListedRepeats | None:
    """A call of `repeat_interleave` with a tensor made of a list of sizes, which are not negative."""
    call = repeats_call(node, scope)
    if call is None or not isinstance(scope.statement(node), ast.Assign | ast.Return | ast.Expr):
        return None
    made: ast.expr | None = call.repeats
    if isinstance(made, ast.Name):
        made = _made_before(made, scope)
    if not isinstance(made, ast.Call) or scope.callee(made) not in _TENSOR_OF or len(made.args) != 1:
        return None
    listed = made.args[0]
    if not isinstance(listed, ast.Name) or not _sizes(listed, scope) or not _is_tensor(call.tensor, scope):
        return None
    if made is not call.repeats and _mentioned_between(listed.id, made, node, scope):
        return None
    if call.dim is not None and scope.value(call.dim).const is None:
        return None
    shadowed = any(scope.local_name(name) or scope.names(name, stores=True) for name in ("sum", "len"))
    return None if shadowed or (_hoisted(call) and not _comes_first(call, scope)) else ListedRepeats(call, listed)


def listed_edits(found: ListedRepeats, scope: Scope) -> Sequence[Edit]:
    """The call with the number of rows that it gives."""
    call, template = found.call, Template()
    node, edits = call.node, []
    tensor = template.use(call.tensor)
    name = tensor
    if _hoisted(call):
        name = free_name("repeated", scope)
        edits.append(scope.before(scope.statement(node), f"{name} = {{tensor}}", tensor=call.tensor))
    given = [name if a is call.tensor else template.use(a) for a in node.args]
    given += [f"{k.arg}={name if k.value is call.tensor else template.use(k.value)}" for k in node.keywords]
    method = isinstance(node.func, ast.Attribute) and node.func.value is call.tensor
    function = f"{name}.repeat_interleave" if method else template.use(node.func)
    rows = f"{name}.numel()" if call.dim is None else f"{name}.shape[{template.use(call.dim)}]"
    listed = template.use(found.listed)
    size = f"sum({listed}) if len({listed}) != 1 else {listed}[0] * {rows}"
    code = f"{function}({', '.join([*given, f'output_size={size}'])})"
    return [*edits, scope.edit(node, code, **template.used_in(code))]


def _is_tensor(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a tensor, also one of `arange = partial(torch.arange, device=device)`."""
    if scope.value(node).is_tensor:
        return True
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    made = scope.only_value(node.func.id)
    if not isinstance(made, ast.Call) or scope.callee(made) != "functools.partial" or not made.args:
        return False
    return scope.function.module.qualified(made.args[0]) in _NEW


def _hoisted(call: RepeatsCall) -> bool:
    """Whether what is repeated needs a name, to be asked for its size."""
    return not isinstance(call.tensor, ast.Name | ast.Attribute)


def _comes_first(call: RepeatsCall, scope: Scope) -> bool:
    """Whether nothing in the statement is computed before what is repeated."""
    statement = scope.statement(call.node)
    alone = isinstance(statement, ast.Assign | ast.Return | ast.Expr) and statement.value is call.node
    plain = not isinstance(statement, ast.Assign) or all(isinstance(t, ast.Name) for t in statement.targets)
    return alone and plain


def _sizes(listed: ast.Name, scope: Scope) -> bool:
    """Whether a list holds sizes of tensors, or constants that are not negative."""
    value = scope.value(listed)
    if not value.is_(Kind.CONTAINER) or value.ref == "dict":
        return False
    items = value.elements if value.elements is not None else (value.element,)
    return all(item is not None and (item.is_(Kind.SIZE) or _is_count(item)) for item in items) and bool(items)


def _is_count(item: Value) -> bool:
    number = item.const.value if item.const is not None else None
    return type(number) is int and number >= 0


def _made_before(name: ast.Name, scope: Scope) -> ast.expr | None:
    """What the only assignment gives a name, where nothing uses that before."""
    statement = scope.only_assignment(name.id)
    if statement is None:
        return None
    same = scope.statement(name) in scope.block(statement)
    return statement.value if same and not _mentioned_between(name.id, statement.value, name, scope) else None


def _mentioned_between(name: str, first: ast.expr, last: ast.expr, scope: Scope) -> bool:
    begin, end = scope.statement(first).end_lineno or 0, scope.statement(last).lineno
    return any(n.id == name and begin < n.lineno < end for n in scope.function.of(ast.Name))
