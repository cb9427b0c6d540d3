"""How a file calls torch."""

from __future__ import annotations

from compilefix.codemods.rule import Scope


def where(scope: Scope) -> str:
    """How this file writes `torch.where`."""
    return f"{torch_name(scope)}.where"


def torch_name(scope: Scope) -> str:
    """The local name of torch; a fix that uses it must list `imports(scope)`."""
    return scope.local_name("torch") or "torch"


def imports(scope: Scope) -> tuple[str, ...]:
    """The import that `torch_name` needs."""
    return () if scope.local_name("torch") else ("torch",)
