"""Whether a program calls what it has compiled, and not the compiled object."""

from __future__ import annotations

import ast
import re

from compilefix.codemods.module_rule import ModuleView
from compilefix.source.tree import walk

_LOOKS = frozenset(
    {
        "parameters",
        "named_parameters",
        "buffers",
        "named_buffers",
        "modules",
        "named_modules",
        "children",
        "state_dict",
        "load_state_dict",
        "train",
        "eval",
        "training",
        "to",
        "cuda",
        "cpu",
        "zero_grad",
        "requires_grad_",
    }
)


def is_only_looked_at(statement: ast.Assign, original: ast.expr, view: ModuleView) -> bool:
    """Whether the compiled object of an assignment is never called, while the original is called after it.

    Its parameters, state and mode may be used. An attribute counts if no other place of the project names it.
    """
    target = statement.targets[0]
    if len(statement.targets) != 1 or not isinstance(original, ast.Name | ast.Attribute):
        return False
    if ast.unparse(target) == ast.unparse(original):
        return False
    if isinstance(target, ast.Attribute):
        around = next((above for above in view.ancestors(statement) if isinstance(above, ast.ClassDef)), None)
        names = {ast.unparse(original), *_kept_as(original, statement, view)}
        return around is not None and _is_named_once(target.attr, view) and _is_called(names, around)
    holder = view.holder(statement)
    if not isinstance(target, ast.Name) or target.id.startswith("_"):
        return False
    if isinstance(holder, ast.Module | ast.Lambda):
        if not isinstance(holder, ast.Module) or not _is_named_here_only(target.id, view):
            return False
    elif any(isinstance(n, ast.Global | ast.Nonlocal) and target.id in n.names for n in walk(holder)):
        return False
    reads = [n for n in view.names(holder, target.id) if not isinstance(n.ctx, ast.Store)]
    stores = [n for n in view.names(holder, target.id) if isinstance(n.ctx, ast.Store)]
    looks = (isinstance(above := view.parents.get(n), ast.Attribute) and above.attr in _LOOKS for n in reads)
    # `else: fast = model`, where compiling is switched off.
    others = (view.parents.get(n) for n in stores if view.parents.get(n) is not statement)
    same = all(isinstance(o, ast.Assign) and ast.unparse(o.value) == ast.unparse(original) for o in others)
    called = _is_called({ast.unparse(original)}, holder, statement.lineno)
    return same and bool(reads) and all(looks) and called


def _is_called(names: set[str], inside: ast.AST, after: int = 0) -> bool:
    return any(
        isinstance(node, ast.Call) and node.lineno > after and ast.unparse(node.func) in names for node in walk(inside)
    )


def _kept_as(original: ast.expr, statement: ast.Assign, view: ModuleView) -> set[str]:
    """The attributes that the same function gives what was compiled: `self.model = model`."""
    text = ast.unparse(original)
    return {
        ast.unparse(target)
        for node in walk(view.holder(statement))
        if isinstance(node, ast.Assign) and ast.unparse(node.value) == text
        for target in node.targets
        if isinstance(target, ast.Attribute)
    }


def _is_named_once(attribute: str, view: ModuleView) -> bool:
    """Whether the whole project names an attribute at one place only, in strings and comments too."""
    texts, word = view.project.modules.texts, rf"\b{re.escape(attribute)}\b"
    return len(texts.matching(attribute, word)) == 1 and not texts.matching(attribute, rf"{word}[\s\S]*{word}")


def _is_named_here_only(name: str, view: ModuleView) -> bool:
    return len(view.project.modules.texts.mentioning(name)) == 1 and "__all__" not in view.file.text
