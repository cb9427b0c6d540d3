"""What a helper compiles that is given to it: `def measure(model): torch.compile(model)`, and `measure(Net())`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.project import Project
from compilefix.source.texts import word_start


def passed_to(
    given: ast.expr,
    holder: Function,
    project: Project,
    callers: Callable[[Module], Sequence[Function]],
    runs: Callable[[ast.expr, Function], tuple[Function, ...]],
) -> tuple[Function, ...]:
    """What runs where `given`, in a function of a module, is called, if its callers give it a function or a module.

    `callers` are the functions of a module, its top level too; `runs` says what runs where an expression is called.
    """
    wanted = dict(_parameters(given, holder))
    if not wanted or holder.module.functions.get(holder.node.name) is not holder:
        return ()
    found: dict[Function, None] = {}
    for argument, caller, name in _arguments(frozenset(wanted), holder, project, callers):
        if not wanted[name]:
            found.update(dict.fromkeys(runs(argument, caller)))
        if wanted[name] is not False:
            found.update(dict.fromkeys(_instances(argument, caller, project)))
    return tuple(found)


def _parameters(given: ast.expr, holder: Function) -> Iterator[tuple[str, bool | None]]:
    """The parameters that an expression is, and whether it is what these return: None where it may be either.

    A name that is given a value once and a nested function without parameters are followed.
    """
    found: dict[str, set[bool]] = {}
    for name, called in _followed(given, holder, False, 0):
        found.setdefault(name, set()).add(called)
    for name, ways in found.items():
        yield name, ways.pop() if len(ways) == 1 else None


def _followed(node: ast.expr, holder: Function, called: bool, depth: int) -> Iterator[tuple[str, bool]]:
    if depth > 4:
        return
    if isinstance(node, ast.IfExp):
        for side in (node.body, node.orelse):
            yield from _followed(side, holder, called, depth + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not called:
        inner = next((n for n in holder.of(ast.FunctionDef) if n.name == node.func.id and n is not holder.node), None)
        if inner is None:
            yield from _followed(node.func, holder, True, depth + 1)
        elif not (node.args or node.keywords or inner.decorator_list):
            for statement in inner.body:
                if isinstance(statement, ast.Return) and statement.value is not None:
                    yield from _followed(statement.value, holder, False, depth + 1)
    elif isinstance(node, ast.Name):
        stores = holder.stores.get(node.id, [])
        if not stores and holder.takes(node.id):
            yield node.id, called
        elif len(stores) == 1 and not holder.takes(node.id):
            made = next((a for a in holder.of(ast.Assign) if a.targets == stores), None)
            if made is not None:
                yield from _followed(made.value, holder, called, depth + 1)


def _arguments(
    names: frozenset[str], holder: Function, project: Project, callers: Callable[[Module], Sequence[Function]]
) -> Iterator[tuple[ast.expr, Function, str]]:
    """What the calls of a function give some of its parameters, and where they stand."""
    own = holder.node.name
    positional = [a.arg for a in (*holder.node.args.posonlyargs, *holder.node.args.args)]
    for name in project.modules.texts.matching(own, rf"{word_start(own)}\("):
        module = project.modules[name]
        for caller in callers(module):
            for call in caller.of(ast.Call):
                if not isinstance(call.func, ast.Name | ast.Attribute) or own in caller.bound:
                    continue
                dotted = module.qualified(call.func)
                if dotted is None or not dotted.endswith(own) or project.resolve(dotted) is not holder:
                    continue
                given = [*zip(positional, call.args, strict=False)]
                given += [(k.arg, k.value) for k in call.keywords if k.arg is not None]
                if not any(isinstance(value, ast.Starred) for value in call.args):
                    yield from ((value, caller, name) for name, value in given if name in names)


def _instances(argument: ast.expr, caller: Function, project: Project) -> Iterator[Function]:
    """What an instance of a class runs where it is called, if the argument is a class."""
    if not isinstance(argument, ast.Name) or argument.id in caller.bound:
        return
    module = caller.module
    dotted = f"{module.name}.{argument.id}" if argument.id in module.assigns else module.qualified(argument)
    target = project.resolve(dotted) if dotted is not None else None
    if isinstance(target, Class):
        method = next(filter(None, (project.method(target, name) for name in ("forward", "__call__"))), None)
        if method is not None:
            yield method
