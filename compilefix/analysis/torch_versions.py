"""Questions for the version of torch that every version which compiles answers alike: `Version(torch.__version__)`."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Collection

from compilefix.source.config import OLDEST_TORCH
from compilefix.source.module import Module
from compilefix.source.project import Project

_OLDEST = tuple(map(int, OLDEST_TORCH.split(".")))
_PARSES = frozenset(
    {"parse", "Version", "LooseVersion", "StrictVersion", "parse_version", "TorchVersion", "digit_version"}
    | {"str", "tuple", "list", "map", "int"}
)
"""How functions are called that make something of a text with a version which compares as the numbers in it do."""
_KNOWN = {
    ast.GtE: (operator.le, True),
    ast.Gt: (operator.lt, True),
    ast.NotEq: (operator.lt, True),
    ast.Lt: (operator.le, False),
    ast.LtE: (operator.lt, False),
    ast.Eq: (operator.lt, False),
}
"""For each operator how a version stands to the oldest one that compiles where the answer is known, and that answer."""
_MIRRORED: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Gt: ast.Lt, ast.Lt: ast.Gt, ast.GtE: ast.LtE, ast.LtE: ast.GtE}
_MAX_DEPTH = 6


def known_of_version(
    test: ast.Compare, module: Module, project: Project, own: Collection[str] = frozenset()
) -> bool | None:
    """What a comparison of torch's version with an older one gives wherever code is compiled, None for others.

    `own` are the names that the function with the comparison binds.
    """
    if len(test.ops) != 1:
        return None
    names = [part for part in ast.walk(test) if isinstance(part, ast.Name)] if own else []
    turns = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    if any(name.id in own and name.id not in turns for name in names):
        return None
    asked, kind, other = test.left, type(test.ops[0]), test.comparators[0]
    if not _is_version(asked, module, project):
        if not _is_version(other, module, project):
            return None
        asked, kind, other = other, _MIRRORED.get(kind, kind), asked
    version = _version(other)
    oldest = _OLDEST[:1] if _takes_first(asked) else _OLDEST
    if version is None or kind not in _KNOWN:
        return None
    if isinstance(other, ast.Constant) and isinstance(other.value, str) and version[0] >= _OLDEST[0]:
        return None  # two texts may be compared: "2.13" comes before "2.6"
    stands, answer = _KNOWN[kind]
    return answer if stands(version, oldest) else None


def _is_version(node: ast.expr, module: Module, project: Project, depth: int = 0) -> bool:
    """Whether an expression is torch's version, or its numbers."""
    if depth > _MAX_DEPTH:
        return False
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("split", "partition"):
            return _is_version(node.func.value, module, project, depth + 1)
        parses = _called(node) in _PARSES and bool(node.args)
        return parses and _is_version(node.args[-1], module, project, depth + 1)
    if isinstance(node, ast.Subscript):
        first = isinstance(node.slice, ast.Constant) and node.slice.value == 0
        return (first or isinstance(node.slice, ast.Slice)) and _is_version(node.value, module, project, depth + 1)
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return len(node.generators) == 1 and _is_version(node.generators[0].iter, module, project, depth + 1)
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    name = module.qualified(node) or ""
    if name in ("torch.__version__", "torch.version.__version__", "torch.torch_version.__version__"):
        return True
    owner, _, attribute = name.rpartition(".")
    home = module if not owner else project.modules.get(owner)
    given = home.assigns.get(attribute) if home is not None else None
    return home is not None and given is not None and _is_version(given, home, project, depth + 1)


def _takes_first(node: ast.expr) -> bool:
    """Whether the first of the numbers is asked for: `int(torch.__version__.split(".")[0])`."""
    while isinstance(node, ast.Call) and node.args:
        node = node.args[-1]
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) and not _cuts_build(node)


def _cuts_build(node: ast.Subscript) -> bool:
    """Whether what is behind a plus sign is left out: `torch.__version__.split("+")[0]`."""
    call = node.value
    return isinstance(call, ast.Call) and [getattr(a, "value", None) for a in call.args] == ["+"]


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _version(node: ast.expr) -> tuple[int, ...] | None:
    """The numbers of a version that is written there: `"1.7"`, `(1, 7)`, `Version("1.7.0")`."""
    if isinstance(node, ast.Call) and _called(node) in _PARSES and len(node.args) == 1:
        return _version(node.args[0])
    if isinstance(node, ast.Tuple | ast.List):
        parts = [part.value if isinstance(part, ast.Constant) else None for part in node.elts]
        return tuple(p for p in parts if type(p) is int) if parts and all(type(p) is int for p in parts) else None
    if not isinstance(node, ast.Constant):
        return None
    if type(node.value) is int:
        return (node.value,)
    match = re.match(r"\d+(\.\d+)*", node.value) if isinstance(node.value, str) else None
    return tuple(map(int, match[0].split("."))) if match else None
