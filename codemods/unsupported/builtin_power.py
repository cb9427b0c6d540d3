"""CF709: `pow` with a tensor.

## What it does
Finds calls of the builtin `pow` with two arguments of which one can be a tensor, and writes the operator.

## Why is this bad
Dynamo traces the operator `**` and not the builtin function: the graph breaks (GB0059).

## Example
```python
c1 = pow(k1 * data_range, 2)
```

## Use instead
```python
c1 = (k1 * data_range) ** 2
```

## Fix safety
Safe: with two arguments the function and the operator are the same operation, for every type.

Graph breaks: GB0059. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

# Where an operator needs no parentheses round it.
_LOOSE = (ast.stmt, ast.keyword, ast.Tuple, ast.List, ast.Dict, ast.Compare, ast.BoolOp, ast.IfExp)


class BuiltinPower(Rule):
    """`pow` with a tensor."""

    code = "CF709"
    name = "builtin-power"
    summary = "the builtin pow on a tensor"
    gb = ("GB0059",)
    hints = ("pow",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of the builtin with a tensor among its two arguments."""
        for node in scope.of(ast.Call):
            if scope.callee(node) != "pow" or len(node.args) != 2 or node.keywords:
                continue
            if any(isinstance(a, ast.Starred) for a in node.args) or not _on_tensor(node, scope):
                continue
            template = Template()
            base, exponent = (template.use(a, operand=True) for a in node.args)
            code = f"{base} ** {exponent}"
            parent = scope.parents.get(node)
            among_arguments = isinstance(parent, ast.Call) and node in parent.args
            if not isinstance(parent, _LOOSE) and not among_arguments:
                code = f"({code})"
            message = f"`{snippet(node)}`: Dynamo does not trace the builtin on a tensor, and the graph breaks"
            yield self.fixed(scope, node, message, Fix((scope.edit(node, code, **template.parts),)))


def _on_tensor(node: ast.Call, scope: Scope) -> bool:
    """Whether an argument, or a name in it, is known to hold a tensor on some run."""
    parts = [n for a in node.args for n in ast.walk(a) if isinstance(n, ast.Name) or n is a]
    return any(Kind.TENSOR in scope.value(part).kinds for part in parts)
