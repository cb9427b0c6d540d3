"""The methods that run without being called by name: `__exit__` behind a `with`, `__iter__`, a hook."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.values import Kind
from compilefix.source.definitions import Class, Function
from compilefix.source.project import Project

_WITH = frozenset({"__enter__", "__exit__"})
_ITEMS = frozenset({"__getitem__", "__setitem__", "__delitem__"})
_TURNS = frozenset({"__iter__", "__next__", "__getitem__", "__len__"})
_ATTRIBUTES = frozenset({"__getattr__", "__getattribute__", "__setattr__", "__delattr__"})
_CALL = frozenset({"__call__"})
_TRUTH = frozenset({"__bool__", "__len__"})
_APART = _WITH | _ITEMS | _ATTRIBUTES | _CALL | {"__init__", "__new__", "__post_init__", "__init_subclass__"}


_OPERATORS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Add: ("__add__", "__radd__", "__iadd__"),
    ast.Sub: ("__sub__", "__rsub__", "__isub__"),
    ast.Mult: ("__mul__", "__rmul__", "__imul__"),
    ast.MatMult: ("__matmul__", "__rmatmul__", "__imatmul__"),
    ast.Div: ("__truediv__", "__rtruediv__", "__itruediv__"),
    ast.FloorDiv: ("__floordiv__", "__rfloordiv__", "__ifloordiv__"),
    ast.Mod: ("__mod__", "__rmod__", "__imod__"),
    ast.Pow: ("__pow__", "__rpow__", "__ipow__"),
    ast.LShift: ("__lshift__", "__rlshift__", "__ilshift__"),
    ast.RShift: ("__rshift__", "__rrshift__", "__irshift__"),
    ast.BitAnd: ("__and__", "__rand__", "__iand__"),
    ast.BitOr: ("__or__", "__ror__", "__ior__"),
    ast.BitXor: ("__xor__", "__rxor__", "__ixor__"),
    ast.USub: ("__neg__",),
    ast.UAdd: ("__pos__",),
    ast.Invert: ("__invert__",),
    ast.Not: ("__bool__", "__len__"),
    ast.Eq: ("__eq__",),
    ast.NotEq: ("__ne__", "__eq__"),
    ast.Lt: ("__lt__", "__gt__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.GtE: ("__ge__", "__le__"),
    ast.In: ("__contains__", "__iter__", "__next__", "__getitem__"),
    ast.NotIn: ("__contains__", "__iter__", "__next__", "__getitem__"),
}
_ITERATED = ("__iter__", "__next__", "__getitem__", "__len__")
_SHOWN = ("__format__", "__str__", "__repr__")
_BUILTINS = {
    **dict.fromkeys(("all", "any", "dict", "enumerate", "frozenset", "iter", "list", "map", "max", "min"), _ITERATED),
    **dict.fromkeys(("reversed", "set", "sorted", "sum", "tuple", "zip"), _ITERATED),
    **dict.fromkeys(("str", "repr", "format", "print"), _SHOWN),
    "len": ("__len__",),
    "bool": ("__bool__", "__len__"),
    "int": ("__int__", "__index__", "__trunc__"),
    "float": ("__float__", "__index__"),
    "abs": ("__abs__",),
    "hash": ("__hash__",),
    "round": ("__round__",),
    "next": ("__next__",),
}


def special_methods(node: ast.AST) -> Iterator[tuple[ast.expr, tuple[str, ...]]]:
    """The operands of an operator, a subscript or a builtin, each with the methods that Python may run of it."""
    if isinstance(node, ast.BinOp):
        yield from ((operand, _OPERATORS[type(node.op)]) for operand in (node.left, node.right))
    elif isinstance(node, ast.AugAssign):
        yield from ((operand, _OPERATORS[type(node.op)]) for operand in (node.target, node.value))
    elif isinstance(node, ast.UnaryOp):
        yield node.operand, _OPERATORS[type(node.op)]
    elif isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for op, left, right in zip(node.ops, operands, operands[1:], strict=False):
            names = _OPERATORS.get(type(op), ())
            yield from ((operand, names) for operand in ((right,) if type(op) in _INSIDE else (left, right)))
    elif isinstance(node, ast.BoolOp):
        yield from ((operand, _OPERATORS[ast.Not]) for operand in node.values)
    elif isinstance(node, ast.IfExp | ast.If | ast.While | ast.Assert):
        yield node.test, _OPERATORS[ast.Not]
    elif isinstance(node, ast.FormattedValue):
        yield node.value, _SHOWN
    elif isinstance(node, ast.Subscript):
        yield node.value, tuple(_ITEMS)
    elif isinstance(node, ast.For | ast.comprehension):
        yield node.iter, _ITERATED
    elif isinstance(node, ast.Starred):
        yield node.value, _ITERATED
    elif isinstance(node, ast.With):
        yield from ((item.context_expr, tuple(_WITH)) for item in node.items)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _BUILTINS:
        yield from ((argument, _BUILTINS[node.func.id]) for argument in node.args)


_INSIDE = (ast.In, ast.NotIn)


def run_by_python(facts: FunctionFacts, project: Project) -> Iterator[Function]:
    """The methods of the project that Python may run for what a function does, as far as its objects are known.

    Those of the function's own object that `__init__` names without a call, as it registers a hook, are taken for run.
    """
    function = facts.function
    for node in function.nodes:
        for operand, kind in _operated(node):
            value = facts.value(operand)
            cls = project.resolve(value.ref) if value.is_(Kind.OBJECT) and value.ref is not None else None
            if isinstance(cls, Class):
                yield from _methods(cls, kind, project)
    if function.cls is not None:
        for owner in (function.cls, *project.ancestors(function.cls)):
            made = owner.methods.get("__init__") if isinstance(owner, Class) else None
            if made is not None and isinstance(owner, Class):
                yield from _named(made, owner)


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


def _methods(cls: Class, kind: frozenset[str] | None, project: Project) -> Iterator[Function]:
    for owner in (cls, *project.ancestors(cls)):
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
