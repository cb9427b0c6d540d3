"""CF404: a library that computes on the host, called with a tensor's values.

## What it does
Finds calls of SciPy, scikit-learn, scikit-image, OpenCV, PIL, pandas and networkx in compiled code that are given a
tensor, or an array made of one.

## Why is this bad
Dynamo cannot trace what is written in C: the graph ends there (GB0007; GB0055, GB0157, GB0294, GB4841 for arrays and
images on the way), on a GPU the program waits for the device and copies, and what follows is compiled apart. In a loop
the whole function stays in Python.

## Example
```python
def forward(self, cost):
    row, column = linear_sum_assignment(cost.detach().cpu().numpy())
    return cost[row, column].sum()
```

## Use instead
Compute it before the compiled function and pass the result, where it does not depend on what the function computes.
Else make it an operation of its own, which the graph calls without looking into it:

```python
@torch.library.custom_op("mylib::assign", mutates_args=())
def assign(cost: torch.Tensor) -> torch.Tensor:
    row, column = linear_sum_assignment(cost.detach().cpu().numpy())
    return torch.stack([torch.as_tensor(row), torch.as_tensor(column)]).to(cost.device)


@assign.register_fake
def _(cost: torch.Tensor) -> torch.Tensor:
    # The shape, dtype and device of the result, without its values.
    return cost.new_empty((2, min(cost.shape)), dtype=torch.int64)
```

The fake version must know the shape of the result. Where a gradient flows through it, give one with
`assign.register_autograd(backward, setup_context=...)`. Such an operation still waits for the device, and CUDA graphs
(`mode="reduce-overhead"`) cannot hold it.

## Fix safety
This rule has no fix: what the result looks like stands nowhere in the code.

Graph breaks: GB0007, GB0055, GB0157, GB0294, GB4841. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.numpy_calls.array_values import numpy_operand
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet

_LIBRARIES = frozenset({"scipy", "sklearn", "skimage", "cv2", "PIL", "pandas", "networkx"})


class HostLibrary(Rule):
    """Library that computes on the host."""

    code = "CF404"
    name = "host-library"
    summary = "SciPy, PIL, OpenCV or pandas called with a tensor's values"
    gb = ("GB0007", "GB0055", "GB0157", "GB0294", "GB4841")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls into such a library with a tensor, or an array made of one."""
        libraries = _LIBRARIES - {scope.function.module.name.partition(".")[0]}  # its own functions are looked at
        if libraries.isdisjoint(scope.function.module.packages):
            return
        for node in scope.of(ast.Call):
            library = (scope.callee(node) or "").partition(".")[0]
            arguments = [*node.args, *(k.value for k in node.keywords)]
            if library not in libraries:
                continue
            # What makes a table or a series does so on the host, whatever it is given.
            if library == "pandas" or any(numpy_operand(argument, scope) for argument in arguments):
                yield self.declined(
                    scope,
                    node,
                    f"`{snippet(node.func)}` of {library} computes on the host: the graph breaks",
                    "compute it before the compiled function and pass the result, or make it a custom operation: "
                    "`compilefix rule CF404` shows one",
                    gb=("GB0007",),
                )
