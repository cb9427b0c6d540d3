"""The detection head of `fixtures/models/detection_head.py` as an expert would fix it by hand, the log line kept.

Grid sizes are integer arithmetic, the choices are `torch.where` and the box limit stays a tensor.
`detect` alone is compiled, to one graph that also returns what is logged; `forward` writes the line when it has run.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger("models.detection_head")
logger.setLevel(logging.INFO)


@dataclass(frozen=True)
class HeadConfig:
    """Sizes of the head; the default sizes are those used on a GPU."""

    channels: int = 64
    classes: int = 8
    tower: int = 3
    strides: tuple[int, ...] = (8, 16, 32)
    image: int = 250
    batch: int = 2


class LevelHead(nn.Module):
    """Convolution tower and predictors for one pyramid level."""

    def __init__(self, config: HeadConfig, stride: int) -> None:
        super().__init__()
        self.stride = stride
        self.tower = nn.ModuleList(
            nn.Conv2d(config.channels, config.channels, kernel_size=3, padding=1) for _ in range(config.tower)
        )
        self.box = nn.Conv2d(config.channels, 4, kernel_size=1)
        self.cls = nn.Conv2d(config.channels, config.classes, kernel_size=1)

    def cell_centres(self, image: torch.Tensor) -> torch.Tensor:
        """Pixel coordinates (x, y) of all cell centres, (cells, 2); a cell that the image only touches counts."""
        rows = -(-image.shape[2] // self.stride)
        cols = -(-image.shape[3] // self.stride)
        ys = (torch.arange(rows, device=image.device) + 0.5) * self.stride
        xs = (torch.arange(cols, device=image.device) + 0.5) * self.stride
        grid_y, grid_x = torch.meshgrid(ys, xs, indexing="ij")
        return torch.stack([grid_x, grid_y], dim=-1).reshape(-1, 2)

    def forward(
        self, feature: torch.Tensor, image: torch.Tensor, origin: torch.Tensor, sizes: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        x = feature
        for conv in self.tower:
            x = F.relu(conv(x))

        # The largest box is 1000 / 16 cells, the usual limit that keeps exp() from overflowing.
        deltas = self.box(x).flatten(2).transpose(1, 2)
        reach = deltas.clamp(max=math.log(1000.0 / 16)).exp() * self.stride
        centres = self.cell_centres(image)
        boxes = torch.cat([centres - reach[..., :2], centres + reach[..., 2:]], dim=-1)

        # Crops without a known origin come with NaN; their boxes must not poison the loss.
        boxes = boxes + origin
        boxes = torch.where(torch.isnan(boxes).any(), torch.nan_to_num(boxes, nan=0.0), boxes)
        boxes = boxes.clamp(min=0).clamp(max=sizes.detach().max())

        # Exported heads give probabilities, training heads give logits.
        scores = self.cls(x).flatten(2).transpose(1, 2)
        scores = torch.where(scores.max() > 1.0, scores.sigmoid(), scores)
        return boxes, scores


class DetectionHead(nn.Module):
    """All pyramid levels, with boxes and scores joined along the cells."""

    def __init__(self, config: HeadConfig) -> None:
        super().__init__()
        self.levels = nn.ModuleList(LevelHead(config, stride) for stride in config.strides)

    def run_levels(self, image, features, origin, sizes):
        """Boxes and scores of each level, as two lists."""
        boxes, scores = [], []
        for level, feature in zip(self.levels, features, strict=True):
            level_boxes, level_scores = level(feature, image, origin, sizes)
            boxes.append(level_boxes)
            scores.append(level_scores)
        return boxes, scores

    def forward(
        self,
        image: torch.Tensor,
        features: list[torch.Tensor],
        origin: torch.Tensor,
        sizes: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Boxes (batch, cells, 4) in pixels and scores (batch, cells, classes)."""
        boxes, scores, best = self.detect(image, features, origin, sizes)
        logger.info("boxes %d best score %.1f", boxes.shape[1], best.item())
        return boxes, scores

    def detect(
        self,
        image: torch.Tensor,
        features: list[torch.Tensor],
        origin: torch.Tensor,
        sizes: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Boxes, scores, and the best score."""
        boxes, scores = self.run_levels(image, features, origin, sizes)
        all_scores = torch.cat(scores, dim=1)
        return torch.cat(boxes, dim=1), all_scores, all_scores.detach().max()


def workload(device: str, compile: Callable[..., Any] = torch.compile) -> tuple[nn.Module, list[tuple[object, ...]]]:
    """The head and three sets of one shape: ordinary, large features (scores above 1), and a crop with no origin."""
    on_gpu = torch.device(device).type == "cuda"
    torch.backends.cudnn.allow_tf32 = False
    config = HeadConfig() if on_gpu else HeadConfig(channels=16, image=60, batch=1)
    torch.manual_seed(0)
    model = DetectionHead(config).to(device)
    model.detect = compile(model.detect)
    cells = [-(-config.image // stride) for stride in config.strides]
    image = torch.rand(config.batch, 3, config.image, config.image).to(device)
    features = [torch.randn(config.batch, config.channels, n, n).to(device) for n in cells]
    large = [64.0 * feature for feature in features]
    origin = torch.zeros(config.batch, 1, 4).to(device)
    unknown = origin.clone()
    unknown[0] = float("nan")
    sizes = torch.full((config.batch, 2), float(config.image)).to(device)
    return model, [(image, features, origin, sizes), (image, large, origin, sizes), (image, features, unknown, sizes)]
