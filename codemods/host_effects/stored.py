"""Numbers read from tensors that are stored on a module: `self.metrics["loss"] = loss.item()`, `self.total += n`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from compilefix.analysis.live_code import live_nodes
from compilefix.codemods.callers import drives
from compilefix.codemods.finding import Fix
from compilefix.codemods.host_effects.deferral import check_function, is_tried
from compilefix.codemods.host_effects.late import late
from compilefix.codemods.host_effects.number_attributes import holds_number, is_of_another
from compilefix.codemods.host_effects.plan import Plan, Refused
from compilefix.codemods.host_effects.reads import read_of
from compilefix.codemods.host_effects.texts import escaped
from compilefix.codemods.kept_attributes import assigned
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet

_COLLECTS = frozenset({"append", "update"})
_SYMBOLS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-"}
Store = ast.Assign | ast.AugAssign | ast.Expr


def stores(scope: Scope) -> Iterator[Store]:
    """Statements that do nothing but store a number read from a tensor on `self` or in a container of `self`."""
    for node in scope.among(ast.Assign, ast.AugAssign, ast.Expr):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            if _attribute(node.targets[0], scope) is not None and _reads(node.value, scope):
                yield node
        elif isinstance(node, ast.AugAssign):
            if _is_running(node, scope) and _reads(node.value, scope):
                yield node
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if (
                isinstance(call.func, ast.Attribute)
                and call.func.attr in _COLLECTS
                and _held(call.func.value, scope) is not None
                and not call.keywords
                and len(call.args) == 1
                and _reads(call.args[0], scope)
            ):
                yield node


def deferred_store(statement: Store, scope: Scope) -> Fix:
    """The fix that stores the number when the compiled call returns.

    Raises:
        Refused: the attribute may be read before, or a part of the value cannot be carried to the boundary.
    """
    check_function(scope)
    if is_tried(statement, scope):
        raise Refused("a handler in the function may catch the error of the read")
    target = statement.value if isinstance(statement, ast.Expr) else _target(statement)
    assert isinstance(target, ast.Attribute | ast.Subscript | ast.Call)
    name = _held(target.func.value, scope) if _is_method(target) else _attribute(target, scope)  # type: ignore[union-attr]
    assert name is not None
    reader = _reader(name, scope)
    if reader is not None:
        raise Refused(f"`{reader}` reads `self.{name}`, which would not be stored yet")
    later = _stored_again(name, statement, scope)
    if later is not None:
        raise Refused(f"`{later}` stores `self.{name}` too, and may do so after this")
    plan = Plan(scope)
    owner = scope.function.node.args.args[0].arg
    if isinstance(statement, ast.AugAssign):
        cls = scope.function.cls
        if cls is None or not holds_number(name, cls, scope):
            raise Refused(f"`{owner}.{name}` is not proved to hold a number, and of a tensor others may see the change")
    plan.captured[owner] = owner
    if isinstance(target, ast.Call):
        assert isinstance(target.func, ast.Attribute)
        if _is_passed_in(name, scope):
            raise Refused(f"`{owner}.{name}` is passed in, and others may read it in the same call by another name")
        keys = "".join(f"[{late(key, plan, raw=False)}]" for key in _keys(target.func.value))
        body = f"{owner}.{name}{keys}.{target.func.attr}({late(target.args[0], plan, raw=False)})"
    elif isinstance(target, ast.Subscript):
        key = late(target.slice, plan, raw=False)
        body = f"{owner}.{name}.__setitem__({key}, {late(_value(statement), plan, raw=False)})"
    else:
        value = late(_value(statement), plan, raw=False)
        if isinstance(statement, ast.AugAssign):
            plain = isinstance(statement.value, ast.Call | ast.Name | ast.Attribute | ast.Constant)
            value = f"{owner}.{name} {_SYMBOLS[type(statement.op)]} {value if plain else f'({value})'}"
        body = f"setattr({owner}, {_stored_as(name, scope)!r}, {value})".replace("'", '"')
    if plan.gradient_texts:
        raise Refused(plan.gradient_texts[0])
    now = _read_now(plan, scope)
    if now is not None:
        raise Refused(f"`{snippet(now)}` reads a tensor where it stands: the graph breaks there anyway")
    code = f"emit(lambda {', '.join(plan.captured.values())}: {body}, {', '.join(plan.captured)})"
    reasons = (f"`self.{name}` is taken to be read only when the compiled call has returned", *plan.reasons)
    return Fix((scope.edit(statement, escaped(code)),), (), ("state-late", *plan.assumptions), reasons, boundary=True)


def _is_passed_in(name: str, scope: Scope) -> bool:
    """Whether a method of the class takes what the attribute holds from its caller, who has it too, of any class."""
    methods = scope.function.cls.methods.values() if scope.function.cls is not None else ()
    return any(
        isinstance(value, ast.Name) and any(value.id == parameter.arg for parameter in method.parameters)
        for method in methods
        for value in assigned(method.node, name)
    )


def _read_now(plan: Plan, scope: Scope) -> ast.expr | None:
    """What is computed where the statement stands, for the boundary, though it reads a tensor for that."""
    for node in plan.nodes:
        if any(read_of(part, scope) is not None for part in ast.walk(node) if isinstance(part, ast.Call)):
            return node
    return None


def _stored_as(name: str, scope: Scope) -> str:
    """The name under which an object has an attribute: the class stands before one of its own, as `self.__last`."""
    cls = scope.function.cls
    bare = cls.node.name.lstrip("_") if cls is not None else ""
    return f"_{bare}{name}" if bare and name.startswith("__") and not name.endswith("__") else name


def _target(statement: ast.Assign | ast.AugAssign) -> ast.expr:
    return statement.targets[0] if isinstance(statement, ast.Assign) else statement.target


def _is_running(node: ast.AugAssign, scope: Scope) -> bool:
    """Whether a statement adds to an attribute of `self`."""
    adds = type(node.op) in _SYMBOLS and isinstance(node.target, ast.Attribute)
    return adds and _attribute(node.target, scope) is not None


def _is_method(target: ast.AST) -> bool:
    return isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute)


def _value(statement: Store) -> ast.expr:
    return statement.value


def _attribute(target: ast.expr, scope: Scope) -> str | None:
    """The attribute of `self` that is stored to: `a` in `self.a`, and in `self.a[key]` with a plain key."""
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant | ast.Name | ast.Attribute):
        target = target.value
    function = scope.function
    if function.cls is None or function.parent is not None or function.is_static or not function.node.args.args:
        return None
    owner = function.node.args.args[0].arg
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == owner:
        return target.attr
    return None


def _held(container: ast.expr, scope: Scope) -> str | None:
    """The attribute of `self` that is or holds a container, under plain keys: `a` in `self.a["train"][name]`."""
    while isinstance(container, ast.Subscript) and isinstance(container.slice, ast.Constant | ast.Name | ast.Attribute):
        if scope.value(container.slice).is_tensor:
            return None  # as a key it is the tensor itself, of which a copy would be passed on
        container = container.value
    return _attribute(container, scope) if isinstance(container, ast.Attribute) else None


def _keys(container: ast.expr) -> list[ast.expr]:
    """The keys of a container in others, the outer ones first."""
    return [*_keys(container.value), container.slice] if isinstance(container, ast.Subscript) else []


def _reads(node: ast.expr, scope: Scope) -> bool:
    """Whether a value is made of numbers that are read from tensors, and of nothing else that must happen now."""
    return any(isinstance(part, ast.Call) and read_of(part, scope) is not None for part in ast.walk(node)) and not any(
        isinstance(part, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom | ast.Lambda | ast.comprehension)
        for part in ast.walk(node)
    )


def _reader(name: str, scope: Scope) -> str | None:
    """A function that may run in the same compiled call and reads the attribute, of this or of another module."""
    reads = (f for f in _mentioning(name, scope) if _reads_attribute(f, name, scope))
    return next((f.qualname for f in reads if _runs_with(f, scope) or _is_called_behind(f, scope)), None)


def _stored_again(name: str, statement: Store, scope: Scope) -> str | None:
    """A function that may store the attribute in the same compiled call, behind the statement, and not late.

    What is added is added to what stands there at the end: if the call runs the function twice, any store is behind it.
    """
    late_ones = set(stores(scope))
    loops = [a for a in scope.ancestors(statement) if isinstance(a, ast.For | ast.While)]
    for function in _mentioning(name, scope):
        others = [n for n in function.of(ast.Attribute) if n.attr == name and not isinstance(n.ctx, ast.Load)]
        if function is scope.function:
            own = [n for n in others if n in scope.parents and scope.statement(n) not in late_ones]
            turns = {n for loop in loops for n in ast.walk(loop)}
            adds = isinstance(statement, ast.AugAssign)
            others = [
                n
                for n in own
                if n in turns or n.lineno > statement.lineno or (adds and scope.statement(n) is not statement)
            ]
        if others and (function is scope.function or _runs_with(function, scope)):
            return function.qualname
    return None


def _mentioning(name: str, scope: Scope) -> Iterator[Function]:
    """The functions that name the attribute, but for methods of other classes that mean their own."""
    project, cls = scope.legality.inference.project, scope.function.cls
    for module in project.modules.texts.mentioning(name):
        for function in project.modules[module].all_functions:
            named = [node for node in function.of(ast.Attribute) if node.attr == name]
            text = any(node.value == name for node in function.of(ast.Constant))
            if named and not text and cls is not None and is_of_another(function, named, cls, project):
                continue
            yield function


def _runs_with(function: Function, scope: Scope) -> bool:
    """Whether a function may run in the same compiled call."""
    inference = scope.legality.inference
    entries = {scope.function, *scope.compiled.callers}
    for cls in (scope.function.cls, function.cls):
        methods = [inference.project.method(cls, entry) for entry in ("forward", "__call__")] if cls is not None else []
        entries |= {method for method in methods if method is not None}
    run = entries.union(*(scope.legality.reached(entry) for entry in entries))
    return function in run or _may_stand_in(function, run, scope)


def _may_stand_in(function: Function, run: Collection[Function], scope: Scope) -> bool:
    """Whether a function runs in the place of one of these, in a subclass, or by what they do: `len(self)`."""
    project, name = scope.legality.inference.project, function.node.name
    if any(function in project.overriding(other) for other in run if other.node.name == name):
        return True
    called_by_python = name.startswith("__") or name == "extra_repr"
    return called_by_python and any(function in scope.legality.run_by_python(other) for other in run)


def _is_called_behind(function: Function, scope: Scope) -> bool:
    """Whether somebody runs the store and calls a function, and may be compiled with both: `metric(x)` before
    `metric.compute()`.

    A loop over batches that asks for the result behind it is not.
    """
    project, name, cls = scope.legality.inference.project, function.node.name, scope.function.cls
    texts = project.modules.texts
    naming = set(texts.mentioning(cls.node.name)) if cls is not None else {scope.function.module.name}
    for module in (m for m in texts.mentioning(name) if m in naming):
        for around in project.modules[module].all_functions:
            if around is scope.function or around is function or not _calls(name, around) or drives(around):
                continue
            whole = around.node.name in ("forward", "__call__")
            if not whole and _stores_in_loops(around, scope):
                continue
            calls = scope.legality.reached(around)
            if (function in calls and scope.function in calls) or (whole and _calls_unseen(name, around, scope)):
                return True
    return False


def _calls_unseen(name: str, function: Function, scope: Scope) -> bool:
    """Whether code calls a method of this name on something of which nothing is known, which may be this object."""
    facts = scope.legality.inference.facts(function)
    called = (node for node in function.of(ast.Call) if isinstance(node.func, ast.Attribute) and node.func.attr == name)
    return any(node not in facts.calls and facts.value(node.func.value).is_unknown for node in called)  # type: ignore[attr-defined]


def _stores_in_loops(around: Function, scope: Scope) -> bool:
    """Whether a function runs the store in a loop of its own, and nowhere else."""
    loops = (loop for kind in (ast.For, ast.While, ast.AsyncFor) for loop in around.of(kind))
    looped = {node for loop in loops for node in ast.walk(loop)}
    if not looped:
        return False
    called = scope.legality.inference.facts(around).calls
    reaching = (f for f in called.values() if scope.function is f or scope.function in scope.legality.reached(f))
    storing = frozenset(reaching)
    return all(node in looped for node, function in called.items() if function in storing)


def _calls(name: str, function: Function) -> bool:
    """Whether code calls something by a name."""
    called = (node.func for node in function.of(ast.Call))
    return any(name in (getattr(node, "attr", None), getattr(node, "id", None)) for node in called)


def _reads_attribute(function: Function, name: str, scope: Scope) -> bool:
    """Whether a function reads an attribute of this name, other than to store into it."""
    if not any(node.attr == name for node in function.of(ast.Attribute)) and not any(
        node.value == name for node in function.of(ast.Constant)
    ):
        return False
    facts = scope.legality.inference.facts(function)
    written = {id(part) for node in live_nodes(facts) for part in _bases(node)}
    return any(
        id(node) not in written
        and (
            (isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.ctx, ast.Load))
            or (isinstance(node, ast.Call) and _is_getattr(node, name))
        )
        for node in live_nodes(facts)
    )


def _is_getattr(node: ast.Call, name: str) -> bool:
    is_getattr = isinstance(node.func, ast.Name) and node.func.id in ("getattr", "hasattr")
    return is_getattr and any(isinstance(a, ast.Constant) and a.value == name for a in node.args)


def _bases(node: ast.AST) -> list[ast.expr]:
    """The containers that a statement only stores into."""
    if isinstance(node, ast.Assign):
        return [t.value for t in node.targets if isinstance(t, ast.Subscript)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        func = node.value.func
        if isinstance(func, ast.Attribute) and func.attr in _COLLECTS:
            held = func.value
            while isinstance(held, ast.Subscript):
                held = held.value
            return [held]
    return []
