"""Where a call stands: what the rules about compile calls ask of it."""

from __future__ import annotations

import ast

from compilefix.codemods.module_rule import Holder, ModuleView

Loop = ast.For | ast.AsyncFor | ast.While


def is_expected_to_fail(node: ast.AST, view: ModuleView) -> bool:
    """Whether the code is there to see if it raises: in `try` with handlers, or under `pytest.raises`."""
    below = node
    for above in view.ancestors(node):
        if isinstance(above, ast.Try) and above.handlers and below in above.body:
            return True
        if isinstance(above, ast.With | ast.AsyncWith) and _raises(above):
            return True
        below = above
    return False


def _raises(node: ast.With | ast.AsyncWith) -> bool:
    return any("raises" in ast.unparse(item.context_expr).lower() for item in node.items)


def loop_around(node: ast.AST, view: ModuleView) -> Loop | None:
    """The innermost loop whose every turn runs a node: not one that leaves it to a branch, a handler or a function."""
    holder: Holder = view.holder(node)
    below = node
    for above in view.ancestors(node):
        if above is holder or isinstance(above, ast.If | ast.IfExp | ast.ExceptHandler | ast.BoolOp):
            return None
        if isinstance(above, ast.Try) and above.handlers:
            return None
        if isinstance(above, Loop):
            return above if below in above.body else None
        below = above
    return None
