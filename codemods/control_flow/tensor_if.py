"""CF101: an `if` statement on a tensor that selects values.

## What it does
Finds `if`/`elif`/`else` on a tensor whose branches give values to local names or attributes, write in place, or return,
and selects with `torch.where`. A turn of a loop that a tensor skips (`if probability < layerdrop: continue`) always
runs, and its results are selected. A condition that is fixed when Dynamo traces (a dtype, a flag) stays an `if` around
the selection, and one inside a branch stays inside. `if mask.any():` around statements that change only what the mask
selects goes away. A block that only prints, logs or warns goes to the compile boundary with the condition (`log-late`).

## Why is this bad
Python asks the tensor for its truth, so Dynamo ends the graph there (GB0170). In a loop it gives up on the whole
function. On a GPU every such `if` waits for the device.

## Example
```python
if x.dtype == torch.float16 and torch.isinf(x).any():
    limit = torch.finfo(x.dtype).max - 1000
    x = torch.clamp(x, min=-limit, max=limit)
if padding.any():
    x = x.masked_fill(padding, 0.0)
```

## Use instead
```python
if x.dtype == torch.float16:
    limit = torch.finfo(x.dtype).max - 1000
    x = torch.where(torch.isinf(x).any(), torch.clamp(x, min=-limit, max=limit), x)
x = x.masked_fill(padding, 0.0)
```

## Fix safety
Both branches are computed. The fix is safe only where that is proved to change nothing: see CF102 for the conditions,
which are the same. What runs behind an early return, or is no longer guarded, runs always: it must not be able to fail,
draw random numbers or write. A write in place in a branch becomes a new tensor only where nothing else holds the memory
and no backward pass needs it, and a write that is always made must not be one that the backward pass of other code
notices (`no-aliasing`). A skipped turn that draws random numbers, as dropout does, draws them always (`rng-stream`). A
branch that does more than that is declined, and the reason says what it does. A gradient of
`-0.0` may become `0.0`.

Graph breaks: GB0170. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.legality import Obstacle
from compilefix.codemods.conditions import (
    condition,
    is_tensor_test,
    order_kept,
    split_static,
    tensor_tests,
    tensor_words,
)
from compilefix.codemods.control_flow.arms import (
    Arm,
    assignment_order,
    chain_of,
    hoisted,
    own_names_read,
    read_arms,
    value_before,
)
from compilefix.codemods.control_flow.early_return import returns_early, selected_return
from compilefix.codemods.control_flow.guarded_block import selected_statement_by_statement, without_guard
from compilefix.codemods.control_flow.guarded_effects import guarded_effects, late_effects
from compilefix.codemods.control_flow.liveness import free_name, inside, live_after
from compilefix.codemods.control_flow.masked_loop import ends_loop
from compilefix.codemods.control_flow.skipped_turn import Turn, always_run, skipped_turn
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.host_effects.deferral import where_to_wrap
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.selection import Given, Template, imports, judge_selection, where


class TensorIf(Rule):
    """If statement on a tensor."""

    code = "CF101"
    name = "tensor-if"
    summary = "if statement on a tensor that selects values"
    gb = ("GB0170",)
    hints = ("if ",)
    assumptions = (
        "branches-total",
        "condition-one-element",
        "enough-dimensions",
        "same-shape-dtype",
        "finite-derivative",
        "gradient-zeros",
        "no-aliasing",
        "number-to-tensor",
        "float32-rounding",
        "rng-stream",
        "log-late",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`if` statements whose test is a tensor; an `elif` belongs to its `if`."""
        for node in scope.of(ast.If):
            if _is_elif(node, scope):
                continue
            turn = skipped_turn(node, scope)
            if turn is not None:
                yield self._judge_turn(node, turn, scope)
                continue
            calls = guarded_effects(node, scope) if scope.logging == "boundary" else []
            if calls:
                yield self._judge_effects(node, calls, scope)
                continue
            chain = chain_of(node)
            tests = [link.test for link in chain if is_tensor_test(link.test, scope)]
            if tests and not _only_raises(node) and not ends_loop(node, scope):
                yield self._judge(node, chain, tests[0], scope)

    def _judge(self, node: ast.If, chain: Sequence[ast.If], first: ast.expr, scope: Scope) -> Finding:
        words = tensor_words(tensor_tests(first, scope)[0], scope)
        message = f"`{ast.unparse(first)}` {words}: the `if` on it breaks the graph"
        template = Template()
        if returns_early(node):
            edits = selected_return(node, chain, scope, template)
            if not edits or template.broken is not None:
                return self.declined(scope, node, message, template.broken or "a branch returns")
            return self.fixed(
                scope,
                node,
                message,
                Fix((*edits, *template.edits), imports(scope), template.assumptions, template.reasons),
            )
        code = self._best(node, chain, scope, template)
        if code is None or template.broken is not None:
            return self.declined(scope, node, message, template.broken or "the branches do not select values")
        edit = scope.edit(node, code, **template.parts)
        return self.fixed(
            scope, node, message, Fix((edit, *template.edits), imports(scope), template.assumptions, template.reasons)
        )

    def _judge_turn(self, node: ast.If, turn: Turn, scope: Scope) -> Finding:
        message = f"`{ast.unparse(turn.test)}` is a tensor: the `if` that skips on it breaks the graph"
        template = Template()
        edits = always_run(turn, scope, template)
        if not edits or template.broken is not None:
            return self.declined(scope, node, message, template.broken or "the turn cannot always run")
        fix = Fix((*edits, *template.edits), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, node, message, fix)

    def _judge_effects(self, node: ast.If, calls: list[ast.Call], scope: Scope) -> Finding:
        first = next(iter(tensor_tests(node.test, scope)))
        message = f"`{ast.unparse(first)}` is a tensor: the `if` on it breaks the graph"
        template = Template()
        try:
            code = late_effects(node, calls, scope, template)
        except Refused as refusal:
            return self.declined(scope, node, message, str(refusal))
        if code is None or template.broken is not None:
            return self.declined(scope, node, message, template.broken or "the condition is not all tensors")
        edit = scope.edit(node, code, **template.parts)
        fix = Fix((edit, *template.edits), (), template.assumptions, template.reasons, boundary=True)
        return self.fixed(scope, node, message + where_to_wrap(scope), fix)

    def _best(self, node: ast.If, chain: Sequence[ast.If], scope: Scope, template: Template) -> str | None:
        """The block without its `if`, else the selected values, else each statement selected."""
        first = next(i for i, link in enumerate(chain) if is_tensor_test(link.test, scope))
        if first:
            return self._behind_fixed(chain, first, scope, template)
        if not node.orelse:
            code = without_guard(node, scope, template)
            if code is not None and template.broken is None:
                return code
            template.reset()
        code = self._rewrite(node, chain, scope, template)
        if code is not None or node.orelse or not any(_is_structured(s) for s in node.body):
            return code
        refused = list(template.obstacles)
        template.reset()
        code = selected_statement_by_statement(node, scope, template)
        if code is None or template.broken is not None:
            template.reset()
            template.refuse(refused)
            return None
        return code

    def _behind_fixed(self, chain: Sequence[ast.If], first: int, scope: Scope, template: Template) -> str | None:
        """A chain that begins with fixed conditions: those stay, and the rest becomes its `else`."""
        rest = self._best(chain[first], chain[first:], scope, template)
        if rest is None:
            return None
        lines: list[str] = []
        for index, link in enumerate(chain[:first]):
            lines.append(f"{'elif' if index else 'if'} {template.use(link.test)}:")
            lines += [f"    {template.use(statement)}" for statement in link.body]
        if rest.startswith("if "):
            return "\n".join([*lines, f"el{rest}"])
        return "\n".join([*lines, "else:", *(f"    {line}" for line in rest.splitlines())])

    def _rewrite(self, node: ast.If, chain: Sequence[ast.If], scope: Scope, template: Template) -> str | None:
        arms = read_arms(chain, scope, template)
        if arms is None:
            return None
        fixed, tests = split_static(node.test, scope)
        template.refuse(order_kept(node.test, scope))
        loose = [arm.test for arm in arms[1:] if arm.test is not None and split_static(arm.test, scope)[0]]
        if loose:
            template.refuse(
                [Obstacle(f"`elif {ast.unparse(loose[0])}` is not a tensor: the order of the tests matters")]
            )
            return None
        if fixed and len(arms) > 2:
            template.refuse([Obstacle("a fixed condition and a tensor are mixed in an `if` that has an `elif`")])
            return None
        order = assignment_order(arms, template)
        if order is None:
            return None
        results = [name for name in order if "." in name or live_after(name, node, scope)]
        temporaries = [name for name in order if name not in results]
        if not results:
            template.refuse([Obstacle("no branch assigns a name that is read later")])
            return None
        if len(results) > 1 and len(arms) > 2:
            template.refuse([Obstacle("several names are selected by more than two branches")])
            return None
        if fixed and temporaries and len(arms) > 1:
            template.refuse([Obstacle("a fixed condition and a tensor are mixed in an `if` that computes temporaries")])
            return None
        codes = [
            condition(tests if i == 0 else [arm.test], scope, template)
            for i, arm in enumerate(arms)
            if arm.test is not None
        ]
        template.refuse(
            scope.legality.both_evaluated([arm.test for arm in arms[1:] if arm.test is not None], scope.facts)
        )
        lines = self._selection(node, arms, codes, order, results, scope, template)
        if lines is None or not fixed:
            return None if lines is None else "\n".join(lines)
        head = " and ".join(template.use(part) for part in fixed)
        code = f"if {head}:\n" + "\n".join(f"    {line}" for line in lines)
        if len(arms) > 1:
            code += "\nelse:\n" + "\n".join(f"    {template.use(s)}" for s in chain[0].orelse)
        return code

    def _selection(
        self,
        node: ast.If,
        arms: Sequence[Arm],
        codes: Sequence[str | None],
        order: Sequence[str],
        results: Sequence[str],
        scope: Scope,
        template: Template,
    ) -> list[str] | None:
        """The lines that select each result; None, with the obstacle noted, where one cannot be."""
        if any(c is None for c in codes):
            return None
        lines = [line for arm in arms for line in arm.branch.unpacked]
        if len(results) > 1:
            name = free_name("condition", scope)
            lines.append(f"{name} = {codes[0]}")
            codes = [name]
        template.refuse(own_names_read(arms))
        together = [name for arm in arms for name in arm.branch.together]
        if together and (len(arms) > 1 or set(together) != set(order) or len(results) != len(order)):
            template.refuse([Obstacle(f"`{', '.join(together)}` are exchanged, and another name or branch is there")])
            return None
        selections: list[str] = []
        for name in order:
            if name not in results:
                lines.append(hoisted(name, arms, scope, template))
                continue
            code = self._selected(name, node, arms, [c for c in codes if c is not None], scope, template)
            if code is None:
                return None
            if together:
                selections.append(code)
            else:
                lines.append(f"{name} = {code}")
        if together:
            lines.append(f"{', '.join(order)} = {', '.join(selections)}")
        return lines

    def _selected(
        self, name: str, node: ast.If, arms: Sequence[Arm], codes: Sequence[str], scope: Scope, template: Template
    ) -> str | None:
        # A fixed conjunct stays around the selection, so what it says of the name holds there.
        before = value_before(name, node.body[0] if split_static(node.test, scope)[0] else node, scope)
        sides = [arm.assigns.get(name) for arm in arms]
        if arms[-1].test is not None:
            sides.append(None)
        if any(side is None for side in sides) and (before is None or (not before.certain and not before.is_tensor)):
            template.refuse([Obstacle(f"`{name}` may have no value before the `if`")])
            return None
        values = [scope.value(side.node) if side is not None else before for side in sides]
        known = [v for v in values if v is not None]
        uses: list[ast.expr] = [use for use in scope.names(name) if not inside(use, node)]
        suffix = judge_selection([name], sides, known, uses, scope, node, template)
        code = self._side(sides[-1], name, template)
        for test, side in zip(reversed(codes), reversed(sides[:-1]), strict=True):
            code = f"{where(scope)}({test}, {self._side(side, name, template)}, {code})"
        return f"{code}{suffix}"

    def _side(self, side: Given | None, name: str, template: Template) -> str:
        return name if side is None else template.code(side)


def _is_elif(node: ast.If, scope: Scope) -> bool:
    parent = scope.parents.get(node)
    return isinstance(parent, ast.If) and parent.orelse == [node] and parent.col_offset == node.col_offset


def _is_structured(statement: ast.stmt) -> bool:
    """Whether a statement is more than an assignment to names, and may still be selected by itself."""
    items = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript)
    return items or isinstance(statement, ast.If | ast.For | ast.Expr | ast.AugAssign)


def _only_raises(node: ast.If) -> bool:
    """Whether the `if` is a validation: that is CF103."""
    return len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and not node.orelse
