"""All rules, found by walking the package: adding a rule means adding a file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from types import ModuleType

import compilefix.codemods as package
from compilefix.codemods.rule import Rule


@cache
def load() -> Mapping[str, type[Rule]]:
    """The rules by code, sorted.

    Raises:
        TypeError: two rules have the same code or name.
    """
    rules: dict[str, type[Rule]] = {}
    for module in _modules():
        for item in vars(module).values():
            own = isinstance(item, type) and issubclass(item, Rule) and item.__module__ == module.__name__
            if not own or not hasattr(item, "code"):
                continue
            if item.code in rules or any(item.name == other.name for other in rules.values()):
                raise TypeError(f"two rules are called {item.code} or {item.name}")
            rules[item.code] = item
    return dict(sorted(rules.items()))


def _modules() -> Iterator[ModuleType]:
    """The modules of all families of rules."""
    for family in pkgutil.iter_modules(package.__path__):
        if family.ispkg:
            folder = importlib.import_module(f"{package.__name__}.{family.name}")
            for info in pkgutil.iter_modules(folder.__path__):
                yield importlib.import_module(f"{folder.__name__}.{info.name}")
