"""Code that no setting leads to: an `else` that only says so, and what reads an attribute that is nowhere given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from compilefix.analysis.values import Kind
from compilefix.source.definitions import Class
from compilefix.source.tree import walk

if TYPE_CHECKING:
    from compilefix.codemods.rule import Scope

_SAYS = frozenset({"debug", "info", "warning", "warn", "error", "critical", "exception", "log"})
"""Methods of a logger."""
_MODULES = frozenset({"torch.nn.Module", "torch.nn.modules.module.Module"})
_OF_MODULES = frozenset({"training", "dump_patches", "call_super_init"})
_NAMING = frozenset({"setattr", "register_buffer", "register_parameter", "register_module", "add_module"})
"""Calls that give an object an attribute by a text, which need not stand there."""
_HOLDING = frozenset({"__dict__", "__getattr__", "__getattribute__", "__setattr__"})


def says_unknown(branch: ast.If, scope: Scope) -> bool:
    """Whether the last `else` of a chain only says that a setting has none of the values that were asked for.

    Or that there are more of something than it knows: `if mode == "mean": ...`, `elif mode == "sum": ...`,
    `else: print("unknown mode")`.
    """
    around, asked = scope.parents.get(branch), _asked_for_a_text(branch.test)
    if asked is None or not isinstance(around, ast.If) or around.orelse != [branch]:
        return False
    *_, last = branch.orelse
    said = branch.orelse[:-1] if isinstance(last, ast.Return) and gives_nothing(last) else branch.orelse
    return _asked_for_a_text(around.test) == asked and all(_says(statement, scope) for statement in said)


def gives_nothing(way_out: ast.Return) -> bool:
    """Whether a way out gives None, or a zero or False that stands for no result."""
    given = way_out.value
    return given is None or (isinstance(given, ast.Constant) and not given.value)


def _asked_for_a_text(test: ast.expr) -> str | None:
    """The text of what a test compares with a text that is written there: `mode` of `mode == "sum"`."""
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or) else [test]
    compared = [part for part in parts if isinstance(part, ast.Compare) and len(part.ops) == 1]
    if len(compared) < len(parts):
        return None
    found = {ast.unparse(part.left) for part in compared}
    among = _is_number if all(_counts(part.left) for part in compared) else _is_text
    equal = all(isinstance(part.ops[0], ast.Eq | ast.In) and among(part.comparators[0]) for part in compared)
    return found.pop() if equal and len(found) == 1 else None


def _counts(node: ast.expr) -> bool:
    """Whether something says how many there are: `len(layers)`, `x.ndim`, `x.dim()`."""
    if isinstance(node, ast.Call):
        return (isinstance(node.func, ast.Name) and node.func.id == "len") or _is_rank(node.func)
    return _is_rank(node)


def _is_rank(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("dim", "ndim")


def _is_number(node: ast.expr) -> bool:
    return _is_written(node, int)


def _is_text(node: ast.expr) -> bool:
    return _is_written(node, str)


def _is_written(node: ast.expr, kind: type) -> bool:
    """Whether a value of a type is written there, or several are."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(_is_written(element, kind) for element in node.elts)
    return isinstance(node, ast.Constant) and isinstance(node.value, kind)


def _says(statement: ast.stmt, scope: Scope) -> bool:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return isinstance(statement, ast.Pass)
    if any(scope.value(part).may_be(Kind.TENSOR) for part in ast.walk(statement) if isinstance(part, ast.Call)):
        return False  # what it shows is computed for that
    func = statement.value.func
    if scope.callee(statement.value) in ("print", "warnings.warn"):
        return True
    return isinstance(func, ast.Attribute) and func.attr in _SAYS


def reads_unset(statement: ast.stmt, scope: Scope) -> bool:
    """Whether a statement reads an attribute of its module that nothing in the project gives one: it would raise.

    By the texts of all files, for a module whose bases are all seen, and which makes no names of its own. A name that
    code elsewhere computes (`setattr(model, key, value)`) is not seen.
    """
    cls, project = scope.function.cls, scope.legality.inference.project
    own = scope.function.parameters[0].arg if cls is not None and scope.function.parameters else None
    if cls is None or isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try):
        return False
    read = [
        node
        for node in walk(statement)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and isinstance(node.value, ast.Name)
        and node.value.id == own
        and not node.attr.startswith("_")
        and node.attr not in _OF_MODULES
        and getattr(scope.parents.get(node), "func", None) is not node  # the methods of a module are not all known
    ]
    if not read or not project.is_module_class(cls):
        return False
    bases = project.ancestors(cls)
    classes = [base for base in bases if isinstance(base, Class)]
    if any(isinstance(base, str) and base not in _MODULES for base in bases) or any(map(_makes_names, classes)):
        return False
    given = {name for base in classes for name in (*base.methods, *base.other_methods, *_written_in(base))}
    return any(node.attr not in given and not scope.legality.stores_attribute(node.attr) for node in read)


def _makes_names(cls: Class) -> bool:
    """Whether a class gives its objects attributes by texts that are computed: `setattr(self, f"layer{i}", ...)`."""
    for node in walk(cls.node):
        if isinstance(node, ast.Attribute | ast.FunctionDef):
            if (node.attr if isinstance(node, ast.Attribute) else node.name) in _HOLDING:
                return True
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name == "vars" or (name in _NAMING and not any(map(_is_text, node.args[:2]))):
                return True
    return False


def _written_in(cls: Class) -> Iterator[str]:
    """The names that the body of a class, or a method of it, gives something."""
    for node in walk(cls.node):
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.ClassDef):
            yield node.name
