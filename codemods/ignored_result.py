"""Functions whose result nobody looks at."""

from __future__ import annotations

import ast

from compilefix.codemods.rule import Scope


def result_is_ignored(scope: Scope) -> bool:
    """Whether the project calls a function, and each time as a statement of its own.

    Goes by the name: whatever has the same name must be called in this way too.
    """
    name, project = scope.function.node.name, scope.legality.inference.project
    called = False
    for module in project.modules.mentioning(name):
        tree = project.modules[module].file.tree
        statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        ignored = {id(n.func) for n in ast.walk(tree) if isinstance(n, ast.Call) and id(n) in statements}
        for node in ast.walk(tree):
            used = isinstance(node, ast.Name) and node.id == name
            if used or (isinstance(node, ast.Attribute) and node.attr == name):
                if id(node) not in ignored:
                    return False
                called = True
    return called
