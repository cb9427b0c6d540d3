"""CF703: a question for `grad_fn`.

## What it does
Finds `t.grad_fn is None` and `t.grad_fn is not None` in compiled code, and asks `t.is_leaf` instead.

## Why is this bad
Dynamo does not represent the function that a gradient goes through: where the tensor has one, reading it breaks the
graph (GB0104).

## Example
```python
if y.grad_fn is not None:
    y = y.detach()
```

## Use instead
```python
if not y.is_leaf:
    y = y.detach()
```

## Fix safety
Safe: a tensor is a leaf exactly where it has no gradient function. No fix where the function itself is read.

Graph breaks: GB0104. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.syntax import asks_for_none

_LOOSE = (ast.stmt, ast.BoolOp, ast.IfExp, ast.keyword)


class GradientFunctionTest(Rule):
    """Question for `grad_fn`."""

    code = "CF703"
    name = "grad-fn-test"
    summary = "question for a tensor's grad_fn"
    gb = ("GB0104",)
    hints = ("grad_fn",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Places that read `grad_fn` of a tensor."""
        for node in scope.of(ast.Attribute):
            if node.attr != "grad_fn" or not isinstance(node.ctx, ast.Load) or not _may_be_tensor(node, scope):
                continue
            message = f"`{snippet(node)}` breaks the graph where the tensor has a gradient"
            test = scope.parents.get(node)
            if not _is_none_test(test, node):
                reason = "the function itself is used: read it outside the compiled code"
                yield self.declined(scope, node, message, reason)
                continue
            assert isinstance(test, ast.Compare)
            if not scope.value(node.value).certain:
                reason = f"`{snippet(node.value)}` is not proved to be a tensor; of one, ask `.is_leaf`"
                yield self.declined(scope, node, message, reason)
                continue
            template = Template()
            leaf = f"{template.use(node.value, operand=True)}.is_leaf"
            negated = isinstance(test.ops[0], ast.IsNot)
            code = f"not {leaf}" if negated else leaf
            if negated and not isinstance(scope.parents.get(test), _LOOSE):
                code = f"({code})"
            yield self.fixed(scope, node, message, Fix((scope.edit(test, code, **template.parts),)))


def _may_be_tensor(node: ast.Attribute, scope: Scope) -> bool:
    value = scope.value(node.value)
    return value.is_tensor or value.is_unknown


def _is_none_test(test: ast.AST | None, node: ast.expr) -> bool:
    return isinstance(test, ast.Compare) and test.left is node and asks_for_none(test)
