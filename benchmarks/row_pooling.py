"""A workload of rows with lengths: what is padded is cut row by row, pooled, and sliced up to the longest.

compilefix verify benchmarks/row_pooling.py:workload --unsafe-fixes
"""

from __future__ import annotations

import torch
from torch import nn


class Pooling(nn.Module):
    """Layers over padded rows, then the mean, the sum and what stands behind each row's end."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.layers = nn.ModuleList([nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(heads)])
        self.out = nn.Linear(3 * width, width)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """One vector for each row: (batch, tokens, width) to (batch, width)."""
        batch, _, _ = x.shape
        lengths = lengths.long()
        kept = torch.zeros_like(x)
        for row in range(batch):
            length = lengths[row].item()
            kept[row, :length] = x[row, :length]
        for layer in self.layers:
            kept = kept + layer(kept)
        means = []
        for row, length in enumerate(lengths.tolist()):
            means.append(kept[row, :length].mean(dim=0))
        mean = torch.stack(means)
        longest = int(lengths.max())
        total = kept[:, :longest].sum(1)
        last = torch.stack([kept[row, n:].sum(0) for row, n in enumerate(lengths)])
        return self.out(torch.cat([mean, total, last], dim=-1))


def workload(device: str) -> tuple[nn.Module, list[tuple[torch.Tensor, ...]]]:
    """The model and three batches: 32 rows of up to 256 tokens on a GPU, 4 of up to 16 on a CPU."""
    gpu = torch.device(device).type == "cuda"
    batch, tokens, width = (32, 256, 512) if gpu else (4, 16, 32)
    torch.manual_seed(0)
    model = Pooling(width, 4).to(device).eval()
    inputs = []
    for _ in range(3):
        lengths = torch.randint(1, tokens + 1, (batch,))
        inputs.append((torch.randn(batch, tokens, width).to(device), lengths.to(device)))
    return model, inputs
