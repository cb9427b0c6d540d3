"""Reductions of slices that a number from a tensor bounds: the rewritten code gives what the original gives."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, execute, rewritten  # noqa: E402

PROGRAM = """import torch


def f(x: {kind}, n: torch.Tensor):
    {shape}
    {read}
    y = {use}
    return y
"""
READS = {"n = n.max().item()": "n", "end = int(n.max())": "end", "": "n.max()"}
USES = [
    "x[:{n}].sum()",
    "x[:{n}].sum(0)",
    "x[{n}:].sum(dim=0)",
    "x[:, :{n}].sum(1)",
    "x[:, :{n}].sum(dim=(0, 1))",
    "x[:, :{n}].sum(-1)",
    "x[..., {n}:].sum(-1)",
    "x[:, :{n}].mean(dim=1)",
    "x[:, {n}:].mean(1, keepdim=True)",
    "torch.sum(x[:, :{n}], dim=1)",
    "torch.mean(x[:{n}], 0)",
    "x[:, :{n}].amax(dim=1)",
    "x[:, {n}:].amin(1)",
    "torch.max(x[:{n}], dim=0)[0]",
    "x[:, :{n}].max(1)[1]",
    "(x > 0)[:{n}].any(0)",
    "x[:{n}].max()",
]


def programs(use: str, read: str, shape: str) -> tuple[dict[str, Any], dict[str, Any], bool]:
    text = PROGRAM.format(kind="torch.FloatTensor", shape=shape, read=read or "pass", use=use.format(n=READS[read]))
    new = after(rewritten(Path("/nowhere/program.py"), text, None), text)
    return execute(text, "before"), execute(new, "after"), "_check(" not in new and new != text


@pytest.mark.parametrize("shape", ["rows, columns = x.shape", "pass"])
@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("use", USES)
def test_gives_what_the_slice_gives(use: str, read: str, shape: str) -> None:
    old, new, changed = programs(use, read, shape)
    takes = not use.startswith("(x > 0)")  # only names and attributes are read several times
    if "sum(-1)" in use and "..." not in use:
        takes = shape != "pass"  # whether that is the sliced dimension is known
    assert changed == takes
    if not takes:
        return
    x = torch.tensor([[1.5, -2.0, 0.25, float("nan")], [4.0, 3.0, -1.0, 8.0], [0.5, 2.0, 2.0, 1.0]])
    for values, end in itertools.product((x, x.nan_to_num(), x.nan_to_num()[:1]), range(6)):
        try:
            expected = observed(old["f"], values, end)
        except (IndexError, RuntimeError):
            continue  # of no elements there is no maximum: `mask-not-empty`
        torch.testing.assert_close(observed(new["f"], values, end), expected, equal_nan=True)


def observed(function: Any, values: Any, end: int) -> tuple[Any, Any]:
    """The result and the gradient."""
    given = values.clone().requires_grad_()
    result = function(given, torch.tensor([0, end]))
    if result.requires_grad:
        result.nan_to_num().sum().backward()
    return result, given.grad


def test_a_number_that_is_used_elsewhere_as_one_stays() -> None:
    for use in ("x[:{n}].sum() + len(range({n}))", "x[:{n}].cumsum(0)", "x[:{n}:2].sum()", "x[0, :{n}].sum()"):
        _, _, changed = programs(use, "end = int(n.max())", "rows, columns = x.shape")
        assert not changed


@pytest.mark.parametrize(
    "changed", ["z.unsqueeze_(0)", "z.t_()", "z.data = z.data * 2", "z.resize_(1, 4)", "z.mul_(2)"]
)
def test_a_named_slice_does_not_follow_what_its_tensor_becomes(changed: str) -> None:
    text = "import torch\n\n\ndef f(x: torch.FloatTensor, n: torch.Tensor):\n    n = n.max().item()\n    z = x * 2\n"
    text += f"    part = z[:, :n]\n    {changed}\n    return part.sum(1), z\n"
    new = after(rewritten(Path("/nowhere/program.py"), text, None), text)
    assert "where" in new
    x, n = torch.arange(12.0).reshape(3, 4), torch.tensor([0, 2])
    torch.testing.assert_close(execute(new, "after")["f"](x, n), execute(text, "before")["f"](x, n))
