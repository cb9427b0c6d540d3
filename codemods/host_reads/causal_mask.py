"""CF208: a transformer of `torch.nn` that looks whether its mask is causal.

## What it does
Finds calls of `nn.TransformerEncoder`, `nn.TransformerDecoder` and `nn.Transformer` that pass a mask and do not say
whether it is causal, and says that the mask is to be applied as it is.

## Why is this bad
Without `is_causal` the module compares the mask with a causal one of the same size, and reads the answer on the host:
the graph breaks inside of `torch.nn`, at each call (GB0124), and on a GPU the program waits for the device.

## Example
```python
output = self.encoder(src, mask)
```

## Use instead
```python
output = self.encoder(src, mask, is_causal=False)
```

Where the mask surely is the causal one, `is_causal=True` lets attention use a faster kernel.

## Fix safety
`is_causal=False` applies the mask that is given. For a mask that is not causal the module computes the same as before;
a causal one was taken by another kernel, whose sums are in another order (`summation-order`), and got no gradient:
where the mask may require one, the fix needs `no-gradient`. The module never asked where a causal mask is and of which
dtype; one that is applied has to be on its device and boolean, float32 or of the dtype of the rest (`same-shape-dtype`
for a mask that is made without a device, or of unknown dtype: measured on an H200, where a mask on the CPU worked
before and raised afterwards, as one in double precision did on a CPU).

Graph breaks: GB0124. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.devices import on_default_device
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet

# The parameters of `forward`, and which of them says whether a mask is causal.
_PARAMETERS = {
    "torch.nn.TransformerEncoder": ("src", "mask", "src_key_padding_mask", "is_causal"),
    "torch.nn.TransformerDecoder": (
        "tgt",
        "memory",
        "tgt_mask",
        "memory_mask",
        "tgt_key_padding_mask",
        "memory_key_padding_mask",
        "tgt_is_causal",
    ),
    "torch.nn.Transformer": (
        "src",
        "tgt",
        "src_mask",
        "tgt_mask",
        "memory_mask",
        "src_key_padding_mask",
        "tgt_key_padding_mask",
        "memory_key_padding_mask",
        "src_is_causal",
        "tgt_is_causal",
    ),
}
_SAID_BY = {
    "torch.nn.TransformerEncoder": {"mask": "is_causal"},
    "torch.nn.TransformerDecoder": {"tgt_mask": "tgt_is_causal"},
    "torch.nn.Transformer": {"src_mask": "src_is_causal", "tgt_mask": "tgt_is_causal"},
}


class CausalMask(Rule):
    """Transformer that looks whether its mask is causal."""

    code = "CF208"
    name = "causal-mask"
    summary = "transformer of torch.nn that compares its mask with a causal one"
    gb = ("GB0124",)
    assumptions = ("summation-order", "no-gradient", "same-shape-dtype")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls of transformers with a mask."""
        for node in scope.of(ast.Call):
            unsaid = _unsaid(node, scope)
            if not unsaid:
                continue
            mask = next(iter(unsaid))
            message = f"`{snippet(node.func)}` compares `{snippet(mask)}` with a causal mask and reads the answer: "
            message += "the graph breaks"
            if not _plain(node):
                yield self.declined(
                    scope, node, message, f"pass `{unsaid[mask]}=` yourself: not all arguments are seen"
                )
                continue
            template = Template()
            reason = f"where `{snippet(mask)}` is causal, another kernel adds in another order"
            template.refuse([Obstacle(reason, "summation-order")])
            template.refuse(_trained(unsaid, scope))
            template.refuse(_elsewhere(unsaid, scope))
            template.refuse(_of_another_dtype(unsaid, scope))
            parts = [
                *(template.use(argument) for argument in node.args),
                *(f"{k.arg}={template.use(k.value)}" for k in node.keywords),
                *(f"{name}=False" for name in unsaid.values()),
            ]
            code = f"{template.use(node.func)}({', '.join(parts)})"
            fix = Fix((scope.edit(node, code, **template.parts),), (), template.assumptions, template.reasons)
            yield self.fixed(scope, node, message, fix)


def _trained(masks: Iterable[ast.expr], scope: Scope) -> Iterator[Obstacle]:
    """Whether a mask may require a gradient: one that was found to be causal gave it none."""
    for mask in masks:
        value = scope.value(mask)
        if value.dtype not in ("bool", "int") and value.leaves:
            reason = f"`{snippet(mask)}` may require a gradient, and would get one also where it is causal"
            yield Obstacle(reason, "no-gradient")


def _elsewhere(masks: Iterable[ast.expr], scope: Scope) -> Iterator[Obstacle]:
    """Whether a mask is made without a device: one that was found to be causal was not applied, wherever it was."""
    for mask in masks:
        if on_default_device(mask, scope):
            reason = f"`{snippet(mask)}` is made on the default device, and has to be on that of the module"
            yield Obstacle(reason, "same-shape-dtype")


def _of_another_dtype(masks: Iterable[ast.expr], scope: Scope) -> Iterator[Obstacle]:
    """Whether attention may refuse the dtype of a mask: one that was found to be causal was not applied."""
    for mask in masks:
        value = scope.value(mask)
        if value.dtype != "bool" and value.dtype_id != "float32":
            reason = f"`{snippet(mask)}` is not proved to be boolean or float32, and has to have the dtype of the rest"
            yield Obstacle(reason, "same-shape-dtype")


def _unsaid(node: ast.Call, scope: Scope) -> dict[ast.expr, str]:
    """The masks of a call that may be tensors, and the argument that would say whether each is causal."""
    name = scope.callee(node) or ""
    if name not in _PARAMETERS or not scope.value(node.func).is_(Kind.OBJECT):
        return {}
    given = dict(zip(_PARAMETERS[name], node.args, strict=False)) | {k.arg or "": k.value for k in node.keywords}
    return {
        given[mask]: said
        for mask, said in _SAID_BY[name].items()
        if mask in given and said not in given and scope.value(given[mask]).may_be(Kind.TENSOR)
    }


def _plain(node: ast.Call) -> bool:
    return not any(isinstance(a, ast.Starred) for a in node.args) and all(k.arg is not None for k in node.keywords)
