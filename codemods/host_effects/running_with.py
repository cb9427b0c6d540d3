"""The functions that may print or log in the same compiled call as another one."""

from __future__ import annotations

from collections.abc import Iterator

from compilefix.codemods.rule import Scope
from compilefix.codemods.tried import SHOWS
from compilefix.source.definitions import Function


def running_with(scope: Scope) -> Iterator[tuple[Function, bool]]:
    """The functions with words of prints or logs that run in one compiled call with a function, as far as is known.

    The second part says whether it is known to be called there: the lines of others stay where they are.
    """
    project = scope.legality.inference.project
    above = dict.fromkeys((scope.function, *scope.compiled.callers, *(caller for caller, _ in scope.calls_here)))
    known = {reached for function in above for reached in scope.legality.reached(function)}
    decorators = {project.resolve(name) for function in known for name in function.decorators}
    known |= {f for d in decorators if isinstance(d, Function) for f in d.module.all_functions if f.parent is d}
    by_name = sorted(known, key=lambda f: f.full_name)
    run = dict.fromkeys(method for function in by_name for method in scope.legality.run_by_python(function))
    handed = {f for method in run if _shows(method) for f in scope.legality.reached(method)} - known
    for function in sorted(known | handed, key=lambda f: f.full_name):
        if function is not scope.function and _shows(function):
            yield function, function in known


def _shows(function: Function) -> bool:
    first, last = function.node.lineno, function.node.end_lineno
    return SHOWS.search("\n".join(function.module.lines[first - 1 : last])) is not None
