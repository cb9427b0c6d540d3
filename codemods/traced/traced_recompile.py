"""CF002: a recompile that a run met, and that no other rule finds.

## What it does
With `check --trace`, reports the guards that failed in a real run for which the other rules have no finding.

## Why is this bad
Each failed guard is a compilation, and after eight of one function Dynamo gives it up. The finding stands at the line
that made the guard where PyTorch tells it, else at the function, with the guard as PyTorch prints it.

## Example
```sh
compilefix trace --json run.json -- python train.py
compilefix check --trace run.json
```

## Use instead
The finding says what avoids such a guard, for instance batches of one size or a tensor in place of a number.

## Fix safety
This rule has no fix.

Not reported: guards on a value that a graph break handed to the rest of the function. They go away with the break.

Graph breaks: none. torch: all supported versions.
"""

from __future__ import annotations

from compilefix.codemods.traced_rule import TracedRule


class TracedRecompile(TracedRule):
    """Recompile that a run met, and that no other rule finds."""

    code = "CF002"
    name = "traced-recompile"
    summary = "recompile that a real run met (only with --trace)"
    effect = "recompile"
