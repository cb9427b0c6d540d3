"""Names for what fixes write."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from compilefix.codemods.rule import Scope


def free_name(wanted: str, scope: Scope, taken: Iterable[str] = ()) -> str:
    """A name that the function does not use, nor the code that is being written: `taken` are names or lines of it."""
    used = {n.id for n in scope.function.of(ast.Name)}
    used |= {a.arg for a in scope.function.parameters}
    used |= {a.asname or a.name.partition(".")[0] for a in scope.function.of(ast.alias)}
    used |= {handler.name for handler in scope.function.of(ast.ExceptHandler) if handler.name is not None}
    used |= {name for node in scope.function.of(ast.Global) for name in node.names}
    used |= {name for node in scope.function.of(ast.Nonlocal) for name in node.names}
    used |= {target for line in taken for target in line.partition(" = ")[0].split(", ")}
    name, count = wanted, 2
    while name in used:
        name, count = f"{wanted}_{count}", count + 1
    return name
