"""Decorators: which are known to leave a function as it is, and which give callers something else than it returns."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project

_HARMLESS = frozenset(
    {
        "abstractmethod",
        "cache",
        "cached_property",
        "classmethod",
        "compile",
        "contextmanager",
        "dataclass",
        "custom_bwd",
        "custom_fwd",
        "disable",
        "enable_grad",
        "final",
        "ignore",
        "inference_mode",
        "lru_cache",
        "no_grad",
        "once_differentiable",
        "overload",
        "override",
        "property",
        "script",
        "setter",
        "staticmethod",
        "total_ordering",
        "unused",
        "wraps",
    }
)


def unknown_decorator(function: Function, *, of_class: bool = False) -> str | None:
    """A decorator, or one of the class, that may do more than the function, and is given its arguments; by its name."""
    around = function.cls.node.decorator_list if of_class and function.cls is not None else []
    for decorator in (*function.node.decorator_list, *around):
        named = ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)
        name = named.rpartition(".")[2]
        if name not in _HARMLESS and not name.startswith("register") and "docstring" not in name:
            return named
    return None


def changes_result(function: Function, project: Project) -> str | None:
    """The decorator that is seen to make something else of what a function returns, by its name; None without one.

    One of another package is taken to hand the result on, as most do.
    """
    for decorator in function.node.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        found = project.resolve(function.module.qualified(named) or "")
        if isinstance(found, Class):
            found = project.method(found, "__call__") or ""
        if isinstance(found, Function) and found is not function and any(_changed(found)):
            return ast.unparse(named)
    return None


def _changed(decorator: Function) -> Iterator[bool]:
    """For each value that the decorator, or a function in it, returns: whether it is made of the function's result."""
    given = {parameter.arg for parameter in decorator.of(ast.arg)}
    called = {
        call
        for call in decorator.of(ast.Call)
        if (isinstance(call.func, ast.Name) and call.func.id in given) or _is_kept(call.func, decorator)
    }
    named = {
        target.id: statement.value
        for statement in decorator.of(ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and statement.value in called
    }
    for made in decorator.of(ast.Return):
        if made.value is None or made.value in called:
            continue
        if isinstance(made.value, ast.Name) and made.value.id in named:
            yield _stored_behind(made.value.id, named[made.value.id], made, decorator)
            continue
        parts = list(ast.walk(made.value))
        yield any(part in called or (isinstance(part, ast.Name) and part.id in named) for part in parts)


def _is_kept(func: ast.expr, decorator: Function) -> bool:
    """Whether it is what an object that stands for the function keeps: `self.function`."""
    return decorator.cls is not None and isinstance(func, ast.Attribute) and ast.unparse(func.value) == "self"


def _stored_behind(name: str, result: ast.expr, made: ast.Return, decorator: Function) -> bool:
    """Whether the result's name always gets another value before it is returned: `out = f(x)`, `out = [out]`."""
    block = next((b for n in decorator.nodes if isinstance(b := getattr(n, "body", None), list) and made in b), [])
    statements = block[: block.index(made)] if block else []
    kept = next((i for i, statement in enumerate(statements) if result in ast.walk(statement)), len(statements))
    behind = (s for s in statements[kept + 1 :] if isinstance(s, ast.Assign))
    return any(isinstance(target, ast.Name) and target.id == name for s in behind for target in s.targets)
