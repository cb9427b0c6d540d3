"""Workers that run varied inputs: what they say when this fails, and programs that are not easily put back."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.measuring import equivalence  # noqa: E402
from compilefix.measuring.equivalence import run_varied  # noqa: E402
from compilefix.measuring.request import ArmResult, Options, Variant, WorkerRequest  # noqa: E402

PROGRAM = """
import enum
import torch

class Kinds(type):
    pass

class Kind(metaclass=Kinds):
    sizes = [1, 2]

class Mode(enum.Enum):
    FAST = 1

class Holder:
    def __init__(self):
        self.kind, self.mode, self.calls = Kind, Mode.FAST, 0

holder = Holder()

def double(x):
    holder.calls += 1
    return x * 2

def work():
    return double, (torch.ones(3),)
"""


def request(tmp_path: Path) -> WorkerRequest:
    file = tmp_path / "program_under_test.py"
    file.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    options = Options(device="cpu", backend="eager", repeats=0, timeout_s=60.0)
    return WorkerRequest(
        "arm",
        "observe",
        False,
        f"{file}:work",
        options,
        tmp_path / "arm",
        vary_s=5.0,
        variants=(Variant("negated"), Variant("zeros")),
    )


def test_classes_with_a_metaclass_of_the_program_are_left_as_they_are(tmp_path: Path) -> None:
    base, varied = run_varied(request(tmp_path), tmp_path / "cache", lambda _: None)
    assert base.error is None
    assert varied.error is None
    assert varied.runs


def test_the_last_words_of_a_worker_that_fails_while_varying_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([ArmResult(), ArmResult(error="AttributeError: no such place", error_kind="run")])

    class Failing:
        def __init__(self, *_: object) -> None:
            pass

        def __enter__(self) -> Failing:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def answer(self) -> dict[str, Any]:
            return next(answers).to_dict()

    monkeypatch.setattr(equivalence, "Worker", Failing)
    base, varied = run_varied(request(tmp_path), tmp_path / "cache", lambda _: None)
    assert base.error is None
    assert varied.error == "AttributeError: no such place"
    assert not varied.runs
