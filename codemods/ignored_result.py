"""Functions whose result nobody looks at."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope
from compilefix.source.tree import statements, walk


def result_is_ignored(scope: Scope) -> bool:
    """Whether the project calls a function, and each time as a statement of its own.

    Goes by the name: whatever has the same name must be called in this way too.
    """
    name, project = scope.function.node.name, scope.legality.inference.project
    called = False
    for module in project.modules.mentioning(name):
        tree = project.modules[module].file.tree
        ignored = {s.value.func for s in statements(tree) if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)}
        for node in walk(tree):
            used = isinstance(node, ast.Name) and node.id == name
            if used or (isinstance(node, ast.Attribute) and node.attr == name):
                if node not in ignored:
                    return False
                called = True
    return called
