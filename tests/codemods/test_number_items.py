"""Numbers that are read from the items of a collection, and kept in one: they become tensors without a gradient."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, execute, rewritten  # noqa: E402

HEAD = (
    "import torch\nfrom torch import nn\n\n\nclass Loss(nn.Module):\n    def forward(self, x, losses{kind}):\n        "
)
BODIES = [
    "return x.sum(), {k: v.item() for k, v in losses.items()}",
    "return x.sum(), [v.item() for v in losses.values()]",
    "self.metrics = {k: v.item() for k, v in losses.items()}\n        return x.sum()",
    "return x.sum(), {'first': losses['a'].item(), 'rest': [losses['b'].item()]}",
]


@pytest.mark.parametrize("kind", ["", ": dict[str, torch.Tensor]"])
@pytest.mark.parametrize("body", BODIES)
def test_items_become_tensors_without_a_gradient(body: str, kind: str) -> None:
    text = HEAD.format(kind=kind) + body + "\n"
    outcome = rewritten(Path("/nowhere/program.py"), text, None)
    fixes = [f.fix for f in outcome.findings if f.fix is not None]
    assert fixes
    for fix in fixes:
        assert "number-to-tensor" in fix.assumptions
        assert ("is-tensor" in fix.assumptions) == (not kind)  # nothing says that the items are tensors
    new = after(outcome, text)
    assert ".item()" not in new
    assert new.count(".detach()") == text.count(".item()")
    results = []
    for version in (text, new):
        module = execute(version, "program")["Loss"]()
        losses = {name: torch.tensor(number, requires_grad=True) for name, number in (("a", 1.5), ("b", float("nan")))}
        result = module(torch.ones(2, requires_grad=True), losses)
        kept = [*(result[1:] if isinstance(result, tuple) else ()), getattr(module, "metrics", None)]
        results.append(torch.utils._pytree.tree_leaves(kept))
    for number, tensor in zip(*results, strict=True):
        assert (tensor is None) == (number is None)
        if tensor is not None:
            assert not tensor.requires_grad
            torch.testing.assert_close(tensor.item(), number, equal_nan=True)


def test_a_number_of_numpy_stays() -> None:
    text = "import numpy as np\nimport torch\n\n\ndef plain(found, x: torch.Tensor):\n"
    text += "    if isinstance(found, np.generic):\n        return found.item()\n    return x * 2\n"
    outcome = rewritten(Path("/nowhere/program.py"), text, None)
    assert after(outcome, text) == text
    assert not [f for f in outcome.findings if f.code == "CF201"]
