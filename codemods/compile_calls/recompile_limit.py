"""CF804: the limit for recompiles is raised.

## What it does
Finds `torch._dynamo.config.recompile_limit` (`cache_size_limit` before PyTorch 2.6) or its accumulated counterpart set
to more than torch's own 8 and 256.

## Why is this bad
The limit says how many versions of a function are kept. Reaching it means that a guard keeps failing; with a higher
limit each of these calls is still compiled, for seconds, and the more versions there are, the longer it takes to find
the right one. The setting hides the cause, and counts for the whole process.

## Example
```python
torch._dynamo.config.cache_size_limit = 256
```

## Use instead
Find the guard that fails, and keep it from failing: `compilefix trace -- python train.py` lists the guards, the most
expensive first, with what to do. Where many versions are wanted, for instance one for each of 20 layouts, say so for
that function alone: `torch.compile(step, recompile_limit=20)` (PyTorch 2.13).

## Fix safety
This rule has no fix: without the setting, the function would be given up where it is compiled again today.

Not reported in tests and benchmarks, which compile one function in many ways on purpose.

Graph breaks: GB0039. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from compilefix.codemods.compile_calls.settings import settings
from compilefix.codemods.finding import Finding
from compilefix.codemods.module_rule import ModuleRule, ModuleView

_DEFAULTS: Mapping[str, int] = {
    "recompile_limit": 8,
    "cache_size_limit": 8,
    "accumulated_recompile_limit": 256,
    "accumulated_cache_size_limit": 256,
}
_ADVICE = (
    "find the guard that fails with `compilefix trace`, and keep it from failing: each version is still compiled, and "
    "looked through at each call"
)


class RecompileLimit(ModuleRule):
    """The limit for recompiles is raised."""

    code = "CF804"
    name = "recompile-limit"
    summary = "raised limit for recompiles"
    gb = ("GB0039",)
    effect = "recompile"
    about_calls = False
    hints = ("recompile_limit", "cache_size_limit")

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """Where the limit is set above torch's own."""
        if view.is_trial:
            return
        for name, statement, value in settings(view, _DEFAULTS):
            limit = _number(value, name)
            if limit is not None and limit > _DEFAULTS[name]:
                message = f"`{name}` is raised from {_DEFAULTS[name]} to {limit}: what recompiles is hidden, not cured"
                yield self.declined_at(view, statement, message, _ADVICE)


def _number(value: ast.expr, name: str) -> int | None:
    """The limit, of `max(64, torch._dynamo.config.recompile_limit)` the 64."""
    if isinstance(value, ast.Constant) and type(value.value) is int:
        return value.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "max":
        known = [n for a in value.args if (n := _number(a, name)) is not None]
        return max(known) if known else None
    return None
