"""What keeps a number that was read from a tensor: an attribute, a list or dict of the object."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import chain

from compilefix.codemods.added_in_place import added_to
from compilefix.codemods.callers import callers, callers_elsewhere
from compilefix.codemods.host_reads.left_unread import leaves_unread, place_in_result, place_of_name
from compilefix.codemods.promised_numbers import attribute_promised
from compilefix.codemods.returned_truths import as_tensor
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in, parents

_DISPLAYS = (ast.Tuple, ast.List, ast.Dict)


def kept_in(node: ast.expr, scope: Scope) -> tuple[str, str | None] | None:
    """Whether the number is returned or stored: the reason, and the assumption under which a tensor will do."""
    child: ast.AST = node
    parent = scope.parents.get(node)
    while parent is not None and _holds(parent, child, scope):
        child, parent = parent, scope.parents.get(parent)
    updated = _updated_by(child, scope)
    decorator = scope.legality.inference.changed_by(scope.function)
    if decorator is not None and (
        isinstance(parent, ast.Return | ast.Yield) or _is_collected(child, scope.parents, scope.function)
    ):
        return f"the number is returned, and `@{decorator}` needs it as a Python number", None
    if isinstance(parent, ast.Return | ast.Yield):
        alone = child is node or (isinstance(child, ast.Tuple) and scope.parents.get(node) is child)
        if alone and scope.value(node).dtype == "int" and not scope.compiled.from_compile_call:
            return "the number is returned: an integer is a size or an index for whoever calls this", None
        place = place_in_result(node, scope)
        users = (u for u in chain(callers(scope), callers_elsewhere(scope)) if not leaves_unread(u, place, scope))
        user = next((u for u in users if child is not node or not _only_keeps(u, scope)), None)
        if user is not None and child is node and isinstance(parent, ast.Return) and scope.value(node).dtype == "bool":
            # Who only asks for the truth may ask a boolean tensor for it.
            obstacle = next(as_tensor([], [node], scope))
            return obstacle.reason, obstacle.assumption
        if user is not None:
            needs = "needs" if child is node else "may need"  # what is done with a part of a result is not looked at
            return f"the number is returned, and `{user.qualname}` {needs} it as a Python number", None
    elif isinstance(parent, ast.Assign | ast.AnnAssign) and parent.value is child:
        targets = parent.targets if isinstance(parent, ast.Assign) else [parent.target]
        if child is node and not all(isinstance(t, ast.Attribute | ast.Subscript) for t in targets):
            return None
        for target in targets:
            if not isinstance(target, ast.Name | ast.Attribute | ast.Subscript) or _read_back(target, scope):
                return f"the number is stored in `{snippet(target)}`, which this function goes on to read", None
            if (promised := attribute_promised(target, scope)) is not None:
                return f"the number is stored, and {promised}", None
            if isinstance(target, ast.Attribute) and _of_stranger(target.value, scope):
                return f"the number is stored in `{snippet(target)}`: what that object does with it is not known", None
            if isinstance(target, ast.Name) and isinstance(child, ast.Tuple | ast.List):
                user = next(chain(callers(scope), callers_elsewhere(scope)), None)
                if user is not None and _returned(target.id, scope):
                    return f"the number is returned, and `{user.qualname}` may need it as a Python number", None
            added = next(added_to(target, scope), None)
            if added is not None:
                return f"`{snippet(added)}` would change the tensor in place, where a number became another one", None
    elif updated is not None:
        if _read_back(updated, scope):
            return f"the number is stored in `{snippet(updated)}`, which this function goes on to read", None
    elif not _is_collected(child, scope.parents, scope.function):
        return None
    elif scope.value(node).dtype == "int" and not scope.compiled.from_compile_call:
        return "the number is collected: integers are sizes or indices for whoever calls this", None
    elif (user := _reader_of_list(child, scope)) is not None:
        return f"the number is collected and returned, and `{user.qualname}` needs it as a Python number", None
    reason = "the number leaves the arithmetic of this function: it is returned or stored as a Python number"
    return reason, "number-to-tensor"


def _of_stranger(owner: ast.expr, scope: Scope) -> bool:
    """Whether an attribute is one of an object that another one holds, and that is none of the project's classes.

    It may be a setting of a library (`self.scheduler.config.num_train_timesteps`), which makes arrays of it.
    """
    if not isinstance(owner, ast.Attribute):
        return False
    ref = scope.value(owner).ref
    target = scope.legality.inference.project.resolve(ref) if ref is not None else None
    return not isinstance(target, Class)


def _updated_by(node: ast.AST, scope: Scope) -> ast.expr | None:
    """The dictionary of this function that a statement adds a written dictionary, or keywords, to: `d.update(a=n)`."""
    call = scope.parents.get(node)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "update":
        return None
    added = isinstance(node, ast.keyword) or (isinstance(node, ast.Dict | ast.Call) and call.args == [node])
    holder = call.func.value
    known = isinstance(holder, ast.Name) and scope.value(holder).ref == "dict"
    return holder if added and known and isinstance(scope.parents.get(call), ast.Expr) else None


def _is_update(node: ast.AST, scope: Scope) -> bool:
    """Whether a dictionary stands in a statement that only adds to it: `d.update(...)`."""
    method = scope.parents.get(node)
    call = scope.parents.get(method) if isinstance(method, ast.Attribute) and method.attr == "update" else None
    return isinstance(call, ast.Call) and call.func is method and isinstance(scope.parents.get(call), ast.Expr)


def _holds(parent: ast.AST, child: ast.AST, scope: Scope) -> bool:
    """Whether a value stands in a list, tuple or dictionary as an item of it."""
    if isinstance(parent, ast.keyword):
        call = scope.parents.get(parent)
        return isinstance(call, ast.Call) and (scope.callee(call) == "dict" or _updated_by(parent, scope) is not None)
    if isinstance(parent, ast.Call):
        return isinstance(child, ast.keyword) and scope.callee(parent) == "dict"
    if isinstance(parent, ast.ListComp):
        return child is parent.elt
    if isinstance(parent, ast.DictComp):
        return child is parent.value
    return isinstance(parent, _DISPLAYS) and (not isinstance(parent, ast.Dict) or child in parent.values)


def _read_back(target: ast.expr, scope: Scope) -> bool:
    """Whether the function reads what a stored number may be in, otherwise than by returning all of it."""
    holder = target
    while isinstance(holder, ast.Subscript):
        holder = holder.value
    texts = {ast.unparse(holder), *_other_names(holder, scope)}
    for node in scope.function.nodes:
        if not isinstance(node, ast.Attribute | ast.Name) or not isinstance(node.ctx, ast.Load) or node is holder:
            continue
        if ast.unparse(node) not in texts or (isinstance(node, ast.Name) and _is_update(node, scope)):
            continue
        child: ast.AST = node
        parent = scope.parents.get(node)
        while isinstance(parent, ast.Subscript) and parent.value is child:
            child, parent = parent, scope.parents.get(parent)
        if isinstance(child, ast.Subscript) and isinstance(child.ctx, ast.Store):
            continue
        while child is node and isinstance(parent, ast.Tuple):
            child, parent = parent, scope.parents.get(parent)
        if child is not node and not isinstance(child, ast.Tuple):
            named = isinstance(parent, ast.Assign) and isinstance(holder, ast.Name) and _names(parent, holder.id)
            if not named:
                return True
        elif not isinstance(parent, ast.Return):
            return True
    return False


def _returned(name: str, scope: Scope) -> bool:
    """Whether the function returns what a name holds, alone or among other things."""
    values = (node.value for node in scope.function.of(ast.Return) if node.value is not None)
    return name in names_in(*values)


def _other_names(holder: ast.expr, scope: Scope) -> set[str]:
    """The local names of what a name stands for, or of what holds that: `a = b = {}`, `part = whole["part"]`."""
    if not isinstance(holder, ast.Name):
        return set()
    found: set[str] = set()
    for store in scope.names(holder.id, stores=True):
        statement = scope.parents.get(store)
        if not isinstance(statement, ast.Assign):
            continue
        whole = statement.value
        while isinstance(whole, ast.Subscript):
            whole = whole.value
        same = [target for target in (*statement.targets, whole) if isinstance(target, ast.Name)]
        found |= {name.id for name in same if name.id != holder.id}
    return found


def _names(statement: ast.Assign, name: str) -> bool:
    """Whether a statement gives a name its value, and nothing else."""
    return all(isinstance(target, ast.Name) and target.id == name for target in statement.targets)


def _is_collected(node: ast.AST, around: Mapping[ast.AST, ast.AST], function: Function) -> bool:
    """Whether a value is added to a list of the function itself, which only returns it."""
    name = _added_to_list(node, around)
    if name is None:
        return False
    if any(name.id in other.names for other in function.nodes if isinstance(other, ast.Global | ast.Nonlocal)):
        return False
    made = False
    for other in function.nodes:
        if not isinstance(other, ast.Name) or other.id != name.id:
            continue
        parent = around.get(other)
        if isinstance(other.ctx, ast.Store):
            new = _is_new_list(other, around)
            if not new and not _extends(parent):
                return False
            made = made or new
        elif not (isinstance(parent, ast.Attribute) and _is_append(parent)):
            while isinstance(parent, ast.Tuple | ast.List | ast.Dict):
                parent = around.get(parent)
            if not isinstance(parent, ast.Return):
                return False
    return made


def _reader_of_list(node: ast.AST, scope: Scope) -> Function | None:
    """A caller that may look at the list that a value is collected in."""
    name = _added_to_list(node, scope.parents)
    place = None if name is None else place_of_name(name.id, scope)
    return next((user for user in callers(scope) if not leaves_unread(user, place, scope)), None)


def _added_to_list(node: ast.AST, around: Mapping[ast.AST, ast.AST]) -> ast.Name | None:
    """The name of the list that a value is appended to, or that a list is added to: `a.append(v)`, `a += [v]`."""
    added = around.get(node)
    if isinstance(added, ast.AugAssign) and _extends(added) and added.value is node:
        return added.target if isinstance(added.target, ast.Name) else None
    if not isinstance(added, ast.Call) or added.args != [node] or added.keywords or not _is_append(added.func):
        return None
    assert isinstance(added.func, ast.Attribute)
    name = added.func.value
    return name if isinstance(name, ast.Name) and isinstance(around.get(added), ast.Expr) else None


def _extends(statement: ast.AST | None) -> bool:
    """Whether a statement adds a written list to one: `a += [v]`."""
    adds = isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add)
    return adds and isinstance(statement.value, ast.List)  # type: ignore[union-attr]


def _is_new_list(target: ast.Name, around: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether a name is given a new, empty list: `a = []`, `a, b = [], []`."""
    parent = around.get(target)
    statement = around.get(parent) if isinstance(parent, ast.Tuple) else parent
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    if isinstance(statement, ast.Assign) and len(statement.targets) > 1:
        return False  # `a = b = []`: the other name is the same list
    if isinstance(parent, ast.Tuple):
        each = isinstance(value, ast.Tuple) and len(value.elts) == len(parent.elts)
        value = value.elts[parent.elts.index(target)] if each and isinstance(value, ast.Tuple) else None
    return isinstance(value, ast.List) and not value.elts


def _is_append(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "append"


def _only_keeps(user: Function, scope: Scope) -> bool:
    """Whether a function only collects what this one returns, and nobody in the file goes on with that."""
    inference = scope.legality.inference
    calls = [call for call, callee in inference.facts(user).calls.items() if callee in scope.stands_for]
    around = parents((user.node, *user.nodes))
    others = (f for f in user.module.all_functions if f is not user)
    return (
        bool(calls)
        and all(_is_collected(call, around, user) for call in calls)
        and not any(user in inference.facts(other).calls.values() for other in others)
    )
