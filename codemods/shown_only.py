"""Branches that are there to show something: pictures of a step, drawn where somebody asks for them.

What such a branch computes is for the picture alone, so that whoever compiles the model does without it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from compilefix.source.definitions import Function
from compilefix.source.tree import statements, walk

_LEAVES = (ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Break, ast.Continue, ast.Global, ast.Nonlocal)
_PICTURES = (
    "matplotlib.",
    "cv2.imshow",
    "cv2.imwrite",
    "seaborn.",
    "visdom.",
    "torchvision.utils.save_image",
)
"""What begins the names of calls that show a picture, or keep it for people."""
_SAYS = ("print", "logging.", "warnings.warn")
"""What begins the names of calls that print or log."""


def only_shows(block: Sequence[ast.stmt], function: Function, calls: Mapping[ast.AST, Function]) -> bool:
    """Whether a block of a branch shows something, and leaves nothing for what comes behind it."""
    within = (part for statement in block for part in (statement, *statements(statement)))
    if not any(_is_shown(part, function, calls) for part in within):
        return False
    inside = [part for statement in block for part in walk(statement)]
    if any(isinstance(part, _LEAVES) for part in inside):
        return False
    stored = [part for part in inside if isinstance(getattr(part, "ctx", None), ast.Store)]
    if not all(isinstance(store, ast.Name) for store in stored if not isinstance(store, ast.Tuple | ast.List)):
        return False
    names = {store.id for store in stored if isinstance(store, ast.Name)}
    if not all(_is_shown(part, function, calls) or _begins_with(part.value, names) for part in _acts(inside)):
        return False
    held = set(inside)
    return not any(
        isinstance(node.ctx, ast.Load) and node.id in names and node not in held and node.lineno > block[-1].lineno
        for node in function.of(ast.Name)
    ) and not any(isinstance(part, ast.For | ast.While) and held <= set(walk(part)) for part in function.nodes)


def only_says(block: Sequence[ast.stmt], function: Function, names: Mapping[ast.AST, str]) -> bool:
    """Whether a block prints or logs, and leaves nothing for what comes behind it; `names` are those of its calls."""
    inside = [part for statement in block for part in walk(statement)]
    statements = [part for part in inside if isinstance(part, ast.stmt)]
    if not all(isinstance(part, ast.Expr | ast.Assign | ast.Try | ast.If | ast.Pass) for part in statements):
        return False
    calls = [part.value for part in statements if isinstance(part, ast.Expr) and isinstance(part.value, ast.Call)]
    if not calls or not all((names.get(call) or "").startswith(_SAYS) for call in calls):
        return False
    stored = [part for part in inside if isinstance(getattr(part, "ctx", None), ast.Store)]
    if not all(isinstance(part, ast.Name) for part in stored):
        return False
    kept, held = {part.id for part in stored if isinstance(part, ast.Name)}, set(inside)
    return not any(node.id in kept and node not in held for node in function.of(ast.Name))


def _acts(nodes: Iterable[ast.AST]) -> Iterator[ast.Expr]:
    """The statements among some nodes that are no more than a call: `kept.append(x)`."""
    return (node for node in nodes if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))


def _begins_with(node: ast.expr, names: Collection[str]) -> bool:
    """Whether an expression is one of some names, a part of it, or what is called there: `axis.set_title(...)`."""
    while isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id in names


def _is_shown(node: ast.AST, function: Function, calls: Mapping[ast.AST, Function]) -> bool:
    """Whether a statement of its own calls what shows something, or keeps it for people."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return False
    if (function.module.qualified(node.value.func) or "").startswith(_PICTURES):
        return True
    callee = calls.get(node.value)
    return callee is not None and any(name.startswith(_PICTURES) for name in callee.called_names)
