"""CF102: a conditional expression on a tensor.

## What it does
Finds `a if condition else b` where the condition is a tensor, and selects with `torch.where` instead.

## Why is this bad
Python asks the tensor for its truth, so Dynamo ends the graph there (GB0170): two graphs instead of one, and on a GPU a
wait for the device at every call.

## Example
```python
scale = 255.0 if image.max() > 1.0 else 1.0
image = image / scale
```

## Use instead
```python
scale = torch.where(image.max() > 1.0, 255.0, 1.0)
image = image / scale
```

## Fix safety
Both sides are computed, so the fix is safe only where both are proved to be tensors of the same shape and dtype that
cannot fail, draw no random numbers (else `rng-stream`), take gradients to the same tensors, have a derivative that
stays finite, and where nobody can tell a new tensor from the old one. Where the derivative is not finite for every
value and the condition is short, the operand is replaced on the other side (`x / torch.where(n > 0, n, 1.0)`). Two
constant numbers become a tensor without dimensions: safe where every use is arithmetic with a tensor and the constants
are exact in half precision. A number beside a tensor without dimensions becomes one too (`number-to-tensor`, and
`float32-rounding` where it may need double). Dividing by such a tensor instead of by a Python number can differ by one
unit in the last place on a GPU, where torch multiplies by the reciprocal of a number. Each condition that is not
proved is a named assumption; one that is broken declines the fix, and so does a side that is no tensor by its looks:
what a class makes, or what gives a context (`torch.no_grad() if frozen else nullcontext()`). Under `torch.no_grad()`
gradients are not asked for. `torch.where(mask, x, 0).sum() if mask.any() else torch.zeros(())`, as CF503 leaves it, is
the sum alone. `int(a) if t.any() else n`, of an integer of 64 bits, becomes `int(torch.where(t.any(), a, n))`. In `a if
old is None or t == 0 else b` the first part decides first, and `a` stands twice.

Graph breaks: GB0170. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.bound_names import unbound_where_skipped
from compilefix.codemods.conditions import condition, order_kept
from compilefix.codemods.control_flow.finite_tests import given_nan
from compilefix.codemods.control_flow.guarded_sum import guarded_sum
from compilefix.codemods.control_flow.mask_shortcut import mask_or_none
from compilefix.codemods.control_flow.read_behind import read_behind
from compilefix.codemods.control_flow.several_kinds import (
    asks_whether_there,
    several_kinds,
    taken_as_tensor,
    without_question,
)
from compilefix.codemods.double_where import double_where, finite_sides
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.gradient_mode import records_none
from compilefix.codemods.own_if import needs_own_if
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import judge_selection
from compilefix.codemods.template import Given, Template
from compilefix.codemods.tensor_tests import is_tensor_test, split_static, tensor_tests, tensor_words
from compilefix.codemods.torch_name import imports, torch_name, where

_SHORT = 24
_LOOSE = ast.BoolOp | ast.IfExp | ast.Lambda


class TensorTernary(Rule):
    """Conditional expression on a tensor."""

    code = "CF102"
    name = "tensor-ternary"
    summary = "conditional expression on a tensor"
    gb = ("GB0170",)
    hints = (" else ", "else\n", "else(")
    by_hand = "select with `torch.where` what both sides compute, or decide outside the compiled code"
    assumptions = (
        "branches-total",
        "is-tensor",
        "condition-one-element",
        "enough-dimensions",
        "same-shape-dtype",
        "finite-derivative",
        "gradient-zeros",
        "no-aliasing",
        "number-to-tensor",
        "float32-rounding",
        "math-errors",
        "mask-for-none",
        "no-recompute",
        "rng-stream",
        "capture-scalars",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Conditional expressions whose test is a tensor."""
        for node in scope.of(ast.IfExp):
            if is_tensor_test(node.test, scope):
                yield self._judge(node, scope)

    def _judge(self, node: ast.IfExp, scope: Scope) -> Finding:
        words = tensor_words(tensor_tests(node.test, scope)[0], scope)
        message = f"`{ast.unparse(node.test)}` {words}: the conditional expression on it breaks the graph"
        less = Template()
        kept = mask_or_none(node, scope, less) or guarded_sum(node, scope, less)
        if kept is not None:
            return self.fixed(scope, node, message, Fix((kept,), (), less.assumptions, less.reasons))
        template = Template()
        if (read := read_behind(node, scope, template)) is not None:
            edits = (read, *template.edits)
            fix = Fix(edits, imports(scope), template.assumptions, template.reasons)
            return self.fixed(scope, node, message, fix)
        several = several_kinds(node, scope)
        if several is not None:
            with taken_as_tensor(several, node, scope):
                return self._selected(node, message, scope, several)
        return self._selected(node, message, scope)

    def _selected(self, node: ast.IfExp, message: str, scope: Scope, several: str | None = None) -> Finding:
        """The selection; `several` is the name that decides, where it is a tensor in some calls and none in others."""
        fixed, tests = split_static(node.test, scope)
        if several is not None:
            fixed = [part for part in fixed if not asks_whether_there(part, several)]
            tests = [without_question(test, several) for test in tests]
        apart, tests = _apart(tests, scope)
        template = Template(unrecorded=records_none(scope, node))
        template.refuse(order_kept(node.test, scope))
        test = condition(tests, scope, template)
        if test is None:
            return self.obstructed(
                scope, node, message, template.broken or "the condition cannot be written as one tensor"
            )
        names = _targets(node, scope)
        uses: list[ast.expr] = [use for name in names for use in scope.names(name)] if names else [node]
        sides, values = (Given(node.body), Given(node.orelse)), (scope.value(node.body), scope.value(node.orelse))
        finite = finite_sides([node.body, node.orelse], scope) if _is_short(node.test, scope) else frozenset[ast.expr]()
        suffix = judge_selection(names, sides, values, uses, scope, node, template, finite=finite)
        template.refuse(unbound_where_skipped([node.body, node.orelse], node, scope))
        if "finite-derivative" in template.assumptions:
            of_nan = given_nan(node.test, [node.body], [node.orelse], scope)
            template.refuse([] if of_nan is None else [Obstacle(of_nan)])
        body, orelse = (
            double_where(side, (test, holds), scope, template) if side.node in finite else template.use(side.node)
            for side, holds in zip(sides, (True, False), strict=True)
        )
        code = f"{where(scope)}({test}, {body}, {orelse}){suffix}"
        if fixed:
            joined = " and ".join(template.use(part, operand=isinstance(part, _LOOSE)) for part in fixed)
            code = f"{code} if {joined} else {template.use(node.orelse)}"
        if apart:
            joined = " or ".join(template.use(part, operand=isinstance(part, _LOOSE)) for part in apart)
            code = f"{template.use(node.body, operand=isinstance(node.body, _LOOSE))} if {joined} else {code}"
        if several is not None:
            made = f"({code})" if fixed else code
            whole = f"{made} if isinstance({several}, {torch_name(scope)}.Tensor) else {template.use(node)}"
            code = whole if isinstance(scope.parents.get(node), ast.Assign) else f"({whole})"
        if any(isinstance(parent, ast.FormattedValue) for parent in scope.ancestors(node)):
            return self.declined(scope, node, message, "the text of a tensor names the operation that made it")
        if template.broken is not None:
            return self.obstructed(scope, node, message, template.broken)
        edit = scope.edit(node, code, **template.parts)
        always = (scope.span(node.body), scope.span(node.orelse))
        edits = (edit, *template.edits)
        fix = Fix(edits, imports(scope), template.assumptions, template.reasons, always=always)
        return self.fixed(scope, node, message, fix)


def _apart(tests: list[ast.expr], scope: Scope) -> tuple[list[ast.expr], list[ast.expr]]:
    """The fixed parts before the tensor of `old is None or t == 0` that others count on, and what is left of the test.

    They decide first, as before, and the side that they choose stands twice.
    """
    test = tests[0]
    if len(tests) > 1 or not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.Or):
        return [], tests
    count = next((i for i, value in enumerate(test.values) if is_tensor_test(value, scope)), 0)
    fixed, left = test.values[:count], test.values[count:]
    if all(needs_own_if(value, scope) is None for value in fixed):
        return [], tests
    return fixed, [left[0] if len(left) == 1 else ast.copy_location(ast.BoolOp(test.op, left), test)]


def _is_short(test: ast.expr, scope: Scope) -> bool:
    """Whether a condition may stand there more than once."""
    return len(ast.unparse(test)) <= _SHORT and not any(scope.legality.computed_again(test, scope.facts))


def _targets(node: ast.IfExp, scope: Scope) -> list[str]:
    statement = scope.parents.get(node)
    if (
        isinstance(statement, ast.Assign)
        and statement.value is node
        and all(isinstance(t, ast.Name) for t in statement.targets)
    ):
        return [t.id for t in statement.targets if isinstance(t, ast.Name)]
    return []
