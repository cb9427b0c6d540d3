"""CF503: one number made of the elements that a mask selects.

## What it does
Finds sums, means, maxima, variances, counts and losses over masked elements (`x[mask].mean()`,
`x.masked_select(mask).sum()`, `len(mask.nonzero())`, `F.mse_loss(a[mask], b[mask])`, also with loss modules) and
histograms of them (`torch.bincount(x[mask], minlength=n)`), and computes them over all elements, with the others
replaced by what does not count.

## Why is this bad
`x[mask]` has as many elements as the mask has true values. Dynamo cannot know how many while it traces, so the graph
ends there (GB0036), although the result has a fixed shape; on a GPU the program waits for the device.

## Example
```python
loss = per_token[mask].mean()
loss = F.cross_entropy(logits[mask], target[mask])
count = mask.nonzero().shape[0]
kept = target[target >= 0]
hits, share = (kept == 1).sum(), kept.numel() / 4
error = torch.norm(a[mask] - b[mask], dim=-1).mean()
counts = torch.bincount(label[mask], minlength=n)
```

## Use instead
```python
loss = torch.where(mask, per_token, 0).sum() / mask.sum()
loss = F.cross_entropy(torch.where(mask[..., None], logits, 0), torch.where(mask, target, -100))
count = mask.sum()
selected = target >= 0
hits, share = torch.where(selected, target == 1, 0).sum(), selected.sum() / 4
safe_a, safe_b = (torch.where(mask[..., None], x, 1) for x in (a, b))
error = torch.where(mask, torch.norm(safe_a - safe_b, dim=-1), 0).sum() / mask.sum()
counts = torch.zeros(n, dtype=torch.int64, device=label.device)
counts = counts.scatter_add_(0, torch.where(mask, label, 0).flatten(), mask.flatten().long())
```

## Fix safety
A name for what is selected may be used several times: all that it is used for is rewritten together, or nothing; a use
may stand in an `if` behind it. Where an `if` that is decided while tracing gives the name its value (`if weight is not
None: loss = loss * weight[mask]`), the statements stay, and the names hold all elements. Where only one side of it
selects, the reduction stays on the other: `... if mask is not None else x.mean()`. Where an `if` without an `else`
reduces them (`if mode == "mean": loss = loss.mean()`), it gets one that selects. Where another way, fixed while
tracing, returns the elements themselves, they are selected there (`return loss[mask]`), and only that way breaks the
graph. What is done with the last dimension alone (`norm(dim=-1)`, `sum(-1)`, `softmax(-1)`) treats each row by itself,
where the rows have a dimension of their own: with ranks that are not known that needs `enough-dimensions`. `any`, `all`
and sums of integers are exact, and so is the mean of nothing, which is NaN both ways. A sum or mean of floats adds
zeros between the elements, which changes the order and so the rounding (`summation-order`); in half precision the sum
can overflow where the mean does not. The maximum of nothing is an error, and becomes minus infinity (`mask-not-empty`).
A count was a Python number and becomes a tensor (`number-to-tensor`); beside a half precision tensor a GPU rounds it
first (`float32-rounding`). What is computed of the elements before they are reduced must treat each by itself, see
CF502; where the mask is not proved to have the tensor's shape the fix needs `same-shape-dtype`. Elements that are not
selected may be NaN or inf: they are replaced before anything is computed whose derivative is not finite for them. A
class number as large as `minlength` made `bincount` longer, and raises (`index-in-range`). A mask or tensor whose
number of dimensions must be asked, and the mean that a variance needs, get a name before the statement; where no
statement can stand there is no fix. The standard deviation of equal elements has a gradient of zero, its root has none
(`finite-derivative`), and of fewer than two elements PyTorch warns (`mask-not-empty`). A mask of what the graph writes
into may be computed again by the backward pass, from what was written (`no-recompute`).

A tensor beside the elements (`(x[mask] * weight).sum()`), of which it is not known whether it has an element or row for
each true value, is put in the places of all by `masked_scatter` where its sizes say so: with another number of them no
error is raised as before, or another (`rows-match`).

Rows and labels that a loss over classes is given flat (`rows.view(-1, rows.size(-1))`) are so after the selection;
masks that differ only in the device that they are moved to, and labels that are moved beside the rows, must all stand
on one (`same-shape-dtype`). A count that is divided by a size of zero raises another error (`math-errors`).

Graph breaks: GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.codemods.control_flow.tensor_validation import checked_late
from compilefix.codemods.dynamic_shapes.counts import names_of, plain_assert, raised_instead, whole_instead
from compilefix.codemods.dynamic_shapes.drafts import Draft
from compilefix.codemods.dynamic_shapes.kept_code import kept_edits
from compilefix.codemods.dynamic_shapes.other_ways import moved_selections
from compilefix.codemods.dynamic_shapes.reduction_groups import drafts_of, group_edits
from compilefix.codemods.dynamic_shapes.reductions import COUNTS
from compilefix.codemods.dynamic_shapes.replaced_expressions import expression_edits
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.torch_name import imports
from compilefix.source.snippets import snippet


class MaskedReduction(Rule):
    """Reduction of masked elements."""

    code = "CF503"
    name = "masked-reduction"
    summary = "sum, mean, count or loss over the elements that a mask selects"
    gb = ("GB0036",)
    assumptions = (
        "same-shape-dtype",
        "branches-total",
        "is-tensor",
        "finite-derivative",
        "summation-order",
        "mask-not-empty",
        "number-to-tensor",
        "float32-rounding",
        "all-rows",
        "boolean-mask",
        "index-in-range",
        "enough-dimensions",
        "no-recompute",
        "math-errors",
        "rows-match",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Reductions of masked elements."""
        yield from self.findings(drafts_of(scope), scope)

    def findings(self, drafts: Sequence[Draft], scope: Scope) -> Iterator[Finding]:
        """The findings for the reductions of a function."""
        checks = [node for call in checked_late(scope) for node in ast.walk(call)]
        for draft in drafts:
            if draft.found.node in checks:
                continue  # CF103 carries the check to the boundary
            found, finding = draft.found, self._finding_of(draft, drafts, scope)
            if finding.fix is not None or found.counted or found.mask.index in set(ast.walk(found.node)):
                yield finding  # else the graph breaks where the elements are selected, and CF501 says so there

    def _finding_of(self, draft: Draft, drafts: Sequence[Draft], scope: Scope) -> Finding:
        found = draft.found
        message = (
            f"`{snippet(found.node)}` is made of as many elements as `{snippet(found.mask.node)}` has true values: "
            "the graph breaks"
        )
        if draft.broken is not None:
            return self.declined(scope, found.node, message, draft.broken)
        group = [other for other in drafts if other.group == draft.group and other.broken is None]
        group.sort(key=lambda other: (other.found.node.lineno, other.found.node.col_offset))
        if len(group) > 1 and any(other.elements.named or other.elements.placed for other in group):
            return self.declined(scope, found.node, message, "the size of what is made of the elements is not known")
        counted = [other.found.node for other in group if other.found.kind in COUNTS]
        asked = [use for node in counted for use in (node, *names_of(node, scope))]
        asserted = [use for use in asked if plain_assert(use, scope) is not None]
        if asserted:  # first these: an assert on a tensor would stand in the graph, and raise RuntimeError
            edits = tuple(raised_instead(dict.fromkeys(asserted, ""), scope))
        elif draft.elements.kept:
            edits = kept_edits(group, scope)
        elif len(group) > 1:
            edits = group_edits(group, scope)
        else:
            edits = expression_edits(found.node, draft.code or "", draft.elements, draft.template)
        left = {use: definition for other in group for use, definition in other.left.items()}
        edits = (*edits, *moved_selections(left, scope), *(e for n in counted for e in whole_instead(n, scope)))
        templates = [other.template for other in group]
        assumptions = tuple(dict.fromkeys(name for template in templates for name in template.assumptions))
        reasons = tuple(dict.fromkeys(reason for template in templates for reason in template.reasons))
        selection = draft.elements.first_selection(found.node)
        earlier = selection is not None and scope.statement(selection) is not scope.statement(found.node)
        place = selection if selection is not None and earlier else found.node
        return self.fixed(scope, place, message, Fix(edits, imports(scope), assumptions, reasons))
