"""The model of `log_guard_blocks.py`: blocks with one log line and one guard each, and the same blocks without them."""

from __future__ import annotations

import logging

import torch
from torch import nn

logger = logging.getLogger("compilefix.benchmark.blocks")


class Plain(nn.Module):
    """A block without log line and guard."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The activations after the block."""
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Logging(Plain):
    """A block that logs its mean square."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The activations after the block."""
        x = x + self.down(torch.relu(self.up(self.norm(x))))
        logger.info("mean square %.4f", x.detach().float().pow(2).mean().item())
        return x


class Printing(Plain):
    """A block that prints its mean square."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The activations after the block."""
        x = x + self.down(torch.relu(self.up(self.norm(x))))
        print(f"mean square {x.detach().float().pow(2).mean().item():.4f}")
        return x


class Checking(Plain):
    """A block that refuses NaN."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The activations after the block."""
        x = x + self.down(torch.relu(self.up(self.norm(x))))
        if torch.isnan(x).any():
            raise ValueError("NaN in the activations")
        return x


class Raising(Plain):
    """A block that logs its mean square and refuses NaN."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The activations after the block."""
        x = x + self.down(torch.relu(self.up(self.norm(x))))
        logger.info("mean square %.4f", x.detach().float().pow(2).mean().item())
        if torch.isnan(x).any():
            raise ValueError("NaN in the activations")
        return x


class PrintRaising(Plain):
    """A block that prints its mean square and refuses NaN."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The activations after the block."""
        x = x + self.down(torch.relu(self.up(self.norm(x))))
        print(f"mean square {x.detach().float().pow(2).mean().item():.4f}")
        if torch.isnan(x).any():
            raise ValueError("NaN in the activations")
        return x


class Clamping(Plain):
    """A block that logs its mean square and clamps what overflowed."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The activations after the block."""
        x = x + self.down(torch.relu(self.up(self.norm(x))))
        logger.info("mean square %.4f", x.detach().float().pow(2).mean().item())
        if torch.isinf(x).any():
            x = torch.clamp(x, min=-1e4, max=1e4)
        return x


def model(kind: str, blocks: int, width: int) -> nn.Module:
    """A stack of blocks, `plain` or one of the benchmark's kinds. Each kind starts with the same weights."""
    torch.manual_seed(0)
    kinds = {
        "plain": Plain,
        "log": Logging,
        "print": Printing,
        "check": Checking,
        "raise": Raising,
        "print-raise": PrintRaising,
        "clamp": Clamping,
    }
    block = kinds[kind]
    return nn.Sequential(*[block(width) for _ in range(blocks)])
