"""Questions for the version of torch that every version which compiles answers alike: `Version(torch.__version__)`."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Collection
from typing import NamedTuple

from compilefix.source.config import OLDEST_TORCH
from compilefix.source.module import Module
from compilefix.source.operators import TURNED
from compilefix.source.project import Project
from compilefix.source.syntax import last_name

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
_MAX_DEPTH = 6


def known_of_version(
    test: ast.Compare, module: Module, project: Project, own: Collection[str] = frozenset()
) -> bool | None:
    """What a comparison of torch's version with an older one gives wherever code is compiled, None for others.

    `own` are the names that the function with the comparison binds.
    """
    if len(test.ops) != 1 or (_version(test.left) is None and _version(test.comparators[0]) is None):
        return None  # most comparisons are with no version
    names = [part for part in ast.walk(test) if isinstance(part, ast.Name)] if own else []
    turns = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    if any(name.id in own and name.id not in turns for name in names):
        return None
    asked, kind, other = test.left, type(test.ops[0]), test.comparators[0]
    held = _version_in(asked, module, project)
    if held is None:
        kind, other = TURNED.get(kind, kind), asked
        held = _version_in(test.comparators[0], module, project)
    version = _version(other)
    if held is None or version is None or kind not in _KNOWN:
        return None
    if isinstance(other, ast.Constant) and isinstance(other.value, str) and version[0] >= _OLDEST[0]:
        return None  # two texts may be compared: "2.13" comes before "2.6"
    stands, answer = _KNOWN[kind]
    return answer if stands(version, _OLDEST[: held.numbers]) else None


class _Held(NamedTuple):
    """What an expression holds of torch's version."""

    numbers: int
    """How many of its first numbers at least."""
    in_list: bool
    """Whether these are items, where an index of a text takes characters."""


def _version_in(node: ast.expr, module: Module, project: Project, depth: int = 0) -> _Held | None:
    """What of torch's version, from its beginning on, an expression is; None for anything else."""

    def inner(part: ast.expr, in_list: bool | None = None) -> _Held | None:
        found = _version_in(part, module, project, depth + 1)
        return found if found is None or in_list is None else _Held(found.numbers, in_list)

    if depth > _MAX_DEPTH:
        return None
    if isinstance(node, ast.Call):
        if _cuts(node):
            return inner(node.func.value, in_list=True)  # type: ignore[attr-defined]
        name = last_name(node.func)
        # `map(int, parts)`: another function may make anything of them.
        if name not in _PARSES or not node.args or (name == "map" and ast.unparse(node.args[0]) != "int"):
            return None
        return inner(node.args[-1], in_list=name in ("list", "tuple", "map"))
    if isinstance(node, ast.Subscript):
        return inner(node.value, in_list=False) if _cuts_build(node) else _taken(inner(node.value), node.slice)
    if isinstance(node, ast.GeneratorExp | ast.ListComp):
        return inner(node.generators[0].iter, in_list=True) if _takes_each(node) else None
    if not isinstance(node, ast.Name | ast.Attribute):
        return None
    name = module.qualified(node) or ""
    if name in ("torch.__version__", "torch.version.__version__", "torch.torch_version.__version__"):
        return _Held(len(_OLDEST), in_list=False)
    home, given = only_value_of(name, module, project)
    return None if given is None else _version_in(given, home, project, depth + 1)


def only_value_of(name: str, module: Module, project: Project) -> tuple[Module, ast.expr | None]:
    """What a global of a module or, by its full name, of another one is assigned, where nothing else is."""
    owner, _, last = name.rpartition(".")
    home = project.modules.get(owner) if owner else module
    if (
        home is None
        or last not in home.assigns
        or home.imported(last)
        or last in home.functions
        or last in home.classes
    ):
        return module, None
    alone = home.stores[last] == 1 and not project.modules.texts.matching(last, rf"\.{last}\s*=(?!=)")
    return home, home.assigns[last] if alone else None


def _cuts(node: ast.expr) -> bool:
    """Whether an expression is the parts of a text: `version.split(".")`."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("split", "partition")
    )


def _cuts_build(node: ast.Subscript) -> bool:
    """Whether what is behind a plus sign is left out: `torch.__version__.split("+")[0]`."""
    return _cuts(node.value) and [getattr(a, "value", None) for a in node.value.args] == ["+"]  # type: ignore[attr-defined]


def _taken(held: _Held | None, index: ast.expr) -> _Held | None:
    """What an index takes of a version: `[0]`, `[:2]`; None where it leaves out the beginning."""
    if held is None:
        return None
    if not isinstance(index, ast.Slice):
        return _Held(1, in_list=False) if isinstance(index, ast.Constant) and index.value == 0 else None
    if index.lower is not None or index.step is not None:
        return None
    if index.upper is None:
        return held
    end = getattr(index.upper, "value", None)
    # Characters that are taken of a text may end within its second number: "2.1" of "2.13".
    return _Held(min(held.numbers, end) if held.in_list else 1, held.in_list) if type(end) is int and end > 0 else None


def _takes_each(node: ast.GeneratorExp | ast.ListComp) -> bool:
    """Whether each number comes as it is: `int(n) for n in parts`, or those that are numbers: `if n.isdigit()`."""
    (loop, *others) = node.generators
    turn = ast.unparse(loop.target)
    plain = ast.unparse(node.elt) in (turn, f"int({turn})") and isinstance(loop.target, ast.Name)
    return (
        plain
        and not others
        and all(ast.unparse(test) in (f"{turn}.isdigit()", f"{turn}.isnumeric()") for test in loop.ifs)
    )


def _version(node: ast.expr) -> tuple[int, ...] | None:
    """The numbers of a version that is written there: `"1.7"`, `(1, 7)`, `Version("1.7.0")`."""
    if isinstance(node, ast.Call) and last_name(node.func) in _PARSES and len(node.args) == 1:
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
