"""CF805: errors of torch.compile are suppressed.

## What it does
Finds `torch._dynamo.config.suppress_errors = True`.

## Why is this bad
Where a compilation fails, the function runs in eager from then on, with no more than a warning: the program is slower
than it could be, and nobody knows which part of it. What was an error with a place and a reason becomes a lost speedup.

## Example
```python
torch._dynamo.config.suppress_errors = True
```

## Use instead
Without the setting, look at what fails. Code that cannot be compiled is left out by name, with
`@torch.compiler.disable`, so that the rest stays compiled and new failures show.

## Fix safety
This rule has no fix: without the setting the program may stop with an error.

Graph breaks: none. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.compile_calls.settings import settings
from compilefix.codemods.finding import Finding
from compilefix.codemods.module_rule import ModuleRule, ModuleView

_ADVICE = "leave out by name what cannot be compiled, with `@torch.compiler.disable`, and let other failures show"


class SuppressedErrors(ModuleRule):
    """Errors of torch.compile are suppressed."""

    code = "CF805"
    name = "suppressed-errors"
    summary = "suppress_errors, with which what fails to compile runs in eager unseen"
    effect = "slow"
    about_calls = False
    hints = ("suppress_errors",)

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """Where errors are switched off."""
        for _, statement, value in settings(view, ("suppress_errors",)):
            if isinstance(value, ast.Constant) and value.value is True:
                message = "what fails to compile runs in eager, and only a warning tells"
                yield self.declined_at(view, statement, message, _ADVICE)
