"""Compiled callables under the names by which a module calls them, and what a name stands for at a place."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from compilefix.codemods.module_rule import COMPILE, CompileCall, Holder, ModuleView
from compilefix.source.definitions import Class, Function
from compilefix.source.tree import names_in, walk

_IN_PLACE = frozenset({"fullgraph", "dynamic", "backend", "mode", "options", "disable"})
_SAME = frozenset({"to", "cuda", "cpu", "eval", "train", "half", "float", "double", "bfloat16", "requires_grad_"})
_STEPS = 8
_PASSING = frozenset(
    {"enumerate", "tqdm", "auto.tqdm", "tqdm.tqdm", "track", "cycle", "itertools.cycle", "iter", "zip"}
)


@dataclass(frozen=True, eq=False)
class Compiled:
    """A compiled callable: the name that is called, as text, the code in which it has that name, and its compile call.

    `target` is what was compiled: an expression, or the function that is decorated. `handed` is the call that hands it
    to the function whose parameter it is. `in_place` says that it was `model.compile()`, which returns nothing.
    """

    name: str
    inside: ast.AST
    call: CompileCall
    target: ast.expr | ast.FunctionDef | ast.AsyncFunctionDef
    handed: ast.Call | None = None
    in_place: bool = False

    def is_fixed_to_sizes(self) -> bool:
        """Whether each size is compiled by itself."""
        dynamic = self.call.option("dynamic")
        return isinstance(dynamic, ast.Constant) and dynamic.value is False

    def takes_all_sizes(self) -> bool:
        """Whether it is compiled for all sizes from the start."""
        dynamic = self.call.option("dynamic")
        return isinstance(dynamic, ast.Constant) and dynamic.value is True


@dataclass(frozen=True, eq=False)
class Turns:
    """A loop or comprehension: what each turn gets, of what, and the whole."""

    target: ast.expr
    iterated: ast.expr
    whole: ast.AST


def compiled_in(view: ModuleView) -> Iterator[Compiled]:
    """The compiled callables of a module, also where a function gets them as an argument."""
    for found in _made(view):
        yield found
        yield from _handed_on(found, view)


def calls_of(compiled: Compiled, view: ModuleView) -> Iterator[ast.Call]:
    """The calls of a compiled callable, in source order."""
    last = compiled.name.rpartition(".")[2]
    for node in walk(compiled.inside):
        if not isinstance(node, ast.Call) or node is compiled.call.node:
            continue
        called = node.func
        if isinstance(called, ast.Name):
            if called.id == compiled.name and holds(called, compiled, view):
                yield node
        elif isinstance(called, ast.Attribute) and called.attr == last and ast.unparse(called) == compiled.name:
            yield node


def holds(name: ast.Name, compiled: Compiled, view: ModuleView) -> bool:
    """Whether a name stands for the compiled callable at its place, and not for something else given to it."""
    value = value_at(name, view)
    if compiled.handed is not None:
        return value is None
    if compiled.in_place:
        return compiled.call.node.lineno < name.lineno or view.holder(name) is not compiled.inside
    return value is None or any(part is compiled.call.node for part in walk(value))


def value_at(name: ast.expr, view: ModuleView) -> ast.expr | None:
    """What a local or global name was given last before a place, in the order of the text."""
    if not isinstance(name, ast.Name):
        return None
    holders: list[Holder] = [view.holder(name)]
    if not isinstance(holders[0], ast.Module):
        holders.append(view.module.tree)
    for holder in holders:
        stores = [n for n in view.names(holder, name.id) if isinstance(n.ctx, ast.Store) and view.holder(n) is holder]
        before = [n for n in stores if n.lineno < name.lineno] if holder is holders[0] else stores
        if before:
            statement = view.parents.get(max(before, key=lambda n: (n.lineno, n.col_offset)))
            whole = isinstance(statement, ast.Assign) and len(statement.targets) == 1
            return statement.value if whole and isinstance(statement, ast.Assign) else None
        if stores or name.id in _parameters(holder):
            return None
    return None


def values_of(name: ast.expr, view: ModuleView, handed: ast.Call | None = None) -> Iterator[ast.expr]:
    """What a name may stand for: its value, what callers give for a parameter, and what a class keeps under it.

    With `handed`, a parameter stands for what that call gives.
    """
    if isinstance(name, ast.Call):
        yield name
    elif isinstance(name, ast.Attribute):
        yield from _kept(name, view)
    elif isinstance(name, ast.Name):
        holder = view.holder(name)
        if name.id not in _parameters(holder) or value_at(name, view) is not None:
            value = value_at(name, view)
            if value is not None:
                yield value
            return
        for call in [handed] if handed is not None else _calls_to(holder, view):
            given = _given(call, name.id, holder)
            value = value_at(given, view) if isinstance(given, ast.Name) else given
            if value is not None:
                yield value


def made_by(target: ast.expr, view: ModuleView) -> ast.Call | None:
    """The call that made an object, looked for through names and calls like `.to(device)` that give the object back."""
    found: ast.expr | None = target
    for _ in range(_STEPS):
        if isinstance(found, ast.Name):
            found = value_at(found, view)
        elif isinstance(found, ast.Call) and isinstance(found.func, ast.Attribute) and found.func.attr in _SAME:
            found = found.func.value
    return found if isinstance(found, ast.Call) else None


def compiled_function(compiled: Compiled, view: ModuleView) -> Function | None:
    """The function of the project that a call of a compiled callable runs; None where it is not known."""
    target = compiled.target
    if isinstance(target, ast.FunctionDef | ast.AsyncFunctionDef):
        return next((f for f in view.module.all_functions if f.node is target), None)
    made = made_by(target, view)
    if isinstance(target, ast.Attribute) and (cls := _class_around(target, view)) is not None:
        own = next((c for c in view.module.classes.values() if c.node is cls), None)
        method = view.project.method(own, target.attr) if own is not None else None
        if method is not None and ast.unparse(target.value) == "self":
            return method
        made = next((made_by(kept, view) for kept in _kept(target, view)), None)
    name = view.module.qualified(made.func if isinstance(made, ast.Call) else target)
    found = view.project.resolve(name) if name is not None else None
    if isinstance(found, Class) and isinstance(made, ast.Call):
        return view.project.method(found, "forward")
    return found if isinstance(found, Function) and made is None else None


def turns_around(node: ast.AST, view: ModuleView) -> Iterator[Turns]:
    """The loops and comprehensions of a function that run a node for each item of something, inner ones first."""
    holder = view.holder(node)
    for above in view.ancestors(node):
        if above is holder:
            return
        if isinstance(above, ast.For | ast.AsyncFor):
            yield Turns(above.target, above.iter, above)
        elif isinstance(above, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            yield from (Turns(part.target, part.iter, above) for part in above.generators)


def passed_through(iterated: ast.expr) -> Iterator[ast.expr]:
    """What a loop runs over: of `enumerate(tqdm(loader))` the loader."""
    if isinstance(iterated, ast.Call) and iterated.args and ast.unparse(iterated.func) in _PASSING:
        for argument in iterated.args if ast.unparse(iterated.func) == "zip" else iterated.args[:1]:
            yield from passed_through(argument)
    else:
        yield iterated


def made_in(turns: Turns) -> set[str]:
    """The names that each turn gets, and those that the body makes of them."""
    found = names_in(turns.target)
    for part in walk(turns.whole):
        if isinstance(part, ast.Assign) and names_in(part.value) & found:
            found.update(*(names_in(target) for target in part.targets))
    return found


def _made(view: ModuleView) -> Iterator[Compiled]:
    for call in view.calls:
        parent = view.parents.get(call.node)
        if isinstance(parent, ast.IfExp):
            parent = view.parents.get(parent)
        if isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and call.node in parent.decorator_list:
            yield Compiled(parent.name, view.holder(parent), call, parent)
        elif isinstance(parent, ast.Assign) and len(parent.targets) == 1 and call.target is not None:
            target = parent.targets[0]
            if isinstance(target, ast.Name):
                yield Compiled(target.id, view.holder(parent), call, call.target)
            elif isinstance(target, ast.Attribute) and (cls := _class_around(parent, view)) is not None:
                yield Compiled(ast.unparse(target), cls, call, call.target)
    for node in view.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                if view.module.qualified(decorator) in COMPILE:
                    bare = ast.copy_location(ast.Call(decorator, [], []), decorator)
                    yield Compiled(node.name, view.holder(node), CompileCall(bare, None), node)
        elif (
            isinstance(node, ast.Expr)
            and (statement := _in_place(node)) is not None
            and isinstance(statement.target, ast.Name)
        ):
            yield Compiled(statement.target.id, view.holder(node), statement, statement.target, in_place=True)


def _in_place(node: ast.Expr) -> CompileCall | None:
    """The statement `model.compile(...)` with nothing but options of torch.compile."""
    call = node.value
    if not isinstance(call, ast.Call) or call.args or not isinstance(call.func, ast.Attribute):
        return None
    own = call.func.attr == "compile" and {k.arg for k in call.keywords} <= _IN_PLACE
    return CompileCall(call, call.func.value) if own else None


def _handed_on(found: Compiled, view: ModuleView) -> Iterator[Compiled]:
    """The parameters of the module's functions that get a compiled callable."""
    for node in walk(found.inside):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        function = next((f.node for f in view.module.all_functions if f.qualname == node.func.id), None)
        if function is None:
            continue
        for parameter in _parameters(function):
            given = _given(node, parameter, function)
            if isinstance(given, ast.Name) and given.id == found.name and holds(given, found, view):
                yield replace(found, name=parameter, inside=function, handed=node)


def _calls_to(holder: Holder, view: ModuleView) -> Iterator[ast.Call]:
    """The calls of a function of the module by its name."""
    name = holder.name if isinstance(holder, ast.FunctionDef | ast.AsyncFunctionDef) else None
    for node in view.nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name:
            yield node


def _given(call: ast.Call, parameter: str, holder: Holder) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == parameter:
            return keyword.value
    names = _parameters(holder)
    place = names.index(parameter) if parameter in names else len(call.args)
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    return call.args[place] if place < len(call.args) and not starred else None


def _parameters(holder: Holder) -> list[str]:
    if isinstance(holder, ast.Module):
        return []
    return [p.arg for p in (*holder.args.posonlyargs, *holder.args.args, *holder.args.kwonlyargs)]


def _kept(attribute: ast.Attribute, view: ModuleView) -> Iterator[ast.expr]:
    """What the class around gives an attribute of itself."""
    cls = _class_around(attribute, view)
    text = ast.unparse(attribute)
    for node in walk(cls) if cls is not None and isinstance(attribute.value, ast.Name) else ():
        if isinstance(node, ast.Assign) and any(ast.unparse(t) == text for t in node.targets):
            yield node.value


def _class_around(node: ast.AST, view: ModuleView) -> ast.ClassDef | None:
    return next((above for above in view.ancestors(node) if isinstance(above, ast.ClassDef)), None)
