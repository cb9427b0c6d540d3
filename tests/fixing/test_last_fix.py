"""Fixes that are made only when no other one is left: flags that count for the whole process."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

SCALARS = "torch._dynamo.config.capture_scalar_outputs = True"
SHAPES = "torch._dynamo.config.capture_dynamic_output_shape_ops = True"


def test_a_package_that_compiles_nothing_switches_no_flag_on() -> None:
    text = """
        import torch
        def count(x: torch.FloatTensor, i: torch.LongTensor):
            return x.new_zeros(int(i.max()) + 1), x[x > 0]
    """
    changed = fixed(**{"package.counts": text, "counts": text})
    assert SCALARS in changed["counts"]
    assert "package.counts" not in changed


def fixed(**files: str) -> dict[str, str]:
    """What files become with all assumptions, by their names."""
    sources = [SourceFile(Path(f"/p/{name}.py"), name, dedent(text)) for name, text in files.items()]
    outcome = run(sources, Config(Path("/p")), rules=list(registry.load().values()), allowed=None)
    return {change.module: change.after for change in outcome.patchset if change.before is not None}


def test_a_file_gets_its_flag_after_the_fixes_of_another() -> None:
    changed = fixed(
        first="""
            import torch
            def clean(x: torch.FloatTensor):
                if torch.isnan(x).any():
                    x = torch.nan_to_num(x)
                return x * 1
        """,
        second="""
            import torch
            def count(x: torch.FloatTensor, i: torch.LongTensor):
                return x.new_zeros(int(i.max()) + 1)
        """,
    )
    assert "torch.where" in changed["first"]
    assert SCALARS not in changed["first"]
    assert SCALARS in changed["second"]


def test_a_number_that_may_stay_a_tensor_needs_no_flag() -> None:
    changed = fixed(
        only="""
            import torch
            def scaled(x: torch.FloatTensor):
                n = x.abs().max().item()
                return x / n
        """
    )
    assert SCALARS not in changed["only"]
    assert ".item()" not in changed["only"]


def test_a_branch_that_a_flag_keeps_in_the_graph_always_runs() -> None:
    changed = fixed(
        only="""
            import torch
            def chosen(x: torch.FloatTensor, rows: torch.LongTensor):
                total = torch.zeros_like(x)
                if (rows > 0).all():
                    total = total.index_add(0, torch.nonzero(x).squeeze(-1), x[torch.nonzero(x).squeeze(-1)])
                return total
        """
    )
    assert SHAPES in changed["only"]
    assert "if (rows > 0).all():" not in changed["only"]
