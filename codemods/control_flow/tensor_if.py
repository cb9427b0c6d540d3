"""CF101: an `if` statement on a tensor that selects values.

## What it does
Finds `if`/`elif`/`else` on a tensor whose branches give values to local names, attributes, elements (`p[i] = a`, `p[i]
+= a`) or places of a list, write in place, or return, and selects with `torch.where`. A turn of a loop that a tensor
skips (`if probability < layerdrop: continue`) always runs, and its results are selected. What it collects under a
fixed flag has as many items as turns that ran: with that flag set the `continue` stays, and breaks the graph. Where
all that a turn does is to append a value to a list, of which only the sum, the mean and the length are asked behind
the loop, each turn collects, a skipped one zero, and how many were kept is counted (`mask-not-empty`: one at least). A
condition that is fixed when Dynamo traces (a dtype, a flag) stays an `if` around the selection, and one inside a
branch stays inside. `if old is None or t == 0:` stays an `if` on the first part, with the tensor selected in its
`else` (one or two assignments stand twice then). `if mask.any():` around statements that change only what the mask
selects goes away, and so does an `if` that does nothing. What a branch prints, logs, warns of or raises goes to the
compile boundary with the condition (`log-late`, `exception-late`), also from a branch that gives values too. Early
returns become one return, where what stands behind them may run always; of tuples, lists and dictionaries with the
same keys, value by value; behind `if t: return` in a function that returns nothing, what it writes is selected. A
tensor that is made to be selected requires no gradient of its own (`return torch.tensor(0.0, requires_grad=True)`:
`no-gradient`). Branches that take several steps run under names of their own (`x_then`, `x_else`) before their results
are selected. `if mask.all(): mask = None` only saves work, and goes away (`mask-for-none`), also beside `mask is None
or`, and where the other side makes a mask of it; a padding mask that is None until something is padded is always made.
A name that is `fixed or t.any()`, and of which only conditions ask, becomes a tensor where it is given its value:
`fixed | t.any()`. A plain number on one side takes the shape and dtype of the tensor on the other (`number-to-tensor`,
`same-shape-dtype`). A function that answers with `return False` behind a check and `return True` at its end, or
returns such a flag, gives a boolean tensor (`number-to-tensor`), where the functions of its file that call it ask for
no more than the truth; an `if` on what it gives is looked at then. A flag in a buffer that the class only ever sets
(codes of a quantizer that the first batch chooses) is asked until it was seen set, and Python remembers that from then
on (`set-once`): where the branch cannot be selected, or draws random numbers. A selection that is made only where its
mask leaves something out (`if not keep.all(): x = x[keep]`, `if keep.sum() != len(x):`) is made always, where its size
can stay in the graph (`capture-scalars`, `no-aliasing`: where all is selected a copy takes the place of the tensor;
`one-dimension`).

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
and writes only into memory of its own that no other way out returns. An element that is always written keeps its value
on the other side, where it must exist. A block behind `if mask.any()` that raises where nothing is selected
(`x[mask].max()`) keeps its `if`, and so does what breaks the graph itself, but for selections that the capture flags
keep in it (`capture-scalars`). Where a side's derivative is not finite for every value, its operand is replaced
on the other side (`x / torch.where(c, n, 1.0)`), so that the gradient of zero that comes back stays zero. A write in
place in a branch becomes a new tensor only where nothing else holds the memory and no backward pass needs it, and a
write that is always made must not be one that the backward pass of other code notices (`no-aliasing`). A branch or
skipped turn that draws random numbers, as dropout does, draws them always, so that later numbers are others
(`rng-stream`). A branch that does more than that is declined, and the reason says what it does. A gradient of `-0.0`
may become `0.0`.

`torch.cond` is not written: called outside of `torch.compile` it traces both branches again at every call (measured on
torch 2.13: 43 ms where the `if` takes 0.01 ms), and raises where the results of the branches differ in strides, as
those of `torch.linalg.inv` and `pinv` do.

Graph breaks: GB0170. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.bound_names import unbound_where_skipped
from compilefix.codemods.capture_flags import SHAPES, switched_on
from compilefix.codemods.conditions import condition
from compilefix.codemods.control_flow.arms import Link, links_of
from compilefix.codemods.control_flow.collected_turns import CollectedTurn, always_collected, collected_turn
from compilefix.codemods.control_flow.early_return import returns_early, selected_return
from compilefix.codemods.control_flow.finite_tests import computed_of_nan
from compilefix.codemods.control_flow.guarded_effects import guarded_effects, late_effects
from compilefix.codemods.control_flow.guarded_rest import guarded_rest, rest_of_function
from compilefix.codemods.control_flow.guarded_writes import needs_elements
from compilefix.codemods.control_flow.loop_ends import ends_loop
from compilefix.codemods.control_flow.mask_shortcut import mask_shortcut
from compilefix.codemods.control_flow.masks import empty_masks, empty_masks_where
from compilefix.codemods.control_flow.selected_anyway import selected_where_needed, selects_anyway
from compilefix.codemods.control_flow.selected_values import makes_leaf, selected_values
from compilefix.codemods.control_flow.set_once import ONLY_UNTIL_SET, seen_set, waits_for_flag
from compilefix.codemods.control_flow.skipped_turn import Turn, always_run, skipped_turn
from compilefix.codemods.dynamic_shapes.captured_sizes import not_captured
from compilefix.codemods.dynamic_shapes.expert_numbers import goes_with_loop
from compilefix.codemods.finding import Edit, Finding, Fix
from compilefix.codemods.gradient_mode import records_none
from compilefix.codemods.host_effects.deferral import where_to_wrap
from compilefix.codemods.host_effects.exception_texts import ends_in_exception
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test, split_static, tensor_tests, tensor_words
from compilefix.codemods.torch_name import imports
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in

_FLAG = Obstacle(
    f"what is selected always has an unknown size, which stays in the graph with `{SHAPES}`", "capture-scalars"
)


class TensorIf(Rule):
    """If statement on a tensor."""

    code = "CF101"
    name = "tensor-if"
    summary = "if statement on a tensor that selects values"
    gb = ("GB0170",)
    hints = ("if ",)
    by_hand = "select with `torch.where` what both sides compute, or decide outside the compiled code"
    assumptions = (
        "branches-total",
        "is-tensor",
        "condition-one-element",
        "enough-dimensions",
        "same-shape-dtype",
        "finite-derivative",
        "gradient-zeros",
        "no-gradient",
        "no-aliasing",
        "number-to-tensor",
        "float32-rounding",
        "math-errors",
        "rng-stream",
        "log-late",
        "exception-late",
        "gradient-text",
        "mask-for-none",
        "caller-place",
        "text-order",
        "no-recompute",
        "set-once",
        "mask-not-empty",
        "dimension-not-empty",
        "summation-order",
        "boolean-mask",
        "one-dimension",
        "capture-scalars",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`if` statements whose test is a tensor; an `elif` belongs to its `if`."""
        chained = {node.orelse[0] for node in scope.of(ast.If) if _goes_on(node)}
        for node in scope.of(ast.If):
            if node in chained:
                continue
            less = Template()
            edits = mask_shortcut(node, scope, less)
            if edits is not None:
                yield self._judge_shortcut(node, edits, less, scope)
                continue
            anyway = selected_where_needed(node, scope) if is_tensor_test(node.test, scope) else None
            if anyway is not None and all(not_captured(item, scope) is None for item in anyway.items):
                if not switched_on(SHAPES, scope):
                    less.refuse([_FLAG])
                edits = selects_anyway(node, anyway, scope, less)
                if less.broken is None:
                    yield self._judge_shortcut(node, edits, less, scope)
                    continue
            collected = collected_turn(node, scope)
            if collected is not None:
                yield self._judge_collected(node, collected, scope)
                continue
            turn = skipped_turn(node, scope)
            if turn is not None:
                yield self._judge_turn(node, turn, scope)
                continue
            calls = guarded_effects(node, scope) if scope.logging == "boundary" else []
            if calls:
                yield self._judge_effects(node, calls, scope)
                continue
            links = links_of(node)
            tests = [(link, link.test) for link in links if link.test is not None and is_tensor_test(link.test, scope)]
            if tests and not _only_raises(tests[0][0], links) and not ends_loop(node, scope):
                yield self._judge_set_once(node, self._judge(node, links, tests[0][1], scope), scope)

    def _judge(self, node: ast.If, links: Sequence[Link], first: ast.expr, scope: Scope) -> Finding:
        words = tensor_words(tensor_tests(first, scope)[0], scope)
        message = f"`{ast.unparse(first)}` {words}: the `if` on it breaks the graph"
        failing = next((found for link in links if (found := _fails_without(node, link, scope)) is not None), None)
        failing = failing or _fails_behind(node, links, scope)
        if failing is not None:
            return self.declined(scope, node, message, failing)
        template = Template(unrecorded=records_none(scope, node))
        edits: tuple[Edit, ...]
        try:
            rest = None
            if _does_nothing(links):
                edits = _left_out(node, links, scope, template)
            elif (rest := rest_of_function(node, scope)) is not None:
                edits = guarded_rest(node, rest, scope, template)
            elif returns_early(node):
                edits = selected_return(node, scope, template)
            else:
                code = selected_values(links, scope, template)
                edits = () if code is None else (scope.edit(node, code, **template.parts),)
        except Refused as refusal:
            return self.obstructed(scope, node, message, str(refusal))
        taken = [s for link in links if not ends_in_exception(link.body, scope) for s in link.body]
        template.refuse(unbound_where_skipped(taken, node, scope))
        template.refuse(_bound_by_test(links))
        if not edits or template.broken is not None:
            return self.obstructed(scope, node, message, template.broken or "the branches do not select values")
        if "finite-derivative" in template.assumptions:
            behind = [] if rest is not None else _behind(node, scope)
            if (of_nan := computed_of_nan(links, behind, scope)) is not None:
                return self.obstructed(scope, node, message, of_nan)
        text = "\n".join(edit.template for edit in edits)
        late = "emit(" in text
        needed = imports(scope) if ".where(" in text else ()
        ran = [*(statement for link in links for statement in link.body), *(rest or ())]
        if late:  # what only the lines read that go to the boundary goes with them
            raising = {s for link in links if ends_in_exception(link.body, scope) for s in link.body}
            ran = [s for s in ran if s not in raising and _read_behind(s, node, scope)]
        if "no-gradient" in template.assumptions:  # what is selected is made without a gradient of its own
            kept = ast.Return if rest is not None else ()
            ran = [statement for statement in ran if isinstance(statement, kept) or not makes_leaf(statement, scope)]
        always = tuple(scope.span(statement) for statement in ran)
        edits = (*edits, *template.edits)
        fix = Fix(edits, needed, template.assumptions, template.reasons, boundary=late, always=always)
        return self.fixed(scope, node, message + (where_to_wrap(scope) if late else ""), fix)

    def _judge_set_once(self, node: ast.If, judged: Finding, scope: Scope) -> Finding:
        """What was judged of an `if`, or a fix for one on a flag that is only set: a selection runs in each call.

        A selection that draws nothing is kept: with it the first call has no break either.
        """
        if waits_for_flag(node, scope):
            return self.declined(scope, node, judged.message, ONLY_UNTIL_SET)
        draws = judged.fix is None or "rng-stream" in judged.fix.assumptions
        fix = seen_set(node, scope) if draws else None
        return judged if fix is None else self.fixed(scope, node, judged.message, fix)

    def _judge_shortcut(self, node: ast.If, edits: tuple[Edit, ...], template: Template, scope: Scope) -> Finding:
        first = tensor_tests(node.test, scope)[0]
        message = f"`{ast.unparse(first)}` {tensor_words(first, scope)}: the `if` on it breaks the graph"
        return self.fixed(scope, node, message, Fix(edits, (), template.assumptions, template.reasons))

    def _judge_turn(self, node: ast.If, turn: Turn, scope: Scope) -> Finding:
        message = (
            f"`{ast.unparse(turn.test)}` {tensor_words(turn.test, scope)}: the `if` that skips on it breaks the graph"
        )
        template = Template()
        edits = always_run(turn, scope, template)
        if not edits or template.broken is not None:
            reason = goes_with_loop(node, node.test, scope) or template.broken
            return self.declined(scope, node, message, reason or "the turn cannot always run")
        fix = Fix((*edits, *template.edits), imports(scope), template.assumptions, template.reasons)
        return self.fixed(scope, node, message, fix)

    def _judge_collected(self, node: ast.If, turn: CollectedTurn, scope: Scope) -> Finding:
        first = tensor_tests(node.test, scope)[0]
        words = tensor_words(first, scope)
        message = f"`{ast.unparse(first)}` {words}: the `if` on it breaks the graph"
        template = Template(unrecorded=records_none(scope, node))
        edits = always_collected(turn, scope, template)
        behind = turn.body if turn.skips else ()
        of_nan = computed_of_nan(links_of(node), behind, scope) if "finite-derivative" in template.assumptions else None
        if not edits or of_nan is not None or template.broken is not None:
            reason = of_nan or template.broken or "the turn cannot always run"
            return self.obstructed(scope, node, message, reason)
        always = tuple(scope.span(statement) for statement in turn.body)
        fix = Fix((*edits, *template.edits), imports(scope), template.assumptions, template.reasons, always=always)
        return self.fixed(scope, node, message, fix)

    def _judge_effects(self, node: ast.If, calls: list[ast.Call], scope: Scope) -> Finding:
        first = next(iter(tensor_tests(node.test, scope)))
        message = f"`{ast.unparse(first)}` {tensor_words(first, scope)}: the `if` on it breaks the graph"
        template = Template()
        try:
            code = late_effects(node, calls, scope, template)
        except Refused as refusal:
            return self.obstructed(scope, node, message, str(refusal))
        if code is None or template.broken is not None:
            return self.obstructed(scope, node, message, template.broken or "the condition is not all tensors")
        edit = scope.edit(node, code, **template.parts)
        fix = Fix((edit, *template.edits), (), template.assumptions, template.reasons, boundary=True)
        return self.fixed(scope, node, message + where_to_wrap(scope), fix)


def _does_nothing(links: Sequence[Link]) -> bool:
    """Whether no branch holds more than `pass`."""
    return all(isinstance(statement, ast.Pass) for link in links for statement in link.body)


def _left_out(node: ast.If, links: Sequence[Link], scope: Scope, template: Template) -> tuple[Edit, ...]:
    """The statement goes with its tests, of which only an error would be noticed."""
    tests = [link.test for link in links if link.test is not None]
    template.refuse(scope.legality.both_evaluated(tests, scope.facts))
    if any(condition([test], scope, template) is None for test in tests):
        return ()
    return (scope.edit(node, "" if len(scope.block(node)) > 1 else "pass"),)


def _goes_on(node: ast.If) -> bool:
    """Whether an `elif` follows."""
    return len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) and node.orelse[0].col_offset == node.col_offset


def _read_behind(statement: ast.stmt, node: ast.If, scope: Scope) -> bool:
    """Whether a statement assigns what is read outside of the `if`."""
    if not isinstance(statement, ast.Assign | ast.AugAssign):
        return False
    inside = set(ast.walk(node))
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    names = names_in(*targets)
    plain = all(isinstance(target, ast.Name) for target in targets)
    return not plain or any(n not in inside for name in names for n in scope.names(name))


def _fails_without(node: ast.If, link: Link, scope: Scope) -> str | None:
    """Why a branch behind `mask.any()` cannot run where the mask selects nothing: it asks for the largest of none."""
    for test in split_static(link.test, scope)[1] if link.test is not None else ():
        masks = list(empty_masks(test, scope))
        failing = needs_elements(link.body, masks, node, scope) if masks else None
        if failing is not None:
            return f"`{snippet(failing)}` fails where `{snippet(test)}` is false"
    return None


def _fails_behind(node: ast.If, links: Sequence[Link], scope: Scope) -> str | None:
    """Why what runs where a mask selects something cannot run where it does not: it asks for the largest of none."""
    rest = _behind(node, scope)
    for place, link in enumerate(links):
        for test in split_static(link.test, scope)[1] if link.test is not None else ():
            masks = list(empty_masks_where(test, scope))
            behind = [*(statement for later in links[place + 1 :] for statement in later.body), *rest]
            failing = needs_elements(behind, masks, ast.Module(behind, []), scope) if masks else None
            if failing is not None:
                return f"`{snippet(failing)}` fails where `{snippet(test)}` is true"
    return None


def _behind(node: ast.If, scope: Scope) -> list[ast.stmt]:
    """What stands behind an `if` that returns."""
    block = scope.block(node)
    return block[block.index(node) + 1 :] if returns_early(node) else []


def _bound_by_test(links: Sequence[Link]) -> Iterator[Obstacle]:
    """Whether a write in a branch reads what a test gives a name: it would be read before the test is computed."""
    tests = [n for link in links if link.test is not None for n in ast.walk(link.test)]
    bound = {n.target.id for n in tests if isinstance(n, ast.NamedExpr)}
    for statement in (s for link in links for s in link.body) if bound else ():
        chosen = isinstance(statement, ast.Assign) and all(isinstance(t, ast.Name) for t in statement.targets)
        read = next((n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id in bound), None)
        if read is not None and not chosen:
            yield Obstacle(f"`{snippet(statement)}` reads `{read}`, which the test gives a value")


def _only_raises(link: Link, links: Sequence[Link]) -> bool:
    """Whether the first branch on a tensor is a validation and the last one: that is CF103."""
    return link is links[-1] and len(link.body) == 1 and isinstance(link.body[0], ast.Raise)
