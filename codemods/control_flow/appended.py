"""`xs.append(a)` in every branch of an `if`: one item is appended always, and it is the selected one.

if t.any():                      xs.append(torch.where(t.any(), a, b))
    xs.append(a)
else:
    xs.append(b)
"""

from __future__ import annotations

import ast

from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope


def appended(statement: ast.stmt, scope: Scope) -> tuple[str, ast.Call] | None:
    """The name of what a statement appends to, as a target, and the call; None where it does something else."""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    if len(call.args) != 1 or call.keywords or isinstance(call.args[0], ast.Starred):
        return None
    holder = call.func.value
    while isinstance(holder, ast.Attribute):
        holder = holder.value
    if not isinstance(holder, ast.Name) or not scope.value(call.func.value).is_(Kind.CONTAINER):
        return None
    return f"{ast.unparse(call.func)}()", call


def is_appended(name: str) -> bool:
    """Whether the name of a target is that of a list to which an item is appended."""
    return name.endswith(".append()")
