"""CF105: the truth of a tensor in an assert, an `and`/`or`, or `in`.

## What it does
Finds the other places where Python asks a tensor for its truth: `assert` on a condition made of several tensors or with
a message that is computed, `a and b` and `not a` as values, `t in (1, 2)`, chained comparisons, `max(t, 0)`.

## Why is this bad
Dynamo ends the graph at each (GB0170).

## Example
```python
assert not torch.isnan(x).any() and x.min() >= 0, f"bad input {x}"
```

## Use instead
One boolean tensor and a constant message, which stays in the graph:
```python
assert ((~torch.isnan(x)).all() & (x.min() >= 0)), "bad input"
```

## Fix safety
There is no fix: a tensor assert that stays in the graph raises RuntimeError instead of AssertionError.

Graph breaks: GB0170. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import tensor_tests


class TensorTruth(Rule):
    """Truth of a tensor outside `if` and `while`."""

    code = "CF105"
    name = "tensor-truth"
    summary = "truth of a tensor in assert, and, or, not, in"
    gb = ("GB0170",)
    hints = ("assert", " and ", " or ", "not ", " in ", "max(", "min(")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Asserts that break, and tensors used as truth values in expressions."""
        for node in scope.nodes:
            if isinstance(node, ast.Assert):
                yield from self._assert(node, scope)
            elif isinstance(node, ast.BoolOp | ast.UnaryOp) and not self._inside_test(node, scope):
                yield from self._expression(node, scope)
            elif isinstance(node, ast.Call) and scope.callee(node) in ("min", "max") and len(node.args) > 1:
                tensors = [a for a in node.args if scope.value(a).is_tensor]
                if tensors:
                    message = f"`{ast.unparse(node)}` compares tensors in Python and breaks the graph"
                    yield self.declined(
                        scope,
                        node,
                        message,
                        "use torch.maximum, torch.minimum or clamp: they treat NaN and the gradient at a tie otherwise",
                    )

    def _assert(self, node: ast.Assert, scope: Scope) -> Iterator[Finding]:
        tests = tensor_tests(node.test, scope)
        # A plain tensor with a constant message becomes an assert in the graph: no break.
        plain = scope.value(node.test).is_tensor and (node.msg is None or isinstance(node.msg, ast.Constant))
        if tests and not plain:
            message = f"`assert` on `{ast.unparse(tests[0])}` breaks the graph"
            yield self.declined(
                scope,
                node,
                message,
                "write one boolean tensor and a constant message; the exception's type changes to RuntimeError",
            )

    def _expression(self, node: ast.BoolOp | ast.UnaryOp, scope: Scope) -> Iterator[Finding]:
        if isinstance(node, ast.BoolOp):
            tested = [v for v in node.values[:-1] if scope.value(v).is_tensor]
        elif isinstance(node.op, ast.Not):
            tested = [node.operand] if scope.value(node.operand).is_tensor else []
        else:
            return
        if tested:
            message = f"the truth of the tensor `{ast.unparse(tested[0])}` is read and breaks the graph"
            yield self.declined(
                scope,
                node,
                message,
                "use torch.logical_and, torch.logical_or or torch.logical_not: the result becomes a tensor",
            )

    def _inside_test(self, node: ast.AST, scope: Scope) -> bool:
        """Whether the expression is (part of) the test of a statement that has its own rule."""
        child: ast.AST = node
        for parent in scope.ancestors(node):
            if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
                return parent.test is child
            if not isinstance(parent, ast.BoolOp | ast.UnaryOp):
                return False
            child = parent
        return False
