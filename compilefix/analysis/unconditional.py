"""What of a statement runs whenever it is reached."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.source.tree import children, walk


def unconditional(statement: ast.stmt) -> Iterator[ast.AST]:
    """Nodes that are evaluated whenever the statement is reached and nothing raises."""
    if isinstance(statement, ast.With):
        for item in statement.items:
            yield from walk(item)
        for inner in statement.body:
            yield from unconditional(inner)
    else:
        pending: list[ast.AST] = []
        if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return | ast.Raise):
            pending = [statement]
        elif isinstance(statement, ast.If | ast.While | ast.Assert):
            pending = [statement.test]
        elif isinstance(statement, ast.For):
            pending = [statement.iter]
        while pending:
            node = pending.pop()
            yield node
            if isinstance(node, ast.IfExp):
                pending.append(node.test)
            elif isinstance(node, ast.BoolOp):
                pending.append(node.values[0])
            elif not isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
                pending.extend(children(node))
