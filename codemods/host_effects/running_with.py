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
    run: dict[Function, None] = {}
    for function in sorted(known, key=lambda f: f.full_name):
        facts = scope.legality.inference.facts(function)
        for node in function.nodes:
            for operand, kind in _operated(node):
                value = facts.value(operand)
                cls = project.resolve(value.ref) if value.is_(Kind.OBJECT) and value.ref is not None else None
                if isinstance(cls, Class):
                    run |= dict.fromkeys(_methods(cls, kind, scope))
        if function.cls is not None:
            for owner in (function.cls, *project.ancestors(function.cls)):
                made = owner.methods.get("__init__") if isinstance(owner, Class) else None
                if made is not None and isinstance(owner, Class):
                    run |= dict.fromkeys(_named(made, owner))
    for method in run:
        if _shows(method.node, method):
            yield from scope.legality.reached(method)


_WITH = frozenset({"__enter__", "__exit__"})
_ITEMS = frozenset({"__getitem__", "__setitem__", "__delitem__"})
_TURNS = frozenset({"__iter__", "__next__", "__getitem__", "__len__"})
_ATTRIBUTES = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__delattr__"})
_CALL = frozenset({"__call__"})
_TRUTH = frozenset({"__bool__", "__len__"})
_APART = _WITH | _ITEMS | _ATTRIBUTES | _CALL | {"__init__", "__new__", "__post_init__", "__init_subclass__"}


def _operated(node: ast.AST) -> Iterator[tuple[ast.expr, frozenset[str] | None]]:
    """The operands of what is no call by name, and the methods that it runs; None for operators and what is passed."""
    if isinstance(node, ast.With):
        yield from ((item.context_expr, _WITH) for item in node.items)
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.iter, _TURNS
    elif isinstance(node, ast.Subscript):
        yield node.value, _ITEMS
    elif isinstance(node, ast.Attribute):
        yield node.value, _ATTRIBUTES
    elif isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        yield node.test, _TRUTH
    elif isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.AugAssign | ast.FormattedValue):
        yield from ((child, None) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr))
    elif isinstance(node, ast.Call):
        yield node.func, _CALL
        yield from ((argument, None) for argument in node.args)


def _methods(cls: Class, kind: frozenset[str] | None, scope: Scope) -> Iterator[Function]:
    for owner in (cls, *scope.legality.inference.project.ancestors(cls)):
        for name, method in owner.methods.items() if isinstance(owner, Class) else ():
            special = name.startswith("__") and name.endswith("__")
            if (name in kind) if kind is not None else (special and name not in _APART):
                yield method


def _named(made: Function, cls: Class) -> Iterator[Function]:
    """The methods of an object that its `__init__` names without calling them, as it registers a hook."""
    called = {node.func for node in made.of(ast.Call)}
    for node in made.of(ast.Attribute):
        if isinstance(node.ctx, ast.Load) and node not in called and node.attr in cls.methods:
            yield cls.methods[node.attr]
