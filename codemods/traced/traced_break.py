"""CF001: a graph break that a run met, and that no other rule finds.

## What it does
With `check --trace`, reports the break sites in the logs of a real run for which the other rules have no finding.

## Why is this bad
The graph breaks there, whatever the source looks like: the run met it. The finding has PyTorch's reason, its id and the
number of compilations that met it.

## Example
```sh
compilefix trace --json run.json -- python train.py
compilefix check --trace run.json
```

## Use instead
`compilefix explain GB0170` tells what an id means. What PyTorch cannot trace stays outside of the compiled code, with
`@torch.compiler.disable`, or moves to where the compiled code is called.

## Fix safety
This rule has no fix.

Not reported: breaks whose rule is not selected, and lines that read differently from what was traced.

Graph breaks: any. torch: all supported versions.
"""

from __future__ import annotations

from compilefix.codemods.traced_rule import TracedRule


class TracedBreak(TracedRule):
    """Graph break that a run met, and that no other rule finds."""

    code = "CF001"
    name = "traced-break"
    summary = "graph break that a real run met (only with --trace)"
    effect = "break"
