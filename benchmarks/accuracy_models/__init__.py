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
# The later groups, each of whole packages: a package belongs to the last group that has models of it.
_LATER_MODULES = {
    "unseen": ("unseen_signals", "unseen_models"),
    "latest": ("latest_models",),
    "fifth": ("fifth_models",),
    "sixth": ("sixth_models",),
    "seventh": ("seventh_models",),
    "eighth": ("eighth_models",),
    "ninth": ("ninth_models",),
    "tenth": ("tenth_models",),
    "eleventh": ("eleventh_models",),
    "twelfth": ("twelfth_models",),
    "thirteenth": ("thirteenth_models",),
    "fourteenth": ("fourteenth_models", "fourteenth_networks"),
    "after-fourteenth": ("fourteenth_after",),
    "fifteenth": ("fifteenth_models", "fifteenth_networks"),
    "after-fifteenth": ("fifteenth_after",),
    "sixteenth": ("sixteenth_models", "sixteenth_functions"),
    "after-sixteenth": ("sixteenth_after",),
    "seventeenth": ("seventeenth_models", "seventeenth_functions"),
    "after-seventeenth": ("seventeenth_after",),
    "eighteenth": ("eighteenth_models", "eighteenth_networks"),
    "after-eighteenth": ("eighteenth_after",),
    "nineteenth": ("nineteenth_models", "nineteenth_networks"),
    "after-nineteenth": ("nineteenth_after",),
    "twentieth": ("twentieth_models", "twentieth_networks"),
    "after-twentieth": ("twentieth_after",),
    "twenty-first": ("twentyfirst_models", "twentyfirst_networks"),
    "after-twenty-first": ("twentyfirst_after",),
    "twenty-second": ("twentysecond_models", "twentysecond_networks"),
    "after-twenty-second": ("twentysecond_after",),
    "twenty-third": ("twentythird_models", "twentythird_networks"),
    "after-twenty-third": ("twentythird_after",),
    "twenty-fourth": ("twentyfourth_models", "twentyfourth_networks"),
    "after-twenty-fourth": ("twentyfourth_after",),
    "twenty-fifth": ("twentyfifth_models", "twentyfifth_networks"),
    "after-twenty-fifth": ("twentyfifth_after",),
    "twenty-sixth": ("twentysixth_models", "twentysixth_networks"),
    "twenty-seventh": ("twentyseventh_models",),
    "twenty-eighth": ("twentyeighth_models",),
    "twenty-ninth": ("twentyninth_models", "twentyninth_networks"),
    "thirtieth": ("thirtieth_models", "thirtieth_networks"),
    "thirty-first": ("thirtyfirst_models", "thirtyfirst_networks"),
}

# Packages that were looked at only when the work on the analysis was done; of the large ones a quarter of the models.
HELD_OUT_PACKAGES = frozenset(
    {"monai", "nflows", "pytorch_metric_learning", "torchani", "tsai", "tensordict", "lightning", "deepctr_torch"}
)
# What a group is called: `--group` of the command line.
GROUPS = ("improved-on", "held-out", *_LATER_MODULES)
_SPLIT_PACKAGES = frozenset({"transformers", "torchmetrics", "kornia", "torch_geometric", "vit_pytorch"})


def load() -> Mapping[str, Builder]:
    """All models by `package/name`."""
    models: dict[str, Builder] = {}
    for name in (*_MODULES, *(m for modules in _LATER_MODULES.values() for m in modules)):
        models |= import_module(f"{__name__}.{name}").MODELS
    return models


@cache
def _groups() -> Mapping[str, str]:
    """The later group of each package that has one."""
    return {
        n.partition("/")[0]: group
        for group, modules in _LATER_MODULES.items()
        for m in modules
        for n in import_module(f"{__name__}.{m}").MODELS
    }


def group(name: str) -> str:
    """The one of `GROUPS` that a model belongs to."""
    later = _groups().get(name.partition("/")[0])
    return later or ("held-out" if held_out(name) else "improved-on")


def held_out(name: str) -> bool:
    """Whether a model belongs to those that the analysis was not improved on."""
    package = name.partition("/")[0]
    return package in HELD_OUT_PACKAGES or (package in _SPLIT_PACKAGES and zlib.crc32(name.encode()) % 5 == 0)
