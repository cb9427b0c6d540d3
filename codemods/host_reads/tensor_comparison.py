"""CF204: a comparison of tensors that gives a Python bool.

## What it does
Finds `torch.equal`, `torch.allclose` and `torch.is_nonzero`, as functions and methods, but where they decide a branch:
that is the finding of CF101, CF103 and other rules for branches.

## Why is this bad
They return a Python bool and not a tensor, so the values must be there while Dynamo traces: the graph ends at the call
(GB0033), and on a GPU the program waits for the device.

## Example
```python
close = torch.allclose(x, y, atol=1e-4)
```

## Use instead
A tensor, which stays in the graph:
```python
close = torch.isclose(x, y, atol=1e-4).all()
```

## Fix safety
`torch.allclose` is `isclose(...).all()` by definition. `torch.equal` is also False for tensors of other shapes, for
which `==` broadcasts or raises, so what is written for it asks for the shapes too; tensors of several dtypes, of which
it may raise, need `same-shape-dtype`, and what is not proved to be a tensor `is-tensor`. The fix is for an answer
that is returned, or given to a name that is only tested, returned and shown: there a tensor of one bool stands for the
Python bool (`number-to-tensor`). Where a test decides what no rule selects (`return False, "a text"`), the break would
only move there, and there is no fix. On a GPU `torch.equal(x, x)` of one tensor is True also with NaN in it (torch
2.11, H100 and H200); what is written instead is not, as on a CPU. So no tensor is compared with itself, and two that
may be one need `no-aliasing`, unless they are of integers or bools.

Graph breaks: GB0033. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.conditions import condition
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.kept_branches import kept_in
from compilefix.codemods.number_reads import decides
from compilefix.codemods.returned_truths import moved_break
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test
from compilefix.source.snippets import snippet
from compilefix.source.syntax import unpacks

_ADVICE = {
    "equal": "compare with `(a == b).all()`, which stays a tensor, where the shapes are equal",
    "allclose": "compare with `torch.isclose(a, b).all()`, which stays a tensor",
    "is_nonzero": "compare with `t != 0`, which stays a tensor",
}


class TensorComparison(Rule):
    """Comparison of tensors that gives a Python bool."""

    code = "CF204"
    name = "tensor-comparison"
    summary = "comparison of tensors that returns a Python bool"
    gb = ("GB0033",)
    hints = ("equal(", "allclose(", "is_nonzero(")
    assumptions = ("number-to-tensor", "same-shape-dtype", "is-tensor", "no-aliasing")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls by the name of what is called."""
        for node in scope.nodes:
            if not isinstance(node, ast.Call):
                continue
            owner, _, name = (scope.callee(node) or "").rpartition(".")
            if name not in _ADVICE or owner not in ("torch", "Tensor"):
                continue
            if decides(node, scope) and is_tensor_test(node, scope):
                continue  # the finding is that of the branch
            message = f"`{snippet(node)}` needs the tensors' values for a Python bool: the graph breaks"
            if name == "is_nonzero" or not is_tensor_test(node, scope) or not _kept(node, scope):
                yield self.declined(scope, node, message, _ADVICE[name])
                continue
            if (kept := _kept_branch(node, scope)) is not None:
                reason = f"the `if` on the tensor would break the graph, and stays: `{snippet(kept)}`"
                yield self.declined(scope, node, message, reason)
                continue
            if isinstance(scope.parents.get(node), ast.Return) and (moved := moved_break(scope)) is not None:
                yield self.declined(scope, node, message, moved.reason)
                continue
            template = Template()
            template.refuse([Obstacle("the answer was a Python bool, and becomes a tensor", "number-to-tensor")])
            code = condition([node], scope, template)
            if code is None or template.broken is not None:
                yield self.declined(scope, node, message, template.broken or _ADVICE[name])
                continue
            edit = scope.edit(node, code, **template.parts)
            yield self.fixed(scope, node, message, Fix((edit,), (), template.assumptions, template.reasons))


def _kept(node: ast.Call, scope: Scope) -> bool:
    """Whether an answer is returned, or given to a name whose uses take a tensor of one bool."""
    if unpacks(node):
        return False
    parent = scope.parents.get(node)
    if isinstance(parent, ast.Return):
        return True
    if not isinstance(parent, ast.Assign) or len(parent.targets) != 1 or not isinstance(parent.targets[0], ast.Name):
        return False
    name = parent.targets[0].id
    uses = scope.names(name)
    everywhere = sum(isinstance(n, ast.Name) and n.id == name for n in ast.walk(scope.function.node))
    alone = everywhere == len(uses) + 1 and not scope.function.takes(name)
    return alone and all(_tested(use, scope) for use in uses)


def _kept_branch(node: ast.Call, scope: Scope) -> ast.stmt | None:
    """What keeps a branch that the answer decides: the break would only move there."""
    parent = scope.parents.get(node)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    uses = scope.names(target.id) if isinstance(target, ast.Name) else []
    tests = (next((a for a in scope.ancestors(use) if isinstance(a, ast.stmt)), None) for use in uses)
    branches = (kept_in(test, scope) for test in tests if test is not None)
    return next((kept for kept in branches if kept is not None), None)


def _tested(use: ast.expr, scope: Scope) -> bool:
    parent = scope.parents.get(use)
    if isinstance(parent, ast.Return):
        return True
    node: ast.expr = use
    while isinstance(parent, ast.BoolOp) or (isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)):
        node, parent = parent, scope.parents.get(parent)
    return isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert) and parent.test is node
