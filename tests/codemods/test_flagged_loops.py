"""A loop that says something under a flag does, with the flag, what it did before CF104 masked it: also its text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.codemods import execution  # noqa: E402

FOLDER = Path(__file__).parents[2] / "fixtures" / "rules" / "CF104"
Run = Callable[[ModuleType, Any, int], Any]
LOOPS: dict[str, Run] = {
    "said_at_end": lambda module, row, turns: module.solved(row, turns, verbose=True),
    "said_on_the_way": lambda module, row, turns: module.Settled(verbose=True)(row, turns),
    "answered_and_said": lambda module, row, turns: module.halved(row, turns, verbose=True),
    "conjugate_gradient": lambda module, row, turns: module.solved(lambda x: x * 0.5, row, turns, 0.5, verbose=True),
    "several_flags": lambda module, row, turns: sum(
        module.settled(row, turns, verbose=verbose, loud=loud, log=log)
        for verbose in (True, False)
        for loud in (True, False)
        for log in (True, False)
    ),
    "while_said": lambda module, row, turns: module.rooted(row, 1e-3, turns, verbose=True),
}
ROWS = ([0.5, 1.5, 1.25], [40.0, 70.0], [9e4, 9e4], [0.0, 0.25], [float("nan"), 1.0])


@pytest.mark.parametrize("turns", [6, 2, 0])
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("name", sorted(LOOPS))
def test_says_the_same_with_the_flag(
    name: str, row: list[float], turns: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found = []
    for version in ("before", "after"):
        given = torch.tensor(row, requires_grad=True)
        result = LOOPS[name](execution.load(FOLDER / f"{name}.{version}.py"), given, turns)
        if result.requires_grad:
            result.sum().backward()
        found.append((result.detach(), given.grad, capsys.readouterr().out))
    (result, gradient, said), (other, other_gradient, also_said) = found
    assert said == also_said
    torch.testing.assert_close(other, result, rtol=0, atol=0, equal_nan=True)
    torch.testing.assert_close(other_gradient, gradient, rtol=0, atol=0, equal_nan=True)


def test_something_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """Else the test above would compare nothing with nothing."""
    for name, run in LOOPS.items():
        module = execution.load(FOLDER / f"{name}.after.py")
        for row in ROWS:
            run(module, torch.tensor(row), 6)
        assert capsys.readouterr().out, name
