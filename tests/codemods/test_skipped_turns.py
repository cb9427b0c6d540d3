"""Turns that a tensor skips, and that collect under a flag: with the flag set they are skipped as before."""

from __future__ import annotations

import importlib.util
import itertools
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "rules" / "CF101"
CHANCES = [[0.9, 0.9, 0.9], [0.1, 0.9, 0.1], [0.1, 0.1, 0.1], [0.9, float("nan"), 0.1]]


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name.replace(".", "_"), FIXTURES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _results(module: ModuleType, training: bool, row: list[float], flags: tuple[bool, ...]) -> tuple[Any, Any]:
    model, _ = module.workload()
    x = torch.linspace(-1, 1, 8).reshape(2, 4).requires_grad_()
    results = model.train(training)(x, torch.tensor(row), *flags)
    results[0].sum().backward()
    return results, x.grad


@pytest.mark.parametrize(
    ("case", "flags"), [("skipped_collects", 2), ("skipped_or_nothing", 1), ("skipped_asked_twice", 2)]
)
def test_collects_what_it_did(case: str, flags: int) -> None:
    before, after = _module(f"{case}.before"), _module(f"{case}.after")
    for row, training, given in itertools.product(
        CHANCES, (True, False), itertools.product((True, False), repeat=flags)
    ):
        expected, found = (_results(module, training, row, given) for module in (before, after))
        torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)
