"""CF105: the truth of a tensor in an assert, an `and`/`or`, a `not`, or a chained comparison.

## What it does
Finds the other places where Python asks a tensor for its truth: `assert` and `torch._assert`, conditions in a
comprehension, and `a and b`, `not a` and `0 < t < 2` as
values. Values become tensor operations, and a check moves to the compile boundary. Python's `max(s, t)` and `min(s, t)`
do not break the graph.

## Why is this bad
Dynamo ends the graph at each (GB0170).

## Example
```python
assert torch.isfinite(x).all(), f"bad input {x.shape}"
in_range = (x >= 0).all() and (x <= 1).all()
```

## Use instead
```python
emit(lambda shape: AssertionError(f"bad input {shape}"), x.shape, raise_if=~torch.isfinite(x).all())
in_range = (x >= 0).all() & (x <= 1).all()
```

## Fix safety
`a and b` is `a & b` where both are proved to be boolean tensors without dimensions and computing `b` always cannot
fail; `0 < t < 2` likewise. Where their dimensions are not proved they must have one element (`condition-one-element`)
and one shape (`same-shape-dtype`). What is known while tracing stays in front (`flag and a and b` is `flag and (a &
b)`), and what stands behind it is evaluated only where it was. `not a` gave a Python bool, and so did a chain of
numbers that are read from tensors (`0 < t.item() < 2`): as a tensor it needs the assumption `number-to-tensor`, and
where its text is made (in a print, a log line, by `str`) there is no fix. An assert needs `exception-late`, as in
CF103; one that stays in the graph raises RuntimeError there, before what the boundary raises, and on a GPU it ends the
CUDA context (H200, torch 2.11: the ValueError of an earlier check was lost, and no call worked after it). So in a file
with a check at the boundary it goes there too. Under `python -O` asserts vanish, and the check at the boundary does
not.

Graph breaks: GB0170. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise, takewhile

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.computed_truths import computed_with, shown_in
from compilefix.codemods.conditions import condition
from compilefix.codemods.control_flow.tensor_validation import late_check
from compilefix.codemods.control_flow.validation_call import reads_in_checks
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.host_effects.deferral import where_to_wrap
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_builtin_truth, tensor_tests
from compilefix.codemods.torch_name import imports
from compilefix.source.snippets import snippet


class TensorTruth(Rule):
    """Truth of a tensor outside `if` and `while`."""

    code = "CF105"
    name = "tensor-truth"
    summary = "truth of a tensor in assert, and, or, not, in"
    gb = ("GB0170",)
    hints = ("assert", "any(", "all(", " and ", " or ", "not ", " < ", " <= ", " > ", " >= ")
    assumptions = (
        "branches-total",
        "is-tensor",
        "condition-one-element",
        "enough-dimensions",
        "no-aliasing",
        "number-to-tensor",
        "exception-late",
        "gradient-text",
        "float32-rounding",
        "math-errors",
        "rng-stream",
        "same-shape-dtype",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Asserts that break, and tensors used as truth values in expressions."""
        checks = reads_in_checks(scope)
        for node in scope.among(
            ast.Assert, ast.Expr, ast.comprehension, ast.BoolOp, ast.UnaryOp, ast.Compare, ast.Call
        ):
            if isinstance(node, ast.Assert):
                yield from self._assert(node, node, scope)
            elif isinstance(node, ast.Expr) and (asserted := _asserted_call(node, scope)) is not None:
                yield from self._assert(asserted, node, scope)
            elif isinstance(node, ast.comprehension):
                yield from self._filtered(node, scope)
            elif node in checks:
                continue
            elif isinstance(node, ast.BoolOp | ast.UnaryOp | ast.Compare):
                if not self._inside_test(node, scope):
                    yield from self._expression(node, scope)
            elif isinstance(node, ast.Call) and is_builtin_truth(node, scope) and not self._inside_test(node, scope):
                message = f"`{snippet(node)}` reads the truth of tensors one by one and breaks the graph"
                yield self.declined(scope, node, message, "compare whole tensors, and use `.any()` or `.all()`")

    def _filtered(self, node: ast.comprehension, scope: Scope) -> Iterator[Finding]:
        """Conditions of a comprehension: how many items it has depends on values."""
        for test in node.ifs:
            if tensor_tests(test, scope):
                message = f"`if {snippet(test)}` asks a tensor which items to take, and breaks the graph"
                yield self.declined(scope, test, message, "keep all items, and mask those that do not count")

    def _assert(self, made: ast.Assert, node: ast.stmt, scope: Scope) -> Iterator[Finding]:
        """The finding for a statement that is an assert, or, as a call, means the same."""
        tests = tensor_tests(made.test, scope)
        plain = made is node and (made.msg is None or isinstance(made.msg, ast.Constant))
        kept = plain and _asserted_in_graph(made.test, scope)
        if not tests or (kept and not _raises_late(scope)):
            return
        message = f"`assert` on `{ast.unparse(tests[0])}` breaks the graph"
        if kept:
            message = (
                f"`assert` on `{ast.unparse(tests[0])}` fails in the graph, before an exception that is raised late"
            )
        template = Template(mixes=True)
        template.refuse([Obstacle("what stands behind the assert runs before it is raised", "exception-late")])
        try:
            code = late_check(ast.UnaryOp(ast.Not(), made.test), node, made, scope, template)
        except Refused as refusal:
            code = None
            template.refuse([Obstacle(str(refusal))])
        if code is None or template.broken is not None:
            reason = template.broken or "the condition mixes tensors with what is not known"
            if not kept:
                yield self.declined(scope, node, message, reason)
            return
        edit = scope.edit(node, code, **template.parts)
        needed = imports(scope) if ".where(" in code else ()
        fix = Fix((edit, *template.edits), needed, template.assumptions, template.reasons, boundary=True)
        yield self.fixed(scope, node, message + where_to_wrap(scope), fix)

    def _expression(self, node: ast.BoolOp | ast.UnaryOp | ast.Compare, scope: Scope) -> Iterator[Finding]:
        if isinstance(node, ast.BoolOp):
            tested = [v for v in node.values[:-1] if scope.value(v).is_tensor or scope.value(v).sometimes_tensor]
        elif isinstance(node, ast.UnaryOp):
            value = scope.value(node.operand)
            negates = isinstance(node.op, ast.Not) and (value.is_tensor or value.sometimes_tensor)
            tested = [node.operand] if negates else []
        else:
            tested = [node] if len(node.ops) > 1 and tensor_tests(node, scope) else []
        if not tested:
            return
        message = f"the truth of the tensor `{snippet(tested[0])}` is read and breaks the graph"
        template = Template()
        fixed, whole = _leading(node, scope)
        alike = isinstance(whole, ast.BoolOp) and all(_is_truth_tensor(v, scope) for v in whole.values)
        for operand in whole.values if isinstance(whole, ast.BoolOp) else ():
            value = scope.value(operand)
            if not (value.is_scalar_tensor and value.certain and value.dtype == "bool"):
                number = value.is_(Kind.STATIC) and value.dtype == "bool" and value.certain
                reason = f"`{snippet(operand)}` is not proved to be a boolean tensor without dimensions"
                template.refuse([Obstacle(reason, "number-to-tensor" if number else _ONE if alike else None)])
                if alike:
                    reason = f"`{snippet(whole)}` is one of its parts, which are not proved to have one shape"
                    template.refuse([Obstacle(reason, "same-shape-dtype")])
        was_bool = isinstance(node, ast.UnaryOp) or (isinstance(node, ast.Compare) and not _is_of_tensors(node, scope))
        if was_bool:
            template.refuse([Obstacle(f"`{snippet(node)}` was a Python bool", "number-to-tensor")])
            if (computed := computed_with(node, scope)) is not None:
                reason = f"`{snippet(computed)}` takes a bool for a number or a key, and a tensor otherwise"
                template.refuse([Obstacle(reason)])
        if _in_text(node, scope) or (was_bool and shown_in(node, scope) is not None):
            template.refuse([Obstacle("the text of a tensor is not that of a bool")])
        if isinstance(node, ast.UnaryOp) and not scope.value(node.operand).certain:
            reason = f"`{snippet(node.operand)}` is not proved to be a tensor, and `~` makes a true integer of True"
            template.refuse([Obstacle(reason)])
        if isinstance(node, ast.UnaryOp) and scope.value(node.operand).rank != 0:
            template.refuse([Obstacle(f"`{snippet(node.operand)}` is not proved to have no dimensions")])
        if alike and isinstance(whole, ast.BoolOp) and template.broken is None and _ONE in template.assumptions:
            template.refuse(scope.legality.both_evaluated(whole.values[1:], scope.facts))
            symbol = " & " if isinstance(whole.op, ast.And) else " | "
            code: str | None = symbol.join(template.use(value, operand=True) for value in whole.values)
        else:
            code = condition([whole], scope, template) if template.broken is None else None
        names = (
            [v for v in node.values if isinstance(v, ast.Name | ast.Attribute)] if isinstance(node, ast.BoolOp) else []
        )
        template.refuse(
            scope.legality.memory.aliasing([], [scope.value(v) for v in names], scope.statement(node), scope.facts)
        )
        if code is None or template.broken is not None:
            yield self.declined(scope, node, message, template.broken or "the condition is not all tensors")
            return
        parent = scope.parents.get(node)
        if fixed and isinstance(node, ast.BoolOp):
            word = " and " if isinstance(node.op, ast.And) else " or "
            before = [template.use(v, operand=isinstance(v, ast.BoolOp | ast.IfExp | ast.Lambda)) for v in fixed]
            code = word.join([*before, f"({code})"])
        if isinstance(parent, ast.BoolOp | ast.UnaryOp | ast.BinOp | ast.Compare):
            code = f"({code})"
        edit = scope.edit(node, code, **template.parts)
        yield self.fixed(scope, node, message, Fix((edit, *template.edits), (), template.assumptions, template.reasons))

    def _inside_test(self, node: ast.AST, scope: Scope) -> bool:
        """Whether the expression is (part of) the test of a statement that has its own rule."""
        child: ast.AST = node
        for parent in scope.ancestors(node):
            if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
                return parent.test is child
            if isinstance(parent, ast.comprehension):
                return child in parent.ifs
            if not isinstance(parent, ast.BoolOp | ast.UnaryOp):
                return False
            child = parent
        return False


_ONE = "condition-one-element"


def _is_truth_tensor(node: ast.expr, scope: Scope) -> bool:
    """Whether an operand is proved to be a boolean tensor, of whatever shape."""
    value = scope.value(node)
    return value.is_tensor and value.certain and value.dtype == "bool" and not isinstance(node, ast.BoolOp)


def _is_of_tensors(node: ast.Compare, scope: Scope) -> bool:
    """Whether each comparison of a chain gives a tensor; one of numbers read from tensors gives a Python bool."""
    sides = [scope.value(side) for side in (node.left, *node.comparators)]
    return all(any(side.is_tensor and side.certain for side in pair) for pair in pairwise(sides))


def _in_text(node: ast.expr, scope: Scope) -> bool:
    return any(isinstance(parent, ast.FormattedValue) for parent in scope.ancestors(node))


def _asserted_call(node: ast.Expr, scope: Scope) -> ast.Assert | None:
    """The assert that a statement `torch._assert(condition, "text")` means."""
    call = node.value
    if not isinstance(call, ast.Call) or scope.callee(call) != "torch._assert":
        return None
    given = dict(zip(("condition", "message"), call.args, strict=False)) | {k.arg or "": k.value for k in call.keywords}
    if set(given) != {"condition", "message"} or any(isinstance(a, ast.Starred) for a in call.args):
        return None
    return ast.copy_location(ast.Assert(given["condition"], given["message"]), node)


def _asserted_in_graph(test: ast.expr, scope: Scope) -> bool:
    """Whether only the last operand is a tensor, or array: with a constant message Dynamo asserts it in the graph."""
    if isinstance(test, ast.BoolOp):
        earlier = any(tensor_tests(operand, scope) for operand in test.values[:-1])
        return not earlier and _asserted_in_graph(test.values[-1], scope)
    return scope.value(test).is_(Kind.TENSOR, Kind.NDARRAY)  # it traces arrays as tensors


def _raises_late(scope: Scope) -> bool:
    """Whether an earlier fix moved a check of this file to the boundary."""
    text = scope.file.text  # the helper is imported when all fixes are made
    return "emit(" in text and "raise_if=" in text


def _leading(node: ast.expr, scope: Scope) -> tuple[list[ast.expr], ast.expr]:
    """The operands before the first tensor, whose truth Dynamo knows and which decide by themselves; and the others."""
    if not isinstance(node, ast.BoolOp):
        return [], node
    fixed = list(takewhile(lambda v: scope.value(v).is_static, node.values))
    rest = node.values[len(fixed) :]
    if not fixed or len(rest) < 2:
        return [], node
    return fixed, ast.copy_location(ast.BoolOp(node.op, rest), node)
