"""The models of `benchmarks/accuracy.py`: small, with random weights; nothing is downloaded.

Each module of this folder has `MODELS`, a mapping from a name to a function without arguments that builds what is
run: a callable (a module or function) and input sets, each a tuple of arguments or a mapping of keyword arguments. A
model that needs a package which is not installed is reported as not run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

Built = tuple[Callable[..., Any], list[Any]]
Builder = Callable[[], Built]

_MODULES = ("metrics", "graphs", "science", "attention", "sequences", "vision", "transformers_models")

# Packages that were looked at only when the work on the analysis was done; of the large ones a quarter of the models.
HELD_OUT_PACKAGES = frozenset(
    {"monai", "nflows", "pytorch_metric_learning", "torchani", "tsai", "tensordict", "lightning", "deepctr_torch"}
)
_SPLIT_PACKAGES = frozenset({"transformers", "torchmetrics", "kornia", "torch_geometric", "vit_pytorch"})


def load() -> Mapping[str, Builder]:
    """All models by `package/name`."""
    models: dict[str, Builder] = {}
    for name in _MODULES:
        models |= import_module(f"{__name__}.{name}").MODELS
    return models


def held_out(name: str) -> bool:
    """Whether a model belongs to those that the analysis was not improved on."""
    package = name.partition("/")[0]
    return package in HELD_OUT_PACKAGES or (package in _SPLIT_PACKAGES and zlib.crc32(name.encode()) % 5 == 0)
