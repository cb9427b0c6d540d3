"""Programs as they are and as rewritten, with the helper module that carries host effects to the boundary."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import itertools
import logging
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

Project = Callable[..., tuple[ModuleType, ModuleType, Any]]

_numbers = itertools.count()


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def load(path: Path) -> ModuleType:
    name = f"host_effects_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Records(logging.Handler):
    def handle(self, record: logging.LogRecord) -> bool:
        print(record.name, record.levelname, record.funcName, record.filename, record.getMessage())
        return True


def shown(function: Callable[..., Any], inputs: list[tuple[Any, ...]]) -> tuple[str, list[Any]]:
    """What is printed and logged, and the results, of three rounds of calls."""
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        results = [
            function(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args])
            for _ in range(3)
            for args in inputs
        ]
    return stream.getvalue(), results


def projects(tmp_path: Path) -> Iterator[Project]:
    """Gives for a program's text the module, the rewritten module, and `boundary`."""
    handler = Records()
    logging.getLogger().addHandler(handler)
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()

    def make(text: str, allowed: Collection[str] = ("log-late",)) -> tuple[ModuleType, ModuleType, Any]:
        number = next(_numbers)
        old = written(tmp_path / "program.py", text)
        # Dynamo remembers modules by their names: each program has a helper of its own.
        config = Config(root=tmp_path, helper_module=f"helper_{number}")
        rules = list(registry.load().values())
        outcome = run([SourceFile(old, "program", text)], config, rules=rules, allowed=frozenset(allowed))
        original = load(old)
        for change in outcome.patchset:
            written(change.path, change.after)
        importlib.invalidate_caches()
        return original, load(old), importlib.import_module(f"helper_{number}").boundary

    yield make
    logging.getLogger().removeHandler(handler)
    torch._dynamo.reset()
