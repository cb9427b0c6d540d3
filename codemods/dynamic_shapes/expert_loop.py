"""CF504: a loop over the experts that got tokens.

## What it does
Finds the loop of a mixture of experts that picks each expert's tokens with `torch.where`, by a mask over tokens
(`hit = (indices == i).any(-1)`) or by the list of its true places, and adds its results with `index_add_` or
`out[hit] += rows`, and lets every expert compute all tokens, with the results of the others dropped. A loop over the
experts that were hit (`mask.sum(...).nonzero()`) becomes one over all experts.

## Why is this bad
How many experts are hit and how many tokens each gets depends on values. Dynamo cannot know it while it traces: the
graph ends at `nonzero` (GB0036), and since this is a loop the whole function stays in Python. On a GPU the program
waits for the device once for each expert.

## Example
```python
hit = (mask.sum(dim=(-1, -2)) > 0).nonzero()
for expert in hit:
    expert = expert[0]
    position, token = torch.where(mask[expert])
    rows = self.experts[expert](hidden[token]) * weights[token, position, None]
    out.index_add_(0, token, rows)
```

## Use instead
```python
for expert in range(mask.shape[0]):
    routed = mask[expert].t() != 0
    rows = self.experts[expert](hidden) * torch.where(routed, weights, 0).sum(-1, keepdim=True)
    out.add_(torch.where(routed.any(-1, keepdim=True), rows, 0))
```

## Fix safety
Never safe. Each expert computes all tokens: with 8 experts, 2 for each token, that is 4 times the arithmetic, in one
graph without waiting. With many experts keep the selection, loop over `range(mask.shape[0])` and set
`torch._dynamo.config.capture_dynamic_output_shape_ops = True`. The fix needs `all-rows` (a layer treats each row by
itself, up to rounding), `distinct-choices` (no token is sent to the same expert twice, where it would be computed once
for each choice, and `out[token] += rows` would keep only one of them), `gradient-zeros` (an expert without tokens gets
a gradient of zeros instead of None) and `finite-derivative` (no token makes an expert overflow that it was not sent
to). Counts by which the turns of experts without tokens are skipped (`bincount`) go too, where nothing else reads them
(`index-in-range`: a negative number raises there). So does what adds zero times something for such an expert
(`y[0, 0] += 0 * parameters`, which gave NaN where a parameter is not finite: `finite-derivative`). A layer that draws
random numbers, and anything that mixes the rows, declines it. So does what a turn without tokens would show: a print, a
count of the experts that were used.

Graph breaks: GB0033, GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.dynamic_shapes.element_calls import ROWS
from compilefix.codemods.dynamic_shapes.expert_forms import sum_of
from compilefix.codemods.dynamic_shapes.expert_masks import routings_by_mask
from compilefix.codemods.dynamic_shapes.expert_rewrite import Rewrite
from compilefix.codemods.dynamic_shapes.expert_routing import Routing, routing_of
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.torch_name import imports
from compilefix.source.snippets import snippet
from compilefix.source.tree import statements


class ExpertLoop(Rule):
    """Loop over the experts that got tokens."""

    code = "CF504"
    name = "expert-loop"
    summary = "loop of a mixture of experts that picks the tokens of each expert"
    gb = ("GB0033", "GB0036")
    hints = ("index_add_", "+=")
    assumptions = (
        "all-rows",
        "distinct-choices",
        "gradient-zeros",
        "finite-derivative",
        "same-shape-dtype",
        "index-in-range",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Loops in which each turn picks rows by `torch.where` and adds them back."""
        for loop in scope.of(ast.For):
            if not isinstance(loop.target, ast.Name | ast.Tuple):
                continue
            routings = [r for s in statements(loop) if (r := routing_of(s, loop, scope)) is not None]
            if not routings:
                by_mask = (r for r in routings_by_mask(loop, scope) if _adds_back(loop, r) and _picks(loop, r))
                routings = [r for r in [next(by_mask, None)] if r is not None]
            if len(routings) == 1 and _adds_back(loop, routings[0]):
                yield self._judge(loop, routings[0], scope)

    def _judge(self, loop: ast.For, routing: Routing, scope: Scope) -> Finding:
        message = f"the tokens of each expert are picked by `{snippet(routing.statement.value)}`: the graph breaks"
        rewrite = Rewrite(loop, routing, scope)
        rewrite.run()
        if routing.refusal is not None:
            return self.declined(scope, routing.statement, message, routing.refusal, gb=("GB0036",))
        layer = snippet(routing.layers[0]) if routing.layers else "each expert"
        obstacles = [
            Obstacle(f"`{layer}` would be given all tokens, and not only those of the expert", ROWS),
            Obstacle("an expert without tokens would get a gradient of zeros instead of None", "gradient-zeros"),
            Obstacle("a token may overflow in an expert that it was not sent to", "finite-derivative"),
        ]
        if not routing.by_mask:
            obstacles.insert(1, Obstacle("a token may be sent to the same expert twice", "distinct-choices"))
        if rewrite.weights is not None:
            reason = f"`{snippet(rewrite.weights)}` is not proved to have one column for each choice"
            obstacles.append(Obstacle(reason, "same-shape-dtype"))
        if rewrite.dropped is not None:
            reason = f"`{snippet(rewrite.dropped)}` goes, which gave NaN where a parameter of the expert is not finite"
            obstacles.append(Obstacle(reason, "finite-derivative"))
        if routing.by_mask and scope.value(routing.mask).rank != 1:
            reason = f"`{snippet(routing.mask)}` is not proved to have one element for each token"
            obstacles.append(Obstacle(reason, "same-shape-dtype"))
        if rewrite.viewed:
            reason = f"`{routing.whole}` is not proved to have an element for each row of what is added to"
            obstacles.append(Obstacle(reason, "same-shape-dtype"))
        if rewrite.counted is not None:
            reason = f"`{snippet(rewrite.counted.value)}` raises for a negative number, and goes"
            obstacles.append(Obstacle(reason, "index-in-range"))
        fix = Fix(
            tuple(rewrite.edits),
            imports(scope),
            tuple(dict.fromkeys(str(o.assumption) for o in obstacles)),
            tuple(o.reason for o in obstacles),
        )
        return self.fixed(scope, routing.statement, message, fix, gb=("GB0036",))


def _picks(loop: ast.For, routing: Routing) -> bool:
    """Whether rows are read by the name for the tokens, beside being written."""
    nodes = (n for n in ast.walk(loop) if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load))
    return any(routing.picks(n) for n in nodes)


def _adds_back(loop: ast.For, routing: Routing) -> bool:
    return any(sum_of(s, routing) is not None for s in statements(loop))
