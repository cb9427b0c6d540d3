"""Public names of torch's classes."""

from __future__ import annotations

import pytest

from compilefix.source.torch_names import public_name

SAME = (
    "torch.nn.LSTM",
    "torch.nn.functional.relu",
    "torch.nn.utils.rnn.PackedSequence",
    "torch.nn.modules.conv.Conv2d.forward",
    "torch.autograd.function.FunctionCtx",
    "torch.autograd.function.once_differentiable",
    "torch.optim.lr_scheduler.StepLR",
    "torch.distributions.constraints.Constraint",
    "mine.nn.modules.rnn.LSTM",
)


@pytest.mark.parametrize(
    ("name", "public"),
    [
        ("torch.nn.modules.rnn.LSTM", "torch.nn.LSTM"),
        ("torch.nn.modules.LSTM", "torch.nn.LSTM"),
        ("torch.nn.parameter.Parameter", "torch.nn.Parameter"),
        ("torch.autograd.function.Function", "torch.autograd.Function"),
        ("torch.autograd.variable.Variable", "torch.autograd.Variable"),
        ("torch.optim.adam.Adam", "torch.optim.Adam"),
        ("torch.distributions.normal.Normal", "torch.distributions.Normal"),
        *((name, name) for name in SAME),
    ],
)
def test_public_name(name: str, public: str) -> None:
    assert public_name(name) == public
