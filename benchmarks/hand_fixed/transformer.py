"""The encoder of `fixtures/models/transformer.py` as an expert would fix it by hand, log lines kept.

The clamp is a `torch.where` and the scale stays a tensor.
`encode` alone is compiled, to one graph that also returns what is logged; `forward` writes the lines when it has run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger("models.transformer")
logger.setLevel(logging.INFO)


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes of the stack; the defaults are those used on a GPU."""

    dim: int = 512
    heads: int = 8
    depth: int = 8
    mlp_ratio: int = 4
    tokens: int = 128
    batch: int = 1
    # Just below the largest float16 number (65504), so that a residual can still be added to it.
    residual_limit: float = 64504.0


class SelfAttention(nn.Module):
    """Multi-head self-attention without a mask."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, tokens, dim = x.shape
        qkv = self.qkv(x).view(batch, tokens, 3, self.heads, dim // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, dim))


class FeedForward(nn.Module):
    """Two linear layers with a GELU in between."""

    def __init__(self, dim: int, ratio: int) -> None:
        super().__init__()
        self.up = nn.Linear(dim, ratio * dim)
        self.down = nn.Linear(ratio * dim, dim)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class Block(nn.Module):
    """One pre-norm block: attention and feed-forward, each added to the residual stream with a learned scale."""

    def __init__(self, config: TransformerConfig, index: int) -> None:
        super().__init__()
        self.limit = config.residual_limit
        self.norm1 = nn.LayerNorm(config.dim)
        self.attention = SelfAttention(config.dim, config.heads)
        self.norm2 = nn.LayerNorm(config.dim)
        self.mlp = FeedForward(config.dim, config.mlp_ratio)
        # Deeper blocks add less, as in LayerScale.
        self.log_scale = nn.Parameter(torch.tensor(-0.125 * index))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        # Half precision overflows sooner or later: keep the residual stream finite.
        overflowed = torch.isinf(x).any() | torch.isnan(x).any()
        x = torch.where(overflowed, torch.clamp(x, min=-self.limit, max=self.limit), x)

        scale = self.log_scale.detach().exp()
        x = x + self.attention(self.norm1(x)) * scale
        return x + self.mlp(self.norm2(x)) * scale


class Encoder(nn.Module):
    """The whole stack, with a final norm."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(config, index) for index in range(config.depth))
        self.norm = nn.LayerNorm(config.dim)

    def encode(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The encoded tokens, and the norm after each block."""
        norms = []
        for block in self.blocks:
            x = block(x)
            norms.append(x.norm())
        return self.norm(x), torch.stack(norms)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Encode ``x`` of shape (batch, tokens, dim); the result has the same shape."""
        encoded, norms = self.encode(x)
        for index, norm in enumerate(norms.tolist()):
            logger.info("block %d norm %.1f", index, norm)
        return encoded


def workload(
    device: str, compile: Callable[..., Any] = torch.compile
) -> tuple[nn.Module, list[tuple[torch.Tensor, ...]]]:
    """The encoder and three inputs of one shape: ordinary, large, and one with a single overflowed element."""
    on_gpu = torch.device(device).type == "cuda"
    config = TransformerConfig() if on_gpu else TransformerConfig(dim=64, heads=4, tokens=16)
    dtype = torch.float16 if on_gpu else torch.float32
    torch.manual_seed(0)
    model = Encoder(config).to(device=device, dtype=dtype).eval()
    model.encode = compile(model.encode)
    shape = (config.batch, config.tokens, config.dim)
    ordinary = torch.randn(shape).to(device=device, dtype=dtype)
    large = (8.0 * torch.randn(shape)).to(device=device, dtype=dtype)
    overflowed = ordinary.clone()
    overflowed[0, 3, 5] = float("inf")
    return model, [(ordinary,), (large,), (overflowed,)]
