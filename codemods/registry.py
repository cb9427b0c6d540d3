"""All rules, found by walking the package: adding a rule means adding a file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

import compilefix.codemods as package
from compilefix.codemods.rule import Rule


@cache
def load() -> Mapping[str, type[Rule]]:
    """The rules by code, sorted.

    Raises:
        TypeError: two rules have the same code or name.
    """
    rules: dict[str, type[Rule]] = {}
    for family in pkgutil.iter_modules(package.__path__):
        if not family.ispkg:
            continue
        folder = importlib.import_module(f"{package.__name__}.{family.name}")
        for info in pkgutil.iter_modules(folder.__path__):
            module = importlib.import_module(f"{folder.__name__}.{info.name}")
            for item in vars(module).values():
                if (
                    isinstance(item, type)
                    and issubclass(item, Rule)
                    and item.__module__ == module.__name__
                    and hasattr(item, "code")
                ):
                    if item.code in rules or any(item.name == other.name for other in rules.values()):
                        raise TypeError(f"two rules are called {item.code} or {item.name}")
                    rules[item.code] = item
    return dict(sorted(rules.items()))
