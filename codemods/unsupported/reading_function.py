"""CF716: a function of torch that looks at the values of its arguments.

## What it does
Finds `torch.cov`, `torch.corrcoef`, `F.gaussian_nll_loss` of a variance that is a tensor, and calls of objects of
`nn.GaussianNLLLoss` and `nn.AdaptiveLogSoftmaxWithLoss`, in compiled code.

## Why is this bad
Nothing in the code says so, but these functions read values on the host, and the graph breaks: `gaussian_nll_loss` asks
whether a variance is negative, `cov` whether degrees of freedom are left (GB0033), and the adaptive softmax picks the
rows of each cluster (GB0036).

## Example
```python
def forward(self, mean, target, var):
    return F.gaussian_nll_loss(mean, target, var)
```

## Use instead
```python
def forward(self, mean, target, var):
    var = var.clone().clamp_(min=1e-6)
    return 0.5 * (var.log() + (mean - target) ** 2 / var).mean()
```
The one raises ValueError for a negative variance, and hands the gradient of a clamped one on; the other does not.

## Fix safety
There is no fix: what is written instead rounds otherwise, or leaves a check out.

Graph breaks: GB0033, GB0036. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope
from compilefix.source.snippets import snippet

_CENTERED = "it asks whether degrees of freedom are left: subtract the mean, and multiply with the transpose"
_VARIANCE = "it asks whether a variance is negative: write the loss out, with the variance clamped at `eps`"
_CLUSTERS = "it picks the rows of each cluster: compute it outside the compiled code"
_FUNCTIONS = {
    **dict.fromkeys(("torch.cov", "torch.corrcoef", "Tensor.cov", "Tensor.corrcoef"), _CENTERED),
    "torch.nn.functional.gaussian_nll_loss": _VARIANCE,
}
_LAYERS = {"torch.nn.GaussianNLLLoss": _VARIANCE, "torch.nn.AdaptiveLogSoftmaxWithLoss": _CLUSTERS}
_WORDS = ("cov", "corrcoef", "gaussian_nll_loss", *(name.rpartition(".")[2] for name in _LAYERS))


class ReadingFunction(Rule):
    """Function of torch that looks at values."""

    code = "CF716"
    name = "reading-function"
    summary = "a function of torch that looks at the values of its arguments"
    gb = ("GB0033", "GB0036")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of such functions, and of such layers wherever they were made."""
        if not any(scope.legality.inference.project.modules.texts.mentioning(word) for word in _WORDS):
            return
        for node in scope.of(ast.Call):
            advice = _judged(node, scope)
            if advice is not None:
                gb = ("GB0036",) if advice is _CLUSTERS else ("GB0033",)
                message = f"`{snippet(node)}` looks at values on the host, and the graph breaks"
                yield self.declined(scope, node, message, advice, gb=gb)


def _judged(node: ast.Call, scope: Scope) -> str | None:
    """What to do in place of a call; None for one that reads nothing."""
    function = scope.value(node.func)
    if function.is_(Kind.OBJECT):
        variance = node.args[2] if len(node.args) > 2 else None
        return _LAYERS.get(function.ref or "") if variance is None or _may_be_tensor(variance, scope) else None
    name = scope.callee(node) or ""
    if name != "torch.nn.functional.gaussian_nll_loss":
        return _FUNCTIONS.get(name)
    given = [*node.args[2:3], *(k.value for k in node.keywords if k.arg == "var")]
    return _VARIANCE if given and _may_be_tensor(given[0], scope) else None


def _may_be_tensor(node: ast.expr, scope: Scope) -> bool:
    return scope.value(node).is_tensor
