"""A flag in a buffer that is only set: the rewritten code does the same on the first call, and breaks no later one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.codemods import execution  # noqa: E402

FOLDER = Path(__file__).parents[2] / "fixtures" / "rules" / "CF101"


def made(version: str, *, by_data: bool) -> Any:
    torch.manual_seed(0)
    return execution.load(FOLDER / f"flag_set_once.{version}.py").Codebook(4, 3, by_data)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("by_data", [False, True])
def test_gives_the_same_and_draws_as_much(*, by_data: bool, compiled: bool) -> None:
    results = []
    for version in ("before", "after"):
        module = made(version, by_data=by_data)
        torch._dynamo.reset()
        run = torch.compile(module, backend="eager") if compiled and version == "after" else module
        rows = torch.arange(15.0).reshape(5, 3)
        outputs = [run(rows + turn) for turn in range(3)]
        results.append((*outputs, module.vectors, module.chosen, torch.rand(1)))
        assert list(module.state_dict()) == ["chosen", "vectors"]
    for old, new in zip(*results, strict=True):
        torch.testing.assert_close(new, old, rtol=0, atol=0)


def test_breaks_only_until_it_is_set() -> None:
    torch._dynamo.reset()
    module = made("after", by_data=True)
    run = torch.compile(module, backend="eager")
    rows = torch.arange(15.0).reshape(5, 3)
    run(rows)
    run(rows)
    with torch._dynamo.error_on_graph_break(True):
        torch._dynamo.reset()
        run(rows)


def test_a_state_that_sets_it_is_seen() -> None:
    torch._dynamo.reset()
    known, module = made("after", by_data=False), made("after", by_data=True)
    module.load_state_dict(known.state_dict())
    rows = torch.arange(15.0).reshape(5, 3)
    torch.testing.assert_close(module(rows), known(rows), rtol=0, atol=0)
    torch.testing.assert_close(module.vectors, known.vectors, rtol=0, atol=0)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("trained", [False, True])
def test_asks_in_training_alone(*, trained: bool, compiled: bool) -> None:
    results = []
    for version in ("before", "after"):
        torch.manual_seed(0)
        module = execution.load(FOLDER / f"flag_set_in_training.{version}.py").Scaled(3, trained)
        torch._dynamo.reset()
        run = torch.compile(module, backend="eager") if compiled and version == "after" else module
        rows = torch.arange(6.0).reshape(2, 3)
        outputs = []
        for training in (False, True, True, False, True, False):
            module.train(training)
            outputs.append(run(rows + len(outputs)))
        results.append((*outputs, *module.state_dict().values(), torch.rand(1)))
    for old, new in zip(*results, strict=True):
        torch.testing.assert_close(new, old, rtol=0, atol=0)


@pytest.mark.parametrize(("asked", "kept"), [("item() == 0", True), ("item() == 1 == 0", False)])
def test_a_chain_of_comparisons_is_no_question_for_zero(asked: str, *, kept: bool) -> None:
    path = FOLDER / "flag_set_in_training.before.py"
    text = path.read_text(encoding="utf-8")
    assert "self.scaled.item() == 0" in text
    changed = text.replace("self.scaled.item() == 0", f"self.scaled.{asked}")
    outcome = execution.rewritten(path, changed, None)
    assert ("scaled_seen" in execution.after(outcome, changed)) is kept
