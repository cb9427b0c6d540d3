"""Where a program sets options of Dynamo for the whole process."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from compilefix.codemods.module_rule import ModuleView

_CONFIG = "torch._dynamo.config"


def settings(view: ModuleView, names: Collection[str]) -> Iterator[tuple[str, ast.stmt, ast.expr]]:
    """The statements that set one of these options: its name, the statement and the value."""
    for node in view.nodes:
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
            continue
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            named = isinstance(target, ast.Attribute) and target.attr in names
            if isinstance(target, ast.Attribute) and named and view.module.qualified(target.value) == _CONFIG:
                yield target.attr, node, node.value
