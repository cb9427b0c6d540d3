"""The classifier of `fixtures/models/cnn_aux.py` as an expert would fix it by hand, the printed line kept.

The data-dependent choices are `torch.where` and the flattening uses torch.
`classify` alone is compiled, to one graph that also returns what is printed; `forward` writes the line when it has run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class CnnConfig:
    """Sizes and thresholds; the default sizes are those used on a GPU."""

    width: int = 64
    stages: int = 6
    image: int = 32
    batch: int = 4
    classes: int = 10
    pooled: int = 2
    feature_limit: float = 4.0
    aux_cap: float = 1.0


class ConvStage(nn.Module):
    """Residual convolution that damps its output when the features have grown out of range."""

    def __init__(self, width: int, limit: float) -> None:
        super().__init__()
        self.limit = limit
        self.conv = nn.Conv2d(width, width, kernel_size=3, padding=1)
        self.norm = nn.GroupNorm(4, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + F.relu(self.norm(self.conv(x)))
        return x * torch.where(x.abs().max() > self.limit, 0.5, 1.0)


class AuxHead(nn.Module):
    """Classifier on pooled features, used for deep supervision."""

    def __init__(self, width: int, classes: int, cap: float) -> None:
        super().__init__()
        self.cap = cap
        self.proj = nn.Linear(width, classes)

    def forward(self, feats: torch.Tensor) -> torch.Tensor:
        logits = self.proj(feats.mean(dim=(2, 3)))
        # A loud auxiliary head drowns the main loss.
        too_loud = logits.abs().max() > self.cap
        return torch.where(too_loud, torch.clamp(logits, min=-self.cap, max=self.cap), logits * 2.0)


class AuxCnn(nn.Module):
    """Stem, residual stages, an auxiliary head after half of them and a main head at the end."""

    def __init__(self, config: CnnConfig) -> None:
        super().__init__()
        self.config = config
        self.epoch = 0
        self.stem = nn.Conv2d(3, config.width, kernel_size=3, stride=2, padding=1)
        half = config.stages // 2
        self.lower = nn.Sequential(*[ConvStage(config.width, config.feature_limit) for _ in range(half)])
        self.upper = nn.Sequential(*[ConvStage(config.width, config.feature_limit) for _ in range(half)])
        self.aux_head = AuxHead(config.width, config.classes, config.aux_cap)
        self.head = nn.Linear(config.width * config.pooled**2, config.classes)

    def normalize(self, images: torch.Tensor) -> torch.Tensor:
        """Bring images to -1..1, whether they come as 0..255 or as 0..1."""
        images = images.float()
        max_value = torch.where(images.max() > 1.0, 255.0, 1.0)
        images = images / max_value
        return images * 2.0 - 1.0

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Main and auxiliary logits, each (batch, classes), for images of shape (batch, 3, height, width)."""
        logits, aux, statistics = self.classify(images)
        mean, peak = statistics.tolist()
        print(f"epoch {self.epoch}: features mean {mean:.3f} max {peak:.3f}")
        return logits, aux

    def classify(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Both logits, and the mean and the largest of the features."""
        x = self.normalize(images)
        x = F.relu(self.stem(x)) * math.sqrt(2.0)

        x = self.lower(x)
        aux = self.aux_head(x)
        x = self.upper(x)

        statistics = torch.stack([x.mean(), x.max()]).detach()
        x = F.adaptive_avg_pool2d(x, self.config.pooled).flatten(1)
        return self.head(x), aux, statistics


def workload(
    device: str, compile: Callable[..., Any] = torch.compile
) -> tuple[nn.Module, list[tuple[torch.Tensor, ...]]]:
    """The classifier and three batches of one shape: 0..1 images, 0..255 images, and flat grey ones."""
    on_gpu = torch.device(device).type == "cuda"
    torch.backends.cudnn.allow_tf32 = False
    config = CnnConfig() if on_gpu else CnnConfig(width=16, image=16, batch=2)
    torch.manual_seed(0)
    model = AuxCnn(config).to(device)
    model.classify = compile(model.classify)
    unit = torch.rand(config.batch, 3, config.image, config.image)
    inputs = [(unit,), (torch.floor(unit * 255.0),), (0.5 + 0.0625 * unit,)]
    return model, [(images.to(device),) for (images,) in inputs]
