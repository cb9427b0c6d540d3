"""What a subclass in another file puts in the place of a method decides what may become of the base class, and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import dedent

from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

BASE = """
    import torch

    class Steps(torch.nn.Module):
        def step(self, x: torch.FloatTensor):
            return x + 1

        def validate(self, x: torch.Tensor):
            pass

        def scale(self, x: torch.Tensor):
            return 1.0

        def forward(self, x: torch.FloatTensor):
            y = x * 2
            if x.sum() > 0:
                y = self.step(x)
            try:
                self.validate(x)
            except ValueError:
                return x
            factor = self.scale(x)
            return y * factor if isinstance(factor, float) else y
"""
OTHER = """
    import torch
    from pkg import base

    class Counting(base.Steps):
        def step(self, x: torch.FloatTensor):
            self.count = self.count + 1
            return x + 3

        def validate(self, x: torch.FloatTensor):
            if (x < 0).any():
                raise ValueError("negative")

        def scale(self, x: torch.FloatTensor):
            return x.mean().item()
"""


def findings(**texts: str) -> Sequence[Finding]:
    files = [SourceFile(Path(f"/pkg/{name}.py"), f"pkg.{name}", dedent(text)) for name, text in texts.items()]
    rules = [rule for rule in registry.load().values() if rule.code in ("CF101", "CF103", "CF201")]
    return run(files, Config(Path("/")), rules=rules, rewrite=False).findings


def declined(**texts: str) -> dict[str, str | None]:
    """The rules that find something, with the reason why there is no fix."""
    return {finding.code: finding.declined for finding in findings(**texts)}


def assumed(**texts: str) -> tuple[str, ...]:
    """What the fix of the one finding with a fix assumes."""
    [fix] = [finding.fix for finding in findings(**texts) if finding.fix is not None]
    return fix.assumptions


def test_the_subclass_decides_about_the_base_class() -> None:
    found = declined(base=BASE, other=OTHER)
    assert "`Counting.step`, which `self.step` may run" in (found["CF101"] or "")
    assert declined(base=BASE, other="import pkg.base\n") == {"CF101": None}


def test_the_base_class_decides_about_the_subclass() -> None:
    found = declined(base=BASE, other=OTHER)
    assert "a handler in `Steps.forward` may catch the exception" in (found["CF103"] or "")
    assert "`Steps.forward` needs it as a Python number" in (found["CF201"] or "")


def test_a_subclass_of_a_subclass_decides_too() -> None:
    between = "from pkg import base\n\nclass Between(base.Steps):\n    pass\n"
    last = OTHER.replace("pkg import base", "pkg.between import Between").replace("base.Steps", "Between")
    found = declined(base=BASE, between=between, other=last)
    assert "`Counting.step`, which `self.step` may run" in (found["CF101"] or "")


def test_too_many_to_look_at_are_not_taken_for_harmless() -> None:
    harmless = """
        from pkg import base

        class Other(base.Steps):
            def step(self, x):
                return x + 2
        """
    assert "branches-total" not in assumed(base=BASE, other=harmless)
    assert "branches-total" in assumed(base=BASE, **{f"other{number}": harmless for number in range(21)})
