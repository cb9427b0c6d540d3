"""Numbers that a record of the project keeps: `Metrics(loss=loss.item())`, where `Metrics` is a dataclass.

A named tuple is one where it is returned at once: elsewhere its items may be read without their names.
"""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Class

_DATACLASSES = frozenset({"dataclass", "dataclasses.dataclass"})
_NAMED_TUPLES = frozenset({"NamedTuple", "typing.NamedTuple"})
_MAKE = frozenset({"__init__", "__new__", "__post_init__", "__setattr__", "__getattribute__", "__getattr__"})


def field_of(node: ast.expr, call: ast.Call, scope: Scope) -> str | None:
    """The field of a dataclass or named tuple that an argument becomes, as it is; None for other calls."""
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    cls = _class_of(call, scope)
    if cls is None or not _is_record(cls, returned=isinstance(scope.parents.get(call), ast.Return)):
        return None
    fields = [s.target.id for s in cls.node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]
    named = next((k.arg for k in call.keywords if k.value is node), None)
    if named is None and node in call.args and call.args.index(node) < len(fields):
        named = fields[call.args.index(node)]
    return named if named in fields else None


def _class_of(call: ast.Call, scope: Scope) -> Class | None:
    ref = scope.value(call.func).ref
    found = scope.legality.inference.project.resolve(ref) if ref is not None else None
    return found if isinstance(found, Class) else None


def _is_record(cls: Class, *, returned: bool) -> bool:
    """Whether a class does no more when it is made than to keep what it is given."""
    if not cls.methods.keys().isdisjoint(_MAKE) or cls.node.keywords:
        return False
    bases = [cls.module.qualified(base) for base in cls.node.bases]
    if cls.node.decorator_list:
        made = [d.func if isinstance(d, ast.Call) else d for d in cls.node.decorator_list]
        return not bases and all(cls.module.qualified(d) in _DATACLASSES for d in made)
    return returned and len(bases) == 1 and bases[0] in _NAMED_TUPLES
