"""The training step of `fixtures/models/training_step.py` as an expert would fix it by hand, the log line kept.

The scaling factor stays a tensor and the choices are `torch.where`.
`step` alone is compiled, to one graph that also returns what is logged; `forward` writes the line when it has run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger("models.training_step")
logger.setLevel(logging.INFO)


@dataclass(frozen=True)
class StepConfig:
    """Sizes and limits; the default sizes are those used on a GPU."""

    features: int = 256
    width: int = 512
    blocks: int = 8
    batch: int = 64
    max_rms: float = 1.0
    outlier: float = 6.0
    loss_limit: float = 10.0


class ResidualBlock(nn.Module):
    """Linear layer with a residual connection and a limit on the size of its activations."""

    def __init__(self, width: int, max_rms: float) -> None:
        super().__init__()
        self.max_rms = max_rms
        self.norm = nn.LayerNorm(width)
        self.linear = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = F.gelu(self.linear(self.norm(x)))
        x = x + h
        # Same idea as clipping by the gradient norm: never scale up, and take the factor as a constant.
        rms = x.detach().pow(2).mean().sqrt()
        coef = (self.max_rms / (rms + 1e-6)).clamp(max=1.0)
        return x * coef


class TrainingStep(nn.Module):
    """The model together with its loss."""

    def __init__(self, config: StepConfig) -> None:
        super().__init__()
        self.config = config
        self.embed = nn.Linear(config.features, config.width)
        self.blocks = nn.Sequential(*[ResidualBlock(config.width, config.max_rms) for _ in range(config.blocks)])
        self.head = nn.Linear(config.width, 1)

    def loss(self, prediction: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Mean squared error, flattened above the limit so that one bad batch does not undo a day of training."""
        loss = F.mse_loss(prediction, target)
        return torch.where(loss > self.config.loss_limit, loss * 0.125, loss)

    def forward(self, batch: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss, a tensor without dimensions, for inputs (batch, features) and targets (batch, 1)."""
        loss = self.step(batch, target)
        logger.info("loss %.3f", loss.item())
        return loss

    def step(self, batch: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """The loss, without a word about it."""
        limit = self.config.outlier
        batch = torch.where(batch.abs().max() > limit, batch.clamp(min=-limit, max=limit), batch)

        x = self.embed(batch)
        x = self.blocks(x)
        return self.loss(self.head(x), target)


def workload(
    device: str, compile: Callable[..., Any] = torch.compile
) -> tuple[nn.Module, list[tuple[torch.Tensor, ...]]]:
    """The step and three batches of one shape: ordinary, with outliers and far targets, and nearly zero."""
    on_gpu = torch.device(device).type == "cuda"
    config = StepConfig() if on_gpu else StepConfig(features=32, width=64, batch=16)
    torch.manual_seed(0)
    model = TrainingStep(config).to(device).train()
    model.step = compile(model.step)
    batch = torch.randn(config.batch, config.features)
    target = torch.randn(config.batch, 1)
    inputs = [(batch, target), (batch * 4.0, target * 8.0), (batch * 0.001, target)]
    return model, [(one.to(device), two.to(device)) for one, two in inputs]
