"""The models of `benchmarks/accuracy.py`: small, with random weights; nothing is downloaded.

Each module of this folder has `MODELS`, a mapping from a name to a function without arguments that builds what is
run: a callable (a module or function) and input sets, each a tuple of arguments or a mapping of keyword arguments. A
model that needs a package which is not installed is reported as not run.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

Built = tuple[Callable[..., Any], list[Any]]
Builder = Callable[[], Built]

_MODULES = ("metrics", "graphs", "science", "attention", "sequences", "vision", "transformers_models")
_UNSEEN_MODULES = ("unseen_signals", "unseen_models")
_LATEST_MODULES = ("latest_models",)
_FIFTH_MODULES = ("fifth_models",)
_SIXTH_MODULES = ("sixth_models",)
_SEVENTH_MODULES = ("seventh_models",)
_EIGHTH_MODULES = ("eighth_models",)
_NINTH_MODULES = ("ninth_models",)
_TENTH_MODULES = ("tenth_models",)
_ELEVENTH_MODULES = ("eleventh_models",)
_TWELFTH_MODULES = ("twelfth_models",)
_THIRTEENTH_MODULES = ("thirteenth_models",)

# Packages that were looked at only when the work on the analysis was done; of the large ones a quarter of the models.
HELD_OUT_PACKAGES = frozenset(
    {"monai", "nflows", "pytorch_metric_learning", "torchani", "tsai", "tensordict", "lightning", "deepctr_torch"}
)
# What a group is called: `--group` of the command line.
GROUPS = (
    "improved-on",
    "held-out",
    "unseen",
    "latest",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
)
_SPLIT_PACKAGES = frozenset({"transformers", "torchmetrics", "kornia", "torch_geometric", "vit_pytorch"})


def load() -> Mapping[str, Builder]:
    """All models by `package/name`."""
    models: dict[str, Builder] = {}
    later = (
        *_LATEST_MODULES,
        *_FIFTH_MODULES,
        *_SIXTH_MODULES,
        *_SEVENTH_MODULES,
        *_EIGHTH_MODULES,
        *_NINTH_MODULES,
        *_TENTH_MODULES,
        *_ELEVENTH_MODULES,
        *_TWELFTH_MODULES,
        *_THIRTEENTH_MODULES,
    )
    for name in (*_MODULES, *_UNSEEN_MODULES, *later):
        models |= import_module(f"{__name__}.{name}").MODELS
    return models


@cache
def _packages_of(modules: tuple[str, ...]) -> frozenset[str]:
    """The packages that modules of this folder have models of."""
    return frozenset(n.partition("/")[0] for m in modules for n in import_module(f"{__name__}.{m}").MODELS)


def group(name: str) -> str:
    """The one of `GROUPS` that a model belongs to."""
    package = name.partition("/")[0]
    if package in _packages_of(_THIRTEENTH_MODULES):
        return "thirteenth"
    if package in _packages_of(_TWELFTH_MODULES):
        return "twelfth"
    if package in _packages_of(_ELEVENTH_MODULES):
        return "eleventh"
    if package in _packages_of(_TENTH_MODULES):
        return "tenth"
    if package in _packages_of(_NINTH_MODULES):
        return "ninth"
    if package in _packages_of(_EIGHTH_MODULES):
        return "eighth"
    if package in _packages_of(_SEVENTH_MODULES):
        return "seventh"
    if package in _packages_of(_SIXTH_MODULES):
        return "sixth"
    if package in _packages_of(_FIFTH_MODULES):
        return "fifth"
    if package in _packages_of(_LATEST_MODULES):
        return "latest"
    if package in _packages_of(_UNSEEN_MODULES):
        return "unseen"
    return "held-out" if held_out(name) else "improved-on"


def held_out(name: str) -> bool:
    """Whether a model belongs to those that the analysis was not improved on."""
    package = name.partition("/")[0]
    return package in HELD_OUT_PACKAGES or (package in _SPLIT_PACKAGES and zlib.crc32(name.encode()) % 5 == 0)
