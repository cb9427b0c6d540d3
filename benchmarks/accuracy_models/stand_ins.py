"""Lets models be made of packages that import more than is installed, or than the models use."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch


class _Anything(type):
    """The class of what stands for a name in a module that is not installed: it has every attribute."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {})

    def __getitem__(cls, arguments: Any) -> Any:
        return cls


class _Absent(types.ModuleType):
    """Stands for a module that a package imports and that the models here do not use."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything(name, (), {})


def without(*names: str) -> None:
    """Let packages import modules that are not installed."""
    for name in names:
        first = sys.modules.get(name.partition(".")[0])
        if isinstance(first, _Absent) or (first is None and importlib.util.find_spec(name.partition(".")[0]) is None):
            parts = name.split(".")
            for end in range(1, len(parts) + 1):
                made = _Absent(".".join(parts[:end]))
                made.__spec__ = importlib.machinery.ModuleSpec(made.__name__, None)
                sys.modules.setdefault(made.__name__, made)


class _AbsentFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module of the packages that stand for ones that are not installed."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        del path, target  # the protocol of importlib gives them
        if fullname.partition(".")[0] not in self.names:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Absent(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        """Nothing is in it."""


_FINDER = _AbsentFinder()


def without_packages(*names: str) -> None:
    """Let packages import any module of packages that are not installed."""
    if _FINDER not in sys.meta_path:
        sys.meta_path.append(_FINDER)
    _FINDER.names.update(names)


def without_torchvision_extension() -> None:
    """Let torchvision be imported without its extension library, of which the models use nothing."""
    for name in ("nms", "qnms"):
        if not hasattr(torch.ops.torchvision, name):
            torch.library.define(f"torchvision::{name}", "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


def bare(package: str) -> None:
    """Make the modules of a package importable without its `__init__`, which needs what is not installed."""
    if package not in sys.modules:
        spec = importlib.util.find_spec(package)
        if spec is None:
            raise ModuleNotFoundError(package)
        module = types.ModuleType(package)
        module.__path__ = list(spec.submodule_search_locations or ())
        sys.modules[package] = module


def getter(
    absent: Mapping[str, Iterable[str]],
    bare_packages: Iterable[str],
    prepare: Callable[[str], None] | None = None,
) -> Callable[[str], Any]:
    """What gives the function or class that has a dotted path.

    `absent` has the modules that a package imports of others, `bare_packages` names those whose `__init__` needs more
    than the models do, outer ones first, and `prepare` is called with the name of the package before it is imported.
    """

    found: dict[str, Any] = {}

    def get(path: str) -> Any:
        if path not in found:  # models ask where they run compiled, and an import there would break the graph
            module, _, name = path.rpartition(".")
            package = path.partition(".")[0]
            without(*absent.get(package, ()))
            for one in bare_packages:
                if one.partition(".")[0] == package:
                    bare(one)
            if prepare is not None:
                prepare(package)
            found[path] = getattr(importlib.import_module(module), name)
        return found[path]

    return get
