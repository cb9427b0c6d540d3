"""The functions that may print or log in the same compiled call as another one."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.callers import callers, calls_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.tried import SHOWS
from compilefix.source.index import Class, Function


def running_with(scope: Scope) -> Iterator[tuple[Function, bool]]:
    """The functions with words of prints or logs that run in one compiled call with a function, as far as is known.

    The second part says whether it is known to be called there: the lines of others stay where they are.
    """
    project = scope.legality.inference.project
    above = dict.fromkeys((scope.function, *callers(scope), *(caller for caller, _ in calls_of(scope))))
    known = {reached for function in above for reached in scope.legality.reached(function)}
    decorators = {project.resolve(name) for function in known for name in function.decorators}
    known |= {f for d in decorators if isinstance(d, Function) for f in d.module.all_functions if f.parent is d}
    handed = set(_run_by_python(known, scope)) - known
    for function in sorted(known | handed, key=lambda f: f.full_name):
        if function is not scope.function and _shows(function.node, function):
            yield function, function in known


def _shows(node: ast.AST, function: Function) -> bool:
    first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", None)
    return SHOWS.search("\n".join(function.module.lines[first - 1 : last])) is not None


def _run_by_python(known: Iterable[Function], scope: Scope) -> Iterator[Function]:
    """The methods that run without being called by name: `__exit__` behind a `with`, `__iter__`, a hook."""
    project = scope.legality.inference.project
    classes: dict[str, Class] = {}
    handed: dict[Function, None] = {}
    for function in known:
        facts = scope.legality.inference.facts(function)
        own = [function.cls] if function.cls is not None else []
        refs = {v.ref for n in function.nodes if isinstance(n, ast.expr) and (v := facts.value(n)).is_(Kind.OBJECT)}
        for found in (*own, *(project.resolve(ref) for ref in refs if ref is not None)):
            if isinstance(found, Class):
                classes |= {c.full_name: c for c in (found, *project.ancestors(found)) if isinstance(c, Class)}
    for _, cls in sorted(classes.items()):
        made = cls.methods.get("__init__")
        hooks = _named(made, cls) if made is not None else ()
        for method in (*(m for m in cls.methods.values() if _is_run(m)), *hooks):
            if _shows(method.node, method):
                handed[method] = None
    for method in handed:
        yield from scope.legality.reached(method)


def _is_run(method: Function) -> bool:
    name = method.node.name
    return name.startswith("__") and name.endswith("__") and name != "__init__"


def _named(made: Function, cls: Class) -> Iterator[Function]:
    """The methods of an object that its `__init__` names without calling them, as it registers a hook."""
    called = {node.func for node in made.of(ast.Call)}
    for node in made.of(ast.Attribute):
        if isinstance(node.ctx, ast.Load) and node not in called and node.attr in cls.methods:
            yield cls.methods[node.attr]
