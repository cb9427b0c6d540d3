"""Names for what fixes write."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from compilefix.codemods.rule import Scope


def free_name(wanted: str, scope: Scope, taken: Iterable[str] = ()) -> str:
    """A name that the function does not use, nor the code that is being written: `taken` are names or lines of it."""
    used = {n.id for n in scope.function.of(ast.Name)}
    used |= {a.arg for a in scope.function.parameters}
    used |= {target for line in taken for target in line.partition(" = ")[0].split(", ")}
    name, count = wanted, 2
    while name in used:
        name, count = f"{wanted}_{count}", count + 1
    return name
