"""A statement that asks for the gradient of a local tensor (`h.requires_grad = True`): what else it is used for."""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of, names_in, parents

_ANOTHER_TENSOR = frozenset({"unsqueeze", "view", "transpose", "permute", "expand", "narrow", "select", "unfold"})
_COLLECTS = frozenset({"append", "extend", "add", "insert", "update", "setdefault", "put"})
_ASKS = frozenset({"backward", "grad", "retain_grad", "register_hook", "requires_grad_"})
_TELLS = frozenset({"requires_grad", "is_leaf", "grad_fn", "retains_grad", "_backward_hooks"})
_WAY_ON = "ask for its gradient outside the compiled code"


def made_here(owner: ast.Name, scope: Scope) -> bool:
    """Whether what a name holds is a tensor that the function made: a new one, or a view, which is another object."""
    value = scope.value(owner)
    if not value.may_be(Kind.TENSOR) or value.origin:
        return False
    line = owner.lineno
    before = [s for s in scope.of(ast.Assign) if s.lineno < line and _binds(s, owner.id)]
    if not before:
        return False
    last = before[-1]
    if scope.block(last) is not scope.block(scope.statement(owner)) and not _leads_to(last, owner, scope):
        return False
    made = last.value
    if isinstance(made, ast.Subscript):
        parts = elements_of(made.slice)
        return any(isinstance(p, ast.Slice) or (isinstance(p, ast.Constant) and p.value is None) for p in parts)
    if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in _ANOTHER_TENSOR:
        return True
    return value.is_tensor and bool(value.storage) and not any(t.startswith(_OUTSIDE) for t in value.storage)


_OUTSIDE = ("param:", "self.", "global.")


def _binds(statement: ast.Assign, name: str) -> bool:
    return name in names_in(*statement.targets)


def _leads_to(statement: ast.Assign, owner: ast.Name, scope: Scope) -> bool:
    """Whether an assignment stands in a block round the name, so that nothing else can have bound it."""
    block = scope.block(statement)
    return any(around in block for around in scope.ancestors(owner))


def of_buffer(owner: ast.expr, scope: Scope) -> bool:
    """Whether a local name was given a buffer of the object by its last assignment (`loss = self.zero`)."""
    if not isinstance(owner, ast.Name) or scope.function.cls is None:
        return False
    stores = [store for store in scope.names(owner.id, stores=True) if store.lineno < owner.lineno]
    last = scope.parents.get(stores[-1]) if stores else None
    if not isinstance(last, ast.Assign) or last.targets != [stores[-1]] or not _leads_to(last, owner, scope):
        return False
    value = last.value
    if not isinstance(value, ast.Attribute) or not isinstance(value.value, ast.Name) or value.value.id != "self":
        return False
    return value.attr in {_registered(node) for node in ast.walk(scope.function.cls.node)}


def is_part_of_buffer(owner: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a buffer of the object, or a slice of one: `self.table[:, :n]`."""
    while isinstance(owner, ast.Subscript):
        owner = owner.value
    if scope.function.cls is None or not isinstance(owner, ast.Attribute) or not isinstance(owner.value, ast.Name):
        return False
    own = next((parameter.arg for parameter in scope.function.parameters), None)
    return owner.value.id == own and owner.attr in {_registered(node) for node in ast.walk(scope.function.cls.node)}


def _registered(node: ast.AST) -> str | None:
    """The name under which a call registers a buffer."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
        return None
    name = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
    return name if node.func.attr == "register_buffer" and isinstance(name, str) else None


def kept_by(owner: ast.expr, scope: Scope, *, behind: bool = False) -> str | None:
    """A use of a local tensor that keeps it for later, or tells whether it requires a gradient; `behind` it only."""
    if not isinstance(owner, ast.Name):
        return f"`{snippet(owner)}` is no local name"
    used = False
    way = _way_on(owner, scope)
    for use in scope.function.of(ast.Name):
        if use.id != owner.id or use is owner or not isinstance(use.ctx, ast.Load):
            continue
        if behind and use.lineno < owner.lineno:
            continue
        parent = scope.parents.get(use)
        if parent is None:
            return f"`{owner.id}` is used in a nested function"
        if isinstance(parent, ast.Attribute):
            if parent.attr in _TELLS and not isinstance(parent.ctx, ast.Store):
                return f"`{snippet(parent)}` tells whether it requires a gradient"
            used = used or use.lineno in way
            continue
        if isinstance(parent, ast.Tuple | ast.List | ast.IfExp | ast.Starred):
            parent = scope.parents.get(parent)
        if isinstance(parent, ast.Assign):
            return f"`{owner.id}` gets another name, or is stored"
        if isinstance(parent, ast.keyword):
            parent = scope.parents.get(parent)
        if isinstance(parent, ast.Return):
            continue
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr in _COLLECTS:
            return f"`{snippet(parent)}` keeps it"
        if isinstance(parent, ast.Call) and (asking := _asked_by(parent, scope)) is not None:
            return f"`{asking}` is given it, and asks for a gradient"
        if not isinstance(parent, ast.Call | ast.BinOp | ast.UnaryOp | ast.Subscript | ast.Compare):
            return f"`{owner.id}` leaves the function, or is given to unknown code: {_WAY_ON}"
        used = used or use.lineno in way
    return None if used else "the tensor is made for the caller, who may ask for its gradient"


def _asked_by(call: ast.Call, scope: Scope) -> str | None:
    """The function of the project that a call leads to, and that asks for gradients."""
    first = scope.facts.calls.get(call)
    ahead = [] if first is None else [first]
    seen: set[Function] = set()
    while ahead and len(seen) < _FOLLOWED:
        function = ahead.pop()
        if function in seen:
            continue
        seen.add(function)
        if any(node.attr in _ASKS_THERE and not isinstance(node.ctx, ast.Store) for node in function.of(ast.Attribute)):
            return function.qualname
        ahead += scope.legality.called(function)
    return None


_ASKS_THERE = _ASKS - {"requires_grad_"}
_FOLLOWED = 50
"""How many functions are looked at: a whole model may stand behind a call."""


def _way_on(owner: ast.Name, scope: Scope) -> range:
    """The lines that run behind a request up to the `return` it leads to; in a loop those of the whole function."""
    node = scope.function.node
    for around in scope.ancestors(owner):
        if isinstance(around, ast.For | ast.While | ast.AsyncFor):
            break
        if isinstance(around, ast.stmt) and around is not node and isinstance(scope.block(around)[-1], ast.Return):
            last = scope.block(around)[-1]
            return range(owner.lineno, (last.end_lineno or last.lineno) + 1)
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def returned_to_compute(scope: Scope) -> bool:
    """Whether all calls of a function are seen, and their callers only compute with what it returns."""
    inference = scope.legality.inference
    calls = [
        (caller, node) for caller, node in scope.calls_here if inference.facts(caller).calls.get(node) is scope.function
    ]
    return bool(calls) and all(_only_computed_with(node, caller) for caller, node in calls)


def _only_computed_with(node: ast.AST, caller: Function) -> bool:
    around = parents(caller.nodes)
    statement = around.get(node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    target = statement.targets[0]
    if not isinstance(target, ast.Name):
        return False
    for use in caller.of(ast.Name):
        if use.id != target.id or not isinstance(use.ctx, ast.Load) or use.lineno <= node.lineno:  # type: ignore[attr-defined]
            continue
        asked = around.get(use)
        if isinstance(asked, ast.Attribute) and asked.attr not in _TELLS | _ASKS:
            return True  # the first use computes another tensor
        return isinstance(asked, ast.BinOp | ast.Subscript)
    return False


def without_guard(statement: ast.stmt, scope: Scope) -> ast.stmt:
    """The statement, or the `if` of plain flags that holds nothing else."""
    around = scope.parents.get(statement)
    if not isinstance(around, ast.If) or around.body != [statement] or around.orelse:
        return statement
    is_elif = getattr(scope.parents.get(around), "orelse", None) == [around]
    plain = all(
        isinstance(n, ast.Name | ast.Attribute | ast.BoolOp | ast.UnaryOp | ast.boolop | ast.unaryop | ast.expr_context)
        for n in ast.walk(around.test)
    )
    return around if plain and not is_elif and len(scope.block(around)) > 1 else statement
