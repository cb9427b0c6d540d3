"""Runs two versions of a small file eager, in this process, as the workers of `verify` do, and compares them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from compilefix.measuring import state
from compilefix.measuring.observing import observe
from compilefix.measuring.parity import compare
from compilefix.measuring.request import ArmResult, Options, Variant, VariedResult, WorkerRequest
from compilefix.measuring.varied_parity import compare_varied
from compilefix.measuring.verdict_model import Parity

OPTIONS = Options(device="cpu", repeats=0)
MODULE = "compared_model"


def differences(
    original: str,
    patched: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    workload: str = "workload",
    assumptions: frozenset[str] = frozenset(),
) -> list[Parity]:
    """The comparison of the workload's own calls, and those of all variants of its inputs."""
    base, varied = _seen(folder / "original", original, workload, None, monkeypatch)
    wanted = tuple(run.variant for run in varied.runs)
    other, other_varied = _seen(folder / "patched", patched, workload, wanted, monkeypatch)
    own = compare(base, other, None, OPTIONS, wide=varied.reference, eager=True, assumptions=assumptions)
    return [own, *(parity for _, parity in compare_varied(varied, other_varied, OPTIONS, True, assumptions))]


def _seen(
    folder: Path, source: str, workload: str, variants: tuple[Variant, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> tuple[ArmResult, VariedResult]:
    folder.mkdir()
    path = folder / f"{MODULE}.py"
    path.write_text(source, encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    sys.modules.pop(MODULE, None)
    # What else this process has imported, also for other tests, is not the state of the program; to look at it at each
    # call takes seconds.
    foreign = (*state._FOREIGN, str(Path(__file__).parents[2]))
    files = {str(getattr(module, "__file__", None)) for module in list(sys.modules.values())}
    others = sorted(file for file in files if not file.startswith(foreign) and "-packages" not in file)
    monkeypatch.setattr(state, "_FOREIGN", (*foreign, *others))
    request = WorkerRequest(
        "arm", "observe", False, f"{path}:{workload}", OPTIONS, folder, vary_s=60.0, variants=variants
    )
    default = torch.get_default_dtype()
    try:
        base, varied = observe(request, lambda text: None)
    finally:
        torch.set_default_dtype(default)
        sys.modules.pop(MODULE, None)
    assert isinstance(base, ArmResult)
    assert isinstance(varied, VariedResult)
    return base, varied
